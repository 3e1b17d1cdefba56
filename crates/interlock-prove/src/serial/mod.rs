//! The serial phase: what the calls of a set come to one after another, in every order.

mod invariants;
mod orders;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use interlock_model::{Answer, CallSet, Oracle, Outcome, Seen};

pub(crate) use self::invariants::Invariants;
use self::orders::{full, partial, twins};
use crate::{
    files::{FILES, differences},
    judge::sounds_refused,
    lab::{Lab, Pauses, Run},
    mask::{Mask, normal, place_of},
    trouble::Trouble,
};

/// How often each order is run before the calls meet. What varies is seen only by a second run, which is made when an outcome is not just like
/// the first: every repeat starts an instance, and of most servers nothing varies.
const FIRST_REPEATS: usize = 1;
/// How often each is run once more before anything is called broken.
pub(crate) const REPEATS: usize = 3;

/// Of an order that was run so often one more repeat says as much as three. Orders that leave calls out only explain runs in which a call was refused, and
/// are run less often from the start.
const ENOUGH: usize = 5;

/// So long after the calls everything that they do by and by is done.
const LATE: Duration = Duration::from_millis(250);
/// So many orders are looked at late.
const MOST_LATE: usize = 2;

/// Everything that is known of a set's serial behaviour.
#[derive(Debug, Clone, Default)]
pub(crate) struct Serial {
    /// For each order that was run, and those that it stands for, what each repeat came to, unmasked.
    runs: BTreeMap<Vec<usize>, Vec<Outcome>>,
    /// What varies between repeats.
    pub(crate) mask: Mask,
    /// Whether orders that leave calls out are among them.
    pub(crate) partial: bool,
    /// How long each call took by itself.
    pub(crate) latency: Vec<Duration>,
    /// What calls answered in some order: a refusal that is among them is nothing new.
    answers: Vec<Seen>,
    /// What the server did that no server should.
    pub(crate) oddities: Vec<String>,
    /// How long is waited between two calls: a limit that fills up again with time lets more through the longer it takes.
    pub(crate) pause: Duration,
}

/// Why a set cannot be judged.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unstable {
    /// The same order led to different outcomes, even without what varies.
    #[error("the same calls in the same order do not come to the same: {0}")]
    Differs(String),
    /// A call was not answered.
    #[error("a call was not answered even by itself: {0}")]
    Unanswered(String),
    /// An invariant is wrong, or cannot be decided.
    #[error("{0}")]
    Invariant(String),
    /// The server is the problem.
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

/// What a late look at what an order leads to showed.
enum Late {
    /// Something else than right after the calls.
    Other,
    /// The same.
    Same(Box<Run>),
    /// Nothing that can be compared.
    Unclear,
}

/// What was taken out of the comparison because it varies.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Noise {
    /// Reads, by their number.
    pub(crate) reads: Vec<usize>,
    /// Files and parts of files.
    pub(crate) parts: BTreeSet<Vec<String>>,
}

/// An order that is legal, and what it leads to, without what varies.
#[derive(Debug, Clone)]
pub(crate) struct Legal {
    /// Calls that are not in it were not made.
    pub(crate) order: Vec<usize>,
    pub(crate) outcome: Outcome,
}

impl Serial {
    /// Runs every order of all calls; with `everything` every order of every subset as well. What is known already is kept and
    /// repeated, so that a second look can only add to what is legal.
    pub(crate) async fn run(
        &mut self,
        lab: &Lab,
        set: &CallSet,
        everything: bool,
        side_by_side: usize,
    ) -> Result<(), Unstable> {
        let known = |order: &Vec<usize>| self.runs.get(order).map_or(0, Vec::len);
        let is_first = !everything && self.runs.is_empty();
        // Where copies are held against one of them, or an invariant against all, no order says less than another.
        let is_plain = set.oracle == Oracle::Serial && set.invariants.is_empty();
        let repeats = |order: &Vec<usize>, is_full: bool| match known(order) {
            _ if is_first => FIRST_REPEATS,
            _ if !is_plain => REPEATS,
            0 if !is_full => REPEATS - 1,
            _ if !is_full => 1,
            ENOUGH.. => 1,
            _ => REPEATS,
        };
        let with_repeats = |order: Vec<usize>, is_full: bool| {
            let times = repeats(&order, is_full);
            (order, times)
        };
        let mut jobs: Vec<(Vec<usize>, usize)> =
            full(set).into_iter().map(|order| with_repeats(order, true)).collect();
        if everything {
            jobs.extend(partial(set).into_iter().map(|order| with_repeats(order, false)));
        }
        self.partial |= everything;
        self.repeat(lab, set, &jobs, side_by_side).await
    }

