//! Sets of reachable steps, kept for the steps that were asked for last: rules ask about the same few in turn.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use crate::view::At;

/// How much memory an entry spends on what it keeps, and of how many steps it keeps it in any case.
const MOST_BYTES: usize = 128 << 10;
const FEW: usize = 32;
const BITS: usize = u64::BITS as usize;

/// Some steps of an entry, as bits.
#[derive(Debug, Default)]
pub(in crate::view) struct Bits(Vec<u64>);

impl Bits {
    pub(in crate::view) fn new(steps: usize) -> Self {
        Self(vec![0; steps.div_ceil(BITS)])
    }

    /// Takes out the first step that is in a word or behind it.
    fn take_from(&mut self, word: usize) -> Option<At> {
        let (at, bits) = self.0.iter_mut().enumerate().skip(word).find(|(_, bits)| **bits != 0)?;
        let lowest = bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        Some(at * BITS + lowest)
    }

    /// Adds a step. Whether that is new.
    pub(in crate::view) fn add(&mut self, at: At) -> bool {
        let bit = 1 << (at % BITS);
        match self.0.get_mut(at / BITS) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    pub(in crate::view) fn has(&self, at: At) -> bool {
        self.0.get(at / BITS).is_some_and(|word| word & (1 << (at % BITS)) != 0)
    }

    /// Whether any of some steps is among them.
    pub(in crate::view) fn any_in(&self, steps: Range<At>) -> bool {
        let Some(last) = steps.end.checked_sub(1).filter(|last| *last >= steps.start) else { return false };
        let (first_word, last_word) = (steps.start / BITS, last / BITS);
        self.0.iter().enumerate().take(last_word + 1).skip(first_word).any(|(at, word)| {
            let low = if at == first_word { u64::MAX << (steps.start % BITS) } else { u64::MAX };
            let high = if at == last_word { u64::MAX >> (BITS - 1 - last % BITS) } else { u64::MAX };
            word & low & high != 0
        })
    }
}

/// The steps that control gets to from one step.
#[derive(Debug)]
pub(in crate::view) struct Ahead {
    /// Without a suspension on the way.
    straight: Bits,
    /// With one.
    suspended: Bits,
}

impl Ahead {
    fn new(steps: usize) -> Self {
        Self { straight: Bits::new(steps), suspended: Bits::new(steps) }
    }

    const fn bytes(&self) -> usize {
        size_of::<Self>() + 2 * size_of::<u64>() * self.straight.0.len()
    }

    /// Whether control gets to a step, and if so whether it can be suspended on the way.
    pub(in crate::view) fn get(&self, at: At) -> Option<bool> {
        match (self.straight.has(at), self.suspended.has(at)) {
            (_, true) => Some(true),
            (true, false) => Some(false),
            (false, false) => None,
        }
    }
}

/// Follows control from step to step. What comes first in the source is followed first, so that hardly any step is met twice.
pub(in crate::view) struct Search {
    found: Ahead,
    /// The steps from which it has not gone on yet.
    pending: Bits,
    /// The first word of those that may have any.
    word: usize,
}

impl Search {
    pub(in crate::view) fn new(steps: usize) -> Self {
        Self { found: Ahead::new(steps), pending: Bits::new(steps), word: 0 }
    }

    /// Control gets to a step. That it also gets there without a suspension says nothing new where it can be suspended.
    pub(in crate::view) fn reach(&mut self, at: At, suspended: bool) {
        let Ahead { straight, suspended: paused } = &mut self.found;
        let is_new = if suspended { paused.add(at) } else { !paused.has(at) && straight.add(at) };
        if is_new {
            self.pending.add(at);
            self.word = self.word.min(at / BITS);
        }
    }

    /// A step from which to go on, and whether control can have been suspended before it.
    pub(in crate::view) fn go_on(&mut self) -> Option<(At, bool)> {
        let at = self.pending.take_from(self.word)?;
        self.word = at / BITS;
        Some((at, self.found.suspended.has(at)))
    }

    pub(in crate::view) fn finish(self) -> Ahead {
        self.found
    }
}

/// What is known of the steps that were asked for last.
#[derive(Debug, Default)]
pub(in crate::view) struct Known(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// By the number of the step; as long as it has to be.
    of_step: Vec<Option<Arc<Ahead>>>,
    /// The steps of which something is kept, the oldest first.
    order: VecDeque<At>,
}

impl Known {
    /// What lies ahead of a step; found only if it is not known.
    pub(in crate::view) fn of(&self, first: At, find: impl FnOnce() -> Ahead) -> Arc<Ahead> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Some(ahead)) = kept.of_step.get(first) {
            return ahead.clone();
        }
        let ahead = Arc::new(find());
        kept.add(first, ahead.clone());
        ahead
    }
}

impl Kept {
    fn add(&mut self, first: At, ahead: Arc<Ahead>) {
        if self.order.len() >= FEW.max(MOST_BYTES / ahead.bytes())
            && let Some(oldest) = self.order.pop_front().and_then(|oldest| self.of_step.get_mut(oldest))
        {
            *oldest = None;
        }
        if self.of_step.len() <= first {
            self.of_step.resize(first + 1, None);
        }
        if let Some(location) = self.of_step.get_mut(first) {
            *location = Some(ahead);
            self.order.push_back(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_with_a_suspension_counts_for_more_than_one_without() {
        let mut search = Search::new(70);
        search.reach(65, false);
        search.reach(3, true);
        assert_eq!(
            (search.go_on(), search.go_on(), search.go_on()),
            (Some((3, true)), Some((65, false)), None)
        );
        search.reach(65, false);
        search.reach(3, false);
        assert_eq!(search.go_on(), None, "nothing of that is new");
        search.reach(65, true);
        search.reach(1_000, true);
        assert_eq!((search.go_on(), search.go_on()), (Some((65, true)), None), "there is no step 1000");
        search.reach(1, false);
        assert_eq!(search.go_on(), Some((1, false)), "back to the head of a loop");
        let ahead = search.finish();
        let known = [65, 3, 1, 64].map(|at| ahead.get(at));
        assert_eq!(known, [Some(true), Some(true), Some(false), None]);
    }

    #[test]
    fn a_stretch_has_what_lies_in_it_and_nothing_beside_it() {
        let mut bits = Bits::new(200);
        assert!(bits.add(64) && bits.add(130) && !bits.add(64) && bits.has(130) && !bits.has(131));
        assert!(bits.any_in(0..65) && bits.any_in(64..65) && bits.any_in(65..131) && bits.any_in(0..200));
        assert!(!bits.any_in(0..64) && !bits.any_in(65..130) && !bits.any_in(131..200));
        #[expect(clippy::reversed_empty_ranges, reason = "an act that stands before its look")]
        let backwards = 131..64;
        assert!(!bits.any_in(backwards) && !bits.any_in(64..64) && !bits.any_in(131..1_000));
    }

    #[test]
    fn what_was_asked_for_long_ago_is_found_again() {
        let known = Known::default();
        let steps = MOST_BYTES * BITS;
        let ask = |first: At| {
            let mut found = false;
            known.of(first, || {
                found = true;
                Ahead::new(steps)
            });
            found
        };
        assert!(ask(0) && !ask(0));
        assert!((1..FEW).all(ask) && !ask(0), "a few are kept, however large they are");
        assert!(ask(FEW) && ask(0), "it had to make room");
    }
}
