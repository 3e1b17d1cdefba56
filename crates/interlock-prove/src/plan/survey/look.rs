//! The first look: what the readers say of a fresh server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

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
    pub(super) longest: usize,
    /// How long each reader takes.
    pub(super) took: BTreeMap<String, Duration>,
    /// What was asked, and answered by a server on which nothing had been done yet.
    pub(super) asked: Vec<(PlannedCall, Answer)>,
    pub(super) notes: Vec<String>,
}

/// So many equal calls are made to see whether there is a limit.
const FLOOD: usize = 24;
/// A run is never longer.
const LONGEST_RUN: usize = 200;

/// Asks every reader twice, on two instances.
pub(super) async fn first(readers: &[Arc<Sampler>], meter: &Meter<'_>) -> First {
    let mut first = First {
        pool: Pool::default(),
        readers: Vec::new(),
        turned_out_to_write: Vec::new(),
        limit: None,
        is_unlimited: false,
        longest: LONGEST_RUN,
        took: BTreeMap::new(),
        asked: Vec::new(),
        notes: Vec::new(),
    };
    // Lists, which need nothing, say what the others can be asked for.
    let (free, rest): (Vec<_>, Vec<_>) = readers.iter().cloned().partition(|reader| reader.needs_nothing());
    for group in [free, rest] {
        let asked = |reader: Arc<Sampler>| question(&reader, &first.pool).map(|call| (reader, call));
        let calls: Vec<(Arc<Sampler>, PlannedCall)> = group.into_iter().filter_map(asked).collect();
        first.ask(&calls, meter).await;
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

impl First {
    async fn ask(&mut self, calls: &[(Arc<Sampler>, PlannedCall)], meter: &Meter<'_>) {
        // All in one run, unless one of them ends the server; then each alone.
        let all: Vec<PlannedCall> = calls.iter().chain(calls).map(|(_, call)| call.clone()).collect();
        if all.is_empty() {
            return;
        }
        let count = calls.len();
        let one = match self.answers_and_flood(&all, meter).await {
            Ok(one) => one,
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
            .any(|(at, (reader, _))| reader.tool().read_only != Some(true) && differs(at));
        let other =
            if may_write { meter.run(&all).await.unwrap_or_else(|_| one.clone()) } else { one.clone() };
        for (at, (reader, call)) in calls.iter().enumerate() {
            let answers = [one.get(at), one.get(at + count), other.get(at), other.get(at + count)];
            let [Some(first), Some(second), Some(elsewhere), Some(elsewhere_again)] = answers else {
                continue;
            };
            // The same change on both instances is no noise: asking is what changes it.
            let counts = change::same_change([first, second], [elsewhere, elsewhere_again]);
            if counts && refused(first).is_none() && reader.tool().read_only != Some(true) {
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

    /// The answers to these calls, with as many equal ones behind them as show that there is no limit: that takes no instance of its own.
    async fn answers_and_flood(
        &mut self,
        calls: &[PlannedCall],
        meter: &Meter<'_>,
    ) -> Result<Vec<Answer>, String> {
        let Some(call) = calls.first().filter(|_| !self.is_unlimited && meter.left() >= FLOOD * 8) else {
            return meter.run(calls).await;
        };
        let mut all = calls.to_vec();
        all.extend(std::iter::repeat_n(call.clone(), FLOOD));
        // A server may end under them; then the calls are made alone.
        let Ok(mut answers) = meter.run(&all).await else { return meter.run(calls).await };
        let many = answers.split_off(calls.len().min(answers.len()));
        self.is_unlimited = many.len() == FLOOD && many.iter().all(|answer| refused(answer).is_none());
        Ok(answers)
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
