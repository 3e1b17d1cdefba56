//! Static analysis of MCP servers: from a tree of sources to findings with witnesses.
//!
//! [`scan`] walks the given paths, lowers every file by itself on a pool of threads, links the files of a language into one program,
//! lets the rules look at it, and turns what they found into a [`Report`](interlock_model::Report). [`Engine`] is the same for sources
//! that are already in memory, step by step. Nothing here prints, exits or reads the environment.

mod scan;

mod walk;

mod cache;
mod engine;
mod examine;

mod analyse;
mod expand;

mod advice;
mod causes;
mod finish;
mod hardening;
mod remedy;
mod score;
mod unmade;

mod config;
mod suppress;

mod baseline;
mod since;

mod inspect;

pub mod fix;
mod write;

pub use analyse::{Analysed, AttributedIssue, analyse};
pub use baseline::BaselineError;
pub use cache::Cache;
pub use config::{ConfigError, unknown_hazard};
pub use engine::{Engine, EngineError};
pub use inspect::{NotFound, dump_ir, why};
pub use scan::{Phase, Progress, Request, ScanError, Scanned, Sources, files, scan};
pub use score::score;
pub use since::SinceError;
pub use walk::WalkError;
pub use write::{WriteError, replace};

#[cfg(test)]
mod tests;
