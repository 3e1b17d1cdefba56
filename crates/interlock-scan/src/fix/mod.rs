//! `--fix`: what a front end can change by itself, shown as a diff or written to the files.
//!
//! A front end proposes; here it is made sure that the outcome still reads, that a file is the one that was scanned, and that it is
//! replaced whole or not at all.

mod apply;
mod diff;
mod plan;
mod spot;

#[cfg(test)]
mod tests;

pub use self::{
    apply::ApplyError,
    plan::{Fix, plan},
    spot::Spot,
};
