//! Race windows: what lies between a step and a later one of the same call.

use interlock_model::ir::{Hold, Lock, LockKind, Op, Scope};

use crate::{
    Reason,
    view::{At, Locks, reach::crosses_processes},
};

/// What lies between a step and a later one of the same call.
#[derive(Debug)]
pub struct RaceWindow {
    /// Whether another call of the same process can run there, were it not for locks.
    pub suspends: bool,
    /// The locks that are held all the way, under resolved names.
    pub locks: Vec<Lock>,
    /// Whether a transaction keeps the first step's judgement true until the second takes effect.
    pub transaction: bool,
}

impl<'v, 'e> Locks<'v, 'e> {
    /// What lies between two steps, if the second can come after the first.
    #[must_use]
    pub fn race_window(self, first: At, second: At) -> Option<RaceWindow> {
        let suspends = self.0.control().leads_to(first, second)? || self.is_waited_for(second);
        let (held_at_first, held_at_second) = (self.held(first), self.held(second));
        // Those who share a lock keep each other out of nothing: under it one may look, and not change.
        let acts =
            matches!(self.0.op(second), Some(Op::Write { .. } | Op::Delete { .. } | Op::Rename { .. }));
        let counts = |at: &&At| !(acts && self.is_shared_hold(**at));
        let held = held_at_first.iter().filter(|at| held_at_second.contains(at)).filter(counts);
        let locks = held.filter_map(|at| match self.0.op(*at) {
            Some(Op::Acquire { lock, .. }) => Some(self.resolve(lock)),
            _ => None,
        });
        let locks = locks.filter(|lock| self.keeps_others_out(lock)).collect();
        let transaction = self
            .open(first)
            .iter()
            .any(|at| self.open(second).contains(at) && self.covers(*at, first, second))
            || self.stays_locked(first, second);
        Some(RaceWindow { suspends, locks, transaction })
    }

    /// Whether a step outside the memory of the process is only begun where it stands, and the call waits until it has taken effect:
    /// `await writeFile(…)`. Others run before that.
    pub(in crate::view) fn is_waited_for(self, at: At) -> bool {
        let outside = self.0.resource(at).is_some_and(crosses_processes);
        let span = self.0.span(at);
        let waits = |next: At| {
            let wait = self.0.span(next);
            matches!(self.0.op(next), Some(Op::Suspend))
                && wait.file == span.file
                && wait.start <= span.start
                && span.end <= wait.end
        };
        outside && self.0.control().after(at).any(waits)
    }

    /// Whether a lock is taken together with others who only look.
    pub(in crate::view) fn is_shared_hold(self, acquired: At) -> bool {
        matches!(self.0.op(acquired), Some(Op::Acquire { hold: Hold::Shared, .. }))
    }

    /// Whether a lock is a real one: for one holder, and not made by the call that takes it.
    fn keeps_others_out(self, lock: &Lock) -> bool {
        lock.kind == LockKind::Mutex
            && !self.0.alias().is_made_here(&lock.object)
            && !self.is_worthless(&lock.object)
    }
}

impl RaceWindow {
    /// Why nobody comes in, where nobody does.
    pub(crate) const fn why_closed(&self) -> Reason {
        match (self.transaction, self.suspends) {
            (true, _) => Reason::InTransaction,
            (false, true) => Reason::HeldLock,
            (false, false) => Reason::NoSuspension,
        }
    }

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
