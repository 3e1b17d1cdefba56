//! Resolution of names to access paths within one entry, and whether two resources overlap.

use std::borrow::Cow;

use interlock_model::ir::{
    AccessPath, Comparison, Condition, Field, Fields, Name, Origin, Resource, Root, Term, Value, Via,
};

use crate::lexicon::Topic;
use crate::view::{
    Alias, At, Entry, Kinds, control::ops::touched, describe::numbers_of, flow::def_use::Definition,
};

/// How deep other names are followed.
const DEPTH: usize = 24;

/// In how far two steps touch the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlap {
    /// They may: a table is the same, and which row cannot be reported; or a name was asked for twice in the same way, outside the
    /// process.
    Maybe,
    /// They do.
    Sure,
}

impl<'e> Entry<'e> {
    /// Gives every step the resource it touches, under resolved names.
    pub(in crate::view) fn name_resources(&mut self) {
        let touches: Vec<At> = self.steps_of(Kinds::TOUCHES).collect();
        self.resources.reserve_exact(touches.len());
        for at in touches {
            let Some(as_written) = self.op(at).and_then(touched) else { continue };
            let resource = match self.alias().is_own_name(as_written) {
                true => Cow::Borrowed(as_written),
                false => Cow::Owned(self.alias().resolve_resource(as_written)),
            };
            let guarded = match *resource {
                Resource::File(Term::Unknown) => self.locks().guarded_file(at).map(Resource::File),
                _ => None,
            };
            if let Some(step) = self.steps.get_mut(at) {
                step.number = u32::try_from(self.resources.len()).unwrap_or(u32::MAX);
                self.resources.push(guarded.map_or(resource, Cow::Owned));
            }
        }
    }
}

impl<'v, 'e> Alias<'v, 'e> {
    /// Whether a resource is sure to be called what it is called where it is written. Most are.
    fn is_own_name(self, resource: &Resource) -> bool {
        let path = |path: &AccessPath| {
            let root = match path.root {
                Root::Value(value) => {
                    matches!(self.0.flow().definition(value), Definition::Opaque | Definition::New)
                }
                Root::This | Root::Global(_) => true,
            };
            root && path.fields.iter().all(|field| matches!(field, Field::Name(_)))
        };
        let term = |term: &Term| match term {
            Term::Path(named) => path(named),
            Term::Join(_) | Term::Parent(_) => false,
            _ => true,
        };
        match resource {
            Resource::File(name) | Resource::Key(name) => term(name),
            Resource::Row { table, key, .. } => term(table) && term(key),
            Resource::Shared(named) | Resource::Flag(named) | Resource::Stream(named) => path(named),
        }
    }

    /// A resource under resolved names.
    #[must_use]
    pub fn resolve_resource(self, resource: &Resource) -> Resource {
        match resource {
            Resource::File(path) => Resource::File(self.resolve(path)),
            Resource::Row { table, key, columns } => {
                Resource::rows(self.resolve(table), self.resolve(key), columns.clone())
            }
            Resource::Shared(path) => Resource::Shared(self.resolve_path(path)),
            Resource::Key(key) => Resource::Key(self.resolve(key)),
            Resource::Flag(path) => Resource::Flag(self.resolve_path(path)),
            Resource::Stream(path) => Resource::Stream(self.resolve_path(path)),
        }
    }

    /// The way of a statement under resolved names.
    #[must_use]
    pub fn via(self, via: &Via) -> Via {
        match via {
            Via::Client(path) => Via::Client(self.resolve_path(path)),
            Via::Pool(path) => Via::Pool(self.resolve_path(path)),
        }
    }

    /// A condition under resolved names.
    #[must_use]
    pub fn condition(self, condition: &Condition) -> Condition {
        let resolved = |comparison: &Comparison| Comparison {
            with: self.resolve(&comparison.with),
            ..comparison.clone()
        };
        Condition(condition.0.iter().map(resolved).collect())
    }

