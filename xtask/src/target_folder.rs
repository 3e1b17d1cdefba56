//! Where cargo puts what it builds.

use std::path::PathBuf;

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

use crate::root::Root;

/// The target folder; the environment may have moved it.
pub(crate) fn of(root: &Root) -> Result<PathBuf> {
    let metadata = MetadataCommand::new()
        .current_dir(root.path())
        .no_deps()
        .exec()
        .context("failed to ask cargo for the target folder; `cargo metadata --no-deps` says why")?;
    Ok(metadata.target_directory.into_std_path_buf())
}
