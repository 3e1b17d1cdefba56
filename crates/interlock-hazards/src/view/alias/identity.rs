//! Object identity: an object that is already where it is put, so that whoever puts it there again changes nothing.

use interlock_model::{
    Span,
    ir::{AccessPath, Field, Op, Resource, Root, Term, Value},
};

use crate::view::{Alias, At, Entry, Kinds, Runs, View, flow::def_use::Definition};

/// How many names one object is followed through.
const MOST_NAMES: usize = 16;

impl<'v, 'e> Alias<'v, 'e> {
    /// What a location is called last: its last field that has a name, or the variable that all share.
    pub(crate) fn last_name(self, path: &AccessPath) -> Option<String> {
        let named = path.fields.iter().rev().find_map(|field| match field {
            Field::Name(name) => Some(name.to_string()),
            Field::At(_) => None,
        });
        let variable = || self.0.path_text(&AccessPath::of(path.root.clone()));
        named.or_else(|| matches!(path.root, Root::Global(_)).then(variable))
    }

    /// Whether a step puts an object where that very object is already: it was taken from there, or put there before, and something was
    /// changed in it. That was done to what everybody has, as long as nobody else puts another one there.
    #[must_use]
    pub fn puts_back_itself(self, view: &View<'_>, at: At) -> bool {
        let (Some(Resource::Shared(location)), Some(Op::Write { from, .. })) =
            (self.0.resource(at), self.0.op(at))
        else {
            return false;
        };
        // The object goes by its place, or by the name that it has in this function.
        let is_object = |root: Value| from.iter().any(|value| self.whole(*value) == self.whole(root));
        let is_inside = |before: At| match self.0.resource(before) {
            Some(Resource::Shared(AccessPath { root: Root::Value(root), fields }))
                if !fields.is_empty() && is_object(*root) =>
            {
                true
            }
            Some(Resource::Shared(inner)) => inner.begins_with(location) && inner != location,
            _ => false,
        };
        self.0.steps_of(Kinds::WRITE).take_while(|before| *before < at).any(is_inside)
            && self.is_kept(at, |_, other| other == location)
            && !self.is_replaced_elsewhere(view, location)
    }

    /// Whether anybody puts something into places of this name but the steps of this entry that do, or takes something out of them.
    fn is_replaced_elsewhere(self, view: &View<'_>, location: &AccessPath) -> bool {
        let own: Vec<Span> = self
            .0
            .steps_of(Kinds::WRITE)
            .filter(|at| matches!(self.0.resource(*at), Some(Resource::Shared(path)) if path == location))
            .map(|at| self.0.span(at))
            .collect();
        let called = |entry: &Entry<'_>, path: &AccessPath| {
            entry
                .alias()
                .last_name(path)
                .unwrap_or_else(|| entry.path_text(&AccessPath::of(path.root.clone())))
        };
        let name = called(self.0, location);
        let mut others = view.entries_with(Kinds::WRITE | Kinds::DELETE);
        others.any(|entry| {
            *entry.runs != Runs::StartUp
                && entry.steps_of(Kinds::WRITE | Kinds::DELETE).any(|at| match entry.resource(at) {
                    Some(Resource::Shared(path)) => {
                        called(entry, path) == name
                            && !own.contains(&entry.span(at))
                            && !entry.function_name(entry.function_of(at)).ends_with("constructor")
                            && !entry.alias().puts_under_new_key(path)
                            && !entry.alias().is_kept(at, |_, other| other == path)
                    }
                    _ => false,
                })
        })
    }

    /// Whether a place is an entry under a key that was made for it, so that nobody has anything there yet.
    fn puts_under_new_key(self, path: &AccessPath) -> bool {
        matches!(path.fields.last(), Some(Field::At(key)) if self.is_another_each_time(key))
    }

    /// The value that a value is another name of, through parameters and results of helpers.
    fn whole(self, value: Value) -> Value {
        let mut value = value;
        for _ in 0..MOST_NAMES {
            value = match self.0.flow().definition(value) {
                Definition::Term(Term::Path(AccessPath { root: Root::Value(other), fields }))
                    if fields.is_empty() =>
                {
                    *other
                }
                Definition::Either(branches) => match branches.as_slice() {
                    [only] => *only,
                    _ => break,
                },
                _ => break,
            };
        }
        value
    }

    /// Whether what a step puts somewhere is kept elsewhere since a read, before anybody else could come: all who look at the same time
    /// get the same.
    #[must_use]
    pub fn puts_what_all_get(self, read: At, at: At) -> bool {
        let in_time = |kept: At| kept > read && !self.0.control().may_be_suspended(read, kept);
        // Who puts it there has first found that there was none.
        let was_missed = |kept: At, location: &AccessPath| {
            let looked = |before: At| matches!(self.0.resource(before), Some(Resource::Shared(path)) if path == location);
            self.0.steps_of(Kinds::READ).any(|before| read < before && before <= kept && looked(before))
        };
        self.is_kept(at, |kept, location| {
            in_time(kept) && self.is_shared(location) && was_missed(kept, location)
        })
    }

    /// Whether what a step puts somewhere is, on each way, an object that some step has taken from a place or put there.
    fn is_kept(self, at: At, holds: impl Fn(At, &AccessPath) -> bool) -> bool {
        let Some(Op::Write { from, .. }) = self.0.op(at) else { return false };
        let is_kept = |value: Value| {
            self.0.steps_of(Kinds::READ | Kinds::WRITE).take_while(|before| *before < at).any(|before| {
                let has_it = match self.0.op(before) {
                    Some(Op::Read { into, .. }) => *into == value,
                    Some(Op::Write { from, .. }) => {
                        matches!(from.as_slice(), [only] if self.whole(*only) == value)
                    }
                    _ => false,
                };
                has_it
                    && matches!(self.0.resource(before), Some(Resource::Shared(location)) if holds(before, location))
            })
        };
        match from.as_slice() {
            [only] => match self.0.flow().definition(self.whole(*only)) {
                Definition::Either(branches) => branches.iter().all(|branch| is_kept(self.whole(*branch))),
                _ => is_kept(self.whole(*only)),
            },
            _ => false,
        }
    }
}
