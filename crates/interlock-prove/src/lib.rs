//! Prove: the same calls one after another and together, on the live server; what only happens together is a race.
//!
//! Reading order: a [`Target`] is started as often as needed, kept apart by [`isolate`]; `connect` speaks with one instance; `lab` makes a run of a set of
//! calls, in an order or together; `serial` collects what every order comes to, and `mask` takes out what varies anyway; `judge`
//! holds a run against that; `explore` decides what to try next, and looks again before it calls anything broken.

pub mod clock;
mod connect;
mod explore;
mod files;
pub mod isolate;
mod judge;
mod lab;
pub mod launch;
mod list;
mod mask;
pub mod perturb;
mod request;
mod serial;
mod target;
mod trouble;

pub use connect::{Address, InvalidAddress};
pub use explore::{prove, replay};
pub use files::{FILES, in_processes};
pub use list::{Settled, list, settle, tools};
pub use request::{Ask, Budget, Progress, Proved, Quiet, Request};
pub use target::{Patience, Target, fill};
pub use trouble::Trouble;
pub mod plan;
