//! Timers are never early, and those that the runtime keeps in order are only turned around knowingly.

use serde_json::Value;

use crate::server::{Server, text, walk};

#[tokio::test]
async fn a_pause_is_a_gap_however_it_is_asked_for() {
    for tool in ["timeout", "immediate", "promised", "turned", "promisified"] {
        let calls = [(tool, Value::Null), (tool, Value::Null)];
        let (walk, runs) = walk(async || Server::own("timers.mjs"), &calls).await;
        assert!(walk.exhausted());
        let seen: Vec<_> =
            runs.iter().map(|run| (run.ran.order(), run.list.as_str(), run.ran.observed.unnatural)).collect();
        let seen: Vec<_> =
            seen.iter().map(|(order, list, unnatural)| (order.as_str(), *list, *unnatural)).collect();
        assert_eq!(seen, [("AB", "1", false), ("BA", "1", true)], "{tool}: equal timers expire in order");
    }
}

#[tokio::test]
async fn deadlines_hold_nobody_up_and_cleared_timers_stay_silent() {
    let calls = [("deadline", Value::Null), ("deadline", Value::Null)];
    let mut server = Server::own("timers.mjs");
    let ran = server.together(&calls, &[]).await;
    assert_eq!(ran.observed.diverged, None);
    assert!(ran.answers.iter().all(|answer| text(answer) == "false"), "{:?}", ran.answers);
    assert_eq!(ran.told(), ["wait setTimeout 5 ms", "wait setTimeout 5 ms"]);
}
