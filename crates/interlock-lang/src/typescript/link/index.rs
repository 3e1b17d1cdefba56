//! What is written where: functions by the path they are called by, assignments by the place they go to, calls by the function they
//! reach for sure. Collected in one walk; the [meanings](super::meaning) of things are asked of it afterwards.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Exit, Field, Function, FunctionId, Name, Op, Resource, Root, Term,
    Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flat::{Flat, number};
use crate::{Arg, Shape, typescript::split_global};

/// How many callers of a function, assignments to a place and so on are remembered: enough to learn what something is.
const REMEMBERED: usize = 8;

/// Where everything is.
#[derive(Debug, Default)]
pub(super) struct Index<'f> {
    /// Functions by number.
    pub(super) heads: Vec<Head>,
    /// Calls by number.
    pub(super) calls: Vec<CallAt>,
    /// Functions by the place they are called by.
    pub(super) bound: FxHashMap<Name, FunctionId>,
    /// Classes by name.
    pub(super) classes: FxHashMap<&'f str, usize>,
    /// The classes that extend one.
    pub(super) children: FxHashMap<usize, Vec<usize>>,
    /// The classes that say they implement something.
    pub(super) implementors: FxHashMap<Name, Vec<usize>>,
    /// The functions of classes and objects by their name.
    pub(super) methods: FxHashMap<&'f str, Vec<FunctionId>>,
    /// What is assigned to a place: variables by number.
    pub(super) variables: FxHashMap<Name, Vec<usize>>,
    /// The globals that are assigned to after they were made.
    pub(super) assigned: FxHashSet<Name>,
    /// What is put into a collection, by its place.
    pub(super) elements: FxHashMap<Name, Vec<(FunctionId, &'f Arg)>>,
    /// The calls that reach a function for sure.
    pub(super) callers: FxHashMap<FunctionId, Vec<u32>>,
    /// Names that mean objects of one class wherever the tree says what they mean; `None` for those that mean several things.
    pub(super) named: FxHashMap<Name, Option<usize>>,
    /// The calls of what a value holds, by function and place in the file.
    pub(super) by_value: FxHashMap<(u32, u32, u32), u32>,
    /// Where a closure is handed over: the call and the argument.
    pub(super) handed: FxHashMap<FunctionId, (u32, usize)>,
    /// What a closure takes along: the function it is written in, and its terms there.
    pub(super) captured: FxHashMap<FunctionId, (FunctionId, Vec<Term>)>,
}

/// A function without its steps.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) owner: Option<Name>,
    pub(super) captures: Vec<Value>,
    /// The names of its parameters and of what it takes along.
    pub(super) names: Vec<(Value, Name)>,
    /// How each value comes about.
    pub(super) definitions: Vec<Definition>,
    /// What it returns.
    pub(super) returns: Vec<Value>,
}

/// How a value comes about.
#[derive(Debug, Clone, Default)]
pub(super) enum Definition {
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
    /// One of several values.
    Either(Vec<Value>),
    /// A function that is written here.
    Function(FunctionId),
    /// Made here.
    New,
}

/// A call to look up, as it stands among the steps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallAt {
    pub(super) into: Option<Value>,
    pub(super) awaited: bool,
}

impl<'f> Index<'f> {
    pub(super) fn of(flat: &'f Flat, functions: &[Function]) -> Self {
        let mut index = Self { calls: vec![CallAt::default(); flat.sites.len()], ..Self::default() };
        for (id, (about, function)) in flat.about.iter().zip(functions).enumerate() {
            let id = FunctionId(number(id));
            if let Some(place) = about.bound.as_ref().and_then(|path| place(path, function.owner.as_ref())) {
                if let Some(Field::Name(method)) = about.bound.as_ref().and_then(|path| path.fields.last()) {
                    index.methods.entry(method).or_default().push(id);
                }
                index.bound.entry(place.into()).or_insert(id);
            }
            let mut walk = Walk {
                index: &mut index,
                id,
                definitions: vec![Definition::Unknown; function.values.len()],
                returns: vec![],
            };
            for (at, value) in function.parameters.iter().enumerate() {
                walk.define(*value, Definition::Parameter(at));
            }
            for (at, value) in function.captures.iter().enumerate() {
                walk.define(*value, Definition::Capture(at));
            }
            walk.block(&function.body);
            let Walk { definitions, returns, .. } = walk;
            for (_, arg) in about.locals.iter().chain(&about.items) {
                index.closures_in(id, arg, None);
            }
            about.returned.iter().for_each(|arg| index.closures_in(id, arg, None));
            index.heads.push(Head {
                owner: function.owner.clone(),
                captures: function.captures.clone(),
                names: named(function).collect(),
                definitions,
                returns,
            });
        }
        index.classes_of(flat);
        index.variables_of(flat);
        index.sites_of(flat);
        index.names_of(flat, functions);
        index
    }

