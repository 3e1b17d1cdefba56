//! What is looked up in contexts besides what the [index](crate::eval::Index) knows: what fills collections, who calls whom, what is
//! written in which function.

use std::cell::OnceCell;

use interlock_model::ir::{
    AccessPath, Argument, Callee, Exit, Field, Function, FunctionId, Name, Op, Root, Term, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, Contexts, Env};
use crate::{
    Arg,
    eval::{
        evaluator::World,
        index::Definition,
        key::{exact_name, exact_place},
        value::AbstractValue,
    },
    link::flat::About,
    module::{Class, Site, Variable},
    tables::Does,
};

/// How many callers of one function are looked at. A registration helper has one per tool.
const CALLERS: usize = 512;

/// How many classes that extend one are looked at.
const DESCENDANTS: usize = 1_000;

/// What is written where.
#[derive(Debug)]
pub(super) struct Facts<'f> {
    /// The last names of the places at which something of the tree is, and of its methods.
    ends: FxHashSet<&'f str>,
    /// Functions that are declared in others, by the value that they are there.
    nested: FxHashMap<(u32, Value), FunctionId>,
    /// What is set under names that are no identifiers, by the exact place: `tools["get-point"] = tool`.
    exact: FxHashMap<String, Vec<&'f Variable>>,
    /// What is set under a name, by the place of the object that it is set in.
    inside_of: FxHashMap<String, Vec<&'f Variable>>,
    /// The calls that put something into collections, by their place or by the function and value that they are local to.
    kept: FxHashMap<String, Vec<u32>>,
    filled: FxHashMap<(u32, Value), Vec<u32>>,
    /// The steps that call a function by what it is.
    direct: Vec<(u32, Caller<'f>)>,
    callers: FxHashMap<u32, Vec<Caller<'f>>>,
    /// What few trees ask for: the functions and the calls in a function.
    closures: OnceCell<FxHashMap<u32, Vec<u32>>>,
    inside: OnceCell<FxHashMap<u32, Vec<u32>>>,
    /// The calls of methods of locals, by the name of the method.
    by_method: OnceCell<FxHashMap<&'f str, Vec<u32>>>,
}

/// Who calls a function.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Caller<'f> {
    /// A call to look up.
    Site(u32),
    /// A step, in a function.
    Step(u32, &'f [Argument]),
    /// A decorator, by the call that names it: it runs what that call returns.
    Decorator(u32),
    /// A registration that is a function of the tree, by the call that says so: `@app.tool("add")`.
    Registration(u32),
}

/// A function with what is known of it besides its steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit<'f> {
    /// Its steps.
    pub(crate) function: &'f Function,
    /// The function that it is written in.
    pub(crate) parent: Option<u32>,
    /// The declared types of its values.
    pub(crate) types: &'f [(Value, AccessPath)],
    /// By which path it is called.
    pub(crate) bound: Option<&'f AccessPath>,
    /// The structure of its locals.
    pub(crate) locals: &'f [(Value, Arg)],
    /// What its loops go over.
    pub(crate) items: &'f [(Value, Arg)],
    /// What it returns, where that has a structure.
    pub(crate) returned: &'f [Arg],
}

impl<'f> Unit<'f> {
    fn of((function, about): (&'f Function, &'f About)) -> Self {
        Self {
            function,
            parent: about.parent,
            types: &about.types,
            bound: about.bound.as_ref(),
            locals: &about.locals,
            items: &about.items,
            returned: &about.returned,
        }
    }

    /// The values that it returns.
    pub(crate) fn returned_values(self) -> impl Iterator<Item = Value> {
        self.function.effects().filter_map(|effect| match &effect.op {
            Op::Exit(Exit::Return(values)) => match values.as_slice() {
                [value] => Some(*value),
                _ => None,
            },
            _ => None,
        })
    }
}

