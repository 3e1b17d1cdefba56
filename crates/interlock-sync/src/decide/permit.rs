//! Who holds the permits of a key.

use std::time::Duration;

use crate::store::{OpId, PermitAnswer, PermitRequest, Timestamp};

/// A permit that is out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermitRow {
    /// Who holds it.
    pub holder: OpId,
    /// Until when, unless it is renewed.
    pub until: Timestamp,
}

/// Grants a permit if fewer than the limit are out. Expired rows are removed; a key without rows can be forgotten.
pub fn acquire_permit(rows: &mut Vec<PermitRow>, request: &PermitRequest, now: Timestamp) -> PermitAnswer {
    rows.retain(|row| row.until > now);
    let until = now.after(request.ttl);
    if let Some(own) = rows.iter_mut().find(|row| row.holder == request.holder) {
        own.until = until;
    } else if rows.len() < request.limit as usize {
        rows.push(PermitRow { holder: request.holder, until });
    } else {
        let retry_after = rows.iter().map(|row| row.until.since(now)).min().unwrap_or(request.ttl);
        return PermitAnswer::Full { in_use: in_use(rows), retry_after };
    }
    PermitAnswer::Granted { in_use: in_use(rows) }
}

/// Prolongs a permit; `false` if the holder has none any more.
pub fn renew_permit(rows: &mut [PermitRow], holder: OpId, ttl: Duration, now: Timestamp) -> bool {
    let own = rows.iter_mut().find(|row| row.holder == holder && row.until > now);
    own.map(|row| row.until = now.after(ttl)).is_some()
}

/// Gives a permit back; `false` if the holder had none any more.
pub fn release_permit(rows: &mut Vec<PermitRow>, holder: OpId, now: Timestamp) -> bool {
    rows.retain(|row| row.until > now);
    let before = rows.len();
    rows.retain(|row| row.holder != holder);
    rows.len() < before
}

fn in_use(rows: &[PermitRow]) -> u32 {
    u32::try_from(rows.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Key;

    const SECOND: Duration = Duration::from_secs(1);
    const START: Timestamp = Timestamp(1_000_000);

    fn ask(rows: &mut Vec<PermitRow>, holder: u128, now: Timestamp) -> PermitAnswer {
        let key = Key::new("caller").unwrap();
        acquire_permit(rows, &PermitRequest { key, holder: OpId(holder), limit: 2, ttl: SECOND }, now)
    }

    #[test]
    fn no_more_than_the_limit_are_out_and_a_lost_holder_s_permit_comes_back() {
        let mut rows = vec![];
        assert_eq!(ask(&mut rows, 1, START), PermitAnswer::Granted { in_use: 1 });
        assert_eq!(ask(&mut rows, 2, START.after(SECOND / 4)), PermitAnswer::Granted { in_use: 2 });
        let full = PermitAnswer::Full { in_use: 2, retry_after: SECOND / 2 };
        assert_eq!(ask(&mut rows, 3, START.after(SECOND / 2)), full);
        assert!(renew_permit(&mut rows, OpId(2), SECOND, START.after(SECOND / 2)));
        assert_eq!(ask(&mut rows, 3, START.after(SECOND)), PermitAnswer::Granted { in_use: 2 });
        assert!(!release_permit(&mut rows, OpId(1), START.after(SECOND)), "it ran out");
        assert!(release_permit(&mut rows, OpId(2), START.after(SECOND)));
        assert!(release_permit(&mut rows, OpId(3), START.after(SECOND)));
        assert!(rows.is_empty());
    }

    #[test]
    fn asking_again_takes_no_second_permit() {
        let mut rows = vec![];
        assert_eq!(ask(&mut rows, 1, START), PermitAnswer::Granted { in_use: 1 });
        assert_eq!(ask(&mut rows, 1, START), PermitAnswer::Granted { in_use: 1 });
    }
}
