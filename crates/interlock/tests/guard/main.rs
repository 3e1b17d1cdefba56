//! The guard as its users meet it: the real program in front of real servers. The short form of what `cargo xtask soak guard` runs longer.
#![cfg(target_os = "linux")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stdout, reason = "a soak says what held")]

mod again;
mod effects;
mod ending;
mod hostile;
mod kit;
mod official;
mod prove;
mod raw;
mod replicas;
mod stale;
mod usage;
