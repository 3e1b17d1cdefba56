//! Check-then-act (TOCTOU) on a database: a row is read and judged, then changed by a statement that does not repeat the judgement.
//!
//! Reported:
//! ```text
//! const order = await db.get("SELECT * FROM orders WHERE id = ?", id);   // reported here
//! if (order.status !== "open") throw new Error("closed");
//! await db.run("UPDATE orders SET status = 'paid' WHERE id = ?", id);
//! ```
//! Not reported:
//! ```text
//! const done = await db.run("UPDATE orders SET status = 'paid' WHERE id = ? AND status = 'open'", id);
//! if (done.changes === 0) throw new Error("closed");    // the statement repeats what is judged
//! await db.run("INSERT INTO users …");                  // and a unique key refuses the second row
//! ```
//!
//! What is computed from the row and written back is `lost-update`; whose the row is, `auth-check-then-act`; a count against a limit, `non-atomic-rate-limit`. The other
//! kinds of this hazard are beside it: `number.rs`, `consumed.rs`, `unseen.rs`, `due.rs`, `judged.rs`, `remote.rs`, and `whole_file.rs` for files.

use interlock_model::{
    Confidence,
    ir::{Argument, Aspect, Effect, Exit, Finish, Name, Op, Resource, Root, Table, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed},
    decision::{needs, unless},
    fields::{is_in_cache, is_presence, notes_use, same_name},
    lexicon::Topic,
    rows::{adds_missing, adds_row, has_in_common, is_ensured_by_another_key},
    view::{At, Entry, Kinds, Overlap, Pattern, View},
    words,
};

use super::{
    HAZARD, consumed,
    due::due,
    judged::judged_remotely,
    number::{self, is_number},
    remote::remote,
    unseen::unseen,
    whole_file,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let judged = claimed(view, Claim::JudgedRow);
    // A claim between a read and what is told of it is the same story.
    let reported = |entry: &Entry<'_>, claim: At| {
        judged.iter().any(|pair| std::ptr::eq(pair.entry, entry) && (pair.read..=pair.act).contains(&claim))
    };
    let late = unseen(view, reported);
    let (used_up, numbers) = (claimed(view, Claim::UsedUp), claimed(view, Claim::SameNumber));
    let issues = judged.iter().map(|pair| pair.settle(&HAZARD.id, issue(pair)));
    let used_up = used_up.iter().map(|pair| pair.settle(&HAZARD.id, consumed::issue(pair)));
    let numbers = numbers.iter().map(|pair| pair.settle(&HAZARD.id, number::issue(pair)));
    let files = claimed(view, Claim::JudgedFile);
    let files = files.iter().map(|pair| pair.settle(&HAZARD.id, whole_file::issue(pair)));
    issues
        .chain(used_up)
        .chain(numbers)
        .chain(files)
        .chain(late)
        .chain(judged_remotely(view))
        .chain(remote(view))
        .chain(due(view))
        .collect()
}

/// Whether it is a judgement of what a row says, or of whether there is one before another is added.
pub(crate) fn claims(view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let of_store = matches!(pair.resource(), Some(Resource::Row { .. } | Resource::Key(_)));
    needs(of_store && pair.check.is_some(), Reason::OutOfScope)?;
    unless(pair.is_repeated(), Reason::RepeatsCheck)?;
    unless(only_notes_use(pair), Reason::OnlyNotesUse)?;
    unless(clears_away(view, pair), Reason::ClearsExpired)?;
    unless(makes_anew(pair) || sets_what_was_compared(pair), Reason::SameContent)?;
    unless(is_in_cache(pair.entry, pair.act), Reason::KeepsCache)?;
    let judges_content = !pair.judged_fields().is_empty()
        || (matches!(pair.resource(), Some(Resource::Key(_)))
            && pair.data_dependent
            && !asks_only_whether_it_failed(pair));
    match pair.entry.op(pair.act) {
        Some(Op::Write { .. }) if adds_row(pair.entry, pair.act) || adds_by_another_key(pair) => {
            adds_what_was_missing(view, pair)?;
            unless(is_refused(pair) && !is_change_lost(pair), Reason::UniqueKey)
        }
        Some(Op::Write {
            mode: WriteMode::Blind | WriteMode::Atomic | WriteMode::Conditional(_), ..
        }) => {
            needs(judges_content && !only_looks_up(pair), Reason::JudgesPresence)?;
            unless(is_immutable(view, pair), Reason::Immutable)
        }
        Some(Op::Delete { .. }) => needs(judges_content && !only_looks_up(pair), Reason::JudgesPresence),
        _ => Err(Reason::OutOfScope),
    }
}

