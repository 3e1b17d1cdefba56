//! Names that were asked for twice: two calls of one helper with the same arguments give the same path, although each call made a
//! value of its own. So do two derivations of one value that are written alike: `id.toLowerCase()` for the read, and again for the write. What else
//! stands in them (`id.slice(0, 3)`) is not seen here, so that is only likely.

use std::collections::HashMap;

use interlock_model::ir::{AccessPath, Argument, Callee, Field, Op, Resource, Root, Term, Value};

use crate::{
    lexicon::Topic,
    view::{Alias, At, Overlap, flow::def_use::Definition},
};

/// How many pairs of values are compared for one pair of names.
const MOST_PAIRS: usize = 256;

/// The pairs of values that were compared for one pair of names. One that is under way counts as alike: a loop is alike if nothing
/// else says otherwise.
#[derive(Default)]
struct Compared {
    known: HashMap<(Value, Value), bool>,
    /// Whether some were only taken for alike because they are written alike, or because one of several ways leaves the other in a variable.
    likely: bool,
}

/// How many ways that leave a name in a variable are looked at.
const MOST_WAYS: usize = 4;

impl<'v, 'e> Alias<'v, 'e> {
    /// Whether a member leads to what was asked for itself: the rows of an answer, and the first of them.
    pub(crate) fn is_wrapping(self, field: &Field) -> bool {
        match field {
            Field::Name(name) => self.0.lexicon().has(Topic::Wrapping, name),
            Field::At(_) => true,
        }
    }

    /// In how far two files go by the same name because the same question was asked for both: surely, where nothing outside the process
    /// was asked for the answer.
    pub(in crate::view) fn asked_twice(self, one: &Resource, other: &Resource) -> Option<Overlap> {
        let (one, other) = match (one, other) {
            (Resource::File(one), Resource::File(other)) | (Resource::Key(one), Resource::Key(other)) => {
                (one, other)
            }
            (Resource::Row { table, key, .. }, Resource::Row { table: same, key: other, .. })
                if table.names_the_same_as(same) =>
            {
                return self.derived_twice(key, other);
            }
            _ => return None,
        };
        if let Some(overlap) = self.derived_twice(one, other) {
            return Some(overlap);
        }
        let is_alike = self.is_tidied(one, other)
            || self.is_tidied(other, one)
            || self.is_one_of(one, other)
            || self.is_one_of(other, one);
        is_alike.then_some(Overlap::Maybe)
    }

    fn derived_twice(self, one: &Term, other: &Term) -> Option<Overlap> {
        let mut compared = Compared::default();
        if !self.terms_are_alike(one, other, &mut compared) {
            return None;
        }
        let is_sure = !compared.likely && self.is_computed_inside(one) && self.is_computed_inside(other);
        Some(if is_sure { Overlap::Sure } else { Overlap::Maybe })
    }

    /// Whether a name is made of what the call brings along and what the process has: no file, row or service was asked for it, whose
    /// next answer may be another.
    fn is_computed_inside(self, name: &Term) -> bool {
        let flow = self.0.flow();
        let asks_outside = |value: &Value| {
            let op = flow.definition_site(*value).and_then(|site| self.0.op(site));
            match op {
                Some(Op::Read { of, .. }) => !matches!(of, Resource::Shared(_)),
                Some(Op::Call { awaited, .. }) => *awaited,
                Some(Op::External { .. }) => true,
                _ => false,
            }
        };
        !flow.backward_slice(&flow.values_in(name)).iter().any(asks_outside)
    }

    /// Whether a variable is left with a name by one of several ways: the new place of a file, or the old one if it is not there.
    fn is_one_of(self, variable: &Term, name: &Term) -> bool {
        let Term::Path(AccessPath { root: Root::Value(value), fields }) = variable else { return false };
        let Definition::Either(branches) = self.0.flow().definition(*value) else { return false };
        fields.is_empty()
            && branches
                .iter()
                .take(MOST_WAYS)
                .any(|branch| self.resolve(&(*branch).into()).names_the_same_as(name))
    }

    /// Whether a name is another one in a better form, and is called so: made absolute, with its slashes set right.
    fn is_tidied(self, tidy: &Term, rough: &Term) -> bool {
        let Term::Path(AccessPath { root: Root::Value(value), fields }) = tidy else { return false };
        if !fields.is_empty() || !self.0.lexicon().has_inside(Topic::TidiedPath, self.0.name_of(*value)) {
            return false;
        }
        let (parts, backward_slice) =
            (self.0.flow().values_in(rough), self.0.flow().backward_slice(&[*value]));
        let given = |value: &&Value| !self.0.flow().is_own_leaf(**value);
        let from = self.0.flow().backward_slice(&parts);
        // With something added to it, it is the name of another file.
        let is_other = |made: &Value| {
            let name = self.resolve(&(*made).into());
            matches!(name, Term::Join(_))
                && !name.names_the_same_as(rough)
                && name.mentioned().iter().any(|value| parts.contains(value))
        };
        !parts.is_empty()
            && parts.iter().all(|part| backward_slice.contains(part))
            && backward_slice.iter().filter(given).all(|given| from.contains(given))
            && !backward_slice.iter().any(is_other)
    }

