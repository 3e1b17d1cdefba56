//! Stale writes.

use super::*;

fn graph(tool: &str) -> ToolRules {
    match tool {
        "read" => ToolRules { observes: keys(&["graph"]), lock_shared: keys(&["graph"]), ..rules() },
        "write" => ToolRules { changes: keys(&["graph"]), lock: keys(&["graph"]), ..rules() },
        _ => ToolRules { requires_fresh: keys(&["graph"]), ..graph("write") },
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_not_seen_the_last_change_must_read_again_first() {
    let world = World::new(graph);
    let unread = world.ask(by("a", plain("delete"))).await;
    assert!(unread.contains("you have not read `graph` yet. Read it first, then"), "{unread}");
    assert_eq!(world.ask(by("a", plain("read"))).await, "ok");
    assert_eq!(world.ask(by("b", plain("write"))).await, "ok");
    let stale = world.ask(by("a", plain("delete"))).await;
    assert_eq!(
        stale,
        "`delete` was not run: `graph` has changed since you last read it. Read it again first: call `read`, then decide whether to \
         call `delete`."
    );
    assert_eq!(world.ask(by("a", plain("read"))).await, "ok");
    assert_eq!(world.ask(by("a", plain("delete"))).await, "ok");
    // Its own change did not make it stale, and made everybody else so.
    assert_eq!(world.ask(by("a", plain("delete"))).await, "ok");
    assert_eq!(world.ask(by("b", plain("read"))).await, "ok");
    assert_eq!(world.ask(by("a", plain("delete"))).await, "ok");
    assert!(world.ask(by("b", plain("delete"))).await.contains("has changed since"));
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn freshness_is_judged_when_the_lock_is_granted() {
    let world = World::new(graph);
    assert_eq!(world.ask(by("a", plain("read"))).await, "ok");
    let mut write = world.start(by("b", plain("write")));
    assert!(write.is_running().await);
    // It was fresh when it came, and is not when its turn has come.
    let delete = world.start(by("a", plain("delete")));
    rest().await;
    write.end(done("ok")).await;
    assert!(delete.carried.await.unwrap().contains("has changed since you last read it"));
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_did_not_run_changes_nothing_and_one_that_may_have_run_does() {
    let world = World::new(graph);
    for (may_have_run, is_fresh) in [(false, true), (true, false)] {
        assert_eq!(world.ask(by("a", plain("read"))).await, "ok");
        let mut lost = world.start(by("b", plain("write")));
        assert!(lost.is_running().await);
        lost.end(Answer::Lost { reason: "gone".into(), may_have_run }).await;
        assert_eq!(world.ask(by("a", plain("delete"))).await == "ok", is_fresh);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stranger_may_read_but_not_write_what_must_be_fresh() {
    let world = World::new(graph);
    let stranger = |tool| ToolCall { reader: None, ..plain(tool) };
    assert_eq!(world.ask(stranger("read")).await, "ok");
    assert!(world.ask(stranger("delete")).await.contains("does not say who you are"));
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_read_through_one_server_and_changed_through_another_is_stale() {
    let world = World::new(|tool| match tool {
        "read" => ToolRules { observes: keys(&["graph"]), ..rules() },
        "write" => ToolRules { changes: keys(&["graph"]), ..rules() },
        _ => ToolRules { requires_fresh: keys(&["graph"]), ..rules() },
    });
    let of = |upstream: &str, call: ToolCall| ToolCall { upstream: upstream.into(), ..call };
    assert_eq!(world.ask(of("one", by("alice", plain("read")))).await, "ok");
    assert_eq!(world.ask(of("other", by("alice", plain("delete")))).await, "ok", "she has seen it");
    assert_eq!(world.ask(of("other", by("bob", plain("write")))).await, "ok");
    let refused = world.ask(of("one", by("alice", plain("delete")))).await;
    assert!(refused.contains("graph"), "{refused}");
}
