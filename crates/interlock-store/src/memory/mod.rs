//! `memory:`, the store of `interlock-sync` itself: for one process, gone with it.

use std::sync::Arc;

use interlock_sync::{clock::MonotonicClock, memory::MemoryStore};

use crate::{
    Backend, OpenError, Options,
    open::{Opening, without_secrets},
};

/// The entry in the list of backends.
pub const BACKEND: Backend = Backend { schemes: &["memory"], example: "memory:", open, caveats: None };

fn open(url: &str, options: &Options) -> Opening {
    let opened = if url == "memory:" {
        let clock = options.clock.clone().unwrap_or_else(|| Arc::new(MonotonicClock::default()));
        Ok(Arc::new(MemoryStore::new(clock, options.remember_ops)) as _)
    } else {
        Err(OpenError::Malformed { url: without_secrets(url), reason: "nothing may follow `memory:`".into() })
    };
    Box::pin(async { opened })
}
