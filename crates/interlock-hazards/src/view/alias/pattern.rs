//! Name patterns that can be compared between entries, and whether two steps change the same record.

use interlock_model::ir::{AccessPath, Callee, Field, Fresh, Name, Op, Origin, Resource, Root, Term, Value};

use crate::{
    view::{Alias, At, alias::resolve::is_some_entry, flow::def_use::Definition},
    words,
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
    /// What a name begins with that has no fixed part of its own, and the caller chooses: by what the source calls it.
    Chosen(String),
    /// The same of what an object or a helper gives: the folder of one is not that of another.
    Base(String),
    /// What differs from use to use.
    Fresh(Fresh),
    /// The system's folder for temporary files.
    TempDir,
    /// Not understood.
    Unknown,
}

impl Pattern {
    /// Whether nothing in it is known: signs between what is chosen, as in `{folder}/{name}`, name nothing.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.iter().all(|piece| match piece {
            Piece::Open | Piece::Unknown | Piece::Chosen(_) => true,
            Piece::Text(text) => !names_something(text),
            _ => false,
        })
    }

    /// Whether two names can mean the same thing: the fixed pieces are equal, and what calls choose stands in the same places.
    #[must_use]
    pub fn fits(&self, other: &Self) -> bool {
        let unknown = |pattern: &Self| pattern.0.contains(&Piece::Unknown);
        !unknown(self) && !unknown(other) && self == other
    }
}

/// Whether a fixed piece of a name tells one file from another. Slashes and the ending do not.
fn names_something(text: &str) -> bool {
    let is_ending = text.starts_with('.') && !text.contains('/');
    !is_ending && text.contains(char::is_alphanumeric)
}

impl<'v, 'e> Alias<'v, 'e> {
    /// A term as a pattern.
    #[must_use]
    pub fn pattern(self, term: &Term) -> Pattern {
        let mut pieces = vec![];
        self.pieces(&self.spell(term), &mut pieces);
        // What a call chooses in several parts is still one choice.
        pieces.dedup_by(|one, other| *one == Piece::Open && *other == Piece::Open);
        Pattern(pieces)
    }

    /// The name of a file as a pattern. Where nothing in it tells one file from another, as in `{folder}/{id}.json`, what it begins
    /// with has to have the same name in the source: else it would be every file of the tree.
    #[must_use]
    pub fn file_pattern(self, path: &Term) -> Pattern {
        let mut pattern = self.pattern(path);
        if pattern.is_open()
            && let Some(first @ Piece::Open) = pattern.0.first_mut()
            && let Some(base) = self.base(path)
        {
            *first = base;
        }
        pattern
    }

    /// What a name begins with, by what the source calls it.
    fn base(self, path: &Term) -> Option<Piece> {
        let spelled = self.spell(path);
        let Term::Path(path) = (match &spelled {
            Term::Join(parts) => parts.first()?,
            whole => whole,
        }) else {
            return None;
        };
        let Root::Value(value) = path.root else { return None };
        let last = path.fields.iter().rev().find_map(|field| match field {
            Field::Name(name) => Some(name.clone()),
            Field::At(_) => None,
        });
        let is_given = |value: &Value| {
            matches!(self.0.flow().origin(*value), Some(Origin::Argument | Origin::Arguments))
        };
        let called = |name: &str| words(name).join("_");
        if is_given(&value) {
            let name = last.unwrap_or_else(|| self.0.name_of(value).into());
            return Some(Piece::Chosen(format!("argument {}", called(&name))));
        }
        let name = called(&last.unwrap_or_else(|| self.asked_for(value)));
        let is_chosen = self.0.flow().backward_slice(&[value]).iter().any(is_given);
        Some(if is_chosen { Piece::Chosen(name) } else { Piece::Base(name) })
    }

    /// What a value is called: after the helper that gave it, else by its variable.
    fn asked_for(self, value: Value) -> Name {
        let flow = self.0.flow();
        let helper =
            flow.definition_site(value).and_then(|site| match (flow.answer_at(site), self.0.op(site)?) {
                (Some(function), _) => Some(self.0.function_name(function)),
                (None, Op::Call { callee: Callee::Function(function), .. }) => {
                    Some(self.0.function_name(*function))
                }
                (None, Op::Call { callee: Callee::Named(name), .. }) => Some(name.clone()),
                _ => None,
            });
        match helper {
            Some(helper) => helper.rsplit('.').next().unwrap_or(&helper).into(),
            None => self.0.name_of(value).split('.').next().unwrap_or_default().into(),
        }
    }

    fn pieces(self, term: &Term, into: &mut Vec<Piece>) {
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

    fn piece(self, path: &AccessPath) -> Piece {
        match &path.root {
            Root::Value(value)
                if self.0.flow().origin(*value) == Some(Origin::Step) && path.fields.is_empty() =>
            {
                match self.0.flow().definition(*value) {
                    Definition::Opaque if self.0.flow().is_computed(*value) => Piece::Open,
                    Definition::Opaque => Piece::Unknown,
                    _ => Piece::Open,
                }
            }
            Root::Value(_) => Piece::Open,
            Root::This | Root::Global(_) => Piece::Location(self.location_text(path)),
        }
    }

    /// Whether a name is another one for each call: it carries chance, a count or the time.
    #[must_use]
    pub fn is_another_each_time(self, name: &Term) -> bool {
        let is_fresh =
            |piece: &Piece| matches!(piece, Piece::Fresh(Fresh::Random | Fresh::Time | Fresh::Counter));
        self.pattern(name).0.iter().any(is_fresh)
    }

    /// What a location is called in the whole program: two files of a tree may both have a `notes`.
    pub(crate) fn location_text(self, path: &AccessPath) -> String {
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
    pub fn same_record(self, one: At, other: At) -> bool {
        match (self.0.resource(one), self.0.resource(other)) {
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
}
