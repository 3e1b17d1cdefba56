//! Locks that a program builds itself out of promises, recognised by their shape.
//!
//! A function is looked through ([`scan`]) before it is lowered. Where its moves add up to a lock, the moves themselves are left out,
//! and the lock is acquired and released instead, so that rules see what a library's lock would look like. What the lock is worth
//! goes into [`HandMade`].

mod file;
mod forms;
mod judge;
mod places;
mod scan;

use interlock_model::ir::{Catch, Effect, Hold, Lock, LockKind, Op, Term};
use oxc_ast::ast::{CallExpression, Expression, FunctionBody, Statement};
use oxc_span::{GetSpan, Span};

use self::places::{argument, method, place};
pub(super) use self::{
    file::has_lock_files,
    places::{Place, Slot},
};
use super::{bind::meaning_of, calls::Use, context::Lowerer, cx::Head, val::Val};
use crate::{Arg, Shape};

/// What is done instead of what is written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Statements that only build the lock.
    skipped: Vec<Span>,
    /// Statements that wait for the lock.
    acquired: Vec<(Span, Slot)>,
    /// Statements that give it back.
    released: Vec<(Span, Slot)>,
    /// Calls of `then` whose callback runs under the lock.
    chains: Vec<(Span, Slot)>,
    /// A lock file that is held from one statement on, by the statement that makes it.
    files: Vec<file::LockFile>,
}

impl Plan {
    fn is_empty(&self) -> bool {
        self.skipped.is_empty()
            && self.acquired.is_empty()
            && self.released.is_empty()
            && self.chains.is_empty()
            && self.files.is_empty()
    }
}

/// Something that gives a lock back when it is called.
#[derive(Debug)]
pub(super) struct Releaser {
    symbol: u32,
    /// `None` for one whose lock is given back elsewhere.
    slot: Option<Slot>,
}

impl<'a> Lowerer<'a> {
    /// Looks for a lock in a function that is about to be lowered.
    pub(super) fn plan(&mut self, body: &FunctionBody<'a>) {
        let seen = self.look_through(body);
        let mut plan = self.judge_lock(&seen);
        plan.files = self.lock_files(&body.statements);
        self.cx.plan = (!plan.is_empty()).then(|| Box::new(plan));
    }

    fn lock(&mut self, slot: &Slot) -> Lock {
        let lock = self.lock_of(slot);
        let semaphore = self.semaphores.contains(&slot.place);
        Lock { kind: if semaphore { LockKind::Semaphore } else { LockKind::Mutex }, ..lock }
    }

    fn acquire(&mut self, slot: &Slot) {
        let lock = self.lock(slot);
        self.push(Op::Suspend);
        self.push(Op::Acquire { lock, hold: Hold::Exclusive, outcome: None });
    }

    fn release(&mut self, slot: &Slot) {
        let lock = self.lock(slot);
        self.push(Op::Release { lock });
    }

    /// Lowers a statement that is part of a lock. Says whether it was one.
    pub(super) fn planned_statement(&mut self, statement: &Statement<'a>) -> bool {
        if self.cx.plan.is_none() && self.lock_maps.is_empty() {
            return false;
        }
        let span = statement.span();
        self.lock_file_held(span);
        let find =
            |list: &[(Span, Slot)]| list.iter().find(|(at, _)| *at == span).map(|(_, slot)| slot.clone());
        let plan = self.cx.plan.as_deref();
        let (acquired, released, skipped) = match plan {
            Some(plan) => {
                let holds_chain = plan.chains.iter().any(|(chain, _)| span.contains_inclusive(*chain));
                let skipped = plan.skipped.contains(&span) && !holds_chain;
                (find(&plan.acquired), find(&plan.released), skipped)
            }
            None => (None, None, false),
        };
        if let Some(slot) = acquired {
            self.stand(span);
            self.acquire(&slot);
            return true;
        }
        if let Some(slot) = released {
            self.stand(span);
            self.release(&slot);
            return true;
        }
        if skipped || self.cleans_up(statement) {
            // It is lowered for the functions in it, and left out.
            self.nested(|this| this.plain_statement(statement));
            return true;
        }
        false
    }

    /// `if (tails.get(key) === tail) tails.delete(key)`, of a map of locks.
    fn cleans_up(&self, statement: &Statement<'a>) -> bool {
        if self.lock_maps.is_empty() {
            return false;
        }
        let is_map =
            |object: &Expression<'a>| place(object).is_some_and(|place| self.lock_maps.contains(&place));
        match statement {
            Statement::ExpressionStatement(it) => {
                matches!(method(&it.expression), Some((object, "delete", _)) if is_map(object))
            }
            Statement::IfStatement(it) => {
                it.alternate.is_none()
                    && match &it.consequent {
                        Statement::BlockStatement(block) => {
                            !block.body.is_empty() && block.body.iter().all(|inner| self.cleans_up(inner))
                        }
                        other => self.cleans_up(other),
                    }
            }
            _ => false,
        }
    }

    /// Lowers a call that is part of a lock: the chain under it, or what gives it back.
    pub(super) fn planned_call(&mut self, call: &CallExpression<'a>) -> Option<Val> {
        if let Some(plan) = self.cx.plan.as_deref() {
            let slot = plan.chains.iter().find(|(span, _)| *span == call.span).map(|(_, slot)| slot.clone());
            if let Some(slot) = slot {
                return Some(self.under(&slot, call));
            }
            // `tails.set(key, …)` with the chain in it: the map is part of the lock.
            if let Expression::StaticMemberExpression(member) = &call.callee {
                let chains = &plan.chains;
                let value = argument(call, 1).filter(|value| {
                    member.property.name == "set"
                        && chains.iter().any(|(span, _)| value.span().contains_inclusive(*span))
                });
                if let Some(value) = value {
                    return Some(self.expression_for(value, Use::Returned));
                }
            }
        }
        if let Some(val) = self.queued_job(call) {
            return Some(val);
        }
        if let Expression::Identifier(id) = &call.callee {
            let symbol = meaning_of(&id.reference_id)?;
            let slot = self.releasers.iter().find(|it| it.symbol == symbol)?.slot.clone();
            self.stand(call.span);
            if let Some(slot) = slot {
                self.release(&slot);
            }
            return Some(Val::nothing());
        }
        None
    }

