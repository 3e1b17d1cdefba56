//! The front ends: source code lowered to the effect IR, one folder per language.
//!
//! Lowering goes in two steps, so that files can be read side by side and none of their syntax trees has to be kept. A file becomes a
//! [`Module`] by itself, and that is where a [front end](Frontend) ends; then all modules of a tree are [linked](link()) into one
//! program, in `link/` and `tools/`, which are written once for all languages: imports are followed, calls find their functions, calls
//! of libraries become the effects that the [`knowledge`] has of them, and handlers of tools are found.
//!
//! Nothing here opens a file or starts a thread: text comes in, IR goes out. Nothing here fails either: what is not understood
//! becomes a note.

mod all;
mod asked;
mod call;
mod frontend;
mod lines;
mod lower;
pub mod module;
mod repair;
mod resolve;
mod semantics;
mod tables;
mod val;

pub mod knowledge;

mod eval;
mod link;
mod tools;

#[cfg(test)]
mod toy;

// languages: begin
pub mod go;
pub mod python;
pub mod typescript;
// languages: end

pub use all::ALL;
pub use call::{Arg, Call, Kind, Made, NoSurroundings, Outcome, Shape, Surroundings, Target};
pub use frontend::{Frontend, Language, Package, Source, link};
pub use module::Module;
pub use repair::{Edit, Repair, Repaired, Request};
pub use resolve::{Handlers, Layout, Resolve, Resolved, Schema};
pub use semantics::{Lookup, Semantics};
pub use tables::Tables;
