//! Observe mode.

use expect_test::expect;
use interlock_sync::store::Quota;

use super::*;

#[tokio::test(start_paused = true)]
async fn what_is_observed_is_noted_and_neither_refused_nor_delayed() {
    let observed_keys = |texts: &[&str]| keys(texts).map(|ruled| Ruled { mode: Mode::Observe, ..ruled });
    let quota = Quota::bucket(2, SECOND * 60).unwrap();
    let world = World::new(move |tool| match tool {
        "deny" => ToolRules { deny: observed(()), ..rules() },
        "rate" => ToolRules { rate: observed(quota), ..rules() },
        "flight" => ToolRules { in_flight: observed(NonZeroU32::MIN), ..rules() },
        "lock" => ToolRules { lock: observed_keys(&["k:{args.id}"]), ..rules() },
        "once" => ToolRules { idempotency: observed(IdempotencyKey::Meta), ..rules() },
        "fresh" => {
            ToolRules { requires_fresh: observed_keys(&["graph"]), changes: keys(&["graph"]), ..rules() }
        }
        _ => locking(&["k:1"]),
    });
    assert_eq!(world.ask(plain("deny")).await, "ok");
    for _ in 0..3 {
        assert_eq!(world.ask(plain("rate")).await, "ok");
    }
    for tool in ["flight", "lock"] {
        let mut both = [(); 2].map(|()| world.start(call(tool, json!({ "id": 1 }))));
        assert!(both[0].is_running().await && both[1].is_running().await);
        // Nor does it delay whom another rule holds to the same key.
        assert_eq!(world.ask(plain("enforced")).await, "ok");
        for one in both {
            one.end(done("ok")).await;
        }
    }
    assert_eq!(world.ask(plain("lock")).await, "ok");
    for _ in 0..2 {
        assert_eq!(world.ask(keyed("once", json!({}), json!("k"))).await, "ok");
    }
    assert_eq!(world.ask(plain("fresh")).await, "ok");
    world.assert_idle().await;
    let mut notes = world.notes.take();
    notes.retain(|note| note.contains("observed") || note.contains("refused"));
    expect![[r#"
        deny observed: denied []
        rate observed: rate []
        flight observed: in-flight []
        lock observed: locked ["k:1"]
        lock observed: argument []
        once observed: replayed []
        fresh observed: stale ["graph"]"#]]
    .assert_eq(&notes.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_rate_that_is_exceeded_does_not_hide_a_conflict() {
    let quota = Quota::bucket(1, SECOND * 60).unwrap();
    let world = World::new(move |_| ToolRules {
        rate: observed(quota),
        lock: observed(vec!["k".parse().unwrap()]),
        ..rules()
    });
    let mut first = world.start(plain("t"));
    assert!(first.is_running().await);
    assert_eq!(world.ask(plain("t")).await, "ok");
    first.end(done("ok")).await;
    assert_eq!(world.ask(plain("t")).await, "ok");
    world.assert_idle().await;
    let mut notes = world.notes.take();
    notes.retain(|note| note.contains("observed"));
    let told = [r#"t observed: rate ["k"]"#, r#"t observed: locked ["k"]"#, r#"t observed: rate ["k"]"#];
    assert_eq!(notes, told);
}

#[tokio::test(start_paused = true)]
async fn enforced_rules_of_the_same_tool_still_hold() {
    let world = World::new(|_| ToolRules { in_flight: observed(NonZeroU32::MIN), ..locking(&["k"]) });
    let mut first = world.start(plain("t"));
    assert!(first.is_running().await);
    let mut second = world.start(plain("t"));
    assert!(!second.is_running().await);
    first.end(done("ok")).await;
    assert!(second.is_running().await);
    second.end(done("ok")).await;
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn an_observed_lock_notices_those_that_are_enforced_and_these_do_not_notice_each_other() {
    let world = World::new(|tool| match tool {
        "trial" => ToolRules { lock: observed(vec!["k".parse().unwrap()]), notes_locks: true, ..rules() },
        _ => ToolRules { notes_locks: true, ..locking(&["k"]) },
    });
    let mut held = world.start(plain("held"));
    assert!(held.is_running().await);
    let mut next = world.start(plain("next"));
    assert_eq!(world.ask(plain("trial")).await, "ok");
    held.end(done("ok")).await;
    assert!(next.is_running().await);
    next.end(done("ok")).await;
    assert_eq!(world.ask(plain("trial")).await, "ok");
    // The other way round: if the trial were enforced, who really holds the lock would have had to wait.
    let mut trial = world.start(plain("trial"));
    assert!(trial.is_running().await);
    assert_eq!(world.ask(plain("late")).await, "ok");
    trial.end(done("ok")).await;
    world.assert_idle().await;
    let mut notes = world.notes.take();
    notes.retain(|note| note.contains("observed") || note.contains("refused"));
    assert_eq!(notes, [r#"trial observed: locked ["k"]"#, r#"late observed: locked ["k"]"#]);
}
