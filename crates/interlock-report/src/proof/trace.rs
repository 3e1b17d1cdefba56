//! A trace of every illegal run, for `chrome://tracing` and Perfetto: a process for each set, a thread for each call.

use interlock_model::{Answer, Evidence, ProofReport, SetReport};
use serde::Serialize;
use serde_json::{Value, json};

use super::{value::sorted, words};
use crate::encode;

#[derive(Serialize)]
struct Trace {
    #[serde(rename = "displayTimeUnit")]
    unit: &'static str,
    #[serde(rename = "otherData")]
    about: Value,
    #[serde(rename = "traceEvents")]
    events: Vec<Event>,
}

/// An event of the format; times are microseconds.
#[derive(Serialize)]
struct Event {
    name: String,
    #[serde(rename = "cat", skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    #[serde(rename = "ph")]
    phase: &'static str,
    #[serde(rename = "ts")]
    at: f64,
    #[serde(rename = "dur", skip_serializing_if = "Option::is_none")]
    lasts: Option<f64>,
    pid: usize,
    tid: usize,
    /// How far an instant reaches: over its thread, or over its process.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    args: Value,
}

/// Writes the illegal runs of a report; one without any is a trace without events.
#[must_use]
pub fn write(report: &ProofReport) -> String {
    let mut events = Vec::new();
    for (number, set) in (1..).zip(&report.sets) {
        if let Some(evidence) = &set.evidence {
            run(&mut events, number, set, evidence);
        }
    }
    encode::json(&Trace {
        unit: "ms",
        about: json!({ "target": report.target, "verdict": report.verdict.name() }),
        events,
    })
}

fn run(events: &mut Vec<Event>, process: usize, set: &SetReport, evidence: &Evidence) {
    let name = format!("{}: {}", set.verdict, words::name(&set.set));
    events.push(named("process_name", process, 0, &name));
    let history = &evidence.history;
    let end = super::scale::moments(&set.set, evidence).into_iter().max().unwrap_or_default();
    for (index, call) in history.calls.iter().enumerate() {
        events.push(named(
            "thread_name",
            process,
            index + 1,
            &format!("{} {}", words::letter(index), call.tool),
        ));
        let (kind, answer) = match &call.answer {
            Answer::Result { value, .. } => ("result", sorted(value)),
            Answer::Error { value, .. } => ("error", sorted(value)),
            Answer::Missing { reason } => ("missing", Value::from(reason.as_str())),
        };
        let until = call.answer.at().unwrap_or(end);
        events.push(Event {
            name: call.tool.clone(),
            category: Some("call"),
            phase: "X",
            at: micros(call.sent),
            lasts: Some(micros(until.saturating_sub(call.sent))),
            pid: process,
            tid: index + 1,
            scope: None,
            args: json!({ "arguments": sorted(&call.arguments), kind: answer }),
        });
    }
    if history.ticks.iter().any(|tick| tick.call.is_none()) {
        events.push(named("thread_name", process, 0, "operations whose call is not known"));
    }
    for tick in &history.ticks {
        events.push(Event {
            name: format!("{} {}", tick.kind, tick.on),
            category: Some("io"),
            phase: "i",
            at: micros(tick.at),
            lasts: None,
            pid: process,
            tid: tick.call.map_or(0, |call| call.saturating_add(1)),
            scope: Some(if tick.call.is_some() { "t" } else { "p" }),
            args: json!({ "on": tick.on }),
        });
    }
    if let Some(stale) = super::scale::window(evidence) {
        events.push(Event {
            name: "stale".to_owned(),
            category: Some("stale"),
            phase: "X",
            at: micros(stale.from),
            lasts: Some(micros(stale.to.saturating_sub(stale.from))),
            pid: process,
            tid: stale.call.saturating_add(1),
            scope: None,
            args: json!({ "why": words::stale(stale.call, stale.from, stale.to) }),
        });
    }
}

/// The name of a process or a thread.
fn named(what: &str, process: usize, thread: usize, name: &str) -> Event {
    Event {
        name: what.to_owned(),
        category: None,
        phase: "M",
        at: 0.0,
        lasts: None,
        pid: process,
        tid: thread,
        scope: None,
        args: json!({ "name": name }),
    }
}

fn micros(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
