//! What is written where: functions by the path they are called by, assignments by the place they go to, calls by the function they
//! reach for sure. Collected in one walk; the [evaluator](super::evaluator) asks it afterwards, and before it the discovery of
//! [tools](crate::tools).

use std::{borrow::Cow, collections::VecDeque, ops::Range};

use interlock_model::ir::{AccessPath, Field, Function, FunctionId, Name, Root, Term, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{key::place, walk::Walk};
use crate::{
    Arg, Lookup, Shape,
    link::flat::{Flat, number, stem},
    module::{Kept, Site, split_global},
    tables::{Builtins, Does},
};

/// How many callers of a function, assignments to a place and so on are remembered: enough to learn what something is.
pub(super) const REMEMBERED: usize = 8;

/// How many classes one inherits from at most, itself included.
const MOST_ANCESTORS: usize = 16;

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Index<'f> {
    builtins: &'f Builtins,
    /// Functions by number.
    pub(crate) heads: Vec<Head>,
    /// How the values of all functions come about, one function after another.
    pub(super) definitions: Vec<Definition>,
    /// What all functions return, one after another.
    pub(super) returns: Vec<Value>,
    /// The stems of the names that something of the tree is called by, or put into.
    stems: FxHashSet<Cow<'f, str>>,
    /// Calls by number.
    pub(crate) calls: Vec<CallAt>,
    /// The numbers of the places at which something is.
    places: FxHashMap<Cow<'f, str>, u32>,
    /// What is at them, by number.
    at: Vec<At>,
    /// Classes by name.
    pub(crate) classes: FxHashMap<&'f str, usize>,
    /// The classes that each class extends.
    bases: Vec<Vec<usize>>,
    /// The classes that extend one.
    pub(crate) children: FxHashMap<usize, Vec<usize>>,
    /// The classes that say they implement something.
    pub(crate) implementors: FxHashMap<Cow<'f, str>, Vec<usize>>,
    /// The functions of classes and objects by their name.
    pub(crate) methods: FxHashMap<&'f str, Vec<FunctionId>>,
    /// The methods that run where they are named, and their names.
    pub(crate) getters: FxHashMap<FunctionId, Kept>,
    pub(crate) getter_names: FxHashSet<&'f str>,
    /// For each variable the next one of its place; itself where there is none.
    next: Vec<u32>,
    /// The globals that are assigned to after they were made.
    pub(crate) assigned: FxHashSet<Name>,
    /// What is put into a collection, by its place.
    pub(crate) elements: FxHashMap<Name, Vec<(FunctionId, &'f Arg)>>,
    /// The calls that reach a function for sure.
    pub(crate) callers: FxHashMap<FunctionId, Vec<u32>>,
    /// Names that mean objects of one class wherever the tree says what they mean; `None` for those that mean several things.
    pub(crate) named: FxHashMap<Name, Option<usize>>,
    /// The parameters and captured values that go by such a name, with the class.
    pub(crate) called: FxHashMap<(FunctionId, Value), usize>,
    /// The calls of what a value holds, by function and place in the file.
    pub(crate) by_value: FxHashMap<(u32, u32, u32), u32>,
    /// What variables are given first that closures see changing.
    pub(super) written: FxHashMap<(FunctionId, Value), Definition>,
    /// The other values that a value may be which is found at a path, or else something: `given ?? usual`.
    pub(crate) otherwise: FxHashMap<(FunctionId, Value), Vec<Value>>,
    /// Where a closure is handed over: the call and the argument.
    pub(crate) handed: FxHashMap<FunctionId, (u32, usize)>,
    /// What the parameters of functions are by default, by position.
    pub(crate) defaults: FxHashMap<FunctionId, Vec<Option<&'f Arg>>>,
    /// How functions set fields of `this`.
    pub(super) set_by: FxHashMap<(FunctionId, Name), Sets>,
    /// What has a field of some name set from outside, or taken away: the first few.
    pub(super) set_elsewhere: FxHashMap<Name, Vec<(FunctionId, AccessPath)>>,
    /// The functions that may come to their end without returning anything.
    pub(super) may_return_nothing: FxHashSet<FunctionId>,
    /// What the closures among all functions take along: the function it is written in, and its terms there.
    captured: Vec<Option<(FunctionId, Vec<Term>)>>,
}

/// What is at a place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct At {
    /// The function that is called by it.
    pub(crate) bound: Option<FunctionId>,
    /// The class that has this name.
    pub(crate) class: Option<u32>,
    /// What is assigned to it: the first and the last variable of a chain, by number.
    pub(crate) variables: Option<(u32, u32)>,
}

