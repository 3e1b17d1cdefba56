//! What the things that a program names are: a function, an object of a class, an object that a library made. Asked on demand and
//! remembered, through variables, fields, parameters, results and closures, across files.

use std::{
    borrow::Cow,
    cell::{Cell, OnceCell, RefCell},
    rc::Rc,
};

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Term, Unresolved, Value};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{
    flat::Flat,
    forward::Inside,
    index::{Definition, Index, further, place, roomy},
    memo::Answers,
    names::Names,
    tables::Keys,
};
use crate::{
    Arg, Kind, Outcome, Semantics, Shape,
    knowledge::{Knowledge, Seen},
    tables::{Builtins, Collection},
};

/// How deep one question may lead to others. Real programs need a dozen; what is deeper is given up.
const DEPTH: u32 = 48;

/// How many alternatives are looked at to know what something is.
const MOST_ALTERNATIVES: usize = 48;

/// What something is.
#[derive(Debug, Clone)]
pub(super) enum Meaning<'f> {
    /// Nothing is known.
    Unknown,
    /// A function of the program.
    Function(FunctionId),
    /// A class of the program.
    Class(usize),
    /// An object of a class.
    Instance(usize),
    /// An object literal, and the function that it is written in.
    Object(&'f Arg, FunctionId),
    /// One of several functions, objects of classes or object literals; which one, the source does not say.
    Alternatives(Rc<[Meaning<'f>]>),
    /// An export of a library, or something of the language where the library is empty.
    Export(Name, Name),
    /// An object that a library made.
    Kind(Rc<Kind>),
    /// A method of a library's object, taken from it to be called by itself: `db.get.bind(db)`.
    Bound(Rc<Bound>),
    /// An object that a library made of which nothing is known.
    Foreign,
    /// A map, set or list of the language.
    Collection(Collection),
    /// Text, a number, a date: no state.
    Plain,
}

/// A method without a call, and whose it is.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) kind: Rc<Kind>,
    /// Where the object is, as the function sees it that takes the method.
    pub(super) receiver: AccessPath,
    pub(super) within: FunctionId,
    pub(super) name: Name,
}

/// A global: what a library or the language offers under its name, and whether the tree says anything about it.
#[derive(Debug, Clone)]
struct Global {
    export: Option<(Name, Name)>,
    is_place: bool,
}

/// What is found at a path, and on the way there.
#[derive(Debug)]
pub(super) struct Steps<'f> {
    /// What is found.
    pub(super) meaning: Meaning<'f>,
    /// Behind how many fields. It is fewer than all where a library's object was met: what its members are is for the knowledge to say.
    pub(super) used: usize,
    /// What is found before the last field: whose method or member it is.
    pub(super) before: Meaning<'f>,
}

/// Answers what things are.
#[derive(Debug)]
pub(super) struct Meanings<'f> {
    pub(super) flat: &'f Flat,
    pub(super) index: &'f Index<'f>,
    pub(super) names: &'f Names,
    pub(super) knowledge: &'f Knowledge,
    pub(super) semantics: &'f Semantics,
    pub(super) builtins: &'f Builtins,
    /// What globals are, by themselves. They are found by where their name stands in memory, for a file shares its names; each name is
    /// kept, so that no other can come to stand there.
    globals: RefCell<FxHashMap<usize, (Name, Global)>>,
    /// What is at the places that the index numbers, and at those that it does not: fields and entries of other things.
    pub(super) places: Answers<Meaning<'f>>,
    pub(super) inner: RefCell<FxHashMap<Name, Meaning<'f>>>,
    pub(super) values: Answers<Meaning<'f>>,
    returned: Answers<Meaning<'f>>,
    results: Answers<Meaning<'f>>,
    /// The shared places that values are other names of.
    pub(super) aliases: Answers<Option<AccessPath>>,
    /// The values whose members other calls may see.
    pub(super) states: Answers<bool>,
    /// What the knowledge said of a call.
    pub(super) outcomes: Answers<Option<Rc<Outcome>>>,
    /// An outcome that says nothing.
    pub(super) nothing: Rc<Outcome>,
    /// The SQL that was read so far.
    pub(super) seen: Seen,
    /// The keys of the tables, once those are known.
    pub(super) keys: OnceCell<Keys>,
    /// The calls that lead nowhere, or not everywhere, in the order in which they were rewritten.
    pub(super) unresolved: RefCell<Vec<Unresolved>>,
    /// The calls in functions, once somebody asks for them.
    pub(super) inside: OnceCell<Inside>,
    /// The variables of modules that are declared with the result of a call, by the call's number, once somebody asks for them.
    declared: OnceCell<FxHashMap<u32, &'f AccessPath>>,
    depth: Cell<u32>,
}

