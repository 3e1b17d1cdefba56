//! The guard as its users meet it: the real program in front of real servers. The short form of what `cargo xtask soak guard` runs longer.
#![cfg(target_os = "linux")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "a soak says what held")]

mod again;
mod callers;
mod cancelling;
mod doors;
mod effects;
mod ending;
mod fuzz;
mod hostile;
mod impatient;
mod kit;
mod namespaces;
mod official;
mod operations;
mod page;
mod promises;
mod prove;
mod raw;
mod reload;
mod replicas;
mod secure;
mod smuggled;
mod spell;
mod stale;
mod storms;
mod takeover;
mod usage;
mod wanderers;
