//! How far an attempt got.

use std::time::Duration;

use super::lease::next_fence;
use crate::store::{Attempt, Begun, Ending, Fence, Fingerprint, OpId, Stored, Timestamp};

/// What is stored of an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    /// What the request said.
    pub fingerprint: Fingerprint,
    /// Who is or was at it.
    pub owner: OpId,
    /// The fence of that attempt.
    pub fence: Fence,
    /// How far it got.
    pub phase: Phase,
    /// When the key is forgotten.
    pub forget: Timestamp,
}

/// How far an attempt got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// The effect has not started, and may not after this moment.
    Reserved(Timestamp),
    /// The effect may have started; after this moment nobody is known to be at it.
    Dispatched(Timestamp),
    /// It ended.
    Ended(Ending),
}

impl AttemptRow {
    /// Since when nobody knows how it ended; `None` if that is known, somebody is at it, or it is forgotten.
    #[must_use]
    pub fn in_doubt_since(&self, now: Timestamp) -> Option<Timestamp> {
        match self.phase {
            Phase::Dispatched(until) if until <= now && self.forget > now => Some(until),
            _ => None,
        }
    }
}

/// Reserves the key or says what became of it. The row is what to store; `None` leaves it as it is.
#[must_use]
pub fn begin(row: Option<&AttemptRow>, attempt: &Attempt, now: Timestamp) -> (Begun, Option<AttemptRow>) {
    let known = row.filter(|row| row.forget > now);
    let free = known.is_none_or(|row| matches!(row.phase, Phase::Reserved(until) if until <= now));
    if free {
        let fence = next_fence(row.map(|row| row.fence), now);
        let until = now.after(attempt.ttl);
        let forget = until.max(now.after(attempt.keep));
        let Attempt { fingerprint, owner, .. } = *attempt;
        let row = AttemptRow { fingerprint, owner, fence, phase: Phase::Reserved(until), forget };
        return (Begun::Reserved { fence }, Some(row));
    }
    let begun = match known {
        Some(row) if row.fingerprint != attempt.fingerprint => Begun::Mismatch,
        Some(AttemptRow { phase: Phase::Ended(ending), .. }) => {
            Begun::Ended(Stored { ending: ending.clone() })
        }
        Some(AttemptRow { phase: Phase::Reserved(_), owner, fence, .. }) if *owner == attempt.owner => {
            Begun::Reserved { fence: *fence }
        }
        Some(AttemptRow { phase: Phase::Dispatched(until), fence, .. }) if *until <= now => {
            Begun::InDoubt { fence: *fence }
        }
        Some(AttemptRow { phase: Phase::Reserved(until) | Phase::Dispatched(until), .. }) => {
            Begun::Running { retry_after: until.since(now) }
        }
        // A key that is not known is free.
        None => Begun::Mismatch,
    };
    (begun, None)
}

/// The row with the effect under way; `None` if the attempt is not held with this fence any more.
#[must_use]
pub fn dispatch(row: Option<&AttemptRow>, fence: Fence, ttl: Duration, now: Timestamp) -> Option<AttemptRow> {
    let row = row.filter(|row| row.fence == fence && row.forget > now)?;
    match row.phase {
        Phase::Reserved(until) | Phase::Dispatched(until) if until > now => {
            let until = now.after(ttl);
            Some(AttemptRow { phase: Phase::Dispatched(until), forget: row.forget.max(until), ..row.clone() })
        }
        _ => None,
    }
}

