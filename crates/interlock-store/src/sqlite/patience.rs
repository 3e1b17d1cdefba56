//! How long to wait for another process, and in which steps.

use std::{
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;

use super::fault::is_busy;

/// What the first step is chosen from: about as long as another process holds the file for one commit.
const FIRST: Duration = Duration::from_micros(250);

/// What later steps are chosen from at most. The file is free only for a moment between two commits, so waiting much longer than one
/// of them finds it free no more often.
const LONGEST: Duration = Duration::from_millis(4);

/// Longer than any process runs, and short enough to be added to a moment.
const FOR_EVER: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

/// The next step: any length up to a bound that doubles (full jitter), so that those who wait do not come back together.
pub(super) fn full_jitter(round: u32) -> Duration {
    let bound = FIRST.saturating_mul(1 << round.min(16)).min(LONGEST);
    // Without randomness the whole step is as good as any.
    let part = getrandom::u32().unwrap_or(u32::MAX);
    bound.mul_f64(f64::from(part) / f64::from(u32::MAX))
}

/// When a caller that comes now stops waiting.
pub(super) fn deadline(timeout: Duration) -> tokio::time::Instant {
    tokio::time::Instant::now() + timeout.min(FOR_EVER)
}

/// Makes a connection wait for other processes by itself, in such steps, so long and no longer.
pub(super) fn wait_when_busy(connection: &mut Connection, longest: Duration) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |round: i32| {
        if round == 0 {
            since = Instant::now();
        }
        let goes_on = since.elapsed() < longest;
        if goes_on {
            thread::sleep(full_jitter(round.unsigned_abs()));
        }
        goes_on
    }))
}

/// Makes a connection say at once that another process has the file.
pub(super) fn never_wait(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)
}

/// Tries again what SQLite refuses as busy without asking whether to wait, as it does when the journal mode changes.
pub(super) fn until_free<T>(
    longest: Duration,
    mut work: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let since = Instant::now();
    let mut round = 0;
    loop {
        match work() {
            Err(error) if is_busy(&error) && since.elapsed() < longest => thread::sleep(full_jitter(round)),
            end => return end,
        }
        round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_differ_and_stay_below_their_bound() {
        let firsts: Vec<Duration> = (0..100).map(|_| full_jitter(0)).collect();
        assert!(firsts.iter().all(|step| *step <= FIRST));
        assert!(firsts.iter().any(|step| *step != firsts[0]));
        assert!((0..u32::MAX).step_by(1 << 24).all(|round| full_jitter(round) <= LONGEST));
    }
}
