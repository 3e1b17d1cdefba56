//! Timers, events and sleeps.

use interlock_model::ir::{Backoff, Op, Start};
use oxc_ast::ast::{Argument, ArrowFunctionBody, CallExpression, Expression, Statement};

use super::{
    bind::meaning_of,
    calls::Use,
    context::{Lowerer, flag},
    val::Val,
};
use crate::Shape;

impl<'a> Lowerer<'a> {
    pub(super) fn timer_call(&mut self, call: &CallExpression<'a>, wanted: Use) -> Option<Val> {
        let name = match &call.callee {
            Expression::Identifier(id) => id.name.as_str(),
            Expression::StaticMemberExpression(member) => member.property.name.as_str(),
            Expression::PrivateFieldExpression(member) => member.field.name.as_str(),
            _ => return None,
        };
        let first = call.arguments.first().and_then(Argument::as_expression)?;
        match name {
            "setTimeout" | "setInterval" | "setImmediate" | "queueMicrotask" | "nextTick"
                if is_callable(first)
                    && self.is_platform(call)
                    && !(wanted.waits() && self.is_from_package(&call.callee)) =>
            {
                self.timer(name, first, call);
                Some(Val::nothing())
            }
            name if lets_time_pass(name)
                && wanted.waits()
                && call.arguments.len() <= 3
                && !is_callable_now(first) =>
            {
                self.pause(call)
            }
            // These keep the thread, so nobody else runs meanwhile.
            "sleepSync" => Some(self.rest(call)),
            "wait" if is_atomics(&call.callee) => Some(self.rest(call)),
            "on" | "once" | "addListener" | "addEventListener" | "prependListener" => self.listener(call),
            _ => None,
        }
    }

