//! How findings and proofs are written down: one folder or file per format, and the only place with wire types.
//!
//! Every format is a function from a [`Report`](interlock_model::Report) to text, the same text for the same report; [`proof`] has the
//! same for a [`ProofReport`](interlock_model::ProofReport), and [`audit`] joins the two. Nothing here
//! opens a file: source lines come from the caller, and so do the facts that only the catalogue has, as [`Rule`]s.
//!
//! Names, messages and source lines come from trees that nobody has vouched for, so each format makes them harmless in its own way:
//! the terminal gets no escape sequence out of them, GitHub no second command, Markdown and HTML no markup.

mod clean;
mod command;
mod encode;
mod rule;
mod summary;

pub mod audit;
pub mod github;
pub mod inspect;
pub mod json;
pub mod markdown;
pub mod proof;
pub mod sarif;
pub mod text;

pub use rule::Rule;