    /// A term under resolved names.
    #[must_use]
    pub fn resolve(self, term: &Term) -> Term {
        self.term_at(term, DEPTH, false)
    }

    /// A term with everything that is known of it spelled out, fresh parts included: how a temporary file's name is put together.
    #[must_use]
    pub fn spell(self, term: &Term) -> Term {
        self.term_at(term, DEPTH, true)
    }

    /// A path under resolved names.
    #[must_use]
    pub fn resolve_path(self, path: &AccessPath) -> AccessPath {
        self.path_at(path, DEPTH)
    }

    fn term_at(self, term: &Term, depth: usize, fresh: bool) -> Term {
        if depth == 0 {
            return term.clone();
        }
        match term {
            Term::Path(path) if path.fields.is_empty() => match path.root {
                Root::Value(value) => match self.0.flow().definition(value) {
                    // A fresh name that was bound is the same at each use: the value stands for it.
                    Definition::Term(other) if fresh || !is_fresh(other) => {
                        match self.term_at(other, depth - 1, fresh) {
                            // One of several is the same one at each use, although it cannot be reported which.
                            Term::Path(path) if is_some_entry(&path) => term.clone(),
                            known => known,
                        }
                    }
                    Definition::Location(location) => Term::Path(self.path_at(location, depth - 1)),
                    _ => term.clone(),
                },
                _ => term.clone(),
            },
            Term::Path(path) => {
                if let Some(file) = self.made_file(path, depth) {
                    return self.term_at(&file.into(), depth - 1, fresh);
                }
                let known = self.path_at(path, depth);
                match path.root {
                    Root::Value(root) if is_some_entry(&known) && !is_some_entry(path) => {
                        match self.term_at(&root.into(), depth - 1, fresh) {
                            Term::Path(AccessPath { root: Root::Value(root), fields })
                                if fields.is_empty() =>
                            {
                                Term::Path(AccessPath {
                                    root: Root::Value(root),
                                    fields: path.fields.clone(),
                                })
                            }
                            _ => Term::Path(known),
                        }
                    }
                    _ => Term::Path(known),
                }
            }
            Term::Join(parts) => {
                let mut joined: Vec<Term> = vec![];
                for part in parts {
                    match self.term_at(part, depth - 1, fresh) {
                        Term::Join(inner) => joined.extend(inner),
                        other => joined.push(other),
                    }
                }
                Term::Join(joined)
            }
            Term::Parent(path) => Term::Parent(Box::new(self.term_at(path, depth - 1, fresh))),
            _ => term.clone(),
        }
    }

    /// The file that a path says the name of, where that was made up with the file: `temp.name`.
    fn made_file(self, path: &AccessPath, depth: usize) -> Option<Value> {
        let [Field::Name(member) | Field::At(Term::Literal(member))] = path.fields.as_slice() else {
            return None;
        };
        let Root::Value(mut file) = path.root else { return None };
        if !self.0.lexicon().has(Topic::NameOfFile, member) {
            return None;
        }
        for _ in 0..depth {
            match self.0.flow().definition(file) {
                Definition::Term(Term::Path(AccessPath { root: Root::Value(other), fields }))
                    if fields.is_empty() && *other != file =>
                {
                    file = *other;
                }
                Definition::Term(name @ Term::Join(_)) if is_fresh(name) => return Some(file),
                _ => return None,
            }
        }
        None
    }

