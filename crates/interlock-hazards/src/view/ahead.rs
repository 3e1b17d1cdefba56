//! What control gets to from a step, kept for the steps that were asked for last: rules ask about the same few in turn.

use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use super::entry::At;

/// How many steps of an entry are kept.
const MOST_KNOWN: usize = 32;
const BITS: usize = u64::BITS as usize;

/// Some steps of an entry, as bits.
#[derive(Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(steps: usize) -> Self {
        Self(vec![0; steps.div_ceil(BITS)])
    }

    /// Adds a step. Whether that is new.
    pub(super) fn add(&mut self, at: At) -> bool {
        let bit = 1 << (at % BITS);
        match self.0.get_mut(at / BITS) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    pub(super) fn has(&self, at: At) -> bool {
        self.0.get(at / BITS).is_some_and(|word| word & (1 << (at % BITS)) != 0)
    }

    /// Whether any of some steps is among them.
    pub(super) fn any_in(&self, steps: Range<At>) -> bool {
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
pub(super) struct Ahead {
    /// Without a suspension on the way.
    straight: Bits,
    /// With one.
    suspended: Bits,
}

impl Ahead {
    pub(super) fn new(steps: usize) -> Self {
        Self { straight: Bits::new(steps), suspended: Bits::new(steps) }
    }

    /// Notes that control gets to a step. Whether that is new.
    pub(super) fn add(&mut self, at: At, suspended: bool) -> bool {
        if suspended { self.suspended.add(at) } else { self.straight.add(at) }
    }

    /// Whether control gets to a step, and if so whether it can be suspended on the way.
    pub(super) fn get(&self, at: At) -> Option<bool> {
        match (self.straight.has(at), self.suspended.has(at)) {
            (_, true) => Some(true),
            (true, false) => Some(false),
            (false, false) => None,
        }
    }
}

/// What is known of the steps that were asked for last.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<VecDeque<(At, Arc<Ahead>)>>);

impl Known {
    /// What lies ahead of a step; found only if it is not known.
    pub(super) fn of(&self, first: At, find: impl FnOnce() -> Ahead) -> Arc<Ahead> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, ahead)) = known.iter().find(|(at, _)| *at == first) {
            return ahead.clone();
        }
        let ahead = Arc::new(find());
        if known.len() == MOST_KNOWN {
            known.pop_front();
        }
        known.push_back((first, ahead.clone()));
        ahead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_with_a_suspension_counts_for_more_than_one_without() {
        let mut ahead = Ahead::new(70);
        assert!(ahead.add(65, false) && !ahead.add(65, false));
        assert_eq!((ahead.get(65), ahead.get(64), ahead.get(1)), (Some(false), None, None));
        assert!(ahead.add(65, true));
        assert_eq!(ahead.get(65), Some(true));
        assert!(!ahead.add(1_000, true), "a step that does not exist is never reached");
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
        let ask = |first: At| {
            let mut found = false;
            known.of(first, || {
                found = true;
                Ahead::new(1)
            });
            found
        };
        assert!(ask(0) && !ask(0));
        assert!((1..=MOST_KNOWN).all(ask));
        assert!(ask(0), "it had to make room");
    }
}
