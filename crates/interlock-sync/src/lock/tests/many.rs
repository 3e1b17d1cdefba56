//! Several keys at once.

use super::*;

#[test]
fn each_key_is_taken_once_and_in_the_stricter_mode() {
    let lock = KeyedLock::new();
    let wanted = [("b", Mode::Shared), ("a", Mode::Shared), ("b", Mode::Exclusive), ("a", Mode::Shared)];
    let guards = ready(lock.lock_all_as(wanted));
    assert_eq!((guards.len(), lock.len()), (2, 2));
    assert!(lock.try_lock_shared("a").is_some());
    assert!(lock.try_lock_shared("b").is_none());
    drop(guards);
    assert!(lock.is_empty());
    assert!(ready(lock.lock_all([])).is_empty());
}

#[test]
fn keys_are_taken_in_their_order_so_that_two_callers_do_not_wait_for_each_other() {
    let lock = KeyedLock::new();
    let on_a = ready(lock.lock("a"));
    let mut one = lock.lock_all(["c", "a", "b"]);
    let mut other = lock.lock_all(["b", "c", "a"]);
    assert!(poll(&mut one).is_pending());
    assert!(poll(&mut other).is_pending());
    assert_eq!(lock.len(), 1, "without the first they have none");
    drop(on_a);
    assert!(poll(&mut other).is_pending());
    drop(ready(one));
    drop(ready(other));
    assert!(lock.is_empty());
}

#[test]
fn giving_up_half_way_gives_back_what_one_had() {
    let lock = KeyedLock::new();
    let on_b = ready(lock.lock("b"));
    let mut all = lock.lock_all(["a", "b", "c"]);
    assert!(poll(&mut all).is_pending());
    assert!(lock.try_lock("a").is_none());
    drop(all);
    assert!(lock.try_lock("a").is_some());
    drop(on_b);
    assert!(lock.is_empty());
}

#[test]
fn a_crowd_of_keys_costs_memory_only_while_it_is_there() {
    let lock = KeyedLock::with_shards(1);
    let crowd = ready(lock.lock_all(0..100_000));
    assert_eq!(lock.len(), 100_000);
    assert!(lock.capacity() >= 100_000);
    drop(crowd);
    assert!(lock.is_empty());
    assert!(lock.capacity() <= 64, "room for {} keys is left", lock.capacity());
}
