//! The waiting line of the desk under a scheduler that tries many orders of its steps: the same file as in the guard, compiled with a mutex
//! whose every lock and unlock is a point where another task may go on. Nobody polls by the clock here, so a wake-up that is lost is a call
//! that waits for ever, which the scheduler notices.

#![expect(dead_code, reason = "the file of the guard is compiled again, and not all is used")]
#![expect(clippy::unwrap_used, reason = "all of this is a test")]

mod calls;
#[path = "../../src/desk/line.rs"]
mod line;
mod prim;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering},
};

use shuttle::{
    future::{block_on, spawn, yield_now},
    rand::{Rng, thread_rng},
    sync::Arc,
};

use self::calls::{Desk, Fate, Flaw, poll_once};

/// Half of the schedules are chosen at random, half have few changes of task at unlikely places.
fn explore(schedules: usize, model: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(model, schedules / 2);
    shuttle::check_pct(model, schedules / 2, 3);
}

fn chance(limit: usize) -> usize {
    thread_rng().gen_range(0..limit)
}

fn some_keys() -> Vec<usize> {
    match chance(3) {
        0 => vec![0],
        1 => vec![1],
        _ => vec![0, 1],
    }
}

/// Calls that come, wait, run and go, some of which are given up while they wait.
fn comings_and_goings(flaw: Flaw, given_up: &'static AtomicUsize) {
    let desk = Arc::new(Desk::new(flaw));
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let desk = Arc::clone(&desk);
            spawn(async move {
                let patience = (chance(3) == 0).then(|| chance(4));
                match desk.call(chance(2), some_keys(), patience).await {
                    Fate::Ran => {}
                    Fate::GivenUp => {
                        given_up.fetch_add(1, Ordering::SeqCst);
                    }
                    Fate::Closed => panic!("nobody closed it"),
                }
            })
        })
        .collect();
    for call in calls {
        block_on(call).unwrap();
    }
    assert!(desk.is_idle(), "something is left behind");
}

#[test]
fn everybody_has_its_turn_nobody_meets_another_and_nothing_is_left() {
    static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);
    explore(10_000, || comings_and_goings(Flaw::None, &GIVEN_UP));
    assert!(GIVEN_UP.load(Ordering::SeqCst) > 100, "{GIVEN_UP:?} were given up");
}

#[test]
fn who_stands_first_runs_first() {
    explore(4_000, || {
        let desk = Arc::new(Desk::new(Flaw::None));
        let holder = desk.hold(&[0]);
        let mut calls = Vec::new();
        for _ in 0..3 {
            let other = Arc::clone(&desk);
            let mut call = Box::pin(async move { other.call(0, vec![0], None).await });
            // The next comes when this one stands.
            assert!(block_on(poll_once(&mut call.as_mut())).is_none(), "the key is held");
            let gives_up = chance(4) == 0;
            calls.push(spawn(async move {
                if gives_up {
                    yield_now().await;
                    return drop(call);
                }
                call.await;
            }));
        }
        drop(holder);
        for call in calls {
            block_on(call).unwrap();
        }
        let ran = desk.ran();
        assert!(ran.is_sorted(), "{ran:?}");
        assert!(desk.is_idle());
    });
}

#[test]
fn closing_sends_everybody_away() {
    explore(4_000, || {
        let desk = Arc::new(Desk::new(Flaw::None));
        let holder = desk.hold(&[0, 1]);
        let calls: Vec<_> = (0..3)
            .map(|_| {
                let desk = Arc::clone(&desk);
                spawn(async move { desk.call(chance(2), some_keys(), None).await })
            })
            .collect();
        desk.lines.close();
        for call in calls {
            assert!(matches!(block_on(call).unwrap(), Fate::Closed));
        }
        drop(holder);
        assert!(desk.is_idle());
    });
}

/// A check must show that it could fail.
#[test]
fn the_model_finds_what_is_wrong() {
    static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);
    for flaw in [Flaw::StandsAfterTheLastQuestion, Flaw::TellsBeforeItGivesBack, Flaw::ForgetsToLeave] {
        let found =
            catch_unwind(AssertUnwindSafe(|| explore(10_000, move || comings_and_goings(flaw, &GIVEN_UP))));
        assert!(found.is_err(), "{flaw:?} was not found");
    }
}
