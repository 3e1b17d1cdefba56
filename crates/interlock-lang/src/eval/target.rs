//! What a call reaches.

use std::sync::Arc;

use interlock_model::ir::{AccessPath, Body, Field, FunctionId, Name, Root, Term, Value};

use super::{
    builtins,
    evaluator::{Evaluator, Steps},
    index::Definition,
    library,
    value::{AbstractValue, Bound},
    values::bare,
};
use crate::{
    Arg, Kind, Outcome, Shape,
    module::Site,
    tables::{Collection, Does, Gives},
};

/// What a call reaches.
#[derive(Debug, Clone)]
pub(crate) enum Reached<'f> {
    /// A function, on an object if it is a method.
    Function(FunctionId, Option<AccessPath>),
    /// A class of the program: an object of it is made.
    Class(usize),
    /// One of several classes of the program: an object of one of them is made.
    OneOfClasses(Vec<usize>),
    /// An export of a library or of the language.
    Export(Name, Name),
    /// A method of a library's object.
    Method(Arc<Kind>, AccessPath, Name),
    /// A method of a collection, or of something of which nothing is known but that the method is called like a collection's.
    Collection(Option<Collection>, AccessPath, Name),
    /// One of several functions in an object or a list, by key.
    Member(AbstractValue<'f>, AccessPath, Term),
    /// One of several functions, on an object if they are methods.
    OneOf(Alternatives, Option<AccessPath>),
    /// What a library made of a function, which is taken to run it.
    Wrapped(FunctionId),
    /// What a value holds.
    Value(Value),
    /// The constructor of the class above.
    Super,
    /// Not found: on what, by which name, and what is known of the object.
    Other(Option<AccessPath>, Name, AbstractValue<'f>),
}

/// Several functions of which one is called.
#[derive(Debug, Clone)]
pub(crate) struct Alternatives {
    /// Those that are followed.
    pub(crate) functions: Vec<FunctionId>,
    /// How many the budget was not enough for.
    pub(crate) left_out: usize,
}

/// How many steps the alternatives of one call may have together, before their own calls are inlined. A few are always followed.
const BUDGET: usize = 200;
const ALWAYS: usize = 3;

impl<'f> Evaluator<'_, 'f> {
    /// What a call reaches.
    pub(crate) fn reached(&self, site: &'f Site) -> Reached<'f> {
        let at = FunctionId(site.within);
        let Some(callee) = &site.callee else {
            return Reached::Other(None, "?".into(), AbstractValue::Unknown);
        };
        if let Root::Global(name) = &callee.root
            && self.semantics.above == Some(&**name)
        {
            return self.above(at, callee);
        }
        let Steps { meaning, used, before: whole } = self.steps(at, callee);
        if let AbstractValue::Kind(kind) = meaning {
            let (before, behind) = callee.fields.split_at_checked(used).unwrap_or((&callee.fields, &[]));
            let receiver = AccessPath { root: callee.root.clone(), fields: before.into() };
            return match names(behind) {
                // A list of objects has what all lists have.
                Some(method)
                    if self.builtins.is_method(&method) && self.knowledge.entry_of(&kind).is_some() =>
                {
                    Reached::Collection(Some(Collection::List), receiver, method.into())
                }
                Some(method) => Reached::Method(kind, receiver, method.into()),
                None => Reached::Other(Some(receiver), "?".into(), AbstractValue::Kind(kind)),
            };
        }
        let before = |fields: &[Field]| AccessPath { root: callee.root.clone(), fields: fields.into() };
        let split = callee.fields.split_last();
        let computed = matches!(meaning, AbstractValue::Plain);
        let foreign = matches!(meaning, AbstractValue::Foreign);
        if matches!(meaning, AbstractValue::Function(..) | AbstractValue::Alternatives(_))
            && let Some(member) = self.member_by_key(at, callee)
        {
            return member;
        }
        match meaning {
            AbstractValue::Function(function, _) => {
                return Reached::Function(function, split.map(|(_, fields)| before(fields)));
            }
            AbstractValue::Alternatives(ref all) => {
                let functions: Vec<FunctionId> = all.iter().filter_map(AbstractValue::function).collect();
                let receiver = split.map(|(_, fields)| before(fields));
                if let Some(found) = self.alternatives(functions, receiver.as_ref()) {
                    return found;
                }
                let class = |one: &AbstractValue<'f>| match one {
                    AbstractValue::Class(class) => Some(*class),
                    _ => None,
                };
                let classes: Vec<usize> = all.iter().filter_map(class).collect();
                if !classes.is_empty() {
                    return Reached::OneOfClasses(classes);
                }
                let called = |one: &AbstractValue<'f>| self.called_object(one);
                let functions: Vec<FunctionId> = all.iter().filter_map(called).collect();
                if let Some(found) = self.alternatives(functions, Some(callee)) {
                    return found;
                }
            }
            AbstractValue::Instance(..) if let Some(function) = self.called_object(&meaning) => {
                return Reached::Function(function, Some(callee.clone()));
            }
            AbstractValue::Wrapped(function) if !site.construct => return Reached::Wrapped(function),
            AbstractValue::Class(class) => return Reached::Class(class),
            AbstractValue::Export(library, path) => return Reached::Export(library, path),
            AbstractValue::Bound(bound) => {
                let receiver = self.receiver_of(&bound, at);
                return Reached::Method(bound.kind.clone(), receiver, bound.name.clone());
            }
            _ => {}
        }
        match split {
            None => match &callee.root {
                // What a function gave that only computes: one that takes back what it did.
                Root::Value(_) if computed => Reached::Other(None, "?".into(), AbstractValue::Plain),
                Root::Value(value) => Reached::Value(*value),
                // What a library has made at the start is the library's wherever it is called: `const check = compile(schema)`.
                Root::Global(name) if foreign && self.is_made_by_library(at, callee) => {
                    Reached::Other(None, name.clone(), AbstractValue::Foreign)
                }
                Root::Global(name) => Reached::Other(None, name.clone(), AbstractValue::Unknown),
                Root::This => Reached::Other(None, "this".into(), AbstractValue::Unknown),
            },
            Some((Field::At(key), fields)) => Reached::Member(whole, before(fields), key.clone()),
            Some((Field::Name(name), fields)) => self.method_of(whole, before(fields), name),
        }
    }

    /// The method that runs where an object is called like a function: `__call__`.
    pub(crate) fn called_object(&self, object: &AbstractValue<'f>) -> Option<FunctionId> {
        match object {
            AbstractValue::Instance(class, _) => self.method(*class, self.semantics.called?),
            _ => None,
        }
    }

    /// Whether what is called is a variable of a module that is nothing, and that only others than this tree give a function: `_factory =
    /// None`, and a setter that nothing here calls. Whoever calls it asks first.
    pub(crate) fn is_left_to_others(&self, callee: &AccessPath) -> bool {
        let (Root::Global(_), []) = (&callee.root, callee.fields.as_slice()) else { return false };
        let Some(place) = self.place_of(FunctionId(0), callee) else { return false };
        let mut has_nothing = false;
        let mut is_unset = |number: usize| {
            let variable = self.flat.variables.get(number);
            let Some((within, arg)) = variable.and_then(|it| Some((it.within, it.initial.as_ref()?))) else {
                return false;
            };
            if matches!(arg.shape, Shape::Null) {
                has_nothing = true;
                return true;
            }
            let within = FunctionId(within);
            let is_handed = |value| matches!(self.definition(within, value), Some(Definition::Parameter(_)));
            let is_called = self.index.callers.get(&within).is_some_and(|callers| !callers.is_empty());
            matches!(arg.shape, Shape::Opaque) && bare(&arg.term).is_some_and(is_handed) && !is_called
        };
        self.index.all_variables(&place).all(&mut is_unset) && has_nothing
    }

    /// One of the functions in an object that is written out, where the callee is an entry of it: `HANDLERS[kind](…)`, or a local that
    /// was taken from it by key.
    fn member_by_key(&self, at: FunctionId, callee: &AccessPath) -> Option<Reached<'f>> {
        let of_path = |path: &AccessPath| match path.fields.split_last() {
            Some((Field::At(key), fields)) => {
                Some((AccessPath { root: path.root.clone(), fields: fields.into() }, key.clone()))
            }
            _ => None,
        };
        let (receiver, key) = match (&callee.root, callee.fields.as_slice()) {
            (Root::Value(value), []) => match self.definition(at, *value)? {
                Definition::Path(path) => of_path(path)?,
                Definition::Call(number) => {
                    let site = self.flat.sites.get(*number as usize)?;
                    let reached = self.deeper(|| self.reached(site));
                    let Some(Reached::Collection(_, receiver, method)) = reached else { return None };
                    let is_entry = self.builtins.does(&method) == Some(Does::Get);
                    let key = site.arguments.first().filter(|_| is_entry)?;
                    (receiver, builtins::term(key))
                }
                _ => return None,
            },
            _ => of_path(callee)?,
        };
        let whole = self.path(at, &receiver);
        matches!(whole, AbstractValue::Object(..)).then_some(Reached::Member(whole, receiver, key))
    }

    /// Whether a variable holds what a function of a library has given, and the library is no file that is missing.
    fn is_made_by_library(&self, at: FunctionId, variable: &AccessPath) -> bool {
        let place = self.place_of(at, variable);
        let variable = place.and_then(|place| self.index.variables(&place).next());
        let initial = variable.and_then(|variable| self.flat.variables.get(variable)?.initial.as_ref());
        let site = match initial.map(|initial| &initial.shape) {
            Some(Shape::Call(site)) => self.flat.sites.get(*site as usize),
            _ => None,
        };
        match site.map(|site| self.reached(site)) {
            Some(Reached::Export(library, _)) => !library.is_empty() && !self.names.is_lost(&library),
            _ => false,
        }
    }

    /// A method that is named and not called, where it is a library object's.
    fn bound(&self, within: FunctionId, path: &AccessPath) -> AbstractValue<'f> {
        let Steps { meaning: AbstractValue::Kind(kind), used, .. } = self.steps(within, path) else {
            return AbstractValue::Unknown;
        };
        let Some((before, behind)) = path.fields.split_at_checked(used) else {
            return AbstractValue::Unknown;
        };
        match names(behind) {
            Some(name) if !name.is_empty() => {
                let receiver = AccessPath { root: path.root.clone(), fields: before.into() };
                AbstractValue::Bound(Arc::new(Bound { kind, receiver, within, name: name.into() }))
            }
            _ => AbstractValue::Unknown,
        }
    }

    /// Whose method it is, as another function sees it.
    fn receiver_of(&self, bound: &Bound, at: FunctionId) -> AccessPath {
        if bound.within == at {
            return bound.receiver.clone();
        }
        match self.outer_term(bound.within, &Term::Path(bound.receiver.clone())) {
            Term::Path(path) => path,
            _ => AccessPath::global("?"),
        }
    }

    /// A method of something.
    fn method_of(&self, whole: AbstractValue<'f>, receiver: AccessPath, name: &Name) -> Reached<'f> {
        match &whole {
            AbstractValue::Function(function, _) if matches!(&**name, "call" | "apply") => {
                let above = receiver.fields.split_last();
                let this = above
                    .map(|(_, fields)| AccessPath { root: receiver.root.clone(), fields: fields.into() });
                return Reached::Function(*function, this);
            }
            AbstractValue::Collection(kind) if self.builtins.is_method(name) => {
                return Reached::Collection(Some(*kind), receiver, name.clone());
            }
            AbstractValue::Instance(class, _) => {
                let functions = self.implementations(&[*class], name);
                if let Some(found) = self.alternatives(functions, Some(&receiver)) {
                    return found;
                }
                // What the tree does not say of it, the library's class does that it extends.
                if let AbstractValue::Kind(kind) = self.extended(*class) {
                    return Reached::Method(kind, receiver, name.clone());
                }
            }
            AbstractValue::Alternatives(all) => {
                let of_class = |one: &AbstractValue<'f>| match one {
                    AbstractValue::Instance(class, _) => Some(*class),
                    _ => None,
                };
                let classes: Vec<usize> = all.iter().filter_map(of_class).collect();
                let mut functions = self.implementations(&classes, name);
                for one in all.iter().filter(|one| of_class(one).is_none()) {
                    if let AbstractValue::Function(function, _) = self.member(one, name)
                        && !functions.contains(&function)
                    {
                        functions.push(function);
                    }
                }
                if let Some(found) = self.alternatives(functions, Some(&receiver)) {
                    return found;
                }
                if !classes.is_empty() {
                    return Reached::Other(Some(receiver), name.clone(), whole);
                }
            }
            AbstractValue::Class(class) => {
                return match self.base(*class) {
                    Some(kind) => Reached::Method(Arc::new(kind), receiver, name.clone()),
                    None => Reached::Other(Some(receiver), name.clone(), whole),
                };
            }
            AbstractValue::Wrapped(_) => {
                return Reached::Other(Some(receiver), name.clone(), AbstractValue::Foreign);
            }
            AbstractValue::Foreign | AbstractValue::Plain => {
                return Reached::Other(Some(receiver), name.clone(), whole);
            }
            _ => {}
        }
        if self.builtins.is_method(name) {
            return Reached::Collection(None, receiver, name.clone());
        }
        if !self.knowledge.tables().lexicon().common_methods.contains(&**name)
            && let Some([function]) = self.index.methods.get(&**name).map(Vec::as_slice)
        {
            return Reached::Function(*function, Some(receiver));
        }
        Reached::Other(Some(receiver), name.clone(), whole)
    }

    /// One of several functions. Those that do nothing are left out, and all of them where the budget is not enough.
    fn alternatives(&self, functions: Vec<FunctionId>, receiver: Option<&AccessPath>) -> Option<Reached<'f>> {
        let head = |function: &FunctionId| self.index.heads.get(function.0 as usize);
        let mut acting = functions.clone();
        acting.retain(|function| head(function).is_some_and(|head| head.acts));
        if acting.is_empty() {
            acting = functions;
            acting.truncate(1);
        }
        let steps: usize = acting.iter().filter_map(head).map(|head| head.steps).sum();
        // To follow some of very many would hide the others: what is reached is no longer looked at by itself.
        let mut left_out = 0;
        if acting.len() > ALWAYS && steps > BUDGET {
            left_out = acting.len();
            acting.clear();
        }
        match acting.as_slice() {
            [] if left_out == 0 => None,
            [only] => Some(Reached::Function(*only, receiver.cloned())),
            _ => Some(Reached::OneOf(Alternatives { functions: acting, left_out }, receiver.cloned())),
        }
    }

    /// `super(…)` and `super.method(…)`.
    fn above(&self, at: FunctionId, callee: &AccessPath) -> Reached<'f> {
        let unknown = || Reached::Other(None, "super".into(), AbstractValue::Unknown);
        let AbstractValue::Instance(class, _) = self.this(at) else { return unknown() };
        let method = match callee.fields.as_slice() {
            [] => return Reached::Super,
            [Field::Name(method)] => method,
            _ => return unknown(),
        };
        match self.parent(class).and_then(|parent| self.method(parent, method)) {
            Some(function) => Reached::Function(function, Some(AccessPath::this())),
            None => Reached::Other(Some(AccessPath::this()), method.clone(), AbstractValue::of_class(class)),
        }
    }

    /// What comes out of a call that has not been asked for yet.
    pub(crate) fn compute_result(&self, number: u32) -> AbstractValue<'f> {
        let Some(site) = self.flat.sites.get(number as usize) else { return AbstractValue::Unknown };
        let reached = self.reached(site);
        match &reached {
            Reached::Function(function, _) | Reached::Wrapped(function) => self.returned(*function),
            Reached::Class(class) => AbstractValue::of_class(*class),
            Reached::OneOfClasses(classes) => {
                AbstractValue::join(classes.iter().map(|class| AbstractValue::of_class(*class)))
            }
            Reached::Export(library, path) => {
                if let Some(collection) = self.builtins.collection(library, path) {
                    return AbstractValue::Collection(collection);
                }
                let (argument, within) = (site.arguments.first(), FunctionId(site.within));
                // `new Proxy({}, { get: … })` stands in for something that its functions know.
                let is_empty = |arg: &Arg| matches!(&arg.shape, Shape::Object(members) if members.is_empty());
                let stands_in = library.is_empty()
                    && argument.is_some_and(is_empty)
                    && self.builtins.foreign.contains(&**path);
                if self.builtins.passes_on(library, path) && !stands_in {
                    if let Some(Arg {
                        term: Term::Path(path), shape: Shape::Opaque | Shape::Choice(_), ..
                    }) = argument
                        && let bound @ AbstractValue::Bound(_) = self.bound(within, path)
                    {
                        return bound;
                    }
                    return argument.map_or(AbstractValue::Unknown, |arg| self.arg(within, arg));
                }
                match self.outcome(number) {
                    Some(outcome) => given_by(&outcome),
                    None if library.is_empty() => match argument.map(|arg| self.arg(within, arg)) {
                        // `sorted(folder.iterdir())`: the same entries.
                        Some(AbstractValue::Kind(list))
                            if self.builtins.same_entries.contains(&**path)
                                && self.knowledge.entry_of(&list).is_some() =>
                        {
                            AbstractValue::Kind(list)
                        }
                        _ => self.result_of_builtin(path),
                    },
                    None if self.builtins.is_pure_library(library) => AbstractValue::Plain,
                    None => self.made_of(site),
                }
            }
            Reached::Method(kind, receiver, name) if name.ends_with(".bind") => {
                let (kind, receiver, within) = (kind.clone(), receiver.clone(), FunctionId(site.within));
                let name = name.trim_end_matches(".bind").into();
                AbstractValue::Bound(Arc::new(Bound { kind, receiver, within, name }))
            }
            // Bound to its object, a function is still that function.
            Reached::Other(_, name, bound @ (AbstractValue::Bound(_) | AbstractValue::Function(..)))
                if &**name == "bind" =>
            {
                bound.clone()
            }
            Reached::Method(..) => {
                self.outcome(number).map_or(AbstractValue::Unknown, |outcome| given_by(&outcome))
            }
            Reached::Collection(Some(_), receiver, name)
                if let AbstractValue::Kind(list) = self.path(FunctionId(site.within), receiver)
                    && let Some(entry) = self.knowledge.entry_of(&list) =>
            {
                match self.builtins.gives(name) {
                    Some(Gives::Entry) => AbstractValue::Kind(Arc::new(entry)),
                    Some(Gives::Entries | Gives::Joined | Gives::Itself) => AbstractValue::Kind(list),
                    _ => AbstractValue::Collection(Collection::List),
                }
            }
            Reached::Collection(kind, receiver, name) => match self.builtins.gives(name) {
                Some(Gives::Entry) => {
                    let key = receiver.clone().at(Term::Unknown);
                    self.path(FunctionId(site.within), &key)
                }
                Some(Gives::Itself) => kind.map_or(AbstractValue::Unknown, AbstractValue::Collection),
                Some(Gives::Entries | Gives::Joined | Gives::Mapped | Gives::Pairs | Gives::List) => {
                    AbstractValue::Collection(Collection::List)
                }
                None => AbstractValue::Unknown,
            },
            Reached::Other(_, _, whole) => {
                match (self.outcome(number).and_then(|outcome| outcome.kind.clone()), whole) {
                    (Some(kind), _) => AbstractValue::Kind(Arc::new(kind)),
                    (None, AbstractValue::Foreign) => self.made_of(site),
                    (None, _) => AbstractValue::Unknown,
                }
            }
            Reached::OneOf(Alternatives { functions, .. }, _) => {
                AbstractValue::join(functions.iter().map(|function| self.returned(*function)))
            }
            Reached::Member(whole, ..) => {
                AbstractValue::join(self.functions_in(whole).map(|(_, function, _)| self.returned(function)))
            }
            Reached::Value(_) | Reached::Super => AbstractValue::Unknown,
        }
    }

    /// What a library makes of what it is handed, if that is one function: `export const add = withTelemetry(addItem)`.
    fn made_of(&self, site: &'f Site) -> AbstractValue<'f> {
        let mut functions =
            site.arguments.iter().filter_map(|arg| match self.arg(FunctionId(site.within), arg) {
                AbstractValue::Function(function, _) => Some(function),
                _ => None,
            });
        match (functions.next(), functions.next()) {
            (Some(function), None) if !site.construct => AbstractValue::Wrapped(function),
            _ => AbstractValue::Foreign,
        }
    }

    /// What a function of the language returns.
    fn result_of_builtin(&self, path: &str) -> AbstractValue<'f> {
        if self.builtins.foreign.contains(path) {
            AbstractValue::Foreign
        } else if self.builtins.plain.contains(path) {
            AbstractValue::Plain
        } else if self.builtins.lists.contains(path) {
            AbstractValue::Collection(Collection::List)
        } else {
            AbstractValue::Unknown
        }
    }

    /// What the knowledge says of a call; its steps are not wanted yet.
    pub(crate) fn outcome(&self, number: u32) -> Option<Arc<Outcome>> {
        self.outcomes.answer(&self.asking, number, None, || {
            let mut values = vec![];
            let call = self.index.calls.get(number as usize).copied().unwrap_or_default();
            let span = self.flat.sites.get(number as usize).map(|site| site.span).unwrap_or_default();
            let mut body = Body::over(&mut values, span);
            // What the call reaches is looked up here: what was answered elsewhere may be good for another question alone.
            let apply = || {
                let reached = self.reached(self.flat.sites.get(number as usize)?);
                library::apply(self, number, &reached, call, &mut body)
            };
            self.deeper(apply).flatten().map(|outcome| self.share(outcome))
        })
    }
}

/// Fields that are all names, joined by dots.
fn names(fields: &[Field]) -> Option<String> {
    let mut joined = String::new();
    for field in fields {
        let (Field::Name(name) | Field::At(Term::Literal(name))) = field else { return None };
        if !joined.is_empty() {
            joined.push('.');
        }
        joined.push_str(name);
    }
    Some(joined)
}

/// What a call of a library gives.
fn given_by<'f>(outcome: &Outcome) -> AbstractValue<'f> {
    match &outcome.kind {
        Some(kind) => AbstractValue::Kind(Arc::new(kind.clone())),
        None if outcome.answer => AbstractValue::Foreign,
        None => AbstractValue::Unknown,
    }
}
