//! A call: followed where its target is known and fits, else left as it is.

use interlock_model::{
    Span,
    ir::{AccessPath, Argument, Block, Callee, Effect, Op, Role, Start, Term, Value},
};

use super::{
    follow::Follower,
    work::{Fit, Work},
};

/// A call under expansion.
pub(super) struct Call<'c> {
    pub(super) span: Span,
    pub(super) into: Option<Value>,
    pub(super) receiver: Option<&'c AccessPath>,
    pub(super) arguments: &'c [Argument],
    pub(super) awaited: bool,
}

impl Call<'_> {
    fn mentioned(&self) -> Vec<Value> {
        let terms = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Term(term) => Some(term),
            Argument::Closure { .. } => None,
        });
        terms.flat_map(Term::mentioned).collect()
    }
}

impl<'p> Follower<'p, '_> {
    pub(super) fn call(&mut self, callee: &Callee, call: &Call<'_>, work: &mut Work<'p>, out: &mut Block) {
        let (function, captures) = match callee {
            Callee::Function(id) => (*id, vec![]),
            Callee::Closure { function, captures } => (*function, captures.clone()),
            Callee::Value(value) => match work.values.function(*value) {
                Some((function, captures)) => (*function, captures.clone()),
                None => return self.unknown(callee, call, work, out),
            },
            Callee::Named(_) | Callee::Pending(_) => return self.unknown(callee, call, work, out),
        };
        let (Some(summary), Some(target)) = (self.summary(function), self.program.function(function)) else {
            return self.unknown(callee, call, work, out);
        };
        let fit = work.fit(function, &summary);
        if fit == Fit::Not {
            return self.unknown(callee, call, work, out);
        }
        let detached = target.asynchronous && !call.awaited;
        let mut inside = Block::new();
        let around = std::mem::replace(&mut work.lean, fit == Fit::Lean);
        let returned = self.copy(target, &summary, &captures, call, work, &mut inside);
        work.lean = around;
        work.note(function, &summary);
        let (from, term) = match returned {
            // A literal answer to something was chosen by what it was given.
            Some((from, term)) if !from.is_empty() => (from, term),
            Some((_, term)) => (call.mentioned(), term),
            None => (call.mentioned(), Term::Unknown),
        };
        if !inside.is_empty() {
            let op = Op::Inlined { function, body: inside };
            let op = if detached {
                Op::Spawn { start: Start::Now, body: vec![Effect { span: call.span, op }] }
            } else {
                op
            };
            out.push(Effect { span: call.span, op });
        }
        if let Some(into) = call.into {
            // A promise is not yet what it will lead to.
            let term = if detached { Term::Unknown } else { term };
            work.values.alias(into, &term);
            out.push(Effect { span: call.span, op: Op::Derive { into, from, term } });
        }
    }

    /// A call that cannot be followed stays, and what it was handed may be called by it: in its course if it is waited for, else
    /// when something happens.
    fn unknown(&mut self, callee: &Callee, call: &Call<'_>, work: &mut Work<'p>, out: &mut Block) {
        let op = Op::Call {
            into: call.into,
            callee: callee.clone(),
            receiver: call.receiver.cloned(),
            arguments: call.arguments.to_vec(),
            awaited: call.awaited,
        };
        out.push(Effect { span: call.span, op });
        if matches!(callee, Callee::Value(_)) {
            return;
        }
        for argument in call.arguments {
            let Argument::Closure { function, captures } = argument else { continue };
            // A handler is a way in of its own; handing it to the server is not yet a call.
            if self.program.function(*function).is_some_and(|target| matches!(target.role, Role::Handler(_)))
            {
                continue;
            }
            let callee = Callee::Closure { function: *function, captures: captures.clone() };
            let handed = Call { span: call.span, into: None, receiver: None, arguments: &[], awaited: true };
            let mut body = Block::new();
            if self.program.function(*function).is_some() && self.summary(*function).is_some() {
                self.call(&callee, &handed, work, &mut body);
            }
            if body.is_empty() {
                continue;
            }
            if call.awaited {
                out.extend(body);
            } else {
                out.push(Effect { span: call.span, op: Op::Spawn { start: Start::Event, body } });
            }
        }
    }
}
