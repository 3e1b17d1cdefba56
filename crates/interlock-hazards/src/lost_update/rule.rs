//! Read, changed in memory, written back.

use interlock_model::{
    Confidence, Severity,
    ir::{Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, auth_check_then_act,
    clash::{Clash, clashes},
    db_check_then_act,
    fields::{is_in_cache, same_name},
    non_atomic_rate_limit,
    view::{Overlap, View},
};

use super::kept::kept;

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let found: Vec<&Clash<'_, '_>> = found.iter().filter(|clash| claims(view, clash)).collect();
    // The looks before one act follow each other.
    let told = |(number, clash): (usize, &&Clash<'_, '_>)| {
        let issue = issue(clash);
        let others = found.iter().skip(number + 1);
        let mut later =
            others.take_while(|other| std::ptr::eq(other.entry, clash.entry) && other.act == clash.act);
        if later.any(|later| reads_again(clash, later)) {
            issue.no_surer_than(Confidence::Low)
        } else {
            issue
        }
    };
    found.iter().enumerate().map(told).chain(kept(view)).collect()
}

/// Whether a later look at the same thing feeds what is written as well, and is told for it. What was read before mostly says no more
/// than which part of it to change.
fn reads_again(clash: &Clash<'_, '_>, later: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let always = || {
        let judges = entry.judges(clash.act);
        entry.judges(later.look).iter().all(|judge| judges.contains(judge))
    };
    clash.look < later.look
        && matches!(entry.resource(clash.look), Some(Resource::File(_) | Resource::Key(_)))
        && entry.overlap(clash.look, later.look) == Some(Overlap::Sure)
        && entry.leads_to(clash.look, later.look).is_some()
        && always()
}

/// Whether something outside the process is overwritten with what was made of an older state of it.
pub(crate) fn claims(view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let stored =
        matches!(clash.resource(), Some(Resource::File(_) | Resource::Row { .. } | Resource::Key(_)));
    let overwrites = match clash.entry.op(clash.act) {
        Some(Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. }) => true,
        Some(Op::Write { mode: WriteMode::Conditional(_), .. }) => !clash.is_repeated(),
        Some(Op::Write { mode: WriteMode::Atomic, .. }) => adds_what_it_saw(clash),
        _ => false,
    };
    stored
        && clash.fed
        && overwrites
        && !is_in_cache(clash.entry, clash.act)
        && !auth_check_then_act::rule::claims(view, clash)
        && !non_atomic_rate_limit::rule::claims(view, clash)
        && !db_check_then_act::rule::claims(view, clash)
}

/// Whether what a column is changed by was computed from what stood in the same column before: `n = n + $1`, and `$1` from `n`.
fn adds_what_it_saw(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    if clash.overlap != Overlap::Sure {
        return false;
    }
    let (Some(Op::Write { from, .. }), Some(columns)) = (entry.op(clash.act), entry.columns(clash.act))
    else {
        return false;
    };
    let seen = |value: &Value| {
        entry.sources(*value).contains(&clash.look)
            && entry
                .field_of(*value)
                .is_some_and(|field| columns.iter().any(|column| same_name(column, &field)))
    };
    entry.made_of(from).iter().any(seen)
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    if matches!(clash.entry.op(clash.act), Some(Op::Write { mode: WriteMode::Atomic, .. })) {
        let message = format!(
            "by how much {thing} is changed was computed from what stood there before, so of two calls at once the second changes it by \
             what was right before the first"
        );
        let act = format!("changes {thing} by what it computed");
        return clash
            .told(message, &format!("reads {thing}"), &act, "it no longer fits what A has left")
            .no_surer_than(Confidence::Medium);
    }
    let message = format!(
        "{thing} is read, changed and written back as a whole, so of two calls at once one change is lost although both are answered \
         with success"
    );
    let issue =
        clash.told(message, &format!("reads {thing}"), &format!("writes {thing} back"), "A's change is gone");
    // An edit that replaces one file in one step leaves a whole file behind, and the loser can see it.
    match clash.entry.op(clash.act) {
        Some(Op::Rename { .. }) => issue.only(Severity::Medium),
        _ => issue,
    }
}
