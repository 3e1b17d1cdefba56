//! What goes by the name of a limit on calls: two hazards ask for it, one to report that it is overrun and one to leave its count alone.

use interlock_model::ir::{Field, Op, Resource, Root, Term, WriteMode};

use crate::{
    fields::mentions,
    view::{At, Entry},
    words::words,
};

/// What limits are called.
pub(crate) const LIMITS: &[&str] = &[
    "rate", "limit", "quota", "throttle", "window", "bucket", "hits", "attempt", "requests", "calls", "usage",
];

/// Whether a change raises a count of calls: what goes by the name of a limit, and was read before. It is off by one at worst, and
/// nothing else has to follow it.
pub(crate) fn counts_calls(entry: &Entry<'_>, at: At) -> bool {
    let raises = match entry.op(at) {
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => true,
        Some(Op::Write { mode: WriteMode::Blind, .. }) => {
            entry.data_dependences(at).iter().any(|read| entry.overlap(*read, at).is_some())
        }
        _ => false,
    };
    raises && matches!(entry.resource(at), Some(resource @ Resource::Key(_)) if is_limit(entry, resource))
}

/// Whether something goes by the name of a limit, if only by its initials.
pub(crate) fn is_limit(entry: &Entry<'_>, resource: &Resource) -> bool {
    let initials = |key: &Term| words(&entry.text(&entry.spell(key))).iter().any(|word| word == "rl");
    is_named_so(entry, resource, LIMITS) || matches!(resource, Resource::Key(key) if initials(key))
}

/// Whether a resource is called by one of some words.
pub(crate) fn is_named_so(entry: &Entry<'_>, resource: &Resource, words: &[&str]) -> bool {
    match resource {
        Resource::Key(key) => {
            // Today's date in a key does not hide what the rest of it says.
            let text = entry.text(&entry.spell(key));
            // A store of objects is called a bucket as well, and that says nothing of what is in it.
            match text.split_once('#') {
                Some((store, key)) => {
                    mentions(key, words) || mentions(&store.to_lowercase().replace("bucket", ""), words)
                }
                None => mentions(&text, words),
            }
        }
        Resource::File(key) => mentions(&entry.text(key), words),
        Resource::Row { table, .. } => mentions(&entry.text(table), words),
        Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
            let named = |field: &Field| match field {
                Field::Name(name) => mentions(name, words),
                Field::At(_) => false,
            };
            let root = match &path.root {
                Root::Global(name) => mentions(name.rsplit("::").next().unwrap_or_default(), words),
                Root::Value(value) => mentions(entry.name_of(*value), words),
                Root::This => false,
            };
            root || path.fields.iter().any(named)
        }
    }
}
