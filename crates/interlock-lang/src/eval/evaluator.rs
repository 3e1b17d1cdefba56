//! What the things that a program names are: a function, an object of a class, an object that a library made. Asked on demand and
//! remembered, through variables, fields, parameters, results and closures, across files.

use std::{
    borrow::Cow,
    cell::RefCell,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use interlock_model::{
    Span,
    ir::{AccessPath, Field, FunctionId, Name, Root, Term, Unresolved, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    context::{Context, InContexts},
    index::{Definition, Index},
    key::{exact_name, further, place, with_spare_capacity},
    memo::{Answers, Asking, Fuel, Memo},
    presence::Creators,
    target::Reached,
    value::AbstractValue,
    values::bare,
};
use crate::{
    Arg, Kind, Outcome, Semantics, Shape,
    knowledge::{Engine, Knowledge, Seen},
    link::{flat::Flat, forward::Inside, names::Namespaces, tables::Keys},
    module::Kept,
    tables::{Builtins, Collection, Gives},
};

/// A global: what a library or the language offers under its name, and whether the tree says anything about it.
#[derive(Debug, Clone)]
struct Global {
    export: Option<(Name, Name)>,
    is_place: bool,
}

/// What is found at a path, and on the way there.
#[derive(Debug)]
pub(crate) struct Steps<'f> {
    /// What is found.
    pub(crate) meaning: AbstractValue<'f>,
    /// Behind how many fields. It is fewer than all where a library's object was met: what its members are is for the knowledge to say.
    pub(crate) used: usize,
    /// What is found before the last field: whose method or member it is.
    pub(crate) before: AbstractValue<'f>,
}

/// The program under evaluation and what has been answered about it, for all threads.
#[derive(Debug)]
pub(crate) struct World<'f> {
    pub(crate) flat: &'f Flat,
    pub(crate) index: &'f Index<'f>,
    pub(crate) names: &'f Namespaces,
    pub(crate) knowledge: &'f Knowledge,
    pub(crate) semantics: &'f Semantics,
    pub(crate) builtins: &'f Builtins,
    /// The keys of the tables.
    pub(crate) keys: Keys,
    /// What the drivers that are imported speak to.
    pub(crate) engine: Option<Engine>,
    /// Whether any library is imported whose objects have entries that it keeps.
    pub(crate) keeps_entries: bool,
    /// An outcome that says nothing.
    nothing: Arc<Outcome>,
    /// The SQL that was read so far.
    pub(crate) seen: Seen,
    /// The calls in functions, once somebody asks for them.
    pub(crate) inside: OnceLock<Inside>,
    /// The classes that the tree makes objects of, with those that they inherit from, once somebody asks.
    pub(crate) instantiated: OnceLock<FxHashSet<usize>>,
    /// The calls that make objects of classes, once somebody asks.
    pub(crate) creators: OnceLock<Creators>,
    /// The variables of modules that are declared with the result of a call, by the call's number, once somebody asks for them.
    declared: OnceLock<FxHashMap<u32, &'f AccessPath>>,
    places: Answers<u32, AbstractValue<'f>>,
    inner: Answers<Name, AbstractValue<'f>>,
    values: Answers<u32, AbstractValue<'f>>,
    returned: Answers<u32, AbstractValue<'f>>,
    results: Answers<u32, AbstractValue<'f>>,
    aliases: Answers<u32, Option<AccessPath>>,
    states: Answers<u32, bool>,
    outcomes: Answers<u32, Option<Arc<Outcome>>>,
    /// What values, calls and members are that somebody asks for [in a context](super::context), where nothing is assumed.
    pub(super) in_contexts: InContexts<'f>,
}

