//! How the two sides are measured: alternating, so that a busy moment of the machine hits both, and summed up by the median,
//! so that one such moment does not decide.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

/// How often each side runs.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    /// Rounds that are thrown away, until files and caches are warm.
    pub(super) warm_up: usize,
    pub(super) rounds: usize,
}

/// The medians of both sides.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Medians {
    pub(super) ours: Duration,
    pub(super) peer: Duration,
}

/// Measures both sides in turn. Who goes first changes from round to round: the second runs on a machine the first has stirred.
pub(super) fn interleave(
    plan: Plan,
    mut ours: impl FnMut() -> Result<Duration>,
    mut peer: impl FnMut() -> Result<Duration>,
) -> Result<Medians> {
    let (mut of_ours, mut of_peer) = (Vec::new(), Vec::new());
    for round in 0..plan.warm_up + plan.rounds {
        let (our_time, peer_time) = if round % 2 == 0 {
            let our_time = ours()?;
            (our_time, peer()?)
        } else {
            let peer_time = peer()?;
            (ours()?, peer_time)
        };
        if round >= plan.warm_up {
            of_ours.push(our_time);
            of_peer.push(peer_time);
        }
    }
    let median = |times| median(times).context("a benchmark needs at least one round");
    Ok(Medians { ours: median(of_ours)?, peer: median(of_peer)? })
}

/// How long a program takes from start to end, its output thrown away. It must succeed: a failure is quick and proves nothing.
pub(super) fn wall_time(command: &mut Command) -> Result<Duration> {
    wall_time_of(command, &[0])
}

/// The same for a program whose exit code says more than that it failed: these are fine.
pub(super) fn wall_time_of(command: &mut Command, fine: &[i32]) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status();
    let time = start.elapsed();
    let status = status.with_context(|| format!("{command:?} could not be started"))?;
    ensure!(
        status.code().is_some_and(|code| fine.contains(&code)),
        "{command:?} failed ({status}), so its time means nothing; run it by hand to see why"
    );
    Ok(time)
}

/// A duration for a table.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    let upper = *times.get(times.len() / 2)?;
    if times.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *times.get(times.len() / 2 - 1)?;
    Some((lower + upper) / 2)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_two_in_the_middle() {
        let of = |millis: &[u64]| median(millis.iter().map(|&n| Duration::from_millis(n)).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[9, 1, 5]), Some(Duration::from_millis(5)));
        assert_eq!(of(&[9, 1, 3, 5]), Some(Duration::from_millis(4)));
    }

    #[test]
    fn the_sides_take_turns_and_the_warm_up_does_not_count() {
        let order = RefCell::new(String::new());
        let side = |mark: char, first: u64, later: u64| {
            let order = &order;
            let mut calls = 0;
            move || {
                order.borrow_mut().push(mark);
                calls += 1;
                Ok(Duration::from_millis(if calls == 1 { first } else { later }))
            }
        };
        let plan = Plan { warm_up: 1, rounds: 3 };
        let medians = interleave(plan, side('o', 500, 2), side('p', 900, 3)).unwrap();
        assert_eq!(medians, Medians { ours: Duration::from_millis(2), peer: Duration::from_millis(3) });
        assert_eq!(*order.borrow(), "oppooppo");
    }

    #[test]
    fn a_program_that_fails_is_not_measured() {
        assert!(wall_time(Command::new("sh").args(["-c", "exit 0"])).is_ok());
        assert!(wall_time(Command::new("sh").args(["-c", "exit 3"])).is_err());
    }
}
