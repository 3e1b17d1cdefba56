//! Lost update: a read-modify-write on something outside the process, with a race window between the read and the write.
//!
//! Reported:
//! ```text
//! const notes = JSON.parse(await readFile(FILE));   // reported here
//! notes.push(note);
//! await writeFile(FILE, JSON.stringify(notes));     // what another call wrote since is gone
//! ```
//! Not reported:
//! ```text
//! await lock.runExclusive(async () => {             // one lock from the read to the write
//!   const notes = JSON.parse(await readFile(FILE));
//!   await writeFile(FILE, JSON.stringify([...notes, note]));
//! });
//! await db.query("UPDATE n SET text = $1 WHERE id = $2 AND version = $3", …);  // repeats what was read
//! ```
//!
//! Memory is not looked at (`stale-read-across-await`), nor a write that only a check decided over (`db-check-then-act`, `file-check-then-act`). State that a process loads
//! once and then writes back is in `kept.rs`, an entry of a cache that is written to its own file in `cached.rs` (between processes: `copied.rs`), a copy of memory that is
//! written outside the lock it was taken under in `snapshot.rs`, a file that others write under another lock in `apart.rs`, one that is worked off and emptied in `discarded.rs`, a document at a service in `remote.rs`.

use interlock_model::{
    Confidence, Severity,
    ir::{Aspect, Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed},
    decision::{needs, unless},
    dependences::written_values,
    fields::{is_in_cache, same_name},
    view::{At, Overlap, View},
};

use super::{
    HAZARD, apart::apart, cached::cached, copied::copied, discarded::discarded, kept::kept, remote::remote,
    snapshot::snapshots,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = claimed(view, Claim::LostUpdate);
    // The reads before one act follow each other.
    let reported = |(number, pair): (usize, &CheckAct<'_, '_>)| {
        let issue = pair.settle(&HAZARD.id, issue(pair));
        let others = found.iter().skip(number + 1);
        let mut later =
            others.take_while(|other| std::ptr::eq(other.entry, pair.entry) && other.act == pair.act);
        if later.any(|later| reads_again(pair, later)) { issue.no_surer_than(Confidence::Low) } else { issue }
    };
    let pairs = found.iter().enumerate().map(reported);
    let in_memory = kept(view).into_iter().chain(cached(view)).chain(copied(view)).chain(snapshots(view));
    pairs.chain(in_memory).chain(apart(view)).chain(discarded(view)).chain(remote(view)).collect()
}

/// Whether a later read of the same thing feeds what is written as well, and is reported for it. What was read before mostly says no more
/// than which part of it to change.
fn reads_again(pair: &CheckAct<'_, '_>, later: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    // Where the file is not there yet nothing of it is lost.
    let only_looks_for_it = |judge: &At| {
        let sources = entry.flow().condition_sources(*judge);
        let looks = |read: &At| {
            matches!(entry.op(*read), Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, .. }))
                && entry.alias().overlap(*read, later.read).is_some()
        };
        !sources.is_empty() && sources.iter().all(looks)
    };
    let always = || {
        let control_dependences = entry.control().control_dependences(pair.act);
        entry
            .control()
            .control_dependences(later.read)
            .iter()
            .all(|judge| control_dependences.contains(judge) || only_looks_for_it(judge))
    };
    pair.read < later.read
        && matches!(entry.resource(pair.read), Some(Resource::File(_) | Resource::Key(_)))
        && entry.alias().overlap(pair.read, later.read) == Some(Overlap::Sure)
        && entry.control().leads_to(pair.read, later.read).is_some()
        && always()
        && !puts_into_later(pair, later)
}

/// Whether what the first read has found, or one of the things in it, is put as it was into all that the later one has found: `todos[id] = changed`,
/// with `changed` made of what was read before. The later read keeps the others, and not that one.
fn puts_into_later(pair: &CheckAct<'_, '_>, later: &CheckAct<'_, '_>) -> bool {
    let flow = pair.entry.flow();
    // Side by side, neither of the two is in the other.
    let has_both =
        |value: &Value| flow.holds_whole(&[*value], pair.read) && flow.holds_whole(&[*value], later.read);
    written_values(pair.entry, pair.act).iter().any(has_both)
}

