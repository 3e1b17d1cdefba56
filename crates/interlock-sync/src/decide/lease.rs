//! Who holds a lease.

use std::time::Duration;

use crate::store::{Fence, LeaseAnswer, LeaseRequest, OpId, Refusal, Timestamp};

/// For how long the fence of a lease that has ended is remembered. Longer than a clock is ever set back by.
pub const REMEMBER_FENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// What is stored of a lease. It is kept after the lease has ended, because of its fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseRow {
    /// The fence of the last grant.
    pub fence: Fence,
    /// Who got it; `None` once it was given back, which no clock that is set back can undo.
    pub owner: Option<OpId>,
    /// When it ends or ended.
    pub until: Timestamp,
}

impl LeaseRow {
    /// When the row can be forgotten. Not before the fence's own time has passed as well: the clock may have been ahead when it was
    /// granted, and the next fence, which then starts from the clock, would be smaller.
    #[must_use]
    pub fn forget(&self) -> Timestamp {
        self.until.max(Timestamp(self.fence.0)).after(REMEMBER_FENCE)
    }

    fn is_live(&self, now: Timestamp) -> bool {
        self.owner.is_some() && self.until > now
    }
}

/// Grants a lease that nobody holds. The row is what to store; `None` leaves it as it is.
#[must_use]
pub fn acquire_lease(
    row: Option<&LeaseRow>,
    request: &LeaseRequest,
    now: Timestamp,
) -> (LeaseAnswer, Option<LeaseRow>) {
    let until = now.after(request.ttl);
    match row {
        Some(held) if held.is_live(now) && held.owner != Some(request.owner) => {
            (LeaseAnswer::Held { fence: held.fence, retry_after: held.until.since(now) }, None)
        }
        Some(own) if own.is_live(now) => {
            (LeaseAnswer::Granted { fence: own.fence }, Some(LeaseRow { until, ..*own }))
        }
        ended => {
            let fence = next_fence(ended.map(|row| row.fence), now);
            (LeaseAnswer::Granted { fence }, Some(LeaseRow { fence, owner: Some(request.owner), until }))
        }
    }
}

/// The row with more time; `None` if the lease is not held with this fence any more.
#[must_use]
pub fn renew_lease(row: Option<&LeaseRow>, fence: Fence, ttl: Duration, now: Timestamp) -> Option<LeaseRow> {
    held(row, fence, now).map(|row| LeaseRow { until: now.after(ttl), ..*row })
}

/// The row with its lease ended; `None` if it was not held with this fence any more.
#[must_use]
pub fn release_lease(row: Option<&LeaseRow>, fence: Fence, now: Timestamp) -> Option<LeaseRow> {
    held(row, fence, now).map(|row| LeaseRow { owner: None, until: now, ..*row })
}

/// Whether a write under this fence may take effect now.
///
/// # Errors
///
/// The refusal, if the lease is not held with this fence any more.
pub fn check_fence(row: Option<&LeaseRow>, fence: Fence, now: Timestamp) -> Result<(), Refusal> {
    match held(row, fence, now) {
        Some(_) => Ok(()),
        None => Err(Refusal::Fenced { current: row.filter(|row| row.is_live(now)).map(|row| row.fence) }),
    }
}

/// A fence greater than the last, also if the clock was set back, and also if the last was forgotten.
pub(super) fn next_fence(last: Option<Fence>, now: Timestamp) -> Fence {
    Fence(last.map_or(0, |fence| fence.0.saturating_add(1)).max(now.0))
}

fn held(row: Option<&LeaseRow>, fence: Fence, now: Timestamp) -> Option<&LeaseRow> {
    row.filter(|row| row.fence == fence && row.is_live(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Key;

    const SECOND: Duration = Duration::from_secs(1);
    const START: Timestamp = Timestamp(1_000_000_000);

    fn request(owner: u128) -> LeaseRequest {
        LeaseRequest { key: Key::new("k").unwrap(), owner: OpId(owner), ttl: SECOND }
    }

    fn granted(row: Option<&LeaseRow>, owner: u128, now: Timestamp) -> LeaseRow {
        match acquire_lease(row, &request(owner), now) {
            (LeaseAnswer::Granted { fence }, Some(row)) => {
                assert_eq!(row.fence, fence);
                row
            }
            other => panic!("{other:?} is no grant"),
        }
    }

    #[test]
    fn a_lease_is_held_until_its_time_is_up_and_then_the_fence_rises() {
        let first = granted(None, 1, START);
        let (answer, row) = acquire_lease(Some(&first), &request(2), START.after(SECOND / 2));
        assert_eq!(answer, LeaseAnswer::Held { fence: first.fence, retry_after: SECOND / 2 });
        assert_eq!(row, None);
        let second = granted(Some(&first), 2, START.after(SECOND));
        assert!(second.fence > first.fence);
        assert!(
            check_fence(Some(&second), first.fence, START.after(SECOND)).is_err(),
            "the late owner is refused"
        );
        assert!(check_fence(Some(&second), second.fence, START.after(SECOND)).is_ok());
    }

    #[test]
    fn asking_again_with_the_same_owner_gives_the_same_grant() {
        let first = granted(None, 1, START);
        let again = granted(Some(&first), 1, START.after(SECOND / 2));
        assert_eq!(again.fence, first.fence);
        assert_eq!(again.until, START.after(SECOND / 2 + SECOND));
    }

    #[test]
    fn an_expired_lease_fences_its_owner_also_if_nobody_else_came() {
        let first = granted(None, 1, START);
        assert_eq!(
            check_fence(Some(&first), first.fence, first.until),
            Err(Refusal::Fenced { current: None })
        );
        assert_eq!(renew_lease(Some(&first), first.fence, SECOND, first.until), None);
        assert_eq!(release_lease(Some(&first), first.fence, first.until), None);
    }

    #[test]
    fn the_fence_never_goes_back_whatever_the_clock_does() {
        let first = granted(None, 1, START);
        let long_ago = Timestamp(5);
        let ended = release_lease(Some(&first), first.fence, START).unwrap();
        assert_eq!(granted(Some(&ended), 2, long_ago).fence, Fence(first.fence.0 + 1));
    }

    #[test]
    fn a_lease_that_was_given_back_stays_so_when_the_clock_is_set_back() {
        let first = granted(None, 1, START);
        let ended = release_lease(Some(&first), first.fence, START.after(SECOND / 2)).unwrap();
        let refused = Err(Refusal::Fenced { current: None });
        assert_eq!(check_fence(Some(&ended), first.fence, START), refused);
        assert_eq!(renew_lease(Some(&ended), first.fence, SECOND, START), None);
        assert_eq!(release_lease(Some(&ended), first.fence, START), None);
        assert!(granted(Some(&ended), 1, START).fence > first.fence, "not even its owner has it still");
    }

    #[test]
    fn a_fence_from_a_clock_that_was_ahead_is_remembered_until_that_time_has_passed() {
        let ahead = granted(None, 1, START.after(REMEMBER_FENCE * 3));
        let ended = release_lease(Some(&ahead), ahead.fence, START).unwrap();
        assert_eq!(ended.forget(), START.after(REMEMBER_FENCE * 4));
    }
}