/// Whether all that decides on the act is that the read itself, or what was made of it, did not fail: `if err != nil`. That judges nothing.
fn asks_only_whether_it_failed(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let named = |value: Value| entry.lexicon().has_word_of(Topic::Failure, entry.name_of(value));
    // `errors.Is(err, redis.Nil)` asks for the kind of a failure.
    let of_failure = |value: &Value| {
        let inputs = entry.flow().inputs(*value);
        named(*value) || !inputs.is_empty() && inputs.iter().all(|input| named(*input))
    };
    let judges = |check: &At| match entry.op(*check) {
        Some(Op::Check { on, .. }) if entry.flow().condition_sources(*check).contains(&pair.read) => {
            !on.iter().all(of_failure)
        }
        _ => false,
    };
    !entry.control().control_dependences(pair.act).iter().any(judges)
}

/// Whether rows of which it is not known that they are the same were only asked whether something is among them.
fn only_looks_up(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    match pair.check.and_then(|check| entry.op(check)) {
        Some(Op::Check { on, .. }) if pair.overlap == Overlap::Maybe => {
            !entry.flow().holds_content_of(on, pair.read)
        }
        _ => false,
    }
}

/// Whether all that is changed is when something was used: two calls that both pass have both used it.
fn only_notes_use(pair: &CheckAct<'_, '_>) -> bool {
    let judged = pair.judged_fields();
    let only_use = |column: &Name| {
        notes_use(pair.entry.lexicon(), column) && !judged.iter().any(|field| same_name(field, column))
    };
    pair.entry.alias().columns(pair.act).is_some_and(|columns| columns.iter().all(only_use))
}

/// Whether the row is made anew from something whose fingerprint it keeps, unless that is still the same: two calls that pass with the
/// same put the same there, and one with something else passes in whatever order they come.
pub(super) fn makes_anew(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { mode: WriteMode::Blind, from, .. })) =
        (pair.check.and_then(|check| entry.op(check)), entry.op(pair.act))
    else {
        return false;
    };
    let judged = pair.judged_fields();
    let is_fingerprint = |field: &Name| entry.lexicon().has_word_of(Topic::Fingerprint, field);
    if pair.data_dependent || judged.is_empty() || !judged.iter().all(is_fingerprint) {
        return false;
    }
    let named = |value: Value| entry.alias().resolve(&value.into());
    let new = on.iter().filter(|value| !entry.flow().sources(**value).contains(&pair.read));
    new.into_iter().any(|new| from.iter().any(|put| put == new || named(*put) == named(*new)))
}

/// Whether the row is only compared with the very value that is then put there: nothing has to be done where it is that already.
pub(super) fn sets_what_was_compared(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { mode: WriteMode::Blind, from, .. })) =
        (pair.check.and_then(|check| entry.op(check)), entry.op(pair.act))
    else {
        return false;
    };
    let [one, other] = on.as_slice() else { return false };
    let is_read = |value: &Value| entry.flow().sources(*value).contains(&pair.read);
    let put = |value: &Value| {
        let name = entry.alias().resolve(&(*value).into());
        from.iter().any(|put| put == value || entry.alias().resolve(&(*put).into()) == name)
    };
    !pair.data_dependent
        && (is_read(one) && !is_read(other) && put(other) || is_read(other) && !is_read(one) && put(one))
}

/// Whether what has run out by the clock is removed by somebody who then has no use for it: a second one removes nothing more. What
/// somebody may have prolonged meanwhile is another matter, and so is what is used up by removing it.
fn clears_away(view: &View<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(check), Some(Op::Delete { .. })) = (pair.check, entry.op(pair.act)) else { return false };
    let Some(Op::Check { on, then, otherwise, .. }) = entry.op(check) else { return false };
    let Some(branch) = entry.control().answer(check, pair.act).filter(|_| entry.flow().is_time(on)) else {
        return false;
    };
    let uses_row = |yes: bool| {
        let behind =
            (check + 1..entry.steps.len()).filter(|at| entry.control().answer(check, *at) == Some(yes));
        let of_row = |value: &Value| entry.flow().sources(*value).contains(&pair.read);
        behind.into_iter().any(|at| used_at(entry, at).iter().any(of_row))
    };
    let block = if branch { then } else { otherwise };
    let refuses = matches!(block.last(), Some(Effect { op: Op::Exit(Exit::Throw), .. }));
    !uses_row(branch) && (refuses || uses_row(!branch)) && !is_changed(view, pair)
}

