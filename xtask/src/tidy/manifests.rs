//! Every crate takes its lints from the workspace. A manifest that forgot the line would build, and nothing that we forbid would be
//! forbidden in it.

use anyhow::Result;

use super::{Problem, Report};
use crate::workspace::Workspace;

/// Looks for the line in the manifest of every crate.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut problems = Vec::new();
    for file in workspace.with_extension(&["toml"]).filter(|file| file.ends_with("/Cargo.toml")) {
        let manifest = workspace.root.read(file)?;
        if manifest.contains("\n[package]") || manifest.starts_with("[package]") {
            problems.extend((!takes_our_lints(&manifest)).then(|| {
                Problem::new(
                    file,
                    1,
                    "does not take the lints of the workspace: add `[lints]` with `workspace = true`",
                )
            }));
        }
    }
    Ok(problems.into())
}

fn takes_our_lints(manifest: &str) -> bool {
    let section = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    section.take_while(|line| !line.starts_with('[')).any(|line| line.replace(' ', "") == "workspace=true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_the_line_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let manifests = [
            ("crates/good/Cargo.toml", "[package]\n[lints]\nworkspace = true\n"),
            ("crates/bad/Cargo.toml", "[package]\n[lints]\n[x]\nworkspace = true\n"),
            ("crates/worse/Cargo.toml", "[package]\n"),
            ("other/config.toml", "[package]\n"),
        ];
        let workspace = Workspace::of_test(folder.path(), &manifests);
        let files: Vec<String> = check(&workspace).unwrap().problems.into_iter().map(|at| at.file).collect();
        assert_eq!(files, ["crates/bad/Cargo.toml", "crates/worse/Cargo.toml"]);
    }
}
