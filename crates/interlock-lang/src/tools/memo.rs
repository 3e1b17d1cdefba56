//! What was looked at already, what is being looked at, and how much that may cost. Source can define things by themselves, and a few lines
//! of it can ask for more than there is time for.

use std::cell::{Cell, RefCell};

use interlock_model::ir::{Name, Value};
use rustc_hash::FxHashMap;

use super::env::Thing;

/// How many paths are followed in a tree, and how many more for each of its calls. Real trees need a few per call.
const BUDGET: usize = 200_000;
const PER_CALL: usize = 50;

/// How many paths are followed to learn where one leads. Functions that describe schemas by each other would use up the whole of it.
const PER_PATH: usize = 2_000;

/// How many collections may be filled from each other.
const FILLS: usize = 3;

/// What is remembered.
#[derive(Debug)]
pub(super) struct Memo<'i> {
    settled: RefCell<FxHashMap<u32, Thing<'i>>>,
    settling: RefCell<Vec<u32>>,
    defining: RefCell<Vec<(u32, Value)>>,
    overridden: RefCell<FxHashMap<(usize, Name), bool>>,
    budget: Cell<usize>,
    /// What the path that is being followed may still cost; `None` between paths.
    allowance: Cell<Option<usize>>,
    /// Whether that was too little.
    cut_short: Cell<bool>,
    fills: Cell<usize>,
}

impl<'i> Memo<'i> {
    /// For a tree with so many calls.
    pub(super) fn new(calls: usize) -> Self {
        Self {
            settled: RefCell::default(),
            settling: RefCell::default(),
            defining: RefCell::default(),
            overridden: RefCell::default(),
            budget: Cell::new(BUDGET.saturating_add(calls.saturating_mul(PER_CALL))),
            allowance: Cell::new(None),
            cut_short: Cell::new(false),
            fills: Cell::new(0),
        }
    }

    /// Pays for following a path and the paths that it leads to; `None` when the tree, or the first of these paths, has used up what it may
    /// cost.
    pub(super) fn paid<T>(&self, follow: impl FnOnce() -> T) -> Option<T> {
        let outer = self.allowance.get();
        if outer.is_none() {
            self.cut_short.set(false);
        }
        let Some(allowance) = outer.unwrap_or(PER_PATH).checked_sub(1) else {
            self.cut_short.set(true);
            return None;
        };
        self.budget.set(self.budget.get().checked_sub(1)?);
        self.allowance.set(Some(allowance));
        let found = follow();
        if outer.is_none() {
            self.allowance.set(None);
        }
        Some(found)
    }

    /// Looks at something without asking what fills collections, and remembers nothing of it.
    pub(super) fn apart<T>(&self, look: impl FnOnce() -> T) -> T {
        self.fills.set(FILLS);
        let found = look();
        self.fills.set(0);
        self.settled.borrow_mut().clear();
        found
    }

    /// Looks at what fills a collection, unless that is already being done too deep.
    pub(super) fn filling<T: Default>(&self, look: impl FnOnce() -> T) -> T {
        let nested = self.fills.get();
        if nested >= FILLS {
            return T::default();
        }
        self.fills.set(nested + 1);
        let found = look();
        self.fills.set(nested);
        found
    }

    /// Looks at what a call comes to, unless that is what is being looked at: `this.tasks = this.tasks.filter(…)`.
    pub(super) fn unless_circular(&self, site: u32, look: impl FnOnce() -> Thing<'i>) -> Thing<'i> {
        if self.settling.borrow().contains(&site) {
            return Thing::Unknown;
        }
        self.settling.borrow_mut().push(site);
        let found = look();
        self.settling.borrow_mut().pop();
        found
    }

    /// The same for a value: in a loop it may be defined by itself.
    pub(super) fn unless_own(&self, value: (u32, Value), look: impl FnOnce() -> Thing<'i>) -> Thing<'i> {
        if self.defining.borrow().contains(&value) {
            return Thing::Unknown;
        }
        self.defining.borrow_mut().push(value);
        let found = look();
        self.defining.borrow_mut().pop();
        found
    }

    /// What a call comes to without assumptions, looked up once.
    pub(super) fn remembered(&self, site: u32, look: impl FnOnce() -> Thing<'i>) -> Thing<'i> {
        if let Some(known) = self.settled.borrow().get(&site) {
            return known.clone();
        }
        let found = look();
        // What was cut short says less than there is.
        if !self.cut_short.get() {
            self.settled.borrow_mut().insert(site, found.clone());
        }
        found
    }

    /// Whether a member of a class is overridden, looked up once.
    pub(super) fn overridden(&self, class: usize, member: &str, look: impl FnOnce() -> bool) -> bool {
        let key = (class, Name::from(member));
        if let Some(known) = self.overridden.borrow().get(&key) {
            return *known;
        }
        let found = look();
        self.overridden.borrow_mut().insert(key, found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_uses_up_its_share_and_leaves_the_rest_to_the_others() {
        let memo = Memo::new(0);
        let follow_on = || std::iter::from_fn(|| memo.paid(|| ())).count();
        assert_eq!(memo.paid(follow_on), Some(PER_PATH - 1));
        assert_eq!(memo.paid(follow_on), Some(PER_PATH - 1), "the next begins anew");
        let paths = std::iter::from_fn(|| memo.paid(follow_on)).count();
        assert_eq!(paths, BUDGET / PER_PATH - 2, "all of them together have an end");
    }
}
