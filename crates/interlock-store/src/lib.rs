//! Stores for `interlock-sync`: one folder per backend, opened by URL.
//!
//! | URL | feature | for |
//! |---|---|---|
//! | `memory:` | always there | one process |
//! | `sqlite:PATH` | `sqlite` | the processes of one machine |
//! | `redis://…` | `redis` | many machines; Redis or Valkey from 6.2 on |
//! | `postgres://…` | `postgres` | many machines; what must not be lost |
//! | `rediss://…`, `postgres://…?sslmode=verify-full` | `tls` as well | a network that others can reach |
//!
//! Every backend passes the same suite, `tests/conformance`. Adding one is a folder and a line; `cargo xtask gen` writes the list.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod all;
mod open;
#[cfg(all(feature = "tls", feature = "postgres"))]
mod tls;
#[cfg(test)]
mod twins;

// backends: begin
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;
// backends: end

pub use open::{Backend, Caveat, OpenError, Options, caveats, open};

/// What the README shows, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
