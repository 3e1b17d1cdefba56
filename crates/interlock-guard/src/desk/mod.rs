//! The desk: every tool call comes past it, is let through, waits, is refused, or gets an answer it had before.
//!
//! What a call holds (locks, places, its idempotency key) it holds until the upstream has answered, its process is gone, or the lease ran
//! out. That whoever called went away changes nothing: cancellation is not completion. The desk never runs a call twice, and never makes
//! one call of two.
//!
//! | file | question |
//! |---|---|
//! | `plan` | what does the store have to be asked for this call? |
//! | `turn` | when is it this call's turn, and how is that found out? |
//! | `line` | who of this process asks next? |
//! | `hold` | how does a call that runs end, and what does it hold until then? |
//! | `observe` | what would rules have decided that are only observed? |
//! | `refusal` | what is a model told that gets no answer? |

mod arguments;
mod carry;
mod hold;
mod line;
mod observe;
mod plan;
mod readers;
mod refusal;
mod stored;
#[cfg(test)]
mod tests;
mod turn;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use interlock_model::Mode;
use interlock_sync::{
    gate::Gate,
    store::{Fence, Key, OpId, Store},
};

use self::{line::Lines, readers::Readers};
use crate::{
    call::{Answer, Caller},
    event::{Event, Watch},
    leftover::Journal,
    policy::{Rules, ToolRules},
    traceparent::Traceparent,
};

/// Where calls are admitted and settled.
pub struct Desk {
    store: Arc<dyn Store>,
    rules: Arc<dyn Book>,
    watch: Arc<dyn Watch>,
    terms: Terms,
    gate: Gate,
    lines: Arc<Lines<Key>>,
    readers: Readers,
    /// Where it is written down what calls hold, for whoever comes after this guard.
    journal: Option<Arc<Journal>>,
    /// Ids are counted from a number that nobody else has.
    first_id: u128,
    next: AtomicU64,
}

/// How long a desk holds what upstreams do not give back, and how many may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How long a call may go on after its start while its upstream lives. Then it is given up, and what it held is free.
    pub longest: Duration,
    /// The same for a task, whatever its server says of its time.
    pub longest_task: Duration,
    /// How many calls may wait in all lines together.
    pub waiting: usize,
}

/// What a call that was let through carries to its upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The fencing token for `_meta`, if the call holds anything.
    pub fence: Option<Fence>,
    /// The trace context for `_meta` in place of the call's own, if somebody records the call.
    pub traceparent: Option<Traceparent>,
    /// What becomes of a cancel by its caller.
    pub on_cancel: OnCancel,
}

/// What becomes of a cancel of a call that was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnCancel {
    /// Its server does not hear of it: what the call holds is given back with the server's own answer.
    Held,
    /// Its server is told. Unless a result comes, the call is given up after this time.
    PassedOn(Duration),
}

/// What the caller gets.
#[derive(Debug, Clone)]
pub enum Carried {
    /// What the upstream answered.
    Answer(Answer),
    /// A tool result that the guard wrote itself, as JSON text: a refusal, or an outcome that nobody knows.
    Said(Bytes),
    /// A refusal that a token with one more scope would not have met.
    Lacks {
        /// The tool result, as JSON text.
        said: Bytes,
        /// The scope.
        scope: Arc<str>,
    },
    /// The result of an earlier call with the same idempotency key, as JSON text.
    Again(Bytes),
}

/// Where rules are looked up.
trait Book: Send + Sync {
    fn of(&self, tool: &str, is_read_only: bool) -> Arc<ToolRules>;

    fn denies_request(&self, method: &str) -> Option<Mode> {
        let _ = method;
        None
    }
}

impl Book for Rules {
    fn of(&self, tool: &str, is_read_only: bool) -> Arc<ToolRules> {
        Self::of(self, tool, is_read_only)
    }

    fn denies_request(&self, method: &str) -> Option<Mode> {
        Self::denies_request(self, method)
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            longest: Duration::from_secs(15 * 60),
            longest_task: Duration::from_secs(24 * 60 * 60),
            waiting: 100_000,
        }
    }
}

impl Desk {
    /// A desk over a store.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, rules: Arc<Rules>, watch: Arc<dyn Watch>) -> Self {
        Self::with(store, rules, watch, Terms::default())
    }

    /// The same on other terms.
    #[must_use]
    pub fn on_terms(self, terms: Terms) -> Self {
        Self { terms, ..self }
    }

    /// The same, writing down what calls hold.
    #[must_use]
    pub fn with_journal(self, journal: Option<Arc<Journal>>) -> Self {
        Self { journal, ..self }
    }

    fn with(store: Arc<dyn Store>, rules: Arc<dyn Book>, watch: Arc<dyn Watch>, terms: Terms) -> Self {
        let OpId(first_id) = OpId::fresh();
        let lines = Arc::<Lines<Key>>::default();
        let told = Arc::downgrade(&lines);
        // What another replica gives back is heard of at once where the store can tell, and otherwise when the first in line asks again.
        store.on_freed(Arc::new(move |key: &Key| {
            if let Some(lines) = told.upgrade() {
                lines.settled([key]);
            }
        }));
        Self {
            store,
            rules,
            watch,
            terms,
            gate: Gate::new(),
            lines,
            readers: Readers::default(),
            journal: None,
            first_id,
            next: AtomicU64::new(0),
        }
    }

    /// The mode in which the policy denies a method besides `tools/call`; `None` if no pattern of `[requests] deny` matches it.
    pub(crate) fn denies_request(&self, method: &str) -> Option<Mode> {
        self.rules.denies_request(method)
    }

    /// Whether a caller may call a tool at all: what may not be called is not listed either.
    pub(crate) fn is_open_to(&self, caller: &Caller, tool: &str, is_read_only: bool) -> bool {
        self.rules.of(tool, is_read_only).denial(caller, Mode::Enforce).is_none()
    }

    /// Closes: no call starts any more, those that wait are refused at once, and those that run are waited for, but no longer than
    /// `within`. Says how many are left.
    pub async fn close(&self, within: Duration) -> usize {
        self.watch.note(&Event::Closing);
        let closing = self.gate.close(within);
        self.lines.close();
        closing.await
    }

    /// The gate that every call passes. Whoever ends the guard waits here for the calls in flight; closing goes by
    /// [`close`](Self::close), which also refuses those that wait.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How many calls are inside: those that run, and those that wait.
    #[must_use]
    pub fn inside(&self) -> usize {
        self.gate.inside()
    }

    /// How many of them wait for their turn.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.lines.len()
    }

    /// A number for a call, greater than those before it, and an id that no other call of any replica has.
    fn next(&self) -> (u64, OpId) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number, OpId(self.first_id.wrapping_add(number.into())))
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("inside", &self.inside())
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}
