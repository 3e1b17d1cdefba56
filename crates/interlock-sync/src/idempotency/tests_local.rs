//! Once per key in one process.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{task::yield_now, time::sleep};

use super::*;
use crate::{
    clock::{ManualClock, Timestamp},
    store::{Ending, Fingerprint},
    testing::{poll_at_most, poll_once},
};

const HOUR: Duration = Duration::from_secs(3600);
const REQUEST: Fingerprint = Fingerprint([1; 32]);
const OTHER: Fingerprint = Fingerprint([2; 32]);

fn once() -> (LocalIdempotency<String, Arc<ManualClock>>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(Timestamp(1_000_000_000)));
    (LocalIdempotency::with_clock(Arc::clone(&clock)).keep(HOUR), clock)
}

fn paid() -> Ending {
    Ending::Completed(b"paid".to_vec())
}

async fn pay(_: EffectContext) -> Result<Vec<u8>, Failure> {
    yield_now().await;
    yield_now().await;
    Ok(b"paid".to_vec())
}

async fn must_not_run(_: EffectContext) -> Result<Vec<u8>, Failure> {
    panic!("it ran again")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_hundred_duplicates_one_runs_and_all_are_told_its_answer() {
    let (once, effects) = (Arc::new(once().0), Arc::new(AtomicU32::new(0)));
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (once, effects) = (Arc::clone(&once), Arc::clone(&effects));
            tokio::spawn(async move {
                let effect = async |context| {
                    effects.fetch_add(1, Ordering::SeqCst);
                    pay(context).await
                };
                once.run("order-1", REQUEST, effect).await.ending()
            })
        })
        .collect();
    for call in calls {
        assert_eq!(*call.await.unwrap().unwrap(), paid());
    }
    assert_eq!(effects.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn another_request_is_refused_and_the_same_is_told_until_the_ending_is_forgotten() {
    let (once, clock) = once();
    assert!(once.look_up("order-1", &REQUEST).is_none());
    {
        let mut running = pin!(once.run("order-1", REQUEST, pay));
        assert!(poll_once(running.as_mut()).is_pending());
        assert!(matches!(once.look_up("order-1", &REQUEST), Some(Ran::Running { .. })));
        assert!(matches!(once.run("order-1", OTHER, must_not_run).await, Ran::Mismatch));
        assert!(matches!(running.await, Ran::Done { kept: Kept::Yes, .. }));
    }
    clock.advance(HOUR - Duration::from_micros(1));
    assert!(matches!(once.run("order-1", OTHER, must_not_run).await, Ran::Mismatch));
    assert!(matches!(once.look_up("order-1", &OTHER), Some(Ran::Mismatch)));
    assert!(matches!(once.look_up("order-1", &REQUEST), Some(Ran::Replayed(ending)) if *ending == paid()));
    clock.advance(Duration::from_micros(1));
    assert!(once.look_up("order-1", &REQUEST).is_none());
    assert!(matches!(once.run("order-1", OTHER, pay).await, Ran::Done { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_waits_only_so_long_and_leaves_no_trace() {
    let once = once().0.wait(Duration::from_secs(1));
    let slow = async |_| {
        sleep(Duration::from_secs(60)).await;
        Ok(b"paid".to_vec())
    };
    let mut running = pin!(once.run("order-1", REQUEST, slow));
    assert!(poll_once(running.as_mut()).is_pending());
    assert!(matches!(once.run("order-1", REQUEST, must_not_run).await, Ran::Running { retry_after: None }));
    drop(poll_at_most(once.run("order-1", REQUEST, must_not_run), 3).await);
    assert_eq!(running.await.ending().as_deref(), Some(&paid()));
}

#[tokio::test(start_paused = true)]
async fn an_effect_cut_off_at_any_await_leaves_doubt_and_those_who_wait_are_told() {
    for polls in 1..=2 {
        let (once, clock) = once();
        let mut running = Box::pin(once.run("order-1", REQUEST, pay));
        let mut waiting = pin!(once.run("order-1", REQUEST, must_not_run));
        for _ in 0..polls {
            assert!(poll_once(running.as_mut()).is_pending());
        }
        assert!(poll_once(waiting.as_mut()).is_pending());
        drop(running);
        let Ran::InDoubt { fence } = waiting.await else { panic!("nobody knows") };
        assert!(matches!(once.run("order-1", REQUEST, must_not_run).await, Ran::InDoubt { .. }));
        assert!(!once.settle("order-2", fence, paid()));
        assert!(once.settle("order-1", fence, paid()) && once.settle("order-1", fence, paid()));
        assert!(!once.settle("order-1", fence, Ending::Failed(vec![])));
        assert!(matches!(once.run("order-1", REQUEST, must_not_run).await, Ran::Replayed(_)));
        clock.advance(HOUR);
        assert!(!once.settle("order-1", fence, paid()), "it is forgotten");
    }
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_failure_does_what_it_says() {
    let (once, _) = once();
    let fail = async |key: &str, failure: Failure| once.run(key, REQUEST, async |_| Err(failure)).await;
    let no = || b"no".to_vec();
    assert!(matches!(fail("final", Failure::Final(no())).await, Ran::Done { .. }));
    let ran = once.run("final", REQUEST, must_not_run).await;
    assert_eq!(ran.ending().as_deref(), Some(&Ending::Failed(no())));
    assert!(matches!(fail("again", Failure::Retryable(no())).await, Ran::Done { .. }));
    assert!(matches!(once.run("again", OTHER, pay).await, Ran::Done { .. }));
    assert!(matches!(fail("unknown", Failure::Unknown).await, Ran::InDoubt { .. }));
    assert!(matches!(once.look_up("unknown", &REQUEST), Some(Ran::InDoubt { .. })));
}

#[tokio::test(start_paused = true)]
async fn when_an_attempt_comes_to_nothing_one_of_those_who_wait_takes_over() {
    let (once, _) = once();
    let comes_to_nothing = async |_| {
        yield_now().await;
        Err(Failure::Retryable(vec![]))
    };
    let mut first = Box::pin(once.run("order-1", REQUEST, comes_to_nothing));
    assert!(poll_once(first.as_mut()).is_pending());
    let (mut second, mut third) =
        (pin!(once.run("order-1", REQUEST, pay)), pin!(once.run("order-1", REQUEST, must_not_run)));
    assert!(poll_once(second.as_mut()).is_pending() && poll_once(third.as_mut()).is_pending());
    assert!(matches!(first.await, Ran::Done { .. }));
    assert!(poll_once(second.as_mut()).is_pending() && poll_once(third.as_mut()).is_pending());
    assert!(matches!(second.await, Ran::Done { .. }));
    assert!(matches!(third.await, Ran::Replayed(_)));
}

#[tokio::test(start_paused = true)]
async fn keys_past_their_time_are_forgotten_while_others_come() {
    let clock = Arc::new(ManualClock::at(Timestamp(1_000_000_000)));
    let once = LocalIdempotency::<String, _>::with_clock(Arc::clone(&clock)).keep(HOUR);
    for n in 0..50_000 {
        let ran = once.run(n.to_string().as_str(), REQUEST, async |_| Ok(vec![])).await;
        assert!(matches!(ran, Ran::Done { .. }));
        clock.advance(HOUR / 1000);
    }
    // A thousand are within their time, and each shard may hold some dozens more.
    assert!(once.len() <= 4000, "{} keys are remembered", once.len());
    clock.advance(HOUR);
    once.reclaim();
    assert!(once.is_empty());
}
