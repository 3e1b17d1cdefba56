//! Callers of callbacks: the arguments of a callback are those with which the receiving function calls its parameter.
//!
//! ```python
//! def with_service(name):
//!     def decorator(tool):
//!         async def wrapper(*args):
//!             return await tool(open_service(name), *args)     # a caller of `send`
//!         return wrapper
//!     return decorator
//!
//! @with_service("mail")
//! async def send(service, to): ...
//! ```
//!
//! This goes by names and by what closures take along, before anything else is known. What a library hands to its callbacks is in its table.

use interlock_model::ir::{AccessPath, Function, FunctionId, Root, Term, Value};
use rustc_hash::FxHashMap;

use super::{
    index::{Definition, Index, REMEMBERED},
    key::place,
};
use crate::{Shape, link::flat::Flat, module::Site};

impl<'f> Index<'f> {
    /// Remembers as callers of a function those calls by which a function of the tree calls back what it is handed: `with_service(tool)`,
    /// where `with_service` gives back a closure that calls it with a service.
    pub(super) fn calls_back(&mut self, flat: &'f Flat, functions: &[Function]) {
        let mut found: Vec<(FunctionId, u32)> = vec![];
        let mut calls_of: FxHashMap<(u32, Value), Vec<u32>> = FxHashMap::default();
        for (number, site) in (0_u32..).zip(&flat.sites) {
            if let Some(AccessPath { root: Root::Value(value), fields }) = &site.callee
                && fields.is_empty()
            {
                calls_of.entry((site.within, *value)).or_default().push(number);
            }
        }
        if calls_of.is_empty() {
            return;
        }
        let mut nested: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for closure in (0_u32..).map(FunctionId).take(functions.len()) {
            if let Some((outer, _)) = self.captured(closure) {
                nested.entry(*outer).or_default().push(closure);
            }
        }
        for number in &flat.handing {
            let Some(site) = flat.sites.get(*number as usize) else { continue };
            for (position, argument) in site.arguments.iter().enumerate() {
                let Shape::Function { function, .. } = &argument.shape else { continue };
                for receiver in self.receivers(flat, site) {
                    let parameters = functions.get(receiver.0 as usize).map(|receiver| &receiver.parameters);
                    let Some(parameter) = parameters.and_then(|all| all.get(position)) else { continue };
                    let mut values = vec![(receiver, *parameter)];
                    // The closures of the receiver call it as well.
                    for closure in nested.get(&receiver).into_iter().flatten() {
                        let Some((_, terms)) = self.captured(*closure) else { continue };
                        let own = functions.get(closure.0 as usize).map(|closure| &closure.captures);
                        let taken = terms.iter().zip(own.into_iter().flatten());
                        let is_it = |term: &Term| *term == Term::from(*parameter);
                        values.extend(
                            taken.filter(|(term, _)| is_it(term)).map(|(_, capture)| (*closure, *capture)),
                        );
                    }
                    for (within, value) in values {
                        let calls = calls_of.get(&(within.0, value)).into_iter().flatten();
                        found.extend(calls.map(|call| (*function, *call)));
                    }
                }
            }
        }
        // The members of an object literal are known only in the context of that call, so inlining resolves them and this does not.
        let is_plain = |call: &u32| {
            let site = flat.sites.get(*call as usize);
            site.is_some_and(|site| site.arguments.iter().all(|arg| !matches!(arg.shape, Shape::Object(_))))
        };
        found.retain(|(_, call)| is_plain(call));
        for (function, call) in found {
            self.add_caller(function, call);
        }
    }

    /// The functions that a call hands its arguments to, as far as names say it: the one that is called, or the closures that the one gives
    /// back which made what is called, `@with_service("mail")`.
    fn receivers(&self, flat: &'f Flat, site: &'f Site) -> Vec<FunctionId> {
        let named = |site: &'f Site| {
            let owner = self.heads.get(site.within as usize).and_then(|head| head.owner.as_ref());
            self.place(&place(site.callee.as_ref()?, owner)?).and_then(|(_, known)| known.bound)
        };
        let Some(AccessPath { root: Root::Value(value), fields }) = &site.callee else {
            return named(site).into_iter().collect();
        };
        let maker = match self.definition(FunctionId(site.within), *value) {
            Some(Definition::Call(maker)) if fields.is_empty() => flat.sites.get(*maker as usize),
            _ => None,
        };
        let Some(factory) = maker.and_then(named) else { return vec![] };
        let Some(head) = self.heads.get(factory.0 as usize) else { return vec![] };
        let made = self.returns(head).iter().filter_map(|value| match self.definition(factory, *value)? {
            Definition::Function(closure) => Some(*closure),
            _ => None,
        });
        made.take(REMEMBERED).collect()
    }
}
