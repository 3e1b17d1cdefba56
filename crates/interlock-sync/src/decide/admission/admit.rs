//! The decision on a call that wants to run.

use std::time::Duration;

use super::rows::{CallRow, InUse, Rows, is_fresh, next_number};
use crate::{
    decide::begin,
    store::{Admission, Admitted, Attempt, Begun, Fence, Key, OnceKey, Places, Timestamp, WaitsOn},
};

/// What was decided, and what is to be written because of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The answer.
    pub answer: Admitted,
    /// What becomes of the rate limits.
    pub charging: Charging,
    /// What becomes of the call.
    pub standing: Standing,
}

/// What becomes of the rate limits of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charging {
    /// Nothing: it was charged before.
    Nothing,
    /// Nothing is charged. Those that have no room are still asked for one, which puts right what a clock that was set back has left.
    Correct,
    /// Each is charged one.
    Charge,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has nothing and stands nowhere, as before.
    Nowhere,
    /// It stood in line, and leaves all its lines.
    Leaves,
    /// It stands in the line of every lock and place, with this ticket: the last number that was given out, if it had none before.
    Waits {
        /// Its ticket.
        ticket: u64,
        /// When it loses its place, unless it asks again.
        until: Timestamp,
    },
    /// It leaves all lines and holds everything; the reader has seen what it observes. The fence is the last number that was given out.
    Holds {
        /// Its fence.
        fence: Fence,
        /// Until then, unless it is prolonged.
        until: Timestamp,
    },
    /// It held everything already, and does so until then.
    HoldsOn {
        /// Until then, unless it is prolonged.
        until: Timestamp,
    },
}

/// Decides whether a call may run now.
///
/// # Errors
///
/// When a row could not be read.
pub fn admit<R: Rows>(rows: &R, admission: &Admission, now: Timestamp) -> Result<Decision, R::Error> {
    let ticket = match rows.call(admission.call)?.filter(|row| row.until() > now) {
        Some(CallRow::Holds { fence, .. }) => {
            let standing = Standing::HoldsOn { until: now.after(admission.ttl) };
            let answer = Admitted::Granted { fence };
            return Ok(Decision { answer, charging: Charging::Nothing, standing });
        }
        Some(CallRow::Waits { ticket, .. }) => Some(ticket),
        None => None,
    };
    let mut charging = Charging::Nothing;
    if !admission.is_again && ticket.is_none() {
        if let Some((key, wait)) = longest_wait(rows, admission)? {
            let answer = Admitted::TooOften { key: key.clone(), retry_after: Some(wait) };
            return Ok(Decision { answer, charging: Charging::Correct, standing: Standing::Nowhere });
        }
        charging = Charging::Charge;
    }
    let last = rows.last_number()?;
    let answer = verdict(rows, admission, ticket, last, now)?;
    let standing = match &answer {
        Admitted::Granted { fence } => Standing::Holds { fence: *fence, until: now.after(admission.ttl) },
        Admitted::Waits { on: WaitsOn::Locks(_) | WaitsOn::Place(_), .. }
            if admission.patience > Duration::ZERO =>
        {
            let ticket = ticket.unwrap_or_else(|| next_number(last, now));
            Standing::Waits { ticket, until: now.after(admission.patience) }
        }
        _ if ticket.is_some() => Standing::Leaves,
        _ => Standing::Nowhere,
    };
    Ok(Decision { answer, charging, standing })
}

/// The rate limit that refuses for the longest time: when that one has room again, the others have.
fn longest_wait<'a, R: Rows>(
    rows: &R,
    admission: &'a Admission,
) -> Result<Option<(&'a Key, Duration)>, R::Error> {
    let mut longest = None;
    for charge in &admission.charges {
        if let Some(wait) = rows.wait(charge)?
            && longest.is_none_or(|(_, known)| wait > known)
        {
            longest = Some((&charge.key, wait));
        }
    }
    Ok(longest)
}

