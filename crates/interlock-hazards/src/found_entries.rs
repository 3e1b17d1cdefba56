//! Entries that were searched for: what was found in a list or map flows into what is put at another index of it.
//!
//! ```text
//! const task = tasks.find(task => task.id === id);       // reads the list as a whole
//! await push(task);
//! const at = tasks.findIndex(task => task.id === id);
//! tasks[at] = { ...task, done: true };                   // and what another call has changed of the entry is gone
//! ```
//!
//! That both are the same entry is likely, where the entry itself is in what is put there; a number that was counted or the greatest of all ids is not.

use interlock_model::ir::{AccessPath, Field, Op, Resource, Term, Value};

use crate::view::{At, Entry};

/// Whether a read of a whole list or map found an entry that flows into what an act puts in place of one.
pub(crate) fn puts_found_entry(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(Resource::Shared(seen)), Some(Resource::Shared(put))) =
        (entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let Some(Op::Write { from, .. }) = entry.op(act) else { return false };
    is_entry_of(put, seen)
        && entry.flow().backward_slice(from).iter().any(|value| is_found_in(entry, *value, seen, read))
}

/// Whether a path is an entry of what another one is.
fn is_entry_of(path: &AccessPath, whole: &AccessPath) -> bool {
    path.fields.len() == whole.fields.len() + 1
        && path.begins_with(whole)
        && matches!(path.fields.last(), Some(Field::At(_)))
}

/// Whether a value is an entry that a read of the whole has found.
fn is_found_in(entry: &Entry<'_>, value: Value, whole: &AccessPath, read: At) -> bool {
    entry.flow().sources(value).contains(&read)
        && match entry.alias().resolve(&value.into()) {
            Term::Path(path) => is_entry_of(&path, whole),
            _ => is_entry_of(&entry.alias().resolve_path(&value.into()), whole),
        }
}
