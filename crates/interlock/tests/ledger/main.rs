//! The reference server as its users meet it: the real program, a real MCP client, real processes around it.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod backends;
mod bad_input;
mod burst;
mod crash;
mod ending;
mod identity;
mod kit;
mod orders;
mod shop;
mod tools;
mod twins;
