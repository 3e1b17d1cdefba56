//! What shows the effect of calls that somebody named: they are made as they are named, in their order, with a look before and after each.

use interlock_model::{Answer, PlannedCall};
use serde_json::Value;

use super::{
    Bounds, Runner, Surveyor,
    change::changed,
    look::{self, told},
    refused,
    write::{Start, questions},
};
use crate::{
    files::{is_files, read_of_files},
    plan::arguments::{Pool, Want},
};

/// What somebody named.
#[derive(Debug, Clone, Copy)]
pub struct NamedCalls<'c> {
    /// Made first.
    pub setup: &'c [PlannedCall],
    /// Those that shall meet.
    pub calls: &'c [PlannedCall],
    /// What shall show the state, if that was said.
    pub reads: &'c [PlannedCall],
}

/// What shows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShownBy {
    /// The reads whose answers the calls change; those that were named are all among them.
    pub reads: Vec<PlannedCall>,
    /// Whether one of them is changed by the calls.
    pub is_shown: bool,
    /// A reader that shows on a fresh instance what was done on another.
    pub left_behind: Option<String>,
}

/// Makes the calls one after another and looks what shows them: the reads that were named, else the readers among the tools; and the folder
/// of the instance, where nothing else does.
pub async fn shown_by(
    named: NamedCalls<'_>,
    readers: &[Value],
    runner: &dyn Runner,
    bounds: &Bounds,
) -> ShownBy {
    let surveyor = Surveyor::begin(readers, runner, bounds).await;
    let pool = surveyor.told_by(named.setup).await;
    let mut asked: Vec<PlannedCall> = named.reads.to_vec();
    if asked.is_empty() {
        for call in named.calls {
            let (setup, call) = (named.setup.to_vec(), call.clone());
            let start = Start { setup, call, want: Want::default(), pool: pool.clone() };
            for question in questions(&start, &surveyor.seen) {
                if !asked.contains(&question) {
                    asked.push(question);
                }
            }
        }
    }
    if surveyor.meter.shows_files() && !asked.iter().any(is_files) {
        asked.push(read_of_files());
    }
    let changed = surveyor.changed_by(named, &asked).await;
    let by_tools = changed.iter().any(|read| !is_files(read));
    let mut reads = named.reads.to_vec();
    for read in &changed {
        // Who named what shows it has said what is to be compared.
        let is_wanted = !is_files(read) || named.reads.is_empty() || !by_tools;
        if is_wanted && !reads.contains(read) {
            reads.push(read.clone());
        }
    }
    let left_behind = look::left_behind(&surveyor.asked, runner).await;
    ShownBy { is_shown: !changed.is_empty(), reads, left_behind }
}

impl Surveyor<'_> {
    /// What calls are answered with on a fresh instance.
    async fn told_by(&self, setup: &[PlannedCall]) -> Pool {
        let mut pool = Pool::default();
        let answers =
            if setup.is_empty() { Vec::new() } else { self.meter.run(setup).await.unwrap_or_default() };
        for (at, (call, answer)) in setup.iter().zip(&answers).enumerate() {
            pool.learn(&call.tool, &call.arguments, &told(answer).unwrap_or_default(), at);
        }
        pool
    }

    /// The questions whose answer one of the calls changes. Two calls may undo each other, so each is looked at.
    async fn changed_by(&self, named: NamedCalls<'_>, asked: &[PlannedCall]) -> Vec<PlannedCall> {
        let mut run = named.setup.to_vec();
        run.extend(asked.iter().chain(asked).cloned());
        for call in named.calls {
            run.push(call.clone());
            run.extend(asked.iter().cloned());
        }
        // Paid for already by whoever named the calls.
        let answers = self.meter.runner.serial(&run).await.unwrap_or_default();
        let (first, count) = (named.setup.len(), asked.len());
        let answer = |at: usize| {
            let missing = || Answer::Missing { reason: "there was no answer".into() };
            answers.get(first + at).cloned().unwrap_or_else(missing)
        };
        let is_changed = |at: &usize| {
            let (mut earlier, mut before) = (answer(*at), answer(count + at));
            (0..named.calls.len()).any(|call| {
                let after = answer(2 * count + call * (count + 1) + 1 + at);
                // That a server ended or fell silent is no change that a read shows.
                let is_worse = matches!(after, Answer::Missing { .. })
                    || (refused(&after).is_some() && refused(&before).is_some());
                let is_changed = changed(&earlier, &before, &after) && !is_worse;
                earlier = std::mem::replace(&mut before, after);
                is_changed
            })
        };
        (0..count).filter(is_changed).filter_map(|at| asked.get(at).cloned()).collect()
    }
}
