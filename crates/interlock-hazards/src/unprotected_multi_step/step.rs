//! Which changes can be one of several that belong together: state that lives on, and that somebody decides on.

use interlock_model::ir::{Comparator, Condition, Op, Resource, WriteMode};

use crate::{
    Reason,
    decision::{needs, unless},
    fields::{is_in_cache, notes_change, notes_use},
    lexicon::Topic,
    limits::counts_calls,
    view::{At, Entry, Kinds},
};

use super::readers::Readers;

/// Whether a change can have another one that belongs to it.
pub(super) fn has_partner(entry: &Entry<'_>, at: At, readers: &Readers) -> Result<(), Reason> {
    is_step(entry, at)?;
    needs(readers.matters(entry, at), Reason::NobodyDecides)?;
    unless(is_claim(entry, at), Reason::LockInDisguise)
}

/// Whether a change can be one of several that belong together.
pub(super) fn is_step(entry: &Entry<'_>, at: At) -> Result<(), Reason> {
    let stored =
        matches!(entry.resource(at), Some(Resource::Row { .. } | Resource::File(_) | Resource::Key(_)));
    let lives_on = match (entry.op(at), entry.resource(at)) {
        // A folder that is there or made is no change.
        (Some(Op::Write { mode: WriteMode::Ensure, .. }), Some(Resource::File(_))) => false,
        // Nor is a line in a log, in whatever it is kept.
        (Some(Op::Write { mode: WriteMode::Append, .. }), Some(Resource::File(path))) => {
            !is_log(entry, &entry.text(path))
        }
        (Some(Op::Write { mode: WriteMode::Exclusive, .. }), Some(Resource::Row { table, .. })) => {
            !is_log(entry, &entry.text(table))
        }
        (Some(Op::Write { mode, .. }), _) => !matches!(mode, WriteMode::Expiry | WriteMode::Pieces),
        // Whoever clears away what has run out has nothing more in mind.
        (Some(Op::Delete { when: Some(Condition(demands)), .. }), _) => {
            !demands.iter().any(|demand| matches!(demand.how, Comparator::AtMost | Comparator::AtLeast))
        }
        _ => true,
    };
    // What a key has from a row, or what is kept only not to be asked for again, is no state of its own.
    let is_copy = || match entry.resource(at) {
        Some(Resource::Key(_)) => {
            let reads_row = |from: &At| {
                matches!(entry.op(*from), Some(Op::Read { .. }))
                    && matches!(entry.resource(*from), Some(Resource::Row { .. }))
            };
            entry.flow().data_dependences(at).iter().any(reads_row)
        }
        _ => is_in_cache(entry, at),
    };
    // How often something was used is off by one at worst, and when it was last changed is set anew with the next change.
    let notes = |column: &str| notes_use(entry.lexicon(), column) || notes_change(entry.lexicon(), column);
    let only_use =
        || entry.alias().columns(at).is_some_and(|columns| columns.iter().all(|column| notes(column)));
    needs(stored, Reason::OutOfScope)?;
    needs(lives_on, Reason::NoState)?;
    unless(only_use(), Reason::OnlyNotesUse)?;
    unless(is_copy(), Reason::KeepsCache)?;
    unless(counts_calls(entry, at), Reason::CountsCalls)?;
    unless(entry.control().is_recovery(at) || entry.control().is_finally(at), Reason::OnlyInRecovery)
}

/// Whether something is called after what is written down for people to read later.
fn is_log(entry: &Entry<'_>, name: &str) -> bool {
    entry.lexicon().has_word_of(Topic::Log, name)
}

/// The same of the file that a change is made to.
pub(super) fn is_called_a_log(entry: &Entry<'_>, at: At) -> bool {
    matches!(entry.resource(at), Some(Resource::File(path)) if is_log(entry, &entry.text(path)))
}

/// Whether a change is a lock or a count in disguise: a key that is taken, and given back when the work is done.
fn is_claim(entry: &Entry<'_>, at: At) -> bool {
    let gives = |op: &Op| matches!(op, Op::Delete { .. } | Op::Write { mode: WriteMode::Atomic, .. });
    let takes = |op: &Op| matches!(op, Op::Write { mode: WriteMode::Exclusive | WriteMode::Atomic, .. });
    let (Some(op), Some(Resource::Key(_) | Resource::File(_))) = (entry.op(at), entry.resource(at)) else {
        return false;
    };
    let given_back = || {
        entry.all(Kinds::DELETE | Kinds::WRITE, gives).any(|end| {
            end != at && entry.alias().same_record(at, end) && entry.control().leads_to(at, end).is_some()
        })
    };
    let taken_before = || {
        entry.all(Kinds::WRITE, takes).any(|take| {
            take != at && entry.alias().same_record(at, take) && entry.control().leads_to(take, at).is_some()
        })
    };
    // A number that only says whose turn it is has no partner either.
    let is_fence = || {
        match op {
        Op::Write { outcome: Some(number), .. } => entry.steps_of(Kinds::WRITE).any(|write| {
            matches!(entry.op(write), Some(Op::Write { mode: WriteMode::Conditional(condition), .. }) if {
                condition.0.iter().flat_map(|demand| entry.flow().values_in(&demand.with)).any(|value| entry.flow().depends_on(value, *number))
            })
        }),
        _ => false,
    }
    };
    (takes(op) && given_back()) || (gives(op) && taken_before()) || is_fence()
}
