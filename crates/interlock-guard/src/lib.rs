//! The guard: a gateway that makes an unchanged MCP server safe to call in parallel.
//!
//! It works on messages. What it must understand (the handshake, lists of tools, calls, cancellation, progress) it reads in place; the
//! bytes of everything go on as they came, so that fields, methods and revisions nobody here has heard of survive.
//!
//! ```text
//!  client ──▶ listen ──▶ session ──▶ desk ──▶ upstream ──▶ server
//!             stdio       who,        may it    stdio
//!             HTTP        which era   run now?  HTTP
//!                                      │
//!                              policy ─┴─ store (one atomic step)
//! ```
//!
//! | folder | question |
//! |---|---|
//! | [`message`] | what does a message say, and how is one part of it changed without touching the rest? |
//! | [`listen`] | how do clients reach us? |
//! | [`lane`] | on which thread is a client served? |
//! | [`identity`] | who is this, verified? |
//! | [`session`] | which messages belong together, and who gets what a server says by itself? |
//! | [`desk`] | may this call run, and what does it hold until it ended? |
//! | [`policy`] | what was decided beforehand, by whoever wrote `guard.toml`? |
//! | [`upstream`] | how do we reach the servers? |
//! | [`leftover`] | what is left of a guard that died, and who cleans up? |
//! | [`manage`] | what starts, restarts and ends, and in which order? |
//! | [`ops`] | what can an operator see? |

pub mod call;
pub mod desk;
pub mod event;
mod headers;
pub mod identity;
pub mod lane;
pub mod leftover;
pub mod listen;
pub mod manage;
pub mod message;
pub mod ops;
pub mod policy;
mod prim;
pub mod session;
pub mod traceparent;
pub mod upstream;
mod within;
