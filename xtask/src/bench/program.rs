//! Where cargo puts what is measured.

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

use crate::root::Root;

/// Where cargo put a release build; the target folder may have been moved by the environment.
pub(crate) fn release_program(root: &Root, name: &str) -> Result<String> {
    let metadata = MetadataCommand::new()
        .current_dir(root.path())
        .no_deps()
        .exec()
        .context("failed to ask cargo for the target folder; `cargo metadata --no-deps` says why")?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    Ok(metadata.target_directory.join("release").join(file).into_string())
}