/// How a function sets a field.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sets {
    /// At how many places.
    pub(super) times: usize,
    /// Whether one of them stands behind no condition.
    pub(super) always: bool,
}

/// A function without its steps.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) owner: Option<Name>,
    /// How many values it takes along.
    pub(crate) captures: usize,
    /// How many it is handed; the last may stand for several.
    pub(crate) parameters: usize,
    /// Whether it does more than compute: reads, writes, calls or waits.
    pub(crate) acts: bool,
    /// Whether it writes or deletes something itself.
    pub(crate) changes: bool,
    /// How many steps it has.
    pub(crate) steps: usize,
    /// How each of its values comes about, among those of all functions.
    definitions: Range<usize>,
    /// What it returns, among what all functions do.
    returns: Range<usize>,
}

/// How a value comes about.
#[derive(Debug, Clone, Default)]
pub(crate) enum Definition {
    /// In a way that says nothing about it.
    #[default]
    Unknown,
    /// A parameter.
    Parameter(usize),
    /// Taken along from outside.
    Capture(usize),
    /// The result of a call.
    Call(u32),
    /// What a function returned that was called by what it is.
    Returned(FunctionId),
    /// What is found at a path.
    Path(AccessPath),
    /// What another term says.
    Term(Term),
    /// One of several values.
    Either(Vec<Value>),
    /// A function that is written here.
    Function(FunctionId),
    /// Made here.
    New,
}

/// A call to look up, as it stands among the steps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallAt {
    pub(crate) into: Option<Value>,
    pub(crate) awaited: bool,
}

impl<'f> Index<'f> {
    fn empty(builtins: &'f Builtins) -> Self {
        Self {
            builtins,
            heads: Default::default(),
            definitions: Default::default(),
            returns: Default::default(),
            stems: Default::default(),
            calls: Default::default(),
            places: Default::default(),
            at: Default::default(),
            classes: Default::default(),
            bases: Default::default(),
            children: Default::default(),
            implementors: Default::default(),
            methods: Default::default(),
            getters: Default::default(),
            getter_names: Default::default(),
            next: Default::default(),
            assigned: Default::default(),
            elements: Default::default(),
            callers: Default::default(),
            named: Default::default(),
            called: Default::default(),
            by_value: Default::default(),
            written: Default::default(),
            otherwise: Default::default(),
            handed: Default::default(),
            defaults: Default::default(),
            set_by: Default::default(),
            set_elsewhere: Default::default(),
            may_return_nothing: Default::default(),
            captured: Default::default(),
        }
    }

