//! The bounds, parallel callers, and the classic mistakes next to limits that do not make them.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use super::*;
use crate::{
    clock::{ManualClock, Timestamp},
    memory::MemoryStore,
    store::{Key, Quota, Store, Taken},
    testing::{FaultyStore, poll_at_most},
};

const SECOND: Duration = Duration::from_secs(1);
const START: Timestamp = Timestamp(1_000_000_000_000);

fn limit_of(quota: Quota) -> (RateLimit<String, Arc<ManualClock>>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(START));
    (RateLimit::with_clock(quota, Arc::clone(&clock)), clock)
}

fn both(count: u32, period: Duration) -> [Quota; 2] {
    [Quota::bucket(count, period).unwrap(), Quota::log(count, period).unwrap()]
}

fn is_granted(taken: Taken) -> bool {
    matches!(taken, Taken::Granted { .. })
}

#[test]
fn each_key_has_its_own_count_and_a_refusal_says_when_to_come_back() {
    for quota in both(2, SECOND) {
        let (limit, clock) = limit_of(quota);
        assert_eq!(limit.take("alice", 1), Taken::Granted { remaining: 1 });
        assert_eq!(limit.take("alice", 1), Taken::Granted { remaining: 0 });
        let Taken::Refused { retry_after: Some(wait) } = limit.take("alice", 1) else { panic!("it is full") };
        assert_eq!(limit.take("bob", 2), Taken::Granted { remaining: 0 });
        assert_eq!(limit.take("carol", 3), Taken::Refused { retry_after: None });
        clock.advance(wait - Duration::from_micros(1));
        assert!(!is_granted(limit.take("alice", 1)), "{quota:?}");
        clock.advance(Duration::from_micros(1));
        assert!(is_granted(limit.take("alice", 1)), "{quota:?}");
    }
}

#[test]
fn asking_for_nothing_counts_nothing_and_remembers_no_key() {
    for quota in both(1, SECOND) {
        let (limit, _) = limit_of(quota);
        assert_eq!(limit.take("alice", 0), Taken::Granted { remaining: 1 });
        assert!(limit.is_empty());
        assert_eq!(limit.take("alice", 1), Taken::Granted { remaining: 0 });
        assert_eq!(limit.take("alice", 0), Taken::Granted { remaining: 0 });
    }
}

#[test]
fn a_key_can_have_a_quota_of_its_own_of_either_kind_and_lose_it_again() {
    let (limit, clock) = limit_of(Quota::bucket(1, SECOND).unwrap());
    limit.set_quota("vip".into(), Quota::bucket(3, SECOND).unwrap());
    limit.set_quota("audit".into(), Quota::log(2, SECOND).unwrap());
    let granted = |key: &str| (0..9).filter(|_| is_granted(limit.take(key, 1))).count();
    assert_eq!([granted("alice"), granted("vip"), granted("audit")], [1, 3, 2]);
    clock.advance(SECOND * 9);
    limit.reclaim();
    assert!(limit.is_empty());
    assert_eq!([granted("alice"), granted("vip"), granted("audit")], [1, 3, 2], "quotas are no idle keys");
    limit.set_quota("vip".into(), Quota::bucket(5, SECOND).unwrap());
    clock.advance(SECOND * 9);
    assert!(limit.unset_quota("audit") && !limit.unset_quota("audit"));
    assert_eq!([granted("vip"), granted("audit")], [5, 1]);
}

