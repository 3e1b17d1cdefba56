//! The state of this moment as JSON. However many calls are here, it shows the first of them and says how many there are.

use std::{
    collections::HashMap,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use foldhash::fast::RandomState;
use serde::Serialize;

use super::{
    super::{
        ready::Readiness,
        table::{Here, Phase, Table},
        tally::{Dropped, Tally},
        text::clip,
    },
    recent::Recent,
    ring::{Ring, Sample},
};
use std::sync::atomic::Ordering;

/// How many calls are shown, how many keys, and how many calls of each key.
const CALLS: usize = 50;
const KEYS: usize = 12;
const PER_KEY: usize = 5;

/// Everything that the page shows.
#[derive(Debug, Serialize)]
pub(in crate::ops) struct State {
    version: u8,
    now: u64,
    started: u64,
    guard: &'static str,
    readiness: Readiness,
    generation: u64,
    calls: u64,
    refused: u64,
    store_errors: u64,
    audit_lines_dropped: u64,
    log_lines_dropped: u64,
    trace_spans_dropped: u64,
    upstreams: Vec<UpstreamNow>,
    in_flight: Shown,
    waiting: u64,
    keys: KeysNow,
    refusals: Vec<RefusalThen>,
    past: Vec<Sample>,
}

#[derive(Debug, Serialize)]
struct UpstreamNow {
    name: Box<str>,
    state: &'static str,
    reason: Box<str>,
    since: u64,
    restarts: u64,
    required: bool,
}

/// Some calls out of many.
#[derive(Debug, Serialize)]
struct Shown {
    count: u64,
    oldest: Vec<CallNow>,
}

#[derive(Debug, Serialize)]
struct CallNow {
    call: String,
    tool: String,
    caller: String,
    upstream: String,
    since_ms: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ahead: Option<u32>,
}

/// The keys that are waited for.
#[derive(Debug, Serialize)]
struct KeysNow {
    count: usize,
    longest: Vec<KeyNow>,
}

#[derive(Debug, Serialize)]
struct KeyNow {
    key: Box<str>,
    running: u64,
    waiting: u64,
    runners: Vec<CallNow>,
    first: Vec<CallNow>,
}

#[derive(Debug, Serialize)]
struct RefusalThen {
    at: u64,
    tool: String,
    caller: String,
    reason: Box<str>,
    observed: bool,
    keys: Vec<Box<str>>,
}

/// What else the page shows.
pub(in crate::ops) struct Surroundings {
    /// Whether calls are taken.
    pub(in crate::ops) readiness: Readiness,
    /// What was lost.
    pub(in crate::ops) dropped: Dropped,
    /// When the guard started.
    pub(in crate::ops) started: SystemTime,
}

/// Looks at everything.
pub(in crate::ops) fn state(
    table: &Table,
    tally: &Tally,
    recent: &Recent,
    ring: &Ring,
    around: Surroundings,
) -> State {
    let now = Instant::now();
    let (in_flight, keys) = calls(table, now);
    let upstreams = tally.upstreams.read().into_iter();
    let refusals = recent.read().into_iter();
    State {
        version: 1,
        now: millis(SystemTime::now()),
        started: millis(around.started),
        guard: env!("CARGO_PKG_VERSION"),
        readiness: around.readiness,
        generation: tally.generation.load(Ordering::Relaxed),
        calls: tally.sum.arrived.load(Ordering::Relaxed),
        refused: tally.sum.refused.load(Ordering::Relaxed),
        store_errors: tally.store_errors.load(Ordering::Relaxed),
        audit_lines_dropped: around.dropped.audit,
        log_lines_dropped: around.dropped.log,
        trace_spans_dropped: around.dropped.spans,
        upstreams: upstreams
            .map(|(name, upstream)| UpstreamNow {
                name,
                state: upstream.state_name(),
                reason: upstream.reason.clone(),
                since: millis(upstream.since),
                restarts: upstream.restarts,
                required: upstream.is_required,
            })
            .collect(),
        in_flight,
        waiting: tally.sum.waiting.get(),
        keys,
        refusals: refusals
            .map(|refused| RefusalThen {
                at: millis(refused.at),
                tool: clip(&refused.tool).into_owned(),
                caller: clip(refused.caller.as_str()).into_owned(),
                reason: tally.reasons.name(refused.reason.index()),
                observed: refused.is_observed,
                keys: refused.keys.into_vec(),
            })
            .collect(),
        past: ring.read(),
    }
}

/// A line at one key while it is put together.
#[derive(Default)]
struct Line {
    waiting: u64,
    running: u64,
    /// The first in line, by how many stand before them.
    first: Vec<(u32, Instant, u128)>,
    runners: Vec<(Instant, u128)>,
}

/// The calls that run, oldest first, and the keys with the longest lines. Goes through the table twice, so that text is copied only of
/// what is shown; a call that has left in between is left out.
fn calls(table: &Table, now: Instant) -> (Shown, KeysNow) {
    let mut count = 0;
    let mut oldest: Vec<(Instant, u128)> = Vec::new();
    let mut lines: HashMap<Box<str>, Line, RandomState> = HashMap::default();
    table.each(|id, here| match &here.phase {
        Phase::New => {}
        Phase::Waits { on, ahead } => {
            for key in on {
                let line = match lines.get_mut(key) {
                    Some(line) => line,
                    None => lines.entry(key.clone()).or_default(),
                };
                line.waiting += 1;
                keep_least(&mut line.first, (*ahead, here.arrived, id), PER_KEY);
            }
        }
        Phase::Runs { since, .. } => {
            count += 1;
            keep_least(&mut oldest, (*since, id), CALLS);
        }
    });
    let keys = lines.len();
    table.each(|id, here| {
        let Phase::Runs { keys, since, .. } = &here.phase else { return };
        for key in keys {
            if let Some(line) = lines.get_mut(key) {
                line.running += 1;
                keep_least(&mut line.runners, (*since, id), PER_KEY);
            }
        }
    });
    let mut longest: Vec<_> = lines.into_iter().collect();
    longest
        .sort_unstable_by(|one, other| other.1.waiting.cmp(&one.1.waiting).then_with(|| one.0.cmp(&other.0)));
    longest.truncate(KEYS);
    let look = |id: u128| table.with(interlock_sync::store::OpId(id), |here| show(id, here, now));
    let longest = longest
        .into_iter()
        .map(|(key, line)| KeyNow {
            key,
            running: line.running,
            waiting: line.waiting,
            runners: line.runners.iter().filter_map(|(_, id)| look(*id)).collect(),
            first: line.first.iter().filter_map(|(_, _, id)| look(*id)).collect(),
        })
        .collect();
    let oldest = oldest.iter().filter_map(|(_, id)| look(*id)).collect();
    (Shown { count, oldest }, KeysNow { count: keys, longest })
}

/// Keeps the least few of all that are offered, in order.
fn keep_least<T: Ord + Copy>(kept: &mut Vec<T>, offered: T, most: usize) {
    if kept.len() >= most && kept.last().is_some_and(|last| *last <= offered) {
        return;
    }
    let at = kept.partition_point(|one| *one < offered);
    kept.insert(at, offered);
    kept.truncate(most);
}

fn show(id: u128, here: &Here, now: Instant) -> CallNow {
    let (keys, fence, ahead, since) = match &here.phase {
        Phase::New => (Vec::new(), None, None, here.arrived),
        Phase::Waits { on, ahead } => (on.to_vec(), None, Some(*ahead), here.arrived),
        Phase::Runs { keys, fence, since, .. } => {
            (keys.to_vec(), fence.map(|fence| fence.0.to_string()), None, *since)
        }
    };
    CallNow {
        call: format!("{id:032x}"),
        tool: clip(&here.tool).into_owned(),
        caller: clip(here.caller.as_str()).into_owned(),
        upstream: clip(&here.upstream).into_owned(),
        since_ms: u64::try_from(now.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX),
        keys,
        fence,
        ahead,
    }
}

fn millis(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
