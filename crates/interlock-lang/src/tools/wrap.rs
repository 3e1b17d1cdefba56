//! Wrappers with the function that they wrap put in.
//!
//! `execute: withLogging(async (args) => …)` registers the closure that `withLogging` returns. That closure is one function for all tools
//! and calls whatever it has captured; a tool of its own it becomes when what it captured is known. So it is copied, and the copy calls
//! the wrapped function by name: a lock that the wrapper takes is then taken around the tool's own steps.

use interlock_model::{
    Span,
    ir::{
        AccessPath, Argument, Block, Callee, Effect, Function, FunctionId, Name, Op, Origin, Root, Term,
        Value, ValueInfo,
    },
};
use rustc_hash::FxHashMap;

use super::{
    AbstractValue, Assumed, Context, Env,
    answer::Added,
    exact_name,
    index::{Definition, Index},
};
use crate::{Arg, Shape, module::Site, val::argument};

/// How many copies are made.
const COPIES: usize = 500;

/// How many members of an object are looked at.
const MEMBERS: usize = 32;

/// How many functions lead from what is captured to a global.
const STEPS: usize = 48;

/// How many wrappers may be around each other.
const DEPTH: usize = 8;

/// How many names are followed to what is called.
const NAMES: usize = 4;

/// The copies that were made.
#[derive(Debug, Default)]
pub(super) struct Wrapped {
    functions: u32,
    sites: u32,
    added: Vec<Option<Added>>,
    calls: Vec<Site>,
    known: FxHashMap<Key, (u32, Vec<(usize, usize)>)>,
}

/// What makes two copies the same: what is copied, where, and which functions and texts are put in as what.
type Key = (Option<u32>, u32, Vec<(Value, Option<Name>, u32)>, Vec<(Value, Name)>);

/// A captured function that is known: the value it is captured as, which it is, and what it takes along. `None` is something that the
/// copy has to take along for it.
struct Known {
    value: Value,
    /// The member of the value that it is, if the value is an object.
    member: Option<Name>,
    function: u32,
    takes: Vec<(Name, Option<Term>)>,
}

impl Known {
    /// Whether it is what is found at a path.
    fn is_at(&self, path: &AccessPath) -> bool {
        let member = match path.fields.as_slice() {
            [] => None,
            [field] => match exact_name(field) {
                Some(name) => Some(name),
                None => return false,
            },
            _ => return false,
        };
        path.root == Root::Value(self.value) && member == self.member.as_deref()
    }
}

impl Wrapped {
    pub(super) fn new(index: &Index<'_>) -> Self {
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        Self {
            functions: count(index.functions.len()),
            sites: count(index.eval.flat.sites.len()),
            ..Self::default()
        }
    }

    /// The copies and their calls.
    pub(super) fn finish(self) -> (Vec<Added>, Vec<Site>) {
        (self.added.into_iter().flatten().collect(), self.calls)
    }

    /// What a copy is called.
    pub(super) fn name_of(&self, function: u32) -> Option<Name> {
        let added = self.added.get(function.checked_sub(self.functions)? as usize)?;
        added.as_ref().map(|added| added.function.name.clone())
    }

    /// What a copy was made from; another function is itself.
    pub(super) fn like(&self, function: u32) -> u32 {
        let copy = function.checked_sub(self.functions).and_then(|copy| self.added.get(copy as usize));
        copy.and_then(Option::as_ref).map_or(function, |added| added.like.0)
    }

    /// The function that a copy was made for, if it is the only one that was put in.
    pub(super) fn around(&self, copy: u32) -> Option<u32> {
        let (_, _, put_in, _) =
            self.known.iter().find_map(|(key, (made, _))| (*made == copy).then_some(key))?;
        match put_in.as_slice() {
            [(_, _, only)] => Some(*only),
            _ => None,
        }
    }

