//! Everything goes to whoever subscribed to `tracing`.

use std::future::Future;

use tracing::{Instrument, debug_span, info, instrument::Instrumented, warn};

pub(super) const TARGET: &str = "interlock_sync";

/// The same future, with all that happens in it inside a span.
pub(crate) fn waiting<F: Future>(tool: &str, future: F) -> Instrumented<F> {
    future.instrument(debug_span!(target: TARGET, "wait", tool))
}

/// The same future: a wait for what a store lends, by its key.
pub(crate) fn waiting_for<F: Future>(what: &'static str, key: &str, future: F) -> Instrumented<F> {
    future.instrument(debug_span!(target: TARGET, "wait", what, key))
}

pub(crate) fn refused(tool: &str, reason: &'static str) {
    info!(target: TARGET, tool, reason, "refused");
}

pub(crate) fn lost(what: &'static str, key: &str, fence: Option<u64>) {
    warn!(target: TARGET, what, key, fence, "lease lost");
}

pub(crate) fn in_doubt(key: &str, fence: u64) {
    warn!(target: TARGET, key, fence, "in doubt");
}
