//! What all models need: schedulers, chance, and futures that are given up.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use shuttle::{
    future::{block_on, spawn, yield_now},
    rand::{Rng, thread_rng},
};

/// Runs a model under many schedules: half of them chosen at random, half with few changes of task at unlikely places.
pub(crate) fn explore(schedules: usize, model: fn()) {
    shuttle::check_random(model, schedules / 2);
    shuttle::check_pct(model, schedules / 2, 3);
}

/// A number below the limit, chosen by the scheduler, so that a replay chooses the same.
pub(crate) fn chance(limit: usize) -> usize {
    thread_rng().gen_range(0..limit)
}

/// Runs tasks side by side to their ends.
pub(crate) fn all<F>(tasks: impl IntoIterator<Item = F>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let tasks: Vec<_> = tasks.into_iter().map(spawn).collect();
    block_on(async {
        for task in tasks {
            task.await.expect("nobody aborts it");
        }
    });
}

/// How somebody without patience fared.
pub(crate) enum Fate<T> {
    Ready(T),
    /// Dropped before anybody had woken it.
    Before,
    /// Dropped after it had been woken, and before it noticed.
    After,
}

/// Polls a future, yields a few times, and drops it without another look.
pub(crate) async fn impatient<F: Future>(future: F, patience: usize) -> Fate<F::Output> {
    let mut future = pin!(future);
    let mut noted = None;
    let first = std::future::poll_fn(|context| {
        let note = Arc::new(Note(AtomicBool::new(false), context.waker().clone()));
        noted = Some(Arc::clone(&note));
        Poll::Ready(future.as_mut().poll(&mut Context::from_waker(&Waker::from(note))))
    });
    if let Poll::Ready(output) = first.await {
        return Fate::Ready(output);
    }
    for _ in 0..patience {
        yield_now().await;
    }
    let woken = noted.is_some_and(|note| note.0.load(Ordering::SeqCst));
    if woken { Fate::After } else { Fate::Before }
}

struct Note(AtomicBool, Waker);

impl Wake for Note {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
        self.1.wake_by_ref();
    }
}

/// A future whose panics are values.
pub(crate) async fn caught<F: Future>(future: F) -> Result<F::Output, ()> {
    let mut future: Pin<Box<F>> = Box::pin(future);
    std::future::poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(_) => Poll::Ready(Err(())),
    })
    .await
}
