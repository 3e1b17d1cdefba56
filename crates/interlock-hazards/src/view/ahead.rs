//! What control gets to from a step, kept for the steps that were asked for last: rules ask about the same few in turn.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use super::entry::At;

/// How many steps of an entry are kept.
const MOST_KNOWN: usize = 32;
const BITS: usize = u64::BITS as usize;

/// The steps that control gets to from one step, as bits.
#[derive(Debug)]
pub(super) struct Ahead {
    /// Without a suspension on the way.
    straight: Vec<u64>,
    /// With one.
    suspended: Vec<u64>,
}

impl Ahead {
    pub(super) fn new(steps: usize) -> Self {
        let words = steps.div_ceil(BITS);
        Self { straight: vec![0; words], suspended: vec![0; words] }
    }

    /// Notes that control gets to a step. Whether that is new.
    pub(super) fn add(&mut self, at: At, suspended: bool) -> bool {
        let words = if suspended { &mut self.suspended } else { &mut self.straight };
        let bit = 1 << (at % BITS);
        match words.get_mut(at / BITS) {
            Some(word) if *word & bit == 0 => {
                *word |= bit;
                true
            }
            _ => false,
        }
    }

    /// Whether control gets to a step, and if so whether it can be suspended on the way.
    pub(super) fn get(&self, at: At) -> Option<bool> {
        let has = |words: &[u64]| words.get(at / BITS).is_some_and(|word| word & (1 << (at % BITS)) != 0);
        match (has(&self.straight), has(&self.suspended)) {
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
