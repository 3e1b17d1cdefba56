//! A call that was let through, from its start to its end, and what it holds meanwhile.
//!
//! The caller is told after the tool's timeout that nobody knows the outcome. The call itself goes on, and so does everything that it
//! holds: until the upstream answers, says that it will not, or the lease has run out at last. A task that goes on behind an answer holds it
//! until it is over. The lease is always longer than what may still happen by itself: the timeout and a grace.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use interlock_sync::{
    adapt::RefusalReason,
    gate::OwnedInside,
    retry::{Dice, Retry},
    store::{OpId, Settlement},
};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout},
};

use super::{
    Carried, Desk,
    carry::grace,
    plan::Plan,
    refusal::Why,
    stored::Came,
    turn::{MOST, within_reason},
};
use crate::{
    call::{Answer, Task, TaskState, ToolCall},
    event::{Ending, Event},
    policy::ToolRules,
    within::within,
};

/// How long an answer is kept back for the store to hear of it first, so that whoever has the answer finds what it held free.
const KEPT_BACK: Duration = Duration::from_secs(1);

/// What is noted of a call whose lease had run out when it ended: something kept it from being prolonged.
const CANCELLED: &str = "it was cancelled, and its server did not say that it ended";
const RAN_OUT: &str = "the lease of a call had run out before it ended, so another may have run beside it";

/// How often a task is asked for if its server does not say, and at most.
const POLL: Duration = Duration::from_secs(1);
const LEAST_POLL: Duration = Duration::from_millis(50);

/// A call that runs.
pub(super) struct Running<'a> {
    pub(super) desk: &'a Desk,
    pub(super) id: OpId,
    pub(super) call: &'a ToolCall,
    pub(super) rules: &'a ToolRules,
    /// What it holds in earnest, if anything.
    pub(super) plan: Option<Plan>,
    /// What it holds among calls that are only observed.
    pub(super) seen: Option<Plan>,
    /// Who is told the answer, until it was.
    pub(super) reply: Option<oneshot::Sender<Carried>>,
    pub(super) started: Instant,
    /// Until when what it holds is held, unless it is prolonged.
    pub(super) until: Instant,
    /// Closing waits for it, but not for a task, whose answer was given.
    pub(super) inside: Option<OwnedInside>,
}

