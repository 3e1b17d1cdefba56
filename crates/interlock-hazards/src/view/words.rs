//! Things in words, for messages and witnesses.

use interlock_model::ir::{AccessPath, Field, Fresh, Resource, Root, Term};

use super::entry::{At, Entry};

/// How long a name may be in a message.
const LONGEST: usize = 60;

impl Entry<'_> {
    /// What a step touches, in words: "the file `notes.json`", "`balance` of a row of `accounts`".
    #[must_use]
    pub fn thing(&self, at: At) -> String {
        self.resource(at).map_or_else(|| "it".into(), |resource| self.in_words(resource))
    }

    /// A resource in words.
    #[must_use]
    pub fn in_words(&self, resource: &Resource) -> String {
        match resource {
            Resource::File(path) => format!("the file {}", self.quoted(path)),
            Resource::Row { table, columns, key } => {
                let row = if **key == Term::Any { "the rows" } else { "the row" };
                match columns.as_slice() {
                    [one] => format!("`{}` in {}", clip(one), self.quoted(table)),
                    _ => format!("{row} in {}", self.quoted(table)),
                }
            }
            Resource::Key(key) => format!("the key {}", self.quoted(key)),
            Resource::Shared(path) | Resource::Flag(path) => format!("`{}`", clip(&self.path_text(path))),
            Resource::Stream(path) => format!("the stream `{}`", clip(&self.path_text(path))),
        }
    }

    /// A term in back quotes.
    #[must_use]
    pub fn quoted(&self, term: &Term) -> String {
        format!("`{}`", clip(&self.text(term)))
    }

    /// A term as the source might write it.
    #[must_use]
    pub fn text(&self, term: &Term) -> String {
        match term {
            Term::Literal(text) => text.to_string(),
            Term::Path(path) => self.path_text(path),
            Term::Join(parts) => parts
                .iter()
                .map(|part| match part {
                    Term::Literal(text) => text.to_string(),
                    other => format!("{{{}}}", self.text(other)),
                })
                .collect(),
            Term::Parent(path) => format!("folder of {}", self.text(path)),
            Term::Fresh(Fresh::Random) => "random".into(),
            Term::Fresh(Fresh::Counter) => "counter".into(),
            Term::Fresh(Fresh::ProcessId) => "pid".into(),
            Term::Fresh(Fresh::Time) => "time".into(),
            Term::TempDir => "temporary folder".into(),
            Term::Any => "*".into(),
            Term::Unknown => "?".into(),
        }
    }

    /// A path as the source might write it.
    #[must_use]
    pub fn path_text(&self, path: &AccessPath) -> String {
        let mut text = match &path.root {
            Root::Value(value) => self.name_of(*value).split('.').next().unwrap_or_default().to_owned(),
            Root::This => "this".into(),
            // A global is qualified by its file, which a reader sees anyway.
            Root::Global(name) => self
                .kept_variable(name)
                .unwrap_or_else(|| name.rsplit("::").next().unwrap_or_default().to_owned()),
        };
        for field in &path.fields {
            match field {
                Field::Name(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                Field::At(term) => {
                    text.push('[');
                    text.push_str(&self.text(term));
                    text.push(']');
                }
            }
        }
        text
    }
}

impl Entry<'_> {
    /// What the source calls a variable that functions took along: the front end names it by the number of its function in the file
    /// and its own number there.
    fn kept_variable(&self, name: &str) -> Option<String> {
        let (file, numbers) = name.rsplit_once("::")?;
        let (function, value) = numbers.split_once('.')?;
        let (function, value): (usize, usize) = (function.parse().ok()?, value.parse().ok()?);
        let short = self.value_in_file(file, function, value)?.name.split('.').next().unwrap_or_default();
        (!short.is_empty()).then(|| short.to_owned())
    }
}

/// Cuts what is too long for a sentence, and keeps it on one line.
fn clip(text: &str) -> String {
    let one_line = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c });
    let mut short: String = one_line.clone().take(LONGEST).collect();
    if one_line.count() > LONGEST {
        short.push('…');
    }
    short
}
