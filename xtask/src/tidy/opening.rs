//! Every source file opens with a `//!` line that says why it exists. Rustdoc asks for that only where an item is public, and
//! the private files are the ones a newcomer has to guess about.

use anyhow::Result;

use super::{Problem, Report};
use crate::workspace::Workspace;

/// Looks at the first line of each source file.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut problems = Vec::new();
    for file in workspace.with_extension(&["rs"]) {
        if !opens(&workspace.root.read(file)?) {
            problems.push(Problem::new(
                file,
                1,
                "the first line must be a `//!` sentence that says why the file exists",
            ));
        }
    }
    Ok(problems.into())
}

fn opens(source: &str) -> bool {
    source
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("//!"))
        .is_some_and(|sentence| !sentence.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_opens_with_a_sentence_or_it_does_not() {
        assert!(opens("//! Why it exists.\n\nfn x() {}\n"));
        for source in ["", "\n//! Late.\n", "// Plain.\n", "/// Of an item.\n", "//!\n", "#![x]\n//! Late.\n"]
        {
            assert!(!opens(source), "{source:?}");
        }
    }

    #[test]
    fn only_source_files_that_do_not_open_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::of_test(
            folder.path(),
            &[("good.rs", "//! Good.\n"), ("bad.rs", "fn x() {}\n"), ("x.md", "x\n")],
        );
        let report = check(&workspace).unwrap();
        assert_eq!(report.problems.iter().map(|at| at.file.as_str()).collect::<Vec<_>>(), ["bad.rs"]);
    }
}
