//! The serial phase: what the calls of a set come to one after another, in every order.

mod invariants;
mod orders;

use std::{collections::BTreeMap, time::Duration};

use futures_util::{StreamExt, stream};
use interlock_model::{Answer, CallSet, Outcome, Seen};

pub(crate) use self::invariants::Invariants;
use self::orders::{full, partial, twins};
use crate::{
    lab::{Lab, Run},
    mask::{Mask, normal},
    trouble::Trouble,
};

/// How often each order is run before anything is said about it.
pub(crate) const REPEATS: usize = 3;

/// Everything that is known of a set's serial behaviour.
#[derive(Debug, Clone, Default)]
pub(crate) struct Serial {
    /// For each order that was run, what each repeat came to, unmasked.
    runs: BTreeMap<Vec<usize>, Vec<Outcome>>,
    /// What varies between repeats.
    pub(crate) mask: Mask,
    /// Whether orders that leave calls out are among them.
    pub(crate) partial: bool,
    /// How long each call took by itself.
    pub(crate) latency: Vec<Duration>,
    /// Answers that were errors in some order: for those, an error together is nothing new.
    errors: Vec<Seen>,
    /// What the server did that no server should.
    pub(crate) oddities: Vec<String>,
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
        let mut orders = full(set);
        if everything {
            orders.extend(partial(set));
        }
        let jobs = orders.iter().flat_map(|order| std::iter::repeat_n(order, REPEATS));
        let jobs: Vec<_> = jobs
            .map(|order| async { Ok::<_, Trouble>((order.clone(), lab.serial(set, order).await?)) })
            .collect();
        self.partial |= everything;
        let invariants = Invariants::of(set)?;
        let mut runs = stream::iter(jobs).buffer_unordered(side_by_side.max(1));
        // Taken in as they come: a server that does not answer is not asked again and again.
        while let Some(done) = runs.next().await {
            let (order, run) = done?;
            self.take_in(&order, &run, &invariants)?;
        }
        drop(runs);
        self.settle()
    }

    fn take_in(&mut self, order: &[usize], run: &Run, invariants: &Invariants) -> Result<(), Unstable> {
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
        self.runs.entry(order.to_vec()).or_default().push(outcome);
        Ok(())
    }

    /// Learns what varies, and gives up on what still does.
    fn settle(&mut self) -> Result<(), Unstable> {
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
        self.errors =
            self.runs.values().flatten().flat_map(|outcome| self.mask.apply(outcome).answers).collect();
        self.errors.retain(|seen| matches!(seen, Seen::Error(_)));
        Ok(())
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

    /// All legal orders. Calls that are equal may stand for each other, so an order that was run stands for several.
    pub(crate) fn legal(&self, set: &CallSet) -> Vec<Legal> {
        let mut legal = Vec::new();
        for (order, repeats) in &self.runs {
            let Some(first) = repeats.first() else { continue };
            let outcome = self.mask.apply(first);
            for (order, places) in twins(set, order) {
                let answers =
                    places.iter().map(|from| from.and_then(|from| outcome.answers.get(from)).cloned());
                let answers = answers.map(Option::unwrap_or_default).collect();
                legal.push(Legal { order, outcome: Outcome { answers, reads: outcome.reads.clone() } });
            }
        }
        legal
    }

    /// Whether an error is one that the call also answers with one after another.
    pub(crate) fn knows_error(&self, seen: &Seen) -> bool {
        self.errors.contains(seen)
    }

    /// How many calls succeed one after another, at most.
    pub(crate) fn most_successes(&self) -> usize {
        let successes =
            |outcome: &Outcome| outcome.answers.iter().filter(|seen| matches!(seen, Seen::Result(_))).count();
        self.runs.values().flatten().map(successes).max().unwrap_or(0)
    }
}

/// A run as something that can be compared, with what varies still in it.
pub(crate) fn outcome_of(run: &Run) -> Outcome {
    let seen = |answer: &Answer| normal(answer, &run.folder);
    Outcome {
        answers: run.history.calls.iter().map(|call| seen(&call.answer)).collect(),
        reads: run.reads.iter().map(seen).collect(),
    }
}
