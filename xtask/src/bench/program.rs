//! Where cargo puts what is measured.

use anyhow::{Context, Result};

use crate::{root::Root, target_folder};

/// Where cargo put a release build.
pub(crate) fn release_program(root: &Root, name: &str) -> Result<String> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = target_folder::of(root)?.join("release").join(file);
    path.into_os_string().into_string().ok().context("the path of the target folder is no UTF-8")
}
