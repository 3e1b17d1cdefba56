//! From a plan to a grant: the first question, the waiting, and the questions after it.
//!
//! A call asks once when it comes, because rates are charged on arrival and an answer that is known is told at once. If it has to wait it
//! stands in the lines of this process, and only who is first there stands in the store's line, too, and asks again: when a call of this
//! process gave something back, and now and then for what other replicas give back.

use std::{pin::pin, sync::Arc, time::Duration};

use interlock_sync::{
    adapt::RefusalReason,
    retry::{Dice, Retry},
    store::{Admitted, Ending, Fence, Key, OpId, StoreError},
};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    Desk,
    line::{Room, Turn},
    plan::Plan,
    refusal::Why,
};
use crate::{event::Event, policy::ToolRules, within::within};

/// Nobody waits longer. It keeps absurd times from overflowing.
pub(super) const MOST: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// How long the store may take for an answer before it counts as away.
const STORE: Duration = Duration::from_secs(5);

/// How long a place in the store's line stands unless it is asked for again. The pauses are much shorter, and when a replica dies nobody
/// waits longer for it than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest pause between two questions of the first in line.
const PAUSE: Duration = Duration::from_millis(250);

/// What was decided over a call.
#[derive(Debug)]
pub(super) enum Verdict {
    Granted(Fence),
    /// It was done before.
    Ended(Vec<u8>),
    Refused(Why),
    /// The store could not be asked.
    Away(StoreError),
    /// Whoever called went away.
    GivenUp,
}

/// What a call was told that has to wait.
struct Wait {
    /// The lines to stand in.
    lines: Vec<Key>,
    /// How many stand before it in the store.
    ahead: u32,
    /// When what it waits for runs out at the latest.
    retry_after: Duration,
}

/// Whoever wants to know, while a call waits.
pub(super) struct Asking<'a> {
    pub(super) desk: &'a Desk,
    pub(super) id: OpId,
    pub(super) number: u64,
    pub(super) caller: &'a Arc<str>,
    pub(super) rules: &'a ToolRules,
    pub(super) came: Instant,
}

impl Asking<'_> {
    /// Waits for a grant, or for whatever else becomes of the call. `gone` is ready when nobody wants it any more. Nothing is left behind
    /// in any line, whatever the outcome.
    pub(super) async fn admit(&self, plan: &mut Plan, gone: impl Future<Output = ()>) -> Verdict {
        let mut is_in_store = false;
        let verdict = self.wait(plan, &mut is_in_store, gone).await;
        if let Verdict::Granted(fence) = verdict {
            plan.settlement.fence = Some(fence);
        } else if is_in_store {
            self.desk.leave(plan).await;
        }
        verdict
    }

    async fn wait(&self, plan: &mut Plan, is_in_store: &mut bool, gone: impl Future<Output = ()>) -> Verdict {
        let late = self.came + self.rules.wait.min(MOST);
        let mut retry_after = None;
        // Who has to wait for a place must not stand before others at a lock.
        let mut keys = self.desk.lines.busy(&plan.settlement.places);
        if keys.is_empty() {
            keys = self.desk.lines.busy(&plan.settlement.locks);
        }
        if keys.is_empty() || !plan.admission.charges.is_empty() || plan.has_key() {
            match self.ask(plan, Duration::ZERO).await {
                Err(verdict) => return verdict,
                Ok(wait) => (keys, retry_after) = (wait.lines, Some(wait.retry_after)),
            }
        }
        let room = Room { in_line: self.rules.queue, in_all: self.desk.terms.waiting };
        let Ok(standing) = self.desk.lines.stand(self.number, self.caller, keys.clone(), room) else {
            return Verdict::Refused(Why::QueueFull { keys: names(plan, &keys) });
        };
        self.note_waits(plan, &keys, standing.ahead());
        let (mut gone, mut late) = (std::pin::pin!(gone), std::pin::pin!(sleep_until(late)));
        let growing = || Retry::times(u32::MAX).first(PAUSE / 64).cap(PAUSE).delays(Dice::fresh());
        let (mut pauses, mut pause, mut is_asking, mut ahead) = (growing(), PAUSE, false, u32::MAX);
        loop {
            tokio::select! {
                biased;
                () = &mut gone => return Verdict::GivenUp,
                turn = standing.turn() => match turn {
                    Turn::Ask | Turn::Passed => {}
                    Turn::Closed => return Verdict::Refused(Why::Common(RefusalReason::Closed)),
                },
                () = &mut late => return Verdict::Refused(plan.late(&keys, retry_after)),
                () = sleep(pause), if is_asking => {}
            }
            // Another caller, whose turn is before its own, may have come to stand there.
            is_asking = standing.is_first();
            if is_asking {
                let stands = plan.is_for_locks(&keys);
                *is_in_store |= stands;
                match self.ask(plan, if stands { PATIENCE } else { Duration::ZERO }).await {
                    Err(verdict) => return verdict,
                    Ok(wait) => {
                        *is_in_store = stands;
                        // While the store's line moves, it is worth asking more often.
                        if wait.ahead < ahead {
                            pauses = growing();
                        }
                        ahead = wait.ahead;
                        let paused = pauses.next().unwrap_or(PAUSE);
                        pause = paused.min(wait.retry_after).max(Duration::from_millis(1));
                        retry_after = Some(wait.retry_after);
                        if wait.lines != keys {
                            standing.move_to(&wait.lines);
                            keys = wait.lines;
                            self.note_waits(plan, &keys, standing.ahead());
                        }
                    }
                }
            }
            if *is_in_store && !standing.is_first() {
                self.desk.leave(plan).await;
                *is_in_store = false;
            }
        }
    }

    /// Asks once. Either how to wait, or what was decided.
    async fn ask(&self, plan: &mut Plan, patience: Duration) -> Result<Wait, Verdict> {
        plan.admission.patience = patience;
        let admitted = self.desk.ask(plan).await;
        plan.admission.is_again = true;
        Err(match admitted {
            Err(error) => Verdict::Away(error),
            Ok(Admitted::Waits { on, ahead, retry_after }) => {
                return Ok(Wait { lines: plan.lines_for(&on), ahead, retry_after });
            }
            Ok(Admitted::Granted { fence }) => Verdict::Granted(fence),
            Ok(Admitted::Ended(stored)) => match (stored.ending, &plan.settlement.once) {
                (Ending::Completed(answer), _) => Verdict::Ended(answer),
                // What came to nothing a moment ago is told to nobody: the key is about to be free.
                (Ending::Failed(_), Some((key, ..))) => {
                    let (lines, retry_after) = (vec![key.clone()], Duration::from_millis(2));
                    return Ok(Wait { lines, ahead: 0, retry_after });
                }
                (Ending::Failed(_), None) => Verdict::Refused(Why::Common(RefusalReason::Unreadable)),
            },
            Ok(Admitted::TooOften { retry_after, .. }) => {
                Verdict::Refused(Why::Common(RefusalReason::Rate { retry_after }))
            }
            Ok(Admitted::Mismatch) => Verdict::Refused(Why::Common(RefusalReason::Mismatch)),
            Ok(Admitted::InDoubt) => Verdict::Refused(Why::Common(RefusalReason::InDoubt)),
            Ok(Admitted::Stale { keys }) => Verdict::Refused(self.desk.stale(plan, &keys)),
        })
    }

    fn note_waits(&self, plan: &Plan, keys: &[Key], ahead: u32) {
        self.desk.watch.note(&Event::Waits { id: self.id, on: &names(plan, keys), ahead });
    }
}

