//! The time of all processes that share a file.
//!
//! A clock that is set back must not keep what a dead process holds for as long as it was set back by. So the time goes on with the steady
//! clock of the machine, which cannot be set, and how far that is behind the time of day is in the file, for all processes to go by. If the
//! time of day is set forwards it is followed: what is held may then end early, and nothing is held too long.

use std::sync::atomic::{AtomicU64, Ordering};

use interlock_sync::{
    clock::{Clock, SteadyClock, SystemClock},
    store::Timestamp,
};
use rusqlite::{Connection, OptionalExtension};

/// By so much the time of day may run ahead without having been set: what it is corrected by bit by bit.
const TOLERANCE: u64 = 1_000_000;

/// A clock that is only ever set forwards.
#[derive(Debug)]
pub(super) struct SharedClock {
    /// How far the time is ahead of the steady clock, in µs.
    ahead: AtomicU64,
}

impl SharedClock {
    /// The clock of a file, for as long as the machine runs: after a start the steady clock begins anew, and another one is kept.
    pub(super) fn open(connection: &Connection) -> rusqlite::Result<Self> {
        let mine = SystemClock.now().0.saturating_sub(SteadyClock.now().0);
        let boot = boot_id();
        let of_file: Option<u64> = connection
            .query_row("SELECT ahead FROM clock WHERE boot = ?1", [&boot], |row| row.get(0))
            .optional()?;
        // Mostly nothing was set, and nobody has to wait for the file.
        if let Some(of_file) = of_file.filter(|of_file| mine <= of_file.saturating_add(TOLERANCE)) {
            return Ok(Self { ahead: AtomicU64::new(of_file) });
        }
        let ahead = of_file.unwrap_or_default().max(mine);
        // Compared once more, because another process may be here at the same moment.
        connection.execute(
            "INSERT INTO clock (id, boot, ahead) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE
                SET boot = excluded.boot, ahead = excluded.ahead WHERE boot <> excluded.boot OR ahead < excluded.ahead",
            (&boot, ahead),
        )?;
        Ok(Self { ahead: AtomicU64::new(ahead) })
    }

    fn at(&self, steady: Timestamp, of_day: Timestamp) -> Timestamp {
        let mine = of_day.0.saturating_sub(steady.0);
        let ahead = self.ahead.load(Ordering::Relaxed);
        if mine > ahead.saturating_add(TOLERANCE) {
            return Timestamp(
                steady.0.saturating_add(self.ahead.fetch_max(mine, Ordering::Relaxed).max(mine)),
            );
        }
        Timestamp(steady.0.saturating_add(ahead))
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        self.at(SteadyClock.now(), SystemClock.now())
    }
}

/// What tells this run of the machine from others. Where there is nothing, processes go by the file alone, and a start of the machine is told
/// by nothing: the time of day then says how far ahead it is.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{super::schema, *};

    const HOUR: u64 = 3_600_000_000;

    #[test]
    fn a_clock_that_is_set_back_goes_on_and_one_that_is_set_forwards_is_followed() {
        let clock = SharedClock { ahead: AtomicU64::new(10 * HOUR) };
        assert_eq!(clock.at(Timestamp(5), Timestamp(10 * HOUR + 5)), Timestamp(10 * HOUR + 5));
        assert_eq!(clock.at(Timestamp(6), Timestamp(9 * HOUR)), Timestamp(10 * HOUR + 6), "set back");
        assert_eq!(
            clock.at(Timestamp(7), Timestamp(12 * HOUR + 7)),
            Timestamp(12 * HOUR + 7),
            "set forwards"
        );
        assert_eq!(clock.at(Timestamp(8), Timestamp(9 * HOUR)), Timestamp(12 * HOUR + 8), "and back again");
    }

    /// Processes that open the file after the clock was set back agree with those that opened it before.
    #[test]
    fn the_clock_of_the_file_is_that_of_whoever_was_furthest() {
        let connection = Connection::open_in_memory().unwrap();
        schema::migrate(&connection, "in memory".as_ref()).unwrap();
        let first = SharedClock::open(&connection).unwrap();
        connection.execute("UPDATE clock SET ahead = ahead + ?1", [HOUR]).unwrap();
        let second = SharedClock::open(&connection).unwrap();
        assert!(second.now().since(first.now()) > std::time::Duration::from_secs(3_500));
        connection.execute("UPDATE clock SET boot = 'another', ahead = ahead + ?1", [HOUR]).unwrap();
        let after_a_start = SharedClock::open(&connection).unwrap();
        assert!(after_a_start.now() < second.now(), "the steady clock began anew");
    }
}
