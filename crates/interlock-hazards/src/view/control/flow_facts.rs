//! Flow facts: what holds at a step. Most steps share it with the one before, and what they share is kept once.

use std::ops::Deref;

use crate::view::{At, Control};

/// What holds at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::view) struct FlowFacts {
    /// The acquisitions that hold here on every way that leads here.
    pub(in crate::view) held: List,
    /// The transactions that are open here on every way that leads here.
    pub(in crate::view) open: List,
    /// The checks that decided that it runs.
    pub(in crate::view) control_dependences: List,
    /// The checks that were not asked on every way here, and of which one way has left for good.
    pub(in crate::view) early_exits: List,
    /// The loops around it, outermost first.
    pub(in crate::view) loops: List,
    /// The calls it is inside of.
    pub(in crate::view) frame: usize,
    /// What kind of stretch it stands in.
    pub(in crate::view) stretch: Stretch,
}

/// What kind of stretch a step stands in; the innermost that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::view) struct Stretch {
    pub(in crate::view) in_catch: bool,
    pub(in crate::view) is_caught: bool,
    pub(in crate::view) in_finally: bool,
    /// Runs beside the call that started it.
    pub(in crate::view) detached: Option<At>,
}

/// What holds where the walk is, and its number once a step has it.
#[derive(Clone, Copy, Default)]
pub(in crate::view) struct Now {
    pub(in crate::view) here: FlowFacts,
    pub(in crate::view) number: Option<u32>,
}

impl Now {
    /// Changes what holds from here on; the steps before keep what held there.
    pub(in crate::view) fn change(&mut self, by: impl FnOnce(&mut FlowFacts)) {
        let before = self.here;
        by(&mut self.here);
        if self.here != before {
            self.number = None;
        }
    }

    /// The same in another kind of stretch.
    pub(in crate::view) fn within(mut self, stretch: Stretch) -> Self {
        self.change(|here| here.stretch = stretch);
        self
    }

    pub(in crate::view) fn hold(&mut self, held: List) {
        self.change(|here| here.held = held);
    }

    pub(in crate::view) fn leave_open(&mut self, open: List) {
        self.change(|here| here.open = open);
    }

    pub(in crate::view) fn judge(&mut self, control_dependences: List) {
        self.change(|here| here.control_dependences = control_dependences);
    }

    pub(in crate::view) fn come_by(&mut self, early_exits: List) {
        self.change(|here| here.early_exits = early_exits);
    }
}

impl Deref for Now {
    type Target = FlowFacts;

    fn deref(&self) -> &FlowFacts {
        &self.here
    }
}

/// A list of steps that [`Lists`] keeps. None has a step twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::view) struct List {
    start: u32,
    end: u32,
}

/// Lists of steps, one after another. Nothing is ever changed, so lists may overlap.
#[derive(Debug, Default)]
pub(in crate::view) struct Lists(Vec<At>);

impl Lists {
    pub(in crate::view) fn get(&self, list: List) -> &[At] {
        self.0.get(list.start as usize..list.end as usize).unwrap_or_default()
    }

    /// A list with one step more at its end.
    pub(in crate::view) fn with(&mut self, list: List, at: At) -> List {
        // The last one goes on in place: whoever has it sees as much of it as before.
        if list.end as usize == self.0.len() {
            self.0.push(at);
            return List { start: list.start, end: self.end() };
        }
        let start = self.end();
        self.0.extend_from_within(list.start as usize..list.end as usize);
        self.0.push(at);
        List { start, end: self.end() }
    }

    /// What is in both of two lists. Both mostly begin alike, and one is often the beginning of the other.
    pub(in crate::view) fn common(&mut self, one: List, other: List) -> List {
        if one == other {
            return one;
        }
        let (ones, others) = (self.get(one), self.get(other));
        let alike = ones.iter().zip(others).take_while(|(one, other)| one == other).count();
        let (Some(rest), Some(rest_of_other)) = (ones.get(alike..), others.get(alike..)) else { return one };
        if rest.is_empty() {
            return one;
        }
        let both: Vec<At> = rest.iter().filter(|at| rest_of_other.contains(at)).copied().collect();
        let end = u32::try_from(alike).map_or(one.end, |alike| one.start + alike);
        let beginning = List { start: one.start, end };
        both.into_iter().fold(beginning, |list, at| self.with(list, at))
    }

    /// The steps of a list of which something holds.
    pub(in crate::view) fn retain(&mut self, list: List, holds: impl Fn(At) -> bool) -> List {
        let kept: Vec<At> = self.get(list).iter().copied().filter(|at| holds(*at)).collect();
        kept.into_iter().fold(List::default(), |list, at| self.with(list, at))
    }

    fn end(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}

impl<'v, 'e> Control<'v, 'e> {
    /// What holds at a step.
    pub(in crate::view) fn flow_facts(self, at: At) -> Option<&'v FlowFacts> {
        self.0.flow_facts.get(self.0.steps.get(at)?.here as usize)
    }

    /// The steps of a list.
    pub(in crate::view) fn fact_list(self, list: impl FnOnce(&FlowFacts) -> List, at: At) -> &'v [At] {
        self.flow_facts(at).map_or(&[], |here| self.0.lists.get(list(here)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_stays_what_it_is_when_others_go_on_from_it() {
        let mut lists = Lists::default();
        let one = lists.with(List::default(), 1);
        let two = lists.with(one, 2);
        let three = lists.with(one, 3);
        let four = lists.with(two, 4);
        assert_eq!((lists.get(one), lists.get(two)), (&[1][..], &[1, 2][..]));
        assert_eq!((lists.get(three), lists.get(four)), (&[1, 3][..], &[1, 2, 4][..]));
        let without = lists.retain(four, |at| at != 2);
        assert_eq!((lists.get(without), lists.get(four)), (&[1, 4][..], &[1, 2, 4][..]));
    }

    #[test]
    fn two_lists_have_in_common_what_is_in_both_in_the_order_of_the_first() {
        let mut lists = Lists::default();
        let mut list = |steps: &[At]| steps.iter().fold(List::default(), |list, at| lists.with(list, *at));
        let (one, other, start) = (list(&[1, 2, 5, 3, 4]), list(&[1, 2, 3, 5, 9]), list(&[1, 2]));
        let mut common = |one: List, other: List| {
            let common = lists.common(one, other);
            lists.get(common).to_vec()
        };
        assert_eq!(common(one, other), [1, 2, 5, 3]);
        assert_eq!((common(one, start), common(start, one)), (vec![1, 2], vec![1, 2]));
        assert!(common(one, List::default()).is_empty());
        assert_eq!(common(one, one), [1, 2, 5, 3, 4]);
    }
}
