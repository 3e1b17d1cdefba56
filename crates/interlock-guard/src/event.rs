//! What happens in the guard, as data: metrics, audit, logs and the live page are made from nothing else.

use std::{sync::Arc, time::Duration};

use interlock_sync::store::{Fence, OpId};

use crate::{
    call::{Caller, ToolCall},
    traceparent::Traceparent,
};

/// Somebody who is told what happens. Called on the way of a call, so it must not wait.
pub trait Watch: Send + Sync + 'static {
    /// Takes note.
    fn note(&self, event: &Event<'_>);

    /// The trace context that a call carries to its upstream in place of its own, if somebody records the call.
    fn traceparent(&self, id: OpId, call: &ToolCall) -> Option<Traceparent> {
        let _ = (id, call);
        None
    }
}

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A call came.
    Arrived {
        /// Its id within the guard.
        id: OpId,
        /// The call.
        call: &'a ToolCall,
    },
    /// A call stands in line.
    Waits {
        /// Which.
        id: OpId,
        /// For what: keys, as people read them.
        on: &'a [String],
        /// Behind how many.
        ahead: u32,
    },
    /// A call whose tool has a rule for idempotency keys says none, and is not refused for that: sent again, it runs again.
    WithoutKey {
        /// Its id within the guard.
        id: OpId,
        /// The call.
        call: &'a ToolCall,
    },
    /// It was decided over a call. Also over one that stood in line and whose caller went away: it is refused as `given-up`.
    Decided {
        /// Which.
        id: OpId,
        /// The call.
        call: &'a ToolCall,
        /// How.
        decision: Decision<'a>,
        /// The keys that it locks, observes or changes.
        keys: &'a [String],
        /// How long it waited.
        waited: Duration,
    },
    /// A call that was let through, or that was only observed, has ended.
    Ended {
        /// Which.
        id: OpId,
        /// The call.
        call: &'a ToolCall,
        /// How.
        ending: Ending<'a>,
        /// How long the upstream took.
        took: Duration,
    },
    /// A message of a client that is no tool call and could make a server act was passed on, or refused.
    Message {
        /// Who sent it.
        caller: &'a Caller,
        /// What it asks for.
        method: &'a str,
        /// The resource, prompt, tool or task that it names, if it does.
        about: Option<&'a str>,
        /// Why it was refused, in a word; `None` if it was passed on.
        refused: Option<&'a str>,
    },
    /// A request was turned away by its head: nobody knows who sends it, or it must not be sent from there.
    TurnedAway {
        /// Why, in a word.
        reason: &'static str,
        /// What there is to say of it, for people; empty where the word says it all.
        words: &'a str,
    },
    /// An upstream changed its state.
    Upstream {
        /// Which.
        name: &'a str,
        /// Its state now.
        state: UpstreamState,
        /// Why, for people.
        reason: &'a str,
    },
    /// The store could not be asked.
    Store {
        /// What it said.
        error: &'a str,
    },
    /// A new policy holds.
    Reloaded {
        /// Its number.
        generation: u64,
    },
    /// Something about the guard itself that whoever runs it should know: a setting that was refused, or one that holds after a restart.
    Notice {
        /// What it is about, in a word.
        about: &'a str,
        /// What there is to know.
        words: &'a str,
    },
    /// An upstream said which tools it has. Names that nobody listed are not told apart for ever: whoever calls could make them up.
    Listed {
        /// The tools, as clients name them.
        tools: &'a [&'a str],
    },
    /// No call starts any more; those in flight are awaited.
    Closing,
}

/// How it was decided over a call.
#[derive(Debug, Clone, Copy)]
pub enum Decision<'a> {
    /// It runs.
    Granted {
        /// With this fence, if it holds anything.
        fence: Option<Fence>,
    },
    /// It gets the answer of an earlier call with its key.
    Replayed,
    /// It does not run.
    Refused {
        /// The reason's name, as in the refusal's `_meta`.
        reason: &'a str,
    },
    /// It would have been refused or would have waited, but the rule only observes.
    Observed {
        /// The reason's name.
        reason: &'a str,
    },
}

/// How a call ended.
#[derive(Debug, Clone, Copy)]
pub enum Ending<'a> {
    /// With a result.
    Answered,
    /// With a result that says it is an error, or with a JSON-RPC error.
    Failed,
    /// Its caller cancelled it, its server was told and did not answer, and nothing was at stake that a rule speaks of.
    Cancelled,
    /// Nobody knows.
    Unknown {
        /// Why.
        reason: &'a str,
    },
}

/// How an upstream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpstreamState {
    /// It is being started.
    Starting,
    /// It answers.
    Up,
    /// It is gone and will be started again.
    Down,
    /// It was stopped.
    Stopped,
}

/// Nobody is told.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Watch for Nobody {
    fn note(&self, _: &Event<'_>) {}
}

/// Several are told, in their order.
pub struct Everybody(pub Vec<Arc<dyn Watch>>);

impl Watch for Everybody {
    fn note(&self, event: &Event<'_>) {
        for one in &self.0 {
            one.note(event);
        }
    }

    fn traceparent(&self, id: OpId, call: &ToolCall) -> Option<Traceparent> {
        self.0.iter().find_map(|one| one.traceparent(id, call))
    }
}
