//! The real desk in front: what it tells is what operators see.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use interlock_sync::memory::MemoryStore;
use tokio::sync::oneshot;

use super::story::{call, ops};
use crate::{
    call::Answer,
    desk::Desk,
    event::Watch,
    ops::{Ops, OpsOptions, TraceOptions},
    policy::{Bare, Rules},
};

fn done() -> Answer {
    Answer::Result { result: Bytes::from_static(b"{}"), is_error: false, task: None }
}

async fn until(ops: &Ops, is_so: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    loop {
        let state = serde_json::to_value(ops.state().await).unwrap();
        if is_so(&state) {
            return state;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_waits_behind_whom_is_seen_and_nothing_is_left_when_all_are_gone() {
    let traces = TraceOptions {
        endpoint: "http://127.0.0.1:1".to_owned(),
        service: "guard".to_owned(),
        per_mille: 1000,
        headers: Vec::new(),
    };
    let ops = ops(OpsOptions { traces: Some(traces), ..OpsOptions::default() });
    let rules = Arc::new(Rules::bare(&Bare::default()).unwrap());
    let desk =
        Arc::new(Desk::new(Arc::new(MemoryStore::default()), rules, Arc::clone(&ops) as Arc<dyn Watch>));

    let (end, ended) = oneshot::channel::<()>();
    let (started, has_started) = oneshot::channel();
    let (first, second, third) = (Arc::clone(&desk), Arc::clone(&desk), Arc::clone(&desk));
    let first = tokio::spawn(async move {
        let forward = move |stamp| async move {
            let _ = started.send(stamp);
            let _ = ended.await;
            done()
        };
        first.carry(call("write"), forward).await
    });
    let stamp = has_started.await.unwrap();
    assert!(stamp.traceparent.unwrap().is_sampled());
    let second = tokio::spawn(async move { second.carry(call("write"), |_| async { done() }).await });
    until(&ops, |state| state["waiting"] == 1).await;
    let third = tokio::spawn(async move { third.carry(call("write"), |_| async { done() }).await });
    let state = until(&ops, |state| state["waiting"] == 2).await;
    assert_eq!(state["in_flight"]["count"], 1);
    let line = &state["keys"]["longest"][0];
    assert_eq!((&line["waiting"], &line["running"]), (&2.into(), &1.into()));
    assert_eq!(line["runners"][0]["call"], state["in_flight"]["oldest"][0]["call"]);
    assert_eq!(line["runners"][0]["fence"], stamp.fence.unwrap().0.to_string());

    third.abort();
    let state = until(&ops, |state| state["waiting"] == 1).await;
    assert_eq!(state["refusals"][0]["reason"], "given-up");
    end.send(()).unwrap();
    first.await.unwrap();
    second.await.unwrap();
    let state = until(&ops, |state| state["in_flight"]["count"] == 0).await;
    assert_eq!((&state["waiting"], &state["keys"]["count"]), (&0.into(), &0.into()));

    assert_eq!(desk.close(Duration::from_secs(1)).await, 0);
    assert!(!ops.readiness().await.ready);
    let text = ops.metrics();
    for line in [
        "interlock_guard_calls_total{tool=\"write\",decision=\"granted\",reason=\"\"} 2",
        "interlock_guard_calls_total{tool=\"write\",decision=\"refused\",reason=\"given-up\"} 1",
        "interlock_guard_call_endings_total{tool=\"write\",ending=\"answered\"} 2",
        "interlock_guard_calls_in_flight{tool=\"write\"} 0",
        "interlock_guard_calls_waiting{tool=\"write\"} 0",
        "interlock_guard_closing 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
