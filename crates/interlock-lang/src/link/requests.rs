//! Requests that go through a function of the program's own: `send("PUT", "/notes/1", note)`, where `send` hands method and address to
//! a library.
//!
//! What such a function does depends on the method, and the method stands where it is called. A request that only asks is told before
//! the call, which is kept for whatever else the function does; one that puts something in place is told instead of it.

use interlock_model::ir::{AccessPath, Block, Body, Change, Effect, FunctionId, Op, Term, Value};

use super::{
    forward::{DEPTH, ForwardedCalls, Sought},
    rewrite::{Rewriter, Standing},
};
use crate::{
    eval::{Evaluator, Reached, library},
    val::merge,
};

/// How many calls in one helper are looked at for one that sends a request.
const MOST_SITES: usize = 200;

impl<'f> Rewriter<'_, 'f> {
    /// Writes the steps of a request that is made by a function; `false` if this is no such call.
    pub(super) fn request(
        &mut self,
        standing: &Standing<'f>,
        (function, receiver): (FunctionId, Option<&AccessPath>),
        out: &mut Block,
    ) -> bool {
        if !self.eval.sends_request(function, DEPTH) {
            return false;
        }
        let mut found = ForwardedCalls::nothing(Sought::Request);
        self.eval.forwarded(&self.helper(standing, function, receiver), DEPTH, &mut found);
        let mut open = found.calls.is_empty();
        let requests = found.calls.iter().filter_map(|call| {
            let (mut steps, outcome) = self.forward(standing, call)?;
            open |= outcome.open_request;
            let at = steps.iter().position(|step| matches!(step.op, Op::External { .. }))?;
            let settled = !outcome.open_request;
            match steps.swap_remove(at).op {
                Op::External { service, change, idempotency, over, .. } => {
                    Some((service, change, idempotency, over, settled))
                }
                _ => None,
            }
        });
        let known = |request: &(Term, Change, Option<Term>, Option<AccessPath>, bool)| match request.1 {
            Change::None => request.0 != Term::Unknown,
            // What is chosen inside of the function by what it is handed is known once its steps are put in here.
            Change::Settled => is_known(&request.0),
            // What is sent to one of many changes that one, whatever the method is called.
            Change::Unknown => request.4 && is_known(&request.0) && names_one(&request.0),
            Change::Effect => false,
        };
        let requests: Vec<_> = requests.collect();
        if !open {
            self.eval.settled_requests.borrow_mut().push(standing.span);
        }
        let Some((service, change, idempotency, over, _)) = requests.into_iter().find(known) else {
            return false;
        };
        match (change, standing.into) {
            (Change::Settled | Change::Unknown, into) => {
                // Whatever the function is handed may be a part of what it sends.
                let mut from: Vec<Value> = vec![];
                standing.site.arguments.iter().for_each(|arg| merge(&mut from, &arg.values));
                let op = Op::External { into, service, change, from, idempotency, over };
                out.push(Effect { span: standing.span, op });
                true
            }
            (_, Some(into)) => {
                let answer = self.declare("answer");
                let result = self.declare("result");
                let (from, asked) = (vec![], Some(answer));
                let op = Op::External { into: asked, service, change, from, idempotency, over };
                out.push(Effect { span: standing.span, op });
                let kept =
                    Standing { into: Some(result), arguments: standing.arguments.clone(), ..*standing };
                self.call_function(&kept, function, receiver.cloned(), out);
                let op = Op::Derive { into, from: vec![result, answer], term: result.into() };
                out.push(Effect { span: standing.span, op });
                self.keep_declared(standing, out);
                true
            }
            (_, None) => false,
        }
    }
}

/// Whether an address ends with which one of many it is.
fn names_one(term: &Term) -> bool {
    matches!(term, Term::Join(parts) if matches!(parts.last(), Some(Term::Path(_))))
}

/// Whether all parts of a name are known.
fn is_known(term: &Term) -> bool {
    match term {
        Term::Unknown => false,
        Term::Join(parts) => parts.iter().all(is_known),
        Term::Parent(inner) => is_known(inner),
        _ => true,
    }
}

impl<'f> Evaluator<'_, 'f> {
    /// Whether a function makes requests whose method it is handed, itself or through functions that it calls.
    pub(super) fn sends_request(&self, function: FunctionId, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let known = self.senders.borrow().get(&(function, depth)).copied();
        known.unwrap_or_else(|| {
            let sends = self.finds_request(function, depth);
            self.senders.borrow_mut().insert((function, depth), sends);
            sends
        })
    }

    fn finds_request(&self, function: FunctionId, depth: usize) -> bool {
        let inside = self.inside.get_or_init(|| self.sites_inside()).of(function);
        inside.iter().take(MOST_SITES).any(|number| {
            let Some(site) = self.flat.sites.get(*number as usize) else { return false };
            let known = site.function.map(|function| Reached::Function(FunctionId(function), None));
            match known.unwrap_or_else(|| self.reached(site)) {
                Reached::Function(function, _) => self.sends_request(function, depth),
                Reached::Method(..) | Reached::Export(..) => self.is_open_request(*number),
                _ => false,
            }
        })
    }

    /// Whether a call of a library sends a request of which it is not known where it stands what it does.
    pub(super) fn is_open_request(&self, number: u32) -> bool {
        let Some(site) = self.flat.sites.get(number as usize) else { return false };
        let (mut values, at) = (vec![], self.index.calls.get(number as usize).copied().unwrap_or_default());
        let mut body = Body::over(&mut values, site.span);
        let Some(outcome) = library::apply(self, number, &self.reached(site), at, &mut body) else {
            return false;
        };
        let open = |step: &Effect| matches!(step.op, Op::External { change: Change::Unknown, .. });
        outcome.open_request || body.finish().iter().any(open)
    }
}