    fn classes_of(&mut self, flat: &'f Flat) {
        for (number, class) in flat.classes.iter().enumerate() {
            self.classes.entry(&class.name).or_insert(number);
            for (name, function) in &class.methods {
                let functions = self.methods.entry(name).or_default();
                if !functions.contains(&FunctionId(*function)) {
                    functions.push(FunctionId(*function));
                }
            }
        }
        for (number, class) in flat.classes.iter().enumerate() {
            for interface in &class.implements {
                if let Some(place) = place(interface, None) {
                    self.implementors.entry(place.into()).or_default().push(number);
                }
            }
            let parent = class.extends.as_ref().and_then(|path| place(path, None));
            if let Some(parent) = parent.and_then(|place| self.classes.get(&*place).copied()) {
                self.children.entry(parent).or_default().push(number);
            }
        }
    }

    fn variables_of(&mut self, flat: &'f Flat) {
        for (number, variable) in flat.variables.iter().enumerate() {
            if let Some(place) = place(&variable.path, variable.owner.as_ref()) {
                let known = self.variables.entry(place.into()).or_default();
                if known.len() < REMEMBERED {
                    known.push(number);
                }
            }
            if let Some(initial) = &variable.initial {
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
        let class_at = |path: &AccessPath| self.classes.get(place(path, None)?.as_str()).copied();
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
    }

    fn sites_of(&mut self, flat: &'f Flat) {
        for (number, site) in flat.sites.iter().enumerate() {
            let (number, within) = (super::flat::number(number), FunctionId(site.within));
            for (at, argument) in site.arguments.iter().enumerate() {
                self.closures_in(within, argument, Some((number, at)));
            }
            let owner = self.heads.get(site.within as usize).and_then(|head| head.owner.clone());
            if let Some(function) = site.function {
                self.called(FunctionId(function), number);
                continue;
            }
            let Some(callee) = &site.callee else { continue };
            if matches!(callee, AccessPath { root: Root::Value(_), fields } if fields.is_empty()) {
                self.by_value.insert((site.within, site.span.start, site.span.end), number);
            }
            let Some(mut name) = place(callee, owner.as_ref()) else { continue };
            if let (Some(class), true) = (self.classes.get(&*name), site.construct) {
                name = format!("{}.constructor", flat.classes.get(*class).map_or("", |class| &class.name));
            }
            if let Some(function) = self.bound.get(&*name).copied().or_else(|| self.method(flat, &name)) {
                self.called(function, number);
            } else if let Some((collection, method)) = name.rsplit_once('.') {
                let element = match method {
                    "set" => site.arguments.get(1),
                    "push" | "add" | "unshift" => site.arguments.first(),
                    _ => None,
                };
                if let Some(element) = element {
                    let elements = self.elements.entry(collection.into()).or_default();
                    if elements.len() < REMEMBERED {
                        elements.push((within, element));
                    }
                }
            }
        }
    }

    fn called(&mut self, function: FunctionId, by: u32) {
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
                self.captured.entry(*function).or_insert_with(|| (within, captures.clone()));
                if let Some(handed) = handed {
                    self.handed.entry(*function).or_insert(handed);
                }
            }
            Shape::Object(members) => members.iter().for_each(|(_, arg)| self.closures_in(within, arg, None)),
            Shape::List(items) => items.iter().for_each(|arg| self.closures_in(within, arg, None)),
            _ => {}
        }
    }
}

