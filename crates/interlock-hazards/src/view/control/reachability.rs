//! Reachability: which steps control can get to from which, and whether it can be suspended on the way.

use std::ops::Range;

use interlock_model::ir::Op;

use crate::view::{
    At, Control, Escape,
    control::{
        edges::Next,
        reachable::{Ahead, Bits, Search},
    },
};

impl<'v, 'e> Control<'v, 'e> {
    /// Whether control can get from one step to a later one, and if so whether it can be suspended on the way. A way that comes by
    /// the first step again starts over there, so it does not count. Neither does one that leaves a loop around the first step and
    /// comes to it anew: what `list.filter(…)` saw in the last round of an outer loop is gone, even if this time the list is empty.
    /// The same goes for one half of a condition: `limit && map.size >= limit` is asked anew as a whole.
    #[must_use]
    pub fn leads_to(self, first: At, second: At) -> Option<bool> {
        // Control only goes back to the head of a loop around it.
        let back = self.loops(first).first().map_or(first, |head| first.min(*head));
        if second < back {
            return None;
        }
        match self.turn(first, second) {
            Some(turn) => self.reached_from(first, Some(&turn)).get(second),
            None => self.0.ahead.of(first, || self.reached_from(first, None)).get(second),
        }
    }

    /// The steps of the innermost inlined call that has both of two steps inside, if it stands in a loop. The next turn calls anew,
    /// and what the last call saw is gone by then.
    fn turn(self, first: At, second: At) -> Option<Range<At>> {
        let head = *self.loops(first).first()?;
        let mut number = self.flow_facts(first)?.frame;
        while number != 0 {
            let frame = self.0.frames.get(number)?;
            let inside = frame.at..self.0.steps.get(frame.at)?.until as usize;
            if inside.contains(&second) {
                return (head < frame.at).then_some(inside);
            }
            number = frame.parent;
        }
        None
    }

    /// What control gets to from a step, without leaving some steps.
    fn reached_from(self, first: At, inside: Option<&Range<At>>) -> Ahead {
        let mut search = Search::new(self.0.steps.len());
        let heads = self.loops(first);
        let starts_over = |from: At, to: At| {
            heads.contains(&to)
                && (from < to || self.0.steps.get(to).is_some_and(|head| from >= head.until as usize))
        };
        let asked_with = self.asked_with(first);
        self.after(first).for_each(|next| search.reach(next, self.lets_others_in(first)));
        while let Some((at, suspended)) = search.go_on() {
            if at == first || asked_with == Some(at) {
                continue;
            }
            let suspended = suspended || self.lets_others_in(at);
            for next in self.after(at) {
                let leaves = inside.is_some_and(|inside| !inside.contains(&next));
                if !leaves && (heads.is_empty() || !starts_over(at, next)) {
                    search.reach(next, suspended);
                }
            }
        }
        search.finish()
    }

    /// The first half of the condition whose second half a read is, and for which alone it was made: `limit` of
    /// `limit && map.size >= limit`.
    fn asked_with(self, read: At) -> Option<At> {
        let Some(Op::Read { into, .. }) = self.0.op(read) else { return None };
        let half = *self.control_dependences(read).last()?;
        let whole = self.0.steps.get(half)?.until as usize;
        match (self.0.op(half), self.0.op(whole)) {
            (Some(Op::Check { .. }), Some(Op::Check { on, .. })) if on.contains(into) => Some(half),
            _ => None,
        }
    }

    /// Whether control can leave the entry after a step without coming by any of some others: with success or with a failure.
    #[must_use]
    pub fn escapes(self, from: At, past: impl Fn(At) -> bool) -> Option<Escape> {
        let mut seen = vec![false; self.0.steps.len()];
        let mut pending: Vec<At> = vec![];
        let mut escape = None;
        // The step itself may fail before it has taken effect; only what comes behind it counts.
        let mut visit = |at: At, pending: &mut Vec<At>, first: bool| {
            for next in self.next(at) {
                match next {
                    Next::Step(next) => pending.push(next),
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

    /// Whether another call of the same process may run at a step.
    #[must_use]
    pub fn lets_others_in(self, at: At) -> bool {
        self.0.pauses.has(at)
    }

    /// Whether control gets from one step to a later one, however.
    #[must_use]
    pub fn comes_before(self, first: At, second: At) -> bool {
        self.comes_without(first, second, &[])
    }

    /// Whether control gets from one step to another before any loop around both begins another turn: what one turn does for its
    /// thing is no part of what the next does for another.
    #[must_use]
    pub fn comes_in_one_turn(self, first: At, second: At) -> bool {
        let heads = self.loops(first).iter().copied();
        let around: Vec<At> = heads.filter(|head| self.encloses(*head, second)).collect();
        self.comes_without(first, second, &around)
    }

    /// Whether control gets from one step to a later one without going on from any of some others.
    fn comes_without(self, first: At, second: At, others: &[At]) -> bool {
        let between = self.between(first, second);
        let mut seen = Bits::new(self.0.steps.len());
        let mut pending: Vec<At> = self.after(first).collect();
        while let Some(at) = pending.pop() {
            if at == second {
                return true;
            }
            if !others.contains(&at) && between.contains(&at) && seen.add(at) {
                pending.extend(self.after(at));
            }
        }
        false
    }

    /// Whether there is anything on the way from one step to another at which others could run. Asked before the ways are followed.
    #[must_use]
    pub fn may_be_suspended(self, first: At, second: At) -> bool {
        self.0.pauses.any_in(self.between(first, second))
    }

    /// The steps that a way from one step to another can come by. Control only goes back to the heads of loops: before the first step
    /// to that of a loop around it, and behind the second only inside a loop around that.
    fn between(self, first: At, second: At) -> Range<At> {
        let start = self.loops(first).first().map_or(first, |head| first.min(*head));
        let until = |at: At| self.0.steps.get(at).map_or(at, |step| step.until as usize);
        let end = self.loops(second).first().map_or(0, |head| until(*head));
        start..end.max(until(second)).max(second + 1)
    }
}
