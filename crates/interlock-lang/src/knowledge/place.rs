//! Where in a call something stands, and what it must look like: `0`, `1.flag|2`, `self`, `made.0`, `'text`.

use std::borrow::Cow;

use interlock_model::ir::{AccessPath, Field, Fresh, Name, Root, Term};
use serde::{Deserialize, Deserializer, de::Error};

use crate::{Arg, Shape, Target};

use super::scene::Scene;

/// Where something stands: the first of several places where there is something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(Vec<Route>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Route {
    start: Start,
    steps: Vec<Name>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Start {
    /// `2`: an argument.
    Argument(usize),
    /// `1+`: this and all further arguments, as a list.
    Rest(usize),
    /// `last`: the last argument; `last.flag`: the argument of that name, since those by name come last.
    Last,
    /// `self`: the object.
    Receiver,
    /// `subject`: what the object stands for.
    Subject,
    /// `made.0`: an argument of the call that made the object.
    Made(usize),
    /// `made.0+`: this and all further arguments of that call, as a list.
    MadeRest(usize),
    /// `first.0`: an argument of the first of the calls that made the object.
    First(usize),
    /// `name`: the last step of the object's own path.
    Name,
    /// `library`: who made the library that is called, or its name where it has no maker's.
    Library,
    /// `called`: what the function or method is called, without what leads to it.
    Called,
    /// `new`: there if the call constructs.
    New,
    /// `awaited`: there if somebody waits for the call.
    Awaited,
    /// `fresh`: a name that nobody else gives.
    Fresh,
    /// `'text`: the text.
    Text(Name),
}

/// What something must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// A truth value that is written there.
    Bool(bool),
    /// A number that is written there.
    Number(i64),
    /// `=text`: that text, in any case.
    Equals(String),
    /// `~text`: it contains the text, or names something that does.
    Contains(String),
    /// `function`, `object`, `list`, `text`.
    Function,
    Object,
    List,
    Text,
    /// `sql`: text that is a statement.
    Sql,
    /// `given`: there is something, and it is not null.
    Given,
    /// `absent`: there is nothing.
    Absent,
}

impl Place {
    /// What stands there.
    pub(super) fn find<'s>(&self, scene: &'s Scene<'_>) -> Option<Cow<'s, Arg>> {
        self.0.iter().find_map(|route| route.find(scene)).filter(|arg| arg.shape != Shape::Null)
    }

    /// Whether something may stand there that cannot be seen, because what it would be a member of is not written out.
    pub(super) fn is_hidden(&self, scene: &Scene<'_>) -> bool {
        self.0.iter().any(|route| route.is_hidden(scene))
    }

    /// Reads the text form.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        text.split('|').map(Route::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Route {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(text) = text.strip_prefix('\'') {
            return Ok(Self { start: Start::Text(text.into()), steps: vec![] });
        }
        let mut parts = text.split('.');
        let first = parts.next().unwrap_or_default();
        let bad = || format!("`{text}` is no place in a call");
        let start = match first {
            "self" => Start::Receiver,
            "subject" => Start::Subject,
            "last" => Start::Last,
            "name" => Start::Name,
            "library" => Start::Library,
            "called" => Start::Called,
            "new" => Start::New,
            "awaited" => Start::Awaited,
            "fresh" => Start::Fresh,
            "made" => {
                let at = parts.next().ok_or_else(bad)?;
                match at.strip_suffix('+') {
                    Some(from) => Start::MadeRest(from.parse().map_err(|_| bad())?),
                    None => Start::Made(at.parse().map_err(|_| bad())?),
                }
            }
            "first" => Start::First(parts.next().and_then(|at| at.parse().ok()).ok_or_else(bad)?),
            number => match number.strip_suffix('+') {
                Some(from) => Start::Rest(from.parse().map_err(|_| bad())?),
                None => Start::Argument(number.parse().map_err(|_| bad())?),
            },
        };
        Ok(Self { start, steps: parts.map(Name::from).collect() })
    }

    /// Whether the last object on the way is none that is written out in full.
    fn is_hidden(&self, scene: &Scene<'_>) -> bool {
        let whole = self.steps.split_last().and_then(|(_, before)| {
            let before = Self { start: self.start.clone(), steps: before.to_vec() };
            Some(before.find(scene)?.into_owned())
        });
        whole.is_some_and(|whole| match &whole.shape {
            Shape::Opaque | Shape::Call(_) | Shape::Choice(_) => true,
            Shape::Object(members) => members.iter().any(|(name, spread)| {
                &**name == "..." && !matches!(spread.shape, Shape::Object(_) | Shape::Null)
            }),
            _ => false,
        })
    }

    fn find<'s>(&self, scene: &'s Scene<'_>) -> Option<Cow<'s, Arg>> {
        let arguments = scene.call.arguments;
        let of = |term: Term| {
            let values = scene.values_in(&term);
            Cow::Owned(Arg::opaque(term, values))
        };
        let mut arg = match &self.start {
            Start::Argument(at) => Cow::Borrowed(arguments.get(*at)?),
            // Members of it are arguments that are handed over by name, and what is handed over by its place has none.
            Start::Last if self.steps.is_empty() => Cow::Borrowed(arguments.last()?),
            Start::Last => {
                let named = |arg: &&Arg| matches!(arg.shape, Shape::Object(_) | Shape::Choice(_));
                Cow::Borrowed(arguments.last().filter(named)?)
            }
            Start::Rest(from) => Cow::Owned(rest(arguments, *from)?),
            Start::Made(at) => Cow::Borrowed(scene.kind?.made.last()?.arguments.get(*at)?),
            Start::MadeRest(from) => Cow::Owned(rest(&scene.kind?.made.last()?.arguments, *from)?),
            Start::First(at) => Cow::Borrowed(scene.kind?.made.first()?.arguments.get(*at)?),
            Start::Receiver => of(Term::Path(scene.receiver?.clone())),
            Start::Subject => of(scene.kind?.subject.clone()?),
            Start::Name => of(Term::Literal(last_name(scene.receiver?)?)),
            Start::Library => {
                let Target::Export { library, .. } = scene.call.target else { return None };
                let name = library.trim_start_matches('@').split('/').next().unwrap_or(library);
                of(Term::Literal(name.into()))
            }
            Start::Called => of(Term::Literal(scene.name.into())),
            Start::New if scene.call.construct => of(Term::Literal("new".into())),
            Start::Awaited if scene.call.awaited => of(Term::Literal("awaited".into())),
            Start::New | Start::Awaited => return None,
            Start::Fresh => of(Term::Fresh(Fresh::Random)),
            Start::Text(text) => Cow::Owned(Arg {
                term: Term::Literal(text.clone()),
                values: vec![],
                shape: Shape::Text(vec![Term::Literal(text.clone())]),
            }),
        };
        arg = scene.known(arg);
        for step in &self.steps {
            arg = scene.known(member(arg, step)?);
        }
        Some(arg)
    }
}

