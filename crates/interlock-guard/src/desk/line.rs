//! The lines in which calls of this process wait for their turn to ask the store.
//!
//! There is one line for each key that somebody waits for. A call stands, by its number, in the lines of all keys that the store said it
//! waits for, and has its turn when it is the first in each of them and there is news: it has just come to stand there, somebody before
//! it left, or a call of this process settled what it waits for. So of ten thousand calls that wait for one key one asks, and calls that
//! wait for different keys know nothing of each other. Whoever has the lowest number is first in all its lines, so somebody always is.
//!
//! A model test compiles this very file with the mutex of a model checker under `crate::prim`.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    future::Future,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use crate::prim::{Mutex, MutexGuard, PoisonError};

/// For how many lines there is always memory.
const ROOM_TO_KEEP: usize = 1_024;

/// All lines of a desk.
pub(crate) struct Lines<K> {
    state: Mutex<State<K>>,
}

struct State<K> {
    lines: HashMap<K, BTreeSet<u64>>,
    seats: BTreeMap<u64, Seat<K>>,
    is_closed: bool,
}

/// One who waits.
struct Seat<K> {
    keys: Vec<K>,
    /// Whether there is a reason to ask that has not been followed yet.
    has_news: bool,
    waker: Option<Waker>,
}

/// A place in the lines; dropping it is leaving them.
#[must_use = "dropping it is leaving the lines"]
pub(crate) struct Standing<'a, K: Hash + Eq + Clone> {
    lines: &'a Lines<K>,
    number: u64,
}

/// How many may stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// In one line.
    pub(crate) in_line: usize,
    /// In all of them together.
    pub(crate) in_all: usize,
}

/// The refusal: as many stand there as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// What somebody in line is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It may ask now.
    Ask,
    /// Nobody is let in any more.
    Closed,
}

/// Ready when it is somebody's turn.
#[must_use = "a future waits only when it is awaited"]
pub(crate) struct NextTurn<'a, K> {
    lines: &'a Lines<K>,
    number: u64,
}

impl<K> Default for Lines<K> {
    fn default() -> Self {
        Self { state: Mutex::new(State { lines: HashMap::new(), seats: BTreeMap::new(), is_closed: false }) }
    }
}

impl<K: Hash + Eq + Clone> Lines<K> {
    /// Those of the keys for which somebody waits.
    pub(crate) fn busy<'k>(&self, keys: impl IntoIterator<Item = &'k K>) -> Vec<K>
    where
        K: 'k,
    {
        let state = self.state();
        if state.lines.is_empty() {
            return Vec::new();
        }
        keys.into_iter().filter(|key| state.lines.contains_key(*key)).cloned().collect()
    }

    /// Stands in the lines of these keys, ordered by a number that nobody else has there.
    pub(crate) fn stand(&self, number: u64, keys: Vec<K>, room: Room) -> Result<Standing<'_, K>, Full> {
        let mut state = self.state();
        let is_full = |key| state.lines.get(key).map_or(0, BTreeSet::len) >= room.in_line;
        if state.seats.len() >= room.in_all || keys.iter().any(is_full) {
            return Err(Full);
        }
        state.queue(number, &keys);
        state.seats.insert(number, Seat { keys, has_news: true, waker: None });
        drop(state);
        Ok(Standing { lines: self, number })
    }

    /// Tells those who wait for these keys that something was given back.
    pub(crate) fn settled<'k>(&self, keys: impl IntoIterator<Item = &'k K>)
    where
        K: 'k,
    {
        let mut wakes = Vec::new();
        let mut state = self.state();
        if state.lines.is_empty() {
            return;
        }
        for key in keys {
            state.tell_first(key, &mut wakes);
        }
        drop(state);
        wakes.into_iter().for_each(Waker::wake);
    }

    /// Sends everybody away, now and from now on.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let wakes: Vec<_> = state.seats.values_mut().filter_map(|seat| seat.waker.take()).collect();
        drop(state);
        wakes.into_iter().for_each(Waker::wake);
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.state().seats.len()
    }

    /// Whether nothing at all is left of those who waited.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        let state = self.state();
        state.seats.is_empty() && state.lines.is_empty()
    }
}