    /// Runs every order of all calls once more.
    pub(crate) async fn again(
        &mut self,
        lab: &Lab,
        set: &CallSet,
        side_by_side: usize,
    ) -> Result<(), Unstable> {
        self.repeat(lab, set, &once(full(set)), side_by_side).await
    }

    /// Runs the orders that leave calls out, if they are not known: what a wrong outcome is like is told from them.
    pub(crate) async fn look_at_parts(
        &mut self,
        lab: &Lab,
        set: &CallSet,
        side_by_side: usize,
    ) -> Result<(), Unstable> {
        self.run_parts(lab, set, 1, side_by_side).await
    }

    /// The same so often that what varies in them shows: whether a run in which a call was refused is legal is told from them.
    pub(crate) async fn compare_parts(
        &mut self,
        lab: &Lab,
        set: &CallSet,
        side_by_side: usize,
    ) -> Result<(), Unstable> {
        self.run_parts(lab, set, REPEATS - 1, side_by_side).await
    }

    async fn run_parts(
        &mut self,
        lab: &Lab,
        set: &CallSet,
        times: usize,
        side_by_side: usize,
    ) -> Result<(), Unstable> {
        if std::mem::replace(&mut self.partial, true) {
            return Ok(());
        }
        let orders: Vec<(Vec<usize>, usize)> = partial(set).into_iter().map(|order| (order, times)).collect();
        self.repeat(lab, set, &orders, side_by_side).await
    }

    /// Whether an order of all calls was run only once, so that nothing is known of what varies.
    pub(crate) fn is_known_once(&self, set: &CallSet) -> bool {
        full(set).iter().any(|order| self.runs.get(order).is_none_or(|repeats| repeats.len() < 2))
    }

    /// How many runs were made of all calls one after another.
    pub(crate) fn full_runs(&self, set: &CallSet) -> usize {
        full(set).iter().filter_map(|order| self.runs.get(order)).map(Vec::len).sum()
    }

    async fn repeat(
        &mut self,
        lab: &Lab,
        set: &CallSet,
        orders: &[(Vec<usize>, usize)],
        side_by_side: usize,
    ) -> Result<(), Unstable> {
        let jobs = orders.iter().flat_map(|(order, repeats)| std::iter::repeat_n(order, *repeats));
        let pauses = Pauses { between: self.pause, ..Pauses::default() };
        let jobs: Vec<_> =
            jobs.map(|order| async move {
                Ok::<_, Trouble>((order.clone(), lab.serial(set, order, pauses).await?))
            })
            .collect();
        let invariants = Invariants::of(set)?;
        let mut runs = stream::iter(jobs).buffer_unordered(side_by_side.max(1));
        // Taken in as they come: a server that does not answer is not asked again and again.
        while let Some(done) = runs.next().await {
            let (order, run) = done?;
            self.take_in(set, &order, &run, &invariants)?;
        }
        drop(runs);
        // Where only successes are counted, the most of them counts, and which calls they are does not matter.
        if matches!(set.oracle, Oracle::NoMoreThanSerial | Oracle::SomeRefused) {
            return Ok(());
        }
        self.settle()
    }

    /// Whether what is read depends on how long one waits after the last answer: then calls that met cannot be compared with calls in turn,
    /// because it took another time until they were read.
    pub(crate) async fn settles_late(&mut self, lab: &Lab, set: &CallSet) -> bool {
        let orders: Vec<Vec<usize>> = full(set).into_iter().take(MOST_LATE).collect();
        // A server that somebody else runs is one for all runs, which would get into each other's way.
        let beside = if lab.target.networked() { 1 } else { MOST_LATE };
        let seen: Vec<(&Vec<usize>, Late)> = {
            let this = &*self;
            let looks = orders.iter().map(|order| async move {
                // On a busy machine a run may go wrong for once; what depends on the wait does so every time.
                let late = match this.look_late(lab, set, order).await {
                    Late::Other => this.look_late(lab, set, order).await,
                    late => late,
                };
                (order, late)
            });
            stream::iter(looks).buffer_unordered(beside).collect().await
        };
        let mut is_late = false;
        for (order, late) in seen {
            match late {
                Late::Other => is_late = true,
                // What is the same whenever it is looked at is one more repeat of its order.
                Late::Same(run) => {
                    if let Ok(invariants) = Invariants::of(set) {
                        let _ = self.take_in(set, order, &run, &invariants);
                    }
                }
                Late::Unclear => {}
            }
        }
        is_late
    }

