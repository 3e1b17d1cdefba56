//! Atomicity violation on the state of one session or user, kept in a map that all calls share.
//!
//! Reported:
//! ```text
//! const session = sessions.get(sessionId);          // reported here
//! const answer = await ask(session.history);
//! sessions.set(sessionId, { history: [...session.history, answer] });
//!
//! const after = cursors.get(sessionId);             // reported here: two calls get the same page
//! const page = await db.all("SELECT * FROM notes WHERE id > ?", after);
//! cursors.set(sessionId, page.at(-1).id);
//! ```
//! Not reported:
//! ```text
//! const answer = await ask(text);
//! sessions.get(sessionId).history.push(answer);     // changed where it is, with no suspension
//! ```
//!
//! The same of state that belongs to nobody is `stale-read-across-await`, by the same reasoning. A setting that is switched for one call is in
//! `switched.rs`, one server with many transports in `connected.rs`.

use interlock_model::ir::{Field, Origin, Resource};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed},
    decision::needs,
    lexicon::Topic,
    view::View,
};

use super::{HAZARD, connected::connected, switched::switched};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let claimed = claimed(view, Claim::SessionState);
    let pairs = claimed.iter().map(|pair| pair.settle(&HAZARD.id, issue(pair)));
    pairs.chain(switched(view)).chain(connected(view)).collect()
}

/// Whether it is an entry that belongs to a session or a user.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let Some(Resource::Shared(path)) = pair.resource().filter(|_| pair.is_shared()) else {
        return Err(Reason::OutOfScope);
    };
    let is_personal = path.fields.iter().any(|field| match field {
        Field::At(key) => {
            let owned = |value| matches!(entry.flow().origin(value), Some(Origin::Session | Origin::Caller));
            entry.flow().values_in(key).into_iter().any(owned)
                || entry.lexicon().has_inside(Topic::Personal, &entry.path_text(path))
        }
        Field::Name(_) => false,
    });
    needs(is_personal, Reason::OutOfScope)?;
    needs(pair.replaces() || pair.moves_on(), Reason::NotReplaced)
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    let message = format!(
        "{thing} is read, and written after a suspension, so of two calls of one session the first one's change is lost"
    );
    pair.report(message, &format!("reads {thing}"), &format!("writes {thing}"), "A's change is gone")
}
