//! What a rule sees: every way into the program with its calls already followed, step by step, and the questions that rules ask of it.
//!
//! An [`Entry`] is one way in: a tool's handler, something that an event starts, the start-up code, or a function that nothing
//! reaches. Its steps stand in the order of the source, helpers in place of their calls, with edges for where control may go. On
//! top of that are answers: what a [value comes from](Entry::sources), what [decided](Entry::control_dependences) that a step runs, what
//! [lies between](Entry::gap) two steps, who can [come in between](View::reach), and where to [point](Entry::place).

mod ahead;
mod alike;
mod beside;
mod build;
mod connection;
mod dangling;
mod edges;
mod entry;
mod facts;
mod flow;
mod here;
mod inside;
mod kept;
mod kinds;
mod names;
mod objects;
mod ops;
mod own_id;
mod position;
mod reach;
mod records;
mod retry;
mod sources;
mod window;
mod words;

pub use build::Expanded;
pub use entry::{At, Entry, Runs, Step};
pub use facts::Facts;
pub use kinds::Kinds;
pub use names::Overlap;
pub(crate) use objects::{Location, Names, Objects};
pub use reach::View;
pub use records::{Pattern, Piece};
pub use retry::Retry;
pub use window::{Escape, RaceWindow};