/// Whether the insert makes sure of another key than the one that was looked for.
fn adds_by_another_key(pair: &CheckAct<'_, '_>) -> bool {
    is_ensured_by_another_key(pair.entry, pair.read, pair.act)
}

/// What a step goes by, hands on, keeps or gives back.
pub(super) fn used_at(entry: &Entry<'_>, at: At) -> Vec<Value> {
    match entry.op(at) {
        Some(
            Op::Check { on: values, .. } | Op::Exit(Exit::Return(values)) | Op::Write { from: values, .. },
        ) => values.clone(),
        Some(Op::Call { arguments, receiver, .. }) => {
            let mut used = vec![];
            receiver.iter().for_each(|path| path.mention(&mut used));
            for argument in arguments {
                match argument {
                    Argument::Term(term) => term.mention(&mut used),
                    Argument::Closure { captures, .. } => {
                        captures.iter().for_each(|term| term.mention(&mut used));
                    }
                }
            }
            used
        }
        _ => vec![],
    }
}

/// Whether what was judged is what such a row has for good, such as where it belongs: rows are made here, and nobody here changes that
/// afterwards. Then it is as true at the act as it was at the read.
fn is_immutable(view: &View<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let Some(Resource::Row { table, .. }) = pair.resource() else { return false };
    let made = |entry: &Entry<'_>, at: At| {
        matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Exclusive, .. }))
            && matches!(entry.resource(at), Some(Resource::Row { table: other, .. }) if other.names_the_same_as(table))
    };
    // What was judged of something that was taken out of a column is no column itself.
    let columns = pair.entry.alias().columns(pair.read).unwrap_or_default();
    let is_column =
        |field: &Name| columns.is_empty() || columns.iter().any(|column| same_name(column, field));
    pair.judged_fields().iter().all(is_column)
        && pair.judges_columns()
        && !is_changed(view, pair)
        && any_write(view, made)
}

/// Whether somebody changes what was judged of such a row while it is there.
fn is_changed(view: &View<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let judged = pair.judged_fields();
    let table = match pair.resource() {
        Some(Resource::Row { table, .. }) => table,
        Some(Resource::Key(key)) => return is_written_back(view, &pair.entry.alias().pattern(key)),
        _ => return true,
    };
    let changes = |entry: &Entry<'_>, at: At| {
        let updates = matches!(entry.op(at), Some(Op::Write { mode, .. }) if *mode != WriteMode::Exclusive);
        // A table of which nothing is known may be this one.
        let same = matches!(entry.resource(at), Some(Resource::Row { table: other, .. })
            if other.names_the_same_as(table) || **other == Term::Unknown);
        updates
            && same
            && entry.alias().columns(at).is_none_or(|columns| {
                columns.iter().any(|column| judged.iter().any(|field| same_name(field, column)))
            })
    };
    // Mostly it is the act itself, and then nobody else has to be asked.
    changes(pair.entry, pair.act) || any_write(view, changes)
}

/// Whether something is so of any step that writes, in whatever entry.
fn any_write(view: &View<'_>, is: impl Fn(&Entry<'_>, At) -> bool) -> bool {
    view.entries_with(Kinds::WRITE).any(|entry| entry.steps_of(Kinds::WRITE).any(|at| is(entry, at)))
}

/// Whether somebody reads a key and puts something else there that comes of it.
fn is_written_back(view: &View<'_>, key: &Pattern) -> bool {
    let writes_back = |entry: &Entry<'_>, at: At| {
        let same = matches!(entry.resource(at), Some(Resource::Key(other)) if entry.alias().pattern(other).fits(key));
        same && entry
            .flow()
            .data_dependences(at)
            .iter()
            .any(|read| entry.alias().overlap(*read, at).is_some())
    };
    any_write(view, writes_back)
}

/// Whether the insert takes effect with a commit whose failure is asked about, or answered by looking for the row once more: a session sends
/// what was added when it commits, and there the unique key decides.
fn is_dealt_with_at_commit(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(Resource::Row { table, .. }) = entry.resource(pair.act) else { return false };
    let looks_again = |end: At| {
        entry.steps_of(Kinds::READ).any(|read| {
            let same = matches!(entry.resource(read), Some(Resource::Row { table: seen, .. }) if seen.names_the_same_as(table));
            same && entry.control().is_recovery(read) && entry.control().leads_to(end, read).is_some()
        })
    };
    let commits = |op: &Op| matches!(op, Op::End { finish: Finish::Commit, .. });
    entry.all(Kinds::OTHER, commits).any(|end| {
        end > pair.act
            && entry.control().is_caught(end)
            && entry.control().leads_to(pair.act, end).is_some()
            && (entry.control().asks_what_failed(end) || looks_again(end))
    })
}

