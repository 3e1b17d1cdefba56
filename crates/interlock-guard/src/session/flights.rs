//! The requests of one client that have no answer yet.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use foldhash::quality::RandomState;
use tokio::sync::Notify;

use crate::{message::Id, upstream::Link};

/// Requests in flight, by the client's own ids.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Id, Arc<Flight>, RandomState>>);

/// A request in flight.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Where it went and what it is called there, once it left.
    left: Mutex<Option<(Arc<Link>, u64)>>,
    cancelled: Notify,
}

/// A place among the flights, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    flights: Option<(Arc<Flights>, Id)>,
    pub(crate) flight: Arc<Flight>,
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlace {
    /// Another with its id is in flight.
    Taken,
    /// There are too many.
    Full,
}

/// How many requests one client may have in flight.
const MOST: usize = 16_384;

impl Flights {
    pub(super) fn enter(self: &Arc<Self>, id: Id) -> Result<Place, NoPlace> {
        let mut flights = self.flights();
        if flights.len() >= MOST {
            return Err(NoPlace::Full);
        }
        match flights.entry(id) {
            Entry::Occupied(_) => Err(NoPlace::Taken),
            Entry::Vacant(vacant) => {
                let flight = Arc::<Flight>::default();
                let id = vacant.key().clone();
                vacant.insert(Arc::clone(&flight));
                Ok(Place { flights: Some((Arc::clone(self), id)), flight })
            }
        }
    }

    /// Cancels a flight: its client does not wait any more. Says where it went, if it had left.
    pub(super) fn cancel(&self, id: &Id) -> Option<(Arc<Link>, u64)> {
        let flight = self.flights().get(id).cloned()?;
        flight.cancelled.notify_one();
        flight.left()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.flights().is_empty()
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<Id, Arc<Flight>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    /// Notes that it left.
    pub(crate) fn leaves(&self, link: &Arc<Link>, number: u64) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some((Arc::clone(link), number));
    }

    /// Where it went and what it is called there, once it left.
    pub(crate) fn left(&self) -> Option<(Arc<Link>, u64)> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the client has cancelled it.
    pub(crate) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl Place {
    /// A place that nobody can cancel and whose id may be taken elsewhere: without sessions each request stands alone.
    pub(crate) fn alone() -> Self {
        Self { flights: None, flight: Arc::default() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some((flights, id)) = self.flights.take() {
            flights.flights().remove(&id);
        }
    }
}