impl<K> Lines<K> {
    /// Nothing that is done under the mutex can panic half way.
    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> State<K> {
    fn queue(&mut self, number: u64, keys: &[K]) {
        for key in keys {
            match self.lines.get_mut(key) {
                Some(line) => line.insert(number),
                None => self.lines.entry(key.clone()).or_default().insert(number),
            };
        }
    }

    /// Takes somebody out of lines. Whoever comes to stand first there has news.
    fn unqueue(&mut self, number: u64, keys: &[K], wakes: &mut Vec<Waker>) {
        for key in keys {
            let Some(line) = self.lines.get_mut(key) else { continue };
            let was_first = line.first() == Some(&number);
            line.remove(&number);
            if line.is_empty() {
                self.lines.remove(key);
            } else if was_first {
                self.tell_first(key, wakes);
            }
        }
        // After a rush the memory for it goes, too.
        if self.lines.is_empty() && self.lines.capacity() > ROOM_TO_KEEP {
            self.lines = HashMap::new();
        }
    }

    fn tell_first(&mut self, key: &K, wakes: &mut Vec<Waker>) {
        let first = self.lines.get(key).and_then(BTreeSet::first);
        if let Some(seat) = first.and_then(|first| self.seats.get_mut(first)) {
            seat.has_news = true;
            wakes.extend(seat.waker.take());
        }
    }

    fn is_first(&self, number: u64) -> bool {
        let first = |key| self.lines.get(key).and_then(BTreeSet::first) == Some(&number);
        self.seats.get(&number).is_some_and(|seat| seat.keys.iter().all(first))
    }
}

impl<'a, K: Hash + Eq + Clone> Standing<'a, K> {
    /// Waits until it is this one's turn.
    pub(crate) fn turn(&self) -> NextTurn<'a, K> {
        NextTurn { lines: self.lines, number: self.number }
    }

    /// Whether nobody stands before it.
    pub(crate) fn is_first(&self) -> bool {
        self.lines.state().is_first(self.number)
    }

    /// How many stand before it in the longest of its lines, up to a number that is enough to tell.
    pub(crate) fn ahead(&self) -> u32 {
        let state = self.lines.state();
        let keys = state.seats.get(&self.number).map(|seat| seat.keys.as_slice()).unwrap_or_default();
        // Who comes last, as most do, has the whole line before it; nobody counts through ten thousand others.
        let ahead = |key: &K| match state.lines.get(key) {
            Some(line) if line.last() == Some(&self.number) => line.len() - 1,
            Some(line) => line.range(..self.number).take(1_000).count(),
            None => 0,
        };
        keys.iter().map(ahead).max().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Stands in the lines of these keys from now on, under its old number. If they are others than before it has its turn there at least
    /// once: what it waits for may have been given back before it came to stand there.
    pub(crate) fn move_to(&self, keys: &[K]) {
        let mut wakes = Vec::new();
        let mut state = self.lines.state();
        let Some(seat) = state.seats.get_mut(&self.number) else { return };
        if seat.keys == keys {
            return;
        }
        seat.has_news = true;
        let before = std::mem::replace(&mut seat.keys, keys.to_vec());
        state.unqueue(self.number, &before, &mut wakes);
        state.queue(self.number, keys);
        drop(state);
        wakes.into_iter().for_each(Waker::wake);
    }
}

impl<K: Hash + Eq + Clone> Drop for Standing<'_, K> {
    fn drop(&mut self) {
        let mut wakes = Vec::new();
        let mut state = self.lines.state();
        let seat = state.seats.remove(&self.number);
        if let Some(seat) = &seat {
            state.unqueue(self.number, &seat.keys, &mut wakes);
        }
        drop(state);
        // Its own waker goes after the mutex, too: dropping one runs code of the executor.
        drop(seat);
        wakes.into_iter().for_each(Waker::wake);
    }
}

impl<K: Hash + Eq + Clone> Future for NextTurn<'_, K> {
    type Output = Turn;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn> {
        let waker = context.waker().clone();
        let mut state = self.lines.state();
        if state.is_closed {
            return Poll::Ready(Turn::Closed);
        }
        let is_first = state.is_first(self.number);
        let Some(seat) = state.seats.get_mut(&self.number) else { return Poll::Pending };
        if is_first && seat.has_news {
            seat.has_news = false;
            return Poll::Ready(Turn::Ask);
        }
        let replaced = seat.waker.replace(waker);
        drop(state);
        drop(replaced);
        Poll::Pending
    }
}

impl<K> fmt::Debug for Lines<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}