/// The row with its ending; `None` if the attempt is not held with this fence any more.
#[must_use]
pub fn finish(
    row: Option<&AttemptRow>,
    fence: Fence,
    ending: &Ending,
    keep: Duration,
    now: Timestamp,
) -> Option<AttemptRow> {
    let row = row.filter(|row| row.fence == fence && row.forget > now)?;
    let may = match &row.phase {
        Phase::Reserved(until) => *until > now,
        // Late, and still the only one: nobody takes over what was dispatched.
        Phase::Dispatched(_) => true,
        Phase::Ended(stored) => stored == ending,
    };
    may.then(|| AttemptRow { phase: Phase::Ended(ending.clone()), forget: now.after(keep), ..row.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Key;

    const SECOND: Duration = Duration::from_secs(1);
    const START: Timestamp = Timestamp(1_000_000_000);

    fn attempt(owner: u128, says: u8) -> Attempt {
        let key = Key::new("order-1").unwrap();
        Attempt {
            key,
            fingerprint: Fingerprint([says; 32]),
            owner: OpId(owner),
            ttl: SECOND,
            keep: SECOND * 60,
        }
    }

    fn reserved(row: Option<&AttemptRow>, owner: u128, now: Timestamp) -> AttemptRow {
        match begin(row, &attempt(owner, 1), now) {
            (Begun::Reserved { fence }, Some(row)) => {
                assert_eq!(row.fence, fence);
                row
            }
            other => panic!("{other:?} is no reservation"),
        }
    }

    fn done() -> Ending {
        Ending::Completed(b"paid".to_vec())
    }

    #[test]
    fn a_duplicate_waits_and_then_gets_the_stored_answer() {
        let row = reserved(None, 1, START);
        assert_eq!(begin(Some(&row), &attempt(2, 1), START).0, Begun::Running { retry_after: SECOND });
        let row = dispatch(Some(&row), row.fence, SECOND, START).unwrap();
        assert_eq!(begin(Some(&row), &attempt(2, 1), START).0, Begun::Running { retry_after: SECOND });
        let row = finish(Some(&row), row.fence, &done(), SECOND, START).unwrap();
        assert_eq!(begin(Some(&row), &attempt(2, 1), START).0, Begun::Ended(Stored { ending: done() }));
        let later = START.after(SECOND);
        assert!(matches!(begin(Some(&row), &attempt(2, 1), later).0, Begun::Reserved { .. }), "forgotten");
    }

    #[test]
    fn another_request_under_the_same_key_is_refused_at_every_stage() {
        let row = reserved(None, 1, START);
        let dispatched = dispatch(Some(&row), row.fence, SECOND, START).unwrap();
        let ended = finish(Some(&dispatched), row.fence, &done(), SECOND * 9, START).unwrap();
        for row in [row, dispatched, ended] {
            assert_eq!(begin(Some(&row), &attempt(1, 2), START), (Begun::Mismatch, None));
        }
    }

    #[test]
    fn a_reservation_that_ran_out_is_taken_over_and_its_owner_can_do_nothing_more() {
        let first = reserved(None, 1, START);
        let second = reserved(Some(&first), 2, START.after(SECOND));
        assert!(second.fence > first.fence);
        let now = START.after(SECOND);
        assert_eq!(dispatch(Some(&second), first.fence, SECOND, now), None);
        assert_eq!(finish(Some(&second), first.fence, &done(), SECOND, now), None);
        assert_eq!(
            dispatch(Some(&first), first.fence, SECOND, now),
            None,
            "also if nobody has taken over yet"
        );
    }

    #[test]
    fn what_was_dispatched_is_never_run_again_but_can_be_finished_late() {
        let row = reserved(None, 1, START);
        let row = dispatch(Some(&row), row.fence, SECOND, START).unwrap();
        let late = START.after(SECOND * 5);
        assert_eq!(begin(Some(&row), &attempt(2, 1), late), (Begun::InDoubt { fence: row.fence }, None));
        assert_eq!(dispatch(Some(&row), row.fence, SECOND, late), None);
        let row = finish(Some(&row), row.fence, &done(), SECOND, late).unwrap();
        assert_eq!(begin(Some(&row), &attempt(2, 1), late).0, Begun::Ended(Stored { ending: done() }));
    }

    #[test]
    fn every_step_can_be_sent_again() {
        let row = reserved(None, 1, START);
        assert_eq!(begin(Some(&row), &attempt(1, 1), START), (Begun::Reserved { fence: row.fence }, None));
        let row = dispatch(Some(&row), row.fence, SECOND, START).unwrap();
        assert_eq!(dispatch(Some(&row), row.fence, SECOND, START).as_ref(), Some(&row));
        let row = finish(Some(&row), row.fence, &done(), SECOND, START).unwrap();
        assert_eq!(finish(Some(&row), row.fence, &done(), SECOND, START).as_ref(), Some(&row));
        assert_eq!(
            finish(Some(&row), row.fence, &Ending::Failed(vec![]), SECOND, START),
            None,
            "it ended otherwise"
        );
    }
}
