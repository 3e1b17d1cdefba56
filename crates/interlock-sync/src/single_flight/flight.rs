//! One load under way: who takes part, who drives it, and how it ended.

use std::{collections::BTreeMap, pin::Pin, task::Waker};

use crate::{
    prim::{Arc, Mutex, MutexGuard, PoisonError},
    wakes::Wakes,
};

/// The load itself.
pub(super) type Engine<V> = Pin<Box<dyn Future<Output = V> + Send>>;

/// A load that is shared.
pub(super) struct Flight<V> {
    state: Mutex<State<V>>,
}

struct State<V> {
    stage: Stage<V>,
    /// Who drives: only this one polls the engine, and keeps it at home to do so without a mutex.
    driver: u64,
    /// The engine on its way from a driver who left to the next.
    parked: Option<Engine<V>>,
    /// The others aboard, in the order of arrival, and how to wake those who have looked.
    waiting: BTreeMap<u64, Option<Waker>>,
    last: u64,
}

enum Stage<V> {
    UnderWay,
    Landed(Arc<V>),
    /// It panicked, or everybody left.
    Lost,
}

/// What somebody aboard sees.
pub(super) enum Seen<V> {
    /// The waker that was there before comes back, because dropping it can run anything.
    Wait(Option<Waker>),
    Drive(Engine<V>),
    Landed(Arc<V>),
    Lost,
}

/// What remains to be done when somebody has left.
#[must_use]
pub(super) struct Left<V> {
    pub(super) wakes: Wakes,
    /// Nobody is left to finish it: it must be dropped, and then the flight be called lost.
    pub(super) deserted: Option<Engine<V>>,
    /// Only to be dropped, outside of the mutex.
    pub(super) _waker: Option<Waker>,
}

impl<V> Flight<V> {
    /// The ticket of whoever begins a flight, and drives first.
    pub(super) const FIRST: u64 = 1;
    const NOBODY: u64 = 0;

    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                stage: Stage::UnderWay,
                driver: Self::FIRST,
                parked: None,
                waiting: BTreeMap::new(),
                last: Self::FIRST,
            }),
        }
    }

    /// Takes a seat; `None` if it is over.
    pub(super) fn board(&self) -> Option<u64> {
        let mut state = self.enter();
        matches!(state.stage, Stage::UnderWay).then(|| {
            state.last += 1;
            let ticket = state.last;
            state.waiting.insert(ticket, None);
            ticket
        })
    }

    /// How it stands for somebody aboard who does not drive yet.
    pub(super) fn look(&self, ticket: u64, waker: &Waker) -> Seen<V> {
        let mut state = self.enter();
        match &state.stage {
            Stage::Landed(value) => return Seen::Landed(Arc::clone(value)),
            Stage::Lost => return Seen::Lost,
            Stage::UnderWay => {}
        }
        if state.driver == ticket
            && let Some(engine) = state.parked.take()
        {
            return Seen::Drive(engine);
        }
        match state.waiting.get_mut(&ticket) {
            Some(Some(old)) if old.will_wake(waker) => Seen::Wait(None),
            Some(seat) => Seen::Wait(seat.replace(waker.clone())),
            None => Seen::Wait(None),
        }
    }

    /// The driver has a result for everybody.
    pub(super) fn land(&self, value: &Arc<V>) -> Wakes {
        self.end(Stage::Landed(Arc::clone(value)))
    }

    /// The engine is gone without a result.
    pub(super) fn lose(&self) -> Wakes {
        self.end(Stage::Lost)
    }

    /// Somebody leaves early. A driver hands the engine to whoever has waited longest.
    pub(super) fn leave(&self, ticket: u64, engine: Option<Engine<V>>) -> Left<V> {
        let mut state = self.enter();
        let _waker = state.waiting.remove(&ticket).flatten();
        let mut left = Left { wakes: Wakes::None, deserted: None, _waker };
        if state.driver != ticket {
            return left;
        }
        let engine = engine.or_else(|| state.parked.take());
        if let Some((next, waker)) = state.waiting.pop_first() {
            state.driver = next;
            state.parked = engine;
            // Without a waker it has not looked yet, and will see when it does.
            waker.into_iter().for_each(|waker| left.wakes.push(waker));
        } else {
            // Still under way until the engine is dropped: who boards meanwhile must not begin another beside it.
            state.driver = Self::NOBODY;
            left.deserted = engine;
        }
        left
    }

    fn end(&self, stage: Stage<V>) -> Wakes {
        let mut state = self.enter();
        state.stage = stage;
        let mut wakes = Wakes::default();
        std::mem::take(&mut state.waiting).into_values().flatten().for_each(|waker| wakes.push(waker));
        wakes
    }

    fn enter(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
