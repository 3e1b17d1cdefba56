//! Limits of one process: never too many, in order, and nothing left behind however a call ends.

use std::{
    num::NonZeroU32,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread,
    time::Duration,
};

use super::*;
use crate::{
    retry::{Chance, Dice},
    testing::{poll_once, settle},
};

fn limit_of(limit: u32) -> InFlight<String> {
    InFlight::new(NonZeroU32::new(limit).unwrap())
}

fn granted<P>(admission: Acquired<P>) -> P {
    admission.granted().expect("there is a permit")
}

#[test]
fn so_many_at_once_and_a_refusal_says_how_many_there_are() {
    let limit = limit_of(2);
    let (first, second) = (granted(limit.try_acquire("alice")), granted(limit.try_acquire("alice")));
    let Acquired::Refused(busy) = limit.try_acquire("alice") else { panic!("it is full") };
    assert_eq!(busy, Full { reason: FullReason::AllOut, in_use: 2, limit: 2, retry_after: None });
    let other = granted(limit.try_acquire("bob"));
    assert_eq!((limit.in_use("alice"), limit.in_use("bob"), limit.len()), (2, 1, 2));
    drop(first);
    let third = granted(limit.try_acquire("alice"));
    drop((second, third, other));
    assert!(limit.is_empty(), "an entry goes with its last permit");
}

/// A timer that evicts the semaphore of a slow caller gives it a second one. Here neither time nor a crowd of other callers evicts
/// anything.
#[tokio::test(start_paused = true)]
async fn a_permit_that_is_out_for_long_keeps_its_entry_and_the_limit() {
    let limit = limit_of(1);
    let slow = granted(limit.try_acquire("alice"));
    tokio::time::advance(Duration::from_secs(24 * 60 * 60)).await;
    for caller in 0..100_000 {
        drop(limit.try_acquire(caller.to_string().as_str()));
    }
    assert!(limit.try_acquire("alice").granted().is_none());
    assert_eq!(limit.len(), 1);
    drop(slow);
    assert!(limit.is_empty());
}

#[test]
fn a_panic_gives_the_permit_back() {
    let limit = limit_of(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _permit = granted(limit.try_acquire("alice"));
        panic!("the call failed");
    }));
    assert!(panicked.is_err() && limit.is_empty());
}

