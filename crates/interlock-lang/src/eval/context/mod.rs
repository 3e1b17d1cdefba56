//! What expressions are in one context: context-sensitive evaluation, on the same index, memo and fuel as everything else in
//! [`eval`](super).
//!
//! ```ts
//! function offer(name: string, work: Work) { server.registerTool(name, {}, work); }
//! offer("add", add);
//! offer("drop", drop);
//! ```
//!
//! For all callers together `name` is some text and `work` one of two functions. Which belongs to which is only known per caller, so a
//! question here is asked in a [`Context`]: a function and what is [assumed](env) of its parameters, of what a loop is at, or of the
//! class of `this`. What an assumption would decide is [`Unbound`]; `ways` makes the assumptions, one set per way to the function.
//! `look` follows expressions, `results` calls, `declared` types, `decorated` what decorators run; `facts` are what all of them look up.
//! Where nothing is assumed, answers are kept.

mod callers;
mod declared;
mod decorated;
mod env;
mod expression;
mod facts;
mod results;

pub(crate) use callers::Choice;
pub(crate) use env::{Assumed, Context, Env, Unbound};
pub(crate) use facts::Caller;
pub(crate) use results::split_method;

use std::cell::Cell;

use interlock_model::ir::{Function, Name};

use self::facts::Facts;
use super::{
    evaluator::{Evaluator, World},
    memo::{Answers, Fuel, Memo},
    value::AbstractValue,
};
use crate::link::names::Names;

/// How many collections may be filled from each other.
const FILLS: usize = 3;

/// Answers what things are, in contexts. On one thread, before calls are rewritten.
#[derive(Debug)]
pub(crate) struct Contexts<'f> {
    pub(crate) eval: Evaluator<'f, 'f>,
    pub(crate) functions: &'f [Function],
    /// What files offer each other.
    pub(crate) names: &'f Names,
    facts: Facts<'f>,
    values: Memo<'f, u32, AbstractValue<'f>>,
    results: Memo<'f, u32, AbstractValue<'f>>,
    overridden: Memo<'f, (usize, Name), bool>,
    /// How many collections are being filled from each other.
    fills: Cell<usize>,
}

/// What was answered where nothing was assumed.
#[derive(Debug, Default)]
pub(super) struct InContexts<'f> {
    values: Answers<u32, AbstractValue<'f>>,
    results: Answers<u32, AbstractValue<'f>>,
    overridden: Answers<(usize, Name), bool>,
}

impl<'f> Contexts<'f> {
    pub(crate) fn new(world: &'f World<'f>, functions: &'f [Function], names: &'f Names) -> Self {
        let InContexts { values, results, overridden } = &world.in_contexts;
        let mut contexts = Self {
            eval: Evaluator::with(world, Fuel::in_contexts(world.flat.sites.len())),
            functions,
            names,
            facts: Facts::of(world, functions),
            values: Memo::of(values),
            results: Memo::of(results),
            overridden: Memo::of(overridden),
            // Who calls whom is found without asking who calls: what fills a collection may depend on that, and waits.
            fills: Cell::new(FILLS),
        };
        contexts.find_callers();
        contexts.fills.set(0);
        contexts.values.forget();
        contexts.results.forget();
        contexts
    }

    /// Looks at what fills a collection, unless that is already being done too deep.
    fn filling<T: Default>(&self, look: impl FnOnce() -> T) -> T {
        let (nested, asking) = (self.fills.get(), &self.eval.asking);
        if nested >= FILLS {
            asking.cut();
            return T::default();
        }
        self.fills.set(nested + 1);
        let found = asking.anew(look);
        self.fills.set(nested);
        found
    }
}
