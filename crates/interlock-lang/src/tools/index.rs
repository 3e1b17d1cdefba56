//! What is written where, so that expressions can be followed: one walk over everything.

use std::{borrow::Cow, cell::OnceCell};

use interlock_model::ir::{
    AccessPath, Argument, Asked, Block, Callee, Field, Name, Op, Resource, Root, Term, Value,
};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::{
    input::Input,
    memo::Memo,
    origin,
    place::{end, name_of, place, place_at, separates},
    says::{Names, Says},
};
use crate::{
    Arg, Shape,
    link::flat::stem,
    module::{Class, Site, Variable},
    tables::{Builtins, Sdk},
};

/// How many callers of one function are looked at. A registration helper has one per tool.
const CALLERS: usize = 512;

/// How many classes that extend one are looked at.
const DESCENDANTS: usize = 1_000;

/// Where everything is.
#[derive(Debug)]
pub(super) struct Index<'i> {
    pub(super) input: &'i Input<'i>,
    files: FxHashSet<&'i str>,
    /// The stems of the names that something of the tree is called by.
    stems: FxHashSet<&'i str>,
    /// The last names of the places at which something of the tree is, and of its methods.
    ends: FxHashSet<&'i str>,
    bound: FxHashMap<Cow<'i, str>, u32>,
    nested: FxHashMap<(u32, Value), u32>,
    variables: FxHashMap<Cow<'i, str>, Vec<&'i Variable>>,
    classes: FxHashMap<&'i str, usize>,
    children: FxHashMap<usize, Vec<usize>>,
    /// For each function, where it is written and what it takes along there.
    captured: Vec<Option<(u32, &'i [Term])>>,
    handed: FxHashMap<u32, (u32, usize)>,
    /// How the values of all functions come about, one function after another.
    definitions: Vec<Option<Definition<'i>>>,
    /// For each function, where its values begin among them.
    firsts: Vec<usize>,
    kept: FxHashMap<String, Vec<u32>>,
    /// What is set under a name that only the run knows, by the place of the object: `tools[tool.name] = tool`.
    entered: FxHashMap<String, Vec<&'i Variable>>,
    filled: FxHashMap<(u32, Value), Vec<u32>>,
    callers: FxHashMap<u32, Vec<Caller<'i>>>,
    /// What the names of each call say.
    says: Vec<Says>,
    /// The steps that call functions by what they are: which, and from where.
    direct: Vec<(u32, Caller<'i>)>,
    /// The functions that compare something with `tools/call`.
    by_hand: Vec<u32>,
    /// The functions that name who calls, or in which session.
    personal: Vec<u32>,
    /// What few trees ask for: the functions and the calls in a function.
    closures: OnceCell<FxHashMap<u32, Vec<u32>>>,
    inside: OnceCell<FxHashMap<u32, Vec<u32>>>,
    memo: Memo<'i>,
}

/// How a value comes about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Definition<'i> {
    /// A parameter, by position.
    Parameter(usize),
    /// Taken along from outside, by position.
    Capture(usize),
    /// The result of a call.
    Call(u32),
    /// What is found at a path.
    Path(&'i AccessPath),
    /// A function that is written there.
    Closure(u32),
    /// Another term.
    Term(&'i Term),
    /// Computed from others, or one of them.
    From(&'i [Value]),
}

/// Who calls a function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Caller<'i> {
    /// A call to look up.
    Site(u32),
    /// A step, in a function.
    Step(u32, &'i [Argument]),
    /// A decorator, by the call that names it: it runs what that call returns.
    Decorator(u32),
}

impl<'i> Index<'i> {
    /// Walks over everything.
    pub(super) fn of(input: &'i Input<'i>) -> Self {
        let values = input.units.iter().map(|unit| unit.function.values.len()).sum();
        let bound = input.units.iter().filter(|unit| unit.bound.is_some()).count();
        let (variables, hasher) = (input.variables.len(), FxBuildHasher);
        let mut index = Self {
            input,
            files: input.files.iter().map(|file| &**file).collect(),
            stems: FxHashSet::with_capacity_and_hasher(bound + variables, hasher),
            ends: FxHashSet::default(),
            bound: FxHashMap::with_capacity_and_hasher(bound, hasher),
            nested: FxHashMap::default(),
            variables: FxHashMap::with_capacity_and_hasher(variables, hasher),
            classes: FxHashMap::default(),
            children: FxHashMap::default(),
            captured: vec![None; input.units.len()],
            handed: FxHashMap::default(),
            definitions: Vec::with_capacity(values),
            firsts: Vec::with_capacity(input.units.len() + 1),
            kept: FxHashMap::default(),
            entered: FxHashMap::default(),
            filled: FxHashMap::default(),
            callers: FxHashMap::default(),
            says: Vec::with_capacity(input.sites.len()),
            direct: vec![],
            by_hand: vec![],
            personal: vec![],
            closures: OnceCell::new(),
            inside: OnceCell::new(),
            memo: Memo::new(input.sites.len()),
        };
        for (number, class) in input.classes.iter().enumerate() {
            index.classes.entry(&class.name).or_insert(number);
            index.stems.insert(stem(&class.name));
            index.ends.insert(end(&class.name));
            index.ends.extend(class.methods.iter().map(|(name, _)| end(name)));
        }
        for (number, class) in input.classes.iter().enumerate() {
            let base = class.bases.first().and_then(|path| place(path, None));
            if let Some(base) = base.and_then(|base| index.class(&base)) {
                index.children.entry(base).or_default().push(number);
            }
        }
        for (number, unit) in (0_u32..).zip(&input.units) {
            index.function(number, unit);
        }
        index.firsts.push(index.definitions.len());
        for variable in input.variables {
            if let Some(place) = place(&variable.path, variable.owner.as_ref()) {
                index.starts_with(&variable.path, variable.owner.as_ref());
                index.variables.entry(place).or_default().push(variable);
            } else if let Some((Field::At(_), before)) = variable.path.fields.split_last()
                && let Some(place) = place_at(&variable.path.root, before, variable.owner.as_ref())
            {
                index.entered.entry(place.into_owned()).or_default().push(variable);
            }
        }
        for variable in input.holding.iter().filter_map(|number| input.variables.get(*number as usize)) {
            if let Some(initial) = &variable.initial {
                index.functions_in(variable.within, initial, None);
            }
        }
        for number in input.handing {
            let Some(site) = input.sites.get(*number as usize) else { continue };
            for (at, argument) in site.arguments.iter().enumerate() {
                index.functions_in(site.within, argument, Some((*number, at)));
            }
        }
        let mut names = Names::new(input.tables);
        for (number, site) in (0_u32..).zip(input.sites) {
            let (is_foreign, is_known) =
                (|root: &Root| index.is_foreign(root), |name: &str| index.is_known(name));
            let says = site.callee.as_ref().map(|callee| names.of(callee, is_foreign, is_known));
            let says = says.unwrap_or(Says::NOTHING);
            if says.any(Says::KEEPS) {
                index.keeps(number, site);
            }
            index.says.push(says);
        }
        // Who calls whom is found without asking who calls: what fills a collection may depend on that, and waits.
        let direct = std::mem::take(&mut index.direct);
        index.callers = index.memo.apart(|| index.all_callers(direct));
        index
    }

    fn function(&mut self, number: u32, unit: &super::Unit<'i>) {
        if let Some(path) = unit.bound {
            match (&path.root, path.fields.is_empty(), unit.parent) {
                (Root::Value(value), true, Some(parent)) => {
                    self.nested.entry((parent, *value)).or_insert(number);
                }
                _ => {
                    let owner = unit.function.owner.as_ref();
                    if let Some(place) = place(path, owner) {
                        self.starts_with(path, owner);
                        self.bound.entry(place).or_insert(number);
                    }
                }
            }
        }
        let first = self.definitions.len();
        self.firsts.push(first);
        self.definitions.resize(first + unit.function.values.len(), None);
        let mut walk = Walk { index: self, number, first };
        for (at, value) in unit.function.captures.iter().enumerate() {
            walk.define(*value, Definition::Capture(at));
        }
        for (at, value) in unit.function.parameters.iter().enumerate() {
            walk.define(*value, Definition::Parameter(at));
        }
        walk.block(&unit.function.body);
        if unit.holds {
            for (_, arg) in unit.locals.iter().chain(unit.items) {
                self.functions_in(number, arg, None);
            }
            for arg in unit.returned {
                self.functions_in(number, arg, None);
            }
        }
    }

    /// Remembers what the place of a path starts with.
    fn starts_with(&mut self, path: &'i AccessPath, owner: Option<&'i Name>) {
        match (&path.root, owner) {
            (Root::Global(name), _) | (Root::This, Some(name)) => {
                self.stems.insert(stem(name));
            }
            _ => {}
        }
        let last = match (path.fields.last(), &path.root) {
            (Some(field), _) => name_of(field),
            (None, Root::Global(name)) => Some(&**name),
            (None, _) => None,
        };
        if let Some(last) = last {
            self.ends.insert(end(last));
        }
    }

    /// Whether something that could be called may go by a name: a function, a method, a variable, a member of an object. Without such a
    /// thing a call of that name leads nowhere, and need not be followed.
    fn is_known(&self, name: &str) -> bool {
        // Items of a list are found by number, and a name with signs in it can be put together in more than one way.
        let is_number = name.starts_with(|first: char| first.is_ascii_digit() || first == '+');
        self.ends.contains(name)
            || self.input.members.contains(name)
            || is_number
            || name.bytes().any(separates)
    }

    /// Whether nothing that a path leads to from here is of the tree: it starts at what a library or the language offers.
    pub(super) fn is_foreign(&self, root: &Root) -> bool {
        let Root::Global(name) = root else { return false };
        !self.stems.contains(stem(name)) && !name.ends_with("::*")
    }

    /// Remembers what is put into a collection that has a place.
    fn keeps(&mut self, number: u32, site: &'i Site) {
        let Some(callee) = &site.callee else { return };
        let Some((Field::Name(_), collection)) = callee.fields.split_last() else { return };
        if let (Root::Value(value), []) = (&callee.root, collection) {
            let (function, value) = self.home(site.within, *value);
            self.filled.entry((function, value)).or_default().push(number);
            return;
        }
        if let Some(place) = place_at(&callee.root, collection, self.owner(site.within)) {
            self.kept.entry(place.into_owned()).or_default().push(number);
        }
    }

    /// Whether classes that extend a class have a member of that name as well.
    pub(super) fn overridden(&self, class: usize, member: &str) -> bool {
        let look = || self.descendants(class).into_iter().any(|descendant| self.defines(descendant, member));
        self.children.contains_key(&class) && self.memo.overridden(class, member, look)
    }

    /// What is remembered of what was looked at.
    pub(super) const fn memo(&self) -> &Memo<'i> {
        &self.memo
    }

    /// The value of a function that a captured value is.
    fn home(&self, mut function: u32, mut value: Value) -> (u32, Value) {
        while let Some(Definition::Capture(position)) = self.definition(function, value) {
            let Some((within, terms)) = self.captured(function) else { break };
            match terms.get(position) {
                Some(Term::Path(AccessPath { root: Root::Value(outer), fields }))
                    if fields.is_empty() && within < function =>
                {
                    (function, value) = (within, *outer);
                }
                _ => break,
            }
        }
        (function, value)
    }

    /// The calls that put something into a local list, map or set.
    pub(super) fn filled(&self, function: u32, value: Value) -> &[u32] {
        self.filled.get(&(function, value)).map_or(&[], Vec::as_slice)
    }

    /// Remembers the functions that are written in an expression.
    fn functions_in(&mut self, within: u32, arg: &'i Arg, handed: Option<(u32, usize)>) {
        match &arg.shape {
            Shape::Function { function, captures } => {
                self.written(function.0, within, captures);
                if let Some(handed) = handed {
                    self.handed.entry(function.0).or_insert(handed);
                }
            }
            Shape::Object(members) => {
                members.iter().for_each(|(_, arg)| self.functions_in(within, arg, None))
            }
            Shape::List(items) => items.iter().for_each(|arg| self.functions_in(within, arg, None)),
            Shape::Choice(ways) => ways.iter().for_each(|arg| self.functions_in(within, arg, handed)),
            _ => {}
        }
    }

    /// Remembers where a function is written. A function that is only named takes nothing along.
    fn written(&mut self, function: u32, within: u32, captures: &'i [Term]) {
        if let Some(known) = self.captured.get_mut(function as usize)
            && known.is_none_or(|(_, taken)| taken.is_empty())
        {
            *known = Some((within, captures));
        }
    }

    /// The function that is called by a place.
    pub(super) fn bound(&self, place: &str) -> Option<u32> {
        self.bound.get(place).copied()
    }

    /// The function that a value of another function was declared as.
    pub(super) fn nested(&self, function: u32, value: Value) -> Option<u32> {
        self.nested.get(&(function, value)).copied()
    }

    /// What is assigned to a place.
    pub(super) fn variables(&self, place: &str) -> &[&'i Variable] {
        self.variables.get(place).map_or(&[], Vec::as_slice)
    }

    /// What is set in the object at a place under names that only the run knows.
    pub(super) fn entered(&self, place: &str) -> &[&'i Variable] {
        self.entered.get(place).map_or(&[], Vec::as_slice)
    }

    /// The calls that put something into the collection at a place.
    pub(super) fn kept(&self, place: &str) -> &[u32] {
        self.kept.get(place).map_or(&[], Vec::as_slice)
    }

    /// The functions that are written in a function.
    pub(super) fn closures(&self, function: u32) -> &[u32] {
        let all = || {
            let mut closures: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for (number, unit) in (0_u32..).zip(&self.input.units) {
                if let Some(parent) = unit.parent {
                    closures.entry(parent).or_default().push(number);
                }
            }
            closures
        };
        self.closures.get_or_init(all).get(&function).map_or(&[], Vec::as_slice)
    }

    /// The calls that are written in a function, not in closures inside it.
    pub(super) fn inside(&self, function: u32) -> &[u32] {
        let all = || {
            let mut inside: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for (number, site) in (0_u32..).zip(self.input.sites) {
                inside.entry(site.within).or_default().push(number);
            }
            inside
        };
        self.inside.get_or_init(all).get(&function).map_or(&[], Vec::as_slice)
    }

    /// The calls, each with what its names say.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&'i Site, Says)> {
        self.input.sites.iter().zip(self.says.iter().copied())
    }

    /// The calls whose names say something, with their numbers.
    pub(super) fn calls_that(&self, say: Says) -> impl Iterator<Item = (u32, &'i Site)> {
        let says =
            move |(number, (site, says)): (u32, (&'i Site, Says))| says.any(say).then_some((number, site));
        (0_u32..).zip(self.calls()).filter_map(says)
    }

    /// What the names of a call say.
    pub(super) fn says(&self, number: u32) -> Says {
        self.says.get(number as usize).copied().unwrap_or(Says::NOTHING)
    }

    /// The functions that compare something with `tools/call`.
    pub(super) fn by_hand(&self) -> &[u32] {
        &self.by_hand
    }

    /// The functions that name who calls, or in which session.
    pub(super) fn personal(&self) -> &[u32] {
        &self.personal
    }

    /// A class by name.
    pub(super) fn class(&self, name: &str) -> Option<usize> {
        self.classes.get(name).copied()
    }

    /// A class by number.
    pub(super) fn class_at(&self, number: usize) -> Option<&'i Class> {
        self.input.classes.get(number)
    }

    /// A class and those that it extends, nearest first.
    pub(super) fn line(&self, class: usize) -> impl Iterator<Item = &'i Class> {
        let mut next = Some(class);
        let mut left = 16;
        std::iter::from_fn(move || {
            let class = self.class_at(next.take()?)?;
            left -= 1;
            if left > 0 {
                next =
                    class.bases.first().and_then(|path| place(path, None)).and_then(|name| self.class(&name));
            }
            Some(class)
        })
    }

    /// The classes that extend a class, and those that extend them.
    pub(super) fn descendants(&self, class: usize) -> Vec<usize> {
        let (mut found, mut next) = (vec![], 0);
        found.extend(self.children.get(&class).into_iter().flatten());
        while let Some(class) = found.get(next).copied().filter(|_| found.len() < DESCENDANTS) {
            found.extend(self.children.get(&class).into_iter().flatten());
            next += 1;
        }
        found
    }

    /// What a closure takes along: the function that it is written in, and its terms there.
    pub(super) fn captured(&self, function: u32) -> Option<(u32, &'i [Term])> {
        *self.captured.get(function as usize)?
    }

    /// The call that a closure is handed to, and as which argument.
    pub(super) fn handed(&self, function: u32) -> Option<(u32, usize)> {
        self.handed.get(&function).copied()
    }

    /// How a value comes about.
    pub(super) fn definition(&self, function: u32, value: Value) -> Option<Definition<'i>> {
        let first = *self.firsts.get(function as usize)?;
        let next = *self.firsts.get(function as usize + 1)?;
        *self.definitions.get(first..next)?.get(value.0 as usize)?
    }

    /// A call by number.
    pub(super) fn site(&self, number: u32) -> Option<&'i Site> {
        self.input.sites.get(number as usize)
    }

    /// A function by number.
    pub(super) fn unit(&self, number: u32) -> Option<&'i super::Unit<'i>> {
        self.input.units.get(number as usize)
    }

    /// The class that `this` is in a function.
    pub(super) fn owner(&self, function: u32) -> Option<&'i Name> {
        self.unit(function)?.function.owner.as_ref()
    }

    /// How tools are registered.
    pub(super) const fn sdk(&self) -> &'i Sdk {
        self.input.tables.sdk()
    }

    /// What the language itself offers.
    pub(super) const fn builtins(&self) -> &'i Builtins {
        self.input.tables.builtin()
    }

    /// Whether a name belongs to a file of the tree.
    pub(super) fn is_file(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// The calls that reach a function.
    pub(super) fn callers(&self, function: u32) -> &[Caller<'i>] {
        self.callers.get(&function).map_or(&[], Vec::as_slice)
    }

    fn all_callers(&self, direct: Vec<(u32, Caller<'i>)>) -> FxHashMap<u32, Vec<Caller<'i>>> {
        let mut callers: FxHashMap<u32, Vec<Caller<'i>>> = FxHashMap::default();
        let mut add = |function: u32, caller: Caller<'i>| {
            let known = callers.entry(function).or_default();
            if known.len() < CALLERS {
                known.push(caller);
            }
        };
        for ((number, site), says) in (0_u32..).zip(self.input.sites).zip(&self.says) {
            let leads_nowhere = says.any(Says::FOREIGN) || says.any(Says::NOBODY);
            if leads_nowhere && site.function.is_none() {
                continue;
            }
            if let Some(function) = self.target(site) {
                add(function, Caller::Site(number));
            }
        }
        for (function, caller) in direct.into_iter().chain(self.decorators()) {
            add(function, caller);
        }
        callers
    }
}

struct Walk<'x, 'i> {
    index: &'x mut Index<'i>,
    number: u32,
    /// Where the values of the function begin among those of all.
    first: usize,
}

impl<'i> Walk<'_, 'i> {
    fn define(&mut self, value: Value, definition: Definition<'i>) {
        if let Some(known) = self.index.definitions.get_mut(self.first + value.0 as usize) {
            *known = Some(definition);
        }
    }

    /// The same, unless it has come about before.
    fn define_first(&mut self, value: Value, definition: Definition<'i>) {
        if let Some(known) = self.index.definitions.get_mut(self.first + value.0 as usize) {
            known.get_or_insert(definition);
        }
    }

    fn block(&mut self, block: &'i Block) {
        for effect in block {
            match &effect.op {
                Op::Call { into, callee, arguments, .. } => self.call(*into, callee, arguments),
                Op::Closure { into, function, captures } => {
                    self.index.written(function.0, self.number, captures);
                    self.define_first(*into, Definition::Closure(function.0));
                }
                Op::Read { into, of: Resource::Shared(path), .. }
                | Op::Derive { into, term: Term::Path(path), .. } => {
                    self.define_first(*into, Definition::Path(path));
                    if origin::may_say(self.index.sdk(), path) {
                        note(&mut self.index.personal, self.number);
                    }
                }
                Op::Derive { into, from, term: Term::Unknown } => {
                    self.define_first(*into, Definition::From(from));
                }
                Op::Derive { into, term, .. } => {
                    self.define_first(*into, Definition::Term(term));
                }
                // A variable that closures see changing is what it is given first, as far as that can be told.
                Op::Write {
                    to: Resource::Shared(AccessPath { root: Root::Value(variable), fields }),
                    from,
                    ..
                } if fields.is_empty() && !from.is_empty() => {
                    self.define_first(*variable, Definition::From(from));
                }
                op @ Op::Check { .. }
                    if compared(op).any(|(_, word)| **word == *self.index.sdk().dispatch.method) =>
                {
                    note(&mut self.index.by_hand, self.number);
                }
                _ => {}
            }
            effect.op.blocks().for_each(|block| self.block(block));
        }
    }

    fn call(&mut self, into: Option<Value>, callee: &'i Callee, arguments: &'i [Argument]) {
        for argument in arguments {
            if let Argument::Closure { function, captures } = argument {
                self.index.written(function.0, self.number, captures);
            }
        }
        match callee {
            Callee::Closure { function, captures } => {
                self.index.written(function.0, self.number, captures);
                self.index.direct.push((function.0, Caller::Step(self.number, arguments)));
            }
            Callee::Function(function) => {
                self.index.direct.push((function.0, Caller::Step(self.number, arguments)));
            }
            Callee::Pending(site) => {
                if let Some(into) = into {
                    self.define(into, Definition::Call(*site));
                }
            }
            Callee::Value(_) | Callee::Named(_) => {}
        }
    }
}

/// The texts that a check compares with, each with the values that are compared.
pub(super) fn compared(op: &Op) -> impl Iterator<Item = (&[Value], &Name)> {
    let (on, equal, asks) = match op {
        Op::Check { on, equal, asks, .. } => (on.as_slice(), equal.as_ref(), asks.as_slice()),
        _ => (&[][..], None, &[][..]),
    };
    let asked =
        asks.iter().flat_map(|Asked { on, texts, .. }| texts.iter().map(|text| (on.as_slice(), text)));
    equal.map(|text| (on, text)).into_iter().chain(asked)
}

/// Adds a function to those that have something, each once.
fn note(functions: &mut Vec<u32>, function: u32) {
    if functions.last() != Some(&function) {
        functions.push(function);
    }
}