    /// Whether what is read late after an order of calls is what was read right after it. A run in which a call was not answered says
    /// nothing: it may be under way still.
    async fn look_late(&self, lab: &Lab, set: &CallSet, order: &[usize]) -> Late {
        let pauses = Pauses { between: self.pause, before_reads: LATE };
        let Ok(run) = lab.serial(set, order, pauses).await else { return Late::Unclear };
        let mut answers =
            order.iter().filter_map(|index| Some(&run.history.calls.get(*index)?.answer)).chain(&run.reads);
        if answers.any(|answer| matches!(answer, Answer::Missing { .. })) {
            return Late::Unclear;
        }
        let reads = self.mask.apply(&outcome_of(&run)).reads;
        let known = self.runs.get(order).and_then(|repeats| repeats.first());
        match known {
            Some(known) if self.mask.apply(known).reads != reads => Late::Other,
            Some(_) => Late::Same(Box::new(run)),
            None => Late::Unclear,
        }
    }

    fn take_in(
        &mut self,
        set: &CallSet,
        order: &[usize],
        run: &Run,
        invariants: &Invariants,
    ) -> Result<(), Unstable> {
        for (index, call) in run.history.calls.iter().enumerate() {
            if !order.contains(&index) {
                continue;
            }
            match &call.answer {
                Answer::Missing { reason } => {
                    return Err(Unstable::Unanswered(format!("`{}`: {reason}", call.tool)));
                }
                answer => {
                    let took = answer.at().unwrap_or_default().saturating_sub(call.sent);
                    self.latency.resize(run.history.calls.len(), Duration::ZERO);
                    if let Some(latency) = self.latency.get_mut(index) {
                        *latency = if latency.is_zero() { took } else { (*latency).min(took) };
                    }
                }
            }
        }
        for oddity in &run.oddities {
            if !self.oddities.contains(oddity) {
                self.oddities.push(oddity.clone());
            }
        }
        let outcome = outcome_of(run);
        // An order that leaves calls out may well break what is said of all of them together.
        if order.len() == run.history.calls.len()
            && let Some(invariant) = invariants.first_broken(run, &outcome)?
        {
            let why = format!("`{invariant}` is not true even when the calls come one after another");
            return Err(Unstable::Invariant(why));
        }
        // Calls that are equal may stand for each other, so an order that was run stands for several. Each is kept with what varies still
        // in it: where an id stands first, and which answer has one at all, is not the same in all of them.
        for (order, places) in twins(set, order) {
            let answers = places.iter().map(|from| from.and_then(|from| outcome.answers.get(from)).cloned());
            let answers = answers.map(Option::unwrap_or_default).collect();
            let twin = Outcome { answers, reads: outcome.reads.clone() };
            self.runs.entry(order).or_default().push(twin);
        }
        Ok(())
    }

    /// Learns what varies, and gives up on what still does.
    pub(crate) fn settle(&mut self) -> Result<(), Unstable> {
        for repeats in self.runs.values() {
            if self.mask.learn(repeats).is_none() {
                return Err(Unstable::Differs("a call succeeds in one run and fails in another".into()));
            }
        }
        if self.first_difference().is_some() {
            self.mask.coarsen();
        }
        if let Some(order) = self.first_difference() {
            let order: Vec<String> = order.iter().map(|index| (index + 1).to_string()).collect();
            return Err(Unstable::Differs(format!("calls in the order {}", order.join(", "))));
        }
        self.answers.clear();
        for seen in self.runs.values().flatten().flat_map(|outcome| self.mask.apply(outcome).answers) {
            if !self.answers.contains(&seen) {
                self.answers.push(seen);
            }
        }
        Ok(())
    }