    pub(crate) fn of(flat: &'f Flat, functions: &[Function], builtins: &'f Builtins) -> Self {
        let mut index = Self::empty(builtins);
        index.calls = vec![CallAt::default(); flat.sites.len()];
        index.heads.reserve_exact(functions.len());
        let places = flat.about.iter().filter(|about| about.bound.is_some()).count() + flat.variables.len();
        index.stems.reserve(places);
        index.places.reserve(places);
        index.at.reserve(places);
        index.captured.resize_with(functions.len(), || None);
        index.definitions.reserve_exact(functions.iter().map(|function| function.values.len()).sum());
        for (id, (about, function)) in flat.about.iter().zip(functions).enumerate() {
            let id = FunctionId(number(id));
            if let Some(path) = &about.bound
                && let Some(place) = place(path, function.owner.as_ref())
            {
                if let Some(Field::Name(method)) = path.fields.last() {
                    index.methods.entry(method).or_default().push(id);
                }
                if let Some(known) = index.at_place(place) {
                    known.bound.get_or_insert(id);
                }
                index.starts_with(path, function.owner.as_ref());
            }
            let (first, returned) = (index.definitions.len(), index.returns.len());
            index.definitions.resize_with(first + function.values.len(), Definition::default);
            let mut walk = Walk {
                index: &mut index,
                id,
                first,
                returned,
                acts: false,
                changes: false,
                steps: 0,
                depth: 0,
            };
            for (at, value) in function.parameters.iter().enumerate() {
                walk.define(*value, Definition::Parameter(at));
            }
            for (at, value) in function.captures.iter().enumerate() {
                walk.define(*value, Definition::Capture(at));
            }
            walk.block(&function.body);
            let Walk { acts, changes, steps, .. } = walk;
            let of_parameter = |parameter: &Value| {
                about.locals.iter().find(|(local, _)| local == parameter).map(|(_, default)| default)
            };
            if !about.locals.is_empty() && function.parameters.iter().any(|it| of_parameter(it).is_some()) {
                index.defaults.insert(id, function.parameters.iter().map(of_parameter).collect());
            }
            if about.holds {
                for (_, arg) in about.locals.iter().chain(&about.items) {
                    index.closures_in(id, arg, None);
                }
                about.returned.iter().for_each(|arg| index.closures_in(id, arg, None));
            }
            index.heads.push(Head {
                owner: function.owner.clone(),
                captures: function.captures.len(),
                parameters: function.parameters.len(),
                acts,
                changes,
                steps,
                definitions: first..index.definitions.len(),
                returns: returned..index.returns.len(),
            });
        }
        index.classes_of(flat);
        index.variables_of(flat);
        index.sites_of(flat);
        index.calls_back(flat, functions);
        index.names_of(flat, functions);
        index
    }

    /// How a value of a function comes about.
    pub(crate) fn definition(&self, function: FunctionId, value: Value) -> Option<&Definition> {
        let head = self.heads.get(function.0 as usize)?;
        self.definitions.get(head.definitions.clone())?.get(value.0 as usize)
    }

    /// What a function returns.
    pub(crate) fn returns(&self, head: &Head) -> &[Value] {
        self.returns.get(head.returns.clone()).unwrap_or_default()
    }

    /// The number of a value among those of all functions.
    pub(crate) fn number(&self, function: FunctionId, value: Value) -> Option<u32> {
        let Range { start, end } = self.heads.get(function.0 as usize)?.definitions;
        Some(start + value.0 as usize).filter(|number| *number < end).map(number)
    }

    /// The number of a place, and what is there.
    pub(crate) fn place(&self, place: &str) -> Option<(u32, At)> {
        let number = *self.places.get(place)?;
        Some((number, *self.at.get(number as usize)?))
    }

    /// What is at a place, nothing at first.
    fn at_place(&mut self, place: Cow<'f, str>) -> Option<&mut At> {
        let next = number(self.at.len());
        let number = *self.places.entry(place).or_insert(next);
        if number == next {
            self.at.push(At::default());
        }
        self.at.get_mut(number as usize)
    }

    /// What a closure takes along: the function it is written in, and its terms there.
    pub(crate) fn captured(&self, function: FunctionId) -> Option<&(FunctionId, Vec<Term>)> {
        self.captured.get(function.0 as usize)?.as_ref()
    }

    /// Remembers where a closure is written. A function that is only named takes nothing along.
    pub(super) fn add_captures(&mut self, function: FunctionId, within: FunctionId, captures: &[Term]) {
        if let Some(known) = self.captured.get_mut(function.0 as usize)
            && known.as_ref().is_none_or(|(_, taken)| taken.is_empty())
        {
            *known = Some((within, captures.to_vec()));
        }
    }

    /// What is assigned to a place: the first few variables, by number.
    pub(crate) fn variables(&self, place: &str) -> impl Iterator<Item = usize> + Clone {
        let first = self.place(place).and_then(|(_, known)| known.variables).map(|(first, _)| first);
        self.variables_from(first)
    }

