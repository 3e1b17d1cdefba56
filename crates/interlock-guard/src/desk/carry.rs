//! The way of a call past the desk.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use interlock_model::Mode;
use interlock_sync::{
    adapt::RefusalReason,
    gate::OwnedInside,
    store::{OpId, StoreError},
};
use tokio::{sync::oneshot, time::Instant};

use super::{
    Carried, Desk, OnCancel, Stamp,
    hold::Running,
    plan::Plan,
    refusal::Why,
    stored,
    turn::{Asking, MOST, Verdict},
};
use crate::{
    call::{Answer, ToolCall},
    event::{Decision, Event},
    policy::{Cancel, ToolRules},
};

const LEAST_GRACE: Duration = Duration::from_secs(1);

/// A call that is inside the gate.
struct Visit {
    desk: Arc<Desk>,
    call: ToolCall,
    id: OpId,
    number: u64,
    rules: Arc<ToolRules>,
    came: Instant,
}

impl Desk {
    /// Takes a call through: admits it, forwards it, settles it, and says what the caller gets.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes a waiting call out of the line. A call that was forwarded goes on by itself and is settled when its
    /// upstream has answered.
    pub async fn carry<F, A>(self: &Arc<Self>, call: ToolCall, forward: F) -> Carried
    where
        F: FnOnce(Stamp) -> A + Send + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let (number, id) = self.next();
        self.watch.note(&Event::Arrived { id, call: &call });
        let rules = self.rules.of(&call.tool, call.is_read_only);
        let visit = Visit { desk: Arc::clone(self), call, id, number, rules, came: Instant::now() };
        let Ok(inside) = self.gate.enter_owned() else {
            return visit.refuse(&Why::Common(RefusalReason::Closed), &[]);
        };
        let (tool, (reply, answer)) = (Arc::clone(&visit.call.tool), oneshot::channel());
        let mut going = Box::pin(visit.go(inside, reply, forward));
        // The first step is made here, so that a call that may run is with its upstream before a task is made for the rest.
        let is_over = poll_fn(|context| {
            let polled = catch_unwind(AssertUnwindSafe(|| going.as_mut().poll(context)));
            Poll::Ready(polled.map_or(true, |polled| polled.is_ready()))
        });
        if is_over.await {
            drop(going);
        } else {
            // A task of its own: a client that does not read its answers, and so does not wait for this one either, must not keep others
            // from what the call holds, nor from their place in line.
            tokio::spawn(going);
        }
        answer.await.unwrap_or_else(|_| {
            let (reason, has_key, only_reads) = ("the guard broke".to_owned(), false, false);
            Carried::Said(Why::Lost { reason, may_have_run: true, has_key, only_reads }.said_of(&tool))
        })
    }
}

