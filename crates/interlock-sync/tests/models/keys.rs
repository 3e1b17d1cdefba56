//! The keyed lock of the library passes every model.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use shuttle::future::{block_on, yield_now};

use crate::{
    harness::{all, chance, explore, impatient},
    lock::{KeyedLock, Mode},
    subject::{self, Acquired, GaveUp, Inside, Subject, queue_up},
};

#[test]
fn holders_exclude_each_other_and_nothing_is_left_whatever_becomes_of_them() {
    static GAVE_UP: GaveUp = GaveUp::new();
    explore(12_000, || subject::comings_and_goings::<KeyedLock<usize>>(&GAVE_UP));
    let [before, after] = [&GAVE_UP.before, &GAVE_UP.after].map(|count| count.load(Ordering::SeqCst));
    assert!(before > 100 && after > 100, "{before} gave up before their turn, {after} after it");
}

#[test]
fn who_comes_first_is_served_first() {
    explore(6_000, subject::first_come_first_served::<KeyedLock<usize>>);
}

#[test]
fn readers_behind_a_writer_that_gives_up_need_not_wait_for_the_readers_before_it() {
    explore(4_000, || {
        let lock: Arc<KeyedLock<usize>> = Arc::default();
        let (mut writer, mut behind) = (lock.acquire(0, Mode::Exclusive), lock.acquire(0, Mode::Shared));
        let before = block_on(lock.lock_shared(0));
        block_on(queue_up(&mut writer));
        block_on(queue_up(&mut behind));
        let gives_up: Acquired<()> = Box::pin(async move { drop(writer) });
        // The first reader stays until the second has been in.
        all([gives_up, Box::pin(async move { drop(behind.await) })]);
        drop(before);
        assert!(lock.is_empty());
    });
}

#[test]
fn several_keys_are_taken_without_deadlock_and_given_back_half_way() {
    explore(8_000, || {
        let lock: Arc<KeyedLock<usize>> = Arc::default();
        let inside = Arc::new(Inside::default());
        all((0..3).map(|index| {
            let (lock, inside) = (Arc::clone(&lock), Arc::clone(&inside));
            async move {
                let keys = if index == 1 { [1, 0] } else { [0, 1] };
                let modes = [subject::any_mode(), subject::any_mode()];
                let wish = lock.lock_all_owned([(keys[0], modes[0]), (keys[1], modes[1])]);
                if chance(3) == 0 {
                    drop(impatient(wish, chance(3)).await);
                    return;
                }
                let guards = wish.await;
                (0..2).for_each(|at| inside.enter(keys[at], modes[at]));
                yield_now().await;
                (0..2).for_each(|at| inside.leave(keys[at], modes[at]));
                drop(guards);
            }
        }));
        assert!(lock.is_empty());
    });
}

#[test]
fn every_schedule_of_one_who_gives_up_while_another_comes_and_goes_is_fine() {
    // Small enough to try them all.
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    let model = || {
        TRIED.fetch_add(1, Ordering::SeqCst);
        let lock: Arc<KeyedLock<usize>> = Arc::new(KeyedLock::with_shards(1));
        let holder = block_on(lock.lock_owned(0, Mode::Exclusive));
        let other = Arc::clone(&lock);
        let other = shuttle::future::spawn(async move { drop(impatient(other.lock(0), 1).await) });
        drop(holder);
        drop(block_on(lock.lock_shared(0)));
        block_on(other).unwrap();
        assert!(lock.is_empty());
    };
    shuttle::check_dfs(model, None);
    assert!(TRIED.load(Ordering::SeqCst) > 100, "{TRIED:?} schedules");
}
