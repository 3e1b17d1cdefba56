//! How calls end, and what they hold until then.

use super::*;

fn lost(may_have_run: bool) -> Answer {
    Answer::Lost { reason: "the process of `bank` ended".into(), may_have_run }
}

#[tokio::test(start_paused = true)]
async fn after_the_timeout_the_caller_is_told_and_the_call_goes_on_holding() {
    let world = World::new(|_| ToolRules { wait: SECOND * 600, ..locking(&["k"]) });
    let mut slow = world.start(plain("slow"));
    assert!(slow.is_running().await);
    let mut next = world.start(plain("next"));
    let told = (&mut slow.carried).await.unwrap();
    assert!(
        told.contains("has not answered within 60 seconds. It goes on, and may yet take effect"),
        "{told}"
    );
    // Far beyond the first lease: it is prolonged while the upstream lives.
    tokio::time::sleep(SECOND * 300).await;
    assert!(!next.is_running().await);
    slow.answer(done("late"));
    assert!(next.is_running().await);
    next.end(done("ok")).await;
    rest().await;
    world.assert_idle().await;
    let notes = world.notes.take();
    assert_eq!(
        notes,
        ["slow granted, fence true", "slow answered", "next granted, fence true", "next answered"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_never_answers_is_given_up_at_last() {
    let world = World::new(|_| ToolRules { wait: SECOND * 3600, changes: keys(&["k"]), ..locking(&["k"]) });
    let mut stuck = world.start(plain("stuck"));
    assert!(stuck.is_running().await);
    assert_eq!(world.ask(plain("next")).await, "ok");
    assert!(stuck.end.take().unwrap().is_closed(), "nobody waits for it any more");
    world.assert_idle().await;
    let notes = world.notes.take();
    assert!(notes[1].starts_with("stuck unknown: it has not answered"), "{notes:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_lease_was_lost_is_given_up_and_that_is_noted() {
    let world = World::new(|_| locking(&["k"]));
    let mut slow = world.start(plain("slow"));
    assert!(slow.is_running().await);
    // Nobody can ask the store, neither to prolong nor to settle, until the lease has run out.
    tokio::time::sleep(SECOND * 59).await;
    world.store.set_away(true);
    tokio::time::sleep(SECOND * 16).await;
    world.store.set_away(false);
    rest().await;
    let notes = world.notes.take();
    assert!(notes.iter().any(|note| note.starts_with("slow unknown: ")), "{notes:?}");
    assert_eq!(world.ask(plain("next")).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_goes_away_does_not_end_its_call() {
    let world = World::new(|_| locking(&["k"]));
    let mut left = world.start(plain("left"));
    assert!(left.is_running().await);
    left.carried.abort();
    let mut next = world.start(plain("next"));
    assert!(!next.is_running().await);
    left.answer(done("to nobody"));
    assert!(next.is_running().await);
    next.end(done("ok")).await;
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn an_upstream_that_is_lost_gives_everything_back_at_once() {
    let world = World::new(|_| locking(&["k"]));
    let mut one = world.start(plain("one"));
    assert!(one.is_running().await);
    let told = one.end(lost(true)).await;
    assert!(told.contains("nobody knows whether it took effect: the process of `bank` ended"), "{told}");
    let mut two = world.start(plain("two"));
    assert!(two.is_running().await);
    let told = two.end(lost(false)).await;
    assert!(told.contains("`two` was not run: the process of `bank` ended. Try again"), "{told}");
    world.assert_idle().await;
    let notes = world.notes.take();
    assert_eq!(notes[1], "one unknown: the process of `bank` ended");
    assert_eq!(notes[3], "two failed");
}

#[tokio::test(start_paused = true)]
async fn what_breaks_on_its_way_gives_everything_back() {
    let world = World::new(|_| locking(&["k"]));
    let carried = world.desk.carry(plain("t"), |_| async { panic!("on purpose") }).await;
    assert!(said(&carried).contains("nobody knows whether it took effect"), "{carried:?}");
    assert_eq!(world.ask(plain("t")).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn fences_rise_from_holder_to_holder_and_who_holds_nothing_has_none() {
    let world = World::new(|tool| if tool == "locks" { locking(&["k"]) } else { rules() });
    let mut fences = Vec::new();
    for tool in ["locks", "locks", "free"] {
        let (sender, fence) = oneshot::channel();
        let forward = |stamp: Stamp| async move {
            let _ = sender.send(stamp.fence);
            done("ok")
        };
        world.desk.carry(plain(tool), forward).await;
        fences.push(fence.await.unwrap());
    }
    assert!(fences[0] < fences[1] && fences[0].is_some() && fences[2].is_none(), "{fences:?}");
    assert_eq!(world.store.count(Op::Admit), 2, "a call without rules asks for nothing");
}