impl<'f> Meanings<'f> {
    pub(super) fn new(
        flat: &'f Flat,
        index: &'f Index<'f>,
        names: &'f Names,
        knowledge: &'f Knowledge,
        semantics: &'f Semantics,
    ) -> Self {
        let (sites, values) = (flat.sites.len(), index.values());
        Self {
            flat,
            index,
            names,
            knowledge,
            semantics,
            builtins: knowledge.tables().builtin(),
            // A few for each file.
            globals: RefCell::new(FxHashMap::with_capacity_and_hasher(4 * flat.files.len(), FxBuildHasher)),
            places: Answers::new(index.places()),
            inner: RefCell::default(),
            values: Answers::new(values),
            returned: Answers::new(flat.about.len()),
            results: Answers::new(sites),
            aliases: Answers::new(values),
            states: Answers::new(values),
            outcomes: Answers::new(sites),
            nothing: Rc::default(),
            seen: Seen::default(),
            keys: OnceCell::new(),
            unresolved: RefCell::default(),
            inside: OnceCell::new(),
            declared: OnceCell::new(),
            depth: Cell::new(0),
        }
    }

    /// The variable of a module that is declared with what a call gives back.
    pub(super) fn declared_with(&self, call: u32) -> Option<&'f AccessPath> {
        let of_module = |path: &AccessPath| path.fields.is_empty() && matches!(path.root, Root::Global(_));
        let all = self.declared.get_or_init(|| {
            let set = self.flat.variables.iter().filter(|variable| of_module(&variable.path));
            set.filter_map(|variable| match variable.initial.as_ref()?.shape {
                Shape::Call(number) => Some((number, &variable.path)),
                _ => None,
            })
            .collect()
        });
        all.get(&call).copied()
    }

    /// Asks one thing more; `None` if that is too deep.
    pub(super) fn deeper<T>(&self, ask: impl FnOnce() -> T) -> Option<T> {
        if self.depth.get() >= DEPTH {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let answer = ask();
        self.depth.set(self.depth.get() - 1);
        Some(answer)
    }

    /// What is found at a path of a function.
    pub(super) fn path(&self, at: FunctionId, path: &AccessPath) -> Meaning<'f> {
        self.deeper(|| self.steps(at, path).meaning).unwrap_or(Meaning::Unknown)
    }

    /// What is found at a path, and on the way there.
    pub(super) fn steps(&self, at: FunctionId, path: &AccessPath) -> Steps<'f> {
        let (mut meaning, is_place) = match &path.root {
            Root::Value(value) => (self.value(at, *value), true),
            Root::This => (self.this(at), true),
            Root::Global(name) => {
                let Global { export, is_place } = self.global(name);
                let meaning = match export {
                    Some((library, path)) => Meaning::Export(library, path),
                    None if is_place => self.place(name),
                    None => Meaning::Unknown,
                };
                (meaning, is_place)
            }
        };
        let (mut before, all) = (Meaning::Unknown, path.fields.len());
        if all == 0 {
            return Steps { meaning, used: 0, before };
        }
        // Behind what only a library knows there is nothing to find in the tree.
        let mut place = if is_place { self.root_place(at, path, &meaning) } else { None };
        for (number, field) in path.fields.iter().enumerate() {
            if matches!(meaning, Meaning::Kind(_)) {
                return Steps { meaning, used: number, before };
            }
            if number + 1 == all {
                before.clone_from(&meaning);
            }
            if let Meaning::Instance(class) = meaning {
                place = self.flat.classes.get(class).map(|class| roomy(&class.name));
            }
            match field {
                Field::Name(name) => {
                    if let Some(place) = &mut place {
                        place.push('.');
                        place.push_str(name);
                    }
                    // What has members and is a method all the same is a getter.
                    if let (Meaning::Function(getter), false) =
                        (&meaning, self.builtins.of_function.contains(&**name))
                        && place.as_deref().is_none_or(|place| matches!(self.place(place), Meaning::Unknown))
                    {
                        meaning = self.returned(*getter);
                        place = None;
                    }
                    meaning = match place.as_deref().map_or(Meaning::Unknown, |place| self.place(place)) {
                        Meaning::Unknown => self.member(&meaning, name),
                        known => known,
                    };
                    if matches!(meaning, Meaning::Unknown) {
                        meaning = self.declared_member(at, path, number, name);
                    }
                    if matches!(meaning, Meaning::Unknown) {
                        meaning = self.called(name);
                    }
                }
                Field::At(_) => {
                    if let Some(place) = &mut place {
                        place.push_str("[]");
                    }
                    meaning = match place.as_deref().map_or(Meaning::Unknown, |place| self.place(place)) {
                        Meaning::Unknown => self.element(&meaning),
                        known => known,
                    };
                }
            }
        }
        Steps { meaning, used: all, before }
    }

    fn root_place(&self, at: FunctionId, path: &AccessPath, meaning: &Meaning<'f>) -> Option<String> {
        match (&path.root, meaning) {
            (Root::Global(name), _) => Some(roomy(name)),
            (_, Meaning::Instance(class)) => self.flat.classes.get(*class).map(|class| roomy(&class.name)),
            (Root::This, _) => self.index.heads.get(at.0 as usize)?.owner.as_ref().map(|owner| roomy(owner)),
            // An alias of a shared place is looked up there.
            (Root::Value(value), _) => match self.definition(at, *value)? {
                Definition::Path(path) => {
                    place(path, self.index.heads.get(at.0 as usize)?.owner.as_ref()).map(Cow::into_owned)
                }
                _ => None,
            },
        }
    }

    /// The place that a path leads to, through aliases and objects of classes.
    pub(super) fn place_of<'p>(&self, at: FunctionId, path: &'p AccessPath) -> Option<Cow<'p, str>> {
        let owner = self.index.heads.get(at.0 as usize)?.owner.as_ref();
        place(path, owner).or_else(|| {
            let root = AccessPath::of(path.root.clone());
            let mut place = self.root_place(at, &root, &self.path(at, &root))?;
            further(&mut place, &path.fields);
            Some(Cow::Owned(place))
        })
    }

    /// What `this` is.
    pub(super) fn this(&self, at: FunctionId) -> Meaning<'f> {
        let owner = self.index.heads.get(at.0 as usize).and_then(|head| head.owner.as_ref());
        let Some(owner) = owner else { return Meaning::Unknown };
        match self.index.classes.get(&**owner) {
            Some(class) => Meaning::Instance(*class),
            // A method of an object literal.
            None => self.place(owner),
        }
    }

    /// What is known of a global's name alone, looked up once.
    fn global(&self, name: &Name) -> Global {
        let address = name.as_ptr().addr();
        if let Some((_, known)) = self.globals.borrow().get(&address) {
            return known.clone();
        }
        let export = self.names.exported(name).map(|(library, path)| (library.into(), path.into()));
        let global = Global { export, is_place: self.index.knows(name) };
        self.globals.borrow_mut().insert(address, (name.clone(), global.clone()));
        global
    }

    /// What something is that is one of several: the first that only a library can say more of, or all functions and objects of
    /// classes among them, or all object literals.
    pub(super) fn join(&self, meanings: impl Iterator<Item = Meaning<'f>>) -> Meaning<'f> {
        let (mut several, mut objects): (Vec<Meaning<'f>>, Vec<Meaning<'f>>) = (vec![], vec![]);
        let mut weak = Meaning::Unknown;
        for meaning in meanings.take(MOST_ALTERNATIVES) {
            match meaning {
                Meaning::Unknown => {}
                Meaning::Plain | Meaning::Foreign => weak = meaning,
                Meaning::Object(..) => add(&mut objects, meaning),
                Meaning::Function(_) | Meaning::Instance(_) => add(&mut several, meaning),
                Meaning::Alternatives(all) => {
                    for one in all.iter() {
                        let is_object = matches!(one, Meaning::Object(..));
                        add(if is_object { &mut objects } else { &mut several }, one.clone());
                    }
                }
                known if several.is_empty() => return known,
                _ => {}
            }
        }
        let mut joined = if several.is_empty() { objects } else { several };
        match joined.len() {
            0 => weak,
            1 => joined.pop().unwrap_or(weak),
            _ => Meaning::Alternatives(joined.into()),
        }
    }

    /// What an argument is.
    pub(super) fn arg(&self, at: FunctionId, arg: &'f Arg) -> Meaning<'f> {
        match &arg.shape {
            Shape::Function { function, .. } => Meaning::Function(*function),
            // What is found somewhere or else made has a name besides.
            Shape::Call(site) => match &arg.term {
                Term::Path(path) if !path.fields.is_empty() => {
                    self.join([self.path(at, path), self.result(*site)].into_iter())
                }
                _ => self.result(*site),
            },
            Shape::Object(_) => Meaning::Object(arg, at),
            Shape::List(_) => Meaning::Collection(Collection::List),
            Shape::Choice(ways) => self.join(ways.iter().map(|way| self.arg(at, way))),
            Shape::Text(_) | Shape::Number(_) | Shape::Bool(_) => Meaning::Plain,
            Shape::Opaque => match &arg.term {
                Term::Path(path) => self.path(at, path),
                _ => Meaning::Unknown,
            },
            Shape::Null => Meaning::Unknown,
        }
    }

    /// What a function returns.
    pub(super) fn returned(&self, function: FunctionId) -> Meaning<'f> {
        let look = || self.deeper(|| self.look_at_returned(function)).unwrap_or(Meaning::Unknown);
        // What a function returns that returns what it returns itself is not known meanwhile.
        self.returned.or_look(function.0 as usize, Meaning::Unknown, look)
    }

    pub(super) fn look_at_returned(&self, function: FunctionId) -> Meaning<'f> {
        let about = self.flat.about.get(function.0 as usize);
        let declared = about
            .and_then(|about| about.returns.as_ref())
            .map_or(Meaning::Unknown, |path| self.declared(path));
        let Some(head) = self.index.heads.get(function.0 as usize) else { return declared };
        // What is put into an object that is returned is not what is returned.
        let is_part = |value: &Value| {
            let mut written = about.into_iter().flat_map(|about| &about.returned);
            written.any(|arg| {
                matches!(arg.shape, Shape::Object(_) | Shape::List(_)) && arg.values.contains(value)
            })
        };
        let values = self.index.returns(head).iter().filter(|value| !is_part(value));
        let values = values.map(|value| self.value(function, *value));
        let structures =
            about.into_iter().flat_map(|about| &about.returned).map(|arg| self.arg(function, arg));
        let found = from_outside(self.join(values.chain(structures)));
        match (found, declared) {
            (found, _) if found.is_precise() => found,
            (found, Meaning::Unknown | Meaning::Foreign) => found,
            (_, declared) => declared,
        }
    }

    /// What comes out of a call.
    pub(super) fn result(&self, site: u32) -> Meaning<'f> {
        let look = || self.deeper(|| self.look_at_result(site)).unwrap_or(Meaning::Unknown);
        self.results.or_look(site as usize, Meaning::Unknown, look)
    }
}

