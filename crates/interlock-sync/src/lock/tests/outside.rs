//! Code that is not ours runs outside of the mutexes: each of these would wait for itself for ever.

use super::*;

/// A waker that uses the lock itself when it is woken, and again when it is dropped.
struct Meddler(Arc<KeyedLock<u32>>, AtomicUsize);

impl Wake for Meddler {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        assert!(!self.0.is_empty());
    }
}

impl Drop for Meddler {
    fn drop(&mut self) {
        drop(self.0.try_lock(7));
    }
}

fn meddler(lock: &Arc<KeyedLock<u32>>) -> Waker {
    Arc::new(Meddler(Arc::clone(lock), AtomicUsize::new(0))).into()
}

#[test]
fn a_waker_may_use_the_lock() {
    let lock = Arc::new(KeyedLock::with_shards(1));
    let reading = lock.try_lock_shared(1).unwrap();
    let (mut writer, mut reader, mut too) = (lock.lock(1), lock.lock_shared(1), lock.lock_shared(1));
    assert!(poll_with(&mut writer, &meddler(&lock)).is_pending());
    assert!(poll_with(&mut reader, &meddler(&lock)).is_pending());
    assert!(poll_with(&mut too, &meddler(&lock)).is_pending());
    assert!(
        poll_with(&mut reader, &meddler(&lock)).is_pending(),
        "another waker takes the place of the first"
    );
    drop(too);
    drop(writer);
    drop(reading);
    drop(ready(reader));
    assert!(lock.is_empty());
}

#[test]
fn a_key_may_use_the_lock_when_it_is_dropped() {
    struct Key(&'static KeyedLock<Key>);
    impl PartialEq for Key {
        fn eq(&self, _: &Self) -> bool {
            true
        }
    }
    impl Eq for Key {}
    impl std::hash::Hash for Key {
        fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
    }
    impl Drop for Key {
        fn drop(&mut self) {
            let _ = self.0.len();
        }
    }
    let lock: &'static KeyedLock<Key> = Box::leak(Box::new(KeyedLock::with_shards(1)));
    let guard = ready(lock.lock_shared(Key(lock)));
    let too = ready(lock.lock_shared(Key(lock)));
    assert!(lock.try_lock(Key(lock)).is_none());
    let mut waiting = lock.lock(Key(lock));
    assert!(poll(&mut waiting).is_pending());
    drop((guard, too));
    drop(ready(waiting));
    assert!(lock.is_empty());
}
