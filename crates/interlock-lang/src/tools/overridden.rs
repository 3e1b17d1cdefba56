//! Registrations by a method that the tree puts in the place of the library's.
//!
//! ```python
//! class Prefixed(FastMCP):
//!     def __init__(self, name, prefix):
//!         super().__init__(name)
//!         self.prefix = prefix
//!     def tool(self, name=None, **options):
//!         def decorator(work):
//!             return super(Prefixed, self).tool(name=f"{self.prefix}_{name or work.__name__}", **options)(work)
//!         return decorator
//! notes = Prefixed("notes", "notes")
//! @notes.tool()
//! async def add(text): ...                    # notes_add
//! ```
//!
//! What is registered, and what it is called, the library's own method is told inside. So that call is looked at for each registration by
//! the method of the tree: under what the object was made with, and with the function that stands at the registration. Where nothing of
//! that is found, what is handed over is a tool all the same, called as the registration itself says.

use interlock_model::ir::{AccessPath, FunctionId, Name, Root, Term, Value};

use super::{
    AbstractValue, Assumed, Context, Env,
    discovery::Discovery,
    index::Index,
    mounted,
    register::{extended, library_of, named_by},
    split_method,
};
use crate::{Arg, Shape, module::Site, tables::Registers};

/// How many methods of the own class may lead to the one that calls the library's.
const METHODS: usize = 3;

/// How many calls are looked at for one registration.
const CALLS: usize = 200;

/// Whether a call is one of the library's own method by a class of the tree that extends it: what it is told depends on who called the method
/// in its place.
pub(super) fn calls_above<'i>(index: &Index<'i>, site: &'i Site) -> bool {
    let Some(callee) = &site.callee else { return false };
    let Root::Global(name) = &callee.root else { return false };
    if Some(&**name) == index.eval.semantics.above {
        return true;
    }
    let class = index.owner(site.within).and_then(|owner| index.class(owner));
    let extends = class.and_then(|class| extended(index, class));
    callee.fields.len() == 1
        && index.is_foreign(&callee.root)
        && extends.is_some_and(|library| index.sdk().may_be_sdk(&library))
}

/// A registration by a method of the tree in the place of the library's.
pub(super) fn tool<'i>(discovery: &mut Discovery<'_, 'i>, site: &'i Site) {
    let index = discovery.index;
    let (Some(callee), Some((work, options))) = (&site.callee, site.arguments.split_first()) else { return };
    let at = Context::plain(site.within);
    let of_sdk = library_of(index, callee, &at).is_some_and(|library| index.sdk().may_be_sdk(&library));
    if !of_sdk {
        return;
    }
    let given = index.evaluate(work, &at);
    let functions = discovery.functions(&given);
    // A wrapper may stand around several tools, so only the very function counts.
    if functions.iter().any(|function| discovery.tells_tools_apart(*function)) {
        return;
    }
    let own: Vec<AbstractValue<'i>> = options.iter().map(|arg| index.evaluate(arg, &at)).collect();
    let mut work = functions;
    let called = work.first().map(|function| discovery.called_like(*function));
    let mut name = None;
    // First without the function: what it is called itself says nothing where a name is given.
    for (number, given) in [AbstractValue::Unknown, given].into_iter().enumerate() {
        let mut is_handed = false;
        for (call, at) in Inner::of(index, (site, callee), given, called.as_ref()) {
            // `FastMCP.tool(self, …)`: the object is no argument.
            let arguments = call.arguments.iter().filter(|arg| !is_object(arg));
            let above: Vec<AbstractValue<'i>> = arguments.map(|arg| index.evaluate(arg, &at)).collect();
            let Some((first, rest)) = above.split_first() else { continue };
            let handed = if number == 0 { vec![] } else { discovery.functions(first) };
            let is_first =
                matches!(index.settle(first.clone()), AbstractValue::Text(_) | AbstractValue::Object(..));
            name = name.or_else(|| named_by(index, if is_first { &above } else { rest }));
            // What is handed on may be a wrapper around it.
            if !handed.is_empty() && !is_handed {
                (work, is_handed) = (handed, true);
            }
        }
    }
    let name = name.or_else(|| named_by(index, &own));
    let ways = mounted::ways_of(index, site, &at);
    for function in work {
        discovery.serve_under(function, name.as_ref(), &ways, &own);
    }
}

/// The calls of the library's own method that a registration comes to.
struct Inner<'x, 'i> {
    index: &'x Index<'i>,
    /// What the registration is handed.
    work: AbstractValue<'i>,
    /// What a tool is called that is not named.
    called: Option<&'x Name>,
    found: Vec<(&'i Site, Context<'i>)>,
    left: usize,
}

