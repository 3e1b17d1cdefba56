//! Read, changed in memory, written back.

use interlock_model::{
    Severity,
    ir::{Op, Resource, WriteMode},
};

use crate::{
    Issue, auth_check_then_act,
    clash::{Clash, clashes},
    db_check_then_act, non_atomic_rate_limit,
    view::View,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    clashes(view).iter().filter(|clash| claims(view, clash)).map(issue).collect()
}

fn claims(view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let stored =
        matches!(clash.resource(), Some(Resource::File(_) | Resource::Row { .. } | Resource::Key(_)));
    let overwrites = match clash.entry.op(clash.act) {
        Some(Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. }) => true,
        Some(Op::Write { mode: WriteMode::Conditional(_), .. }) => !clash.is_repeated(),
        _ => false,
    };
    stored
        && clash.fed
        && overwrites
        && !auth_check_then_act::rule::claims(view, clash)
        && !non_atomic_rate_limit::rule::claims(view, clash)
        && !db_check_then_act::rule::claims(view, clash)
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
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
