//! Stores for `interlock-sync`: one folder per backend, opened by URL.
//!
//! Every backend passes the same suite, `tests/conformance`. Adding one is a folder and a line; `cargo xtask gen` writes the list.

mod all;
mod open;
#[cfg(test)]
mod twins;

// backends: begin
pub mod memory;
pub mod postgres;
pub mod redis;
pub mod sqlite;
// backends: end

pub use open::{Backend, OpenError, Options, caveats, open};