impl<'f> Facts<'f> {
    /// Goes over everything once.
    pub(super) fn of(world: &World<'f>, functions: &'f [Function]) -> Self {
        let mut facts = Self {
            ends: FxHashSet::default(),
            nested: FxHashMap::default(),
            exact: FxHashMap::default(),
            inside_of: FxHashMap::default(),
            kept: FxHashMap::default(),
            filled: FxHashMap::default(),
            direct: vec![],
            callers: FxHashMap::default(),
            closures: OnceCell::new(),
            inside: OnceCell::new(),
            by_method: OnceCell::new(),
        };
        for class in &world.flat.classes {
            facts.ends.insert(end(&class.name));
            facts.ends.extend(class.methods.iter().map(|(name, _)| end(name)));
        }
        for (number, unit) in (0_u32..).zip(functions.iter().zip(&world.flat.about).map(Unit::of)) {
            match (unit.bound, unit.parent) {
                (Some(AccessPath { root: Root::Value(value), fields }), Some(parent))
                    if fields.is_empty() =>
                {
                    facts.nested.entry((parent, *value)).or_insert(FunctionId(number));
                }
                (Some(path), _) => facts.ends_with(path),
                (None, _) => {}
            }
            let direct = unit.function.effects().filter_map(|effect| match &effect.op {
                Op::Call {
                    callee: Callee::Closure { function, .. } | Callee::Function(function),
                    arguments,
                    ..
                } => Some((function.0, Caller::Step(number, arguments))),
                _ => None,
            });
            facts.direct.extend(direct);
        }
        for variable in &world.flat.variables {
            facts.ends_with(&variable.path);
            let is_exact = |field: &Field| matches!(field, Field::At(Term::Literal(_)));
            if variable.path.fields.iter().any(is_exact)
                && let Some(place) =
                    exact_place(&variable.path.root, &variable.path.fields, variable.owner.as_ref())
            {
                facts.exact.entry(place.into_owned()).or_default().push(variable);
            }
            if let Some((last, before)) = variable.path.fields.split_last()
                && exact_name(last).is_some()
                && let Some(place) = exact_place(&variable.path.root, before, variable.owner.as_ref())
            {
                facts.inside_of.entry(place.into_owned()).or_default().push(variable);
            }
        }
        for (number, site) in (0_u32..).zip(&world.flat.sites) {
            facts.keeps(world, number, site);
        }
        facts
    }

    /// Remembers what a path ends in.
    fn ends_with(&mut self, path: &'f AccessPath) {
        let last = match (path.fields.last(), &path.root) {
            (Some(field), _) => exact_name(field),
            (None, Root::Global(name)) => Some(&**name),
            (None, _) => None,
        };
        if let Some(last) = last {
            self.ends.insert(end(last));
        }
    }

    /// Remembers what is put into a collection.
    fn keeps(&mut self, world: &World<'f>, number: u32, site: &'f Site) {
        let Some(callee) = &site.callee else { return };
        let Some((Field::Name(method), collection)) = callee.fields.split_last() else { return };
        if !matches!(world.builtins.does(method), Some(Does::Set | Does::Push | Does::Add)) {
            return;
        }
        if let (Root::Value(value), []) = (&callee.root, collection) {
            let home = home(world, site.within, *value);
            self.filled.entry(home).or_default().push(number);
            return;
        }
        let owner = world.index.heads.get(site.within as usize).and_then(|head| head.owner.as_ref());
        if let Some(place) = exact_place(&callee.root, collection, owner) {
            self.kept.entry(place.into_owned()).or_default().push(number);
        }
    }
}

/// The value of a function that a captured value is.
fn home(world: &World<'_>, mut function: u32, mut value: Value) -> (u32, Value) {
    while let Some(Definition::Capture(position)) = definition(world, function, value) {
        let Some((within, terms)) = world.index.captured(FunctionId(function)) else { break };
        match terms.get(*position) {
            Some(Term::Path(AccessPath { root: Root::Value(outer), fields }))
                if fields.is_empty() && within.0 < function =>
            {
                (function, value) = (within.0, *outer);
            }
            _ => break,
        }
    }
    (function, value)
}

/// How a value comes about, as far as that says what it is.
fn definition<'f>(world: &World<'f>, function: u32, value: Value) -> Option<&'f Definition> {
    let (index, function) = (world.index, FunctionId(function));
    match index.definition(function, value)? {
        Definition::Unknown | Definition::New | Definition::Returned(_) => index.written(function, value),
        known => Some(known),
    }
}

/// Whether a byte stands between the names of a place.
const fn separates(byte: u8) -> bool {
    matches!(byte, b'.' | b'#' | b':')
}

/// The last name of a place.
fn end(place: &str) -> &str {
    let before = place.bytes().rposition(separates);
    before.and_then(|at| place.get(at + 1..)).unwrap_or(place)
}

