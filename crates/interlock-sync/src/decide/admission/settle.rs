//! What becomes of a call's rows while it runs and when it ends.

use std::time::Duration;

use super::rows::{CallRow, VersionRow, ViewRow, is_fresh};
use crate::{
    decide::{AttemptRow, Phase, dispatch, finish},
    store::{Admission, Fence, OnceKey, OpId, Settlement, Timestamp},
};

/// The row of the idempotency key of a call that was granted: its effect counts as under way.
#[must_use]
pub fn hold_attempt(once: &OnceKey, admission: &Admission, fence: Fence, now: Timestamp) -> AttemptRow {
    let until = now.after(admission.ttl);
    AttemptRow {
        fingerprint: once.fingerprint,
        owner: admission.call,
        fence,
        phase: Phase::Dispatched(until),
        forget: until.max(now.after(once.keep)),
    }
}

/// The row of the idempotency key of a call that is prolonged; `None` if it is not held with this fence any more.
#[must_use]
pub fn prolong_attempt(
    row: Option<&AttemptRow>,
    fence: Fence,
    ttl: Duration,
    now: Timestamp,
) -> Option<AttemptRow> {
    dispatch(row, fence, ttl, now)
}

/// Whether a call that ends holds its locks and places still. One that says no fence never ran, so what it has or waits for, it has for
/// nothing.
#[must_use]
pub fn settle_call(row: Option<&CallRow>, settlement: &Settlement, now: Timestamp) -> bool {
    row.filter(|row| row.until() > now).is_some_and(|row| match (row, settlement.fence) {
        (CallRow::Holds { fence, .. }, Some(held)) => *fence == held,
        (CallRow::Waits { .. }, Some(_)) => false,
        (_, None) => true,
    })
}

/// The row of the idempotency key of a call that ends; `None` leaves it as it is. Also after its time ran out, if nobody took the key
/// since. A call that never ran leaves the key to the next.
#[must_use]
pub fn end_attempt(row: Option<&AttemptRow>, settlement: &Settlement, now: Timestamp) -> Option<AttemptRow> {
    let (_, ending, keep) = settlement.once.as_ref()?;
    match (settlement.fence, ending) {
        (Some(fence), Some(ending)) => finish(row, fence, ending, *keep, now),
        (Some(_), None) => None,
        (None, _) => {
            let is_own = |row: &&AttemptRow| {
                row.owner == settlement.call && matches!(row.phase, Phase::Dispatched(until) if until > now)
            };
            row.filter(is_own).map(|row| AttemptRow { phase: Phase::Reserved(now), ..row.clone() })
        }
    }
}

/// The row of a key that a call changed, with a new number for its version, and that of its reader's view if that is to change; `None` if
/// this very call raised it last, so that it was settled before.
#[must_use]
pub fn raise(
    version: Option<&VersionRow>,
    view: Option<&ViewRow>,
    settlement: &Settlement,
    number: u64,
    now: Timestamp,
) -> Option<(VersionRow, Option<ViewRow>)> {
    let by: OpId = settlement.call;
    if version.is_some_and(|row| row.by == by && row.forget > now) {
        return None;
    }
    let forget = now.after(settlement.remember);
    // Whoever did not know what it changed does not know what is there now.
    let knows = settlement.is_success && is_fresh(view, version, now);
    let raised =
        VersionRow { version: number, by, forget: version.map_or(forget, |row| row.forget.max(forget)) };
    Some((raised, knows.then_some(ViewRow { version: number, forget })))
}
