//! When the store is away.

use super::*;

fn reads_and_writes(tool: &str) -> ToolRules {
    ToolRules { passes_without_store: tool == "read", ..locking(&["k"]) }
}

/// The next operations of a kind go wrong, one after the other.
fn plan(world: &World, op: Op, faults: &[Fault]) {
    for fault in faults {
        world.store.plan(op, *fault);
    }
}

#[tokio::test(start_paused = true)]
async fn reads_pass_and_everything_else_is_refused() {
    let world = World::new(reads_and_writes);
    world.store.set_away(true);
    assert_eq!(world.ask(plain("read")).await, "ok");
    let refused = world.ask(plain("write")).await;
    assert!(refused.contains("`write` was not run: the store is not reachable."), "no more of it: {refused}");
    assert_eq!(
        world.notes.take(),
        [
            "store: the store is not reachable: planned",
            "read granted, fence false",
            "read answered",
            "store: the store is not reachable: planned",
            "write refused: store"
        ]
    );
    world.store.set_away(false);
    assert_eq!(world.ask(plain("write")).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_asked_for_again_and_then_taken_back() {
    let world = World::new(reads_and_writes);
    plan(&world, Op::Admit, &[Fault::LostAnswer]);
    assert_eq!(world.ask(plain("write")).await, "ok");
    // It is granted, and nobody hears of it.
    plan(&world, Op::Admit, &[Fault::LostAnswer, Fault::LostAnswer]);
    assert!(world.ask(plain("write")).await.contains("the answer of the store was lost"));
    assert_eq!(world.ask(plain("write")).await, "ok");
    plan(&world, Op::Admit, &[Fault::Hang, Fault::Hang]);
    assert!(world.ask(plain("write")).await.contains("the answer of the store was lost"));
    rest().await;
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_settled_is_settled_later_and_the_answer_is_not_kept_for_that() {
    let world = World::new(|_| ToolRules { wait: SECOND * 3600, ..reads_and_writes("write") });
    let mut first = world.start(plain("first"));
    assert!(first.is_running().await);
    world.store.set_away(true);
    assert_eq!(first.end(done("paid")).await, "paid");
    world.store.set_away(false);
    assert_eq!(world.ask(plain("second")).await, "ok");
    plan(&world, Op::Settle, &[Fault::Hang, Fault::Unavailable, Fault::LostAnswer]);
    assert_eq!(world.ask(plain("third")).await, "ok");
    assert_eq!(world.ask(plain("fourth")).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_goes_away_while_calls_wait_refuses_them_and_leaves_no_line() {
    let world = World::new(reads_and_writes);
    let mut holder = world.start(plain("write"));
    assert!(holder.is_running().await);
    let waiters: Vec<_> = (0..10).map(|_| world.start(plain("write"))).collect();
    rest().await;
    world.store.set_away(true);
    for waiter in waiters {
        assert!(waiter.carried.await.unwrap().contains("the store is not reachable"));
    }
    assert!(world.desk.lines.is_empty());
    world.store.set_away(false);
    holder.end(done("ok")).await;
    // The place that could not be left runs out.
    tokio::time::sleep(SECOND * 3).await;
    assert_eq!(world.ask(plain("write")).await, "ok");
    world.assert_idle().await;
}
