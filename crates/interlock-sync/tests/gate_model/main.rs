//! The gate under a model checker: every schedule with a bounded number of preemptions, and every value that the memory model lets
//! a load see. The file of the gate itself is included, with the checker's primitives in place of the real ones; beside it stand
//! the wrong gates that people write, to show that the same checks catch them.

#![expect(clippy::unwrap_used, reason = "a model that cannot go on has failed")]

mod door;
mod prim;
mod wrong;

#[path = "../../src/gate/core.rs"]
#[expect(unreachable_pub, reason = "the file is written for the library")]
mod core;

use std::{
    future::Future,
    pin::pin,
    task::{Context, Wake, Waker},
};

use loom::{future::block_on, thread};

use crate::{
    core::Gate,
    door::{Door, Drains},
    prim::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    wrong::{CountedAfterTheTest, FlagOutsideTheLock, WakerKeptTooLate},
};

/// Runs a model. Of the bugs that anybody found by such means, nearly all need two preemptions at most.
fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Two calls and a closing. The closing tears something down that the calls use: no call may see that, and whatever the calls did
/// that were let in, the closing must see, without any other synchronisation.
fn nothing_is_torn_down_under_a_call<D: Door>() {
    check(3, || {
        let door = Arc::new(D::new());
        let torn_down = Arc::new(AtomicBool::new(false));
        let work = Arc::new(AtomicUsize::new(0));
        let calls = [(); 2].map(|()| {
            let (door, torn_down, work) = (Arc::clone(&door), Arc::clone(&torn_down), Arc::clone(&work));
            thread::spawn(move || {
                door.call(|| {
                    assert!(
                        !torn_down.load(Ordering::Acquire),
                        "the closing missed a call: it is inside afterwards"
                    );
                    work.fetch_add(1, Ordering::Relaxed);
                })
            })
        });
        door.close();
        torn_down.store(true, Ordering::Release);
        let seen = work.load(Ordering::Relaxed);
        let let_in = calls.map(|call| call.join().unwrap()).into_iter().filter(|let_in| *let_in).count();
        assert_eq!(seen, let_in, "the closing missed a call: what it did is not seen");
        assert!(!door.call(|| ()), "the closing missed a call: it is let in afterwards");
    });
}

#[test]
fn no_call_is_inside_after_the_closing() {
    nothing_is_torn_down_under_a_call::<Gate>();
}

#[test]
#[should_panic(expected = "the closing missed a call")]
fn a_flag_outside_the_lock_of_the_count_is_caught() {
    nothing_is_torn_down_under_a_call::<FlagOutsideTheLock>();
}

#[test]
#[should_panic(expected = "the closing missed a call")]
fn a_count_that_comes_after_the_wait_is_caught() {
    nothing_is_torn_down_under_a_call::<CountedAfterTheTest>();
}

/// A closing that finds a call inside must be woken by it. Judged by the waker, not by a deadlock, which the checker can only
/// report by ending the process.
fn a_closing_is_woken_by_the_last_call<D: Drains>() {
    check(4, || {
        let door = Arc::new(D::new());
        let calls = [(); 2].map(|()| {
            let door = Arc::clone(&door);
            thread::spawn(move || door.call(|| ()))
        });
        door.shut();
        let mut drained = pin!(door.drained());
        let flag = std::sync::Arc::new(Flag::default());
        let waker = Waker::from(std::sync::Arc::clone(&flag));
        let waits = drained.as_mut().poll(&mut Context::from_waker(&waker)).is_pending();
        for call in calls {
            call.join().unwrap();
        }
        assert!(!waits || flag.0.load(Ordering::SeqCst), "the wake-up was lost");
        assert!(!waits || drained.poll(&mut Context::from_waker(&waker)).is_ready());
    });
}

/// A waker that remembers. It is made of real atomics, because the model looks at it only when all threads have ended.
#[derive(Default)]
struct Flag(std::sync::atomic::AtomicBool);

impl Wake for Flag {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn no_wake_up_is_lost() {
    a_closing_is_woken_by_the_last_call::<Gate>();
}

#[test]
#[should_panic(expected = "the wake-up was lost")]
fn a_wake_up_that_is_lost_is_caught() {
    a_closing_is_woken_by_the_last_call::<WakerKeptTooLate>();
}

#[test]
fn two_closings_both_wait_and_both_wake_up() {
    check(3, || {
        let gate = Gate::new();
        let busy = Arc::new(AtomicBool::new(false));
        let call = {
            let (gate, busy) = (gate.clone(), Arc::clone(&busy));
            thread::spawn(move || {
                let Ok(_inside) = gate.enter_owned() else { return };
                busy.store(true, Ordering::Relaxed);
                busy.store(false, Ordering::Relaxed);
            })
        };
        let closing = |gate: Gate, busy: Arc<AtomicBool>| {
            gate.shut();
            block_on(gate.drained());
            assert!(!busy.load(Ordering::Relaxed));
            assert!(gate.enter().is_err());
        };
        let other = {
            let (gate, busy) = (gate.clone(), Arc::clone(&busy));
            thread::spawn(move || closing(gate, busy))
        };
        closing(gate, busy);
        call.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn none_left_means_that_nobody_is_inside() {
    // What `close` does when its time is up at an arbitrary moment: it closes, waits for nobody, and looks.
    check(4, || {
        let gate = Gate::new();
        let torn_down = Arc::new(AtomicBool::new(false));
        let calls = [(); 2].map(|()| {
            let (gate, torn_down) = (gate.clone(), Arc::clone(&torn_down));
            thread::spawn(move || {
                let Ok(_inside) = gate.enter() else { return };
                assert!(!torn_down.load(Ordering::Acquire));
            })
        });
        gate.shut();
        if gate.inside() == 0 {
            torn_down.store(true, Ordering::Release);
        }
        for call in calls {
            call.join().unwrap();
        }
        assert_eq!(gate.inside(), 0);
    });
}

#[test]
fn a_closing_that_gives_up_takes_no_wake_up_with_it() {
    check(3, || {
        let gate = Gate::new();
        let inside = gate.enter_owned().unwrap();
        let gives_up = {
            let gate = gate.clone();
            thread::spawn(move || {
                gate.shut();
                let ready = pin!(gate.drained()).poll(&mut Context::from_waker(Waker::noop())).is_ready();
                assert!(!ready || gate.inside() == 0);
            })
        };
        let leaves = thread::spawn(move || drop(inside));
        gate.shut();
        block_on(gate.drained());
        assert_eq!(gate.inside(), 0);
        gives_up.join().unwrap();
        leaves.join().unwrap();
    });
}

#[test]
fn one_who_waits_for_an_open_gate_is_woken_by_the_closing_or_by_the_last_to_leave() {
    check(4, || {
        let gate = Gate::new();
        let inside = gate.enter_owned().unwrap();
        let leaves = thread::spawn(move || drop(inside));
        let shuts = {
            let gate = gate.clone();
            thread::spawn(move || gate.shut())
        };
        block_on(gate.drained());
        assert!(gate.is_closed());
        leaves.join().unwrap();
        shuts.join().unwrap();
    });
}
