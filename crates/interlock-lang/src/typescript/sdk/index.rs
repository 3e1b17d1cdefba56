//! What is written where, so that expressions can be followed: one walk over everything.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Field, Name, Op, Resource, Root, Term, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{input::Input, memo::Memo};
use crate::{
    Arg, Shape,
    typescript::{
        module::{Class, Site, Variable},
        split_global,
    },
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
    bound: FxHashMap<String, u32>,
    nested: FxHashMap<(u32, Value), u32>,
    closures: FxHashMap<u32, Vec<u32>>,
    variables: FxHashMap<String, Vec<&'i Variable>>,
    globals: FxHashMap<&'i str, Vec<&'i Variable>>,
    classes: FxHashMap<&'i str, usize>,
    children: FxHashMap<usize, Vec<usize>>,
    captured: FxHashMap<u32, (u32, &'i [Term])>,
    handed: FxHashMap<u32, (u32, usize)>,
    /// For each function, how each of its values comes about.
    definitions: Vec<Vec<Option<Definition<'i>>>>,
    kept: FxHashMap<String, Vec<u32>>,
    filled: FxHashMap<(u32, Value), Vec<u32>>,
    inside: FxHashMap<u32, Vec<u32>>,
    callers: FxHashMap<u32, Vec<Caller<'i>>>,
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
}

impl<'i> Index<'i> {
    /// Walks over everything.
    pub(super) fn of(input: &'i Input<'i>) -> Self {
        let mut index = Self {
            input,
            files: input.files.iter().map(|file| &**file).collect(),
            bound: FxHashMap::default(),
            nested: FxHashMap::default(),
            closures: FxHashMap::default(),
            variables: FxHashMap::default(),
            globals: FxHashMap::default(),
            classes: FxHashMap::default(),
            children: FxHashMap::default(),
            captured: FxHashMap::default(),
            handed: FxHashMap::default(),
            definitions: vec![],
            kept: FxHashMap::default(),
            filled: FxHashMap::default(),
            inside: FxHashMap::default(),
            callers: FxHashMap::default(),
            memo: Memo::new(input.sites.len()),
        };
        for (number, class) in input.classes.iter().enumerate() {
            index.classes.entry(&class.name).or_insert(number);
        }
        for (number, class) in input.classes.iter().enumerate() {
            let base = class.extends.as_ref().and_then(|path| place(path, None));
            if let Some(base) = base.and_then(|base| index.class(&base)) {
                index.children.entry(base).or_default().push(number);
            }
        }
        for (number, unit) in (0_u32..).zip(&input.units) {
            index.function(number, unit);
        }
        for variable in input.variables {
            if let (Root::Global(name), []) = (&variable.path.root, variable.path.fields.as_slice()) {
                let file = split_global(name).map_or("", |(file, _)| file);
                index.globals.entry(file).or_default().push(variable);
            }
            if let Some(place) = place(&variable.path, variable.owner.as_ref()) {
                index.variables.entry(place).or_default().push(variable);
            }
            if let Some(initial) = &variable.initial {
                index.functions_in(variable.within, initial, None);
            }
        }
        for (number, site) in (0_u32..).zip(input.sites) {
            for (at, argument) in site.arguments.iter().enumerate() {
                index.functions_in(site.within, argument, Some((number, at)));
            }
            index.inside.entry(site.within).or_default().push(number);
        }
        for (number, site) in (0_u32..).zip(input.sites) {
            index.keeps(number, site);
        }
        // Who calls whom is found without asking who calls: what fills a collection may depend on that, and waits.
        index.callers = index.memo.apart(|| index.all_callers());
        index
    }

    fn function(&mut self, number: u32, unit: &super::Unit<'i>) {
        if let Some(parent) = unit.parent {
            self.closures.entry(parent).or_default().push(number);
        }
        if let Some(path) = unit.bound {
            match (&path.root, path.fields.is_empty(), unit.parent) {
                (Root::Value(value), true, Some(parent)) => {
                    self.nested.entry((parent, *value)).or_insert(number);
                }
                _ => {
                    if let Some(place) = place(path, unit.function.owner.as_ref()) {
                        self.bound.entry(place).or_insert(number);
                    }
                }
            }
        }
        let mut walk = Walk { index: self, number, definitions: vec![None; unit.function.values.len()] };
        for (at, value) in unit.function.captures.iter().enumerate() {
            walk.define(*value, Definition::Capture(at));
        }
        for (at, value) in unit.function.parameters.iter().enumerate() {
            walk.define(*value, Definition::Parameter(at));
        }
        walk.block(&unit.function.body);
        let definitions = walk.definitions;
        self.definitions.push(definitions);
        for (_, arg) in unit.locals.iter().chain(unit.items) {
            self.functions_in(number, arg, None);
        }
        for arg in unit.returned {
            self.functions_in(number, arg, None);
        }
    }

    /// Remembers what is put into a collection that has a place.
    fn keeps(&mut self, number: u32, site: &'i Site) {
        let Some(callee) = &site.callee else { return };
        let Some((Field::Name(method), collection)) = callee.fields.split_last() else { return };
        if !matches!(&**method, "set" | "push" | "add" | "unshift") {
            return;
        }
        if let (Root::Value(value), []) = (&callee.root, collection) {
            let (function, value) = self.home(site.within, *value);
            self.filled.entry((function, value)).or_default().push(number);
            return;
        }
        if let Some(place) = place_at(&callee.root, collection, self.owner(site.within)) {
            self.kept.entry(place).or_default().push(number);
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
            _ => {}
        }
    }

    /// Remembers where a function is written. A function that is only named takes nothing along.
    fn written(&mut self, function: u32, within: u32, captures: &'i [Term]) {
        let known = self.captured.entry(function).or_insert((within, captures));
        if known.1.is_empty() {
            *known = (within, captures);
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

    /// The variables of a file that are not inside functions.
    pub(super) fn globals(&self, file: &str) -> &[&'i Variable] {
        self.globals.get(file).map_or(&[], Vec::as_slice)
    }

    /// The calls that put something into the collection at a place.
    pub(super) fn kept(&self, place: &str) -> &[u32] {
        self.kept.get(place).map_or(&[], Vec::as_slice)
    }

    /// The functions that are written in a function.
    pub(super) fn closures(&self, function: u32) -> &[u32] {
        self.closures.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The calls that are written in a function, not in closures inside it.
    pub(super) fn inside(&self, function: u32) -> &[u32] {
        self.inside.get(&function).map_or(&[], Vec::as_slice)
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
                next = class
                    .extends
                    .as_ref()
                    .and_then(|path| place(path, None))
                    .and_then(|name| self.class(&name));
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
        self.captured.get(&function).copied()
    }

    /// The call that a closure is handed to, and as which argument.
    pub(super) fn handed(&self, function: u32) -> Option<(u32, usize)> {
        self.handed.get(&function).copied()
    }

    /// How a value comes about.
    pub(super) fn definition(&self, function: u32, value: Value) -> Option<Definition<'i>> {
        *self.definitions.get(function as usize)?.get(value.0 as usize)?
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

    /// The declared type of a value.
    pub(super) fn declared(&self, function: u32, value: Value) -> Option<&'i AccessPath> {
        let unit = self.unit(function)?;
        if let Some((_, declared)) = unit.types.iter().find(|(typed, _)| *typed == value) {
            return Some(declared);
        }
        // A closure sees the type that the function around it has declared.
        let Definition::Capture(position) = self.definition(function, value)? else { return None };
        let (within, terms) = self.captured(function)?;
        match terms.get(position)? {
            Term::Path(AccessPath { root: Root::Value(outer), fields })
                if fields.is_empty() && within != function =>
            {
                self.declared(within, *outer)
            }
            _ => None,
        }
    }

    /// The declared type of the field or global that a path starts with.
    pub(super) fn declared_field(&self, path: &AccessPath, function: u32) -> Option<&'i AccessPath> {
        match &path.root {
            Root::This => {
                let class = self.class(self.owner(function)?)?;
                let field = name_of(path.fields.first()?)?;
                let declared = |class: &'i Class| class.fields.iter().find(|(name, _)| &**name == field);
                self.line(class).find_map(declared).map(|(_, declared)| declared)
            }
            Root::Global(name) => self.variables(name).iter().find_map(|variable| variable.declared.as_ref()),
            Root::Value(_) => None,
        }
    }

    /// Whether a name belongs to a file of the tree.
    pub(super) fn is_file(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    /// The calls that reach a function.
    pub(super) fn callers(&self, function: u32) -> &[Caller<'i>] {
        self.callers.get(&function).map_or(&[], Vec::as_slice)
    }

    fn all_callers(&self) -> FxHashMap<u32, Vec<Caller<'i>>> {
        let mut callers: FxHashMap<u32, Vec<Caller<'i>>> = FxHashMap::default();
        let mut add = |function: u32, caller: Caller<'i>| {
            let known = callers.entry(function).or_default();
            if known.len() < CALLERS {
                known.push(caller);
            }
        };
        for (number, site) in (0_u32..).zip(self.input.sites) {
            if let Some(function) = self.target(site) {
                add(function, Caller::Site(number));
            }
        }
        for (number, unit) in (0_u32..).zip(&self.input.units) {
            for effect in unit.function.effects() {
                if let Op::Call {
                    callee: Callee::Closure { function, .. } | Callee::Function(function),
                    arguments,
                    ..
                } = &effect.op
                {
                    add(function.0, Caller::Step(number, arguments));
                }
            }
        }
        callers
    }
}

struct Walk<'x, 'i> {
    index: &'x mut Index<'i>,
    number: u32,
    definitions: Vec<Option<Definition<'i>>>,
}

impl<'i> Walk<'_, 'i> {
    fn define(&mut self, value: Value, definition: Definition<'i>) {
        if let Some(known) = self.definitions.get_mut(value.0 as usize) {
            *known = Some(definition);
        }
    }

    /// The same, unless it has come about before.
    fn define_first(&mut self, value: Value, definition: Definition<'i>) {
        if let Some(known) = self.definitions.get_mut(value.0 as usize) {
            known.get_or_insert(definition);
        }
    }

    fn block(&mut self, block: &'i Block) {
        for effect in block {
            match &effect.op {
                Op::Call { into, callee, arguments, .. } => {
                    for argument in arguments {
                        if let Argument::Closure { function, captures } = argument {
                            self.index.written(function.0, self.number, captures);
                        }
                    }
                    match callee {
                        Callee::Closure { function, captures } => {
                            self.index.written(function.0, self.number, captures);
                        }
                        Callee::Pending(site) => {
                            if let Some(into) = into {
                                self.define(*into, Definition::Call(*site));
                            }
                        }
                        _ => {}
                    }
                }
                Op::Closure { into, function, captures } => {
                    self.index.written(function.0, self.number, captures);
                    self.define_first(*into, Definition::Closure(function.0));
                }
                Op::Read { into, of: Resource::Shared(path), .. }
                | Op::Derive { into, term: Term::Path(path), .. } => {
                    self.define_first(*into, Definition::Path(path));
                }
                Op::Derive { into, from, term: Term::Unknown } => {
                    self.define_first(*into, Definition::From(from));
                }
                Op::Derive { into, term, .. } => {
                    self.define_first(*into, Definition::Term(term));
                }
                _ => {}
            }
            effect.op.blocks().for_each(|inner| self.block(inner));
        }
    }
}

/// The place that a path leads to, as a key: `src/a.ts::store.pool`; `src/a.ts::Store#pool` for a field of `this`. `None` where the
/// way there depends on a value.
pub(super) fn place(path: &AccessPath, owner: Option<&Name>) -> Option<String> {
    place_at(&path.root, &path.fields, owner)
}

/// The same for a path in parts.
pub(super) fn place_at(root: &Root, fields: &[Field], owner: Option<&Name>) -> Option<String> {
    let (mut place, mut fields) = (String::new(), fields.iter());
    match root {
        Root::Global(name) => place.push_str(name),
        Root::This => {
            place.push_str(owner?);
            let Field::Name(name) = fields.next()? else { return None };
            place.extend(["#", name]);
        }
        Root::Value(_) => return None,
    }
    for field in fields {
        place.extend([".", name_of(field)?]);
    }
    Some(place)
}

/// The name of a step, where it does not depend on a value.
pub(super) fn name_of(field: &Field) -> Option<&str> {
    match field {
        Field::Name(name) | Field::At(Term::Literal(name)) => Some(name),
        Field::At(_) => None,
    }
}