/// Arguments from one on, as a list.
fn rest(arguments: &[Arg], from: usize) -> Option<Arg> {
    let items = arguments.get(from..).filter(|items| !items.is_empty())?.to_vec();
    let values = items.iter().flat_map(|item| item.values.iter().copied()).collect();
    Some(Arg { term: Term::Unknown, values, shape: Shape::List(items) })
}

/// The last named step of a path, without the file that a global is qualified with.
pub(super) fn last_name(path: &AccessPath) -> Option<Name> {
    let named = path.fields.iter().rev().find_map(named).cloned();
    named.or_else(|| last_step(&path.root, &[]).map(Name::from))
}

/// The same of a path in parts.
pub(super) fn last_step<'p>(root: &'p Root, fields: &'p [Field]) -> Option<&'p str> {
    match (fields.iter().rev().find_map(named), root) {
        (Some(name), _) => Some(name),
        (None, Root::Global(name)) => name.rsplit("::").next(),
        (None, _) => None,
    }
}

fn named(field: &Field) -> Option<&Name> {
    match field {
        Field::Name(name) | Field::At(Term::Literal(name)) => Some(name),
        Field::At(_) => None,
    }
}

/// A member of an object that is written out, or what it is called in one that is not. Headers are compared without case.
fn member<'s>(arg: Cow<'s, Arg>, step: &Name) -> Option<Cow<'s, Arg>> {
    fn in_shape<'a>(shape: &'a Shape, step: &str) -> Option<Option<&'a Arg>> {
        match shape {
            Shape::Object(members) => {
                let by = |same: &dyn Fn(&str) -> bool| {
                    members.iter().rev().find(|(name, _)| same(name)).map(|(_, value)| value)
                };
                let exact = by(&|name| name == step);
                let found = exact.or_else(|| by(&|name| name.eq_ignore_ascii_case(step)));
                // What was spread in may hold it: then it is not said.
                let spread = || by(&|name| name == "...").filter(|arg| matches!(arg.term, Term::Path(_)));
                match found {
                    Some(found) => Some(Some(found)),
                    None if spread().is_some() => None,
                    None => Some(None),
                }
            }
            Shape::List(items) => Some(step.parse().ok().and_then(|at: usize| items.get(at))),
            // One of several objects has it if any of them does: what is added to headers on one way only.
            Shape::Choice(ways)
                if !ways.is_empty() && ways.iter().all(|way| matches!(way.shape, Shape::Object(_))) =>
            {
                let mut found = None;
                for way in ways {
                    found = found.or(in_shape(&way.shape, step)?);
                }
                Some(found)
            }
            Shape::Opaque | Shape::Call(_) | Shape::Choice(_) => None,
            _ => Some(None),
        }
    }
    let named = |arg: &Arg| {
        // Whether it is a list is not known, and many functions take one thing or several.
        if step.parse::<usize>().is_ok() {
            return None;
        }
        let path = match (&arg.term, &arg.shape) {
            (Term::Path(path), Shape::Opaque | Shape::Call(_) | Shape::Choice(_)) => path.clone(),
            (_, Shape::Object(members)) => {
                members.iter().rev().find_map(|(name, value)| match (&**name, &value.term) {
                    ("...", Term::Path(path)) => Some(path.clone()),
                    _ => None,
                })?
            }
            _ => return None,
        };
        Some(Arg::opaque(Term::Path(path.field(step.clone())), arg.values.clone()))
    };
    match arg {
        Cow::Borrowed(arg) => match in_shape(&arg.shape, step) {
            Some(found) => found.map(Cow::Borrowed),
            None => named(arg).map(Cow::Owned),
        },
        Cow::Owned(arg) => match in_shape(&arg.shape, step) {
            Some(found) => found.cloned().map(Cow::Owned),
            None => named(&arg).map(Cow::Owned),
        },
    }
}

