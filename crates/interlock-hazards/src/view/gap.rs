//! What lies between two steps.

use interlock_model::ir::{Interleaving, Isolation, Lock, LockKind, Op, Scope, Via};

use super::{
    ahead::Ahead,
    entry::{At, Entry, Next},
};

/// What lies between a step and a later one of the same call.
#[derive(Debug)]
pub struct Gap {
    /// Whether another call of the same process can run there, were it not for locks.
    pub suspends: bool,
    /// The locks that are held all the way, under resolved names.
    pub locks: Vec<Lock>,
    /// Whether a transaction keeps the first step's judgement true until the second takes effect.
    pub transaction: bool,
}

impl Entry<'_> {
    /// What lies between two steps, if the second can come after the first.
    #[must_use]
    pub fn gap(&self, first: At, second: At) -> Option<Gap> {
        let suspends = self.leads_to(first, second)?;
        let here = |at: At| self.steps.get(at).map(|step| &step.here);
        let (one, other) = (here(first)?, here(second)?);
        let held = one.held.iter().filter(|at| other.held.contains(at));
        let locks = held.filter_map(|at| match self.op(*at) {
            Some(Op::Acquire { lock, .. }) => Some(self.lock(lock)),
            _ => None,
        });
        let locks = locks.filter(|lock| self.keeps_others_out(lock)).collect();
        let transaction =
            one.open.iter().any(|at| other.open.contains(at) && self.covers(*at, first, second));
        Some(Gap { suspends, locks, transaction })
    }

    /// Whether a lock is a real one: for one holder, and not made by the call that takes it.
    fn keeps_others_out(&self, lock: &Lock) -> bool {
        lock.kind == LockKind::Mutex && !self.is_made_here(&lock.object) && !self.is_worthless(&lock.object)
    }

    /// Whether a transaction makes a read and a later write one: both go over its connection, and the read is kept true.
    fn covers(&self, begin: At, read: At, write: At) -> bool {
        let Some(Op::Begin { transaction }) = self.op(begin) else { return false };
        let Via::Client(_) = transaction.via else { return false };
        let through = self.via(&transaction.via);
        let inside = |via: Option<&Via>| via.is_none_or(|via| self.via(via) == through);
        let (locking, read_via) = match self.op(read) {
            Some(Op::Read { locking, via, .. }) => (*locking, via.as_deref()),
            Some(Op::Write { via, .. } | Op::Delete { via, .. }) => (true, via.as_deref()),
            _ => (false, None),
        };
        let write_via = match self.op(write) {
            Some(Op::Write { via, .. } | Op::Delete { via, .. }) => via.as_deref(),
            _ => None,
        };
        let kept = match transaction.isolation {
            Isolation::ReadCommitted | Isolation::Unknown => locking,
            Isolation::SingleWriter | Isolation::Serializable => true,
            Isolation::FirstUpdaterWins => locking || self.overlap(read, write).is_some(),
        };
        kept && inside(read_via) && inside(write_via)
    }

    /// Whether control can get from one step to a later one, and if so whether it can be suspended on the way. A way that comes by
    /// the first step again starts over there, so it does not count.
    #[must_use]
    pub fn leads_to(&self, first: At, second: At) -> Option<bool> {
        self.ahead.of(first, || self.reached_from(first)).get(second)
    }

    /// What control gets to from a step.
    fn reached_from(&self, first: At) -> Ahead {
        let mut ahead = Ahead::new(self.steps.len());
        let mut pending: Vec<(At, bool)> =
            self.after(first).map(|at| (at, self.lets_others_in(first))).collect();
        while let Some((at, suspended)) = pending.pop() {
            if !ahead.add(at, suspended) || at == first {
                continue;
            }
            let suspended = suspended || self.lets_others_in(at);
            pending.extend(self.after(at).map(|next| (next, suspended)));
        }
        ahead
    }

    /// Whether control can leave the entry after a step without coming by any of some others: with success or with a failure.
    #[must_use]
    pub fn escapes(&self, from: At, past: impl Fn(At) -> bool) -> Option<Escape> {
        let mut seen = vec![false; self.steps.len()];
        let mut pending: Vec<At> = vec![];
        let mut escape = None;
        // The step itself may fail before it has taken effect; only what comes behind it counts.
        let mut visit = |at: At, pending: &mut Vec<At>, first: bool| {
            for next in self.steps.get(at).map(|step| step.next.as_slice()).unwrap_or_default() {
                match next {
                    Next::Step(next) => pending.push(*next),
                    Next::Throw if !first => escape = escape.max(Some(Escape::Failure(at))),
                    Next::Return => escape = escape.max(Some(Escape::Return(at))),
                    Next::Throw => {}
                }
            }
        };
        visit(from, &mut pending, true);
        while let Some(at) = pending.pop() {
            let Some(reached) = seen.get_mut(at) else { continue };
            if std::mem::replace(reached, true) || past(at) {
                continue;
            }
            visit(at, &mut pending, false);
        }
        escape
    }

    pub(super) fn after(&self, at: At) -> impl Iterator<Item = At> {
        let next = self.steps.get(at).map(|step| step.next.as_slice()).unwrap_or_default();
        next.iter().filter_map(|next| match next {
            Next::Step(at) => Some(*at),
            Next::Return | Next::Throw => None,
        })
    }

    /// Whether another call of the same process may run at a step.
    #[must_use]
    pub fn lets_others_in(&self, at: At) -> bool {
        match self.op(at) {
            // Who waits for a lock lets others go first. A sleep that lets others run has a suspension of its own.
            Some(Op::Suspend | Op::Acquire { outcome: None, .. }) => true,
            _ => self
                .program
                .function(self.function_of(at))
                .is_some_and(|function| function.interleaving == Interleaving::Anywhere),
        }
    }
}

/// How control left an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Escape {
    /// It came to its end, at this step.
    Return(At),
    /// This step failed.
    Failure(At),
}

impl Gap {
    /// Whether calls of the same process are kept out.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        !self.locks.is_empty()
    }

    /// Whether other processes are kept out as well.
    #[must_use]
    pub fn is_locked_across_processes(&self) -> bool {
        self.locks.iter().any(|lock| lock.scope == Scope::CrossProcess)
    }
}