impl<'x, 'i> Inner<'x, 'i> {
    fn of(
        index: &'x Index<'i>,
        (site, callee): (&'i Site, &'i AccessPath),
        work: AbstractValue<'i>,
        called: Option<&'x Name>,
    ) -> Vec<(&'i Site, Context<'i>)> {
        let at = Context::plain(site.within);
        let mut inner = Self { index, work: work.clone(), called, found: vec![], left: CALLS };
        let (Some(method), Some((_, fields))) = (index.target(site), split_method(callee)) else {
            return vec![];
        };
        let env = match index.receiver(fields, callee, &at) {
            AbstractValue::Instance(class, env) => {
                let owner = index.owner(method).and_then(|owner| index.class(owner));
                owner.map_or_else(|| env.clone(), |owner| env.with_this(owner, class))
            }
            _ => Env::default(),
        };
        // As a decorator it is told all but the function, which what it returns is handed; else the function first.
        let options = inner.bound(method, site, &at, &[]);
        inner.closures(method, &env.with(method, options), METHODS);
        let all = inner.bound(method, site, &at, std::slice::from_ref(&work));
        inner.calls(method, &env.with(method, all), METHODS);
        inner.found
    }

    /// What the parameters of a method are where it is handed these things first and then what a registration says.
    fn bound(
        &self,
        method: u32,
        site: &'i Site,
        at: &Context<'i>,
        first: &[AbstractValue<'i>],
    ) -> Vec<(Value, Assumed<'i>)> {
        let Some(unit) = self.index.unit(method) else { return vec![] };
        let options = site.arguments.get(1..).unwrap_or_default();
        let (named, positional) = match options.split_last() {
            Some((Arg { shape: Shape::Object(members), .. }, positional)) if site.named => {
                (&**members, positional)
            }
            _ => (&[][..], options),
        };
        let things = positional.iter().map(|arg| self.index.evaluate(arg, at));
        let mut things = first.iter().cloned().chain(things);
        let parameters = &unit.function.parameters;
        let called =
            |parameter: &Value| unit.function.values.get(parameter.0 as usize).map(|info| &info.name);
        // The last one has under its names whatever is left over.
        let is_left = |(name, _): &(Name, Arg)| !parameters.iter().any(|own| called(own) == Some(name));
        let rest = parameters.last().filter(|_| named.iter().any(is_left));
        let mut bound = vec![];
        for parameter in parameters {
            let by_name = || named.iter().find(|(name, _)| Some(name) == called(parameter));
            let thing = match things.next() {
                _ if Some(parameter) == rest => AbstractValue::Object(named, at.clone()),
                Some(thing) => thing,
                None => match by_name() {
                    Some((_, arg)) => self.index.evaluate(arg, at),
                    // `name or work.__name__`.
                    None if called(parameter).is_some_and(|name| self.is_name(name)) => match self.called {
                        Some(name) => AbstractValue::Text(name.clone()),
                        None => continue,
                    },
                    None => continue,
                },
            };
            bound.push((*parameter, Assumed::Value(thing)));
        }
        bound
    }

    /// Whether a parameter is what a tool is to be called.
    fn is_name(&self, parameter: &Name) -> bool {
        self.index.sdk().object.name.iter().any(|name| **name == **parameter)
    }

    /// What is called in the functions that are written in a method: they are handed the function.
    fn closures(&mut self, method: u32, env: &Env<'i>, depth: usize) {
        for closure in self.index.closures(method) {
            let parameters = self.index.unit(*closure).map_or(&[][..], |unit| &unit.function.parameters);
            let first = parameters.first().map(|first| (*first, Assumed::Value(self.work.clone())));
            let env = env.with(*closure, first.into_iter().collect());
            self.calls(*closure, &env, depth);
            self.closures(*closure, &env, depth);
        }
    }

    /// The calls in a function that are the library's own method, and those in what it calls of its own class.
    fn calls(&mut self, function: u32, env: &Env<'i>, depth: usize) {
        let index = self.index;
        let at = Context { function, env: env.clone() };
        for site in index.inside(function).iter().filter_map(|number| index.site(*number)) {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let Some(callee) = &site.callee else { continue };
            let method = split_method(callee).map(|(method, _)| method);
            let registers = method.and_then(|method| index.sdk().call.get(method));
            if registers.is_some_and(|call| call.registers == Registers::Function) && calls_above(index, site)
            {
                self.found.push((site, at.clone()));
                continue;
            }
            let (Root::This, Some(depth)) = (&callee.root, depth.checked_sub(1)) else { continue };
            let AbstractValue::Function(FunctionId(own), _) = index.settle(index.path(callee, &at)) else {
                continue;
            };
            if own != function {
                let handed = index.handed_over(own, site, &at);
                self.calls(own, &env.with(own, handed), depth);
            }
        }
    }
}

/// Whether an argument is the object whose method this is.
fn is_object(arg: &Arg) -> bool {
    matches!(&arg.term, Term::Path(AccessPath { root: Root::This, fields }) if fields.is_empty())
}
