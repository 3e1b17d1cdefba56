//! The first look: what the readers say of a fresh server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join;
use interlock_model::{Answer, PlannedCall};
use serde_json::Value;

use super::{Meter, Runner, change, refused};
use crate::plan::{
    arguments::{Pool, Sampler, Source, Want},
    plain,
};

/// What it showed.
pub(super) struct First {
    pub(super) pool: Pool,
    /// Readers that are worth asking again.
    pub(super) readers: Vec<Arc<Sampler>>,
    /// Those that are named like readers and change what they say by being asked.
    pub(super) turned_out_to_write: Vec<Arc<Sampler>>,
    pub(super) limit: Option<usize>,
    /// Whether many equal calls behind the first questions were answered like the first of them, so that there is no limit to look for.
    is_unlimited: bool,
    /// Whether the server has no tools but those that are asked.
    is_all: bool,
    pub(super) longest: usize,
    /// How long each reader takes.
    pub(super) took: BTreeMap<String, Duration>,
    /// What was asked, and answered by a server on which nothing had been done yet.
    pub(super) asked: Vec<(PlannedCall, Answer)>,
    pub(super) notes: Vec<String>,
}

/// So many equal calls are made to see whether there is a limit.
const FLOOD: usize = 24;
/// Unless they take longer than this on the average: they would take all the time there is.
const QUICK: Duration = Duration::from_millis(60);
/// A run is never longer.
const LONGEST_RUN: usize = 200;

/// Asks every reader twice, on two instances.
pub(super) async fn first(
    readers: &[Arc<Sampler>],
    is_all: bool,
    meter: &Meter<'_>,
    is_one_only: bool,
) -> First {
    let mut first = First {
        pool: Pool::default(),
        readers: Vec::new(),
        turned_out_to_write: Vec::new(),
        limit: None,
        is_unlimited: false,
        is_all,
        longest: LONGEST_RUN,
        took: BTreeMap::new(),
        asked: Vec::new(),
        notes: Vec::new(),
    };
    // Lists, which need nothing, say what the others can be asked for. Of most servers that begin with nothing they say nothing, so the others are
    // asked beside them as if they did.
    let (free, rest): (Vec<_>, Vec<_>) = readers.iter().cloned().partition(|reader| reader.needs_nothing());
    let asked = |group: &[Arc<Sampler>], pool: &Pool| -> Vec<(Arc<Sampler>, PlannedCall)> {
        group.iter().filter_map(|reader| Some((Arc::clone(reader), question(reader, pool)?))).collect()
    };
    let (free, guessed) = (asked(&free, &first.pool), asked(&rest, &first.pool));
    let ask_guessed = async {
        // One server for all runs is asked one after another.
        let calls = if is_one_only { &[] } else { guessed.as_slice() };
        answers(calls, free.is_empty(), meter).await
    };
    let (of_free, of_guessed) = join(answers(&free, true, meter), ask_guessed).await;
    first.take_in(&free, of_free, meter).await;
    let better = asked(&rest, &first.pool);
    let calls = |asked: &[(Arc<Sampler>, PlannedCall)]| -> Vec<PlannedCall> {
        asked.iter().map(|(_, call)| call.clone()).collect()
    };
    if !is_one_only && calls(&better) == calls(&guessed) {
        first.take_in(&guessed, of_guessed, meter).await;
    } else {
        let of_better = answers(&better, free.is_empty(), meter).await;
        first.take_in(&better, of_better, meter).await;
    }
    if !first.is_unlimited {
        first.flood(meter).await;
    }
    first
}

/// How a reader is asked before anything is known.
pub(super) fn question(reader: &Sampler, pool: &Pool) -> Option<PlannedCall> {
    let want = Want { source: Source::Examples, ..Want::default() };
    Some(PlannedCall::new(&reader.tool().name, reader.sample(&want, pool)?))
}

/// What readers answered, each of them twice, one after another on one instance.
struct Answered {
    answers: Vec<Answer>,
    /// Whether many more equal calls behind them were answered.
    is_unlimited: bool,
}

/// Asks readers, all in one run; with a flood behind it, where a limit is looked for: as many equal calls as show that there is none take no
/// instance of their own.
async fn answers(
    calls: &[(Arc<Sampler>, PlannedCall)],
    floods: bool,
    meter: &Meter<'_>,
) -> Result<Answered, String> {
    let all: Vec<PlannedCall> = calls.iter().chain(calls).map(|(_, call)| call.clone()).collect();
    if all.is_empty() {
        return Ok(Answered { answers: Vec::new(), is_unlimited: false });
    }
    let alone = || async { Ok(Answered { answers: meter.run(&all).await?, is_unlimited: false }) };
    let Some(call) = all.first().filter(|_| floods && meter.left() >= FLOOD * 8) else {
        return alone().await;
    };
    let many = vec![call.clone(); FLOOD];
    // A server may end under them; then the calls are made alone.
    let Ok(mut answers) = meter.run_then(&all, &many, &is_worth_a_flood).await else { return alone().await };
    let behind = answers.split_off(all.len().min(answers.len()));
    // Where it is not worth it nobody looks for a limit.
    let is_unlimited = behind.iter().all(|answer| refused(answer).is_none());
    Ok(Answered { answers, is_unlimited })
}