    /// Takes out what does not say the same after the same calls in the same order: parts of the server's files, and whole reads of tools.
    /// Nothing is taken out where the calls themselves are not answered alike.
    pub(crate) fn drop_noise(&mut self) -> Noise {
        let kinds = |seen: &[Seen]| seen.iter().map(std::mem::discriminant).collect::<Vec<_>>();
        let (mut reads, mut parts) = (BTreeSet::new(), BTreeSet::new());
        for repeats in self.runs.values() {
            let Some((first, others)) = repeats.split_first() else { continue };
            let masked = self.mask.apply(first);
            for other in others {
                let other_masked = self.mask.apply(other);
                if kinds(&first.answers) != kinds(&other.answers) {
                    return Noise::default();
                }
                for (at, (one, two)) in masked.reads.iter().zip(&other_masked.reads).enumerate() {
                    let places = differences(one, two);
                    if places.is_empty() && one != two {
                        reads.insert(at);
                    }
                    parts.extend(places.into_iter().map(|place| (at, place)));
                }
            }
        }
        self.drop_reads(&reads);
        // What was learnt stands under the numbers that the reads had.
        let mut left_out = self.mask.left_out().clone();
        for (at, place) in &parts {
            let now = at - reads.range(..at).count();
            let root = [place_of(now, 0), "structuredContent".to_owned(), FILES.to_owned()];
            left_out.insert(root.into_iter().chain(place.iter().cloned()).collect());
        }
        self.mask = Mask::without(left_out);
        Noise { reads: reads.into_iter().collect(), parts: parts.into_iter().map(|(_, part)| part).collect() }
    }

    /// Takes out reads of which nothing is compared any more. What was learnt of the others is learnt again: it stands under their numbers.
    fn drop_reads(&mut self, reads: &BTreeSet<usize>) {
        for outcome in self.runs.values_mut().flatten() {
            let mut at = 0;
            outcome.reads.retain(|_| {
                at += 1;
                !reads.contains(&(at - 1))
            });
        }
    }

    /// The same for one read that comes to its end only after the calls.
    pub(crate) fn drop_late(&mut self, read: usize) {
        self.drop_reads(&BTreeSet::from([read]));
        self.mask = Mask::default();
    }

    /// Whether what is read after all calls, in some order, is another thing than what is read after none. Orders that leave calls out have to be
    /// known.
    pub(crate) fn shows_calls(&self, set: &CallSet) -> bool {
        let reads = |order: &[usize]| {
            let outcome = self.runs.get(order).and_then(|repeats| repeats.first())?;
            Some(self.mask.apply(outcome).reads)
        };
        let before = reads(&[]);
        full(set).iter().any(|order| before.is_some() && reads(order) != before)
    }

    /// An order whose repeats differ although what varies is taken out.
    fn first_difference(&self) -> Option<&Vec<usize>> {
        let differs = |repeats: &Vec<Outcome>| {
            let mut masked = repeats.iter().map(|outcome| self.mask.apply(outcome));
            let first = masked.next();
            masked.any(|outcome| Some(outcome) != first)
        };
        self.runs.iter().find(|(_, repeats)| differs(repeats)).map(|(order, _)| order)
    }

    /// All legal orders.
    pub(crate) fn legal(&self) -> Vec<Legal> {
        let first = self.runs.iter().filter_map(|(order, repeats)| Some((order, repeats.first()?)));
        first
            .map(|(order, outcome)| Legal { order: order.clone(), outcome: self.mask.apply(outcome) })
            .collect()
    }

    /// What calls are answered one after another.
    pub(crate) fn answers(&self) -> &[Seen] {
        &self.answers
    }

    /// Whether an answer is one that calls also get one after another.
    pub(crate) fn knows(&self, seen: &Seen) -> bool {
        self.answers.contains(seen)
    }

    /// The words of the first refusal, if none of the calls that count succeeds in any order: then nothing was compared with anything.
    pub(crate) fn hopeless(&self, counts: impl Fn(usize) -> bool) -> Option<String> {
        let counted = |outcome: &'_ Outcome| {
            let answers = outcome.answers.iter().enumerate();
            answers.filter(|(index, _)| counts(*index)).map(|(_, seen)| seen.clone()).collect::<Vec<_>>()
        };
        let all: Vec<Seen> = self.runs.values().flatten().flat_map(counted).collect();
        if all.iter().any(has_worked) {
            return None;
        }
        let said = all.iter().find_map(|seen| match seen {
            Seen::Error(value) | Seen::Result(value) => Some(value),
            Seen::Nothing => None,
        })?;
        let text = said.get("message").or_else(|| said.pointer("/content/0/text")).unwrap_or(said);
        let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        Some(text.chars().filter(|c| !c.is_control()).take(200).collect())
    }

    /// Whether a call works in some order of all calls.
    pub(crate) fn works(&self, set: &CallSet, index: usize) -> bool {
        let mut orders = full(set).into_iter().filter_map(|order| self.runs.get(&order)).flatten();
        orders.any(|outcome| outcome.answers.get(index).is_some_and(has_worked))
    }

    /// Whether it would show if nothing came of a call: without it the others are answered otherwise in some order, or something else is read
    /// afterwards. Orders that leave calls out have to be known.
    pub(crate) fn would_miss(&self, set: &CallSet, index: usize) -> bool {
        let outcome = |order: &[usize]| {
            let outcome = self.mask.apply(self.runs.get(order)?.first()?);
            let others = outcome.answers.into_iter().enumerate().filter(|(at, _)| *at != index);
            Some((others.map(|(_, seen)| seen).collect::<Vec<_>>(), outcome.reads))
        };
        full(set).iter().any(|order| {
            let without: Vec<usize> = order.iter().copied().filter(|at| *at != index).collect();
            matches!((outcome(order), outcome(&without)), (Some(with), Some(without)) if with != without)
        })
    }

    /// How many calls succeed one after another, at most.
    pub(crate) fn most_successes(&self) -> usize {
        let successes =
            |outcome: &Outcome| outcome.answers.iter().filter(|seen| matches!(seen, Seen::Result(_))).count();
        self.runs.values().flatten().map(successes).max().unwrap_or(0)
    }
}

