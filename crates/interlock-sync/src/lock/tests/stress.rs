//! A million mixed fates over a few keys, on real threads, after which nothing is left.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::atomic::{AtomicI64, AtomicU64},
};

use super::*;

const TASKS: u64 = 32;
const EACH: u64 = 1_000_000 / TASKS;
const KEYS: usize = 4;

/// Who is inside: -1 is a writer, a positive number that many readers.
#[derive(Default)]
struct Inside([AtomicI64; KEYS]);

/// How it went, so that the test shows that it mixed.
#[derive(Default)]
struct Fates {
    successes: AtomicU64,
    panics: AtomicU64,
    gave_up_before: AtomicU64,
    gave_up_after: AtomicU64,
    several: AtomicU64,
}

/// Enough chance for a test, and the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % sides
    }
}

impl Inside {
    fn enter(&self, key: usize, mode: Mode) {
        let before = match mode {
            Mode::Exclusive => self.0[key].fetch_sub(1, Ordering::SeqCst),
            Mode::Shared => self.0[key].fetch_add(1, Ordering::SeqCst),
        };
        assert!(before == 0 || (mode == Mode::Shared && before > 0), "{mode:?} met {before} in {key}");
    }

    fn leave(&self, key: usize, mode: Mode) {
        self.0[key].fetch_add(if mode == Mode::Exclusive { 1 } else { -1 }, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_million_mixed_fates_leave_the_map_empty() {
    let shared = Arc::new((KeyedLock::with_shards(2), Inside::default(), Fates::default()));
    let tasks: Vec<_> = (1..=TASKS)
        .map(|seed| {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                for _ in 0..EACH {
                    one_fate(&shared, &mut dice).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let (lock, inside, fates) = &*shared;
    assert!(lock.is_empty(), "{} keys are left", lock.len());
    assert!(inside.0.iter().all(|count| count.load(Ordering::SeqCst) == 0));
    let counts =
        [&fates.successes, &fates.panics, &fates.gave_up_before, &fates.gave_up_after, &fates.several]
            .map(|count| count.load(Ordering::SeqCst));
    assert_eq!(counts.iter().sum::<u64>(), TASKS * EACH);
    assert!(
        counts.iter().all(|count| *count > 1_000),
        "successes, panics, before, after, several: {counts:?}"
    );
}

async fn one_fate((lock, inside, fates): &(KeyedLock<usize>, Inside, Fates), dice: &mut Dice) {
    let key = dice.roll(KEYS as u64) as usize;
    let mode = if dice.roll(3) == 0 { Mode::Exclusive } else { Mode::Shared };
    match dice.roll(8) {
        0..=3 => {
            let guard = lock.lock_as(key, mode).await;
            inside.enter(key, mode);
            if dice.roll(8) == 0 {
                tokio::task::yield_now().await;
            }
            inside.leave(key, mode);
            drop(guard);
            fates.successes.fetch_add(1, Ordering::Relaxed);
        }
        4 => {
            let guard = lock.lock_as(key, mode).await;
            inside.enter(key, mode);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _guard = guard;
                inside.leave(key, mode);
                resume_unwind(Box::new(()));
            }));
            assert!(caught.is_err());
            fates.panics.fetch_add(1, Ordering::Relaxed);
        }
        5 => {
            let (first, second) = (key, dice.roll(KEYS as u64) as usize);
            let guards = lock.lock_all_as([(first, mode), (second, Mode::Shared)]).await;
            inside.enter(first, mode);
            tokio::task::yield_now().await;
            inside.leave(first, mode);
            drop(guards);
            fates.several.fetch_add(1, Ordering::Relaxed);
        }
        _ => give_up(lock.lock_as(key, mode), dice.roll(4), fates).await,
    }
}

/// Polls once, waits a little, and gives up. Whoever was woken until then had been granted the key.
async fn give_up(mut future: Acquire<usize, &KeyedLock<usize>>, patience: u64, fates: &Fates) {
    let woken = Arc::new(Count::default());
    let granted = poll_with(&mut future, &Arc::clone(&woken).into());
    if granted.is_pending() {
        for _ in 0..patience {
            tokio::task::yield_now().await;
        }
    }
    let fate = match (granted.is_ready(), woken.get() > 0) {
        (true, _) => &fates.successes,
        (false, true) => &fates.gave_up_after,
        (false, false) => &fates.gave_up_before,
    };
    drop((granted, future));
    fate.fetch_add(1, Ordering::Relaxed);
}
