//! The names of reasons as small numbers, so that counting one is adding to an array.

use std::sync::{PoisonError, RwLock};

/// How many reasons are told apart. The guard has about a dozen.
pub(in crate::ops) const MOST: usize = 32;

/// A reason, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ops) struct Reason(usize);

/// The names that were seen. The last number is for all others.
#[derive(Debug, Default)]
pub(in crate::ops) struct Reasons(RwLock<Vec<Box<str>>>);

impl Reason {
    /// Its place in an array of [`MOST`].
    pub(in crate::ops) fn index(self) -> usize {
        self.0
    }
}

impl Reasons {
    /// The number of a name.
    pub(in crate::ops) fn of(&self, name: &str) -> Reason {
        let find = |names: &[Box<str>]| names.iter().position(|known| &**known == name).map(Reason);
        if let Some(known) = find(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return known;
        }
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = find(&names) {
            return known;
        }
        if names.len() + 1 >= MOST || name.len() > super::super::text::LONGEST {
            return Reason(MOST - 1);
        }
        names.push(name.into());
        Reason(names.len() - 1)
    }

    /// The name of a number.
    pub(in crate::ops) fn name(&self, index: usize) -> Box<str> {
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names.get(index).cloned().unwrap_or_else(|| "other".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_reasons_than_there_is_room_for_are_counted_together() {
        let reasons = Reasons::default();
        let first = reasons.of("r0");
        for n in 0..100 {
            reasons.of(&format!("r{n}"));
        }
        assert_eq!(reasons.of("r0"), first);
        assert_eq!(&*reasons.name(reasons.of("r99").index()), "other");
        assert_eq!(&*reasons.name(reasons.of("r5").index()), "r5");
    }
}
