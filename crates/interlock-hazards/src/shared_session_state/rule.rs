//! Session or per-user state in a shared map, read and then written after a suspension.

use interlock_model::ir::{Field, Origin, Resource};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed},
    decision::needs,
    fields::mentions,
    view::View,
};

use super::HAZARD;

/// What sessions and users are called.
const PERSONAL: &[&str] = &["session", "user", "caller", "client", "tenant", "conversation", "connection"];

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    claimed(view, Claim::SessionState).iter().map(|pair| pair.settle(&HAZARD.id, issue(pair))).collect()
}

/// Whether it is an entry that belongs to a session or a user.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let Some(Resource::Shared(path)) = pair.resource().filter(|_| pair.is_shared()) else {
        return Err(Reason::OutOfScope);
    };
    let is_personal = path.fields.iter().any(|field| match field {
        Field::At(key) => {
            let owned = |value| matches!(entry.origin(value), Some(Origin::Session | Origin::Caller));
            entry.values_in(key).into_iter().any(owned) || mentions(&entry.path_text(path), PERSONAL)
        }
        Field::Name(_) => false,
    });
    needs(is_personal, Reason::OutOfScope)?;
    needs(pair.replaces(), Reason::NotReplaced)
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    let message = format!(
        "{thing} is read, and written after a suspension, so of two calls of one session the first one's change is lost"
    );
    pair.report(message, &format!("reads {thing}"), &format!("writes {thing}"), "A's change is gone")
}
