//! Forgetting what has expired, a bounded piece at a time.

use interlock_sync::decide::REMEMBER_FENCE;
use rusqlite::Result;

use super::{super::values::moment, Tables, limit};

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Swept {
    /// How many entries it removed.
    pub(in super::super) removed: u64,
    /// Whether it stopped because it had removed as many as it may.
    pub(in super::super) more: bool,
}

impl Tables<'_, '_> {
    /// Removes at most so many expired entries of each kind.
    pub(in super::super) fn sweep(&self, most: usize) -> Result<Swept> {
        let now = moment(self.now);
        let lease_ended = now.saturating_sub_unsigned(REMEMBER_FENCE.as_micros() as u64);
        let mut swept = Swept { removed: 0, more: false };
        for (sql, expired) in [
            (
                "DELETE FROM op WHERE space = ?1 AND id IN
                    (SELECT id FROM op WHERE space = ?1 AND forget <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM rate WHERE space = ?1 AND key IN
                    (SELECT key FROM rate WHERE space = ?1 AND idle <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM lease WHERE space = ?1 AND key IN
                    (SELECT key FROM lease WHERE space = ?1 AND until <= ?2 AND fence <= ?2 LIMIT ?3)",
                lease_ended,
            ),
            (
                "DELETE FROM attempt WHERE space = ?1 AND key IN
                    (SELECT key FROM attempt WHERE space = ?1 AND forget <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM permit WHERE space = ?1 AND (key, holder) IN
                    (SELECT key, holder FROM permit WHERE space = ?1 AND until <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM call WHERE space = ?1 AND id IN
                    (SELECT id FROM call WHERE space = ?1 AND until <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM hold WHERE space = ?1 AND (kind, key, call) IN
                    (SELECT kind, key, call FROM hold WHERE space = ?1 AND until <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM wait WHERE space = ?1 AND (kind, key, ticket) IN
                    (SELECT kind, key, ticket FROM wait WHERE space = ?1 AND until <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM version WHERE space = ?1 AND key IN
                    (SELECT key FROM version WHERE space = ?1 AND forget <= ?2 LIMIT ?3)",
                now,
            ),
            (
                "DELETE FROM view WHERE space = ?1 AND (reader, key) IN
                    (SELECT reader, key FROM view WHERE space = ?1 AND forget <= ?2 LIMIT ?3)",
                now,
            ),
        ] {
            let removed = self.run(sql, (self.space, expired, limit(most)))?;
            swept.removed += removed as u64;
            swept.more |= removed >= most;
        }
        Ok(swept)
    }
}
