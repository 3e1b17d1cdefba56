//! Ten thousand at once.

use super::story::{arrive, call, decide, end, grant, ops, wait};
use crate::{
    event::{Decision, Ending},
    ops::OpsOptions,
};

#[tokio::test]
async fn ten_thousand_waiters_make_neither_the_state_nor_the_metrics_long() {
    let ops = ops(OpsOptions::default());
    let long = "x".repeat(10_000);
    let holder = call("writer");
    arrive(&ops, 0, &holder);
    grant(&ops, 0, &holder, &["graph"]);
    for id in 1..=10_000 {
        let call = call(&format!("{long}{id}"));
        arrive(&ops, id, &call);
        wait(&ops, id, &["graph", &format!("{long}{id}"), &format!("k{id}")], id as u32);
        wait(&ops, id, &["graph", &format!("{long}{id}"), &format!("k{id}")], id as u32 - 1);
    }
    let state = serde_json::to_value(ops.state().await).unwrap();
    assert_eq!(state["waiting"], 10_000);
    assert_eq!(state["keys"]["count"], 10_002);
    let first = &state["keys"]["longest"][0];
    assert_eq!((&first["key"], &first["waiting"]), (&"graph".into(), &10_000.into()));
    assert_eq!(first["runners"][0]["tool"], "writer");
    assert_eq!(first["first"][0]["call"], format!("{:032x}", 1));
    let length = state.to_string().len();
    assert!(length < 100_000, "{length}");
    assert!(ops.metrics().len() < 200_000, "{}", ops.metrics().len());

    for id in 1..=10_000 {
        decide(&ops, id, &call("x"), Decision::Refused { reason: "queue_full" }, &["graph"]);
    }
    end(&ops, 0, &holder, Ending::Answered);
    let state = serde_json::to_value(ops.state().await).unwrap();
    assert_eq!(state["waiting"], 0);
    assert_eq!(state["in_flight"]["count"], 0);
    assert_eq!(state["refused"], 10_000);
    assert_eq!(state["refusals"].as_array().unwrap().len(), 50);
}

#[test]
fn every_call_that_came_is_gone_when_all_have_ended_however_they_meet() {
    let ops = ops(OpsOptions::default());
    std::thread::scope(|scope| {
        for thread in 0..4_u128 {
            let ops = &ops;
            scope.spawn(move || {
                let call = call("t");
                for n in 0..2_000 {
                    let id = thread << 64 | n;
                    arrive(ops, id, &call);
                    if n % 3 == 0 {
                        wait(ops, id, &["k"], 1);
                    }
                    match n % 5 {
                        0 => decide(ops, id, &call, Decision::Refused { reason: "r" }, &[]),
                        1 => decide(ops, id, &call, Decision::Replayed, &[]),
                        2 => {
                            decide(ops, id, &call, Decision::Observed { reason: "r" }, &["k"]);
                            grant(ops, id, &call, &["k"]);
                            end(ops, id, &call, Ending::Answered);
                        }
                        _ => {
                            grant(ops, id, &call, &["k"]);
                            end(ops, id, &call, Ending::Failed);
                        }
                    }
                }
            });
        }
    });
    let text = ops.metrics();
    for line in [
        "interlock_guard_calls_in_flight{tool=\"t\"} 0",
        "interlock_guard_calls_waiting{tool=\"t\"} 0",
        "interlock_guard_calls_total{tool=\"t\",decision=\"granted\",reason=\"\"} 4800",
        "interlock_guard_calls_total{tool=\"t\",decision=\"observed\",reason=\"r\"} 1600",
        "interlock_guard_calls_total{tool=\"t\",decision=\"refused\",reason=\"r\"} 1600",
        "interlock_guard_wait_seconds_count{tool=\"t\"} 8000",
        "interlock_guard_call_seconds_count{tool=\"t\"} 4800",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