#[tokio::test(start_paused = true)]
async fn permits_go_to_those_who_wait_in_the_order_in_which_they_came() {
    let limit = Arc::new(limit_of(1));
    let first = granted(limit.try_acquire_owned("alice"));
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut calls = Vec::new();
    for n in 0..10 {
        let (limit, order) = (Arc::clone(&limit), Arc::clone(&order));
        calls.push(tokio::spawn(async move {
            let _permit = granted(limit.acquire_owned("alice").await);
            order.lock().unwrap().push(n);
            tokio::task::yield_now().await;
        }));
        settle().await;
    }
    assert!(limit.try_acquire("alice").granted().is_none());
    drop(first);
    assert!(limit.try_acquire("alice").granted().is_none(), "a new one does not overtake");
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
    assert!(limit.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_at_once_and_a_deadline_refuses_later() {
    let limit = limit_of(1).queue(1).wait(Duration::from_secs(5));
    let permit = granted(limit.try_acquire("alice"));
    let mut waiting = pin!(limit.acquire("alice"));
    assert!(poll_once(waiting.as_mut()).is_pending());
    let Acquired::Refused(busy) = limit.acquire("alice").await else { panic!("the queue is full") };
    assert_eq!((busy.reason, busy.in_use), (FullReason::QueueFull, 1));
    let began = tokio::time::Instant::now();
    let Acquired::Refused(busy) = waiting.await else { panic!("nothing came back") };
    assert_eq!((busy.reason, began.elapsed()), (FullReason::Deadline, Duration::from_secs(5)));
    assert!(
        limit.acquire_within("bob", Duration::ZERO).await.granted().is_some(),
        "what is there needs no time"
    );
    let Acquired::Refused(busy) = limit.acquire_within("alice", Duration::ZERO).await else {
        panic!("no time")
    };
    assert_eq!(busy.reason, FullReason::Deadline);
    drop(permit);
    assert!(limit.is_empty(), "those who gave up left nothing");
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_comes_with_the_deadline_is_not_wasted() {
    let limit = limit_of(1).wait(Duration::from_secs(1));
    let permit = granted(limit.try_acquire("alice"));
    let mut waiting = Box::pin(limit.acquire("alice"));
    assert!(poll_once(waiting.as_mut()).is_pending());
    tokio::time::advance(Duration::from_secs(2)).await;
    drop(permit);
    let Poll::Ready(Acquired::Granted(permit)) = poll_once(waiting.as_mut()) else {
        panic!("it was handed over")
    };
    drop((permit, waiting));
    assert!(limit.is_empty());
}

#[tokio::test(start_paused = true)]
async fn whoever_goes_before_or_after_the_grant_passes_it_on() {
    for is_granted_first in [false, true] {
        let limit = limit_of(1);
        let permit = granted(limit.try_acquire("alice"));
        let mut goes = Box::pin(limit.acquire("alice"));
        let mut stays = Box::pin(limit.acquire("alice"));
        assert!(poll_once(goes.as_mut()).is_pending() && poll_once(stays.as_mut()).is_pending());
        if is_granted_first {
            drop(permit);
            drop(goes);
        } else {
            drop(goes);
            drop(permit);
        }
        let Poll::Ready(Acquired::Granted(permit)) = poll_once(stays.as_mut()) else {
            panic!("it is the next")
        };
        assert!(limit.try_acquire("alice").granted().is_none());
        drop((permit, stays));
        assert!(limit.is_empty());
    }
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_next_is_woken_and_by_its_latest_waker() {
    let limit = limit_of(1);
    let permit = granted(limit.try_acquire("alice"));
    let wakers: Vec<_> = (0..3).map(|_| Arc::new(Count(AtomicUsize::new(0)))).collect();
    let poll = |future: std::pin::Pin<&mut dyn Future<Output = Acquired<Permit<'_, String>>>>, nth: usize| {
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(&wakers[nth])))).is_pending()
    };
    let (mut next, mut later) = (pin!(limit.acquire("alice")), pin!(limit.acquire("alice")));
    assert!(poll(next.as_mut(), 0) && poll(later.as_mut(), 1) && poll(next.as_mut(), 2));
    drop(permit);
    let woken: Vec<_> = wakers.iter().map(|waker| waker.0.load(Ordering::SeqCst)).collect();
    assert_eq!(woken, [0, 0, 1]);
    assert!(!poll(next.as_mut(), 0));
}

/// Threads that take, wait, panic and go away before and after the grant, all for two callers.
#[test]
fn a_storm_of_every_ending_never_exceeds_the_limit_and_leaves_nothing() {
    let (limit, inside) = (limit_of(3).queue(6), [AtomicU32::new(0), AtomicU32::new(0)]);
    let work = |who: usize| {
        assert!(inside[who].fetch_add(1, Ordering::SeqCst) < 3);
        thread::yield_now();
        inside[who].fetch_sub(1, Ordering::SeqCst);
    };
    thread::scope(|scope| {
        for seed in 0..4 {
            let (limit, work) = (&limit, &work);
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                let _guard = runtime.enter();
                let mut dice = Dice::seeded(seed);
                for _ in 0..20_000 {
                    let drawn = dice.next_u64();
                    let (who, polls) = ((drawn % 2) as usize, drawn / 2 % 4);
                    let key = ["alice", "bob"][who];
                    if drawn.is_multiple_of(5) {
                        if let Acquired::Granted(_permit) = limit.try_acquire(key) {
                            work(who);
                        }
                        continue;
                    }
                    let mut future = Box::pin(limit.acquire(key));
                    for _ in 0..polls {
                        if let Poll::Ready(admission) = poll_once(future.as_mut()) {
                            if let Acquired::Granted(_permit) = admission {
                                work(who);
                            }
                            break;
                        }
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert!(limit.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_all_get_their_turn() {
    let (limit, inside) = (Arc::new(limit_of(2).queue(100)), Arc::new(AtomicU32::new(0)));
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (limit, inside) = (Arc::clone(&limit), Arc::clone(&inside));
            tokio::spawn(async move {
                let _permit = granted(limit.acquire("alice").await);
                assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    assert!(limit.is_empty());
}
