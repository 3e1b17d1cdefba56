//! Objects that are kept in a place already: whoever puts one there again changes nothing.

use interlock_model::ir::{AccessPath, Op, Resource, Root, Term, Value};

use super::{
    entry::{At, Entry},
    flow::Definition,
    kinds::Kinds,
};

impl Entry<'_> {
    /// Whether a step puts an object where that very object is already: it was taken from there, or put there before, and something was
    /// changed in it. That was done to what everybody has.
    #[must_use]
    pub fn puts_back_itself(&self, at: At) -> bool {
        let Some(Resource::Shared(place)) = self.resource(at) else { return false };
        let is_inside = |before: At| match self.resource(before) {
            Some(Resource::Shared(inner)) => inner.begins_with(place) && inner != place,
            _ => false,
        };
        self.steps_of(Kinds::WRITE).take_while(|before| *before < at).any(is_inside)
            && self.is_kept(at, |_, other| other == place)
    }

    /// Whether what a step puts somewhere was found or kept elsewhere since a look, before anybody else could come: all who look at the
    /// same time get the same.
    #[must_use]
    pub fn puts_what_all_get(&self, look: At, at: At) -> bool {
        let in_time = |kept: At| kept > look && !self.may_be_suspended(look, kept);
        self.is_kept(at, |kept, other| in_time(kept) && self.is_shared(other))
    }

    /// Whether what a step puts somewhere is, on each way, an object that some step has taken from a place or put there.
    fn is_kept(&self, at: At, holds: impl Fn(At, &AccessPath) -> bool) -> bool {
        let Some(Op::Write { from, .. }) = self.op(at) else { return false };
        let whole = |value: Value| match self.resolve(&value.into()) {
            Term::Path(AccessPath { root: Root::Value(root), fields }) if fields.is_empty() => root,
            _ => value,
        };
        let is_kept = |value: Value| {
            self.steps_of(Kinds::READ | Kinds::WRITE).take_while(|before| *before < at).any(|before| {
                let has_it = match self.op(before) {
                    Some(Op::Read { into, .. }) => *into == value,
                    Some(Op::Write { from, .. }) => {
                        matches!(from.as_slice(), [only] if whole(*only) == value)
                    }
                    _ => false,
                };
                has_it
                    && matches!(self.resource(before), Some(Resource::Shared(place)) if holds(before, place))
            })
        };
        match from.as_slice() {
            [only] => match self.definition(whole(*only)) {
                Definition::Either(ways) => ways.iter().all(|way| is_kept(whole(*way))),
                _ => is_kept(whole(*only)),
            },
            _ => false,
        }
    }
}
