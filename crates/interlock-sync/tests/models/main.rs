//! The primitives under a scheduler that tries many orders of their steps: the same files as in the library, compiled with mutexes
//! whose every lock and unlock is a point where another task may go on.

#![expect(
    dead_code,
    unreachable_pub,
    reason = "the files of the library are compiled again, and not all is used"
)]
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "all of this is a test")]

mod flaws;
mod flights;
mod harness;
mod keys;
mod lock;
mod once;
mod onces;
mod prim;
#[path = "../../src/shards.rs"]
mod shards;
mod single_flight;
mod subject;
#[path = "../../src/wakes.rs"]
mod wakes;
