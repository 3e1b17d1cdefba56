//! What a rule sees: every entry point of the program with its calls inlined, step by step, and the questions that rules ask of it.
//!
//! An [`Entry`] is one entry point: a tool's handler, something that an event starts, the start-up code, or a function that nothing
//! reaches. Its steps stand in the order of the source, callees in place of their calls. What is known of them is in four rooms:
//! [`control`](Entry::control) flow, data [`flow`](Entry::flow), [`alias`](Entry::alias)es and [`locks`](Entry::locks). A [`View`] has all entries, and answers
//! who can come [in between](View::reach).

mod alias;
mod background;
mod beside;
mod confidence;
mod control;
mod describe;
mod entry;
mod facts;
mod flow;
mod kinds;
mod locks;
mod position;
mod reach;

pub(crate) use alias::objects::{Location, Names, Objects};
pub use alias::{
    Alias,
    pattern::{Pattern, Piece},
    resolve::Overlap,
};
pub use control::{Control, Escape, Retry, build::Expanded};
pub use entry::{At, Entry, Runs, Step};
pub use facts::Facts;
pub use flow::Flow;
pub use kinds::Kinds;
pub use locks::{Locks, window::RaceWindow};
pub use reach::View;