/// The answer to a call that holds nothing yet and has not come too often.
fn verdict<R: Rows>(
    rows: &R,
    admission: &Admission,
    ticket: Option<u64>,
    last: u64,
    now: Timestamp,
) -> Result<Admitted, R::Error> {
    let mut fence = next_number(last, now);
    if let Some(once) = &admission.once {
        let row = rows.attempt(&once.key)?;
        match begin(row.as_ref(), &attempt(once, admission), now).0 {
            Begun::Reserved { .. } => {}
            Begun::Running { retry_after } => {
                return Ok(Admitted::Waits { on: WaitsOn::Same(once.key.clone()), ahead: 0, retry_after });
            }
            Begun::Ended(stored) => return Ok(Admitted::Ended(stored)),
            Begun::Mismatch => return Ok(Admitted::Mismatch),
            Begun::InDoubt { .. } => return Ok(Admitted::InDoubt),
        }
        fence = row.map_or(fence, |row| fence.max(row.fence.0.saturating_add(1)));
    }
    if let Some(waits) = obstacle(rows, admission, ticket, now)? {
        return Ok(waits);
    }
    let mut stale = vec![];
    for key in &admission.requires_fresh {
        let view = match &admission.reader {
            Some(reader) => rows.view(reader, key)?,
            None => None,
        };
        if !is_fresh(view.as_ref(), rows.version(key)?.as_ref(), now) {
            stale.push((key.clone(), view.is_some_and(|view| view.forget > now)));
        }
    }
    if stale.is_empty() {
        Ok(Admitted::Granted { fence: Fence(fence) })
    } else {
        Ok(Admitted::Stale { keys: stale })
    }
}

/// What keeps a call from its locks and places: those who have them, and those who came before and are still there. Nobody is overtaken at
/// any key, so of all who wait the one that came first is only kept back by holders, and there is no circle.
fn obstacle<R: Rows>(
    rows: &R,
    admission: &Admission,
    ticket: Option<u64>,
    now: Timestamp,
) -> Result<Option<Admitted>, R::Error> {
    let mut ahead = 0;
    let mut locked: Option<(Vec<Key>, Timestamp)> = None;
    for wish in &admission.locks {
        let before = rows.lock(wish, ticket)?;
        ahead = ahead.max(before.ahead);
        if let Some(until) = before.held_until.or(before.line_until) {
            let (keys, last) = locked.get_or_insert((vec![], until));
            keys.push(wish.key.clone());
            *last = until.max(*last);
        }
    }
    let mut full = None;
    for places in &admission.places {
        let in_use = rows.place(places, ticket)?;
        ahead = ahead.max(in_use.ahead);
        if let (None, Some(until)) = (&full, full_until(places, &in_use, now.after(admission.ttl))) {
            full = Some((&places.key, until));
        }
    }
    let (on, until) = match (locked, full) {
        (Some((keys, until)), _) => (WaitsOn::Locks(keys), until),
        (None, Some((key, until))) => (WaitsOn::Place(key.clone()), until),
        (None, None) => return Ok(None),
    };
    Ok(Some(Admitted::Waits { on, ahead, retry_after: until.since(now) }))
}

/// When there may be a place, if there is none now: those who came before are left one each.
fn full_until(places: &Places, in_use: &InUse, at_worst: Timestamp) -> Option<Timestamp> {
    if in_use.count >= places.limit {
        return Some(in_use.first_end.unwrap_or(at_worst));
    }
    let is_spoken_for = in_use.count.saturating_add(in_use.ahead) >= places.limit;
    is_spoken_for.then(|| in_use.line_until.unwrap_or(at_worst))
}

fn attempt(once: &OnceKey, admission: &Admission) -> Attempt {
    let OnceKey { key, fingerprint, keep } = once.clone();
    Attempt { key, fingerprint, owner: admission.call, ttl: admission.ttl, keep }
}
