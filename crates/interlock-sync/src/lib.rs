//! Atomic primitives that make the tool calls of an MCP server race-free, on one machine and on many.
//!
//! A primitive is a whole operation: there is no gap in it that a caller could fall into. What cannot be granted is refused with a value
//! that says why, and when to come back. Those that work on a [`Store`](store::Store) mean the same on memory, SQLite, Redis and
//! PostgreSQL; `interlock-store` opens one by URL.
#![doc = include_str!("which.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(target_os = "linux")]
pub mod files;
pub mod gate;
pub mod idempotency;
pub mod in_flight;
pub mod lease;
pub mod lock;
pub mod once;
pub mod rate;
pub mod record;
pub mod retry;
pub mod session;
pub mod single_flight;

pub mod adapt;

pub mod store;

pub mod clock;
#[doc(hidden)]
pub mod decide;
pub mod memory;
pub mod spell;

mod events;
mod heard;
mod prim;
mod race;
mod shards;
mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod turn;
mod wakes;

/// What the README shows, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
