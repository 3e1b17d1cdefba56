//! Reaching reads: the sets of steps that values depend on, shared where they are equal.

use std::{borrow::Cow, ops::Range};

use interlock_model::ir::Value;

use crate::view::At;

/// How many reads a value is followed back to; what depends on more is a digest of everything.
const MOST: usize = 64;

/// The number of a list; the first is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::view) struct ListNumber(u32);

/// The steps that each value of an entry depends on. A value that is computed from one other depends on the same, so they share a
/// list.
#[derive(Debug, Default)]
pub(in crate::view) struct Sources {
    /// For each value, its list.
    of: Vec<ListNumber>,
    /// Where each list stands.
    lists: Vec<Range<usize>>,
    /// All lists one after another, each sorted.
    all: Vec<At>,
    /// Where lists are put together.
    merged: Vec<At>,
    more: Vec<At>,
    /// The values that others were computed from so far.
    used: Vec<bool>,
    /// Whether one of those has changed since.
    outdated: bool,
    /// When each value has changed last, by how much had been added before.
    changed: Vec<u32>,
    /// How much has been added, and how much of it in earlier rounds.
    added: u32,
    before: u32,
}

impl Sources {
    pub(in crate::view) fn new(values: usize) -> Self {
        Self {
            of: vec![ListNumber::default(); values],
            lists: vec![Range::default()],
            used: vec![false; values],
            changed: vec![0; values],
            ..Self::default()
        }
    }

    /// The steps that a value depends on.
    pub(in crate::view) fn of(&self, value: Value) -> &[At] {
        self.list(self.number(value))
    }

    /// The steps of a list.
    pub(in crate::view) fn list(&self, ListNumber(number): ListNumber) -> &[At] {
        self.lists
            .get(number as usize)
            .and_then(|location| self.all.get(location.clone()))
            .unwrap_or_default()
    }

    /// The steps that some values depend on.
    pub(in crate::view) fn united(&self, values: &[Value]) -> Cow<'_, [At]> {
        match self.only(ListNumber::default(), values) {
            Some(number) => Cow::Borrowed(self.list(number)),
            None => {
                let mut all: Vec<At> = values.iter().flat_map(|value| self.of(*value)).copied().collect();
                all.sort_unstable();
                all.dedup();
                Cow::Owned(all)
            }
        }
    }

    /// The list of the steps that some values depend on.
    pub(in crate::view) fn of_all(&mut self, values: &[Value]) -> ListNumber {
        match self.united(values) {
            Cow::Owned(all) => self.put(&all),
            Cow::Borrowed(_) => self.only(ListNumber::default(), values).unwrap_or_default(),
        }
    }

    /// Adds what some values depend on to what another does.
    pub(in crate::view) fn add(&mut self, into: Value, from: &[Value], itself: Option<At>) {
        self.added = self.added.saturating_add(1);
        // What was added in the round before counts again only if it has changed since.
        let last = self.added.saturating_sub(self.before);
        let has_changed =
            |value: &Value| self.changed.get(value.0 as usize).is_some_and(|when| *when >= last);
        if self.before > 0 && !from.iter().any(has_changed) {
            return;
        }
        for value in from {
            if let Some(used) = self.used.get_mut(value.0 as usize) {
                *used = true;
            }
        }
        let known = self.number(into);
        let holds =
            |number: &ListNumber| itself.is_none_or(|at| self.list(*number).binary_search(&at).is_ok());
        let number = match self.only(known, from).filter(holds) {
            Some(number) => number,
            None => self.merge(known, from, itself),
        };
        if number != known
            && let Some(location) = self.of.get_mut(into.0 as usize)
        {
            *location = number;
            if let Some(changed) = self.changed.get_mut(into.0 as usize) {
                *changed = self.added;
            }
            self.outdated |= self.used.get(into.0 as usize).is_some_and(|used| *used);
        }
    }

    /// Begins another round of adding the same in the same order. Whether there is any need: not if everything was computed from
    /// what did not change any more.
    pub(in crate::view) const fn again(&mut self) -> bool {
        self.before = self.added;
        self.outdated
    }

    /// Lets go of what was needed to put it together.
    pub(in crate::view) fn finish(&mut self) {
        (self.merged, self.more, self.used, self.changed) = (vec![], vec![], vec![], vec![]);
    }

    fn number(&self, value: Value) -> ListNumber {
        self.of.get(value.0 as usize).copied().unwrap_or_default()
    }

    /// The list that a value has and all that some others add, if that is one.
    fn only(&self, known: ListNumber, from: &[Value]) -> Option<ListNumber> {
        let empty = ListNumber::default();
        from.iter().map(|value| self.number(*value)).try_fold(known, |only, number| {
            match (only == empty, number == empty || number == only) {
                (_, true) => Some(only),
                (true, _) => Some(number),
                _ => None,
            }
        })
    }

    fn merge(&mut self, known: ListNumber, from: &[Value], itself: Option<At>) -> ListNumber {
        let (mut merged, mut more) = (std::mem::take(&mut self.merged), std::mem::take(&mut self.more));
        merged.clear();
        merged.extend_from_slice(self.list(known));
        let (mut last, mut longest) = (known, known);
        for number in from.iter().map(|value| self.number(*value)) {
            // A value that depends on itself in a loop adds nothing.
            if number != known && number != last {
                unite(&merged, self.list(number), &mut more);
                std::mem::swap(&mut merged, &mut more);
                longest = if self.list(number).len() > self.list(longest).len() { number } else { longest };
            }
            last = number;
        }
        if let Some(at) = itself {
            unite(&merged, &[at], &mut more);
            std::mem::swap(&mut merged, &mut more);
        }
        // Where one of them has all that the others have, it is shared.
        let number = if self.list(longest) == merged { longest } else { self.put(&merged) };
        (self.merged, self.more) = (merged, more);
        number
    }

    fn put(&mut self, list: &[At]) -> ListNumber {
        let start = self.all.len();
        self.all.extend_from_slice(list);
        self.lists.push(start..self.all.len());
        ListNumber(u32::try_from(self.lists.len() - 1).unwrap_or_default())
    }
}

