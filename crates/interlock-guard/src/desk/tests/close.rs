//! Closing.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;

use super::*;

#[tokio::test(start_paused = true)]
async fn who_waits_is_refused_at_once_and_who_runs_is_answered() {
    let world = World::new(|_| locking(&["k"]));
    let mut running = world.start(plain("t"));
    assert!(running.is_running().await);
    let waiting = [world.start(plain("t")), world.start(plain("t"))];
    rest().await;
    let desk = Arc::clone(&world.desk);
    let closing = tokio::spawn(async move { desk.close(SECOND * 10).await });
    for waiting in waiting {
        assert!(waiting.carried.await.unwrap().contains("takes no new calls"));
    }
    assert!(world.ask(plain("t")).await.contains("takes no new calls"));
    assert!(!closing.is_finished());
    assert_eq!(running.end(done("ok")).await, "ok");
    assert_eq!(closing.await.unwrap(), 0);
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_ever() {
    let world = World::new(|_| locking(&["k"]));
    let mut stuck = world.start(plain("t"));
    assert!(stuck.is_running().await);
    assert_eq!(world.desk.close(SECOND * 10).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_everybody_is_answered_and_nobody_starts_after_the_closing() {
    for round in 0..100 {
        let world = World::new(|_| ToolRules { in_flight: places(20), ..locking(&["{args.id}"]) });
        let running = Arc::new(AtomicUsize::new(0));
        let mut calls = JoinSet::new();
        for index in 0..200 {
            let (world, running) = (world.clone(), Arc::clone(&running));
            calls.spawn(async move {
                let forward = move |_| async move {
                    running.fetch_add(1, Ordering::SeqCst);
                    for _ in 0..5 {
                        tokio::task::yield_now().await;
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                    done("ok")
                };
                let call = by(&format!("caller-{}", index % 3), call("t", json!({ "id": index % 5 })));
                said(&world.desk.carry(call, forward).await)
            });
        }
        for _ in 0..round * 3 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.desk.close(SECOND * 60).await, 0);
        assert_eq!(running.load(Ordering::SeqCst), 0, "a call runs after the closing");
        let before = world.store.count(Op::Admit);
        while let Some(said) = calls.join_next().await {
            let said = said.unwrap();
            assert!(said == "ok" || said.contains("takes no new calls"), "{said}");
        }
        assert_eq!(world.store.count(Op::Admit), before, "somebody asked after the closing");
        world.assert_idle().await;
    }
}
