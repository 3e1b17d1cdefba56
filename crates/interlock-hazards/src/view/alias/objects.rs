//! Locations of the whole program: what a variable or field is called, whichever path a call takes to it.
//!
//! Start-up makes an object under the name of a variable of its own, and a handler knows the same object as something that it was given, or as
//! `this`. What all of them agree on is whose field it is, as long as there is one object of the class.

use std::collections::HashSet;

use interlock_model::{
    FileId,
    ir::{AccessPath, Field, FunctionId, Name, Op, Origin, Program, Resource, Root, Term, Value},
};

use crate::view::{At, Entry};

/// The names of a place in the whole program. No other place has any of them.
#[derive(Debug)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// Whether both are of the same place.
    pub(crate) fn are_of_one(&self, others: &Self) -> bool {
        self.0.iter().any(|name| others.0.contains(name))
    }

    /// How far inside of a place theirs is: not at all, or so many fields; `None` if it is elsewhere.
    pub(crate) fn depth_in(&self, location: &Self) -> Option<usize> {
        let depth = |name: &str, outer: &str| {
            let rest = name.strip_prefix(outer)?;
            (rest.is_empty() || rest.starts_with('.')).then(|| rest.matches('.').count())
        };
        self.0.iter().find_map(|name| location.0.iter().find_map(|outer| depth(name, outer)))
    }
}

/// A variable or field that lives as long as the process.
pub(crate) struct Location {
    pub(crate) names: Names,
    /// Whether it is an object, and nobody knows which of its fields was meant.
    is_object: bool,
    /// What the source calls it.
    pub(crate) name: String,
}

impl Location {
    /// How many fields further in what was meant may be.
    pub(crate) fn unsaid(&self) -> usize {
        usize::from(self.is_object)
    }
}

/// The classes of which the program makes objects in several places.
#[derive(Debug)]
pub(crate) struct Objects(HashSet<Class>);

/// A class, by its file and its name.
type Class = (FileId, Name);

impl Objects {
    pub(in crate::view) fn of(program: &Program) -> Self {
        let class = |made: &FunctionId| match method(program, *made)? {
            (class, "constructor") => Some(class),
            _ => None,
        };
        Self(program.called_often.iter().filter_map(class).collect())
    }

    /// The variable or field that a step touches, as a whole or in part.
    pub(crate) fn location(&self, entry: &Entry<'_>, at: At) -> Option<Location> {
        let (path, is_object) = match (entry.resource(at), entry.op(at)?) {
            (Some(Resource::Shared(path)), _) => (up_to_key(path), false),
            // What nobody else sees yet was put into an object, it is not said where, or is what a variable begins with.
            (_, Op::Derive { into, .. }) => match Self::receiver(entry, at, *into) {
                Some(object) => (object, true),
                None => (AccessPath::of(Root::Value(*into)), false),
            },
            _ => return None,
        };
        let mut names: Vec<String> = seen(entry, &path).into_iter().collect();
        match self.field(entry, at, &path) {
            Some(field) => names.push(field),
            None => names.extend(variable(entry, at, &path)),
        }
        (!names.is_empty()).then(|| Location { names: Names(names), is_object, name: entry.path_text(&path) })
    }

    /// Whether something is computed from what is kept at a place, in a variable that functions captured.
    pub(crate) fn is_made_of(entry: &Entry<'_>, at: At, values: &[Value], location: &Names) -> bool {
        let kept = |value: &Value| {
            let path = AccessPath::of(Root::Value(*value));
            entry.flow().origin(*value) == Some(Origin::Capture)
                && variable(entry, at, &path)
                    .is_some_and(|name| Names(vec![name]).depth_in(location).is_some())
        };
        entry.flow().backward_slice(values).iter().any(kept)
    }

    /// The file that a step touches, if it is the same one for every call and every process.
    pub(crate) fn file(&self, entry: &Entry<'_>, at: At) -> Option<Names> {
        let Some(Resource::File(term)) = entry.resource(at) else { return None };
        let (seen, field) =
            (|path: &AccessPath| seen(entry, path), |path: &AccessPath| self.field(entry, at, path));
        let as_seen = spelt(term, &|path| seen(path).or_else(|| field(path)));
        let as_field = spelt(term, &|path| field(path).or_else(|| seen(path)));
        as_seen.zip(as_field).map(|(one, other)| Names(vec![one, other]))
    }

