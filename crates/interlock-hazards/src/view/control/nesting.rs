//! Nesting, exits and continuations: what stands inside what, and where control goes once something has been settled.

use interlock_model::ir::{Exit, Op};

use crate::view::{At, Control, control::edges::Next};

impl<'v, 'e> Control<'v, 'e> {
    /// Whether a step stands in one of the blocks of another.
    #[must_use]
    pub fn encloses(self, outer: At, inner: At) -> bool {
        outer < inner && self.0.steps.get(outer).is_some_and(|step| inner < step.until as usize)
    }

    /// The steps inside another.
    pub fn inside(self, outer: At) -> impl Iterator<Item = At> + use<> {
        outer + 1..self.0.steps.get(outer).map_or(outer + 1, |step| step.until as usize)
    }

    /// The innermost step of some kind around another.
    #[must_use]
    pub fn around(self, inner: At, holds: impl Fn(&Op) -> bool) -> Option<At> {
        (0..inner).rev().find(|at| self.encloses(*at, inner) && self.0.op(*at).is_some_and(&holds))
    }

    /// Where control goes from a check when its values say yes, or when they say no.
    #[must_use]
    pub fn branch(self, check: At, yes: bool) -> Vec<At> {
        let Some(Op::Check { then, otherwise, .. }) = self.0.op(check) else { return vec![] };
        let (mine, other) = if yes { (then, otherwise) } else { (otherwise, then) };
        let starts = |block: &[interlock_model::ir::Effect], at: At| {
            let effect = self.0.steps.get(at).map(|step| step.effect);
            block.first().zip(effect).is_some_and(|(first, effect)| std::ptr::eq(first, effect))
        };
        let next: Vec<At> = self.after(check).collect();
        if mine.is_empty() {
            next.into_iter().filter(|at| !starts(other, *at)).collect()
        } else {
            next.into_iter().filter(|at| starts(mine, *at)).collect()
        }
    }

    /// Where control goes behind a step once it is settled: its own suspension, and the calls that only hand its result on, belong
    /// to it.
    #[must_use]
    pub fn behind(self, from: At) -> Vec<At> {
        let mut seen = vec![from];
        let mut pending: Vec<At> = self.after(from).collect();
        let mut found = vec![];
        while let Some(at) = pending.pop() {
            // Its own failure is none of what comes behind it.
            if seen.contains(&at) || (self.is_recovery(at) && !self.is_recovery(from)) {
                continue;
            }
            seen.push(at);
            let passes_on = matches!(
                self.0.op(at),
                Some(Op::Suspend | Op::Derive { .. } | Op::New { .. } | Op::Exit(Exit::Return(_)))
            );
            if passes_on {
                let clears_up = |next: &At| self.is_finally(*next) && !self.is_finally(at);
                let recovers = |next: At| self.is_recovery(next) && !self.is_recovery(at);
                let goes_on = self.after(at).any(|next| !clears_up(&next) && !recovers(next));
                // Where it goes on otherwise, only a failure leads to what clears up.
                pending.extend(self.after(at).filter(|next| !goes_on || !clears_up(next)));
            } else {
                found.push(at);
            }
        }
        found
    }

    /// How control can leave the entry from some steps on, those included, without coming by any of some others; failures first.
    #[must_use]
    pub fn exits(self, from: Vec<At>, past: impl Fn(At) -> bool) -> Vec<Escape> {
        let mut seen = vec![false; self.0.steps.len()];
        let mut pending = from;
        let (mut failures, mut returns) = (vec![], vec![]);
        while let Some(at) = pending.pop() {
            let Some(reached) = seen.get_mut(at) else { continue };
            if std::mem::replace(reached, true) || past(at) {
                continue;
            }
            let is_start = matches!(self.0.op(at), Some(Op::Spawn { .. }));
            for next in self.next(at) {
                match next {
                    // What runs on by itself leaves nothing behind when it ends.
                    Next::Step(next) if is_start && self.encloses(at, next) => {}
                    Next::Step(next) => pending.push(next),
                    Next::Throw => failures.push(Escape::Failure(at)),
                    Next::Return => returns.push(Escape::Return(at)),
                }
            }
        }
        failures.sort_unstable();
        returns.sort_unstable();
        failures.extend(returns);
        failures
    }

    /// Whether a call waits at a step for what it does: a suspension follows with nothing in between.
    #[must_use]
    pub fn is_awaited(self, at: At) -> bool {
        let mut seen = vec![at];
        let mut pending: Vec<At> = self.after(at).collect();
        while let Some(at) = pending.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            match self.0.op(at) {
                Some(Op::Suspend) => return true,
                Some(Op::Derive { .. } | Op::Exit(Exit::Return(_)) | Op::Inlined { .. }) => {
                    pending.extend(self.after(at));
                }
                _ => {}
            }
        }
        false
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

impl Escape {
    /// The step that control left at.
    #[must_use]
    pub const fn at(self) -> At {
        match self {
            Self::Return(at) | Self::Failure(at) => at,
        }
    }
}
