//! Branches and exception regions: what a check must have said for a step to run, and what catches its failure.

use std::ops::Range;

use interlock_model::ir::{Block, Effect, Exit, Op};

use crate::view::{At, Control, Kinds, entry::Branches};

impl<'v, 'e> Control<'v, 'e> {
    /// The checks, and the attempts whose failure was caught, that decided that a step runs, nearest last.
    #[must_use]
    pub fn control_dependences(self, at: At) -> &'v [At] {
        self.fact_list(|here| here.control_dependences, at)
    }

    /// The checks that were asked on some of the ways to a step, and of which one answer has left for good: further in, or in a loop.
    #[must_use]
    pub fn early_exits(self, at: At) -> &'v [At] {
        self.fact_list(|here| here.early_exits, at)
    }

    /// What a check must have said for a step to run; `None` if both answers lead there.
    #[must_use]
    pub fn answer(self, check: At, at: At) -> Option<bool> {
        let branches = self.branches_of(check)?;
        match (branches.then.contains(&at), branches.otherwise.contains(&at)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ if branches.then_ends && !branches.otherwise_ends => {
                Some(self.leaves_loop_for(check, &branches.then, at))
            }
            _ if branches.otherwise_ends && !branches.then_ends => {
                Some(!self.leaves_loop_for(check, &branches.otherwise, at))
            }
            _ => None,
        }
    }

    /// Whether one way of a check ends the loop around it, and a step comes behind that loop.
    fn leaves_loop_for(self, check: At, way: &Range<At>, at: At) -> bool {
        let ends = |last: At| matches!(self.0.op(last), Some(Op::Exit(Exit::Break)));
        let head = self.loops(check).last();
        way.clone().last().is_some_and(ends)
            && head.is_some_and(|head| at > *head && !self.encloses(*head, at))
    }

    /// Whether a check lets one way come to a step, and the other one fails right there: `if (taken) throw …`.
    #[must_use]
    pub fn is_refused(self, check: At, at: At) -> bool {
        let Some(Op::Check { then, otherwise, .. }) = self.0.op(check) else { return false };
        let other = match self.answer(check, at) {
            Some(true) => otherwise,
            Some(false) => then,
            None => return false,
        };
        matches!(other.last(), Some(Effect { op: Op::Exit(Exit::Throw), .. }))
    }

    /// Whether a check asks for several things of which the later ones are only looked at where the first is so: `exists(p) && isFile(p)`.
    #[must_use]
    pub fn is_conjunction(self, check: At) -> bool {
        let Some(Op::Check { on, .. }) = self.0.op(check) else { return false };
        let is_first_half = |half: At| {
            let ends_here = self.0.steps.get(half).is_some_and(|step| step.until as usize == check);
            let asked = match self.0.op(half) {
                Some(Op::Check { on: first, .. }) => first.iter().all(|value| on.contains(value)),
                _ => false,
            };
            let looks = |branches: &Branches| !branches.then.is_empty() && branches.otherwise.is_empty();
            ends_here && asked && self.branches_of(half).is_some_and(looks)
        };
        on.len() > 1 && self.0.steps_of(Kinds::CHECK).take_while(|half| *half < check).any(is_first_half)
    }

    pub(in crate::view) fn branches_of(self, check: At) -> Option<&'v Branches> {
        let checks = self.0.kinds.is_one_of(check, Kinds::CHECK);
        let number = checks.then(|| self.0.steps.get(check)).flatten()?.number;
        self.0.branches.get(number as usize)
    }

    /// The steps of what is tried, where its failure is caught.
    #[must_use]
    pub fn tried(self, attempt: At) -> Option<&'v Range<At>> {
        let tries = self.0.kinds.is_one_of(attempt, Kinds::TRY);
        let step = tries.then(|| self.0.steps.get(attempt)).flatten()?;
        matches!(step.effect.op, Op::Try { catch: Some(_), .. })
            .then(|| self.0.attempts.get(step.number as usize))
            .flatten()
    }

    /// The attempt that catches a failure of a step, if one does.
    #[must_use]
    pub fn catcher(self, at: At) -> Option<At> {
        let around = |attempt: &At| self.tried(*attempt).is_some_and(|tried| tried.contains(&at));
        (0..at).rev().find(around)
    }

    /// Whether a check does nothing on a yes but wait.
    #[must_use]
    pub fn only_waits(self, check: At) -> bool {
        let Some(branches) = self.branches_of(check) else { return false };
        let waits = |at: At| matches!(self.0.op(at), Some(Op::Suspend));
        !branches.then.is_empty() && branches.then.clone().all(waits) && branches.otherwise.is_empty()
    }

    /// The loops around a step, outermost first.
    #[must_use]
    pub fn loops(self, at: At) -> &'v [At] {
        self.fact_list(|here| here.loops, at)
    }

    /// Whether a step only runs when something has failed.
    #[must_use]
    pub fn is_recovery(self, at: At) -> bool {
        self.flow_facts(at).is_some_and(|here| here.stretch.in_catch)
    }

    /// Whether a failure of the step is dealt with around it.
    #[must_use]
    pub fn is_caught(self, at: At) -> bool {
        self.flow_facts(at).is_some_and(|here| here.stretch.is_caught)
    }

    /// Whether a failure of the second of two steps is dealt with around it. What catches whatever goes wrong from the first one on, and
    /// asks nothing about it, only words it.
    #[must_use]
    pub fn is_dealt_with(self, first: At, second: At) -> bool {
        let asks = |attempt: At| match self.0.op(attempt) {
            Some(Op::Try { catch: Some(catch), .. }) => has_check(&catch.body),
            _ => false,
        };
        self.is_caught(second)
            && self.0.steps_of(Kinds::TRY).take_while(|attempt| *attempt < second).any(|attempt| {
                let tried = self.tried(attempt).filter(|tried| tried.contains(&second));
                tried.is_some_and(|tried| !tried.contains(&first) || asks(attempt))
            })
    }

    /// Whether what catches a failure of the step asks what has failed.
    #[must_use]
    pub fn asks_what_failed(self, at: At) -> bool {
        self.catcher(at).is_some_and(|attempt| match self.0.op(attempt) {
            Some(Op::Try { catch: Some(catch), .. }) => has_check(&catch.body),
            _ => false,
        })
    }

    /// Whether a step runs in every case.
    #[must_use]
    pub fn is_finally(self, at: At) -> bool {
        self.flow_facts(at).is_some_and(|here| here.stretch.in_finally)
    }

    /// The spawn that started the step beside the call, if one did.
    #[must_use]
    pub fn detached(self, at: At) -> Option<At> {
        self.flow_facts(at).and_then(|here| here.stretch.detached)
    }
}

fn has_check(block: &Block) -> bool {
    let asks = |op: &Op| matches!(op, Op::Check { on, .. } if !on.is_empty());
    block.iter().any(|effect| asks(&effect.op) || effect.op.blocks().any(has_check))
}