/// Each of these orders, to be run once.
fn once(orders: Vec<Vec<usize>>) -> Vec<(Vec<usize>, usize)> {
    orders.into_iter().map(|order| (order, 1)).collect()
}

/// Whether an answer is none that refuses the call.
fn has_worked(seen: &Seen) -> bool {
    matches!(seen, Seen::Result(_)) && !sounds_refused(seen)
}

/// A run as something that can be compared, with what varies still in it.
pub(crate) fn outcome_of(run: &Run) -> Outcome {
    let seen = |answer: &Answer| normal(answer, &run.folder);
    Outcome {
        answers: run.history.calls.iter().map(|call| seen(&call.answer)).collect(),
        reads: run.reads.iter().map(seen).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use interlock_model::{CallRecord, History, PlannedCall};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        judge::{Judgement, judge},
        perturb::Observed,
    };

    fn twice() -> CallSet {
        let call = PlannedCall::new("add", json!({}));
        CallSet { calls: vec![call.clone(), call], ..CallSet::default() }
    }

    fn run(answers: [Value; 2], read: Value) -> Run {
        let said = |value: Value| Answer::Result {
            at: Duration::from_millis(2),
            value: json!({ "structuredContent": value }),
        };
        let call = |value| CallRecord {
            tool: "add".into(),
            arguments: json!({}),
            sent: Duration::ZERO,
            answer: said(value),
        };
        Run {
            history: History { calls: answers.map(call).into(), ticks: Vec::new() },
            before: Vec::new(),
            reads: vec![said(read)],
            folder: PathBuf::from("/nowhere"),
            observed: Observed::default(),
            oddities: Vec::new(),
            took: Duration::from_millis(2),
        }
    }

    fn judged(serial_runs: [Run; 2], together: &Run) -> Judgement {
        let set = twice();
        let mut serial = Serial { partial: true, ..Serial::default() };
        let invariants = Invariants::of(&set).unwrap();
        for run in &serial_runs {
            serial.take_in(&set, &[0, 1], run, &invariants).unwrap();
        }
        serial.settle().unwrap();
        judge(&set, &serial, &together.history, &serial.mask.apply(&outcome_of(together)))
    }

    #[test]
    fn of_equal_calls_the_second_may_come_first_and_ids_follow_it() {
        let in_order =
            |one: &str, two: &str| run([json!({ "id": one }), json!({ "id": two })], json!([one, two]));
        let serial = || [in_order("aaaa1", "bbbb2"), in_order("cccc3", "dddd4")];
        let turned = run([json!({ "id": "eeee5" }), json!({ "id": "ffff6" })], json!(["ffff6", "eeee5"]));
        assert_eq!(judged(serial(), &turned), Judgement::Legal);
        let lost = run([json!({ "id": "eeee5" }), json!({ "id": "ffff6" })], json!(["ffff6", "ffff6"]));
        assert!(matches!(judged(serial(), &lost), Judgement::Illegal(_)));
    }

    #[test]
    fn what_only_the_first_of_equal_calls_is_told_varies_in_the_second_too() {
        let made = |id: &str| json!({ "made": true, "id": id });
        let there = || json!({ "made": false });
        let serial =
            || [run([made("aaaa1"), there()], json!("x")), run([made("bbbb2"), there()], json!("x"))];
        assert_eq!(judged(serial(), &run([there(), made("cccc3")], json!("x"))), Judgement::Legal);
        let both = run([made("cccc3"), made("dddd4")], json!("x"));
        assert!(matches!(judged(serial(), &both), Judgement::Illegal(_)));
    }
}