impl Meaning<'_> {
    /// Whether it says more than a declared type, which may be an interface or a base class.
    pub(super) const fn is_precise(&self) -> bool {
        matches!(self, Self::Instance(_) | Self::Alternatives(_) | Self::Function(_) | Self::Kind(_))
    }

    /// Whether both are the same function, class or written object.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(one), Self::Function(other)) => one == other,
            (Self::Instance(one), Self::Instance(other)) => one == other,
            (Self::Object(one, _), Self::Object(other, _)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// The function that it is, the first of several.
    pub(super) fn function(&self) -> Option<FunctionId> {
        match self {
            Self::Function(function) => Some(*function),
            Self::Alternatives(all) => all.iter().find_map(Self::function),
            _ => None,
        }
    }
}

/// Adds an alternative unless it is there.
fn add<'f>(alternatives: &mut Vec<Meaning<'f>>, meaning: Meaning<'f>) {
    if !alternatives.iter().any(|known| known.is_same(&meaning)) {
        alternatives.push(meaning);
    }
}

/// What another function sees of it.
pub(super) fn from_outside(meaning: Meaning<'_>) -> Meaning<'_> {
    match meaning {
        Meaning::Kind(kind) => Meaning::Kind(Rc::new(kind.from_outside())),
        other => other,
    }
}
