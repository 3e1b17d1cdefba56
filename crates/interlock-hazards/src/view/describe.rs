//! Resources, terms and paths in words, for messages and witnesses.

use interlock_model::ir::{AccessPath, Field, Fresh, Op, Resource, Root, Term};

use super::{
    control::ops::touched,
    entry::{At, Entry},
};

/// How long a name may be in a message.
const LONGEST: usize = 60;

/// What front ends call values that have no name in the source: by their place, or by the method whose result they are.
const MADE_UP: [&str; 30] = [
    "arg",
    "basename",
    "digest",
    "dirname",
    "fields",
    "filter",
    "find",
    "get",
    "join",
    "kwargs",
    "map",
    "normalize",
    "now",
    "param",
    "part",
    "pop",
    "promise",
    "replace",
    "resolve",
    "result",
    "returned",
    "settled",
    "slice",
    "split",
    "stringify",
    "substring",
    "toLowerCase",
    "toString",
    "trim",
    "value",
];

/// What front ends call what a loop goes over, one by one, where the source gives it no name.
const ITEM: &str = "item";

/// What stands for a part of a name to which the source gives none.
const COMPUTED: &str = "computed";

impl Entry<'_> {
    /// What a step touches, in words: "the file `notes.json`", "`balance` of a row of `accounts`".
    #[must_use]
    pub fn thing(&self, at: At) -> String {
        let Some(resource) = self.resource(at) else { return "it".into() };
        // What was put together without a name got one on the way here.
        let written = self.op(at).and_then(touched).filter(|_| self.is_nameless(resource));
        let resource = written.unwrap_or(resource);
        match self.in_own_words(at, resource) {
            Some(own) => self.in_words(&own),
            None => self.in_words(resource),
        }
    }

    /// A file or a key as the method says it that a step stands in: `this.indexPath`, whatever way its object was reached.
    fn in_own_words(&self, at: At, resource: &Resource) -> Option<Resource> {
        let (Resource::File(Term::Path(path)) | Resource::Key(Term::Path(path))) = resource else {
            return None;
        };
        let frame = self.frames.get(self.frame_of(at)).filter(|frame| frame.parent != self.frame_of(at))?;
        let Some(Op::Inlined { receiver: Some(object), .. }) = self.op(frame.at) else { return None };
        let rest = path.fields.get(object.fields.len()..).filter(|rest| !rest.is_empty())?;
        let is_its_own = path.root == object.root && path.fields.starts_with(&object.fields);
        let named = rest.iter().all(|field| matches!(field, Field::Name(_)));
        let own = AccessPath { root: Root::This, fields: rest.iter().cloned().collect() };
        let own = Term::Path(own);
        (is_its_own && named).then_some(match resource {
            Resource::Key(_) => Resource::Key(own),
            _ => Resource::File(own),
        })
    }

    /// Whether a file or a key is something computed to which the source gives no name where that is done.
    fn is_nameless(&self, resource: &Resource) -> bool {
        match resource {
            Resource::File(Term::Path(path)) | Resource::Key(Term::Path(path)) => match path.root {
                Root::Value(value) => {
                    let name = self.name_of(value);
                    // `for (const [file, target] of moves)`: what the turn of the loop is about has names for its parts only.
                    let is_part = matches!(path.fields.first(), Some(Field::At(_)));
                    path.fields.is_empty() && MADE_UP.contains(&name) || is_part && name == ITEM
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// A resource in words.
    #[must_use]
    pub fn in_words(&self, resource: &Resource) -> String {
        match resource {
            Resource::File(path) if self.has_no_name(path) => "the file at a computed path".into(),
            Resource::Key(key) if self.has_no_name(key) => "the key that is computed".into(),
            Resource::File(path) => format!("the file {}", self.quoted(path)),
            Resource::Row { table, columns, key } if self.has_no_name(table) => match columns.as_slice() {
                [one] => format!("`{}` in a table whose name is computed", clip(one)),
                _ if **key == Term::Any => "a table whose name is computed".into(),
                _ => "the row in a table whose name is computed".into(),
            },
            Resource::Row { table, columns, key } => match columns.as_slice() {
                [one] => format!("`{}` in {}", clip(one), self.quoted(table)),
                _ if **key == Term::Any => format!("the table {}", self.quoted(table)),
                _ => format!("the row in {}", self.quoted(table)),
            },
            Resource::Key(key) => format!("the key {}", self.quoted(key)),
            Resource::Shared(path) | Resource::Flag(path) => format!("`{}`", clip(&self.path_text(path))),
            Resource::Stream(path) => format!("the stream `{}`", clip(&self.path_text(path))),
        }
    }

    /// Whether nothing in a term has a name in the source.
    pub(crate) fn has_no_name(&self, term: &Term) -> bool {
        match term {
            Term::Path(AccessPath { root: Root::Value(value), fields }) => {
                fields.is_empty() && MADE_UP.contains(&self.name_of(*value))
            }
            Term::Join(parts) => parts.iter().all(|part| self.has_no_name(part)),
            Term::Parent(path) => self.has_no_name(path),
            Term::Any | Term::Unknown => true,
            _ => false,
        }
    }

    /// A term in back quotes, if it has a name.
    #[must_use]
    pub fn quoted(&self, term: &Term) -> String {
        match term {
            Term::Path(_) if self.has_no_name(term) => "a computed name".into(),
            _ => format!("`{}`", clip(&self.text(term))),
        }
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
                    other if self.has_no_name(other) => format!("{{{COMPUTED}}}"),
                    other => format!("{{{}}}", self.text(other)),
                })
                .collect(),
            Term::Parent(path) => match self.extension() {
                "py" => format!("{}.parent", self.text(path)),
                "go" => format!("filepath.Dir({})", self.text(path)),
                _ => format!("dirname({})", self.text(path)),
            },
            Term::Fresh(Fresh::Random) => "random".into(),
            Term::Fresh(Fresh::Counter) => "counter".into(),
            Term::Fresh(Fresh::ProcessId) => "pid".into(),
            Term::Fresh(Fresh::Time) => "time".into(),
            Term::TempDir => "temporary folder".into(),
            Term::Any => "*".into(),
            Term::Unknown => "?".into(),
        }
    }

    /// What a method calls the object that it is of.
    fn own_object(&self) -> &'static str {
        if self.extension() == "py" { "self" } else { "this" }
    }

    /// How the name of the file ends that the entry point is written in, which says the language.
    fn extension(&self) -> &str {
        let file = self.program.function(self.function).map(|function| function.span.file);
        let name = file.and_then(|file| self.program.files.get(file.0 as usize));
        name.and_then(|name| name.rsplit_once('.')).map_or("", |(_, extension)| extension)
    }

    /// A path as the source might write it.
    #[must_use]
    pub fn path_text(&self, path: &AccessPath) -> String {
        let mut text = match &path.root {
            // What is taken out of an object without a name is called what it is called in there: `({ path }) => …`.
            Root::Value(value) if !path.fields.is_empty() && MADE_UP.contains(&self.name_of(*value)) => {
                String::new()
            }
            Root::Value(value) => self.name_of(*value).split('.').next().unwrap_or_default().to_owned(),
            Root::This => self.own_object().into(),
            // A global is qualified by its file, which a reader sees anyway.
            Root::Global(name) => self
                .kept_variable(name)
                .unwrap_or_else(|| name.rsplit("::").next().unwrap_or_default().to_owned()),
        };
        for field in &path.fields {
            match field {
                Field::Name(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                Field::At(_) if text.is_empty() => text.push_str(COMPUTED),
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
    /// What the source calls a variable that functions captured: the front end names it by the number of its function in the file
    /// and its own number there.
    fn kept_variable(&self, name: &str) -> Option<String> {
        let (file, function, value) = numbers_of(name)?;
        let short = self.value_in_file(file, function, value)?.name.split('.').next().unwrap_or_default();
        (!short.is_empty()).then(|| short.to_owned())
    }
}

/// The file of a variable that functions captured, the number of its function there, and its own number in that.
pub(super) fn numbers_of(name: &str) -> Option<(&str, usize, usize)> {
    let (file, numbers) = name.rsplit_once("::")?;
    let (function, value) = numbers.split_once('.')?;
    Some((file, function.parse().ok()?, value.parse().ok()?))
}

/// Keeps a name on one line, and of one that is too long for a sentence the end, which tells most: whole folders or members of it, so that
/// what is left is a name that the source has.
fn clip(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
    let mut rest = line.as_str();
    while rest.chars().count() > LONGEST {
        match first_part(rest) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    // A single word of that length is nobody's name.
    rest.chars().take(4 * LONGEST).collect()
}

/// A name without its first folder or member; `None` if it has only one.
fn first_part(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            '/' | '.' if depth == 0 && at > 0 => {
                let rest = text.get(at + 1..).unwrap_or_default();
                return Some(rest).filter(|rest| !rest.is_empty());
            }
            _ => {}
        }
    }
    // All of it is one part: what is inside of the braces may have several.
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inside.and_then(first_part)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use interlock_model::ir::{Body, FunctionBuilder, FunctionId, Program, Value, WriteMode};

    use super::*;
    use crate::view::{Expanded, Facts, Runs};

    /// What the first file is called that a function with one parameter writes.
    fn called(path: impl FnOnce(&mut Body<'_>, Value) -> Value) -> String {
        let mut program = Program::default();
        program.add_function(FunctionBuilder::new("f").body(["given"], |b, [given]| {
            let path = path(b, given);
            b.write(Resource::File(path.into()), [], WriteMode::Blind);
        }));
        let function = &program.functions[0];
        let expanded = Expanded {
            function: FunctionId(0),
            runs: Runs::Unreached,
            values: function.values.clone().into(),
            body: Arc::new(function.body.clone()),
        };
        let entry = Entry::new(&program, &Arc::new(Facts::of(&program)), &expanded);
        let write = entry.steps.iter().position(|step| matches!(step.effect.op, Op::Write { .. })).unwrap();
        entry.thing(write)
    }

    #[test]
    fn what_is_another_name_is_called_by_the_first() {
        assert_eq!(called(|_, given| given), "the file `given`");
        assert_eq!(called(|b, given| b.bind("path", given, [given])), "the file `given`");
    }

    #[test]
    fn what_has_no_name_where_it_is_made_is_called_what_it_is_called_later() {
        let made = |name: &'static str| {
            called(move |b, given| {
                let made = b.derive(name, [given]);
                b.bind("path", made, [made])
            })
        };
        assert_eq!((made("arg"), made("full")), ("the file `path`".into(), "the file `full`".into()));
        let computed = "the file at a computed path";
        assert_eq!(called(|b, given| b.derive("arg", [given])), computed, "there is no other name");
    }

    #[test]
    fn what_is_too_long_loses_its_first_parts_and_is_never_cut_inside_of_one() {
        let long = "this.coreTools[request.params.name].installer.context.manifestPath";
        assert_eq!(clip(long), "installer.context.manifestPath");
        let path = "{params.docs}/branch-memory-bank/{BranchInfo.safeName}/{params.document.path}/x.json";
        assert_eq!(clip(path), "{BranchInfo.safeName}/{params.document.path}/x.json");
        assert_eq!(clip("a`b\nc"), "a b c");
        for text in [long.repeat(20), path.repeat(20), "x".repeat(1000), "{".repeat(500), "/".repeat(500)] {
            assert!(clip(&text).chars().count() <= 4 * LONGEST && !clip(&text).contains('…'), "{text}");
        }
    }
}