    /// The object that a value is, or is the outermost part of, where a method of it has a step inside.
    fn receiver(entry: &Entry<'_>, at: At, value: Value) -> Option<AccessPath> {
        methods(entry, at).map(|(_, object)| object).find(|object| object.root == Root::Value(value))
    }

    /// What a location is called as a field of the only object of a class: of the innermost one that has it.
    fn field(&self, entry: &Entry<'_>, at: At, path: &AccessPath) -> Option<String> {
        methods(entry, at).filter(|(_, object)| path.begins_with(object)).find_map(|(function, object)| {
            let (class, _) = method(entry.program, function)?;
            if self.0.contains(&class) {
                return None;
            }
            let ((FileId(file), name), rest) = (class, path.fields.get(object.fields.len()..)?);
            let inside = AccessPath { root: Root::This, fields: rest.iter().cloned().collect() };
            Some(entry.alias().location_text(&inside).replacen("this", &format!("{name}@{file}"), 1))
        })
    }
}

/// What a variable of a function is called, or something in it, in that function and in those that are written inside and took it along.
fn variable(entry: &Entry<'_>, at: At, path: &AccessPath) -> Option<String> {
    let Root::Value(value) = path.root else { return None };
    let own = entry.program.function(entry.home(&[at]))?;
    let (function, file) = match entry.flow().origin(value)? {
        Origin::Capture => {
            let inner = entry.program.function(entry.function)?;
            (inner.name.rsplit_once('.')?.0, inner.span.file)
        }
        Origin::Step => (&*own.name, own.span.file),
        _ => return None,
    };
    let name = entry.name_of(value);
    let inside = AccessPath { root: Root::This, fields: path.fields.clone() };
    Some(entry.alias().location_text(&inside).replacen("this", &format!("{function}#{name}@{}", file.0), 1))
}

/// The methods that have a step inside, from the innermost on, with the objects that they are of.
fn methods(entry: &Entry<'_>, at: At) -> impl Iterator<Item = (FunctionId, AccessPath)> {
    let mut next = Some(entry.frame_of(at));
    std::iter::from_fn(move || {
        let number = next?;
        let frame = entry.frames.get(number)?;
        next = (number != 0).then_some(frame.parent);
        let object = match entry.op(frame.at) {
            _ if number == 0 => Some(AccessPath::of(Root::This)),
            Some(Op::Inlined { receiver, .. }) => {
                receiver.as_ref().map(|path| entry.alias().resolve_path(path))
            }
            _ => None,
        };
        Some(object.map(|object| (frame.function, object)))
    })
    .flatten()
}

/// The class and the rest of the name of a method.
fn method(program: &Program, function: FunctionId) -> Option<(Class, &str)> {
    let function = program.function(function)?;
    let (class, method) = function.name.split_once('.')?;
    Some(((function.span.file, class.into()), method))
}

/// The part of a path that is the same for every key.
fn up_to_key(path: &AccessPath) -> AccessPath {
    let named = path.fields.iter().take_while(|field| matches!(field, Field::Name(_)));
    AccessPath { root: path.root.clone(), fields: named.cloned().collect() }
}

/// The name of a place that is called the same everywhere. Every class has a `this`, and many functions a `path`.
fn seen(entry: &Entry<'_>, path: &AccessPath) -> Option<String> {
    matches!(path.root, Root::Global(_)).then(|| entry.alias().location_text(path))
}

/// A name of a file, with the names of what it is made of.
fn spelt(term: &Term, name: &dyn Fn(&AccessPath) -> Option<String>) -> Option<String> {
    match term {
        Term::Literal(text) => Some(text.to_string()),
        Term::Path(path) => name(path),
        Term::Join(parts) => parts.iter().map(|part| spelt(part, name)).collect(),
        _ => None,
    }
}