    /// `new Promise((resolve) => { queue.push(async () => resolve(await job())); drain(); })`: the job runs when those before it are
    /// done.
    fn queued_job(&mut self, call: &CallExpression<'a>) -> Option<Val> {
        let Expression::StaticMemberExpression(member) = &call.callee else { return None };
        if member.property.name != "push" || call.arguments.len() != 1 || !self.cx.settles {
            return None;
        }
        let job = argument(call, 0)?;
        let Expression::ArrowFunctionExpression(arrow) = job.get_inner_expression() else { return None };
        let queue = place(&member.object).filter(|_| arrow.r#async)?;
        let name = match queue.fields.last() {
            Some(field) => field.to_string(),
            None => self.facts.symbol(queue.root?)?.name.to_string(),
        };
        if !self.text.contains(&format!("{name}.shift()")) {
            return None;
        }
        let slot = Slot { place: queue, key: None };
        self.queue_is_a_lock(&slot, call.span);
        Some(self.under(&slot, call))
    }

    /// Whether what is assigned is a chain that the lock stands for.
    pub(super) fn is_planned(&self, right: &Expression<'a>) -> bool {
        let span = right.span();
        self.cx
            .plan
            .as_deref()
            .is_some_and(|plan| plan.chains.iter().any(|(chain, _)| span.contains_inclusive(*chain)))
    }

    /// The callback of a chain, run while the lock is held.
    fn under(&mut self, slot: &Slot, call: &CallExpression<'a>) -> Val {
        self.stand(call.span);
        let at = self.at;
        self.acquire(slot);
        let Some(callback) = argument(call, 0) else { return Val::nothing() };
        self.cx.tries += 1;
        let (body, val) = self.nested(|this| {
            let val = this.call_back(callback, vec![Arg::opaque(Term::Unknown, vec![])], Use::Awaited);
            this.push(Op::Suspend);
            val
        });
        self.cx.tries -= 1;
        let lock = self.lock(slot);
        let finally = vec![Effect { span: at, op: Op::Release { lock } }];
        self.push_at(at, Op::Try { body, catch: None::<Catch>, finally });
        Val { direct: None, ..val }
    }

    /// `return release`: a function that gives the lock back.
    pub(super) fn planned_return(&mut self, argument: Option<&Expression<'a>>) -> Option<Val> {
        let Some(Expression::Identifier(id)) = argument.map(Expression::get_inner_expression) else {
            return None;
        };
        let symbol = meaning_of(&id.reference_id)?;
        let slot = self.releasers.iter().find(|it| it.symbol == symbol)?.slot.clone()?;
        Some(self.release_function(&slot))
    }

    /// A function that does nothing but give a lock back.
    fn release_function(&mut self, slot: &Slot) -> Val {
        let function = u32::try_from(self.done.len()).unwrap_or(u32::MAX);
        let mut captured: Vec<u32> = vec![];
        let places = [Some(&slot.place), slot.key.as_ref().and_then(places::Key::place)];
        for symbol in places.into_iter().flatten().filter_map(|place| place.root) {
            let global = self.facts.symbol(symbol).is_none_or(|found| found.global);
            if !global && !captured.contains(&symbol) {
                captured.push(symbol);
            }
        }
        let name = self.names.joined(&[&self.cx.name, ".release"]);
        let (owner, this) = (self.cx.owner.clone(), self.cx.this.clone());
        let mut cx = self.open(function, name, owner, this);
        cx.made = Some(captured.clone());
        let parent = Some(self.cx.id);
        let outer = std::mem::replace(&mut self.cx, cx);
        let values = captured.iter().map(|symbol| self.capture(*symbol)).collect();
        self.release(slot);
        let head = Head { span: self.at, captures: values, parent, ..Head::default() };
        self.done.push(None);
        self.finish(head, outer);
        let captures = captured.into_iter().map(|symbol| self.capture_term(symbol)).collect();
        Val { shape: Shape::Function { function: Self::function_id(function), captures }, ..Val::nothing() }
    }

    /// Functions inside this one that call a releaser need what names the lock as well.
    fn hand_lock_on(&mut self, symbol: u32, slot: &Slot) {
        let places = [Some(&slot.place), slot.key.as_ref().and_then(places::Key::place)];
        let wanted: Vec<u32> = places
            .into_iter()
            .flatten()
            .filter_map(|place| place.root)
            .filter(|root| self.facts.symbol(*root).is_some_and(|found| !found.global))
            .collect();
        let here = self.cx.id;
        for facts in &mut self.facts.functions {
            if !facts.captures.contains(&symbol) {
                continue;
            }
            for root in &wanted {
                // What the function declares itself it has already.
                if facts.parent.is_some_and(|parent| parent >= here) && !facts.captures.contains(root) {
                    facts.captures.push(*root);
                }
            }
        }
    }

    /// A function that does nothing but take a lock, or give it back.
    pub(super) fn whole_lock(&mut self, body: &FunctionBody<'a>, slot: &Slot, takes: bool) {
        // What is inside is lowered for the functions in it, and left out.
        let (_, ()) = self.nested(|this| this.statements(&body.statements));
        self.stand(body.span);
        if takes { self.acquire(slot) } else { self.release(slot) }
    }
}