impl Visit {
    async fn go<F, A>(self, inside: OwnedInside, mut reply: oneshot::Sender<Carried>, forward: F)
    where
        F: FnOnce(Stamp) -> A + Send + 'static,
        A: Future<Output = Answer> + Send + 'static,
    {
        let plan = match self.admitted(&mut reply).await {
            Ok(plan) => plan,
            Err(carried) => {
                if let Some(carried) = carried {
                    let _ = reply.send(carried);
                }
                return;
            }
        };
        if let (Some(journal), Some(plan)) = (&self.desk.journal, &plan) {
            journal.held(&self.call.upstream, &plan.settlement);
        }
        let seen = self.desk.observe(&self.call, self.id, &self.rules, self.came).await;
        let fence = plan.as_ref().and_then(Plan::fence);
        let traceparent = self.desk.watch.traceparent(self.id, &self.call);
        let on_cancel = on_cancel(&self.rules, plan.as_ref());
        let started = Instant::now();
        let mut running = Running {
            desk: &self.desk,
            id: self.id,
            call: &self.call,
            rules: &self.rules,
            plan,
            seen,
            reply: Some(reply),
            started,
            until: started + ttl(&self.rules),
            inside: Some(inside),
        };
        let answer = pin!(async move { forward(Stamp { fence, traceparent, on_cancel }).await });
        running.run(answer).await;
        running.inside = None;
        // Whoever waits for the answer goes first; what is left of the call is cleared away afterwards.
        let mut has_waited = false;
        poll_fn(|context| {
            if std::mem::replace(&mut has_waited, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// What the call holds if it may run; otherwise what the caller gets, if it is still there.
    async fn admitted(&self, reply: &mut oneshot::Sender<Carried>) -> Result<Option<Plan>, Option<Carried>> {
        let Self { desk, call, rules, .. } = self;
        if let Some(rule) = rules.denial(&call.caller, Mode::Enforce) {
            let said = self.refuse(&Why::Denied { rule: rule.to_string() }, &[]);
            return Err(Some(match (said, rules.lacking(&call.caller)) {
                (Carried::Said(said), Some(scope)) => Carried::Lacks { said, scope: scope.into() },
                (said, _) => said,
            }));
        }
        let plan = match Plan::of(call, rules, Mode::Enforce, self.id, ttl(rules)) {
            Ok(plan) => plan,
            Err(why) => return Err(Some(self.refuse(&why, &[]))),
        };
        desk.readers.learn(call, rules);
        let wants_key = rules.idempotency.as_ref().is_some_and(|ruled| ruled.mode == Mode::Enforce);
        if wants_key && !plan.as_ref().is_some_and(Plan::has_key) {
            desk.watch.note(&Event::WithoutKey { id: self.id, call });
        }
        let Some(mut plan) = plan else {
            self.decide(Decision::Granted { fence: None }, &[]);
            return Ok(None);
        };
        let (id, number, caller) = (self.id, self.number, call.caller.shared());
        let asking = Asking { desk, id, number, caller, rules, came: self.came };
        let verdict = asking.admit(&mut plan, reply.closed()).await;
        let keys = plan.keys();
        match verdict {
            Verdict::Granted(_) if reply.is_closed() => {
                self.decide(Decision::Refused { reason: "given-up" }, &keys);
                self.give_back(&plan).await;
                Err(None)
            }
            Verdict::Granted(_) if desk.gate.is_closed() => {
                self.give_back(&plan).await;
                Err(Some(self.refuse(&Why::Common(RefusalReason::Closed), &keys)))
            }
            Verdict::Granted(_) => {
                self.decide(Decision::Granted { fence: plan.fence() }, &keys);
                Ok(Some(plan))
            }
            Verdict::Ended(kept) => Err(Some(match stored::told(kept) {
                Some(carried) => {
                    self.decide(Decision::Replayed, &keys);
                    carried
                }
                None => self.refuse(&Why::Common(RefusalReason::Unreadable), &keys),
            })),
            Verdict::Refused(why) => Err(Some(self.refuse(&why, &keys))),
            Verdict::Away(_) if rules.passes_without_store => {
                self.decide(Decision::Granted { fence: None }, &keys);
                Ok(None)
            }
            Verdict::Away(error) => {
                // The rest of what it says, such as an address, is for whoever keeps the guard, and was noted.
                let told = match error {
                    StoreError::Unavailable { .. } => "the store is not reachable",
                    StoreError::InDoubt { .. } => "the answer of the store was lost",
                    _ => "the store failed",
                };
                let why = RefusalReason::Store { error: told.to_owned(), is_retryable: error.is_retryable() };
                Err(Some(self.refuse(&Why::Common(why), &keys)))
            }
            Verdict::GivenUp => {
                self.decide(Decision::Refused { reason: "given-up" }, &keys);
                Err(None)
            }
        }
    }

    async fn give_back(&self, plan: &Plan) {
        self.desk.settle_surely(&plan.undone(), Instant::now() + ttl(&self.rules)).await;
        self.desk.lines.settled(plan.held());
    }

    fn refuse(&self, why: &Why, keys: &[String]) -> Carried {
        self.decide(Decision::Refused { reason: why.name() }, keys);
        Carried::Said(why.said_of(&self.call.tool))
    }

    fn decide(&self, decision: Decision<'_>, keys: &[String]) {
        let waited = self.came.elapsed();
        self.desk.watch.note(&Event::Decided { id: self.id, call: &self.call, decision, keys, waited });
    }
}

/// What becomes of a cancel, if the rules do not say it. A cancel does not end a call: servers made with the official SDKs do not answer one that
/// was cancelled, or answer while it goes on. So one that others wait for is not cancelled, and its own answer says when it has ended.
fn on_cancel(rules: &ToolRules, plan: Option<&Plan>) -> OnCancel {
    let is_held = match rules.cancel {
        Some(cancel) => cancel == Cancel::Hold,
        None => plan.is_some_and(|plan| plan.is_awaited(rules)),
    };
    match plan {
        _ if is_held => OnCancel::Held,
        Some(_) => OnCancel::PassedOn(grace(rules)),
        None => OnCancel::PassedOn(Duration::ZERO),
    }
}

/// How long what is granted is held by itself: as long as the upstream may take, and a grace.
pub(super) fn ttl(rules: &ToolRules) -> Duration {
    rules.timeout.saturating_add(grace(rules)).min(MOST)
}

/// How much longer than the timeout. So short a time that nothing could be prolonged within it counts as a little longer.
pub(super) fn grace(rules: &ToolRules) -> Duration {
    rules.grace.clamp(LEAST_GRACE, MOST)
}