/// Whether something outside the process is overwritten with what was made of an older state of it.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let stored = matches!(pair.resource(), Some(Resource::File(_) | Resource::Row { .. } | Resource::Key(_)));
    needs(stored, Reason::OutOfScope)?;
    needs(pair.data_dependent, Reason::NotComputedFromRead)?;
    needs(holds_what_was_read(pair), Reason::NotComputedFromRead)?;
    match pair.entry.op(pair.act) {
        Some(Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. }) => {}
        Some(Op::Write { mode: WriteMode::Conditional(_), .. }) => {
            unless(pair.is_repeated(), Reason::RepeatsCheck)?;
        }
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => {
            needs(adds_what_it_saw(pair), Reason::AppliedByStore)?;
        }
        Some(Op::Write { mode: WriteMode::Exclusive, .. }) => needs(is_next_state(pair), Reason::OnlyAdds)?,
        _ => return Err(Reason::OutOfScope),
    }
    unless(is_in_cache(pair.entry, pair.act), Reason::KeepsCache)
}

/// Whether the written value contains the value that was read. A read that only tests for existence contributes nothing to the written
/// value.
fn holds_what_was_read(pair: &CheckAct<'_, '_>) -> bool {
    let read = matches!(pair.resource(), Some(Resource::Row { .. }));
    match pair.entry.op(pair.act) {
        Some(Op::Write { from, .. }) if read && pair.overlap == Overlap::Maybe => {
            pair.entry.flow().holds_content_of(from, pair.read)
        }
        _ => true,
    }
}

/// Whether what a column is changed by was computed from what stood in the same column before: `n = n + $1`, and `$1` from `n`.
fn adds_what_it_saw(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    if pair.overlap != Overlap::Sure {
        return false;
    }
    let (Some(Op::Write { from, .. }), Some(columns)) = (entry.op(pair.act), entry.alias().columns(pair.act))
    else {
        return false;
    };
    let seen = |value: &Value| {
        entry.flow().sources(*value).contains(&pair.read)
            && entry
                .alias()
                .field_of(*value)
                .is_some_and(|field| columns.iter().any(|column| same_name(column, &field)))
    };
    entry.flow().backward_slice(from).iter().any(seen)
}

/// Whether a row that is added is the next state of the last one: a column of it was computed from the same column there, such as a list with one
/// item more or what is left of an amount. A value that is only carried over as it was loses nothing.
fn is_next_state(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (
        Some(Op::Read { aspect: Aspect::Total, of: Resource::Row { .. }, .. }),
        Some(Op::Write { from, .. }),
        Some(columns),
    ) = (entry.op(pair.read), entry.op(pair.act), entry.alias().columns(pair.act))
    else {
        return false;
    };
    let field = |value: &Value| entry.alias().field_of(*value);
    let is_seen = |value: &Value| {
        entry.flow().sources(*value).contains(&pair.read)
            && field(value).is_some_and(|field| columns.iter().any(|column| same_name(column, &field)))
    };
    from.iter()
        .filter(|written| field(written).is_none())
        .any(|written| entry.flow().backward_slice(&[*written]).iter().any(is_seen))
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    if matches!(pair.entry.op(pair.act), Some(Op::Write { mode: WriteMode::Exclusive, .. })) {
        let table = match pair.resource() {
            Some(Resource::Row { table, .. }) => pair.entry.quoted(table),
            _ => thing,
        };
        let message = format!(
            "the last row of {table} is read and the next one is made of it, so of two calls at once both go on from the same one, and what the \
             first has added is missing in the last"
        );
        let act = format!("adds the next row to {table}");
        return pair
            .report(message, &format!("reads the last row of {table}"), &act, "it has nothing of A's")
            .no_surer_than(Confidence::Medium);
    }
    if matches!(pair.entry.op(pair.act), Some(Op::Write { mode: WriteMode::Atomic, .. })) {
        let message = format!(
            "by how much {thing} is changed was computed from what stood there before, so of two calls at once the second changes it by \
             what was right before the first"
        );
        let act = format!("changes {thing} by what it computed");
        return pair
            .report(message, &format!("reads {thing}"), &act, "it no longer fits what A has left")
            .no_surer_than(Confidence::Medium);
    }
    let message = format!(
        "{thing} is read, changed and written back as a whole, so of two calls at once one change is lost although both are answered \
         with success"
    );
    let issue = pair.report(
        message,
        &format!("reads {thing}"),
        &format!("writes {thing} back"),
        "A's change is gone",
    );
    // An edit that replaces one file in one step leaves a whole file behind, and the loser can see it.
    match pair.entry.op(pair.act) {
        Some(Op::Rename { .. }) => issue.only(Severity::Medium),
        _ => issue,
    }
}
