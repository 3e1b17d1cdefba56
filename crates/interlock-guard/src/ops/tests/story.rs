//! Events to tell.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use interlock_sync::store::{Fence, OpId};

use crate::{
    call::{Caller, ToolCall},
    event::{Decision, Ending, Event, UpstreamState, Watch},
    ops::{Ops, OpsOptions, Watched},
};

/// A name that does its worst in a terminal, a page, a metric and a line of JSON.
pub(super) const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'\\\n\u{1b}[31m\u{202e}{{evil}}";

pub(super) fn ops(options: OpsOptions) -> Arc<Ops> {
    let upstreams =
        vec![Watched { name: "memory".to_owned(), group: "memory".to_owned(), is_required: true }];
    Ops::open(OpsOptions { upstreams, ..options }).unwrap()
}

pub(super) fn call(tool: &str) -> ToolCall {
    ToolCall {
        caller: Caller::new("key:ci"),
        reader: Some("session-1".into()),
        upstream: "memory".into(),
        tool: tool.into(),
        is_read_only: false,
        arguments: Bytes::from_static(b"{\"order\":\"7\",\"text\":\"a\\nb\"}"),
        meta: Bytes::new(),
        traceparent: None,
    }
}

pub(super) fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) fn arrive(ops: &Ops, id: u128, call: &ToolCall) {
    ops.note(&Event::Arrived { id: OpId(id), call });
}

pub(super) fn wait(ops: &Ops, id: u128, on: &[&str], ahead: u32) {
    ops.note(&Event::Waits { id: OpId(id), on: &keys(on), ahead });
}

pub(super) fn decide(ops: &Ops, id: u128, call: &ToolCall, decision: Decision<'_>, on: &[&str]) {
    let waited = Duration::from_micros(1_500);
    ops.note(&Event::Decided { id: OpId(id), call, decision, keys: &keys(on), waited });
}

pub(super) fn grant(ops: &Ops, id: u128, call: &ToolCall, on: &[&str]) {
    decide(ops, id, call, Decision::Granted { fence: Some(Fence(id as u64)) }, on);
}

pub(super) fn end(ops: &Ops, id: u128, call: &ToolCall, ending: Ending<'_>) {
    ops.note(&Event::Ended { id: OpId(id), call, ending, took: Duration::from_millis(40) });
}

pub(super) fn up(ops: &Ops) {
    ops.note(&Event::Upstream { name: "memory", state: UpstreamState::Up, reason: "" });
}

/// A little of everything: two calls that ran, one that runs, one that waits, one refused, one replayed, one observed.
pub(super) fn day(ops: &Ops) {
    up(ops);
    ops.note(&Event::Listed { tools: &["create", "read"] });
    let (create, read) = (call("create"), call("read"));
    for id in [1, 2, 3] {
        arrive(ops, id, &create);
        grant(ops, id, &create, &["graph"]);
    }
    end(ops, 1, &create, Ending::Answered);
    end(ops, 2, &create, Ending::Unknown { reason: "no answer within 60 s" });
    arrive(ops, 4, &create);
    wait(ops, 4, &["graph"], 1);
    wait(ops, 4, &["graph"], 0);
    arrive(ops, 5, &read);
    decide(ops, 5, &read, Decision::Refused { reason: "too_often" }, &[]);
    arrive(ops, 6, &read);
    decide(ops, 6, &read, Decision::Replayed, &[]);
    arrive(ops, 7, &read);
    decide(ops, 7, &read, Decision::Observed { reason: "stale" }, &["graph"]);
    end(ops, 7, &read, Ending::Failed);
    ops.note(&Event::Upstream { name: "memory", state: UpstreamState::Down, reason: "it exited with 1" });
    up(ops);
    ops.note(&Event::Store { error: "the store is not reachable" });
    ops.note(&Event::Reloaded { generation: 3 });
}
