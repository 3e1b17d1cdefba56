//! The lines in which calls of this process wait for their turn to ask the store.
//!
//! There is one line for each key that somebody waits for. A call stands in the lines of all keys that the store said it waits for, and has its
//! turn when it is the first in each of them and there is news: it has just come to stand there, somebody before it left, or a call of this
//! process settled what it waits for. So of ten thousand calls that wait for one key one asks, and calls that wait for different keys know
//! nothing of each other.
//!
//! In a line, callers take turns: the first call of the caller whose last turn was longest ago is first, so that whoever has a thousand calls
//! there holds nobody else up by more than one. The calls of one caller keep their order. Two calls that wait for several keys could so each
//! stand behind the other; therefore the oldest of those always has its turn.
//!
//! A model test compiles this very file with the mutex of a model checker under `crate::prim`.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    future::Future,
    hash::Hash,
    pin::Pin,
    sync::Arc,
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
    lines: HashMap<K, Line>,
    seats: BTreeMap<u64, Seat<K>>,
    /// How many calls of each caller stand anywhere.
    of_callers: HashMap<Arc<str>, usize>,
    /// Those who stand in several lines.
    wide: BTreeSet<u64>,
    is_closed: bool,
}

/// The line of one key.
#[derive(Default)]
struct Line {
    callers: HashMap<Arc<str>, Own>,
    /// The first call of each caller, with the turn that its caller last had.
    heads: BTreeSet<(u64, u64)>,
    /// How many turns there were.
    turns: u64,
}

/// What a caller has in one line.
struct Own {
    /// Its calls, by number.
    calls: BTreeSet<u64>,
    /// The turn that it last had, or as if it had had one when it came.
    last: u64,
}

/// One who waits.
struct Seat<K> {
    caller: Arc<str>,
    keys: Vec<K>,
    /// Whether there is a reason to ask that has not been followed yet.
    has_news: bool,
    /// Whether another call now stands first in a line in which this call stood first.
    is_passed: bool,
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
    /// Of one caller in one line.
    pub(crate) in_line: usize,
    /// In all of them together; of one caller a quarter of it.
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
    /// It was first and is not any more: another caller's turn is before its own.
    Passed,
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
        Self {
            state: Mutex::new(State {
                lines: HashMap::new(),
                seats: BTreeMap::new(),
                of_callers: HashMap::new(),
                wide: BTreeSet::new(),
                is_closed: false,
            }),
        }
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

    /// Puts a call into the lines of these keys. Its number is unique, and greater than the numbers of all earlier calls.
    pub(crate) fn stand(
        &self,
        number: u64,
        caller: &Arc<str>,
        keys: Vec<K>,
        room: Room,
    ) -> Result<Standing<'_, K>, Full> {
        let mut state = self.state();
        let of_caller = state.of_callers.get(caller).copied().unwrap_or_default();
        let is_full = |key| state.lines.get(key).is_some_and(|line: &Line| line.of(caller) >= room.in_line);
        let no_room = state.seats.len() >= room.in_all || of_caller >= room.in_all.div_ceil(4);
        if no_room || keys.iter().any(is_full) {
            return Err(Full);
        }
        let mut wakes = Vec::new();
        state.queue(number, caller, &keys, &mut wakes);
        *state.of_callers.entry(Arc::clone(caller)).or_default() += 1;
        let caller = Arc::clone(caller);
        state.seats.insert(number, Seat { caller, keys, has_news: true, is_passed: false, waker: None });
        drop(state);
        wakes.into_iter().for_each(Waker::wake);
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
        state.seats.is_empty()
            && state.lines.is_empty()
            && state.of_callers.is_empty()
            && state.wide.is_empty()
    }
}

impl<K> Lines<K> {
    /// Nothing that is done under the mutex can panic half way.
    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many callers a line remembers that stand there no more.
const REMEMBERED: usize = 1_024;

impl Line {
    fn first(&self) -> Option<u64> {
        self.heads.first().map(|(_, number)| *number)
    }

    /// How many calls of a caller stand here.
    fn of(&self, caller: &Arc<str>) -> usize {
        self.callers.get(caller).map_or(0, |own| own.calls.len())
    }

    /// The one who was first, if that is another now.
    fn insert(&mut self, number: u64, caller: &Arc<str>) -> Option<u64> {
        let first = self.first();
        // Who comes anew stands before those that had their turn last, and behind those that wait since before.
        let last = self.turns.saturating_sub(1);
        let own =
            self.callers.entry(Arc::clone(caller)).or_insert_with(|| Own { calls: BTreeSet::new(), last });
        if let Some(head) = own.calls.first() {
            self.heads.remove(&(own.last, *head));
        }
        own.calls.insert(number);
        self.heads.extend(own.calls.first().map(|head| (own.last, *head)));
        first.filter(|first| self.first() != Some(*first))
    }