/// Every microsecond counts: for each pair of grants, those between them are no more than the bound of the window that they span.
#[test]
fn no_window_anywhere_has_more_grants_than_the_published_bound() {
    let mut dice = crate::retry::Dice::seeded(7);
    let mut pause = || {
        let drawn = crate::retry::Chance::next_u64(&mut dice);
        Duration::from_micros(if drawn.is_multiple_of(50) { drawn % 2_000_000 } else { drawn % 30_000 })
    };
    for quota in both(10, SECOND) {
        let (limit, clock) = limit_of(quota);
        let mut grants = Vec::new();
        for _ in 0..4000 {
            clock.advance(pause());
            if is_granted(limit.take("alice", 1)) {
                grants.push(crate::clock::Clock::now(&clock));
            }
        }
        assert!(grants.len() > 300, "the bound was never tested: {} grants", grants.len());
        for (first, from) in grants.iter().enumerate() {
            for (nth, to) in grants.iter().enumerate().skip(first).take(50) {
                let (count, span) = (nth - first + 1, to.since(*from));
                let most = match quota {
                    Quota::Bucket { .. } => 10 + (10 * span.as_micros() / SECOND.as_micros()) as usize,
                    Quota::Log { .. } if span < SECOND => 10,
                    Quota::Log { .. } => usize::MAX,
                };
                assert!(count <= most, "{quota:?} granted {count} in {span:?}");
            }
        }
    }
}

/// Counts by the calendar: what many a limiter does.
struct FixedWindow(u32, HashMap<u64, u32>);

impl FixedWindow {
    fn take(&mut self, now: Timestamp) -> bool {
        let count = self.1.entry(now.0 / 1_000_000).or_default();
        *count += 1;
        *count <= self.0
    }
}

#[test]
fn the_edge_of_a_window_admits_no_second_helping() {
    let edge = START.after(SECOND * 9 / 10)..START.after(SECOND * 11 / 10);
    let moments = || (edge.start.0..edge.end.0).step_by(1000).map(Timestamp);
    let mut fixed = FixedWindow(10, HashMap::new());
    assert_eq!(
        moments().filter(|now| fixed.take(*now)).count(),
        20,
        "the mistake: twice the limit in a fifth of a second"
    );
    for (quota, most) in both(10, SECOND).into_iter().zip([12, 10]) {
        let (limit, clock) = limit_of(quota);
        let granted = moments().filter(|now| {
            clock.set(*now);
            is_granted(limit.take("alice", 1))
        });
        assert!(granted.count() <= most, "{quota:?}");
    }
}