impl<'f> Contexts<'f> {
    /// Whether something that could be called may go by a name: a function, a method, a variable, a member of an object. Without such a
    /// thing a call of that name leads nowhere, and need not be followed.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        // Items of a list are found by number, and a name with signs in it can be put together in more than one way.
        let is_number = name.starts_with(|first: char| first.is_ascii_digit() || first == '+');
        self.facts.ends.contains(name)
            || self.eval.flat.members.contains(name)
            || is_number
            || name.bytes().any(separates)
    }

    /// Whether nothing that a path leads to from here is of the tree: it starts at what a library or the language offers.
    pub(crate) fn is_foreign(&self, root: &Root) -> bool {
        let Root::Global(name) = root else { return false };
        !self.eval.index.knows(name) && !name.ends_with("::*")
    }

    /// Whether classes that extend a class have a member of that name as well.
    pub(crate) fn overridden(&self, class: usize, member: &str) -> bool {
        let look = || self.descendants(class).into_iter().any(|descendant| self.defines(descendant, member));
        self.eval.index.children.contains_key(&class)
            && self.overridden.answer(&self.eval.asking, (class, member.into()), false, look)
    }

    /// Whether a class itself has a member.
    pub(crate) fn defines(&self, class: usize, member: &str) -> bool {
        self.class_at(class).is_some_and(|class| {
            class.methods.iter().any(|(name, _)| &**name == member)
                || self.variables(&[&*class.name, ".", member].concat()).next().is_some()
        })
    }

    /// The calls that put something into a local list, map or set.
    pub(crate) fn filled(&self, function: u32, value: Value) -> &[u32] {
        self.facts.filled.get(&(function, value)).map_or(&[], Vec::as_slice)
    }

    /// The function that is called by a place.
    pub(super) fn bound(&self, place: &str) -> Option<FunctionId> {
        self.eval.index.place(place)?.1.bound
    }

    /// The function that a value of another function was declared as.
    pub(super) fn nested(&self, function: u32, value: Value) -> Option<FunctionId> {
        self.facts.nested.get(&(function, value)).copied()
    }

    /// What is assigned to a place.
    pub(crate) fn variables(&self, place: &str) -> impl Iterator<Item = &'f Variable> {
        let exact = self.facts.exact.get(place).into_iter().flatten().copied();
        self.variables_at(place).chain(exact)
    }

    fn variables_at(&self, place: &str) -> impl Iterator<Item = &'f Variable> {
        let numbers = self.eval.index.all_variables(place);
        numbers.filter_map(|number| self.eval.flat.variables.get(number))
    }

    /// What is set in the object at a place under names that only the run knows, or that are written there: `tools[tool.name] = tool`,
    /// `tools["add"] = add`.
    pub(crate) fn entered(&self, place: &str) -> Vec<&'f Variable> {
        let by_value =
            |variable: &&Variable| variable.path.fields.last().is_some_and(|last| exact_name(last).is_none());
        let exact = self.facts.inside_of.get(place).into_iter().flatten().copied();
        self.variables_at(&[place, "[]"].concat()).filter(by_value).chain(exact).collect()
    }

    /// The calls that put something into the collection at a place.
    pub(crate) fn kept(&self, place: &str) -> &[u32] {
        self.facts.kept.get(place).map_or(&[], Vec::as_slice)
    }

    /// The functions that are written in a function.
    pub(crate) fn closures(&self, function: u32) -> &[u32] {
        let all = || {
            let mut closures: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for (number, unit) in (0_u32..).zip(self.units()) {
                if let Some(parent) = unit.parent {
                    closures.entry(parent).or_default().push(number);
                }
            }
            closures
        };
        self.facts.closures.get_or_init(all).get(&function).map_or(&[], Vec::as_slice)
    }

    /// The calls that are written in a function, not in closures inside it.
    pub(crate) fn inside(&self, function: u32) -> &[u32] {
        let all = || {
            let mut inside: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for (number, site) in (0_u32..).zip(&self.eval.flat.sites) {
                inside.entry(site.within).or_default().push(number);
            }
            inside
        };
        self.facts.inside.get_or_init(all).get(&function).map_or(&[], Vec::as_slice)
    }

    /// A class by name.
    pub(crate) fn class(&self, name: &str) -> Option<usize> {
        self.eval.index.classes.get(name).copied()
    }

    /// A class by number.
    pub(crate) fn class_at(&self, number: usize) -> Option<&'f Class> {
        self.eval.flat.classes.get(number)
    }

    /// A class and those that it extends, nearest first.
    pub(crate) fn ancestry(&self, class: usize) -> impl Iterator<Item = &'f Class> {
        self.eval.ancestry(class).filter_map(|class| self.class_at(class))
    }

    /// A method of a class or of one that it extends.
    pub(crate) fn method(&self, class: usize, name: &str) -> Option<u32> {
        let mut own = self.ancestry(class).flat_map(|class| &class.methods);
        own.find(|(method, _)| &**method == name).map(|(_, function)| *function)
    }

    /// The classes that extend a class, and those that extend them.
    pub(crate) fn descendants(&self, class: usize) -> Vec<usize> {
        let (mut found, mut next) = (vec![], 0);
        found.extend(self.eval.index.children.get(&class).into_iter().flatten());
        while let Some(class) = found.get(next).copied().filter(|_| found.len() < DESCENDANTS) {
            found.extend(self.eval.index.children.get(&class).into_iter().flatten());
            next += 1;
        }
        found
    }

    /// What a closure takes along: the function that it is written in, and its terms there.
    pub(crate) fn captured(&self, function: u32) -> Option<(u32, &'f [Term])> {
        let (within, terms) = self.eval.index.captured(FunctionId(function))?;
        Some((within.0, terms))
    }

    /// The call that a closure is handed to, and as which argument.
    pub(crate) fn handed(&self, function: u32) -> Option<(u32, usize)> {
        self.eval.index.handed.get(&FunctionId(function)).copied()
    }

    /// How a value comes about, as far as that says what it is.
    pub(crate) fn definition(&self, function: u32, value: Value) -> Option<&'f Definition> {
        definition(&self.eval, function, value)
    }

    /// A call by number.
    pub(crate) fn site(&self, number: u32) -> Option<&'f Site> {
        self.eval.flat.sites.get(number as usize)
    }

    /// A function by number.
    pub(crate) fn unit(&self, number: u32) -> Option<Unit<'f>> {
        let number = number as usize;
        Some(Unit::of((self.functions.get(number)?, self.eval.flat.about.get(number)?)))
    }

    /// All functions.
    pub(crate) fn units(&self) -> impl Iterator<Item = Unit<'f>> {
        self.functions.iter().zip(&self.eval.flat.about).map(Unit::of)
    }

    /// The class that `this` is in a function.
    pub(crate) fn owner(&self, function: u32) -> Option<&'f Name> {
        self.functions.get(function as usize)?.owner.as_ref()
    }

    /// The calls that reach a function.
    pub(crate) fn callers(&self, function: u32) -> &[Caller<'f>] {
        self.facts.callers.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The calls of a method of that name, of locals of which nobody knows what they are.
    pub(super) fn calls_of_method(&self, name: &str) -> impl Iterator<Item = &'f Site> {
        let all = || {
            let mut calls: FxHashMap<&'f str, Vec<u32>> = FxHashMap::default();
            for (number, site) in (0_u32..).zip(&self.eval.flat.sites) {
                if let Some(AccessPath { root: Root::Value(_), fields }) = &site.callee
                    && let Some(name) = fields.last().and_then(exact_name)
                {
                    calls.entry(name).or_default().push(number);
                }
            }
            calls
        };
        let calls = self.facts.by_method.get_or_init(all).get(name).map_or(&[][..], Vec::as_slice);
        let calls = calls.iter().take(CALLERS).filter_map(|number| self.site(*number));
        calls.filter(|site| self.target(site).is_none())
    }

    /// Finds out which calls reach which functions.
    pub(super) fn find_callers(&mut self) {
        let mut callers: FxHashMap<u32, Vec<Caller<'f>>> = FxHashMap::default();
        let mut add = |function: u32, caller: Caller<'f>| {
            let known = callers.entry(function).or_default();
            if known.len() < CALLERS {
                known.push(caller);
            }
        };
        for (number, site) in (0_u32..).zip(&self.eval.flat.sites) {
            if site.function.is_none() && self.leads_nowhere(site) {
                continue;
            }
            let Some(function) = self.target(site).or_else(|| self.given_back(site)) else { continue };
            let given = if site.decorates { self.closures_given(function) } else { vec![] };
            if given.is_empty() {
                add(function, Caller::Site(number));
            }
            for reached in given.iter().copied().chain((!given.is_empty()).then_some(function)) {
                add(reached, Caller::Registration(number));
            }
        }
        for (function, caller) in self.facts.direct.iter().copied().chain(self.decorators()) {
            add(function, caller);
        }
        self.facts.callers = callers;
    }

    /// The closure that a call reaches which another call has given back: `register("add")(add)`.
    fn given_back(&self, site: &'f Site) -> Option<u32> {
        match self.closure_called(site, &Context::plain(site.within))? {
            (function, _) if Some(function) != site.function => Some(function),
            _ => None,
        }
    }

    /// The same, with what is assumed in it.
    pub(super) fn closure_called(&self, site: &'f Site, at: &Context<'f>) -> Option<(u32, Env<'f>)> {
        let callee = site.callee.as_ref().filter(|callee| callee.fields.is_empty() && !site.construct)?;
        let Root::Value(value) = callee.root else { return None };
        let Some(Definition::Call(_)) = self.definition(site.within, value) else { return None };
        match self.settle(self.path(callee, at)) {
            AbstractValue::Function(FunctionId(function), env) => Some((function, env)),
            _ => None,
        }
    }

    /// Whether the names of a call say already that it reaches nothing of the tree.
    fn leads_nowhere(&self, site: &Site) -> bool {
        let Some(callee) = &site.callee else { return true };
        let is_known = |field: &Field| exact_name(field).is_none_or(|name| self.is_known(name));
        self.is_foreign(&callee.root) || !callee.fields.last().is_none_or(is_known)
    }
}
