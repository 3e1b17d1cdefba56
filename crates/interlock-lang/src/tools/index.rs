//! What discovery asks of a tree besides what [linking](crate::eval::Index) knows of it: what calls say, what fills collections, who
//! calls whom.

use std::cell::OnceCell;

use interlock_model::ir::{
    AccessPath, Argument, Asked, Callee, Field, Function, FunctionId, Name, Op, Resource, Root, Term, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    input::Input,
    memo::Memo,
    mounted::{self, Mounted},
    origin,
    place::{end, name_of, place_at, separates},
    says::{Names, Says},
};
pub(super) use crate::eval::Definition;
use crate::{
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
    /// The last names of the places at which something of the tree is, and of its methods.
    ends: FxHashSet<&'i str>,
    nested: FxHashMap<(u32, Value), u32>,
    /// What is set under names that are no identifiers, by the exact place: `tools["get-point"] = tool`.
    exact: FxHashMap<String, Vec<&'i Variable>>,
    kept: FxHashMap<String, Vec<u32>>,
    filled: FxHashMap<(u32, Value), Vec<u32>>,
    callers: FxHashMap<u32, Vec<Caller<'i>>>,
    /// What the names of each call say.
    says: Vec<Says>,
    /// The functions that compare something with `tools/call`.
    by_hand: Vec<u32>,
    /// The functions that name who calls, or in which session.
    personal: Vec<u32>,
    /// What few trees ask for: the functions and the calls in a function.
    closures: OnceCell<FxHashMap<u32, Vec<u32>>>,
    inside: OnceCell<FxHashMap<u32, Vec<u32>>>,
    /// The calls of methods of locals, by the name of the method.
    by_method: OnceCell<FxHashMap<&'i str, Vec<u32>>>,
    /// The servers that others take over.
    mounted: OnceCell<Vec<Mounted>>,
    memo: Memo<'i>,
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
    /// Goes over everything once.
    pub(super) fn of(input: &'i Input<'i>) -> Self {
        let mut index = Self {
            input,
            files: input.files.iter().map(|file| &**file).collect(),
            ends: FxHashSet::default(),
            nested: FxHashMap::default(),
            exact: FxHashMap::default(),
            kept: FxHashMap::default(),
            filled: FxHashMap::default(),
            callers: FxHashMap::default(),
            says: Vec::with_capacity(input.sites.len()),
            by_hand: vec![],
            personal: vec![],
            closures: OnceCell::new(),
            inside: OnceCell::new(),
            by_method: OnceCell::new(),
            mounted: OnceCell::new(),
            memo: Memo::new(input.sites.len()),
        };
        for class in input.classes {
            index.ends.insert(end(&class.name));
            index.ends.extend(class.methods.iter().map(|(name, _)| end(name)));
        }
        let mut direct = vec![];
        for (number, unit) in (0_u32..).zip(&input.units) {
            match (unit.bound, unit.parent) {
                (Some(AccessPath { root: Root::Value(value), fields }), Some(parent))
                    if fields.is_empty() =>
                {
                    index.nested.entry((parent, *value)).or_insert(number);
                }
                (Some(path), _) => index.ends_with(path),
                (None, _) => {}
            }
            index.steps(number, unit.function, &mut direct);
        }
        for variable in input.variables {
            index.ends_with(&variable.path);
            let is_exact = |field: &Field| matches!(field, Field::At(Term::Literal(_)));
            if variable.path.fields.iter().any(is_exact)
                && let Some(place) =
                    place_at(&variable.path.root, &variable.path.fields, variable.owner.as_ref())
            {
                index.exact.entry(place.into_owned()).or_default().push(variable);
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
        index.callers = index.memo.apart(|| index.all_callers(direct));
        index
    }

    /// Remembers what the steps of a function say.
    fn steps(&mut self, number: u32, function: &'i Function, direct: &mut Vec<(u32, Caller<'i>)>) {
        for effect in function.effects() {
            match &effect.op {
                Op::Call {
                    callee: Callee::Closure { function, .. } | Callee::Function(function),
                    arguments,
                    ..
                } => direct.push((function.0, Caller::Step(number, arguments))),
                Op::Read { of: Resource::Shared(path), .. } | Op::Derive { term: Term::Path(path), .. }
                    if origin::may_say(self.sdk(), path) =>
                {
                    note(&mut self.personal, number);
                }
                op @ Op::Check { .. }
                    if compared(op).any(|(_, word)| **word == *self.sdk().dispatch.method) =>
                {
                    note(&mut self.by_hand, number);
                }
                _ => {}
            }
        }
    }

    /// Remembers what a path ends in.
    fn ends_with(&mut self, path: &'i AccessPath) {
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
        !self.input.index.knows(name) && !name.ends_with("::*")
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
        self.input.index.children.contains_key(&class) && self.memo.overridden(class, member, look)
    }

    /// What is remembered of what was looked at.
    pub(super) const fn memo(&self) -> &Memo<'i> {
        &self.memo
    }

    /// The value of a function that a captured value is.
    fn home(&self, mut function: u32, mut value: Value) -> (u32, Value) {
        while let Some(Definition::Capture(position)) = self.definition(function, value) {
            let Some((within, terms)) = self.captured(function) else { break };
            match terms.get(*position) {
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

    /// The function that is called by a place.
    pub(super) fn bound(&self, place: &str) -> Option<u32> {
        let (_, known) = self.input.index.place(place)?;
        known.bound.map(|function| function.0)
    }

    /// The function that a value of another function was declared as.
    pub(super) fn nested(&self, function: u32, value: Value) -> Option<u32> {
        self.nested.get(&(function, value)).copied()
    }

    /// What is assigned to a place.
    pub(super) fn variables(&self, place: &str) -> impl Iterator<Item = &'i Variable> {
        let exact = self.exact.get(place).into_iter().flatten().copied();
        self.variables_at(place).chain(exact)
    }

    fn variables_at(&self, place: &str) -> impl Iterator<Item = &'i Variable> {
        let numbers = self.input.index.all_variables(place);
        numbers.filter_map(|number| self.input.variables.get(number))
    }

    /// What is set in the object at a place under names that only the run knows: `tools[tool.name] = tool`.
    pub(super) fn entered(&self, place: &str) -> Vec<&'i Variable> {
        let by_value =
            |variable: &&Variable| variable.path.fields.last().is_some_and(|last| name_of(last).is_none());
        self.variables_at(&[place, "[]"].concat()).filter(by_value).collect()
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

    /// The servers that others take over, with what their tools are called by.
    pub(super) fn mounted(&self) -> &[Mounted] {
        self.mounted.get_or_init(|| mounted::all(self))
    }

    /// The functions that name who calls, or in which session.
    pub(super) fn personal(&self) -> &[u32] {
        &self.personal
    }

    /// A class by name.
    pub(super) fn class(&self, name: &str) -> Option<usize> {
        self.input.index.classes.get(name).copied()
    }

    /// A class by number.
    pub(super) fn class_at(&self, number: usize) -> Option<&'i Class> {
        self.input.classes.get(number)
    }

    /// A class and those that it extends, nearest first.
    pub(super) fn line(&self, class: usize) -> impl Iterator<Item = &'i Class> {
        let numbers = self.input.index.ancestry(class, self.input.lookup);
        numbers.filter_map(|class| self.class_at(class))
    }

    /// The classes that extend a class, and those that extend them.
    pub(super) fn descendants(&self, class: usize) -> Vec<usize> {
        let (mut found, mut next) = (vec![], 0);
        found.extend(self.input.index.children.get(&class).into_iter().flatten());
        while let Some(class) = found.get(next).copied().filter(|_| found.len() < DESCENDANTS) {
            found.extend(self.input.index.children.get(&class).into_iter().flatten());
            next += 1;
        }
        found
    }

    /// What a closure takes along: the function that it is written in, and its terms there.
    pub(super) fn captured(&self, function: u32) -> Option<(u32, &'i [Term])> {
        let (within, terms) = self.input.index.captured(FunctionId(function))?;
        Some((within.0, terms))
    }

    /// The call that a closure is handed to, and as which argument.
    pub(super) fn handed(&self, function: u32) -> Option<(u32, usize)> {
        self.input.index.handed.get(&FunctionId(function)).copied()
    }

    /// How a value comes about, as far as that says what it is.
    pub(super) fn definition(&self, function: u32, value: Value) -> Option<&'i Definition> {
        let (index, function) = (self.input.index, FunctionId(function));
        match index.definition(function, value)? {
            Definition::Unknown | Definition::New | Definition::Returned(_) => index.written(function, value),
            known => Some(known),
        }
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

    /// The calls of a method of that name, of locals of which nobody knows what they are.
    pub(super) fn calls_of_method(&self, name: &str) -> impl Iterator<Item = &'i Site> {
        let all = || {
            let mut calls: FxHashMap<&'i str, Vec<u32>> = FxHashMap::default();
            for (number, site) in (0_u32..).zip(self.input.sites) {
                if let Some(AccessPath { root: Root::Value(_), fields }) = &site.callee
                    && let Some(name) = fields.last().and_then(name_of)
                {
                    calls.entry(name).or_default().push(number);
                }
            }
            calls
        };
        let calls = self.by_method.get_or_init(all).get(name).map_or(&[][..], Vec::as_slice);
        let calls = calls.iter().take(CALLERS).filter_map(|number| self.site(*number));
        calls.filter(|site| self.target(site).is_none())
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
