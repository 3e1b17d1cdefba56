//! The holder of a lease, stopped past its time: another takes over, and what the first one still wants to write is refused.

use std::time::{Duration, Instant};

use interlock_sync::{
    lease::Leases,
    store::{Admission, Admitted, Change, Content, Ending, Expect, Mutation, OpId, Outcome},
};

use crate::{
    BACKENDS, block_on,
    caller::{end, wish},
    client::PATIENCE,
    holder::{GUARDED, LEASE, TTL},
    key,
    process::Role,
    stage::{Road, Stage},
    tally::say,
};

#[test]
fn a_holder_that_was_stopped_past_its_time_writes_nothing_more() {
    for &backend in BACKENDS {
        let mut stage = Stage::new(backend, Road::Straight);
        for _ in 0..3 {
            let mut first = stage.worker(Role::Holder, None);
            let first_fence: u64 = first.hear("holds ").parse().unwrap();
            let second_fence = block_on(async {
                let store = stage.open().await;
                let leases = Leases::new(store.clone(), TTL * 50);
                let start = Instant::now();
                let mut is_given_up = false;
                let second = loop {
                    assert!(start.elapsed() < PATIENCE, "nobody can take over");
                    first.stop();
                    stage.faults.count("holders stopped past their time");
                    // A process can be stopped while it has the lock of an SQLite file; then everyone waits for it, and it has to go on first.
                    let taken = tokio::time::timeout(TTL * 4, leases.acquire(&key(LEASE), TTL * 3)).await;
                    if let Ok(Ok(Ok(lease))) = taken {
                        break lease;
                    }
                    is_given_up = true;
                    first.go_on();
                    stage.faults.count("stopped at a moment that stops all");
                    tokio::time::sleep(Duration::from_millis(7)).await;
                };
                let content = Content::Bytes(b"second".into());
                let change = Change::Put { key: key(GUARDED), expect: Expect::Any, content: content.clone() };
                let written =
                    store.mutate(&second.guard(Mutation::new(OpId::fresh(), change))).await.unwrap();
                assert!(matches!(written, Outcome::Applied(_)), "{written:?}");
                first.go_on();
                let refused_by: u64 = first.hear("fenced ").parse().unwrap();
                // A wish that was given up after its time may have been granted, and is then what the first one meets: its fence, or nobody
                // once it was given back.
                let is_later = first_fence < refused_by && refused_by <= second.fence().0;
                assert!(
                    is_later || (is_given_up && refused_by == 0),
                    "the first one was told of {refused_by}, and {} holds it",
                    second.fence().0
                );
                let record = store.get(&key(GUARDED)).await.unwrap().unwrap();
                assert_eq!(record.content, content, "the first one wrote after the second");
                let fence = second.fence().0;
                assert!(second.release().await.unwrap());
                fence
            });
            assert!(second_fence > first_fence);
            assert!(first.ends_well());
            stage.held.count("late writes refused");
        }
        let (faults, held) = (&stage.faults, &stage.held);
        say(&format!(
            "{}, stopped holders: {} faults injected ({faults}); held: {held}",
            backend.name(),
            faults.total()
        ));
    }
}

/// A call that was stopped past its time has nothing left: another has it, and what the first one still says takes nothing from it.
#[test]
fn a_call_that_was_stopped_past_its_time_holds_nothing_more() {
    for &backend in BACKENDS {
        let mut stage = Stage::new(backend, Road::Straight);
        for round in 0..3 {
            let mut first = stage.worker(Role::Caller, None);
            let first_fence: u64 = first.hear("holds ").parse().unwrap();
            block_on(async {
                let store = stage.open().await;
                let second = Admission { ttl: TTL * 50, ..wish(&format!("second-{round}")) };
                let start = Instant::now();
                let fence = 'taken: loop {
                    assert!(start.elapsed() < PATIENCE, "nobody can take over");
                    first.stop();
                    stage.faults.count("calls stopped past their time");
                    // A process can be stopped while it has the lock of an SQLite file; then everyone waits for it, and it has to go on first.
                    let stopped = Instant::now();
                    while stopped.elapsed() < TTL * 4 {
                        let asked = tokio::time::timeout(TTL * 4, store.admit(&second)).await;
                        if let Ok(Ok(Admitted::Granted { fence })) = asked {
                            break 'taken fence;
                        }
                        tokio::time::sleep(Duration::from_millis(7)).await;
                    }
                    first.go_on();
                    stage.faults.count("stopped at a moment that stops all");
                    tokio::time::sleep(Duration::from_millis(7)).await;
                };
                assert!(fence.0 > first_fence, "the fence went back from {first_fence} to {fence:?}");
                first.go_on();
                assert_eq!(first.hear("settled "), "false", "it had nothing to give back");
                let others = store.admit(&wish("others")).await.unwrap();
                assert!(matches!(others, Admitted::Waits { .. }), "two hold it: {others:?}");
                assert!(store.prolong(&end(&second, fence), TTL * 50).await.unwrap());
                assert!(store.settle(&end(&second, fence)).await.unwrap());
                // It is over late, but it is over: nobody took its work from it.
                let again = Admission { call: OpId::fresh(), ..wish(&format!("work-{}", first.orders.id)) };
                let told = store.admit(&again).await.unwrap();
                let is_told = matches!(&told, Admitted::Ended(stored) if stored.ending == Ending::Completed(b"done".to_vec()));
                assert!(is_told, "{told:?}");
            });
            assert!(first.ends_well());
            stage.held.count("late calls that took nothing");
        }
        let (faults, held) = (&stage.faults, &stage.held);
        say(&format!(
            "{}, stopped calls: {} faults injected ({faults}); held: {held}",
            backend.name(),
            faults.total()
        ));
    }
}
