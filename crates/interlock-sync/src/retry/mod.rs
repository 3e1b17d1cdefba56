//! Trying again: a bounded number of times, ever later, and never all at once.
//!
//! Callers that lost a race and come back at the same moment lose the next one too. So each waits for a time drawn anew between nothing
//! and a limit that doubles (*full jitter*), and gives up after so many tries or so much time. [`Retry`] is the policy, [`retry`] applies
//! it. Time and chance are arguments ([`Timer`], [`Chance`]), so that a test can hold them.

mod chance;
mod policy;
mod polling;
mod run;

pub use self::{
    chance::{Chance, Dice},
    policy::{Delays, Jitter, Retry},
    run::{Again, Timer, TokioTimer, retry, retry_with},
};
pub(crate) use self::{polling::Polling, run::retry_store};
