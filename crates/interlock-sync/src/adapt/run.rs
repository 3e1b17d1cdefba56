//! Running a call that was let in, once if it says which call it is, and to its end whoever goes away meanwhile.

use std::{future::Future, mem, sync::Arc, time::Duration};

use tokio::{sync::oneshot, time::sleep};

use super::{
    admit::{Arrived, Turn},
    detach::{Detached, GivenUp},
    limits::{Once, unanswered},
    refusal::{CallRefusal, RefusalReason},
};
use crate::{
    events,
    idempotency::{EffectContext, Failure, Ran},
    race::{First, race},
    store::{Ending, Fingerprint, Key, StoreError},
};

/// For how long a store tells that an attempt came to nothing. Then the key is free.
const UNTIL_FREE: Duration = Duration::from_millis(2);

/// An answer that can be stored, and told again to a call with the same idempotency key.
pub trait Answer: Sized + Send + 'static {
    /// What to store. `None` if the call has not taken effect and is not over, for instance because it asks for more input: then the key
    /// is free again.
    fn to_stored(&self) -> Option<Vec<u8>>;

    /// The answer that was stored; `None` if it cannot be read.
    fn from_stored(stored: &[u8]) -> Option<Self>;
}

/// What became of a call.
#[derive(Debug)]
#[must_use = "whoever called has to be told"]
pub enum CallOutcome<T> {
    /// It ran, and this is its answer.
    Answered(T),
    /// It ran before, and this was its answer.
    Replayed(T),
    /// It has no answer.
    Refused(CallRefusal),
}

/// What the one attempt that ran left behind, besides what was stored.
enum Attempt<W, T> {
    /// It was not its turn.
    Not(W),
    Refused(RefusalReason),
    Answered(T),
    Empty,
}