impl Running<'_> {
    /// Runs the call to its end. Nothing in it is cut off when the caller goes.
    ///
    /// The answer stays where it is: a future that is handed on by value is copied, and leaves its room behind.
    pub(super) async fn run(&mut self, answer: Pin<&mut (impl Future<Output = Answer> + Send)>) {
        let mut answer = caught(answer);
        let answer = match timeout(self.rules.timeout, &mut answer).await {
            Ok(answer) => answer,
            Err(_) => {
                let has_key = self.plan.as_ref().is_some_and(Plan::has_key);
                let reason = RefusalReason::Timeout { after: self.rules.timeout, has_key };
                self.say(&Why::Common(reason));
                Box::pin(self.hold_on(&mut answer)).await.unwrap_or_else(|reason| {
                    // It may still run. Whoever comes next is unprotected from it unless the server looks at the fence.
                    Answer::Lost { reason: reason.to_owned(), may_have_run: true }
                })
            }
        };
        self.end(answer).await;
    }

    /// Waits for the answer, prolonging the lease while the upstream is alive, as far as that is known: otherwise it would be lost.
    /// If the lease is at its end, so is the waiting, and this says why.
    async fn hold_on(
        &mut self,
        answer: &mut (impl Future<Output = Answer> + Unpin),
    ) -> Result<Answer, &'static str> {
        let last = self.started + self.desk.terms.longest.min(MOST);
        loop {
            if !self.prolong(last).await {
                return Err("its lease was lost before it answered");
            }
            // It is given up a little before the lease runs out: what it may have changed is to be known before its locks are free.
            let left = self.until.saturating_duration_since(Instant::now() + grace(self.rules) / 10);
            if left.is_zero() {
                return Err("it has not answered for as long as it could be waited for");
            }
            if let Ok(answer) = timeout(left.min(grace(self.rules) / 2), &mut *answer).await {
                return Ok(answer);
            }
        }
    }

    /// Holds everything for two graces from now on, but not beyond the last moment; `false` if it is not held any more.
    async fn prolong(&mut self, last: Instant) -> bool {
        let now = Instant::now();
        let until = last.min(now + grace(self.rules) * 2);
        if until <= self.until {
            return true;
        }
        let prolonged = match &self.plan {
            Some(plan) => within_reason(self.desk.store.prolong(&plan.settlement, until - now)).await,
            None => Ok(true),
        };
        match prolonged {
            Ok(true) => self.until = until,
            Ok(false) => return false,
            // The lease still stands for a while, and the store may come back.
            Err(error) => self.desk.note_away(&error),
        }
        true
    }

    async fn end(&mut self, answer: Answer) {
        let mut came = Came::of(&answer);
        if let Answer::Result { task: Some(task), .. } = &answer {
            let task = task.clone();
            self.reply_with(Carried::Answer(answer.clone()));
            self.inside = None;
            came = Box::pin(self.watch_task(&task)).await;
        }
        self.settle(came, &answer).await;
    }

    /// Asks for a task until it is over, nobody can tell any more, or its time is up.
    async fn watch_task(&mut self, task: &Task) -> Came {
        let grace = grace(self.rules);
        // A server that says no time keeps it for as long as it likes.
        let ttl = task.ttl_ms.map_or(MOST, Duration::from_millis);
        let last = Instant::now() + ttl.min(self.desk.terms.longest_task).min(MOST);
        // Neither the pause nor a server that does not answer may keep the lease from being prolonged.
        let pause = task.poll_ms.map_or(POLL, Duration::from_millis).max(LEAST_POLL).min(grace / 2);
        loop {
            let is_due = self.until.saturating_duration_since(Instant::now()) <= grace;
            if is_due && !self.prolong(last + grace).await {
                return Came::Unknown;
            }
            sleep(pause).await;
            match timeout(grace / 2, task.watch.ask()).await {
                Ok(TaskState::Ended { is_error: false }) => return Came::Well,
                Ok(TaskState::Ended { is_error: true }) => return Came::Badly,
                Ok(TaskState::Lost { .. }) => return Came::Unknown,
                Ok(TaskState::Working) | Err(_) => {}
            }
            if Instant::now() >= last.min(self.until) {
                return Came::Unknown;
            }
        }
    }

    /// Gives everything back and then the answer to whoever called; if the store does not answer, the answer first.
    async fn settle(&mut self, came: Came, answer: &Answer) {
        let (desk, until) = (self.desk, self.until);
        for plan in [&mut self.plan, &mut self.seen].into_iter().flatten() {
            plan.ends(came, answer);
        }
        let (held, seen) = (&self.plan, &self.seen);
        {
            let mut settling = pin!(async {
                // Before what is really held: whoever has that next must not seem to have had to wait.
                if let Some(seen) = seen {
                    desk.settle_surely(&seen.settlement, until).await;
                }
                if let Some(held) = held
                    && !desk.settle_surely(&held.settlement, until).await
                {
                    desk.watch.note(&Event::Store { error: RAN_OUT });
                }
            });
            if within(KEPT_BACK, &mut settling).await.is_none() {
                if let Some(reply) = self.reply.take() {
                    let _ = reply.send(carried(answer, self.call, held.as_ref()));
                }
                settling.await;
            }
        }
        if let Some(journal) = &self.desk.journal {
            journal.settled(self.id);
        }
        for plan in [&self.plan, &self.seen].into_iter().flatten() {
            self.desk.lines.settled(plan.held());
        }
        let ending = match (came, answer) {
            (Came::Unknown, Answer::Lost { reason, .. }) => Ending::Unknown { reason },
            (Came::Unknown, Answer::Cancelled)
                if self.plan.as_ref().is_some_and(|plan| plan.is_awaited(self.rules)) =>
            {
                Ending::Unknown { reason: CANCELLED }
            }
            (Came::Unknown, Answer::Cancelled) => Ending::Cancelled,
            (Came::Unknown, _) => Ending::Unknown { reason: "the task was lost" },
            (Came::Well, _) | (Came::Nothing, Answer::Asks { .. }) => Ending::Answered,
            _ => Ending::Failed,
        };
        let took = self.started.elapsed();
        self.desk.watch.note(&Event::Ended { id: self.id, call: self.call, ending, took });
        let carried = carried(answer, self.call, self.plan.as_ref());
        self.reply_with(carried);
    }

    fn say(&mut self, why: &Why) {
        self.reply_with(Carried::Said(why.said_of(&self.call.tool)));
    }

    /// Tells the caller, if it was not told and is still there.
    fn reply_with(&mut self, carried: Carried) {
        if let Some(reply) = self.reply.take() {
            let _ = reply.send(carried);
        }
    }
}

/// What the caller gets for an answer.
fn carried(answer: &Answer, call: &ToolCall, plan: Option<&Plan>) -> Carried {
    let lost = |reason: String, may_have_run: bool| {
        let (has_key, only_reads) = (plan.is_some_and(Plan::has_key), call.is_read_only);
        Carried::Said(Why::Lost { reason, may_have_run, has_key, only_reads }.said_of(&call.tool))
    };
    match answer {
        Answer::Lost { reason, may_have_run } => lost(reason.clone(), *may_have_run),
        Answer::Cancelled => lost(CANCELLED.into(), true),
        answer => Carried::Answer(answer.clone()),
    }
}

impl Desk {
    /// Settles, again and again until the lease has run out if the store does not answer; `false` if it is known that the call held nothing
    /// any more.
    pub(super) async fn settle_surely(&self, settlement: &Settlement, until: Instant) -> bool {
        let mut error = match within_reason(self.store.settle(settlement)).await {
            Ok(was_held) => return was_held,
            Err(error) => error,
        };
        let mut pauses = Retry::times(u32::MAX).delays(Dice::fresh());
        loop {
            self.note_away(&error);
            let pause = pauses.next().unwrap_or(KEPT_BACK);
            if !error.is_retryable() || Instant::now() + pause >= until {
                return true;
            }
            sleep(pause).await;
            match within_reason(self.store.settle(settlement)).await {
                // It may have been settled before, and the answer was lost.
                Ok(_) => return true,
                Err(again) => error = again,
            }
        }
    }
}

/// A future whose panic is an answer: what the call holds must be given back whatever happens on its way.
fn caught(mut answer: Pin<&mut impl Future<Output = Answer>>) -> impl Future<Output = Answer> + Unpin {
    std::future::poll_fn(move |context| {
        catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context))).unwrap_or_else(|_| {
            let reason = "the guard broke on its way".to_owned();
            Poll::Ready(Answer::Lost { reason, may_have_run: true })
        })
    })
}