    fn terms_are_alike(self, one: &Term, other: &Term, compared: &mut Compared) -> bool {
        match (one, other) {
            (Term::Join(one), Term::Join(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| self.terms_are_alike(one, other, compared))
            }
            (Term::Parent(one), Term::Parent(other)) => self.terms_are_alike(one, other, compared),
            (Term::Path(one), Term::Path(other)) => self.paths_are_alike(one, other, compared),
            _ => one.names_the_same_as(other),
        }
    }

    fn paths_are_alike(self, one: &AccessPath, other: &AccessPath, compared: &mut Compared) -> bool {
        let roots = match (&one.root, &other.root) {
            (Root::Value(one), Root::Value(other)) => self.values_are_alike(*one, *other, compared),
            (one, other) => one == other,
        };
        let fields = |(one, other): (&Field, &Field)| match (one, other) {
            (Field::At(one), Field::At(other)) => self.terms_are_alike(one, other, compared),
            (one, other) => one == other,
        };
        roots && one.fields.len() == other.fields.len() && one.fields.iter().zip(&other.fields).all(fields)
    }

    /// Whether two values were made by the same line of the source out of what is alike.
    fn values_are_alike(self, one: Value, other: Value, compared: &mut Compared) -> bool {
        if one == other {
            return true;
        }
        if let Some(known) = compared.known.get(&(one, other)) {
            return *known;
        }
        if compared.known.len() >= MOST_PAIRS {
            return false;
        }
        compared.known.insert((one, other), true);
        let alike = self.are_made_alike(one, other, compared);
        compared.known.insert((one, other), alike);
        alike
    }

    fn are_made_alike(self, one: Value, other: Value, compared: &mut Compared) -> bool {
        let (known, others) = (self.resolve(&one.into()), self.resolve(&other.into()));
        if known != one.into() || others != other.into() {
            return self.terms_are_alike(&known, &others, compared);
        }
        let (first, second) = match (self.0.flow().definition_site(one), self.0.flow().definition_site(other))
        {
            (Some(first), Some(second)) => (first, second),
            // A variable that is set nowhere is the same in every copy of its function.
            (None, None) => {
                return self.0.flow().is_own_leaf(one) && self.0.name_of(one) == self.0.name_of(other);
            }
            _ => return false,
        };
        // What a helper answers is made where it is called; elsewhere the same line makes the same.
        let same = match (self.0.flow().answer_at(first), self.0.flow().answer_at(second)) {
            (Some(one), Some(other)) => one == other,
            _ => self.0.span(first) == self.0.span(second) || self.call_the_same(first, second, compared),
        };
        let likely = !same && self.are_written_alike((one, first), (other, second));
        let same = same || likely;
        compared.likely |= likely;
        if !same || self.0.flow().is_another_each_time(first) {
            return false;
        }
        let (from, others) = (self.0.flow().made_from(one, first), self.0.flow().made_from(other, second));
        from.len() == others.len()
            && from.iter().zip(&others).all(|(from, other)| self.values_are_alike(*from, *other, compared))
    }

    /// Whether two steps compute something, under the same name and in as many letters: `key.trim()` here and there.
    fn are_written_alike(self, (one, first): (Value, At), (other, second): (Value, At)) -> bool {
        let computes = |at: At| matches!(self.0.op(at), Some(Op::Derive { term: Term::Unknown, from, .. }) if !from.is_empty());
        let name = |value: Value| self.0.name_of(value).split('.').next().unwrap_or_default();
        let letters = |at: At| self.0.span(at).end.saturating_sub(self.0.span(at).start);
        computes(first)
            && computes(second)
            && !name(one).is_empty()
            && name(one) == name(other)
            && letters(first) == letters(second)
            && self.0.span(first).file == self.0.span(second).file
    }

    /// Whether two steps ask the same helper the same. One that is too long to be followed, or calls itself, has no answer to compare.
    fn call_the_same(self, one: At, other: At, compared: &mut Compared) -> bool {
        let (
            Some(Op::Call { callee: Callee::Function(helper), arguments, receiver, .. }),
            Some(Op::Call { callee: Callee::Function(same), arguments: others, receiver: on, .. }),
        ) = (self.0.op(one), self.0.op(other))
        else {
            return false;
        };
        let mut alike = |(one, other): (&Argument, &Argument)| match (one, other) {
            (Argument::Term(one), Argument::Term(other)) => self.terms_are_alike(one, other, compared),
            _ => false,
        };
        helper == same
            && arguments.len() == others.len()
            && arguments.iter().zip(others).all(&mut alike)
            && match (receiver, on) {
                (Some(one), Some(other)) => self.paths_are_alike(one, other, compared),
                (one, other) => one.is_none() && other.is_none(),
            }
    }

    /// Whether two places are the same because the same question was asked for both.
    pub(in crate::view) fn are_asked_alike(self, one: &AccessPath, other: &AccessPath) -> bool {
        self.paths_are_alike(one, other, &mut Compared::default())
    }
}
