//! Single flight: one load at a time, whoever leaves and whatever panics.

use std::{
    panic::resume_unwind,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use shuttle::future::yield_now;

use crate::{
    harness::{Fate, all, caught, chance, explore, impatient},
    single_flight::SingleFlight,
};

/// What the loads of one schedule did.
#[derive(Default)]
struct Loads {
    running: AtomicUsize,
    started: AtomicUsize,
    /// How often one began beside another. Counted, because a panic inside a load is part of the model.
    overlaps: AtomicUsize,
}

/// A load that runs, until all of it is gone.
struct Running(Arc<Loads>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A load that holds on to something also after it is ready, as futures may.
struct Load {
    work: Pin<Box<dyn Future<Output = usize> + Send>>,
    _running: Running,
}

impl Future for Load {
    type Output = usize;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<usize> {
        self.work.as_mut().poll(context)
    }
}

fn load(loads: Arc<Loads>, panics: bool) -> Load {
    loads.started.fetch_add(1, Ordering::SeqCst);
    loads.overlaps.fetch_add(loads.running.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
    let work = async move {
        yield_now().await;
        if panics {
            resume_unwind(Box::new(()));
        }
        yield_now().await;
        7
    };
    Load { work: Box::pin(work), _running: Running(loads) }
}

fn judge(flights: &SingleFlight<u8, usize>, loads: &Loads) {
    assert_eq!(loads.overlaps.load(Ordering::SeqCst), 0, "two loads of one key");
    assert_eq!(loads.running.load(Ordering::SeqCst), 0, "a load is left behind");
    assert!(flights.is_empty(), "a flight is left behind");
}

#[test]
fn there_is_one_load_at_a_time_and_everybody_who_stays_gets_a_result() {
    static PANICKED: AtomicUsize = AtomicUsize::new(0);
    static LEFT: AtomicUsize = AtomicUsize::new(0);
    explore(10_000, || {
        let flights: Arc<SingleFlight<u8, usize>> = Arc::default();
        let loads = Arc::new(Loads::default());
        all((0..3).map(|_| {
            let (flights, loads) = (Arc::clone(&flights), Arc::clone(&loads));
            async move {
                let panics = chance(4) == 0;
                let wish = flights.load(1, || load(loads, panics));
                let result = match chance(3) {
                    0 => caught(impatient(wish, chance(4))).await,
                    _ => caught(wish).await.map(Fate::Ready),
                };
                match result {
                    Ok(Fate::Ready(value)) => assert_eq!(value, 7),
                    Ok(Fate::Before | Fate::After) => drop(LEFT.fetch_add(1, Ordering::SeqCst)),
                    Err(()) => drop(PANICKED.fetch_add(1, Ordering::SeqCst)),
                }
            }
        }));
        judge(&flights, &loads);
    });
    assert!(
        [&PANICKED, &LEFT].iter().all(|count| count.load(Ordering::SeqCst) > 100),
        "{PANICKED:?} {LEFT:?}"
    );
}

#[test]
fn a_driver_that_leaves_hands_the_same_load_on() {
    static HANDED_ON: AtomicUsize = AtomicUsize::new(0);
    explore(6_000, || {
        let flights: Arc<SingleFlight<u8, usize>> = Arc::default();
        let loads = Arc::new(Loads::default());
        let left = Arc::new(AtomicUsize::new(0));
        all((0..3).map(|index| {
            let (flights, loads, left) = (Arc::clone(&flights), Arc::clone(&loads), Arc::clone(&left));
            async move {
                let mine = Arc::new(AtomicUsize::new(0));
                let wish = flights.load(1, || {
                    mine.fetch_add(1, Ordering::SeqCst);
                    load(loads, false)
                });
                if index > 0 {
                    assert_eq!(wish.await, 7);
                } else if !matches!(impatient(wish, 1).await, Fate::Ready(_)) {
                    left.fetch_add(mine.load(Ordering::SeqCst), Ordering::SeqCst);
                }
            }
        }));
        judge(&flights, &loads);
        // One began and left, and yet no second load was needed.
        if left.load(Ordering::SeqCst) == 1 && loads.started.load(Ordering::SeqCst) == 1 {
            HANDED_ON.fetch_add(1, Ordering::SeqCst);
        }
    });
    assert!(HANDED_ON.load(Ordering::SeqCst) > 100, "{HANDED_ON:?}");
}
