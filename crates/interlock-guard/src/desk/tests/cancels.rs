//! What becomes of a cancel by the caller, and what is written down of the call then.

use super::*;
use crate::{desk::OnCancel, policy::Cancel};

/// What a server would hear of a cancel of a call under these rules.
async fn on_cancel(rules: ToolRules) -> OnCancel {
    let world = World::new(move |_| rules.clone());
    let (told, heard) = oneshot::channel();
    let forward = move |stamp: Stamp| async move {
        let _ = told.send(stamp.on_cancel);
        done("ok")
    };
    world.desk.carry(plain("tool"), forward).await;
    heard.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_others_wait_for_is_not_cancelled_unless_its_rules_say_so() {
    let grace = rules().grace;
    let shared = || ToolRules { lock_shared: keys(&["k"]), ..rules() };
    let changing = || ToolRules { changes: keys(&["k"]), ..rules() };
    for awaited in [locking(&["k"]), shared(), changing()] {
        assert_eq!(on_cancel(awaited.clone()).await, OnCancel::Held, "{awaited:?}");
        let passing = ToolRules { cancel: Some(Cancel::Pass), ..awaited };
        assert_eq!(on_cancel(passing).await, OnCancel::PassedOn(grace));
    }
    assert_eq!(on_cancel(rules()).await, OnCancel::PassedOn(Duration::ZERO));
    assert_eq!(on_cancel(ToolRules { in_flight: places(1), ..rules() }).await, OnCancel::PassedOn(grace));
    assert_eq!(on_cancel(ToolRules { cancel: Some(Cancel::Hold), ..rules() }).await, OnCancel::Held);
    let only_seen = ToolRules { lock: observed(vec!["k".parse().unwrap()]), ..rules() };
    assert_eq!(
        on_cancel(only_seen).await,
        OnCancel::PassedOn(Duration::ZERO),
        "what is observed changes nothing"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_that_does_not_say_that_it_ended_is_unknown_if_others_waited_for_it() {
    let world = World::new(|tool| match tool {
        "read" => ToolRules { in_flight: places(1), ..rules() },
        _ => locking(&["k"]),
    });
    for tool in ["write", "read"] {
        let mut call = world.start(plain(tool));
        assert!(call.is_running().await);
        call.end(Answer::Cancelled).await;
    }
    assert_eq!(
        world.notes.take(),
        [
            "write granted, fence true",
            "write unknown: it was cancelled, and its server did not say that it ended",
            "read granted, fence false",
            "read cancelled",
        ]
    );
    assert_eq!(world.ask(plain("write")).await, "ok", "what it held is free");
    world.assert_idle().await;
}
