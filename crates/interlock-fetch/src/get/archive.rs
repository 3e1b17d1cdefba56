//! A file that is here: unpacked, with no link and no program in what comes out.

use std::path::Path;

use super::{Fetched, stage};
use crate::{
    archive::{unpack, unwrap},
    run::{FetchError, Run},
};

pub(super) fn get(run: &Run<'_>, file: &Path) -> Result<Fetched, FetchError> {
    let stage = stage()?;
    let tree = stage.path().join("tree");
    std::fs::create_dir(&tree)?;
    run.watcher.doing("unpacking");
    unpack(run, file, &tree)?;
    let folder = unwrap(&tree);
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    Ok(Fetched {
        origin: vec![format!("unpacked {name}, without links")],
        start: crate::start::start(&folder),
        folder,
        is_foreign: true,
        stage: Some(stage),
    })
}
