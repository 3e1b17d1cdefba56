//! Work that is due is found in one statement, done, and marked as done by another: two that look at once both do it.
//!
//! Reported:
//! ```text
//! const due = await db.all("SELECT * FROM reminders WHERE status = 'pending'");        // reported here
//! for (const one of due) {
//!   await mailer.sendMail({ to: one.address, text: one.text });
//!   await db.run("UPDATE reminders SET status = 'sent' WHERE id = ?", one.id);
//! }
//! ```
//! Not reported:
//! ```text
//! const { changes } = await db.run("UPDATE reminders SET status = 'sent' WHERE id = ? AND status = 'pending'", one.id);
//! if (changes === 1) await mailer.sendMail({ to: one.address, text: one.text });       // the claim decides
//! ```
//!
//! A list that is worked off within the store comes to the same when two do it, and is left alone. A claim whose outcome is thrown away is
//! `unseen.rs`.

use interlock_model::{
    Confidence, Reach,
    ir::{Aspect, Change, Comparator, Comparison, Condition, Op, Resource, Term, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    fields::same_name,
    gates::{Gates, is_claimed},
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// The rows of a list that are worked off with something outside taking effect for each.
pub(super) fn due(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::WRITE | Kinds::DELETE).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let effects: Vec<At> = entry
        .all(Kinds::EXTERNAL, |op| {
            matches!(op, Op::External { change: Change::Effect | Change::Unknown, .. })
        })
        .collect();
    let lists: Vec<At> = entry.all(Kinds::READ, lists_rows).collect();
    if effects.is_empty() || lists.is_empty() {
        return vec![];
    }
    let mut gates = Gates::default();
    let mut found = vec![];
    let mut reads: Vec<At> = vec![];
    for act in entry.all(Kinds::WRITE | Kinds::DELETE, marks_rows) {
        let is_listed =
            |read: &&At| **read < act && !reads.contains(read) && is_marked_one_by_one(entry, **read, act);
        let Some(read) = lists.iter().rev().find(is_listed).copied() else { continue };
        let judged = judge(view, entry, read, act, &effects, &mut gates);
        if let Some(issue) = entry.settle(&HAZARD.id, &[read, act], judged) {
            reads.push(read);
            found.push(issue);
        }
    }
    found
}

/// Whether a step finds rows, and does not keep others from them.
fn lists_rows(op: &Op) -> bool {
    matches!(op, Op::Read { of: Resource::Row { .. }, aspect: Aspect::Content, locking: false, .. })
}

/// Whether a step changes or removes rows, whatever has become of them since they were found.
fn marks_rows(op: &Op) -> bool {
    matches!(
        op,
        Op::Write { to: Resource::Row { .. }, mode: WriteMode::Blind, .. }
            | Op::Delete { of: Resource::Row { .. }, when: None, .. }
    )
}

/// Whether an act marks one by one, or removes, the rows that a read has found to be in a state.
fn is_marked_one_by_one(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(Resource::Row { table, .. }), Some(Resource::Row { table: same, key, .. })) =
        (entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let Some(Op::Read { demands: Condition(demands), .. }) = entry.op(read) else { return false };
    let columns = entry.alias().columns(act).unwrap_or_default();
    let is_state = |demand: &Comparison| {
        matches!(demand.how, Comparator::Equal | Comparator::Different | Comparator::Other)
            && !matches!(demand.with, Term::Path(_))
            && columns.iter().any(|column| same_name(column, &demand.column))
    };
    let ends = match entry.op(act) {
        Some(Op::Write { .. }) => demands.iter().any(is_state),
        _ => true,
    };
    let of_read =
        || entry.flow().values_in(key).iter().any(|value| entry.flow().sources(*value).contains(&read));
    table.names_the_same_as(same) && ends && entry.alias().is_one_of_many(read, act) && of_read()
}

fn judge(
    view: &View<'_>,
    entry: &Entry<'_>,
    read: At,
    act: At,
    effects: &[At],
    gates: &mut Gates,
) -> Result<Issue, Reason> {
    let turn =
        entry.control().loops(act).iter().rev().find(|head| !entry.control().loops(read).contains(head));
    let turn = turn.ok_or(Reason::WorkList)?;
    // Whoever keeps what was worked out may have asked for nothing else.
    let only_marks = match entry.op(act) {
        Some(Op::Write { from, .. }) => from.iter().all(|value| entry.flow().is_time(&[*value])),
        _ => true,
    };
    let is_sure = |effect: At| matches!(entry.op(effect), Some(Op::External { change: Change::Effect, .. }));
    let takes_effect = |effect: &&At| {
        entry.control().loops(**effect).contains(turn)
            && !entry.control().is_recovery(**effect)
            && is_about(entry, **effect, read)
            && (is_sure(**effect) || only_marks)
            && !is_kept(entry, **effect)
    };
    let effect = *effects.iter().find(takes_effect).ok_or(Reason::WorkList)?;
    unless(is_claimed(view, entry, read, act) || decides(entry, act, effect), Reason::ClaimedFirst)?;
    let reach = view.interference(entry, read, act)?;
    let reach = match (reach, gates.single_flight(entry, read, act)) {
        (Reach::InProcess, true) => return Err(Reason::SingleFlight),
        (Reach::Both, true) => Reach::CrossProcess,
        (reach, _) => reach,
    };
    needs(entry.control().leads_to(read, effect).is_some(), Reason::NotAfter)?;
    Ok(issue(entry, read, act, reach))
}

/// Whether the effect only takes place where the act has found its row: `if (deleted.rowCount === 1) …`. Of two that remove a row, one does.
fn decides(entry: &Entry<'_>, act: At, effect: At) -> bool {
    // An update finds its row whoever has changed it before.
    let Some(Op::Delete { outcome: Some(outcome), .. }) = entry.op(act) else { return false };
    entry.control().control_dependences(effect).iter().any(|check| match entry.op(*check) {
        Some(Op::Check { on, .. }) => on.iter().any(|on| entry.flow().depends_on(*on, *outcome)),
        _ => false,
    })
}

/// Whether a request says something of what was read.
fn is_about(entry: &Entry<'_>, effect: At, read: At) -> bool {
    let said = entry.flow().asked_with(effect);
    said.is_empty() || said.iter().any(|value| entry.flow().sources(*value).contains(&read))
}

/// Whether what is answered is what is kept: something was only worked out.
fn is_kept(entry: &Entry<'_>, effect: At) -> bool {
    let Some(Op::External { into: Some(into), .. }) = entry.op(effect) else { return false };
    entry.steps_of(Kinds::WRITE).any(|write| match entry.op(write) {
        Some(Op::Write { from, .. }) => from.iter().any(|value| entry.flow().depends_on(*value, *into)),
        _ => false,
    })
}

fn issue(entry: &Entry<'_>, read: At, act: At, reach: Reach) -> Issue {
    let table = match entry.resource(read) {
        Some(Resource::Row { table, .. }) => entry.quoted(table),
        _ => entry.thing(read),
    };
    let message = format!(
        "the rows of {table} that are due are found in one statement and marked as done by another, and the work is done in between, so two \
         calls at once both do it for the same rows"
    );
    CheckAct::sure(entry, read, act, read, reach)
        .report(
            message,
            &format!("finds the rows of {table} that are due"),
            "does the work for each, and marks it as done",
            "it is done twice",
        )
        .no_surer_than(Confidence::Medium)
}
