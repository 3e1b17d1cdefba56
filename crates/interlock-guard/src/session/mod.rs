//! Which messages belong together, and who gets what a server says by itself.
//!
//! A `Session` is one client: the one on stdio, one with a session over HTTP, or all those together that have none because
//! their revision does not. It knows a conversation with each upstream, its requests in flight, and what servers asked it.

mod asks;
mod call;
mod cancel;
mod client;
mod engine;
mod entry;
mod flights;
mod greeting;
mod hidden;
mod merge;
mod notify;
mod outbox;
mod pass;
pub(crate) mod revision;
mod route;
mod streams;
mod table;
mod tasks;

pub use self::engine::Engine;
pub(crate) use self::{
    call::{Said, Step, Who},
    client::{Session, Style},
    entry::Unheard,
    outbox::{Outbox, Reader},
    pass::Passes,
};