/// Answers what things are, on one thread.
#[derive(Debug)]
pub(crate) struct Evaluator<'w, 'f> {
    world: &'w World<'f>,
    pub(crate) asking: Asking,
    /// What globals are, by themselves.
    globals: RefCell<FxHashMap<Name, Global>>,
    /// What is at the places that the index numbers, and at those that it does not: fields and entries of other things.
    pub(crate) places: Memo<'w, u32, AbstractValue<'f>>,
    pub(crate) inner: Memo<'w, Name, AbstractValue<'f>>,
    pub(crate) values: Memo<'w, u32, AbstractValue<'f>>,
    returned: Memo<'w, u32, AbstractValue<'f>>,
    results: Memo<'w, u32, AbstractValue<'f>>,
    /// The shared places that values are other names of.
    pub(crate) aliases: Memo<'w, u32, Option<AccessPath>>,
    /// The values whose members other calls may see.
    pub(crate) states: Memo<'w, u32, bool>,
    /// What the knowledge said of a call.
    pub(crate) outcomes: Memo<'w, u32, Option<Arc<Outcome>>>,
    /// Which functions make requests whose method they are handed, with so many calls in between.
    pub(crate) senders: RefCell<FxHashMap<(FunctionId, usize), bool>>,
    /// The calls that lead nowhere, or not everywhere, in the order in which they were rewritten.
    pub(crate) unresolved: RefCell<Vec<Unresolved>>,
    /// The calls at which all is known of the requests of the function that they call.
    pub(crate) settled_requests: RefCell<Vec<Span>>,
}

impl<'f> Deref for Evaluator<'_, 'f> {
    type Target = World<'f>;

    fn deref(&self) -> &World<'f> {
        self.world
    }
}

impl<'f> World<'f> {
    pub(crate) fn new(
        flat: &'f Flat,
        index: &'f Index<'f>,
        names: &'f Namespaces,
        knowledge: &'f Knowledge,
        semantics: &'f Semantics,
    ) -> Self {
        Self {
            flat,
            index,
            names,
            knowledge,
            semantics,
            builtins: knowledge.tables().builtin(),
            keys: Keys::default(),
            engine: None,
            keeps_entries: false,
            nothing: Arc::default(),
            seen: Seen::default(),
            inside: OnceLock::new(),
            instantiated: OnceLock::new(),
            creators: OnceLock::new(),
            declared: OnceLock::new(),
            places: Answers::default(),
            inner: Answers::default(),
            values: Answers::default(),
            returned: Answers::default(),
            results: Answers::default(),
            aliases: Answers::default(),
            states: Answers::default(),
            outcomes: Answers::default(),
            in_contexts: InContexts::default(),
        }
    }

    /// The same, with the keys of the tables that it declares.
    pub(crate) fn with_keys(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// The same, with what its drivers speak to.
    pub(crate) fn with_libraries(self, engine: Option<Engine>, keeps_entries: bool) -> Self {
        Self { engine, keeps_entries, ..self }
    }

    /// What the knowledge said of a call. Most calls have no outcome to speak of, and share it.
    pub(super) fn share(&self, outcome: Outcome) -> Arc<Outcome> {
        let says_nothing = outcome.kind.is_none() && outcome.parameters.is_empty() && !outcome.answer;
        if says_nothing { self.nothing.clone() } else { outcome.into() }
    }
}

impl<'w, 'f> Evaluator<'w, 'f> {
    pub(crate) fn new(world: &'w World<'f>) -> Self {
        Self::with(world, Fuel::for_questions(world.flat.sites.len() + world.flat.variables.len()))
    }

    /// One that may use up so much.
    pub(super) fn with(world: &'w World<'f>, fuel: Fuel) -> Self {
        Self {
            world,
            asking: Asking::new(fuel),
            globals: RefCell::default(),
            places: Memo::of(&world.places),
            inner: Memo::of(&world.inner),
            values: Memo::of(&world.values),
            returned: Memo::of(&world.returned),
            results: Memo::of(&world.results),
            aliases: Memo::of(&world.aliases),
            states: Memo::of(&world.states),
            outcomes: Memo::of(&world.outcomes),
            senders: RefCell::default(),
            unresolved: RefCell::default(),
            settled_requests: RefCell::default(),
        }
    }
}

impl<'f> Evaluator<'_, 'f> {
    /// The variable of a module that is declared with what a call gives back.
    pub(crate) fn declared_with(&self, call: u32) -> Option<&'f AccessPath> {
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
    pub(crate) fn deeper<T>(&self, ask: impl FnOnce() -> T) -> Option<T> {
        self.asking.deeper(ask)
    }

