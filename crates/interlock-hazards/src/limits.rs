//! What goes by the name of a limit on calls: two hazards ask for it, one to report that it is overrun and one to leave its count alone.

use interlock_model::ir::{Field, Op, Resource, Root, Term, WriteMode};

use crate::{
    lexicon::Topic,
    view::{At, Entry},
};

/// Whether a change raises a count of calls: what goes by the name of a limit, and was read before. It is off by one at worst, and
/// nothing else has to follow it.
pub(crate) fn counts_calls(entry: &Entry<'_>, at: At) -> bool {
    let raises = match entry.op(at) {
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => true,
        Some(Op::Write { mode: WriteMode::Blind, .. }) => {
            entry.flow().data_dependences(at).iter().any(|read| entry.alias().overlap(*read, at).is_some())
        }
        _ => false,
    };
    raises && matches!(entry.resource(at), Some(resource @ Resource::Key(_)) if is_limit(entry, resource))
}

/// Whether something goes by the name of a limit, if only by its initials.
pub(crate) fn is_limit(entry: &Entry<'_>, resource: &Resource) -> bool {
    let initials = |key: &Term| {
        entry.lexicon().has_word_of(Topic::LimitInitials, &entry.text(&entry.alias().spell(key)))
    };
    is_named_so(entry, resource, Topic::Limit) || matches!(resource, Resource::Key(key) if initials(key))
}

/// Whether a resource is called by one of some words.
pub(crate) fn is_named_so(entry: &Entry<'_>, resource: &Resource, topic: Topic) -> bool {
    let mentions = |name: &str| entry.lexicon().has_inside(topic, name);
    match resource {
        Resource::Key(key) => {
            // Today's date in a key does not hide what the rest of it says.
            let text = entry.text(&entry.alias().spell(key));
            // A store of objects is called a bucket as well, and that says nothing of what is in it.
            match text.split_once('#') {
                Some((store, key)) => mentions(key) || mentions(&store.to_lowercase().replace("bucket", "")),
                None => mentions(&text),
            }
        }
        Resource::File(key) => mentions(&entry.text(key)),
        Resource::Row { table, .. } => mentions(&entry.text(table)),
        Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
            let named = |field: &Field| match field {
                Field::Name(name) => mentions(name),
                Field::At(_) => false,
            };
            let root = match &path.root {
                Root::Global(name) => mentions(name.rsplit("::").next().unwrap_or_default()),
                Root::Value(value) => mentions(entry.name_of(*value)),
                Root::This => false,
            };
            root || path.fields.iter().any(named)
        }
    }
}