    fn path_at(self, path: &AccessPath, depth: usize) -> AccessPath {
        let is_entry = |field: &Field| matches!(field, Field::At(_));
        // Steps that name nothing are shared with the path as it is written.
        let fields: Fields = match depth > 0 && path.fields.iter().any(is_entry) {
            false => path.fields.clone(),
            true => path
                .fields
                .iter()
                .map(|field| match field {
                    Field::At(term) => Field::At(self.term_at(term, depth - 1, false)),
                    other => other.clone(),
                })
                .collect(),
        };
        let base = match path.root {
            Root::Value(value) if depth > 0 => match self.0.flow().definition(value) {
                Definition::Term(Term::Path(other)) => Some(self.path_at(other, depth - 1)),
                Definition::Location(location) | Definition::Stored(location) => {
                    Some(self.path_at(location, depth - 1))
                }
                // Of several possibilities the one that others can see is the one that matters.
                Definition::Either(branches) => branches
                    .iter()
                    .filter(|branch| **branch != value)
                    .map(|branch| self.path_at(&(*branch).into(), depth / 2))
                    .find(|path| self.outlives_the_call(&path.root)),
                _ => None,
            },
            _ => None,
        };
        match base {
            Some(base) if base.fields.is_empty() => AccessPath { root: base.root, fields },
            Some(mut base) => {
                base.fields.extend(fields.iter().cloned());
                base
            }
            None => AccessPath { root: path.root.clone(), fields },
        }
    }

    /// Whether a place outlives the call, so that another call can see it: what hangs off a global, the receiver or something that
    /// the handler was given when it was made.
    #[must_use]
    pub fn is_shared(self, path: &AccessPath) -> bool {
        let root = self.resolve_path(path).root;
        let own = matches!(&root, Root::Global(name) if self.is_variable_of_this_call(name));
        !own && self.outlives_the_call(&root)
    }

    fn outlives_the_call(self, root: &Root) -> bool {
        match root {
            Root::Global(_) | Root::This => true,
            Root::Value(value) => self.0.flow().origin(*value) == Some(Origin::Capture),
        }
    }

    /// Whether a variable that functions captured belongs to a function that this call runs, whatever it finds in memory: then
    /// what is seen of it here was made by this call. One that is only made where it is missing may have been made by another.
    fn is_variable_of_this_call(self, name: &str) -> bool {
        let Some((file, function, _)) = numbers_of(name) else { return false };
        let Some(owner) = self.0.function_in_file(file, function) else { return false };
        let shared = |source: &At| matches!(self.0.resource(*source), Some(Resource::Shared(_)));
        let decided = |at: At| {
            self.0
                .control()
                .control_dependences(at)
                .iter()
                .any(|judge| self.0.flow().condition_sources(*judge).iter().any(shared))
        };
        self.0.frames.iter().any(|frame| frame.function == owner && !decided(frame.at))
    }

    /// Whether it was made by this call and never shown to another.
    #[must_use]
    pub fn is_made_here(self, path: &AccessPath) -> bool {
        match self.resolve_path(path).root {
            Root::Value(value) => matches!(self.0.flow().definition(value), Definition::New),
            _ => false,
        }
    }

    /// In how far two steps touch the same thing; `None` if they do not.
    #[must_use]
    pub fn overlap(self, one: At, other: At) -> Option<Overlap> {
        self.overlap_of(self.0.resource(one)?, self.0.resource(other)?, false)
    }

    fn overlap_of(self, one: &Resource, other: &Resource, any_column: bool) -> Option<Overlap> {
        if !any_column && !have_a_column_in_common(one, other) {
            return None;
        }
        overlap(one, other)
            .or_else(|| self.asked_twice(one, other))
            .or_else(|| self.overlap_by_own_id(one, other))
            .or_else(|| self.overlap_by_own_name(one, other))
    }

    /// The same, whatever columns of a row they concern.
    #[must_use]
    pub fn meets(self, one: At, other: At) -> Option<Overlap> {
        self.overlap_of(self.0.resource(one)?, self.0.resource(other)?, true)
    }

