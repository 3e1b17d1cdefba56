//! Traces: spans of calls by the conventions of OpenTelemetry for MCP and generative AI, sent as OTLP over HTTP in JSON.
//!
//! A call is two spans: a server span from its arrival to its end, and, if it was let through, a client span inside it for the time that
//! the upstream had it. Their ids follow from the id of the call, so that what goes on to the upstream needs no table.

mod export;
mod otlp;
mod span;

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use interlock_sync::store::OpId;
use tokio::sync::Notify;

use super::options::{OpsError, TraceOptions};
use crate::traceparent::Traceparent;

pub(super) use self::export::Collector;
pub(super) use self::span::Span;
use self::span::ids;

/// How many spans may wait to be sent.
const ROOM: usize = 4096;
/// How many are sent together.
const BATCH: usize = 512;

/// The recorder.
#[derive(Debug)]
pub(super) struct Traces {
    per_mille: u64,
    queue: Mutex<Vec<Span>>,
    /// Somebody should send now instead of waiting for the next second.
    full: Notify,
    dropped: AtomicU64,
    service: String,
    collector: Collector,
}

impl Traces {
    /// A recorder for a collector.
    pub(super) fn new(options: &TraceOptions) -> Result<Self, OpsError> {
        Ok(Self {
            per_mille: u64::from(options.per_mille.min(1000)),
            queue: Mutex::default(),
            full: Notify::new(),
            dropped: AtomicU64::new(0),
            service: options.service.clone(),
            collector: Collector::new(&options.endpoint, "/v1/traces", &options.headers)?,
        })
    }

    /// Where a call comes from, and whether it is recorded: as its parent says, or as chance has it.
    pub(super) fn is_recorded(&self, id: OpId, parent: Option<Traceparent>) -> bool {
        match parent {
            Some(parent) => parent.is_sampled(),
            None => ids(id).server % 1000 < self.per_mille,
        }
    }

    /// What a call carries to its upstream.
    pub(super) fn outgoing(&self, id: OpId, parent: Option<Traceparent>) -> Traceparent {
        let ids = ids(id);
        Traceparent {
            trace: parent.map_or(ids.trace, |parent| parent.trace),
            span: ids.client,
            flags: u8::from(self.is_recorded(id, parent)),
        }
    }

    /// Takes a finished call.
    pub(super) fn push(&self, span: Span) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() >= ROOM {
            drop(queue);
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        queue.push(span);
        let is_batch = queue.len() == BATCH;
        drop(queue);
        if is_batch {
            self.full.notify_one();
        }
    }

    /// How many calls were never sent.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn give_back(&self, spans: &mut Vec<Span>) {
        if !spans.is_empty() {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.append(spans);
        }
    }

    fn take(&self) -> Vec<Span> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let most = queue.len().min(BATCH);
        queue.drain(..most).collect()
    }
}
