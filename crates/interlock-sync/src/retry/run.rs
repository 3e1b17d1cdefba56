//! Applying a policy to something that may have to be tried again.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

use super::{Chance, Dice, Retry};
use crate::store::StoreError;

/// Whether an outcome is worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// No: it is final.
    No,
    /// Yes.
    Yes,
    /// Yes, but not earlier than that: what a refusal says about when to come back.
    After(Duration),
}

impl From<bool> for Again {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Where waiting and the time for it come from.
pub trait Timer: Sync {
    /// A pause. A type of its own, because a future that borrowed the timer could not be sent between threads.
    type Sleep: Future<Output = ()> + Send;

    /// How long it is since some moment in the past, always the same.
    fn elapsed(&self) -> Duration;

    /// Waits.
    fn sleep(&self, pause: Duration) -> Self::Sleep;
}

/// Tokio's time, which its tests can pause.
#[derive(Debug, Clone, Copy)]
pub struct TokioTimer(Instant);

impl Default for TokioTimer {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Timer for TokioTimer {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    type Sleep = tokio::time::Sleep;

    fn sleep(&self, pause: Duration) -> Self::Sleep {
        tokio::time::sleep(pause)
    }
}

/// Does something until its outcome is final or the policy is exhausted, and returns the last outcome. Errors and refusals alike are
/// tried again only if `again` says so: an outcome that it does not know is final.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// use interlock_sync::retry::{Again, Retry, retry};
///
/// let mut version = 0;
/// let save = || {
///     version += 1;
///     async move { if version < 3 { Err("conflict") } else { Ok(version) } }
/// };
/// let saved = retry(&Retry::times(3), save, |outcome| Again::from(*outcome == Err("conflict"))).await;
/// assert_eq!(saved, Ok(3));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Cancel safety
///
/// As that of `op`: dropping the future drops the try that is under way, or ends the pause.
pub async fn retry<T, F>(policy: &Retry, op: impl FnMut() -> F, again: impl FnMut(&T) -> Again) -> T
where
    F: Future<Output = T>,
{
    retry_with(policy, &mut Dice::fresh(), &TokioTimer::default(), op, again).await
}

/// The same, with time and chance as arguments.
pub async fn retry_with<T, F>(
    policy: &Retry,
    chance: &mut impl Chance,
    timer: &impl Timer,
    mut op: impl FnMut() -> F,
    mut again: impl FnMut(&T) -> Again,
) -> T
where
    F: Future<Output = T>,
{
    let began = timer.elapsed();
    let mut delays = policy.delays(chance);
    loop {
        let outcome = op().await;
        let least = match again(&outcome) {
            Again::No => return outcome,
            Again::Yes => Duration::ZERO,
            Again::After(least) => least,
        };
        // Those who were told the same time to come back are spread out as well.
        let Some(pause) = delays.next().map(|pause| pause.saturating_add(least)) else { return outcome };
        let spent = timer.elapsed().saturating_sub(began).saturating_add(pause);
        if policy.deadline().is_some_and(|deadline| spent >= deadline) {
            return outcome;
        }
        timer.sleep(pause).await;
    }
}

/// Sends an operation of a store until it has an answer. Only for operations that can be sent twice.
pub(crate) async fn retry_store<T, F>(policy: &Retry, op: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    retry(policy, op, |outcome| Again::from(outcome.as_ref().is_err_and(StoreError::is_retryable))).await
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::retry::Jitter;

    const SECOND: Duration = Duration::from_secs(1);

    /// Time that passes only by waiting, and by what a try takes.
    #[derive(Default)]
    struct FakeTimer(Mutex<Vec<Duration>>);

    impl FakeTimer {
        fn pass(&self, time: Duration) {
            self.0.lock().unwrap().push(time);
        }
    }

    impl Timer for FakeTimer {
        fn elapsed(&self) -> Duration {
            self.0.lock().unwrap().iter().sum()
        }

        type Sleep = std::future::Ready<()>;

        fn sleep(&self, pause: Duration) -> Self::Sleep {
            self.pass(pause);
            std::future::ready(())
        }
    }

    async fn run(policy: Retry, again: Again, each_takes: Duration) -> (u32, Vec<Duration>) {
        let (timer, mut tries) = (FakeTimer::default(), 0);
        let op = || {
            tries += 1;
            timer.pass(each_takes);
            std::future::ready(())
        };
        retry_with(&policy.jitter(Jitter::None), &mut Dice::seeded(1), &timer, op, |()| again).await;
        let waited = timer.0.into_inner().unwrap().into_iter().filter(|time| *time != each_takes);
        (tries, waited.collect())
    }

    #[tokio::test]
    async fn tries_are_bounded_by_number_and_by_time() {
        let policy = Retry::times(4).first(SECOND).cap(SECOND * 9);
        let waited = vec![SECOND, SECOND * 2, SECOND * 4];
        assert_eq!(run(policy.clone(), Again::Yes, Duration::ZERO).await, (4, waited));
        assert_eq!(run(policy.clone(), Again::No, Duration::ZERO).await, (1, vec![]));
        let slow = Duration::from_millis(2500);
        assert_eq!(
            run(policy.within(SECOND * 8), Again::Yes, slow).await,
            (2, vec![SECOND]),
            "tries take time too"
        );
    }

    #[tokio::test]
    async fn a_refusal_that_says_when_is_not_tried_earlier() {
        let policy = Retry::times(3).first(SECOND);
        let waited = vec![SECOND * 6, SECOND * 7];
        assert_eq!(run(policy.clone(), Again::After(SECOND * 5), Duration::ZERO).await, (3, waited));
        assert_eq!(
            run(policy.within(SECOND * 6), Again::After(SECOND * 5), Duration::ZERO).await,
            (1, vec![])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_outcome_is_returned_and_the_future_can_be_sent_between_threads() {
        let task = tokio::spawn(async {
            let mut left = 3;
            retry(
                &Retry::default(),
                || {
                    left -= 1;
                    async move {
                        tokio::task::yield_now().await;
                        if left == 0 { Ok("done") } else { Err(left) }
                    }
                },
                |outcome| outcome.is_err().into(),
            )
            .await
        });
        assert_eq!(task.await.unwrap(), Ok("done"));
    }
}
