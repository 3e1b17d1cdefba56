//! The requests that an upstream has not answered yet, under the numbers that it knows them by.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::{message::Message, session::Outbox};

/// What came of a request.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "almost all are answers, and a box would be an allocation for each"
)]
pub(crate) enum Reply {
    /// An answer, with the upstream's number as its id.
    Answer(Message),
    /// There will be none.
    Lost(Lost),
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    /// For people.
    pub(crate) reason: String,
    /// Whether the request may have reached whoever carries it out.
    pub(crate) may_have_run: bool,
    /// The upstream does not know the session any more.
    pub(crate) is_session_gone: bool,
    /// As many processes of it run as may.
    pub(crate) is_full: bool,
}

/// Requests without an answer.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    next: AtomicU64,
    waiting: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    calls: HashMap<u64, Waiting>,
    /// Set when nothing will be answered any more.
    over: Option<String>,
}

/// Somebody who waits.
#[derive(Debug)]
struct Waiting {
    reply: oneshot::Sender<Reply>,
    about: About,
}

/// What an upstream may say about a request before it answers, and to whom that goes.
#[derive(Debug, Clone, Default)]
pub(crate) struct About {
    /// Where it goes.
    pub(crate) out: Option<Arc<Outbox>>,
    /// The client's own progress token, as it is written.
    pub(crate) token: Option<Bytes>,
    /// The client's own id, as it is written.
    pub(crate) id: Bytes,
    /// Whether it asked for log messages of its own.
    pub(crate) wants_logs: bool,
}

/// A place in the table, given up when it is dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    pending: Arc<Pending>,
    pub(crate) number: u64,
    reply: oneshot::Receiver<Reply>,
}

impl Pending {
    /// The next number that this upstream has not seen.
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Takes a place for a request that will be sent.
    pub(crate) fn enter(self: &Arc<Self>, number: u64, about: About) -> Result<Ticket, Lost> {
        let (sender, reply) = oneshot::channel();
        let mut table = self.table();
        if let Some(reason) = &table.over {
            return Err(Lost::before(reason.clone()));
        }
        table.calls.insert(number, Waiting { reply: sender, about });
        Ok(Ticket { pending: Arc::clone(self), number, reply })
    }

    /// Gives an answer to whoever waits for it. An answer that nobody waits for is dropped.
    pub(crate) fn settle(&self, number: u64, answer: Message) {
        let waiting = self.table().calls.remove(&number);
        if let Some(waiting) = waiting {
            let _ = waiting.reply.send(Reply::Answer(answer));
        }
    }

    /// What is known about a request.
    pub(crate) fn about(&self, number: u64) -> Option<About> {
        self.table().calls.get(&number).map(|waiting| waiting.about.clone())
    }

    /// Lets nobody hear what the upstream says about a request before it answers.
    pub(crate) fn hush(&self, number: u64) {
        if let Some(waiting) = self.table().calls.get_mut(&number) {
            waiting.about.out = None;
        }
    }

    /// The one request that asked for log messages, if it is the only one: else nobody can say whose they are.
    pub(crate) fn only_logger(&self) -> Option<About> {
        let table = self.table();
        let mut loggers = table.calls.values().filter(|waiting| waiting.about.wants_logs);
        match (loggers.next(), loggers.next()) {
            (Some(one), None) => Some(one.about.clone()),
            _ => None,
        }
    }

    /// Tells everybody that no answer will come, now and from now on.
    pub(crate) fn end(&self, reason: &str) {
        let calls = {
            let mut table = self.table();
            table.over.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut table.calls)
        };
        for waiting in calls.into_values() {
            let _ = waiting.reply.send(Reply::Lost(Lost::after(reason.to_owned())));
        }
    }

    /// How many have no answer.
    pub(crate) fn count(&self) -> usize {
        self.table().calls.len()
    }

    /// Whether nothing will be answered any more.
    pub(crate) fn is_over(&self) -> bool {
        self.table().over.is_some()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    /// Waits for what comes of it.
    pub(crate) async fn reply(&mut self) -> Reply {
        match (&mut self.reply).await {
            Ok(reply) => reply,
            Err(_) => Reply::Lost(Lost::after("the connection to the upstream ended".to_owned())),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.pending.table().calls.remove(&self.number);
    }
}

impl Lost {
    /// Before anything was sent.
    pub(crate) fn before(reason: String) -> Self {
        Self { reason, may_have_run: false, is_session_gone: false, is_full: false }
    }

    /// After it was sent, or perhaps.
    pub(crate) fn after(reason: String) -> Self {
        Self { reason, may_have_run: true, is_session_gone: false, is_full: false }
    }
}
