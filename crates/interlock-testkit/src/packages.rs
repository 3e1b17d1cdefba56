//! Packages of npm and PyPI that tests run, installed by `cargo xtask servers`.

use std::path::{Path, PathBuf};

/// Where packages are installed. `scratch` is what Cargo gives a test as `CARGO_TARGET_TMPDIR`, which lies beside them.
///
/// # Panics
/// If they are not there.
#[must_use]
pub fn installed(scratch: &str, name: &str) -> PathBuf {
    let folder = Path::new(scratch).parent().expect("a target folder").join("servers").join(name);
    assert!(
        folder.join("installed.txt").is_file(),
        "there are no packages in {}: `cargo xtask servers` installs them",
        folder.display()
    );
    folder
}
