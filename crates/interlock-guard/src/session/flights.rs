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
    left: Mutex<Option<Left>>,
    /// Its client does not wait any more.
    cancelled: Notify,
    /// Its server was told so.
    told: Notify,
}

/// A request that was sent.
#[derive(Debug)]
struct Left {
    link: Arc<Link>,
    number: u64,
    /// Whether its server hears that nobody waits for it any more.
    is_cancellable: bool,
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

    /// Cancels a flight: its client does not wait any more.
    pub(super) fn cancel(&self, id: &Id) -> Option<Arc<Flight>> {
        let flight = self.flights().get(id).cloned()?;
        flight.cancelled.notify_one();
        Some(flight)
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
    pub(crate) fn leaves(&self, link: &Arc<Link>, number: u64, is_cancellable: bool) {
        let left = Left { link: Arc::clone(link), number, is_cancellable };
        *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(left);
    }

    /// Whom to tell that nobody waits for it any more, and what it is called there. What the server says of it besides goes to nobody from
    /// now on.
    pub(crate) fn abandon(&self) -> Option<(Arc<Link>, u64)> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let Left { link, number, is_cancellable } = left.as_ref()?;
        link.pending.hush(*number);
        if !*is_cancellable {
            return None;
        }
        self.told.notify_one();
        Some((Arc::clone(link), *number))
    }

    /// Waits until its server was told that nobody waits for it.
    pub(crate) async fn told(&self) {
        self.told.notified().await;
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
