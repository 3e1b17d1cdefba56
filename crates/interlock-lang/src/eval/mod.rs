//! What things are: abstract interpretation on demand, over all files of a program.
//!
//! `index` notes what is written where, in one `walk`; `key` names places. The [`Evaluator`] answers what is found at a path, through variables, fields,
//! parameters, results and closures: `values` of a function, `callbacks` and who calls them, `places` of the program, `classes`, `shapes` of interfaces; `presence` says what is surely there; `alias` says
//! what is another name of what, `target` what a call reaches, `library` what the knowledge says of a library's call. A [`value`] may be
//! one of several, and `memo` keeps answers such that nothing depends on who asked first. All of that holds for all callers together;
//! [`context`] answers for one way to a function at a time.

mod alias;
pub(crate) mod builtins;
mod callbacks;
mod classes;
pub(crate) mod context;
mod evaluator;
mod index;
mod key;
pub(crate) mod library;
mod memo;
mod paths;
mod presence;
mod shapes;
mod target;
mod value;
mod values;
mod walk;

pub(crate) use alias::last_name;
pub(crate) use evaluator::{Evaluator, World};
pub(crate) use index::{CallAt, Definition, Index};
pub(crate) use key::{exact_name, exact_place, further};
pub(crate) use target::{Alternatives, Reached};
pub(crate) use value::AbstractValue;
pub(crate) use values::bare;
