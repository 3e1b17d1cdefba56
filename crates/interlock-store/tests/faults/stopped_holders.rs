//! The holder of a lease, stopped past its time: another takes over, and what the first one still wants to write is refused.

use std::time::{Duration, Instant};

use interlock_sync::{
    lease::Leases,
    store::{Change, Content, Expect, Mutation, OpId, Outcome},
};

use crate::{
    BACKENDS, block_on,
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
                let second = loop {
                    assert!(start.elapsed() < Duration::from_secs(60), "nobody can take over");
                    first.stop();
                    stage.faults.count("holders stopped past their time");
                    // A process can be stopped while it has the lock of an SQLite file; then everyone waits for it, and it has to go on first.
                    let taken = tokio::time::timeout(TTL * 4, leases.acquire(&key(LEASE), TTL * 3)).await;
                    if let Ok(Ok(Ok(lease))) = taken {
                        break lease;
                    }
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
                // A wish that was given up after its time may have been granted, and is then what the first one meets.
                let is_later = first_fence < refused_by && refused_by <= second.fence().0;
                assert!(
                    is_later,
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
