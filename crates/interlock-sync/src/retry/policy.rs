//! How often, how late, and when no more.

use std::{num::NonZeroU32, time::Duration};

use super::chance::{Chance, up_to};

/// A policy of trying again: at most so many tries, pauses that double up to a cap and are drawn between nothing and that, and a time after
/// which no new try begins.
///
/// ```
/// use std::time::Duration;
/// use interlock_sync::retry::{Dice, Jitter, Retry};
///
/// let policy = Retry::times(5).first(Duration::from_millis(10)).cap(Duration::from_millis(50));
/// let steady: Vec<_> = policy.clone().jitter(Jitter::None).delays(Dice::fresh()).map(|pause| pause.as_millis()).collect();
/// assert_eq!(steady, [10, 20, 40, 50]);
/// assert!(policy.delays(Dice::fresh()).zip(steady).all(|(pause, most)| pause.as_millis() <= most));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    tries: NonZeroU32,
    first: Duration,
    cap: Duration,
    deadline: Option<Duration>,
    jitter: Jitter,
}

/// How a pause is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jitter {
    /// Drawn evenly between nothing and the whole pause: those who failed together do not come back together.
    Full,
    /// Not at all. For a caller that is alone.
    None,
}

impl Default for Retry {
    /// As many tries as there is time for in thirty seconds; pauses of up to 10 ms at first and 500 at last. Bounded by time and not by
    /// tries, because how many are lost among rivals depends on how many there are: of fifty, each loses dozens of times.
    fn default() -> Self {
        Self::for_as_long_as(Duration::from_secs(30))
            .first(Duration::from_millis(10))
            .cap(Duration::from_millis(500))
    }
}

impl Retry {
    /// So many tries in all, the first included; none counts as one. Pauses of up to 50 ms at first and 2 s at last, no deadline.
    #[must_use]
    pub fn times(tries: u32) -> Self {
        Self {
            tries: NonZeroU32::new(tries).unwrap_or(NonZeroU32::MIN),
            first: Duration::from_millis(50),
            cap: Duration::from_secs(2),
            deadline: None,
            jitter: Jitter::Full,
        }
    }

    /// Five tries within ten seconds; pauses of up to 50 ms, then 100, 200 and 400. For a store that does not answer: it is back soon, or
    /// whoever waits should be told.
    #[must_use]
    pub fn brief() -> Self {
        Self::times(5).within(Duration::from_secs(10))
    }

    /// One try.
    #[must_use]
    pub fn never() -> Self {
        Self::times(1)
    }

    /// As many tries as there is time for.
    #[must_use]
    pub fn for_as_long_as(deadline: Duration) -> Self {
        Self::times(u32::MAX).within(deadline)
    }

    /// The longest first pause; each later one is twice as long.
    #[must_use]
    pub fn first(self, first: Duration) -> Self {
        Self { first, ..self }
    }

    /// No pause is longer.
    #[must_use]
    pub fn cap(self, cap: Duration) -> Self {
        Self { cap, ..self }
    }

    /// No new try begins so long after the first one began. A try that is under way is not cut short.
    #[must_use]
    pub fn within(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Spreads the pauses otherwise.
    #[must_use]
    pub fn jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// How many tries at most.
    #[must_use]
    pub fn tries(&self) -> u32 {
        self.tries.get()
    }

    /// How long after the first try began no new one begins.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// The pauses between the tries: one fewer than there are tries, and ended earlier if they alone would pass the deadline.
    pub fn delays<C: Chance>(&self, chance: C) -> Delays<C> {
        Delays {
            policy: self.clone(),
            chance,
            next: self.first,
            left: self.tries.get() - 1,
            waited: Duration::ZERO,
        }
    }
}

/// The pauses of a [`Retry`].
#[derive(Debug, Clone)]
pub struct Delays<C> {
    policy: Retry,
    chance: C,
    next: Duration,
    left: u32,
    waited: Duration,
}

impl<C: Chance> Iterator for Delays<C> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let most = self.next.min(self.policy.cap);
        self.next = most.saturating_mul(2);
        let pause = match self.policy.jitter {
            Jitter::Full => {
                let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
                Duration::from_nanos(up_to(&mut self.chance, most))
            }
            Jitter::None => most,
        };
        self.waited = self.waited.saturating_add(pause);
        if self.policy.deadline.is_some_and(|deadline| self.waited >= deadline) {
            self.left = 0;
            return None;
        }
        Some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retry::Dice;

    const MS: Duration = Duration::from_millis(1);

    fn steady(policy: Retry) -> Vec<u128> {
        policy.jitter(Jitter::None).delays(Dice::seeded(0)).map(|pause| pause.as_millis()).collect()
    }

    #[test]
    fn pauses_double_up_to_the_cap_and_are_one_fewer_than_the_tries() {
        assert_eq!(steady(Retry::times(6).first(MS * 10).cap(MS * 60)), [10, 20, 40, 60, 60]);
        assert_eq!(steady(Retry::never()), []);
        assert_eq!(steady(Retry::times(0)), []);
    }

    #[test]
    fn pauses_that_would_pass_the_deadline_are_not_made() {
        assert_eq!(steady(Retry::for_as_long_as(MS * 100).first(MS * 10)), [10, 20, 40]);
        assert_eq!(steady(Retry::times(9).within(Duration::ZERO)), []);
    }

    #[test]
    fn pauses_are_drawn_from_the_whole_range_unless_told_otherwise() {
        let policy = Retry::times(2).first(MS * 100);
        let drawn: Vec<_> = (0..1000).filter_map(|seed| policy.delays(Dice::seeded(seed)).next()).collect();
        assert!(drawn.iter().all(|pause| *pause <= MS * 100));
        assert!(drawn.iter().any(|pause| *pause < MS * 5) && drawn.iter().any(|pause| *pause > MS * 95));
    }

    #[test]
    fn absurd_numbers_do_not_overflow() {
        let policy = Retry::times(200).first(Duration::MAX).cap(Duration::MAX);
        assert_eq!(policy.clone().delays(Dice::seeded(1)).count(), 199);
        assert_eq!(policy.jitter(Jitter::None).delays(Dice::seeded(1)).last(), Some(Duration::MAX));
    }
}
