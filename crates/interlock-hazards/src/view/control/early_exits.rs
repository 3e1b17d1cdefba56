//! Early exits: checks that stand further in, of which one way has left for good, so that what follows is decided by them as well.
//!
//! ```text
//! if (!force) {
//!   const row = await get(id);
//!   if (row.status !== "open") throw new Error("closed");   // decides over the update, although `force` comes there without it
//! }
//! await update(id);
//! for (const row of rows) if (row.name === name) return row.id;
//! await insert(name);                                       // and so does this
//! ```
//!
//! A step behind both is control dependent on such a check (Ferrante, Ottenstein, Warren 1987): it does not post-dominate it. They are kept apart from
//! the control dependences, because not every way to the step has come by them: what they found says nothing about those that have not.

use interlock_model::ir::{Exit, Op};

use crate::view::{
    At,
    control::{
        build::{End, Walk},
        flow_facts::{List, Now},
    },
};

/// More of them are not kept: a function with hundreds of such checks is no longer about any of them, and each step behind them would be compared
/// with all.
const MOST: usize = 64;

/// How control leaves by the way of a check that does not come by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    /// By a failure.
    Throws,
    /// By the end of the function.
    Returns,
}

impl Walk<'_> {
    /// Behind a check with two ways on, or one: what has decided inside of either.
    pub(super) fn early_exits_of_branches(&mut self, before: Now, one: &End, other: &End) -> List {
        let (dead, other_dead) = (one.ends.is_dead(), other.ends.is_dead());
        match (dead, other_dead) {
            (true, false) => return other.here.early_exits,
            (false, true) => return one.here.early_exits,
            (true, true) => return before.early_exits,
            (false, false) => {}
        }
        let mut all = self.joined(before.early_exits, one.here.early_exits);
        all = self.joined(all, other.here.early_exits);
        for end in [one, other] {
            let added = self.added(end.here.control_dependences, before.control_dependences);
            all = added.into_iter().fold(all, |all, at| self.including(all, at));
        }
        all
    }

    /// Behind a loop: what has decided in a turn and leaves the function; what ends the loop or the turn comes by here like all others.
    pub(super) fn early_exits_of_loop(&mut self, inside: Now, end: &End) -> List {
        if end.ends.is_dead() {
            return inside.early_exits;
        }
        let mut decided = self.added(end.here.control_dependences, inside.control_dependences);
        decided.extend(self.added(end.here.early_exits, inside.early_exits));
        decided.retain(|check| self.leaves(*check).is_some());
        decided.into_iter().fold(inside.early_exits, |all, at| self.including(all, at))
    }

    /// Behind an inlined call: what has decided on some of its ways out and fails otherwise. What returns comes by here.
    pub(super) fn early_exits_of_call(
        &mut self,
        (before, kept): (Now, List),
        returned: &[At],
        end: &End,
    ) -> List {
        let mut decided = vec![];
        let ends = returned.iter().filter_map(|at| self.entry.control().flow_facts(*at).copied());
        let goes_on = !end.ends.is_dead();
        for here in ends.chain(goes_on.then_some(end.here.here)) {
            decided.extend(self.added(here.control_dependences, kept));
            decided.extend(self.added(here.early_exits, before.early_exits));
        }
        let straight = returned.is_empty();
        // Ways out of a function have most checks in common.
        decided.sort_unstable();
        decided.dedup();
        decided.retain(|check| straight || self.leaves(*check) == Some(Leaves::Throws));
        decided.into_iter().fold(before.early_exits, |all, at| self.including(all, at))
    }

    /// What stands in a list and not in another. Both mostly begin alike.
    fn added(&self, list: List, before: List) -> Vec<At> {
        let (list, before) = (self.entry.lists.get(list), self.entry.lists.get(before));
        let alike = list.iter().zip(before).take_while(|(one, other)| one == other).count();
        let (rest, others) = (list.get(alike..), before.get(alike..).unwrap_or_default());
        rest.unwrap_or_default().iter().copied().filter(|at| !others.contains(at)).collect()
    }

    fn joined(&mut self, one: List, other: List) -> List {
        self.added(other, one).into_iter().fold(one, |all, at| self.including(all, at))
    }

    fn including(&mut self, list: List, at: At) -> List {
        let known = self.entry.lists.get(list);
        if known.len() >= MOST || known.contains(&at) { list } else { self.with(list, at) }
    }

    /// How the way of a check that does not come by leaves the function that the check stands in; `None` where it only ends a loop or a turn,
    /// or where neither way or both come by.
    fn leaves(&self, check: At) -> Option<Leaves> {
        let control = self.entry.control();
        let branches = control.branches_of(check)?;
        let away = match (branches.then_ends, branches.otherwise_ends) {
            (true, false) => branches.then.clone(),
            (false, true) => branches.otherwise.clone(),
            _ => return None,
        };
        let (frame, loops) = (control.flow_facts(check)?.frame, control.loops(check).len());
        let mut leaves = None;
        for at in away {
            let here = control.flow_facts(at)?;
            match self.entry.op(at) {
                Some(Op::Exit(Exit::Throw)) => leaves = leaves.or(Some(Leaves::Throws)),
                Some(Op::Exit(Exit::Return(_))) if here.frame == frame => leaves = Some(Leaves::Returns),
                Some(Op::Exit(Exit::Break | Exit::Continue)) if control.loops(at).len() <= loops => {
                    return None;
                }
                _ => {}
            }
        }
        leaves
    }
}