fn named(function: &Function) -> impl Iterator<Item = (Value, Name)> {
    function
        .parameters
        .iter()
        .chain(&function.captures)
        .filter_map(|value| Some((*value, function.values.get(value.0 as usize)?.name.clone())))
}

/// One function's walk.
struct Walk<'i, 'f> {
    index: &'i mut Index<'f>,
    id: FunctionId,
    definitions: Vec<Definition>,
    returns: Vec<Value>,
}

impl Walk<'_, '_> {
    fn define(&mut self, value: Value, definition: Definition) {
        if let Some(known) = self.definitions.get_mut(value.0 as usize) {
            *known = definition;
        }
    }

    fn block(&mut self, block: &Block) {
        for effect in block {
            match &effect.op {
                Op::Call { into, callee, arguments, awaited, .. } => {
                    self.callee(callee);
                    for argument in arguments {
                        if let Argument::Closure { function, captures } = argument {
                            self.captured(*function, captures);
                        }
                    }
                    if let (Some(into), Callee::Closure { function, .. } | Callee::Function(function)) =
                        (into, callee)
                    {
                        self.define(*into, Definition::Returned(*function));
                    }
                    if let Callee::Pending(site) = callee {
                        if let Some(into) = into {
                            self.define(*into, Definition::Call(*site));
                        }
                        if let Some(call) = self.index.calls.get_mut(*site as usize) {
                            *call = CallAt { into: *into, awaited: *awaited };
                        }
                    }
                }
                Op::Read { into, of: Resource::Shared(path), .. } => {
                    self.define(*into, Definition::Path(path.clone()));
                }
                Op::Derive { into, term: Term::Path(path), .. } => {
                    self.define(*into, Definition::Path(path.clone()));
                }
                Op::Derive { into, from, term: Term::Unknown } if !from.is_empty() => {
                    let from = from.iter().copied().take(REMEMBERED).collect();
                    self.define(*into, Definition::Either(from));
                }
                Op::Write {
                    to: Resource::Shared(AccessPath { root: Root::Global(name), fields }), ..
                } if fields.is_empty() => {
                    self.index.assigned.insert(name.clone());
                }
                Op::New { into, .. } => self.define(*into, Definition::New),
                Op::Closure { into, function, captures } => {
                    self.captured(*function, captures);
                    self.define(*into, Definition::Function(*function));
                }
                Op::Exit(Exit::Return(values)) if self.returns.len() < REMEMBERED => {
                    self.returns.extend(values.iter().take(REMEMBERED));
                }
                _ => {}
            }
            self.inner(&effect.op);
        }
    }

    /// The blocks inside a step, without making a list of them.
    fn inner(&mut self, op: &Op) {
        match op {
            Op::Check { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
            }
            Op::Spawn { body, .. } | Op::Loop { body, .. } | Op::Inlined { body, .. } => self.block(body),
            Op::Together { branches } => branches.iter().for_each(|branch| self.block(branch)),
            Op::Try { body, catch, finally } => {
                self.block(body);
                if let Some(catch) = catch {
                    self.block(&catch.body);
                }
                self.block(finally);
            }
            _ => {}
        }
    }

    fn callee(&mut self, callee: &Callee) {
        if let Callee::Closure { function, captures } = callee {
            self.captured(*function, captures);
        }
    }

    fn captured(&mut self, function: FunctionId, captures: &[Term]) {
        let within = self.id;
        self.index.captured.entry(function).or_insert_with(|| (within, captures.to_vec()));
    }
}

/// The place that a path leads to, as a key: `src/a.ts::store.pool`; `src/a.ts::Store.pool` for a field of `this`. What is in a map
/// or a list has one place for all keys.
pub(super) fn place(path: &AccessPath, owner: Option<&Name>) -> Option<String> {
    let mut place = String::new();
    match &path.root {
        Root::Global(name) => place.push_str(name),
        Root::This => {
            place.push_str(owner?);
        }
        Root::Value(_) => return None,
    }
    for field in &path.fields {
        match field {
            Field::Name(name) => place.extend([".", name]),
            Field::At(_) => place.push_str("[]"),
        }
    }
    Some(place)
}
