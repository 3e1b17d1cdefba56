//! What starts, restarts and ends, and in which order.
//!
//! ```text
//!  Manager ── start_all ──▶ Keeper ──▶ Start::start ──▶ Live      one keeper per upstream, all at once
//!     │                        │  ▲                      │
//!     │                        │  └── pause, again ◀──── gone
//!     └── close: gate, deadline, cancel, end ──▶ Process: stdin closed, SIGTERM, SIGKILL, reaped
//! ```
//!
//! But for `upstreams`, this folder knows nothing of messages: what is kept alive is anything that can be started, says when it is gone, and
//! can be ended.

mod failure;
mod keep;
mod live;
mod manager;
mod phase;
pub mod process;
mod restarts;
#[cfg(test)]
mod tests;
mod upstreams;

pub use self::{
    failure::{Away, ManageError, StartFailure},
    keep::Keeper,
    live::{Live, Start},
    manager::{GivenUp, Manager, Settings},
    phase::{Phase, Phases},
    restarts::Restarts,
    upstreams::{Greeting, Kept, Up},
};
