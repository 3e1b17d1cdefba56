//! How both sides are measured: in turn, so that a busy moment of the machine hits both, and summed up by the median.

use std::time::Instant;

use anyhow::{Context, Result};
use tokio::{
    runtime::{Builder, Runtime},
    task::unconstrained,
};

use crate::row::Both;

/// How many calls one sample of something quick consists of. So few that most samples are over before anything interrupts them.
const BATCH: u32 = 1_000;

/// How many samples of something quick are taken of each side.
const SAMPLES: usize = 1_001;

/// Measures both sides in turn. Who goes first changes from round to round: the second runs on a machine the first has stirred.
pub(crate) async fn in_turn(
    rounds: usize,
    mut ours: impl AsyncFnMut() -> Result<f64>,
    mut peer: impl AsyncFnMut() -> Result<f64>,
) -> Result<Both> {
    let (mut of_ours, mut of_peer) = (Vec::new(), Vec::new());
    // The first is thrown away, until files and caches are warm.
    for round in 0..=rounds {
        let (our_value, peer_value) = if round % 2 == 0 {
            let our_value = ours().await?;
            (our_value, peer().await?)
        } else {
            let peer_value = peer().await?;
            (ours().await?, peer_value)
        };
        if round > 0 {
            of_ours.push(our_value);
            of_peer.push(peer_value);
        }
    }
    Ok(Both { ours: median(of_ours)?, peer: median(of_peer)? })
}

/// The nanoseconds that one call of each side takes, for calls so quick that the clock would be most of it.
///
/// Without tokio's habit of making a task that never waits give way now and then: only the peer would pay for it.
pub(crate) fn quick(ours: impl AsyncFnMut(), peer: impl AsyncFnMut()) -> Result<Both> {
    let (mut ours, mut peer) = (ours, peer);
    alone()?.block_on(unconstrained(in_turn(
        SAMPLES,
        async || Ok(batch(&mut ours).await),
        async || Ok(batch(&mut peer).await),
    )))
}

async fn batch(call: &mut impl AsyncFnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BATCH {
        call().await;
    }
    nanoseconds(start) / f64::from(BATCH)
}

/// Since then.
pub(crate) fn nanoseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9
}

/// Since then.
pub(crate) fn microseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// A runtime of one thread, in which nothing is handed from one thread to another.
pub(crate) fn alone() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().context("failed to start a runtime")
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> Result<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().context("there are no samples")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one_and_nothing_has_none() {
        assert_eq!(median(vec![9.0, 1.0, 5.0]).unwrap(), 5.0);
        assert!(median(vec![]).is_err());
    }

    #[test]
    fn the_sides_take_turns_and_the_first_round_does_not_count() {
        let order = std::cell::RefCell::new(String::new());
        let both = alone().unwrap().block_on(in_turn(
            3,
            async || {
                order.borrow_mut().push('o');
                Ok(if order.borrow().len() == 1 { 500.0 } else { 2.0 })
            },
            async || {
                order.borrow_mut().push('p');
                Ok(3.0)
            },
        ));
        let both = both.unwrap();
        assert_eq!((both.ours, both.peer), (2.0, 3.0));
        assert_eq!(*order.borrow(), "oppooppo");
    }
}
