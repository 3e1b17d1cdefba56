//! The gate at the door of a server: no call starts after the closing, and what was opened is closed again.
//!
//! [`Gate`] counts calls in and out and is closed once, for good. [`start_all`] opens the parts of a server one after the other or
//! side by side; when one fails it closes those that had opened, and what it returns closes the gate first and then the parts.
//!
//! | I want to | use |
//! |---|---|
//! | keep a call from running while its connection is torn down | [`Gate::enter`] in the call, [`Gate::close`] before the teardown |
//! | not leak the first part when the second does not start | [`start_all`] |

mod close;
mod core;
mod failure;
mod parts;
mod start;

pub use self::{
    core::{Closed, Drained, Gate, Inside, OwnedInside},
    failure::{BoxError, CloseFailure, Closing, OpenError, StartError},
    parts::{CloseAnswer, Parts},
    start::{Started, start_all},
};