/// Puts two sorted lists together, as far as it is worth it: what stands first of each is what stands first of both.
fn unite(one: &[At], other: &[At], into: &mut Vec<At>) {
    into.clear();
    // Long lists have their beginning in common.
    let alike = one.iter().zip(other).take(MOST).take_while(|(one, other)| one == other).count();
    let (beginning, mut one) = one.split_at(alike);
    let (_, mut other) = other.split_at(alike);
    into.extend_from_slice(beginning);
    while into.len() < MOST {
        match (one, other) {
            ([first, rest @ ..], [second, others @ ..]) => {
                into.push(*first.min(second));
                (one, other) =
                    (if first <= second { rest } else { one }, if second <= first { others } else { other });
            }
            (left, []) | ([], left) => {
                into.extend(left.iter().take(MOST - into.len()));
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn united(one: &[At], other: &[At]) -> Vec<At> {
        let mut into = vec![99];
        unite(one, other, &mut into);
        into
    }

    #[test]
    fn two_lists_become_one_without_anything_twice() {
        assert_eq!(united(&[1, 3, 5], &[2, 3, 6, 7]), [1, 2, 3, 5, 6, 7]);
        assert_eq!((united(&[], &[4]), united(&[4], &[]), united(&[], &[])), (vec![4], vec![4], vec![]));
        let (odd, all): (Vec<At>, Vec<At>) =
            ((0..200).filter(|at| at % 2 == 1).collect(), (0..200).collect());
        assert_eq!(united(&odd, &all), (0..MOST).collect::<Vec<_>>());
        assert_eq!(united(&odd, &[]), odd[..MOST]);
    }

    #[test]
    fn a_value_that_changes_after_it_was_used_asks_for_another_round() {
        let mut sources = Sources::new(3);
        let round = |sources: &mut Sources| {
            sources.add(Value(1), &[Value(0)], Some(4));
            let straight = sources.outdated;
            sources.add(Value(0), &[Value(1)], Some(7));
            straight
        };
        assert!(!round(&mut sources) && sources.again());
        assert_eq!((sources.of(Value(0)), sources.of(Value(1))), (&[4, 7][..], &[4][..]));
        round(&mut sources);
        assert_eq!((sources.of(Value(0)), sources.of(Value(1))), (&[4, 7][..], &[4, 7][..]));
        let both = sources.of_all(&[Value(0), Value(2)]);
        assert_eq!(sources.list(both), [4, 7]);
    }
}