/// Whether many calls more are worth their time: the first was answered, and those that were made are answered quickly.
fn is_worth_a_flood(answers: &[Answer]) -> bool {
    let took = answers.last().and_then(Answer::at).unwrap_or_default();
    let count = u32::try_from(answers.len()).unwrap_or(u32::MAX).max(1);
    answers.first().is_some_and(|answer| refused(answer).is_none()) && took / count <= QUICK
}

impl First {
    /// Learns from what readers answered. That one of them changes what it says by being asked is held against what it says of itself only where
    /// nothing else of the server could change anything.
    async fn take_in(
        &mut self,
        calls: &[(Arc<Sampler>, PlannedCall)],
        answered: Result<Answered, String>,
        meter: &Meter<'_>,
    ) {
        if calls.is_empty() {
            return;
        }
        let all: Vec<PlannedCall> = calls.iter().chain(calls).map(|(_, call)| call.clone()).collect();
        let count = calls.len();
        let one = match answered {
            Ok(answered) => {
                self.is_unlimited |= answered.is_unlimited;
                answered.answers
            }
            Err(why) => {
                self.notes.push(format!("the readers could not be asked: {why}"));
                self.readers.extend(calls.iter().map(|(reader, _)| Arc::clone(reader)));
                return;
            }
        };
        // Whether asking changes the answer is a question only where an answer changed, and for those that do not say that they only read.
        let differs = |at: usize| match (one.get(at), one.get(at + count)) {
            (Some(first), Some(second)) => !change::same(first, second),
            _ => false,
        };
        let may_write = calls
            .iter()
            .enumerate()
            .any(|(at, (reader, _))| (self.is_all || reader.tool().read_only != Some(true)) && differs(at));
        let other =
            if may_write { meter.run(&all).await.unwrap_or_else(|_| one.clone()) } else { one.clone() };
        for (at, (reader, call)) in calls.iter().enumerate() {
            let answers = [one.get(at), one.get(at + count), other.get(at), other.get(at + count)];
            let [Some(first), Some(second), Some(elsewhere), Some(elsewhere_again)] = answers else {
                continue;
            };
            // The same change on both instances is no noise: asking is what changes it.
            let counts = change::same_change([first, second], [elsewhere, elsewhere_again]);
            if counts && refused(first).is_none() && (self.is_all || reader.tool().read_only != Some(true)) {
                self.turned_out_to_write.push(Arc::clone(reader));
                continue;
            }
            if let Answer::Result { value, .. } = first {
                self.pool.learn(&call.tool, &call.arguments, &plain(value), at);
            }
            if change::outline(first) == change::outline(second) {
                self.asked.push((call.clone(), first.clone()));
            }
            self.took.insert(call.tool.clone(), took(&one, at));
            self.readers.push(Arc::clone(reader));
        }
    }

    /// Whether the server refuses one of many equal calls.
    async fn flood(&mut self, meter: &Meter<'_>) {
        let cheap = self.readers.iter().find(|reader| reader.needs_nothing());
        let Some(call) = cheap.or(self.readers.first()).and_then(|reader| question(reader, &self.pool))
        else {
            return;
        };
        if meter.left() < FLOOD * 8 {
            return;
        }
        let Ok(answers) = meter.run(&vec![call; FLOOD]).await else { return };
        if answers.first().is_none_or(|answer| refused(answer).is_some()) {
            return;
        }
        self.limit = answers.iter().position(|answer| refused(answer).is_some());
        if let Some(limit) = self.limit {
            self.longest = limit;
            self.notes.push(format!(
                "the server refuses more than {limit} calls in a row, so every run of the survey is shorter"
            ));
        }
    }
}

/// The reader whose answers on a fresh instance are others than at first, again and again: what earlier instances did is still there.
pub(super) async fn left_behind(asked: &[(PlannedCall, Answer)], runner: &dyn Runner) -> Option<String> {
    let calls: Vec<PlannedCall> = asked.iter().map(|(call, _)| call.clone()).collect();
    if calls.is_empty() {
        return None;
    }
    let now = runner.serial(&calls).await.ok()?;
    let differs = |(at, (_, first)): &(usize, &(PlannedCall, Answer))| {
        now.get(*at).is_some_and(|now| change::outline(now) != change::outline(first))
    };
    let found: Vec<usize> = asked.iter().enumerate().filter(differs).map(|(at, _)| at).collect();
    if found.is_empty() {
        return None;
    }
    let again = runner.serial(&calls).await.ok()?;
    let stays = |at: &&usize| {
        let outline = |answers: &[Answer]| answers.get(**at).map(change::outline);
        outline(&now) == outline(&again)
    };
    let at = found.iter().find(stays)?;
    asked.get(*at).map(|(call, _)| call.tool.clone())
}

/// The answer in plain, if there is one.
pub(super) fn told(answer: &Answer) -> Option<Value> {
    match answer {
        Answer::Result { value, .. } => Some(plain(value)),
        Answer::Error { .. } | Answer::Missing { .. } => None,
    }
}

/// How long one of several answers took: from the one before it.
pub(super) fn took(answers: &[Answer], at: usize) -> Duration {
    let when = |at: Option<usize>| at.and_then(|at| answers.get(at)).and_then(Answer::at).unwrap_or_default();
    when(Some(at)).saturating_sub(when(at.checked_sub(1)))
}