/// An insert behind a read that found nothing. Where the failure of the insert is dealt with, a unique key is what decides; where it is
/// only worded together with all else that may go wrong, there may still be one for what names the row.
fn adds_what_was_missing(view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    unless(entry.control().is_recovery(pair.act), Reason::OnlyInRecovery)?;
    let caught = entry.control().is_caught(pair.act);
    // What overwrites does not fail because there is a row.
    let can_fail = matches!(entry.op(pair.act), Some(Op::Write { mode: WriteMode::Exclusive, .. }));
    let is_dealt_with = can_fail
        && (entry.control().is_dealt_with(pair.read, pair.act) || is_dealt_with_at_commit(pair))
        && !is_declared_without_such_a_key(view, pair);
    if pair.overlap == Overlap::Maybe && !caught && entry.alias().meets(pair.read, pair.act).is_some() {
        return Ok(());
    }
    unless(is_dealt_with, Reason::FailureHandled)?;
    if pair.overlap == Overlap::Maybe {
        unless(is_added_because_found(pair), Reason::WrittenBecauseFound)?;
        needs(counts_if_total(pair), Reason::NotACount)?;
    }
    Ok(())
}

/// Whether the tree says how the table is made, and no key is among what was looked for: then whatever failure of the insert is dealt with, a second
/// row of the kind is none.
fn is_declared_without_such_a_key(view: &View<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let (Some(Resource::Row { table, .. }), Some(Op::Read { unique: false, .. })) =
        (pair.entry.resource(pair.read), pair.entry.op(pair.read))
    else {
        return false;
    };
    let Term::Literal(table) = &**table else { return false };
    if !adds_missing(pair.entry, pair.read, pair.act) {
        return false;
    }
    let name = Table::plain(table);
    let mut declared = view.program.tables.iter().filter(|known| Table::plain(&known.name) == name);
    declared.any(|known| !known.columns.is_empty())
}

/// Whether the store itself lets only one of two calls add the row: what was looked for is a key of the table, and the new row has it.
/// The other one fails, as it would have if it had come later.
fn is_refused(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let looks_by_key = matches!(entry.op(pair.read), Some(Op::Read { unique: true, .. }));
    let Some(Op::Write { from, .. }) = entry.op(pair.act).filter(|_| looks_by_key) else { return false };
    pair.overlap == Overlap::Sure || has_in_common(entry, pair.read, pair.act, from)
}

/// Whether the one that is refused would have changed the row instead if it had come later, and its failure is caught and answered without another try:
/// a count that is raised where the row is there.
fn is_change_lost(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(check), Some(attempt)) = (pair.check, entry.control().catcher(pair.act)) else { return false };
    let Some(added) = entry.control().answer(check, pair.act) else { return false };
    let changes = |at: At| {
        matches!(entry.op(at), Some(Op::Write { mode: WriteMode::Blind | WriteMode::Atomic, .. }))
            && entry.alias().meets(pair.read, at).is_some()
    };
    let instead = entry
        .steps_of(Kinds::WRITE)
        .any(|at| entry.control().answer(check, at) == Some(!added) && changes(at));
    // Who is refused and looks once more, or asks why, deals with it.
    let goes_on = |at: At| entry.control().is_recovery(at) && entry.control().encloses(attempt, at);
    let tries_again = entry.steps_of(Kinds::READ | Kinds::WRITE | Kinds::CHECK).any(goes_on);
    instead && !tries_again && !entry.control().asks_what_failed(pair.act)
}

/// Whether what was asked of all rows at once is whether there are any, or how many. When the last of them was added is none of it.
fn counts_if_total(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(Op::Read { aspect: Aspect::Total, into, .. }) = entry.op(pair.read) else { return true };
    let Some(Op::Check { on, .. }) = pair.check.and_then(|check| entry.op(check)) else { return false };
    on.iter().any(|value| is_number(entry, *value, pair.read, *into))
}