impl Arrived {
    /// Runs the call when it is its turn, and returns its answer; for a call with an idempotency key that was made before, the answer
    /// that was stored then. `work` is not called unless the call starts, and is told what idempotency knows of the attempt.
    ///
    /// `cancelled` is for protocols that say so when a call is cancelled: then a call that has not started does not start. One that has
    /// started is not affected.
    ///
    /// # Panics
    ///
    /// If `work` does: then everything is given back, and an idempotency key is left in doubt. Outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before the call has started, the call does not start, and an idempotency key is free again. If it is dropped
    /// afterwards, the call runs on in a task of its own, and holds what it holds until it has ended. One that waits for the answer of an
    /// earlier call goes on waiting, within its time, without a place or a lock.
    pub async fn run<T, W, F>(
        self,
        cancelled: impl Future<Output = ()> + Send + 'static,
        work: W,
    ) -> CallOutcome<T>
    where
        T: Answer,
        W: FnOnce(Option<EffectContext>) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        if let Err(reason) = self.charge().await {
            return CallOutcome::Refused(self.refuse(reason));
        }
        let (tool, timeout, has_key) = (self.tool.clone(), self.timeout, self.once.is_some());
        let (start, started) = oneshot::channel();
        let mut running = Detached::new(cancelled, |given_up| self.go(given_up, start, work));
        let Some(after) = timeout else { return running.await };
        match race(&mut running, started).await {
            First::Left(outcome) => return outcome,
            First::Right(Ok(())) => {}
            // It was refused or is told again, and does not start any more.
            First::Right(Err(_)) => return running.await,
        }
        match race(&mut running, sleep(after)).await {
            First::Left(outcome) => outcome,
            First::Right(()) => {
                let reason = RefusalReason::Timeout { after, has_key };
                events::refused(&tool, reason.name());
                CallOutcome::Refused(CallRefusal { tool, reason })
            }
        }
    }

    /// The call from here to its end. Nothing in it is ever cut off.
    async fn go<T, W, F>(
        mut self,
        mut given_up: GivenUp,
        start: oneshot::Sender<()>,
        work: W,
    ) -> CallOutcome<T>
    where
        T: Answer,
        W: FnOnce(Option<EffectContext>) -> F + Send,
        F: Future<Output = T> + Send,
    {
        if let Some(once) = self.once.take() {
            return match self.go_once(&once, given_up, start, work).await {
                Ok(outcome) => outcome,
                Err(reason) => CallOutcome::Refused(self.refuse(reason)),
            };
        }
        match self.wait_for_turn(&mut given_up).await {
            Err(reason) => CallOutcome::Refused(self.refuse(reason)),
            Ok(turn) => {
                // Whoever asked may be past caring.
                let _ = start.send(());
                let answer = work(None).await;
                drop(turn);
                CallOutcome::Answered(answer)
            }
        }
    }

    async fn wait_for_turn(&self, given_up: &mut GivenUp) -> Result<Turn, RefusalReason> {
        match race(events::waiting(&self.tool, self.take_turn()), &mut *given_up).await {
            // Its turn came, but nobody is there any more.
            First::Left(Ok(_)) if given_up.is_so().await => Err(RefusalReason::GivenUp),
            First::Left(turn) => turn,
            First::Right(()) => Err(RefusalReason::GivenUp),
        }
    }

    async fn go_once<T, W, F>(
        &self,
        (key, request): &(Key, Fingerprint),
        mut given_up: GivenUp,
        start: oneshot::Sender<()>,
        work: W,
    ) -> Result<CallOutcome<T>, RefusalReason>
    where
        T: Answer,
        W: FnOnce(Option<EffectContext>) -> F + Send,
        F: Future<Output = T> + Send,
    {
        let mut attempt = Attempt::Not((work, start));
        loop {
            let lent = (&mut attempt, &mut given_up);
            let effect = move |context| {
                let (attempt, given_up) = lent;
                self.attempt(attempt, given_up, context)
            };
            let ran = match &self.ward.once {
                Once::Local(once) => told(once.run(key.as_str(), *request, effect).await),
                Once::Shared(once) => once.run(key, *request, effect).await,
            };
            match (ran.map_err(unanswered)?, mem::replace(&mut attempt, Attempt::Empty)) {
                (_, Attempt::Refused(reason)) => return Err(reason),
                (_, Attempt::Answered(answer)) => return Ok(CallOutcome::Answered(answer)),
                (
                    Ran::Done { ending: Ending::Completed(stored), .. }
                    | Ran::Replayed(Ending::Completed(stored)),
                    _,
                ) => {
                    return T::from_stored(&stored)
                        .map(CallOutcome::Replayed)
                        .ok_or(RefusalReason::Unreadable);
                }
                // Another attempt came to nothing a moment ago, so this one may be the one.
                (Ran::Done { .. } | Ran::Replayed(Ending::Failed(_)), Attempt::Not(again)) => {
                    if self.is_late() {
                        return Err(RefusalReason::Running { retry_after: Some(UNTIL_FREE) });
                    }
                    attempt = Attempt::Not(again);
                    sleep(UNTIL_FREE).await;
                }
                (Ran::Done { .. } | Ran::Replayed(_), Attempt::Empty) => {
                    return Err(RefusalReason::Unreadable);
                }
                (Ran::Mismatch, _) => return Err(RefusalReason::Mismatch),
                (Ran::Running { retry_after }, _) => return Err(RefusalReason::Running { retry_after }),
                (Ran::InDoubt { .. }, _) => return Err(RefusalReason::InDoubt),
            }
        }
    }

    /// The attempt that runs, if it is its turn before it is given up. The answer itself goes aside, so that it need not be read back.
    async fn attempt<T, W, F>(
        &self,
        attempt: &mut Attempt<(W, oneshot::Sender<()>), T>,
        given_up: &mut GivenUp,
        context: EffectContext,
    ) -> Result<Vec<u8>, Failure>
    where
        T: Answer,
        W: FnOnce(Option<EffectContext>) -> F + Send,
        F: Future<Output = T> + Send,
    {
        // A refusal is no answer to a duplicate: whoever waits for this key shall try for itself.
        let nothing = || Err(Failure::Retryable(Vec::new()));
        let turn = match self.wait_for_turn(given_up).await {
            Ok(turn) => turn,
            Err(reason) => {
                *attempt = Attempt::Refused(reason);
                return nothing();
            }
        };
        let Attempt::Not((work, start)) = mem::replace(attempt, Attempt::Empty) else { return nothing() };
        let _ = start.send(());
        let answer = work(Some(context)).await;
        drop(turn);
        let stored = answer.to_stored();
        *attempt = Attempt::Answered(answer);
        stored.map_or_else(nothing, Ok)
    }
}

/// What one process remembers, as a store would say it.
fn told(ran: Ran<Arc<Ending>>) -> Result<Ran, StoreError> {
    Ok(match ran {
        Ran::Done { ending, kept } => Ran::Done { ending: Arc::unwrap_or_clone(ending), kept },
        Ran::Replayed(ending) => Ran::Replayed(Arc::unwrap_or_clone(ending)),
        Ran::Mismatch => Ran::Mismatch,
        Ran::Running { retry_after } => Ran::Running { retry_after },
        Ran::InDoubt { fence } => Ran::InDoubt { fence },
    })
}
