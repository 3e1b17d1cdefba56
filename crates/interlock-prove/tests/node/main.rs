//! The Node perturbation against real Node processes: small servers of our own, every schedule on a fresh instance.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a check that meets what it does not expect has failed"
)]

mod files;
mod locks;
mod outside;
mod processes;
mod server;
mod timers;
mod windows;