    /// What is found at a path of a function.
    pub(crate) fn path(&self, at: FunctionId, path: &AccessPath) -> AbstractValue<'f> {
        let found = self.deeper(|| {
            let Steps { meaning, used, .. } = self.steps(at, path);
            match meaning {
                // What lies in an entry that a library keeps is the program's own.
                AbstractValue::Kind(kind)
                    if used < path.fields.len()
                        && self.keeps_entries
                        && self.knowledge.keeps_entries(&kind.name) =>
                {
                    AbstractValue::Unknown
                }
                AbstractValue::Kind(kind) if used < path.fields.len() => {
                    AbstractValue::Kind(self.members_of(kind, path, used))
                }
                meaning => meaning,
            }
        });
        found.unwrap_or(AbstractValue::Unknown)
    }

    /// What the members of a library's object are, as far as its table names them: `docs = client.app.docs`.
    fn members_of(&self, mut kind: Arc<Kind>, path: &AccessPath, used: usize) -> Arc<Kind> {
        for (number, field) in path.fields.iter().enumerate().skip(used) {
            let Some(name) = exact_name(field) else { break };
            let fields = path.fields.get(..number).unwrap_or_default();
            let receiver = AccessPath { root: path.root.clone(), fields: fields.into() };
            match self.knowledge.member(&kind, &receiver, name) {
                Some(member) => kind = Arc::new(member),
                None => break,
            }
        }
        kind
    }

    /// The method that runs where a path is read, if its last member is one: `@property`.
    pub(crate) fn getter(&self, at: FunctionId, path: &AccessPath) -> Option<FunctionId> {
        let (Field::Name(name), before) = path.fields.split_last()? else { return None };
        if !self.index.getter_names.contains(&**name) {
            return None;
        }
        let of = AccessPath { root: path.root.clone(), fields: before.into() };
        match self.member(&self.path(at, &of), name) {
            AbstractValue::Function(getter, _) => {
                (self.index.getters.get(&getter) == Some(&Kept::No)).then_some(getter)
            }
            _ => None,
        }
    }

    /// What is found at a path, and on the way there.
    pub(crate) fn steps(&self, at: FunctionId, path: &AccessPath) -> Steps<'f> {
        let (mut meaning, is_place) = match &path.root {
            Root::Value(value) => (self.value(at, *value), true),
            Root::This => (self.this(at), true),
            Root::Global(name) => {
                let Global { export, is_place } = self.global(name);
                let meaning = match export {
                    Some((library, path)) => AbstractValue::Export(library, path),
                    None if is_place => self.place(name),
                    // A module as a whole: what a function returns from `require`.
                    None => match self.names.whole(name) {
                        Some(file) => AbstractValue::Exports(file.into()),
                        None => AbstractValue::Unknown,
                    },
                };
                (meaning, is_place)
            }
        };
        let (mut before, all) = (AbstractValue::Unknown, path.fields.len());
        if all == 0 {
            return Steps { meaning, used: 0, before };
        }
        // Behind what only a library knows there is nothing to find in the tree.
        let mut place = if is_place { self.root_place(at, path, &meaning) } else { None };
        for (number, field) in path.fields.iter().enumerate() {
            if let AbstractValue::Kind(kind) = &meaning {
                if matches!(field, Field::At(_))
                    && let Some(entry) = self.knowledge.entry_of(kind)
                {
                    meaning = AbstractValue::Kind(Arc::new(entry));
                    place = None;
                    continue;
                }
                return Steps { meaning, used: number, before };
            }
            if number + 1 == all {
                before.clone_from(&meaning);
            }
            if let AbstractValue::Instance(class, _) = meaning {
                place = self.flat.classes.get(class).map(|class| with_spare_capacity(&class.name));
            }
            match field {
                Field::Name(name) => {
                    if let Some(place) = &mut place {
                        place.push('.');
                        place.push_str(name);
                    }
                    // What has members and is a method all the same is a getter.
                    if let (AbstractValue::Function(getter, _), false) =
                        (&meaning, self.builtins.of_function.contains(&**name))
                        && place
                            .as_deref()
                            .is_none_or(|place| matches!(self.place(place), AbstractValue::Unknown))
                    {
                        meaning = self.returned(*getter);
                        place = None;
                    }
                    meaning = match place.as_deref().map_or(AbstractValue::Unknown, |place| self.place(place))
                    {
                        AbstractValue::Unknown => self.member(&meaning, name),
                        known => known,
                    };
                    if let AbstractValue::Function(getter, _) = &meaning
                        && self.index.getters.contains_key(getter)
                    {
                        meaning = self.returned(*getter);
                    }
                    // What somebody computes or a library gives is still what it is declared to be.
                    if matches!(
                        meaning,
                        AbstractValue::Unknown | AbstractValue::Plain | AbstractValue::Foreign
                    ) {
                        match self.declared_member(at, path, number, name) {
                            AbstractValue::Unknown => {}
                            declared => meaning = declared,
                        }
                    }
                    if matches!(meaning, AbstractValue::Unknown) {
                        meaning = self.called(name);
                    }
                }
                Field::At(key) => {
                    if let Some(place) = &mut place {
                        place.push_str("[]");
                    }
                    meaning = match place.as_deref().map_or(AbstractValue::Unknown, |place| self.place(place))
                    {
                        AbstractValue::Unknown => match self.element(&meaning) {
                            AbstractValue::Unknown if number == 0 => self
                                .entry_of_list(at, &path.root)
                                .or_else(|| self.beside(at, &path.root, key)),
                            known => known,
                        },
                        known => known,
                    };
                }
            }
        }
        Steps { meaning, used: all, before }
    }

    /// What the entries are of a list that was taken out of another one: `pending = migrations.filter(…)`.
    fn entry_of_list(&self, at: FunctionId, root: &Root) -> AbstractValue<'f> {
        let Root::Value(value) = root else { return AbstractValue::Unknown };
        let Some(Definition::Call(number)) = self.definition(at, *value) else {
            return AbstractValue::Unknown;
        };
        let Some(site) = self.flat.sites.get(*number as usize) else { return AbstractValue::Unknown };
        match self.reached(site) {
            Reached::Collection(_, list, name)
                if matches!(self.builtins.gives(&name), Some(Gives::Entries | Gives::Itself)) =>
            {
                self.path(FunctionId(site.within), &list.at(Term::Unknown))
            }
            _ => AbstractValue::Unknown,
        }
    }

    fn root_place(&self, at: FunctionId, path: &AccessPath, meaning: &AbstractValue<'f>) -> Option<String> {
        match (&path.root, meaning) {
            (Root::Global(name), _) => Some(with_spare_capacity(name)),
            (_, AbstractValue::Instance(class, _)) => {
                self.flat.classes.get(*class).map(|class| with_spare_capacity(&class.name))
            }
            (Root::This, _) => {
                self.index.heads.get(at.0 as usize)?.owner.as_ref().map(|owner| with_spare_capacity(owner))
            }
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
    pub(crate) fn place_of<'p>(&self, at: FunctionId, path: &'p AccessPath) -> Option<Cow<'p, str>> {
        let owner = self.index.heads.get(at.0 as usize)?.owner.as_ref();
        place(path, owner).or_else(|| {
            let root = AccessPath::of(path.root.clone());
            let mut place = self.root_place(at, &root, &self.path(at, &root))?;
            further(&mut place, &path.fields);
            Some(Cow::Owned(place))
        })
    }

    /// What `this` is.
    pub(crate) fn this(&self, at: FunctionId) -> AbstractValue<'f> {
        let owner = self.index.heads.get(at.0 as usize).and_then(|head| head.owner.as_ref());
        let Some(owner) = owner else { return AbstractValue::Unknown };
        match self.index.classes.get(&**owner) {
            Some(class) => AbstractValue::of_class(*class),
            // A method of an object literal.
            None => self.place(owner),
        }
    }

    /// What is known of a global's name alone, looked up once.
    fn global(&self, name: &Name) -> Global {
        if let Some(known) = self.globals.borrow().get(name) {
            return known.clone();
        }
        let export = self.names.exported(name).map(|(library, path)| (library.into(), path.into()));
        let global = Global { export, is_place: self.index.knows(name) };
        self.globals.borrow_mut().insert(name.clone(), global.clone());
        global
    }

    /// What an argument is.
    pub(crate) fn arg(&self, at: FunctionId, arg: &'f Arg) -> AbstractValue<'f> {
        match &arg.shape {
            Shape::Function { function, .. } => AbstractValue::of_function(*function),
            // What is found somewhere or else made has a name besides.
            Shape::Call(site) => match &arg.term {
                Term::Path(path) if !path.fields.is_empty() => {
                    AbstractValue::join([self.path(at, path), self.result(*site)].into_iter())
                }
                _ => self.result(*site),
            },
            // What is written out with the name of its type is of that type.
            Shape::Object(members) => match bare(&arg.term).and_then(|value| self.typed(at, value)) {
                Some(known @ (AbstractValue::Instance(..) | AbstractValue::Kind(_))) => known,
                _ => AbstractValue::Object(members, Context::plain(at.0)),
            },
            Shape::List(_) => AbstractValue::Collection(Collection::List),
            Shape::Choice(ways) => match AbstractValue::join(ways.iter().map(|way| self.arg(at, way))) {
                // That one of them is a text says nothing of the others.
                AbstractValue::Plain => AbstractValue::Unknown,
                known => known,
            },
            Shape::Text(_) | Shape::Number(_) | Shape::Bool(_) => AbstractValue::Plain,
            Shape::Opaque => match &arg.term {
                Term::Path(path) => self.path(at, path),
                _ => AbstractValue::Unknown,
            },
            Shape::Null => AbstractValue::Unknown,
        }
    }

    /// What a value is by its declared type.
    fn typed(&self, at: FunctionId, value: Value) -> Option<AbstractValue<'f>> {
        let about = self.flat.about.get(at.0 as usize)?;
        let (_, declared) = about.types.iter().find(|(typed, _)| *typed == value)?;
        Some(self.declared(declared))
    }

    /// What a function returns.
    pub(crate) fn returned(&self, function: FunctionId) -> AbstractValue<'f> {
        let look = || self.deeper(|| self.compute_returned(function)).unwrap_or(AbstractValue::Unknown);
        // What a function returns that returns what it returns itself is not known meanwhile.
        self.returned.answer(&self.asking, function.0, AbstractValue::Unknown, look)
    }

    pub(crate) fn compute_returned(&self, function: FunctionId) -> AbstractValue<'f> {
        let about = self.flat.about.get(function.0 as usize);
        let declared = about
            .and_then(|about| about.returns.as_ref())
            .map_or(AbstractValue::Unknown, |path| self.declared(path));
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
        let found = AbstractValue::join(values.chain(structures)).seen_from_outside();
        match (found, declared) {
            (found, _) if found.is_precise() => found,
            (found, AbstractValue::Unknown | AbstractValue::Foreign) => found,
            (_, declared) => declared,
        }
    }

    /// What comes out of a call.
    pub(crate) fn result(&self, site: u32) -> AbstractValue<'f> {
        let look = || self.deeper(|| self.compute_result(site)).unwrap_or(AbstractValue::Unknown);
        self.results.answer(&self.asking, site, AbstractValue::Unknown, look)
    }
}