/// Whether the row is added because the read has found something: it says yes or no, and yes leads here.
fn is_added_because_found(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(check), Some(Op::Read { into, .. })) = (pair.check, entry.op(pair.read)) else {
        return false;
    };
    let Some(Op::Check { on, equal: None, .. }) = entry.op(check) else { return false };
    let [only] = on.as_slice() else { return false };
    let counts = entry.alias().field_of(*only).is_some_and(|field| {
        let lexicon = entry.lexicon();
        is_presence(lexicon, &field) && !lexicon.has(Topic::Wrapping, &field)
    });
    let found = entry.alias().resolve_path(&(*only).into()).root == Root::Value(*into) && !counts;
    found && pair.judged_fields().is_empty() && entry.control().answer(check, pair.act) == Some(true)
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let entry = pair.entry;
    let thing = entry.thing(pair.read);
    let by_another_key = adds_by_another_key(pair);
    let inserts = adds_row(entry, pair.act) || by_another_key;
    let counted = matches!(entry.op(pair.read), Some(Op::Read { aspect: Aspect::Total, .. }));
    if let (true, true, Some(Resource::Row { table, .. })) = (inserts, counted, entry.resource(pair.read)) {
        let table = entry.quoted(table);
        let message = format!(
            "what {table} holds is judged and a row is added by a statement of its own, so two calls at once both pass"
        );
        let read = format!("asks what {table} holds, and passes");
        return pair
            .report(message, &read, "adds a row", "it passed without A's")
            .no_surer_than(Confidence::Medium);
    }
    if inserts {
        let (what, read) = match entry.resource(pair.read) {
            Some(Resource::Row { table, .. }) => {
                let table = entry.quoted(table);
                (format!("a row of {table}"), format!("finds no such row in {table}"))
            }
            _ => (thing.clone(), format!("does not find {thing}")),
        };
        if is_refused(pair) {
            let message = format!(
                "{what} is looked for, changed where it is there and added where it is not, so of two calls at once the second is refused by the key, \
                 and what it would have changed is lost"
            );
            return pair
                .report(message, &read, "adds it", "it is refused, and its change is nowhere")
                .no_surer_than(Confidence::Medium);
        }
        let how = if by_another_key {
            "a statement that leaves alone only what has the same key, which is another one than was looked for"
        } else {
            "a statement of its own"
        };
        let message =
            format!("{what} is looked for and then added by {how}, so two calls at once add it twice");
        return pair.report(message, &read, "adds it", "it is there twice").no_surer_than(Confidence::Medium);
    }
    let fields = pair.judged_fields();
    let thing = match entry.resource(pair.read) {
        Some(Resource::Row { table, .. }) if pair.is_picked() => format!("a row of {}", entry.quoted(table)),
        _ => thing,
    };
    let judged = match (fields.first(), entry.alias().columns(pair.read)) {
        (Some(field), Some([column])) if same_name(field, column) => {
            format!("{thing} is judged in one statement and")
        }
        (Some(field), _) => {
            let again = if thing.contains("row") { "that row" } else { &thing };
            format!("`{field}` of {thing} is judged in one statement, and {again} is")
        }
        (None, _) => format!("{thing} is judged in one statement and"),
    };
    let message = format!(
        "{judged} changed in another that does not repeat the judgement, so two calls at once both pass"
    );
    let uses_up = uses_up(pair);
    // An amount is used up; a password or a state is only another one.
    let takes_away =
        pair.data_dependent || matches!(entry.op(pair.act), Some(Op::Write { mode: WriteMode::Atomic, .. }));
    let outcome = if uses_up && takes_away {
        "it passed on what A had already used up"
    } else {
        "it passed on a state that A has changed"
    };
    let (read, act) = (format!("reads {thing}, and passes"), format!("changes {}", pair.thing()));
    let issue = pair.report(message, &read, &act, outcome);
    if uses_up { issue } else { issue.no_surer_than(Confidence::Medium) }
}

/// Whether what was judged is what is then changed, by an amount or to something that was worked out: who passes takes away what the next one
/// passes on. A state that is set to a fixed word may be set twice.
fn uses_up(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(Op::Write { mode, from, .. }) = entry.op(pair.act) else { return false };
    let amount = (*mode == WriteMode::Atomic || !from.is_empty()) && !pair.has_unread_demand();
    // What has not run out yet is put off once more by whoever comes, in whatever order.
    let by_clock = match pair.check.and_then(|check| entry.op(check)) {
        Some(Op::Check { on, .. }) => entry.flow().is_time(on),
        _ => false,
    };
    let judged = pair.judged_fields();
    let columns = entry.alias().columns(pair.act).unwrap_or_default();
    // When something was done may be said twice as well: `ended_at`.
    let says_when = |column: &Name| words(column).last().is_some_and(|last| last == "at");
    let judged = |column: &Name| judged.iter().any(|field| same_name(field, column));
    !by_clock && amount && columns.iter().any(|column| judged(column) && !says_when(column))
}