#[test]
fn parallel_threads_do_not_overrun_it() {
    for quota in both(1000, SECOND) {
        let (limit, _) = limit_of(quota);
        let granted = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        granted.fetch_add(u32::from(is_granted(limit.take("alice", 1))), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(granted.into_inner(), 1000, "{quota:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_calls_at_once_overrun_a_count_that_is_read_first_but_not_ours() {
    let count = Arc::new(Mutex::new(0));
    let naive = (0..100).map(|_| {
        let count = Arc::clone(&count);
        tokio::spawn(async move {
            let before = *count.lock().unwrap();
            tokio::task::yield_now().await;
            *count.lock().unwrap() = before + 1;
            before < 10
        })
    });
    assert!(granted_of(naive.collect()).await > 10, "the mistake");
    for quota in both(10, SECOND) {
        let limit = Arc::new(SharedRateLimit::new(FaultyStore::new(), quota));
        let ours = (0..100).map(|_| {
            let limit = Arc::clone(&limit);
            tokio::spawn(async move { is_granted(limit.take(&Key::new("alice").unwrap(), 1).await.unwrap()) })
        });
        assert_eq!(granted_of(ours.collect()).await, 10, "{quota:?}");
    }
}

async fn granted_of(calls: Vec<tokio::task::JoinHandle<bool>>) -> usize {
    let mut granted = 0;
    for call in calls {
        granted += usize::from(call.await.unwrap());
    }
    granted
}

#[test]
fn a_million_callers_who_came_once_are_forgotten_while_calls_go_on() {
    for quota in both(10, SECOND) {
        let clock = Arc::new(ManualClock::at(START));
        let limit = RateLimit::<u64, _>::with_clock(quota, Arc::clone(&clock));
        let mut most = 0;
        for caller in 0..1_000_000 {
            limit.take(&caller, 1);
            // So that a bucket is full again after a thousand other callers, a log is empty after ten thousand, and both have been so for
            // a second after another ten thousand.
            clock.advance(Duration::from_micros(100));
            if caller.is_multiple_of(1000) {
                most = most.max(limit.len());
            }
        }
        let in_use = if matches!(quota, Quota::Bucket { .. }) { 11_000 } else { 20_000 };
        assert!(most <= in_use * 2, "{quota:?} remembered {most} keys when {in_use} were in use");
        clock.advance(SECOND * 60);
        limit.reclaim();
        assert!(limit.is_empty());
    }
}

#[test]
fn a_million_callers_at_once_are_all_limited_and_all_forgotten() {
    let clock = Arc::new(ManualClock::at(START));
    let limit = RateLimit::<u64, _>::with_clock(Quota::bucket(1, SECOND).unwrap(), Arc::clone(&clock));
    assert!((0..1_000_000).all(|caller| is_granted(limit.take(&caller, 1))));
    assert!((0..1_000_000).all(|caller| !is_granted(limit.take(&caller, 1))), "none was forgotten too early");
    clock.advance(SECOND * 2);
    let mut calls = 0;
    while limit.len() > 1000 {
        for caller in 0..10_000_u64 {
            let _ = limit.take(&(caller % 1000), 1);
        }
        calls += 10_000;
        assert!(calls <= 4_000_000, "{} keys are still there", limit.len());
    }
}

#[test]
fn a_clock_that_was_set_back_does_not_lock_callers_out() {
    for quota in both(3, SECOND) {
        let (limit, clock) = limit_of(quota);
        clock.advance(SECOND * 3600);
        assert!(is_granted(limit.take("alice", 3)));
        clock.set(START);
        let Taken::Refused { retry_after: Some(wait) } = limit.take("alice", 1) else { panic!("it is full") };
        assert!(wait <= SECOND, "{quota:?} says {wait:?}");
        clock.advance(wait);
        assert!(is_granted(limit.take("alice", 1)), "{quota:?}");
    }
}

#[tokio::test]
async fn the_shared_limit_has_quotas_per_key_too() {
    let clock = Arc::new(ManualClock::at(START));
    let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as _, SECOND));
    let limit = SharedRateLimit::new(store, Quota::bucket(1, SECOND).unwrap());
    let (alice, vip) = (Key::new("alice").unwrap(), Key::new("vip").unwrap());
    limit.set_quota(vip.clone(), Quota::log(2, SECOND).unwrap());
    assert_eq!(limit.take(&alice, 1).await.unwrap(), Taken::Granted { remaining: 0 });
    assert_eq!(limit.take(&alice, 1).await.unwrap(), Taken::Refused { retry_after: Some(SECOND) });
    assert_eq!(limit.take(&vip, 1).await.unwrap(), Taken::Granted { remaining: 1 });
    clock.advance(SECOND);
    assert!(limit.unset_quota(&vip) && !limit.unset_quota(&vip));
    assert_eq!(limit.take(&vip, 1).await.unwrap(), Taken::Granted { remaining: 0 });
}

/// Counting and then setting an expiry leaves a key for ever when the process dies between; here there is no between.
#[tokio::test(start_paused = true)]
async fn a_call_dropped_at_any_await_leaves_a_key_that_expires() {
    let store = FaultyStore::new();
    let limit = SharedRateLimit::new(Arc::clone(&store) as _, Quota::bucket(1, SECOND).unwrap());
    for polls in 0..4 {
        let key = Key::new(format!("caller-{polls}")).unwrap();
        poll_at_most(limit.take(&key, 1), polls).await;
    }
    tokio::time::advance(SECOND * 2).await;
    store.sweep().await.unwrap();
    assert_eq!(store.sweep().await.unwrap(), 0);
    let key = Key::new("caller-2").unwrap();
    assert!(is_granted(limit.take(&key, 1).await.unwrap()));
}