    /// The first few variables of a place from the first one on.
    pub(crate) fn variables_from(&self, first: Option<u32>) -> impl Iterator<Item = usize> + Clone {
        self.chain_from(first).take(REMEMBERED)
    }

    /// Everything that is assigned to a place: variables by number.
    pub(crate) fn all_variables(&self, place: &str) -> impl Iterator<Item = usize> + Clone {
        self.chain_from(self.place(place).and_then(|(_, known)| known.variables).map(|(first, _)| first))
    }

    fn chain_from(&self, first: Option<u32>) -> impl Iterator<Item = usize> + Clone {
        let next = |number: &u32| self.next.get(*number as usize).copied().filter(|next| next != number);
        std::iter::successors(first, next).map(|number| number as usize)
    }

    /// What a variable is given first that closures see changing.
    pub(crate) fn written(&self, function: FunctionId, value: Value) -> Option<&Definition> {
        self.written.get(&(function, value))
    }

    /// How a function sets a field of `this`, if it does.
    pub(super) fn sets(&self, function: FunctionId, field: &Name) -> Option<&Sets> {
        self.set_by.get(&(function, field.clone()))
    }

    /// The methods of some classes that set a field, constructors and closures included.
    pub(super) fn setters(
        &self,
        field: &Name,
        is_of_class: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = (FunctionId, &Sets)> {
        let of_class = move |function: &FunctionId| {
            let owner = self.heads.get(function.0 as usize).and_then(|head| head.owner.as_ref());
            owner.is_some_and(|owner| is_of_class(owner))
        };
        let set = self.set_by.iter().filter(move |((function, name), _)| name == field && of_class(function));
        set.map(|((function, _), set)| (*function, set))
    }

    /// Whether a field of this name is set from outside, or taken away, of something that may be meant.
    pub(super) fn is_set_elsewhere(
        &self,
        field: &Name,
        is_meant: impl Fn(FunctionId, &AccessPath) -> bool,
    ) -> bool {
        let Some(set) = self.set_elsewhere.get(field) else { return false };
        set.len() >= REMEMBERED || set.iter().any(|(function, whole)| is_meant(*function, whole))
    }

    /// The calls that reach a function for sure, if all of them are remembered.
    pub(super) fn all_callers(&self, function: FunctionId) -> Option<&Vec<u32>> {
        self.callers.get(&function).filter(|callers| callers.len() < REMEMBERED)
    }

    /// The classes that a class extends, as far as they are the program's.
    pub(crate) fn bases(&self, class: usize) -> &[usize] {
        self.bases.get(class).map_or(&[], Vec::as_slice)
    }

    /// A class and what it inherits from, itself first, in the order in which the language looks methods up; circles end.
    pub(crate) fn ancestry(&self, class: usize, lookup: Lookup) -> impl Iterator<Item = usize> {
        let mut seen = vec![class];
        let mut pending = VecDeque::from([class]);
        std::iter::from_fn(move || {
            let current = pending.pop_front()?;
            let mut bases = self.bases(current).to_vec();
            bases.retain(|base| !seen.contains(base));
            bases.truncate(MOST_ANCESTORS.saturating_sub(seen.len()));
            seen.extend(&bases);
            match lookup {
                Lookup::DepthFirst => bases.into_iter().rev().for_each(|base| pending.push_front(base)),
                Lookup::Shallowest => pending.extend(bases),
            }
            Some(current)
        })
    }

    /// Whether something of the tree may be found at a global, or behind it. What a library or the language offers is asked for at
    /// every call, and hardly ever is anything known of it here.
    pub(crate) fn knows(&self, global: &str) -> bool {
        self.stems.contains(stem(global))
    }

    /// Remembers what the place of a path starts with.
    fn starts_with(&mut self, path: &'f AccessPath, owner: Option<&Name>) {
        match (&path.root, owner) {
            (Root::Global(name), _) => {
                self.stems.insert(Cow::Borrowed(stem(name)));
            }
            (Root::This, Some(owner)) if !self.knows(owner) => {
                self.stems.insert(Cow::Owned(stem(owner).to_owned()));
            }
            _ => {}
        }
    }

    fn classes_of(&mut self, flat: &'f Flat) {
        for (number, class) in flat.classes.iter().enumerate() {
            self.classes.entry(&class.name).or_insert(number);
            if let Some(known) = self.at_place(Cow::Borrowed(&class.name)) {
                known.class.get_or_insert(crate::link::flat::number(number));
            }
            self.stems.insert(Cow::Borrowed(stem(&class.name)));
            for (name, function) in &class.methods {
                let functions = self.methods.entry(name).or_default();
                if !functions.contains(&FunctionId(*function)) {
                    functions.push(FunctionId(*function));
                }
                if let Some((_, kept)) = class.getters.iter().find(|(getter, _)| getter == function) {
                    self.getters.insert(FunctionId(*function), *kept);
                    self.getter_names.insert(name);
                }
            }
        }
        for (number, class) in flat.classes.iter().enumerate() {
            for interface in &class.implements {
                if let Some(place) = place(interface, None) {
                    self.implementors.entry(place).or_default().push(number);
                }
            }
            let bases = class.bases.iter();
            let bases: Vec<usize> =
                bases.filter_map(|base| self.classes.get(&*place(base, None)?).copied()).collect();
            for base in &bases {
                self.children.entry(*base).or_default().push(number);
            }
            self.bases.push(bases);
        }
    }

    fn variables_of(&mut self, flat: &'f Flat) {
        self.next.reserve_exact(flat.variables.len());
        for (number, variable) in (0_u32..).zip(&flat.variables) {
            self.next.push(number);
            if let Some(place) = place(&variable.path, variable.owner.as_ref()) {
                self.starts_with(&variable.path, variable.owner.as_ref());
                let Some(known) = self.at_place(place) else { continue };
                let (_, last) = known.variables.get_or_insert((number, number));
                let last = std::mem::replace(last, number);
                if let Some(next) = self.next.get_mut(last as usize) {
                    *next = number;
                }
            }
        }
        for number in &flat.holding {
            if let Some(variable) = flat.variables.get(*number as usize)
                && let Some(initial) = &variable.initial
            {
                self.closures_in(FunctionId(variable.within), initial, None);
            }
        }
    }

    /// Names that mean objects of one class wherever their type is said: fields, parameters, and variables that are set to new ones.
    fn names_of(&mut self, flat: &'f Flat, functions: &[Function]) {
        let mut say = |name: &Name, class: Option<usize>| {
            let known = self.named.entry(name.clone()).or_insert(class);
            if *known != class {
                *known = None;
            }
        };
        let class_at = |path: &AccessPath| self.classes.get(&*place(path, None)?).copied();
        for class in &flat.classes {
            class.fields.iter().for_each(|(name, declared)| say(name, class_at(declared)));
        }
        for (about, function) in flat.about.iter().zip(functions) {
            for (value, declared) in &about.types {
                if let Some(info) = function.values.get(value.0 as usize) {
                    say(&info.name, class_at(declared));
                }
            }
        }
        for variable in &flat.variables {
            let made = match variable.initial.as_ref().map(|initial| &initial.shape) {
                Some(Shape::Call(site)) => flat.sites.get(*site as usize).filter(|site| site.construct),
                _ => None,
            };
            let Some(made) = made.and_then(|site| site.callee.as_ref()) else { continue };
            let last = variable.path.fields.last().or(None);
            let name = match (last, &variable.path.root) {
                (Some(Field::Name(name)), _) => name.clone(),
                (None, Root::Global(name)) => split_global(name).map_or("", |(_, name)| name).into(),
                _ => continue,
            };
            say(&name, class_at(made));
        }
        let classes = self.named.iter().filter_map(|(name, class)| Some((&**name, (*class)?)));
        let classes: FxHashMap<&str, usize> = classes.collect();
        if classes.is_empty() {
            return;
        }
        for (id, function) in (0_u32..).zip(functions) {
            for value in function.parameters.iter().chain(&function.captures) {
                let name = function.values.get(value.0 as usize).map(|info| &*info.name);
                if let Some(class) = name.and_then(|name| classes.get(name)) {
                    self.called.insert((FunctionId(id), *value), *class);
                }
            }
        }
    }

    fn sites_of(&mut self, flat: &'f Flat) {
        for number in &flat.handing {
            let Some(site) = flat.sites.get(*number as usize) else { continue };
            for (at, argument) in site.arguments.iter().enumerate() {
                self.closures_in(FunctionId(site.within), argument, Some((*number, at)));
            }
        }
        for (number, site) in (0_u32..).zip(&flat.sites) {
            if let Some(function) = site.function {
                self.add_caller(FunctionId(function), number);
                continue;
            }
            let Some(callee) = &site.callee else { continue };
            if matches!(callee, AccessPath { root: Root::Value(_), fields } if fields.is_empty()) {
                self.by_value.insert((site.within, site.span.start, site.span.end), number);
            }
            self.reaches(flat, number, site, callee);
        }
    }

    /// Remembers which function a call reaches for sure, or what it puts into a collection.
    fn reaches(&mut self, flat: &'f Flat, number: u32, site: &'f Site, callee: &'f AccessPath) {
        let element = match last_of(callee).and_then(|method| self.builtins.does(method)) {
            Some(Does::Set) => site.arguments.get(1),
            Some(Does::Push | Does::Add) => site.arguments.first(),
            _ => None,
        };
        if let Root::Global(name) = &callee.root
            && element.is_none()
            && !self.knows(name)
        {
            return;
        }
        let owner = self.heads.get(site.within as usize).and_then(|head| head.owner.as_ref());
        let Some(mut name) = place(callee, owner) else { return };
        if let (Some(class), true) = (self.classes.get(&*name), site.construct) {
            name = format!("{}.constructor", flat.classes.get(*class).map_or("", |class| &class.name)).into();
        }
        let bound = self.place(&name).and_then(|(_, known)| known.bound);
        if let Some(function) = bound.or_else(|| self.method(flat, &name)) {
            self.add_caller(function, number);
        } else if let Some(element) = element
            && let Some((collection, _)) = name.rsplit_once('.')
        {
            let elements = self.elements.entry(collection.into()).or_default();
            if elements.len() < REMEMBERED {
                elements.push((FunctionId(site.within), element));
            }
            let owner = self.heads.get(site.within as usize).and_then(|head| head.owner.clone());
            self.starts_with(callee, owner.as_ref());
        }
    }

    pub(super) fn add_caller(&mut self, function: FunctionId, by: u32) {
        let callers = self.callers.entry(function).or_default();
        if callers.len() < REMEMBERED {
            callers.push(by);
        }
    }

    /// A method of a class by its place, `CLASS.method`.
    fn method(&self, flat: &Flat, place: &str) -> Option<FunctionId> {
        let (class, method) = place.rsplit_once('.')?;
        let class = flat.classes.get(*self.classes.get(class)?)?;
        let (_, function) = class.methods.iter().find(|(name, _)| &**name == method)?;
        Some(FunctionId(*function))
    }

    /// Remembers the functions that are written in an argument.
    fn closures_in(&mut self, within: FunctionId, arg: &Arg, handed: Option<(u32, usize)>) {
        match &arg.shape {
            Shape::Function { function, captures } => {
                self.add_captures(*function, within, captures);
                if let Some(handed) = handed {
                    self.handed.entry(*function).or_insert(handed);
                }
            }
            Shape::Object(members) => members.iter().for_each(|(_, arg)| self.closures_in(within, arg, None)),
            Shape::List(items) => items.iter().for_each(|arg| self.closures_in(within, arg, None)),
            Shape::Choice(ways) => ways.iter().for_each(|arg| self.closures_in(within, arg, handed)),
            _ => {}
        }
    }
}

/// The last name of what is called, as it ends its place.
fn last_of(callee: &AccessPath) -> Option<&str> {
    match (callee.fields.last(), &callee.root) {
        (Some(Field::Name(name)), _) => Some(name),
        (None, Root::Global(name)) => name.rsplit_once('.').map(|(_, last)| last),
        _ => None,
    }
}
