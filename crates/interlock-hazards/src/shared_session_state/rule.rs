//! Session or per-user state in a shared map, read and then written after a suspension.

use interlock_model::ir::{Field, Op, Origin, Resource, WriteMode};

use crate::{
    Issue,
    clash::{Clash, clashes},
    duplicate_load,
    fields::mentions,
    non_atomic_rate_limit,
    view::View,
};

/// What sessions and users are called.
const PERSONAL: &[&str] = &["session", "user", "caller", "client", "tenant", "conversation", "connection"];

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let claimed = found.iter().filter(|clash| {
        claims(view, clash)
            && !non_atomic_rate_limit::rule::claims(view, clash)
            && !duplicate_load::rule::claims(view, clash)
    });
    claimed.map(issue).collect()
}

/// Whether it is an entry that belongs to a session or a user.
pub(crate) fn claims(_view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let Some(Resource::Shared(path)) = clash.resource() else { return false };
    if !entry.is_shared(path) || !replaces(clash) {
        return false;
    }
    path.fields.iter().any(|field| match field {
        Field::At(key) => {
            let owned = |value| matches!(entry.origin(value), Some(Origin::Session | Origin::Caller));
            entry.values_in(key).into_iter().any(owned) || mentions(&entry.path_text(path), PERSONAL)
        }
        Field::Name(_) => false,
    })
}

/// Whether the act puts something in place of what was there.
pub(crate) fn replaces(clash: &Clash<'_, '_>) -> bool {
    match clash.entry.op(clash.act) {
        // Something that was there and is set to nothing was taken down, which two may do; a state that was compared and is left was
        // trusted. That something has failed is news, whatever the state was.
        Some(Op::Write { mode: WriteMode::Blind, .. }) => {
            let compared = |check| matches!(clash.entry.op(check), Some(Op::Check { equal: Some(_), .. }));
            clash.fed || clash.check.is_some_and(compared) && !clash.entry.is_recovery(clash.act)
        }
        _ => false,
    }
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    let message = format!(
        "{thing} is read, and written after a suspension, so of two calls of one session the first one's change is lost"
    );
    clash.told(message, &format!("reads {thing}"), &format!("writes {thing}"), "A's change is gone")
}