    /// Whether it was the first.
    fn remove(&mut self, number: u64, caller: &Arc<str>) -> bool {
        let was_first = self.first() == Some(number);
        let Some(own) = self.callers.get_mut(caller) else { return false };
        if let Some(head) = own.calls.first() {
            self.heads.remove(&(own.last, *head));
        }
        own.calls.remove(&number);
        if was_first {
            self.turns += 1;
            own.last = self.turns;
        }
        self.heads.extend(own.calls.first().map(|head| (own.last, *head)));
        if self.callers.len() > self.heads.len() + REMEMBERED {
            self.callers.retain(|_, own| !own.calls.is_empty());
        }
        was_first
    }

    /// How many have their turn before this one, if nobody else comes; counted up to a number that is enough to tell.
    fn ahead(&self, number: u64, caller: &Arc<str>) -> usize {
        const ENOUGH: usize = 1_000;
        let Some(own) = self.callers.get(caller) else { return 0 };
        // A new call mostly comes behind all calls of its caller, so its turn is a count and needs no walk through the line.
        let before = match own.calls.last() {
            Some(last) if *last == number => own.calls.len() - 1,
            _ => own.calls.range(..number).take(ENOUGH).count(),
        };
        let head = own.calls.first().map(|head| (own.last, *head));
        let others = self.callers.iter().filter(|(other, _)| *other != caller).take(ENOUGH);
        let others = others.map(|(_, other)| {
            let is_before = other.calls.first().map(|head| (other.last, *head)) < head;
            other.calls.len().min(before + usize::from(is_before))
        });
        before + others.sum::<usize>()
    }
}

impl<K: Hash + Eq + Clone> State<K> {
    /// Puts a call into lines. A call that was first there and no longer is also leaves the store's line.
    fn queue(&mut self, number: u64, caller: &Arc<str>, keys: &[K], wakes: &mut Vec<Waker>) {
        for key in keys {
            let passed = match self.lines.get_mut(key) {
                Some(line) => line.insert(number, caller),
                None => self.lines.entry(key.clone()).or_default().insert(number, caller),
            };
            if let Some(seat) = passed.and_then(|passed| self.seats.get_mut(&passed)) {
                seat.is_passed = true;
                wakes.extend(seat.waker.take());
            }
        }
        if keys.len() > 1 {
            self.wide.insert(number);
        }
    }

    /// Takes somebody out of lines. Whoever comes to stand first there has news.
    fn unqueue(&mut self, number: u64, caller: &Arc<str>, keys: &[K], wakes: &mut Vec<Waker>) {
        for key in keys {
            let Some(line) = self.lines.get_mut(key) else { continue };
            let was_first = line.remove(number, caller);
            if line.heads.is_empty() {
                self.lines.remove(key);
            } else if was_first {
                self.tell_first(key, wakes);
            }
        }
        if self.wide.first() == Some(&number) {
            self.wide.remove(&number);
            if let Some(oldest) = self.wide.first().copied() {
                self.tell(oldest, wakes);
            }
        }
        self.wide.remove(&number);
        // After a rush the memory for it goes, too.
        if self.lines.is_empty() && self.lines.capacity() > ROOM_TO_KEEP {
            self.lines = HashMap::new();
        }
    }

    /// One of a caller's calls less.
    fn leaves(&mut self, caller: &Arc<str>) {
        let Some(left) = self.of_callers.get_mut(caller) else { return };
        *left -= 1;
        if *left == 0 {
            self.of_callers.remove(caller);
        }
    }

    fn tell_first(&mut self, key: &K, wakes: &mut Vec<Waker>) {
        if let Some(first) = self.lines.get(key).and_then(Line::first) {
            self.tell(first, wakes);
        }
        let oldest = self.wide.first().copied();
        if let Some(oldest) =
            oldest.filter(|oldest| self.seats.get(oldest).is_some_and(|seat| seat.keys.contains(key)))
        {
            self.tell(oldest, wakes);
        }
    }

    fn tell(&mut self, number: u64, wakes: &mut Vec<Waker>) {
        if let Some(seat) = self.seats.get_mut(&number) {
            seat.has_news = true;
            wakes.extend(seat.waker.take());
        }
    }

    fn is_first(&self, number: u64) -> bool {
        let first = |key| self.lines.get(key).and_then(Line::first) == Some(number);
        self.wide.first() == Some(&number)
            || self.seats.get(&number).is_some_and(|seat| seat.keys.iter().all(first))
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
        let Some(seat) = state.seats.get(&self.number) else { return 0 };
        let ahead = |key: &K| state.lines.get(key).map_or(0, |line| line.ahead(self.number, &seat.caller));
        seat.keys.iter().map(ahead).max().map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX))
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
        let (before, caller) = (std::mem::replace(&mut seat.keys, keys.to_vec()), Arc::clone(&seat.caller));
        state.unqueue(self.number, &caller, &before, &mut wakes);
        state.queue(self.number, &caller, keys, &mut wakes);
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
            state.unqueue(self.number, &seat.caller, &seat.keys, &mut wakes);
            state.leaves(&seat.caller);
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
            (seat.has_news, seat.is_passed) = (false, false);
            return Poll::Ready(Turn::Ask);
        }
        if std::mem::replace(&mut seat.is_passed, false) && !is_first {
            return Poll::Ready(Turn::Passed);
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
