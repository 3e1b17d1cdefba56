//! What a call reaches.

use std::rc::Rc;

use interlock_model::ir::{AccessPath, Body, Field, FunctionId, Name, Root, Term, Value};

use super::{
    library,
    meaning::{Bound, Meaning, Meanings, Steps},
};
use crate::{
    Arg, Kind, Outcome, Shape,
    module::Site,
    tables::{Collection, Gives},
};

/// What a call reaches.
#[derive(Debug, Clone)]
pub(super) enum Reached<'f> {
    /// A function, on an object if it is a method.
    Function(FunctionId, Option<AccessPath>),
    /// A class of the program: an object of it is made.
    Class(usize),
    /// An export of a library or of the language.
    Export(Name, Name),
    /// A method of a library's object.
    Method(Rc<Kind>, AccessPath, Name),
    /// A method of a collection, or of something of which nothing is known but that the method is called like a collection's.
    Collection(Option<Collection>, AccessPath, Name),
    /// One of several functions in an object or a list, by key.
    Member(Meaning<'f>, AccessPath, Term),
    /// One of several functions, on an object if they are methods.
    OneOf(Alternatives, Option<AccessPath>),
    /// What a value holds.
    Value(Value),
    /// The constructor of the class above.
    Super,
    /// Not found: on what, by which name, and what is known of the object.
    Other(Option<AccessPath>, Name, Meaning<'f>),
}

/// Several functions of which one is called.
#[derive(Debug, Clone)]
pub(super) struct Alternatives {
    /// Those that are followed.
    pub(super) functions: Vec<FunctionId>,
    /// How many the budget was not enough for.
    pub(super) left_out: usize,
}

/// How many steps the alternatives of one call may have together, before their own calls are inlined. A few are always followed.
const BUDGET: usize = 200;
const ALWAYS: usize = 3;

impl<'f> Meanings<'f> {
    /// What a call reaches.
    pub(super) fn reached(&self, site: &'f Site) -> Reached<'f> {
        let at = FunctionId(site.within);
        let Some(callee) = &site.callee else { return Reached::Other(None, "?".into(), Meaning::Unknown) };
        if let Root::Global(name) = &callee.root
            && self.semantics.above == Some(&**name)
        {
            return self.above(at, callee);
        }
        let Steps { meaning, used, before: whole } = self.steps(at, callee);
        if let Meaning::Kind(kind) = meaning {
            let (before, behind) = callee.fields.split_at_checked(used).unwrap_or((&callee.fields, &[]));
            let receiver = AccessPath { root: callee.root.clone(), fields: before.into() };
            return match names(behind) {
                Some(method) => Reached::Method(kind, receiver, method.into()),
                None => Reached::Other(Some(receiver), "?".into(), Meaning::Kind(kind)),
            };
        }
        let before = |fields: &[Field]| AccessPath { root: callee.root.clone(), fields: fields.into() };
        let split = callee.fields.split_last();
        match meaning {
            Meaning::Function(function) => {
                return Reached::Function(function, split.map(|(_, fields)| before(fields)));
            }
            Meaning::Alternatives(ref all) => {
                let functions: Vec<FunctionId> = all.iter().filter_map(Meaning::function).collect();
                let receiver = split.map(|(_, fields)| before(fields));
                if let Some(found) = self.alternatives(functions, receiver.as_ref()) {
                    return found;
                }
            }
            Meaning::Class(class) if site.construct => return Reached::Class(class),
            Meaning::Export(library, path) => return Reached::Export(library, path),
            Meaning::Bound(bound) => {
                let receiver = self.receiver_of(&bound, at);
                return Reached::Method(bound.kind.clone(), receiver, bound.name.clone());
            }
            _ => {}
        }
        match split {
            None => match &callee.root {
                Root::Value(value) => Reached::Value(*value),
                Root::Global(name) => Reached::Other(None, name.clone(), Meaning::Unknown),
                Root::This => Reached::Other(None, "this".into(), Meaning::Unknown),
            },
            Some((Field::At(key), fields)) => Reached::Member(whole, before(fields), key.clone()),
            Some((Field::Name(name), fields)) => self.method_of(whole, before(fields), name),
        }
    }

    /// A method that is named and not called, where it is a library object's.
    fn bound(&self, within: FunctionId, path: &AccessPath) -> Meaning<'f> {
        let Steps { meaning: Meaning::Kind(kind), used, .. } = self.steps(within, path) else {
            return Meaning::Unknown;
        };
        let Some((before, behind)) = path.fields.split_at_checked(used) else { return Meaning::Unknown };
        match names(behind) {
            Some(name) if !name.is_empty() => {
                let receiver = AccessPath { root: path.root.clone(), fields: before.into() };
                Meaning::Bound(Rc::new(Bound { kind, receiver, within, name: name.into() }))
            }
            _ => Meaning::Unknown,
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
    fn method_of(&self, whole: Meaning<'f>, receiver: AccessPath, name: &Name) -> Reached<'f> {
        match &whole {
            Meaning::Function(function) if matches!(&**name, "call" | "apply") => {
                let above = receiver.fields.split_last();
                let this = above
                    .map(|(_, fields)| AccessPath { root: receiver.root.clone(), fields: fields.into() });
                return Reached::Function(*function, this);
            }
            Meaning::Collection(kind) if self.builtins.is_method(name) => {
                return Reached::Collection(Some(*kind), receiver, name.clone());
            }
            Meaning::Instance(class) => {
                let functions = self.implementations(&[*class], name);
                if let Some(found) = self.alternatives(functions, Some(&receiver)) {
                    return found;
                }
            }
            Meaning::Alternatives(all) => {
                let of_class = |one: &Meaning<'f>| match one {
                    Meaning::Instance(class) => Some(*class),
                    _ => None,
                };
                let classes: Vec<usize> = all.iter().filter_map(of_class).collect();
                let mut functions = self.implementations(&classes, name);
                for one in all.iter().filter(|one| of_class(one).is_none()) {
                    if let Meaning::Function(function) = self.member(one, name)
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
            Meaning::Class(class) => {
                return match self.base(*class) {
                    Some(kind) => Reached::Method(Rc::new(kind), receiver, name.clone()),
                    None => Reached::Other(Some(receiver), name.clone(), whole),
                };
            }
            Meaning::Foreign | Meaning::Plain => {
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
        let unknown = || Reached::Other(None, "super".into(), Meaning::Unknown);
        let Meaning::Instance(class) = self.this(at) else { return unknown() };
        let method = match callee.fields.as_slice() {
            [] => return Reached::Super,
            [Field::Name(method)] => method,
            _ => return unknown(),
        };
        match self.parent(class).and_then(|parent| self.method(parent, method)) {
            Some(function) => Reached::Function(function, Some(AccessPath::this())),
            None => Reached::Other(Some(AccessPath::this()), method.clone(), Meaning::Instance(class)),
        }
    }

    /// What comes out of a call that has not been asked for yet.
    pub(super) fn look_at_result(&self, number: u32) -> Meaning<'f> {
        let Some(site) = self.flat.sites.get(number as usize) else { return Meaning::Unknown };
        let reached = self.reached(site);
        match &reached {
            Reached::Function(function, _) => self.returned(*function),
            Reached::Class(class) => Meaning::Instance(*class),
            Reached::Export(library, path) => {
                if let Some(collection) = self.builtins.collection(library, path) {
                    return Meaning::Collection(collection);
                }
                if self.builtins.passes_on(library, path) {
                    let (argument, within) = (site.arguments.first(), FunctionId(site.within));
                    if let Some(Arg { term: Term::Path(path), shape: Shape::Opaque, .. }) = argument
                        && let bound @ Meaning::Bound(_) = self.bound(within, path)
                    {
                        return bound;
                    }
                    return argument.map_or(Meaning::Unknown, |arg| self.arg(within, arg));
                }
                match self.outcome_of(number, &reached) {
                    Some(outcome) => {
                        outcome.kind.clone().map_or(Meaning::Unknown, |kind| Meaning::Kind(Rc::new(kind)))
                    }
                    None if library.is_empty() => self.result_of_builtin(path),
                    None if self.builtins.is_pure_library(library) => Meaning::Plain,
                    None => Meaning::Foreign,
                }
            }
            Reached::Method(kind, receiver, name) if name.ends_with(".bind") => {
                let (kind, receiver, within) = (kind.clone(), receiver.clone(), FunctionId(site.within));
                let name = name.trim_end_matches(".bind").into();
                Meaning::Bound(Rc::new(Bound { kind, receiver, within, name }))
            }
            Reached::Other(_, name, bound @ Meaning::Bound(_)) if &**name == "bind" => bound.clone(),
            Reached::Method(..) => {
                match self.outcome_of(number, &reached).and_then(|outcome| outcome.kind.clone()) {
                    Some(kind) => Meaning::Kind(Rc::new(kind)),
                    None => Meaning::Unknown,
                }
            }
            Reached::Collection(kind, receiver, name) => match self.builtins.gives(name) {
                Some(Gives::Entry) => {
                    let key = receiver.clone().at(Term::Unknown);
                    self.path(FunctionId(site.within), &key)
                }
                Some(Gives::Itself) => kind.map_or(Meaning::Unknown, Meaning::Collection),
                Some(Gives::Entries | Gives::Joined | Gives::Mapped | Gives::List) => {
                    Meaning::Collection(Collection::List)
                }
                None => Meaning::Unknown,
            },
            Reached::Other(_, _, whole) => {
                match (self.outcome_of(number, &reached).and_then(|outcome| outcome.kind.clone()), whole) {
                    (Some(kind), _) => Meaning::Kind(Rc::new(kind)),
                    (None, Meaning::Foreign) => Meaning::Foreign,
                    (None, _) => Meaning::Unknown,
                }
            }
            Reached::OneOf(Alternatives { functions, .. }, _) => {
                self.join(functions.iter().map(|function| self.returned(*function)))
            }
            Reached::Member(..) | Reached::Value(_) | Reached::Super => Meaning::Unknown,
        }
    }

    /// What a function of the language returns.
    fn result_of_builtin(&self, path: &str) -> Meaning<'f> {
        if self.builtins.foreign.contains(path) {
            Meaning::Foreign
        } else if self.builtins.plain.contains(path) {
            Meaning::Plain
        } else if self.builtins.lists.contains(path) {
            Meaning::Collection(Collection::List)
        } else {
            Meaning::Unknown
        }
    }

    /// What the knowledge says of a call; its steps are not wanted yet.
    pub(super) fn outcome(&self, number: u32) -> Option<Rc<Outcome>> {
        self.outcome_by(number, None)
    }

    /// The same where it is known what the call reaches.
    pub(super) fn outcome_of(&self, number: u32, reached: &Reached<'f>) -> Option<Rc<Outcome>> {
        self.outcome_by(number, Some(reached))
    }

    /// Remembers what the knowledge said of a call, unless it has been asked before. Most calls have no outcome to speak of, and share it.
    pub(super) fn remember(&self, number: u32, outcome: Outcome) {
        if self.outcomes.get(number as usize).is_none() {
            self.outcomes.set(number as usize, Some(self.shared(outcome)));
        }
    }

    fn shared(&self, outcome: Outcome) -> Rc<Outcome> {
        let says_nothing = outcome.kind.is_none() && outcome.parameters.is_empty();
        if says_nothing { self.nothing.clone() } else { outcome.into() }
    }

    fn outcome_by(&self, number: u32, reached: Option<&Reached<'f>>) -> Option<Rc<Outcome>> {
        self.outcomes.or_look(number as usize, None, || {
            let mut values = vec![];
            let call = self.index.calls.get(number as usize).copied().unwrap_or_default();
            let span = self.flat.sites.get(number as usize).map(|site| site.span).unwrap_or_default();
            let mut body = Body::over(&mut values, span);
            let outcome = self.deeper(|| library::apply(self, number, reached, call, &mut body)).flatten();
            outcome.map(|outcome| self.shared(outcome))
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
