//! From rules and arguments to what the store is asked.

use expect_test::expect;
use interlock_sync::store::{Admitted, OpId, Quota};

use super::*;
use crate::desk::plan::Plan;

fn plan(rules: &ToolRules, call: &ToolCall) -> Plan {
    Plan::of(call, rules, Mode::Enforce, OpId(1), SECOND * 70).unwrap().unwrap()
}

#[test]
fn keys_are_sorted_once_each_and_exclusive_wins() {
    let rules = ToolRules {
        lock: keys(&["b", "{args.x}"]),
        lock_shared: keys(&["a", "b", "c"]),
        rate: ruled(Quota::bucket(1, SECOND).unwrap()),
        in_flight: places(3),
        ..by_meta()
    };
    let plan = plan(&rules, &keyed("pay", json!({ "x": "a:1" }), json!("k 1")));
    let mut lines = Vec::new();
    for wish in &plan.admission.locks {
        lines.push(format!("{} {}", wish.key, if wish.is_shared { "shared" } else { "alone" }));
    }
    lines.extend(plan.held().map(ToString::to_string));
    lines.extend(plan.admission.charges.iter().map(|charge| charge.key.to_string()));
    lines.push(plan.keys().join(" "));
    expect![[r#"
        lock:a shared
        lock:a%3a;1 alone
        lock:b alone
        lock:c shared
        place:*:alice
        lock:a
        lock:a%3a;1
        lock:b
        lock:c
        once:bank:pay:alice:k 1
        rate:*:alice
        a a:1 b c"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn a_long_key_is_folded_for_the_store_and_cut_for_people() {
    let of = |long: usize| plan(&locking(&["{args.x}"]), &call("t", json!({ "x": "é".repeat(long) })));
    let (one, other) = (of(100_000), of(100_001));
    assert_ne!(one.settlement.locks, other.settlement.locks);
    assert!(one.keys()[0].len() < 300 && one.keys()[0].ends_with('…'), "{:?}", one.keys());
}

#[test]
fn nothing_is_asked_for_a_call_without_rules() {
    let stranger = ToolCall { reader: None, ..plain("t") };
    let reads = ToolRules { observes: keys(&["graph"]), ..rules() };
    for (rules, call) in [(rules(), plain("t")), (by_meta(), plain("t")), (reads, stranger)] {
        assert!(Plan::of(&call, &rules, Mode::Enforce, OpId(1), SECOND).unwrap().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_replica_held_and_waited_for_when_it_died_runs_out() {
    let world = World::new(|_| ToolRules { wait: SECOND * 600, ..locking(&["k"]) });
    let mut dead = [plan(&locking(&["k"]), &plain("t")), plan(&locking(&["k"]), &plain("t"))];
    dead[1].admission.call = OpId(2);
    dead[1].admission.patience = SECOND * 2;
    let mut answers = Vec::new();
    for plan in &dead {
        answers.push(world.store.admit(&plan.admission).await.unwrap());
    }
    assert!(matches!(answers[..], [Admitted::Granted { .. }, Admitted::Waits { .. }]), "{answers:?}");
    let mut next = world.start(plain("t"));
    tokio::time::sleep(SECOND * 60).await;
    assert!(!next.is_running().await);
    tokio::time::sleep(SECOND * 15).await;
    assert!(next.is_running().await);
    next.end(done("ok")).await;
    world.assert_idle().await;
}