    /// A closure as it is under assumptions: itself, or a copy with the functions put in that it has captured.
    pub(super) fn specialise<'i>(&mut self, index: &Index<'i>, function: u32, env: &Env<'i>) -> u32 {
        self.wrap(index, function, env, DEPTH)
    }

    fn wrap<'i>(&mut self, index: &Index<'i>, function: u32, env: &Env<'i>, depth: usize) -> u32 {
        let (Some(unit), Some((within, terms)), Some(depth)) =
            (index.unit(function), index.captured(function), depth.checked_sub(1))
        else {
            return function;
        };
        let (mut known, mut texts) = (vec![], vec![]);
        for (value, term) in unit.function.captures.iter().zip(terms) {
            // What can be told without assumptions is told without a copy.
            if index.settle(index.term(term, &Context::plain(within))).unbound().is_none() {
                continue;
            }
            let at = Context { function: within, env: env.clone() };
            let thing = index.settle(index.term(term, &at));
            // `handled("tasks", async ({ collection }) => …)`: which table it is about, only the caller of the wrapper says.
            if let AbstractValue::Text(text) = &thing {
                texts.push((*value, text.clone()));
            }
            for (member, thing) in functions_of(index, thing) {
                let AbstractValue::Function(FunctionId(inner), env) = thing else { continue };
                let inner = self.wrap(index, inner, &env, depth);
                let takes = self.takes(index, inner, &env);
                known.push(Known { value: *value, member, function: inner, takes });
            }
        }
        if known.is_empty() || self.added.len() >= COPIES {
            return function;
        }
        self.once(index, None, function, (&known, &texts)).0
    }

    /// Copies a function unless that was done.
    fn once(
        &mut self,
        index: &Index<'_>,
        within: Option<u32>,
        function: u32,
        (known, texts): (&[Known], &[(Value, Name)]),
    ) -> (u32, Vec<(usize, usize)>) {
        let part = |known: &Known| (known.value, known.member.clone(), known.function);
        let key = (within, function, known.iter().map(part).collect(), texts.to_vec());
        if let Some(copy) = self.known.get(&key) {
            return copy.clone();
        }
        let copy = self.copy(index, function, known, texts);
        self.known.insert(key, copy.clone());
        copy
    }

    /// What a function takes along, seen from outside: where that is a global it is named, else it has to be handed through.
    fn takes<'i>(&self, index: &Index<'i>, function: u32, env: &Env<'i>) -> Vec<(Name, Option<Term>)> {
        let own = match function.checked_sub(self.functions) {
            Some(copy) => self.added.get(copy as usize).and_then(Option::as_ref).map(|added| &added.function),
            None => index.unit(function).map(|unit| unit.function),
        };
        let Some(own) = own else { return vec![] };
        let written = index.captured(function);
        let take = |(position, value): (usize, &Value)| {
            let name = own
                .values
                .get(value.0 as usize)
                .map_or_else(|| Name::from("captured"), |info| info.name.clone());
            let term =
                written.and_then(|(within, terms)| global(index, terms.get(position)?, within, env, STEPS));
            (name, term)
        };
        own.captures.iter().enumerate().map(take).collect()
    }

    /// Copies a function. Answers with what it additionally captures, in order: which of the known functions needs it, and what.
    fn copy(
        &mut self,
        index: &Index<'_>,
        function: u32,
        known: &[Known],
        texts: &[(Value, Name)],
    ) -> (u32, Vec<(usize, usize)>) {
        let Some(unit) = index.unit(function) else { return (function, vec![]) };
        let slot = self.added.len();
        let number = self.functions.saturating_add(u32::try_from(slot).unwrap_or(u32::MAX));
        self.added.push(None);
        let mut copy: Function = unit.function.clone();
        let (mut calls, mut extra) = (vec![], vec![]);
        for (which, known) in known.iter().enumerate() {
            let mut terms = vec![];
            for (what, (name, term)) in known.takes.iter().enumerate() {
                terms.push(term.clone().unwrap_or_else(|| {
                    let value = Value(u32::try_from(copy.values.len()).unwrap_or(u32::MAX));
                    copy.values.push(ValueInfo {
                        name: name.clone(),
                        origin: Origin::Capture,
                        bounded: false,
                    });
                    copy.captures.push(value);
                    extra.push((which, what));
                    value.into()
                }));
            }
            calls.push((FunctionId(known.function), terms));
        }
        let mut body = std::mem::take(&mut copy.body);
        Rewrite {
            wrapped: self,
            index,
            original: function,
            number,
            known,
            calls: &calls,
            texts,
            copied: FxHashMap::default(),
        }
        .block(&mut body);
        copy.body = body;
        if let Some(place) = self.added.get_mut(slot) {
            *place = Some(Added { function: copy, like: FunctionId(function) });
        }
        (number, extra)
    }
}

