//! `cargo xtask new`: lays out what the layout promises to be one folder and one line, so that nobody copies a neighbour and
//! forgets half of it.

mod hazard;
mod name;

use anyhow::Result;
use clap::Subcommand;

use crate::root::Root;

/// What can be laid out.
#[derive(Subcommand)]
pub(crate) enum What {
    /// A hazard: its folder, its module line and its place in the registry
    Hazard {
        /// The danger in kebab-case, such as lost-update
        name: String,
    },
}

/// Lays it out.
pub(crate) fn run(root: &Root, what: &What) -> Result<()> {
    match what {
        What::Hazard { name } => hazard::create(root, name),
    }
}
