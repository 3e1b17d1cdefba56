//! Taking part in a flight: waiting for it, or driving it.

use std::{
    hash::Hash,
    pin::Pin,
    task::{Context, Poll},
};

use super::{
    flight::{Engine, Flight, Seen},
    group::SingleFlight,
};
use crate::prim::Arc;

/// A place in a flight, and the future of its result; `None` if the flight was lost, and somebody has to begin another.
pub(super) struct Seat<'a, K, V> {
    group: &'a SingleFlight<K, V>,
    hash: u64,
    flight: Arc<Flight<V>>,
    ticket: u64,
    /// Only the driver has it.
    engine: Option<Engine<V>>,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Aboard,
    /// Inside somebody's code. Whoever is dropped in this state is so by a panic of that code.
    Driving,
    Off,
}

impl<'a, K, V> Seat<'a, K, V> {
    pub(super) fn new(group: &'a SingleFlight<K, V>, hash: u64, flight: Arc<Flight<V>>, ticket: u64) -> Self {
        Self { group, hash, flight, ticket, engine: None, status: Status::Aboard }
    }

    /// Whether this one began the flight, and has to start its engine.
    pub(super) fn is_first(&self) -> bool {
        self.ticket == Flight::<V>::FIRST
    }

    pub(super) fn start<Fut: Future<Output = V> + Send + 'static>(&mut self, load: impl FnOnce() -> Fut) {
        self.status = Status::Driving;
        self.engine = Some(Box::pin(load()));
        self.status = Status::Aboard;
    }
}

impl<K: Eq + Hash, V: Clone> Future for Seat<'_, K, V> {
    type Output = Option<V>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            if let Some(engine) = &mut this.engine {
                this.status = Status::Driving;
                let Poll::Ready(value) = engine.as_mut().poll(context) else {
                    this.status = Status::Aboard;
                    return Poll::Pending;
                };
                // The load is over when all that it held is gone, not before.
                this.engine = None;
                this.status = Status::Off;
                return Poll::Ready(Some(this.group.land(this.hash, &this.flight, value)));
            }
            match this.flight.look(this.ticket, context.waker()) {
                Seen::Wait(_old) => return Poll::Pending,
                Seen::Drive(engine) => this.engine = Some(engine),
                Seen::Landed(value) => {
                    this.status = Status::Off;
                    return Poll::Ready(Some(Arc::unwrap_or_clone(value)));
                }
                Seen::Lost => {
                    this.status = Status::Off;
                    return Poll::Ready(None);
                }
            }
        }
    }
}

impl<K, V> Drop for Seat<'_, K, V> {
    fn drop(&mut self) {
        match self.status {
            Status::Aboard => self.group.leave(self.hash, &self.flight, self.ticket, self.engine.take()),
            Status::Driving => self.group.desert(self.hash, &self.flight, self.engine.take()),
            Status::Off => {}
        }
    }
}