impl Test {
    /// Whether what stands there looks like that.
    pub(super) fn holds(&self, place: &Place, scene: &Scene<'_>) -> bool {
        let found: Vec<Cow<'_, Arg>> = place.0.iter().filter_map(|route| route.find(scene)).collect();
        if *self == Self::Absent {
            return found.iter().all(|arg| arg.shape == Shape::Null);
        }
        found.iter().any(|arg| self.fits(arg))
    }

    fn fits(&self, arg: &Arg) -> bool {
        match self {
            Self::Bool(wanted) => arg.shape == Shape::Bool(*wanted),
            Self::Number(wanted) => arg.shape == Shape::Number(*wanted),
            Self::Equals(wanted) => texts(arg).iter().any(|text| text.eq_ignore_ascii_case(wanted)),
            // Letters such as the `x` of `wx` are no part of a variable's name.
            Self::Contains(part) => {
                let fits = |(text, is_text): &(Name, bool)| {
                    (*is_text || part.len() > 2) && text.contains(part.as_str())
                };
                parts(arg).iter().any(fits)
            }
            Self::Function => matches!(arg.shape, Shape::Function { .. }),
            Self::Object => matches!(arg.shape, Shape::Object(_)),
            Self::List => matches!(arg.shape, Shape::List(_)),
            Self::Text => matches!(arg.shape, Shape::Text(_)),
            Self::Sql => super::sql::looks_like_sql(arg),
            Self::Given => arg.shape != Shape::Null,
            Self::Absent => false,
        }
    }
}

/// Every text in an argument.
fn texts(arg: &Arg) -> Vec<Name> {
    parts(arg).into_iter().filter_map(|(text, is_text)| is_text.then_some(text)).collect()
}

/// Every text in an argument, and the names that it is put together from: `O_CREAT | O_EXCL` is a list or a join of two names. The
/// flag tells which of the two it is.
fn parts(arg: &Arg) -> Vec<(Name, bool)> {
    fn in_term(term: &Term, found: &mut Vec<(Name, bool)>) {
        match term {
            Term::Literal(text) => found.push((text.clone(), true)),
            Term::Path(path) => found.extend(last_name(path).map(|name| (name, false))),
            Term::Join(parts) => parts.iter().for_each(|part| in_term(part, found)),
            _ => {}
        }
    }
    let mut found = vec![];
    in_term(&arg.term, &mut found);
    match &arg.shape {
        Shape::Text(inner) => inner.iter().for_each(|part| in_term(part, &mut found)),
        Shape::List(items) => items.iter().for_each(|item| found.extend(parts(item))),
        _ => {}
    }
    found
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::Integer(at) => Self::parse(&at.to_string()).map_err(Error::custom),
            toml::Value::String(text) => Self::parse(&text).map_err(Error::custom),
            other => Err(Error::custom(format!("a place in a call is no {}", other.type_str()))),
        }
    }
}

impl<'de> Deserialize<'de> for Test {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(deserializer)? {
            toml::Value::Boolean(wanted) => Ok(Self::Bool(wanted)),
            toml::Value::Integer(wanted) => Ok(Self::Number(wanted)),
            toml::Value::String(text) => match text.as_str() {
                "function" => Ok(Self::Function),
                "object" => Ok(Self::Object),
                "list" => Ok(Self::List),
                "text" => Ok(Self::Text),
                "sql" => Ok(Self::Sql),
                "given" => Ok(Self::Given),
                "absent" => Ok(Self::Absent),
                other => match (other.strip_prefix('='), other.strip_prefix('~')) {
                    (Some(text), _) => Ok(Self::Equals(text.into())),
                    (_, Some(text)) => Ok(Self::Contains(text.into())),
                    _ => Err(Error::custom(format!("`{other}` is no test of an argument"))),
                },
            },
            other => Err(Error::custom(format!("a test of an argument is no {}", other.type_str()))),
        }
    }
}