    /// `setTimeout(…)` itself, `global.setTimeout(…)`, or one that is imported from `timers`.
    fn is_platform(&self, call: &CallExpression<'a>) -> bool {
        match &call.callee {
            Expression::Identifier(id) => {
                meaning_of(&id.reference_id).is_none() || self.is_from_package(&call.callee)
            }
            Expression::StaticMemberExpression(member) => match &member.object {
                Expression::Identifier(id) => {
                    meaning_of(&id.reference_id).is_none() || self.is_from_package(&call.callee)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn timer(&mut self, name: &str, callback: &Expression<'a>, call: &CallExpression<'a>) {
        let delay = call.arguments.get(1).map(|delay| self.spread_or_expression(delay));
        self.stand(call.span);
        if name == "setTimeout" && self.only_settles(callback) {
            let flags = delay.map_or(0, |delay| delay.flags);
            // How long a helper waits is for its callers to say: of a bare parameter nothing is known, so it is not held against them.
            // What was worked out around the promise is known as far as it changes from turn to turn.
            let changes = flag::COUNTER | flag::GROWS | flag::CHANCE;
            let handed = flags & changes == 0
                && match call.arguments.get(1).and_then(Argument::as_expression) {
                    Some(Expression::Identifier(id)) => self.is_local(meaning_of(&id.reference_id)),
                    _ => false,
                };
            let flags = flags | if handed { flag::GROWS | flag::CHANCE } else { 0 };
            return self.push(sleep(flags));
        }
        let at = self.at;
        let (body, _) = self.branch(|this| this.call_back(callback, vec![], Use::Awaited));
        let start = match name {
            "setTimeout" | "setInterval" => Start::Timer,
            _ => Start::Now,
        };
        self.push_at(at, Op::Spawn { start, body });
    }

    /// `resolve`, or `() => resolve(…)`.
    fn only_settles(&self, callback: &Expression<'a>) -> bool {
        if self.is_settler(callback) {
            return true;
        }
        let Expression::ArrowFunctionExpression(arrow) = callback else { return false };
        let inner = match &arrow.body {
            ArrowFunctionBody::FunctionBody(body) => match body.statements.as_slice() {
                [Statement::ExpressionStatement(only)] => &only.expression,
                _ => return false,
            },
            other => match other.as_expression() {
                Some(expression) => expression,
                None => return false,
            },
        };
        matches!(inner, Expression::CallExpression(call) if self.is_settler(&call.callee))
    }

    /// A helper that only sleeps. The delay is written where it is called, so that is where it is judged.
    fn pause(&mut self, call: &CallExpression<'a>) -> Option<Val> {
        match &call.callee {
            // A parameter or a local result may be anything.
            Expression::Identifier(id) => {
                if self.is_local(meaning_of(&id.reference_id)) {
                    return None;
                }
            }
            // `this.sleep(…)` of a class, `scheduler.wait(…)` and `Bun.sleep(…)` of the platform, `time.sleep(…)` of a module.
            Expression::StaticMemberExpression(member) => match &member.object {
                Expression::ThisExpression(_) => {}
                object if self.whole_module(object).is_some() => {}
                Expression::Identifier(id) if matches!(id.name.as_str(), "scheduler" | "Bun") => {}
                _ => return None,
            },
            // Somebody may wait for anything.
            Expression::PrivateFieldExpression(member) if member.field.name != "wait" => {}
            _ => return None,
        }
        Some(self.rest(call))
    }

    /// Whether a name stands for a parameter or a local result.
    fn is_local(&self, symbol: Option<u32>) -> bool {
        symbol.is_some_and(|symbol| {
            let global = self.facts.symbol(symbol).is_some_and(|known| known.global);
            !global && self.facts.held(symbol).is_none()
        })
    }

    /// A call that does nothing but let time pass.
    fn rest(&mut self, call: &CallExpression<'a>) -> Val {
        let mut flags = 0;
        for argument in &call.arguments {
            let val = self.spread_or_expression(argument);
            if matches!(val.shape, Shape::Object(_) | Shape::List(_) | Shape::Function { .. }) {
                continue;
            }
            flags |= val.flags;
        }
        self.stand(call.span);
        self.push(sleep(flags));
        Val::nothing()
    }

    /// `emitter.on("event", callback)`: the callback runs whenever the event comes.
    fn listener(&mut self, call: &CallExpression<'a>) -> Option<Val> {
        let [event, callback] = call.arguments.as_slice() else { return None };
        let (event, callback) = (event.as_expression()?, callback.as_expression()?);
        if !event.is_string_literal() || !is_callable(callback) {
            return None;
        }
        let target = self.place(&call.callee);
        let event = self.expression(event).into_arg();
        let handler = match callback.get_inner_expression() {
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                self.function_expression(callback, None)
            }
            Expression::Identifier(id) => self.identifier_place(id),
            other => self.place(other),
        };
        self.stand(call.span);
        let function = match &handler.shape {
            Shape::Function { function, .. } => Some(function.0),
            _ => None,
        };
        self.site(target.path_ref().cloned(), false, vec![event, handler.clone().into_arg()], function);
        let at = self.at;
        let (body, _) = self.branch(|this| this.invoke(handler, vec![], false, Use::Awaited));
        self.push_at(at, Op::Spawn { start: Start::Event, body });
        Some(target)
    }
}

/// Whether a function is called after letting time pass: `sleep`, `_delay`, `sleepMs`.
fn lets_time_pass(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    let name = ["Ms", "Async"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    matches!(name, "sleep" | "delay" | "wait" | "pause" | "setTimeout")
}

pub(super) fn sleep(flags: u8) -> Op {
    let backoff = if flags & (flag::GROWS | flag::COUNTER) == 0 { Backoff::Fixed } else { Backoff::Growing };
    Op::Sleep { backoff, jitter: flags & flag::CHANCE != 0 }
}

/// `Date.now() < end`, `performance.now() - start < pause`.
pub(super) fn asks_the_clock(test: &Expression<'_>) -> bool {
    match test.get_inner_expression() {
        Expression::BinaryExpression(it) => asks_the_clock(&it.left) || asks_the_clock(&it.right),
        Expression::CallExpression(call) => match &call.callee {
            Expression::StaticMemberExpression(member) => {
                member.property.name == "now"
                    && matches!(&member.object, Expression::Identifier(id) if matches!(id.name.as_str(), "Date" | "performance"))
            }
            _ => false,
        },
        _ => false,
    }
}

/// `Atomics.wait(…)`.
fn is_atomics(callee: &Expression<'_>) -> bool {
    match callee {
        Expression::StaticMemberExpression(member) => {
            matches!(&member.object, Expression::Identifier(id) if id.name == "Atomics")
        }
        _ => false,
    }
}

/// Whether an expression can be a function.
fn is_callable(expression: &Expression<'_>) -> bool {
    matches!(
        expression.get_inner_expression(),
        Expression::ArrowFunctionExpression(_)
            | Expression::FunctionExpression(_)
            | Expression::Identifier(_)
            | Expression::StaticMemberExpression(_)
            | Expression::CallExpression(_)
    )
}

/// Whether it is one that is written right here.
fn is_callable_now(expression: &Expression<'_>) -> bool {
    matches!(
        expression.get_inner_expression(),
        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
    )
}
