//! Every crate takes its lints from the workspace: a manifest that forgot the line would build, and nothing that we forbid would be
//! forbidden in it. And what users install is stripped: nothing else would notice a program of several times the size.

use anyhow::Result;

use super::{Problem, Report};
use crate::workspace::Workspace;

/// Looks for the lints in the manifest of every crate, and for the stripped release in that of the workspace.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut problems = Vec::new();
    for file in workspace.with_extension(&["toml"]).filter(|file| file.ends_with("/Cargo.toml")) {
        let manifest = workspace.root.read(file)?;
        if has_section(&manifest, "[package]") {
            problems.extend((!takes_our_lints(&manifest)).then(|| {
                Problem::new(
                    file,
                    1,
                    "does not take the lints of the workspace: add `[lints]` with `workspace = true`",
                )
            }));
        }
    }
    if workspace.with_extension(&["toml"]).any(|file| file == "Cargo.toml")
        && !strips_releases(&workspace.root.read("Cargo.toml")?)
    {
        let why = "does not strip what users install: add `strip = \"symbols\"` to `[profile.release]`";
        problems.push(Problem::new("Cargo.toml", 1, why));
    }
    Ok(problems.into())
}

fn has_section(manifest: &str, section: &str) -> bool {
    manifest.lines().any(|line| line.trim() == section)
}

fn takes_our_lints(manifest: &str) -> bool {
    section(manifest, "[lints]").any(|line| line == "workspace=true")
}

fn strips_releases(manifest: &str) -> bool {
    section(manifest, "[profile.release]").any(|line| line == "strip=\"symbols\"")
}

/// The lines of a section, without spaces.
fn section(manifest: &str, name: &str) -> impl Iterator<Item = String> {
    let lines = manifest.lines().map(str::trim).skip_while(move |line| *line != name).skip(1);
    lines.take_while(|line| !line.starts_with('[')).map(|line| line.replace(' ', ""))
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

    #[test]
    fn a_release_that_keeps_its_symbols_is_reported() {
        let stripped = "[profile.release]\nstrip = \"symbols\"\n";
        let elsewhere = "[profile.release]\ndebug = 1\n[profile.x]\nstrip = \"symbols\"\n";
        for (manifest, problems) in [(stripped, 0), (elsewhere, 1), ("[workspace]\n", 1)] {
            let folder = tempfile::tempdir().unwrap();
            let workspace = Workspace::of_test(folder.path(), &[("Cargo.toml", manifest)]);
            assert_eq!(check(&workspace).unwrap().problems.len(), problems, "{manifest}");
        }
    }
}