/// The functions that something is or has as members: a function itself, the handler in the description of a tool, the methods of an
/// object.
fn functions_of<'i>(index: &Index<'i>, thing: AbstractValue<'i>) -> Vec<(Option<Name>, AbstractValue<'i>)> {
    if matches!(thing, AbstractValue::Function(..)) {
        return vec![(None, thing)];
    }
    let names: Vec<Name> = match &thing {
        AbstractValue::Object(members, _) => {
            members.iter().map(|(name, _)| name.clone()).take(MEMBERS).collect()
        }
        AbstractValue::Instance(class, _) => {
            let methods =
                index.ancestry(*class).flat_map(|class| &class.methods).map(|(name, _)| name.clone());
            methods.filter(|name| &**name != "constructor").take(MEMBERS).collect()
        }
        _ => return vec![],
    };
    let member = |name: Name| {
        let member = index.settle(index.member(thing.clone(), &name));
        matches!(member, AbstractValue::Function(..)).then_some((Some(name), member))
    };
    names.into_iter().filter_map(member).collect()
}

/// What a term is as a path from a global, where it is one.
fn global<'i>(index: &Index<'i>, term: &'i Term, within: u32, env: &Env<'i>, depth: usize) -> Option<Term> {
    let (Term::Path(path), Some(depth)) = (term, depth.checked_sub(1)) else { return None };
    match &path.root {
        Root::Global(_) => Some(term.clone()),
        Root::Value(value) if path.fields.is_empty() => {
            match env.get(within, *value) {
                Some(Assumed::Arg(arg, caller)) => return global(index, &arg.term, caller, env, depth),
                Some(Assumed::Term(term, caller)) => return global(index, term, caller, env, depth),
                _ => {}
            }
            match index.definition(within, *value)? {
                Definition::Capture(position) => {
                    let (outer, terms) = index.captured(within)?;
                    global(index, terms.get(*position)?, outer, env, depth)
                }
                Definition::Path(path) if matches!(path.root, Root::Global(_)) => {
                    Some(Term::Path(path.clone()))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

struct Rewrite<'x, 'i> {
    wrapped: &'x mut Wrapped,
    index: &'x Index<'i>,
    /// The function that is copied, and the copy.
    original: u32,
    number: u32,
    known: &'x [Known],
    /// For each that is known: the function, and what it takes along.
    calls: &'x [(FunctionId, Vec<Term>)],
    /// The texts that are known.
    texts: &'x [(Value, Name)],
    /// The calls of the original that were copied so far, by their numbers.
    copied: FxHashMap<u32, u32>,
}

impl<'i> Rewrite<'_, 'i> {
    fn block(&mut self, block: &mut Block) {
        for Effect { op, span, .. } in block {
            match op {
                Op::Call { callee, receiver, arguments, .. } => {
                    let site = self.site_of(callee, *span);
                    if let Some(object) = self.callee(callee, *span) {
                        receiver.get_or_insert(object);
                    }
                    if let (Some(site), Callee::Closure { function, .. }) = (site, &*callee)
                        && let Some(handed) = self.handed_on(site, function.0)
                    {
                        *arguments = handed.iter().map(argument).collect();
                    }
                    arguments.iter_mut().for_each(|argument| self.argument(argument));
                }
                Op::Closure { function, captures, .. } => self.closure(function, captures),
                _ => {}
            }
            op.blocks_mut().for_each(|inner| self.block(inner));
        }
    }

    /// What is known of a call that is put in place of by another.
    fn site_of(&self, callee: &Callee, span: Span) -> Option<&'i Site> {
        let number = match callee {
            Callee::Value(_) => {
                *self.index.eval.index.by_value.get(&(self.original, span.start, span.end))?
            }
            Callee::Pending(number) => *number,
            _ => return None,
        };
        self.index.site(number)
    }

    /// What a call that hands on whatever it was handed, `function(client, *args, **kwargs)`, gives to the parameters of a function: each the
    /// argument of its name.
    fn handed_on(&self, site: &Site, function: u32) -> Option<Vec<Arg>> {
        let (Arg { shape: Shape::Object(named), .. }, positional) = site.arguments.split_last()? else {
            return None;
        };
        let (_, all) = named.iter().find(|(name, _)| &**name == "...").filter(|_| site.named)?;
        let Term::Path(all) = &all.term else { return None };
        let is_spread = |arg: &&Arg| matches!(&arg.shape, Shape::Choice(items) if items.len() == 1);
        let first = positional.iter().take_while(|arg| !is_spread(arg));
        let function = match function.checked_sub(self.wrapped.functions) {
            Some(copy) => &self.wrapped.added.get(copy as usize)?.as_ref()?.function,
            None => self.index.unit(function)?.function,
        };
        let name = |value: &Value| function.values.get(value.0 as usize).map(|info| &info.name);
        let others = function.parameters.iter().filter_map(name).skip(first.clone().count()).map(|name| {
            let own = named.iter().find(|(given, _)| given == name).map(|(_, arg)| arg.clone());
            let mut values = vec![];
            all.mention(&mut values);
            // A wrapper inside of this one is handed all of it, and hands it on in turn.
            let handed = match &**name {
                "kwargs" | "kw" | "kwds" => Term::Path(all.clone()),
                "args" => Term::Unknown,
                _ => Term::Path(all.clone().field(name.clone())),
            };
            own.unwrap_or_else(|| Arg::opaque(handed, values))
        });
        Some(first.cloned().chain(others).collect())
    }

    /// The known function that a term is, with what it takes along.
    fn of(&self, term: &Term) -> Option<(FunctionId, Vec<Term>)> {
        let Term::Path(path) = term else { return None };
        let mut path = path;
        // `const run = tool.run; return run(args)`: the same under other names.
        for _ in 0..=NAMES {
            if let Some(position) = self.known.iter().position(|known| known.is_at(path)) {
                return self.calls.get(position).cloned();
            }
            let Root::Value(value) = &path.root else { return None };
            match self.index.definition(self.original, *value)? {
                Definition::Path(meant) if path.fields.is_empty() => path = meant,
                Definition::Term(Term::Path(meant)) if path.fields.is_empty() => path = meant,
                _ => return None,
            }
        }
        None
    }

    /// Puts a known function in place of what is called. Answers with the object whose member that is.
    fn callee(&mut self, callee: &mut Callee, span: Span) -> Option<AccessPath> {
        match callee {
            Callee::Value(value) => {
                if let Some((function, captures)) = self.of(&(*value).into()) {
                    *callee = Callee::Closure { function, captures };
                    let called = self.index.eval.index.by_value.get(&(self.original, span.start, span.end));
                    if let Some(site) = called.and_then(|number| self.index.site(*number)) {
                        self.site(site, Some(function.0));
                    }
                }
            }
            Callee::Closure { function, captures } => self.closure(function, captures),
            Callee::Pending(number) => {
                let site = self.index.site(*number)?;
                let direct = site.callee.clone().and_then(|path| self.of(&Term::Path(path)));
                if let Some((function, captures)) = direct {
                    *callee = Callee::Closure { function, captures };
                    // Who wants to know what the function is handed finds this call.
                    self.site(site, Some(function.0));
                    let AccessPath { root, fields } = site.callee.as_ref()?;
                    let (_, object) = fields.split_last()?;
                    return Some(AccessPath { root: root.clone(), fields: object.into() });
                }
                let copy = self.site(site, site.function);
                self.copied.insert(*number, copy);
                *number = copy;
            }
            Callee::Function(_) | Callee::Named(_) => {}
        }
        None
    }

    /// A call of the original as one of the copy.
    fn site(&mut self, site: &Site, function: Option<u32>) -> u32 {
        let handed = function.and_then(|function| self.handed_on(site, function));
        let named = site.named && handed.is_none();
        let mut arguments = handed.map_or_else(|| site.arguments.clone(), Into::into);
        arguments.iter_mut().for_each(|arg| self.arg(arg));
        let copied = u32::try_from(self.wrapped.calls.len()).unwrap_or(u32::MAX);
        self.wrapped.calls.push(Site {
            within: self.number,
            span: site.span,
            function,
            callee: site.callee.clone(),
            construct: site.construct,
            arguments,
            named,
            decorates: site.decorates,
            unconditional: site.unconditional,
        });
        self.wrapped.sites.saturating_add(copied)
    }

    /// The known text that a term is.
    fn text(&self, term: &Term) -> Option<Term> {
        let (_, text) = self.texts.iter().find(|(value, _)| *term == Term::from(*value))?;
        Some(Term::Literal(text.clone()))
    }

    fn argument(&mut self, argument: &mut Argument) {
        match argument {
            Argument::Term(term) => {
                if let Some((function, captures)) = self.of(term) {
                    *argument = Argument::Closure { function, captures };
                } else if let Some(text) = self.text(term) {
                    *term = text;
                }
            }
            Argument::Closure { function, captures } => self.closure(function, captures),
        }
    }

    fn arg(&mut self, arg: &mut Arg) {
        match &mut arg.shape {
            Shape::Opaque => {
                if let Some((function, captures)) = self.of(&arg.term) {
                    arg.shape = Shape::Function { function, captures };
                } else if let Some(text) = self.text(&arg.term) {
                    *arg = Arg { term: text.clone(), values: vec![], shape: Shape::Text(vec![text]) };
                }
            }
            Shape::Function { function, captures } => self.closure(function, captures),
            // What a call has brought that the copy makes with what it knows.
            Shape::Call(number) => {
                if let Some(copy) = self.copied.get(number) {
                    *number = *copy;
                }
            }
            Shape::Object(members) => members.iter_mut().for_each(|(_, member)| self.arg(member)),
            Shape::List(items) | Shape::Choice(items) => items.iter_mut().for_each(|item| self.arg(item)),
            _ => {}
        }
    }

    /// A closure that takes a known function along is copied as well.
    fn closure(&mut self, function: &mut FunctionId, captures: &mut Vec<Term>) {
        let Some(unit) = self.index.unit(function.0) else { return };
        let mut inner = vec![];
        let mut which = vec![];
        for (value, term) in unit.function.captures.iter().zip(captures.iter()) {
            let Term::Path(path) = term else { continue };
            for (position, known) in self.known.iter().enumerate() {
                // The function itself is taken along, or the object that it is a member of.
                let member = if known.is_at(path) {
                    None
                } else if path.root == Root::Value(known.value) && path.fields.is_empty() {
                    known.member.clone()
                } else {
                    continue;
                };
                let (function, takes) = (known.function, known.takes.clone());
                inner.push(Known { value: *value, member, function, takes });
                which.push(position);
            }
        }
        if inner.is_empty() || self.wrapped.added.len() >= COPIES {
            return;
        }
        let (copy, extra) = self.wrapped.once(self.index, Some(self.number), function.0, (&inner, &[]));
        *function = FunctionId(copy);
        for (known, what) in extra {
            let terms =
                which.get(known).and_then(|position| self.calls.get(*position)).map(|(_, terms)| terms);
            captures.push(terms.and_then(|terms| terms.get(what).cloned()).unwrap_or(Term::Unknown));
        }
    }
}
