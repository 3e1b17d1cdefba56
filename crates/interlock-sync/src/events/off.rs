//! Nobody listens.

use std::future::Future;

/// The same future.
pub(crate) fn waiting<F: Future>(_tool: &str, future: F) -> F {
    future
}

/// The same future.
pub(crate) fn waiting_for<F: Future>(_what: &'static str, _key: &str, future: F) -> F {
    future
}

pub(crate) fn refused(_tool: &str, _reason: &'static str) {}

pub(crate) fn lost(_what: &'static str, _key: &str, _fence: Option<u64>) {}

pub(crate) fn in_doubt(_key: &str, _fence: u64) {}
