//! A run and what it comes to.

use std::time::Duration;

use interlock_model::{Answer, CallRecord, IoTick, TickKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call::nanos;
use crate::proof::value::sorted;

#[derive(Serialize, Deserialize)]
pub(in crate::proof) struct History {
    calls: Vec<Record>,
    #[serde(default)]
    ticks: Vec<Tick>,
}

#[derive(Serialize, Deserialize)]
struct Record {
    tool: String,
    #[serde(default)]
    arguments: Value,
    sent_ns: u64,
    answer: Reply,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Reply {
    Result {
        at_ns: u64,
        #[serde(default)]
        value: Value,
    },
    Error {
        at_ns: u64,
        #[serde(default)]
        value: Value,
    },
    Missing {
        #[serde(default)]
        reason: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Tick {
    call: Option<usize>,
    at_ns: u64,
    kind: Kind,
    on: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Read,
    Write,
    Wait,
}

#[derive(Serialize, Deserialize)]
pub(in crate::proof) struct Outcome {
    answers: Vec<Option<Seen>>,
    #[serde(default)]
    reads: Vec<Option<Seen>>,
}

/// What is seen of an answer; `null` for nothing.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Seen {
    Result(Value),
    Error(Value),
}

impl From<&interlock_model::History> for History {
    fn from(history: &interlock_model::History) -> Self {
        Self {
            calls: history.calls.iter().map(Record::from).collect(),
            ticks: history.ticks.iter().map(Tick::from).collect(),
        }
    }
}

impl From<History> for interlock_model::History {
    fn from(history: History) -> Self {
        Self {
            calls: history.calls.into_iter().map(Into::into).collect(),
            ticks: history.ticks.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<&CallRecord> for Record {
    fn from(call: &CallRecord) -> Self {
        Self {
            tool: call.tool.clone(),
            arguments: sorted(&call.arguments),
            sent_ns: nanos(call.sent),
            answer: match &call.answer {
                Answer::Result { at, value } => Reply::Result { at_ns: nanos(*at), value: sorted(value) },
                Answer::Error { at, value } => Reply::Error { at_ns: nanos(*at), value: sorted(value) },
                Answer::Missing { reason } => Reply::Missing { reason: reason.clone() },
            },
        }
    }
}

impl From<Record> for CallRecord {
    fn from(call: Record) -> Self {
        Self {
            tool: call.tool,
            arguments: call.arguments,
            sent: Duration::from_nanos(call.sent_ns),
            answer: match call.answer {
                Reply::Result { at_ns, value } => Answer::Result { at: Duration::from_nanos(at_ns), value },
                Reply::Error { at_ns, value } => Answer::Error { at: Duration::from_nanos(at_ns), value },
                Reply::Missing { reason } => Answer::Missing { reason },
            },
        }
    }
}

impl From<&IoTick> for Tick {
    fn from(tick: &IoTick) -> Self {
        Self {
            call: tick.call,
            at_ns: nanos(tick.at),
            kind: match tick.kind {
                TickKind::Read => Kind::Read,
                TickKind::Write => Kind::Write,
                TickKind::Wait => Kind::Wait,
            },
            on: tick.on.clone(),
        }
    }
}

impl From<Tick> for IoTick {
    fn from(tick: Tick) -> Self {
        Self {
            call: tick.call,
            at: Duration::from_nanos(tick.at_ns),
            kind: match tick.kind {
                Kind::Read => TickKind::Read,
                Kind::Write => TickKind::Write,
                Kind::Wait => TickKind::Wait,
            },
            on: tick.on,
        }
    }
}

impl From<&interlock_model::Outcome> for Outcome {
    fn from(outcome: &interlock_model::Outcome) -> Self {
        let seen = |list: &[interlock_model::Seen]| {
            list.iter()
                .map(|seen| match seen {
                    interlock_model::Seen::Result(value) => Some(Seen::Result(sorted(value))),
                    interlock_model::Seen::Error(value) => Some(Seen::Error(sorted(value))),
                    interlock_model::Seen::Nothing => None,
                })
                .collect()
        };
        Self { answers: seen(&outcome.answers), reads: seen(&outcome.reads) }
    }
}

impl From<Outcome> for interlock_model::Outcome {
    fn from(outcome: Outcome) -> Self {
        let seen = |list: Vec<Option<Seen>>| {
            list.into_iter()
                .map(|seen| match seen {
                    Some(Seen::Result(value)) => interlock_model::Seen::Result(value),
                    Some(Seen::Error(value)) => interlock_model::Seen::Error(value),
                    None => interlock_model::Seen::Nothing,
                })
                .collect()
        };
        Self { answers: seen(outcome.answers), reads: seen(outcome.reads) }
    }
}
