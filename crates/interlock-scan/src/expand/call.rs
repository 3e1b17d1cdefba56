//! A call: followed where its target is known and fits, else left as it is.

use std::sync::Arc;

use interlock_model::{
    Span,
    ir::{AccessPath, Argument, Block, Callee, Effect, Function, FunctionId, Op, Role, Start, Term, Value},
};

use super::{
    copy::{Form, Given},
    follow::Follower,
    later::SMALL,
    summary::Summary,
    work::{Fit, Work},
};

/// A call under expansion.
pub(super) struct Call<'c> {
    pub(super) span: Span,
    pub(super) receiver: Option<&'c AccessPath>,
    pub(super) arguments: &'c [Argument],
}

/// What a call reaches.
pub(super) struct Target<'p> {
    pub(super) id: FunctionId,
    pub(super) function: &'p Function,
    pub(super) summary: Arc<Summary<'p>>,
    pub(super) captures: Vec<Term>,
}

impl Call<'_> {
    fn mentioned(&self) -> Vec<Value> {
        self.arguments.iter().flat_map(Argument::mentioned).collect()
    }
}

impl<'p> Follower<'p, '_> {
    /// Follows a call; a step that is none stays what it is.
    pub(super) fn call(&mut self, span: Span, op: Op, work: &mut Work<'p>, out: &mut Block) {
        let op = work.values.spread(op);
        let Op::Call { into, callee, receiver, arguments, awaited } = &op else {
            return out.push(Effect { span, op });
        };
        let target = self.target(callee, work);
        let fitting = target.map(|target| (work.fit(target.id, &target.summary, self), target));
        let call = Call { span, receiver: receiver.as_ref(), arguments };
        let (fit, form, target) = match fitting {
            Some((fit @ (Fit::Whole | Fit::Lean), target)) => {
                let is_thinned = fit == Fit::Lean && work.is_thinned_by_lean_copy(&target.summary);
                let later = !is_thinned && !self.is_transient(target.id) && target.is_for_later(&call, work);
                if self.crowded && !later && target.summary.size > SMALL {
                    return self.unknown(span, op, work, out);
                }
                (fit, if later { Form::Later } else { Form::Copied }, target)
            }
            Some((fit, target)) => {
                if fit == Fit::TooLarge {
                    work.cut.insert(target.id);
                }
                let is_compact = work.is_second(target.id, fit)
                    && !self.crowded
                    && !self.is_transient(target.id)
                    && target.is_for_later(&call, work)
                    && target.summary.compact(self).is_some();
                if !is_compact {
                    return self.unknown(span, op, work, out);
                }
                (fit, Form::Compact, target)
            }
            None => return self.unknown(span, op, work, out),
        };
        let detached = target.function.asynchronous && !awaited;
        let mut inside = Block::new();
        let around = std::mem::replace(&mut work.lean, fit == Fit::Lean);
        let returned = self.copy(&target, &call, form, work, &mut inside);
        work.lean = around;
        if form != Form::Compact {
            work.note(target.id, &target.summary, detached);
        }
        let (from, term, members) = match returned {
            // A literal answer to something was chosen by what it was given.
            Some(Given { from, term, members }) if !from.is_empty() => (from, term, members),
            Some(Given { term, .. }) => (call.mentioned(), term, vec![]),
            None => (call.mentioned(), Term::Unknown, vec![]),
        };
        if !inside.is_empty() {
            let op = Op::Inlined { function: target.id, receiver: receiver.clone(), body: inside };
            let op =
                if detached { Op::Spawn { start: Start::Now, body: vec![Effect { span, op }] } } else { op };
            out.push(Effect { span, op });
        }
        if let Some(into) = *into {
            // A promise is not yet what it will lead to.
            let term = if detached { Term::Unknown } else { term };
            work.values.alias(into, &term);
            if !detached {
                work.values.given_back(into, members);
            }
            out.push(Effect { span, op: Op::Derive { into, from, term } });
        }
    }

    /// What a call reaches, as far as that is known and followed.
    fn target(&mut self, callee: &Callee, work: &Work<'p>) -> Option<Target<'p>> {
        let (id, captures) = match callee {
            Callee::Function(id) => (*id, vec![]),
            Callee::Closure { function, captures } => (*function, captures.clone()),
            Callee::Value(value) => work.values.function(*value).cloned()?,
            Callee::Named(_) | Callee::Pending(_) => return None,
        };
        let summary = self.summary(id)?;
        Some(Target { id, function: self.program.function(id)?, summary, captures })
    }

    /// A call that cannot be followed stays, and what it was handed may be called by it: in its course if it is waited for, else
    /// when something happens.
    fn unknown(&mut self, span: Span, op: Op, work: &mut Work<'p>, out: &mut Block) {
        if let Op::Call { callee: Callee::Value(value), arguments, .. } = &op
            && let Some(into) = work.values.made(*value)
        {
            // `resolve(row)`: what a promise that was made here leads to.
            let from: Vec<Value> = arguments.iter().flat_map(Argument::mentioned).collect();
            if !from.is_empty() {
                out.push(Effect { span, op: Op::Derive { into, from, term: Term::Unknown } });
            }
            return;
        }
        let (handed, awaited) = match &op {
            Op::Call { callee, arguments, awaited, .. } if !matches!(callee, Callee::Value(_)) => {
                let closures = arguments.iter().filter_map(|argument| match argument {
                    Argument::Closure { function, captures } => Some((*function, captures.clone())),
                    Argument::Term(_) => None,
                });
                (closures.collect(), *awaited)
            }
            _ => (vec![], false),
        };
        out.push(Effect { span, op });
        for (function, captures) in handed {
            // A handler is a way in of its own; handing it to the server is not yet a call.
            let is_handler = |target: &Function| matches!(target.role, Role::Handler(_));
            if self.program.function(function).is_none_or(is_handler) || self.summary(function).is_none() {
                continue;
            }
            let callee = Callee::Closure { function, captures };
            let call = Op::Call { into: None, callee, receiver: None, arguments: vec![], awaited: true };
            let mut body = Block::new();
            self.call(span, call, work, &mut body);
            if body.is_empty() {
                continue;
            }
            if awaited {
                out.extend(body);
            } else {
                out.push(Effect { span, op: Op::Spawn { start: Start::Event, body } });
            }
        }
    }
}
