//! What the guard can lock in place of a server that does not: the name of the thing, and which of them a call is about.

use interlock_model::{
    KeyTemplate,
    ir::{AccessPath, Field, Origin, Resource, Root, Term},
};

use crate::{
    fields::is_presence,
    lexicon::Topic,
    view::{Entry, Runs},
};

/// What the guard can lock instead: the thing's name, with the caller's arguments in it.
pub(crate) fn key_of(entry: &Entry<'_>, resource: &Resource) -> Option<KeyTemplate> {
    let kept = |path: &AccessPath| {
        let before = path.fields.iter().map_while(named).last();
        before.map_or_else(|| entry.path_text(&AccessPath::of(path.root.clone())), str::to_owned)
    };
    // What one of them is called, what all of them are called, and which one it is.
    let (one, all, which) = match resource {
        Resource::File(path) => ("file".to_owned(), called(entry, path, "files"), Some(path)),
        Resource::Key(key) => ("key".to_owned(), called(entry, key, "keys"), Some(key)),
        Resource::Row { table, key, .. } => (entry.text(table), entry.text(table), Some(&**key)),
        Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
            let at = path.fields.iter().find_map(|field| match field {
                Field::At(term) => Some(term),
                Field::Name(_) => None,
            });
            (kept(path), kept(path), at)
        }
    };
    // Only what a tool is called with itself has the names that its callers know.
    let which = which.filter(|_| matches!(entry.runs, Runs::Call(_)));
    match which.and_then(|which| argument_in(entry, which)) {
        Some(argument) => format!("{}:{{args.{argument}}}", clean(&one)).parse().ok(),
        None => Some(KeyTemplate::fixed(&clean(&all))),
    }
}

/// What a file or key is called: by the last part of its name, or by what holds its name. What a call holds in a variable of its own is one of
/// many, and the next tool calls the same one differently, so all of them are meant.
fn called(entry: &Entry<'_>, name: &Term, all: &str) -> String {
    match name {
        Term::Literal(text) => text.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
        Term::Path(path) => match entry.alias().resolve_path(path) {
            AccessPath { root: Root::Value(_), .. } => all.to_owned(),
            path => {
                let field = path.fields.iter().rev().find_map(named);
                field.map_or_else(|| entry.path_text(&AccessPath::of(path.root)), str::to_owned)
            }
        },
        _ => all.to_owned(),
    }
}

fn named(field: &Field) -> Option<&str> {
    match field {
        Field::Name(name) => Some(name),
        Field::At(_) => None,
    }
}

/// What the lowering calls a value that the source gives no name.
const UNNAMED: [&str; 3] = ["arg", "param", "result"];

/// A name without what means something in a key.
fn clean(name: &str) -> String {
    let name: String =
        name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).take(40).collect();
    if name.is_empty() || UNNAMED.contains(&name.as_str()) { "state".to_owned() } else { name }
}

/// The first argument of the tool that a term is made from, by name.
fn argument_in(entry: &Entry<'_>, term: &Term) -> Option<String> {
    match term {
        Term::Path(path) => argument_of(entry, path),
        Term::Join(parts) => parts.iter().find_map(|part| argument_in(entry, part)),
        Term::Parent(path) => argument_in(entry, path),
        _ => None,
    }
}

/// The argument of the tool that a path leads to, by name: `id`, or `order.id` of an object.
fn argument_of(entry: &Entry<'_>, path: &AccessPath) -> Option<String> {
    let origin = |path: &AccessPath| match path.root {
        Root::Value(root) => entry.flow().origin(root).map(|origin| (origin, root)),
        _ => None,
    };
    // What says who the caller is was taken from the request as well.
    origin(path).filter(|(origin, _)| origin.is_argument())?;
    let path = entry.alias().resolve_path(path);
    let (origin, root) = origin(&path)?;
    let mut names: Vec<&str> =
        path.fields.iter().map_while(named).take_while(|name| !is_presence(entry.lexicon(), name)).collect();
    let root = entry.name_of(root);
    if let Some(request) = names.iter().position(|name| *name == "arguments") {
        names.drain(..=request);
    } else if entry.lexicon().has(Topic::BesideArguments, root) || !origin.is_argument() {
        return None;
    } else if origin == Origin::Argument {
        names.insert(0, root);
    }
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (!names.is_empty() && names.iter().all(is_name)).then(|| names.join("."))
}
