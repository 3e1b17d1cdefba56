//! Who comes when, and what happens to the turn of somebody who gave up.

use super::*;

#[test]
fn who_asks_first_gets_it_first() {
    let lock = KeyedLock::new();
    let first = ready(lock.lock("a"));
    let mut waiting: Vec<_> = (0..5).map(|_| lock.lock("a")).collect();
    assert!(waiting.iter_mut().all(|future| poll(future).is_pending()));
    let mut held = Some(first);
    for index in 0..5 {
        drop(held.take());
        for (later, future) in waiting.iter_mut().enumerate().skip(index + 1) {
            assert!(poll(future).is_pending(), "{later} came before {index}");
        }
        match poll(&mut waiting[index]) {
            Poll::Ready(guard) => held = Some(guard),
            Poll::Pending => panic!("it is the turn of {index}"),
        }
    }
    drop(held);
    assert!(lock.is_empty());
}

#[test]
fn a_waiting_writer_is_not_overtaken_by_readers() {
    let lock = KeyedLock::new();
    let reading = ready(lock.lock_shared("a"));
    let (mut writer, mut behind, mut too) = (lock.lock("a"), lock.lock_shared("a"), lock.lock_shared("a"));
    assert!(poll(&mut writer).is_pending());
    assert!(poll(&mut behind).is_pending() && poll(&mut too).is_pending());
    assert!(lock.try_lock_shared("a").is_none());
    drop(reading);
    assert!(poll(&mut behind).is_pending());
    drop(ready(writer));
    let (behind, too) = (ready(behind), ready(too));
    drop((behind, too));
    assert!(lock.is_empty());
}

#[test]
fn nobody_overtakes_one_whose_turn_has_come_but_who_has_not_noticed() {
    let lock = KeyedLock::new();
    let guard = ready(lock.lock("a"));
    let mut granted = lock.lock("a");
    assert!(poll(&mut granted).is_pending());
    drop(guard);
    assert!(lock.try_lock("a").is_none());
    assert!(poll(&mut lock.lock("a")).is_pending());
    drop(ready(granted));
    assert!(lock.is_empty());
}

#[test]
fn a_writer_that_gives_up_lets_the_readers_behind_it_in() {
    let lock = KeyedLock::new();
    let reading = ready(lock.lock_shared("a"));
    let woken = Arc::new(Count::default());
    let (mut writer, mut behind, mut last) = (lock.lock("a"), lock.lock_shared("a"), lock.lock("a"));
    assert!(poll(&mut writer).is_pending());
    assert!(poll_with(&mut behind, &woken.clone().into()).is_pending());
    assert!(poll(&mut last).is_pending());
    drop(writer);
    assert_eq!(woken.get(), 1);
    let behind = ready(behind);
    assert!(poll(&mut last).is_pending());
    drop((reading, behind));
    drop(ready(last));
    assert!(lock.is_empty());
}

#[test]
fn a_turn_is_passed_on_if_its_owner_gives_up_before_or_after_it_comes() {
    let lock = KeyedLock::new();
    let guard = ready(lock.lock("a"));
    let woken = Arc::new(Count::default());
    let (mut before, mut after, mut last) = (lock.lock("a"), lock.lock("a"), lock.lock("a"));
    assert!(poll(&mut before).is_pending());
    assert!(poll(&mut after).is_pending());
    assert!(poll_with(&mut last, &woken.clone().into()).is_pending());
    drop(before);
    drop(guard);
    assert_eq!(woken.get(), 0, "the turn is with the second");
    drop(after);
    assert_eq!(woken.get(), 1);
    drop(ready(last));
    assert!(lock.is_empty());
}

#[test]
fn all_who_give_up_leave_nothing_behind() {
    let lock = KeyedLock::new();
    let guard = ready(lock.lock("a"));
    let mut waiting: Vec<_> = (0..100).map(|_| lock.lock("a")).collect();
    assert!(waiting.iter_mut().all(|future| poll(future).is_pending()));
    drop(guard);
    drop(waiting);
    assert!(lock.is_empty());
}

#[test]
fn a_future_that_was_never_polled_has_no_place() {
    let lock = KeyedLock::new();
    let never = lock.lock("a");
    assert!(lock.is_empty());
    let guard = ready(lock.lock("a"));
    drop(never);
    assert_eq!(lock.len(), 1);
    drop(guard);
}
