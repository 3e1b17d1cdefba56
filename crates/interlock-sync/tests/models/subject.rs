//! What is modelled: a keyed lock, ours or one with a flaw, and the models that both have to pass.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    task::Poll,
};

use shuttle::future::{block_on, yield_now};

use crate::{
    harness::{Fate, all, chance, impatient},
    lock::{Guard, KeyedLock, Mode},
};

pub(crate) type Acquired<G> = Pin<Box<dyn Future<Output = G> + Send>>;

/// A keyed lock.
pub(crate) trait Subject: Default + Send + Sync + 'static {
    type Guard: Send + 'static;
    fn acquire(self: &Arc<Self>, key: usize, mode: Mode) -> Acquired<Self::Guard>;
    fn keys(&self) -> usize;
}

impl Subject for KeyedLock<usize> {
    type Guard = Guard<usize, Arc<Self>>;

    fn acquire(self: &Arc<Self>, key: usize, mode: Mode) -> Acquired<Self::Guard> {
        Box::pin(self.lock_owned(key, mode))
    }

    fn keys(&self) -> usize {
        self.len()
    }
}

/// How often somebody gave up before and after its turn had come, over all schedules of a model.
pub(crate) struct GaveUp {
    pub(crate) before: AtomicUsize,
    pub(crate) after: AtomicUsize,
}

impl GaveUp {
    pub(crate) const fn new() -> Self {
        Self { before: AtomicUsize::new(0), after: AtomicUsize::new(0) }
    }
}

/// Who is inside a key: -1 is a writer, a positive number that many readers.
#[derive(Default)]
pub(crate) struct Inside([AtomicI64; 2]);

impl Inside {
    pub(crate) fn enter(&self, key: usize, mode: Mode) {
        let step = if mode == Mode::Exclusive { -1 } else { 1 };
        let before = self.0[key].fetch_add(step, Ordering::SeqCst);
        assert!(before == 0 || (mode == Mode::Shared && before > 0), "two are inside who exclude each other");
    }

    pub(crate) fn leave(&self, key: usize, mode: Mode) {
        self.0[key].fetch_add(if mode == Mode::Exclusive { 1 } else { -1 }, Ordering::SeqCst);
    }
}

pub(crate) fn any_mode() -> Mode {
    if chance(2) == 0 { Mode::Exclusive } else { Mode::Shared }
}

/// Tasks that come and go, some of which give up and some of which panic while they hold a key.
pub(crate) fn comings_and_goings<S: Subject>(gave_up: &'static GaveUp) {
    let lock = Arc::new(S::default());
    let inside = Arc::new(Inside::default());
    all((0..3).map(|_| {
        let (lock, inside) = (Arc::clone(&lock), Arc::clone(&inside));
        async move {
            for _ in 0..2 {
                let (key, mode) = (chance(2), any_mode());
                let wish = lock.acquire(key, mode);
                let guard = match chance(3) {
                    0 => match impatient(wish, chance(3)).await {
                        Fate::Ready(guard) => guard,
                        Fate::Before => {
                            gave_up.before.fetch_add(1, Ordering::SeqCst);
                            continue;
                        }
                        Fate::After => {
                            gave_up.after.fetch_add(1, Ordering::SeqCst);
                            continue;
                        }
                    },
                    _ => wish.await,
                };
                inside.enter(key, mode);
                yield_now().await;
                inside.leave(key, mode);
                match chance(3) {
                    0 => panic_with(guard),
                    _ => drop(guard),
                }
            }
        }
    }));
    assert_eq!(lock.keys(), 0, "entries are left behind");
}

/// Four who came in a known order, and one who came after them, get the key in that order.
pub(crate) fn first_come_first_served<S: Subject>() {
    let lock = Arc::new(S::default());
    let order = Arc::new(Mutex::new(Vec::new()));
    let modes: Vec<Mode> = (0..5).map(|_| any_mode()).collect();
    let first = block_on(lock.acquire(0, Mode::Exclusive));
    let mut tasks: Vec<Acquired<()>> = Vec::new();
    for (index, mode) in modes.iter().enumerate() {
        let (mut wish, order) = (lock.acquire(0, *mode), Arc::clone(&order));
        let came_late = index == 4;
        if !came_late {
            block_on(queue_up(&mut wish));
        }
        let gives_up = chance(4) == 0;
        tasks.push(Box::pin(async move {
            if gives_up {
                yield_now().await;
                return drop(wish);
            }
            let guard = wish.await;
            order.lock().unwrap().push(index);
            yield_now().await;
            drop(guard);
        }));
    }
    tasks.push(Box::pin(async move { drop(first) }));
    all(tasks);
    let order = order.lock().unwrap();
    for (place, later) in order.iter().enumerate() {
        for earlier in &order[..place] {
            let together = modes[*later] == Mode::Shared && modes[*earlier] == Mode::Shared;
            assert!(earlier < later || together, "{earlier} overtook {later}: {order:?} {modes:?}");
        }
    }
    assert_eq!(lock.keys(), 0, "entries are left behind");
}

/// Polls once, and finds that it has to wait.
pub(crate) async fn queue_up<G>(wish: &mut Acquired<G>) {
    let polled = std::future::poll_fn(|context| Poll::Ready(wish.as_mut().poll(context))).await;
    assert!(polled.is_pending(), "it is held");
}

/// Drops a guard by unwinding, without the noise of a reported panic.
fn panic_with<G>(guard: G) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _guard = guard;
        resume_unwind(Box::new(()));
    }));
    assert!(caught.is_err());
}
