//! Threads that serve connections, each with a runtime of its own.
//!
//! A call that stays on one thread from its first byte to its answer wakes nobody else. On a runtime that shares its tasks between threads
//! they pass it to and fro, and in a guard, which does little with a call, that would take longer than everything else.

use std::{
    cell::Cell,
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tokio::{
    runtime::{Builder, Handle},
    sync::watch,
};

thread_local! {
    /// Which lane this thread is; none is the first.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

/// Where connections are served. Clones are the same lanes; they end with the last.
#[derive(Clone, Default)]
pub struct Lanes(Option<Arc<Threads>>);

struct Threads {
    lanes: Vec<Lane>,
    /// The threads end when it goes.
    _running: watch::Sender<()>,
}

struct Lane {
    handle: Handle,
    busy: Arc<AtomicUsize>,
}

/// Somebody on a lane, until this is dropped.
struct Occupant(Arc<AtomicUsize>);

/// How many threads can serve at once.
pub(crate) fn most() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Which of [`most`] threads this is, counted from one; zero for all others.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

impl Lanes {
    /// As many as the machine has processors.
    ///
    /// # Errors
    ///
    /// If the system gives no threads.
    pub fn start() -> io::Result<Self> {
        let (running, ended) = watch::channel(());
        let lanes = (1..=most()).map(|number| Lane::start(number, ended.clone()));
        let lanes = lanes.collect::<io::Result<Vec<_>>>()?;
        Ok(Self(Some(Arc::new(Threads { lanes, _running: running }))))
    }

    /// Serves where the fewest are served. Without lanes, where this is called.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let lanes = self.0.as_ref().map(|threads| threads.lanes.as_slice()).unwrap_or_default();
        let Some(lane) = lanes.iter().min_by_key(|lane| lane.busy.load(Ordering::Relaxed)) else {
            tokio::spawn(work);
            return;
        };
        lane.busy.fetch_add(1, Ordering::Relaxed);
        let occupant = Occupant(Arc::clone(&lane.busy));
        lane.handle.spawn(async move {
            let _occupant = occupant;
            work.await;
        });
    }
}

impl Lane {
    fn start(number: usize, mut ended: watch::Receiver<()>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        thread::Builder::new().name(format!("lane-{number}")).spawn(move || {
            CURRENT.set(number);
            runtime.block_on(async { while ended.changed().await.is_ok() {} });
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, busy: Arc::default() })
    }
}

impl Drop for Occupant {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lanes").field(&self.0.as_ref().map_or(0, |threads| threads.lanes.len())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    async fn place(lanes: &Lanes) -> (usize, oneshot::Sender<()>) {
        let (tell, told) = oneshot::channel();
        let (leave, left) = oneshot::channel::<()>();
        lanes.spawn(async move {
            let _ = tell.send(current());
            let _ = left.await;
        });
        (told.await.unwrap(), leave)
    }

    #[tokio::test]
    async fn work_goes_where_the_fewest_are() {
        let lanes = Lanes::start().unwrap();
        let mut seen = Vec::new();
        for _ in 0..most() {
            seen.push(place(&lanes).await);
        }
        let mut numbers: Vec<_> = seen.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=most()).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn without_lanes_work_stays_where_it_is() {
        assert_eq!(place(&Lanes::default()).await.0, 0);
    }

    #[tokio::test]
    async fn lanes_end_with_their_last_owner() {
        let lanes = Lanes::start().unwrap();
        let (_, mut leave) = place(&lanes).await;
        let clone = lanes.clone();
        drop(lanes);
        assert!(!leave.is_closed());
        drop(clone);
        leave.closed().await;
    }
}
