//! A tool call on its way through the guard.

use std::{
    cmp, fmt,
    future::Future,
    hash::{Hash, Hasher},
    pin::Pin,
    sync::{Arc, LazyLock},
};

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::traceparent::Traceparent;

/// The caller, as the guard has verified it; a name that a client only claims is not taken. Two callers are the same if their names are, whatever their tokens say.
#[derive(Debug, Clone)]
pub struct Caller {
    name: Arc<str>,
    /// What the token of this very request says.
    claims: Option<Arc<Map<String, Value>>>,
}

/// A tool call, as far as the guard reads it.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Who calls.
    pub caller: Caller,
    /// Who reads: the session where the revision has one, else the verified caller. `None` for a stranger without a session.
    pub reader: Option<Arc<str>>,
    /// The name of the upstream.
    pub upstream: Arc<str>,
    /// The tool as clients name it, with its upstream's prefix if it has one. Policies speak of this name.
    pub tool: Arc<str>,
    /// Whether the server said that the tool only reads. A tool that was never listed does not count as one.
    pub is_read_only: bool,
    /// The arguments, as JSON text; empty if the call has none.
    pub arguments: Bytes,
    /// The call's `_meta`, as JSON text; empty if it has none.
    pub meta: Bytes,
    /// The trace that it belongs to, by its `_meta` or else by the request that brought it.
    pub traceparent: Option<Traceparent>,
}

/// What an upstream made of a call.
#[derive(Debug, Clone)]
pub enum Answer {
    /// It answered with a result.
    Result {
        /// The result, as JSON text.
        result: Bytes,
        /// Whether it says `isError: true`.
        is_error: bool,
        /// The task that goes on behind it, if the result says so.
        task: Option<Task>,
    },
    /// It wants input before it goes on: the client will call again with it, and that is no duplicate. Nothing has ended.
    Asks {
        /// The result that says so, as JSON text.
        result: Bytes,
    },
    /// It answered with a JSON-RPC error: the call was refused before it ran, or broke.
    Error {
        /// The error, as JSON text.
        error: Bytes,
    },
    /// Its caller cancelled it, and its server was told and has not said since that it ended: servers made with the official SDKs say nothing
    /// more of a call that was cancelled, or that it was, while it may go on.
    Cancelled,
    /// It will not answer any more: its process is gone, its connection broke.
    Lost {
        /// Why, for people.
        reason: String,
        /// Whether the call may have started there.
        may_have_run: bool,
    },
}

/// A task that an upstream works on after it has answered.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// How long the server keeps it, in ms, if it says so.
    pub ttl_ms: Option<u64>,
    /// How often to ask for it, in ms, if it says so.
    pub poll_ms: Option<u64>,
    /// How the guard itself asks for it.
    pub watch: TaskWatch,
}

/// A way to ask an upstream how a task is.
#[derive(Clone)]
pub struct TaskWatch(Arc<dyn Fn() -> Asked + Send + Sync>);

type Asked = Pin<Box<dyn Future<Output = TaskState> + Send>>;

/// How a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// It is not over, also if it waits for input.
    Working,
    /// It is over: completed, failed or cancelled.
    Ended {
        /// Whether it did not complete.
        is_error: bool,
    },
    /// Nobody will tell any more: the upstream is gone, or knows no such task.
    Lost {
        /// Why, for people.
        reason: String,
    },
}

impl TaskWatch {
    /// Asks by calling this.
    pub fn new<F, A>(ask: F) -> Self
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = TaskState> + Send + 'static,
    {
        Self(Arc::new(move || Box::pin(ask())))
    }

    /// How the task is now.
    pub async fn ask(&self) -> TaskState {
        (self.0)().await
    }
}

impl fmt::Debug for TaskWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskWatch")
    }
}

impl Caller {
    /// The name, to be kept.
    pub(crate) fn shared(&self) -> &Arc<str> {
        &self.name
    }

    /// What its token says, where it came with one.
    pub(crate) fn claims(&self) -> Option<&Map<String, Value>> {
        self.claims.as_deref()
    }

    /// With what its token says.
    #[must_use]
    pub fn with_claims(self, claims: Map<String, Value>) -> Self {
        Self { claims: Some(Arc::new(claims)), ..self }
    }

    /// A caller by the name that was verified, such as `jwt:alice` or `key:ci`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), claims: None }
    }

    /// The one client of a guard on stdio.
    #[must_use]
    pub fn stdio() -> Self {
        Self::new("stdio")
    }

    /// Everybody whom nothing verifies, taken together: their limits are shared.
    #[must_use]
    pub fn anonymous() -> Self {
        // Asked for with every request of a guard that verifies nobody.
        static ANONYMOUS: LazyLock<Caller> = LazyLock::new(|| Caller::new("anonymous"));
        ANONYMOUS.clone()
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Caller {}

impl PartialOrd for Caller {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Caller {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        self.name.cmp(&other.name)
    }
}

impl Hash for Caller {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}
