//! Which record a step changes, what a change is about, and which names of two entries can mean the same thing.

use std::collections::BTreeSet;

use interlock_model::ir::{
    AccessPath, Comparator, Field, Fresh, Name, Op, Origin, Resource, Root, Term, Value, WriteMode,
};

use super::{
    entry::{At, Entry},
    flow::Definition,
    names::is_some_entry,
};

/// A name in a form that can be compared between entries: what the caller chooses is open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(pub Vec<Piece>);

/// A piece of a [`Pattern`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Piece {
    /// Text that stands in the source.
    Text(Name),
    /// Something that lives as long as the program, by its path.
    Location(String),
    /// What a call brings along.
    Open,
    /// What differs from use to use.
    Fresh(Fresh),
    /// The system's folder for temporary files.
    TempDir,
    /// Not understood.
    Unknown,
}

impl Pattern {
    /// Whether nothing in it is known.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Open | Piece::Unknown))
    }

    /// Whether two names can mean the same thing: the fixed pieces are equal, and what calls choose stands in the same places.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        let unknown = |pattern: &Self| pattern.0.contains(&Piece::Unknown);
        !unknown(self) && !unknown(other) && self == other
    }
}

/// How far back a value is taken apart.
const DEPTH: usize = 12;
/// How many values are looked at for one that a loop carries along.
const MOST_SEEN: usize = 32;

impl Entry<'_> {
    /// A term as a pattern.
    #[must_use]
    pub fn pattern(&self, term: &Term) -> Pattern {
        let mut pieces = vec![];
        self.pieces(&self.spell(term), &mut pieces);
        // What a call chooses in several parts is still one choice.
        pieces.dedup_by(|one, other| *one == Piece::Open && *other == Piece::Open);
        Pattern(pieces)
    }

    fn pieces(&self, term: &Term, into: &mut Vec<Piece>) {
        match term {
            Term::Literal(text) => into.push(Piece::Text(text.clone())),
            Term::Join(parts) => parts.iter().for_each(|part| self.pieces(part, into)),
            Term::Parent(path) => {
                into.push(Piece::Text("..".into()));
                self.pieces(path, into);
            }
            Term::Path(path) => {
                // The item of a loop is one of what the loop goes over.
                let whole = self.resolve_path(path);
                let path = if is_some_entry(&whole) { &whole } else { path };
                into.push(self.piece(path));
            }
            Term::Fresh(fresh) => into.push(Piece::Fresh(*fresh)),
            Term::TempDir => into.push(Piece::TempDir),
            Term::Any | Term::Unknown => into.push(Piece::Unknown),
        }
    }

    fn piece(&self, path: &AccessPath) -> Piece {
        match &path.root {
            Root::Value(value) if self.origin(*value) == Some(Origin::Step) && path.fields.is_empty() => {
                match self.definition(*value) {
                    Definition::Opaque if self.is_computed(*value) => Piece::Open,
                    Definition::Opaque => Piece::Unknown,
                    _ => Piece::Open,
                }
            }
            Root::Value(_) => Piece::Open,
            Root::This | Root::Global(_) => Piece::Location(self.location_text(path)),
        }
    }

    /// A value that was computed from what the caller brought: a path that was checked, a name that was cleaned.
    fn is_computed(&self, value: Value) -> bool {
        !self.inputs(value).is_empty()
    }

    /// Whether a value of one turn of a loop is computed from its value in the turn before.
    #[must_use]
    pub fn is_carried(&self, value: Value) -> bool {
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
    pub fn is_own_flag(&self, value: Value) -> bool {
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

    /// What a place is called in the whole program: two files of a tree may both have a `notes`.
    pub(crate) fn location_text(&self, path: &AccessPath) -> String {
        let mut text = match &path.root {
            Root::Global(name) => name.to_string(),
            _ => "this".into(),
        };
        for field in &path.fields {
            match field {
                Field::Name(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                Field::At(Term::Literal(key)) => text.push_str(&format!("[{key}]")),
                Field::At(_) => text.push_str("[]"),
            }
        }
        text
    }

    /// Whether two steps change the same record, whichever columns of it. Rows of one table whose keys cannot be told apart count as
    /// the same.
    #[must_use]
    pub fn same_record(&self, one: At, other: At) -> bool {
        match (self.resource(one), self.resource(other)) {
            (
                Some(Resource::Row { table, key, .. }),
                Some(Resource::Row { table: other_table, key: other_key, .. }),
            ) => {
                let vague = |term: &Term| matches!(term, Term::Any | Term::Unknown);
                table.names_the_same_as(other_table)
                    && (key.names_the_same_as(other_key)
                        || vague(key)
                        || vague(other_key)
                        || self.meets(one, other).is_some())
            }
            (Some(_), Some(_)) => self.overlap(one, other).is_some(),
            _ => false,
        }
    }

    /// What a step's statement is about: the things its key, its conditions and what it writes were made from, under their names.
    #[must_use]
    pub fn subjects(&self, at: At) -> BTreeSet<Term> {
        let mut values = vec![];
        if let Some(op) = self.op(at) {
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
    pub fn things(&self, values: &[Value]) -> BTreeSet<Term> {
        let mut found = BTreeSet::new();
        let mut seen: Vec<Value> = vec![];
        let mut pending: Vec<(Value, usize)> = values.iter().map(|value| (*value, DEPTH)).collect();
        while let Some((value, depth)) = pending.pop() {
            if seen.contains(&value) || depth == 0 {
                continue;
            }
            seen.push(value);
            match self.resolve(&Term::from(value)) {
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

    fn in_resource(&self, resource: &Resource, values: &mut Vec<Value>) {
        match resource {
            Resource::File(term) | Resource::Key(term) => values.extend(self.values_in(term)),
            Resource::Row { key, .. } => values.extend(self.values_in(key)),
            Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
                values.extend(self.values_in(&Term::Path(path.clone())));
            }
        }
    }
}
