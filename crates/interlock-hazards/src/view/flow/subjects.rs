//! What a statement is about: the named things that its key, its conditions and what it writes were made from.

use std::collections::BTreeSet;

use interlock_model::ir::{
    AccessPath, Comparator, Field, Name, Op, Origin, Resource, Root, Term, Value, WriteMode,
};

use crate::view::{At, Flow, flow::def_use::Definition};

/// How far back a value is taken apart.
const DEPTH: usize = 12;
/// How many values are looked at for one that a loop carries along.
const MOST_SEEN: usize = 32;

impl<'v, 'e> Flow<'v, 'e> {
    /// A value that was computed from what the caller brought: a path that was checked, a name that was cleaned.
    pub(in crate::view) fn is_computed(self, value: Value) -> bool {
        !self.inputs(value).is_empty()
    }

    /// Whether a value of one turn of a loop is computed from its value in the turn before.
    #[must_use]
    pub fn is_carried(self, value: Value) -> bool {
        let mut seen = vec![value];
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            if self.inputs(value).iter().any(|input| self.depends_on(*input, value)) {
                return true;
            }
            for input in self.inputs(value) {
                if seen.len() < MOST_SEEN && !seen.contains(input) {
                    seen.push(*input);
                }
            }
        }
        false
    }

    /// Whether a value is only what this function itself has set it to: it depends on nothing that was read, asked or handed in.
    #[must_use]
    pub fn is_own_flag(self, value: Value) -> bool {
        let mut seen = vec![value];
        let mut next = 0;
        while let Some(value) = seen.get(next).copied() {
            next += 1;
            if seen.len() > MOST_SEEN
                || self.origin(value) != Some(Origin::Step)
                || !self.sources(value).is_empty()
            {
                return false;
            }
            for input in self.inputs(value) {
                if !seen.contains(input) {
                    seen.push(*input);
                }
            }
        }
        true
    }

    /// What a step's statement is about: the things its key, its conditions and what it writes were made from, under their names.
    #[must_use]
    pub fn subjects(self, at: At) -> BTreeSet<Term> {
        let mut values = vec![];
        if let Some(op) = self.0.op(at) {
            match op {
                Op::Write { to, from, mode, .. } => {
                    self.in_resource(to, &mut values);
                    values.extend(from);
                    if let WriteMode::Conditional(condition) = mode {
                        for comparison in &condition.0 {
                            values.extend(self.values_in(&comparison.with));
                        }
                    }
                }
                Op::Delete { of, when, .. } => {
                    self.in_resource(of, &mut values);
                    // Who clears away all that is older than something has nothing more in mind.
                    let range = |how: Comparator| matches!(how, Comparator::AtMost | Comparator::AtLeast);
                    let when = when.iter().flat_map(|when| &when.0).filter(|demand| !range(demand.how));
                    for comparison in when {
                        values.extend(self.values_in(&comparison.with));
                    }
                }
                Op::Rename { from, to } => {
                    self.in_resource(from, &mut values);
                    self.in_resource(to, &mut values);
                }
                _ => {}
            }
        }
        self.things(&values)
    }

    /// The named things that some values were made from: `args.amount`, a field of a row. What only has inputs is looked through.
    #[must_use]
    pub fn things(self, values: &[Value]) -> BTreeSet<Term> {
        let mut found = BTreeSet::new();
        let mut seen: Vec<Value> = vec![];
        let mut pending: Vec<(Value, usize)> = values.iter().map(|value| (*value, DEPTH)).collect();
        while let Some((value, depth)) = pending.pop() {
            if seen.contains(&value) || depth == 0 {
                continue;
            }
            seen.push(value);
            match self.0.alias().resolve(&Term::from(value)) {
                Term::Path(path) => {
                    let inputs = match path.root {
                        Root::Value(root) if path.fields.is_empty() => self.inputs(root),
                        _ => &[],
                    };
                    if inputs.is_empty() {
                        found.insert(Term::Path(path));
                    }
                    pending.extend(inputs.iter().map(|input| (*input, depth - 1)));
                }
                term => pending.extend(self.values_in(&term).into_iter().map(|value| (value, depth - 1))),
            }
        }
        found
    }

    /// The fields of what was read by which a table was asked for something that is in some values: `status` in
    /// `ALLOWED[order.status].includes(next)`.
    #[must_use]
    pub fn fields_looked_up(self, values: &[Value], read: At) -> Vec<Name> {
        let field_of_read = |field: &Field| match field {
            // The state goes by a name of its own before the table is asked: `const from = order.status`.
            Field::At(key) => match self.0.alias().resolve(key) {
                Term::Path(AccessPath { root: Root::Value(whole), fields }) => match fields.last() {
                    Some(Field::Name(name)) if self.sources(whole).contains(&read) => Some(name.clone()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let tables =
            self.backward_slice(values).into_iter().filter_map(|value| match self.definition(value) {
                Definition::Location(AccessPath { root: Root::Global(_), fields }) => Some(fields),
                _ => None,
            });
        tables.flat_map(|fields| fields.iter()).filter_map(field_of_read).collect()
    }

    fn in_resource(self, resource: &Resource, values: &mut Vec<Value>) {
        match resource {
            Resource::File(term) | Resource::Key(term) => values.extend(self.values_in(term)),
            Resource::Row { key, .. } => values.extend(self.values_in(key)),
            Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
                values.extend(self.values_in(&Term::Path(path.clone())));
            }
        }
    }
}