    /// The columns that a row's step concerns; `None` for all of them.
    #[must_use]
    pub fn columns(self, at: At) -> Option<&'v [Name]> {
        match self.0.resource(at) {
            Some(Resource::Row { columns, .. }) if !columns.is_empty() => Some(columns),
            _ => None,
        }
    }

    /// The field of what it was read from that a value is: `status` of `order.status`.
    #[must_use]
    pub fn field_of(self, value: Value) -> Option<Name> {
        match self.field_path(value)?.fields.last() {
            Some(Field::Name(name)) => Some(name.clone()),
            _ => None,
        }
    }

    /// The path that ends in that field.
    #[must_use]
    pub fn field_path(self, value: Value) -> Option<&'v AccessPath> {
        let mut value = value;
        for _ in 0..DEPTH {
            match self.0.flow().definition(value) {
                Definition::Term(Term::Path(path)) | Definition::Location(path) => {
                    if let Some(Field::Name(_)) = path.fields.last() {
                        return Some(path);
                    }
                    match path.root {
                        Root::Value(other) if other != value => value = other,
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        None
    }
}

/// Whether two steps on rows concern a column that both name. What names none concerns all of them.
fn have_a_column_in_common(one: &Resource, other: &Resource) -> bool {
    match (one, other) {
        (Resource::Row { columns: one, .. }, Resource::Row { columns: other, .. }) => {
            one.is_empty() || other.is_empty() || one.iter().any(|column| other.contains(column))
        }
        _ => true,
    }
}

/// In how far two resources, under the names of one entry, are the same.
fn overlap(one: &Resource, other: &Resource) -> Option<Overlap> {
    let sure = |same: bool| same.then_some(Overlap::Sure);
    match (one, other) {
        (Resource::File(one), Resource::File(other)) | (Resource::Key(one), Resource::Key(other)) => {
            sure(one.names_the_same_as(other))
        }
        (Resource::Row { table: one, key, .. }, Resource::Row { table: other, key: other_key, .. }) => {
            if !one.names_the_same_as(other) {
                return None;
            }
            match (&**key, &**other_key) {
                _ if key.names_the_same_as(other_key) => Some(Overlap::Sure),
                (Term::Any | Term::Unknown, _) | (_, Term::Any | Term::Unknown) => Some(Overlap::Maybe),
                _ => None,
            }
        }
        (Resource::Shared(one), Resource::Shared(other))
        | (Resource::Flag(one), Resource::Flag(other))
        | (Resource::Stream(one), Resource::Stream(other)) => path_overlap(one, other),
        _ => None,
    }
}

/// One path leads to the other's place, or through it.
fn path_overlap(one: &AccessPath, other: &AccessPath) -> Option<Overlap> {
    if one.root != other.root {
        return None;
    }
    let mut overlap = Overlap::Sure;
    for pair in one.fields.iter().zip(&other.fields) {
        match pair {
            (Field::Name(one), Field::Name(other)) if one == other => {}
            (Field::At(one), Field::At(other)) => match (one, other) {
                _ if one.names_the_same_as(other) => {}
                (Term::Any | Term::Unknown, _) | (_, Term::Any | Term::Unknown) => overlap = Overlap::Maybe,
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(overlap)
}

/// Whether a path leads through an entry of which nothing says which it is: the item of a loop.
pub(in crate::view) fn is_some_entry(path: &AccessPath) -> bool {
    path.fields.iter().any(|field| matches!(field, Field::At(Term::Unknown)))
}

fn is_fresh(term: &Term) -> bool {
    match term {
        Term::Fresh(_) => true,
        Term::Join(parts) => parts.iter().any(is_fresh),
        Term::Parent(path) => is_fresh(path),
        _ => false,
    }
}

impl<'v, 'e> Alias<'v, 'e> {
    /// Whether a step is at a location in memory, or at something that it is a part of.
    pub(crate) fn sets(self, store: At, location: &AccessPath) -> bool {
        matches!(self.0.resource(store), Some(Resource::Shared(put)) if location.begins_with(put))
    }

    /// The locations in memory that some values are other names for, or are computed from.
    pub(crate) fn locations_in(self, values: &[Value]) -> Vec<AccessPath> {
        let named = |value: &Value| self.resolve_path(&(*value).into());
        let mut locations: Vec<AccessPath> = self
            .0
            .flow()
            .backward_slice(values)
            .iter()
            .map(named)
            .filter(|location| !location.fields.is_empty() && self.is_shared(location))
            .collect();
        locations.sort_unstable();
        locations.dedup();
        locations
    }
}