fn names(plan: &Plan, keys: &[Key]) -> Vec<String> {
    keys.iter().map(|key| plan.name_of(key)).collect()
}

impl Desk {
    /// Asks the store. A lost answer is asked for once more, under the same id; then the store counts as away, and what it may have granted
    /// is given back as soon as it can be.
    async fn ask(&self, plan: &mut Plan) -> Result<Admitted, StoreError> {
        let mut is_in_doubt = false;
        loop {
            let admitted = within_reason(self.store.admit(&plan.admission)).await;
            match admitted {
                Ok(admitted) => return Ok(admitted),
                Err(error) if error.is_in_doubt() && !is_in_doubt => {
                    is_in_doubt = true;
                    plan.admission.is_again = true;
                }
                Err(error) => {
                    self.note_away(&error);
                    if is_in_doubt || error.is_in_doubt() {
                        self.take_back(plan);
                    }
                    return Err(error);
                }
            }
        }
    }

    /// Takes a call out of the store's line. If that fails its place runs out by itself.
    async fn leave(&self, plan: &Plan) {
        if let Err(error) = within_reason(self.store.settle(&plan.undone())).await {
            self.note_away(&error);
        }
    }

    /// Gives back, in a task of its own, what a call may have been granted whose answer was lost.
    fn take_back(&self, plan: &Plan) {
        let (store, until) = (self.store.clone(), Instant::now() + plan.admission.ttl.min(MOST));
        let undone = plan.undone();
        tokio::spawn(async move {
            let mut pauses = Retry::times(u32::MAX).delays(Dice::fresh());
            while within_reason(store.settle(&undone)).await.is_err() && Instant::now() < until {
                sleep(pauses.next().unwrap_or(PAUSE)).await;
            }
        });
    }

    pub(super) fn note_away(&self, error: &StoreError) {
        self.watch.note(&Event::Store { error: &error.to_string() });
    }
}

/// An answer of the store, if it comes in time; otherwise nobody knows whether what was asked took effect.
pub(super) async fn within_reason<T>(
    reply: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let mut reply = pin!(reply);
    within(STORE, &mut reply).await.unwrap_or_else(|| {
        Err(StoreError::in_doubt("no answer", format!("within {} seconds", STORE.as_secs())))
    })
}
