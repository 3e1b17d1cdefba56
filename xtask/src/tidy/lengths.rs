//! The longest source files, as a remark: a long file is a question to its authors, not an error.

use std::cmp::Reverse;

use anyhow::Result;

use super::Report;
use crate::workspace::Workspace;

/// How many files are shown in any case.
const SHOWN: usize = 10;

/// Above these a file is always shown, with a word.
const THINK: usize = 400;
const SPLIT: usize = 600;

/// Counts lines.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut lengths = Vec::new();
    for file in workspace.with_extension(&["rs"]) {
        lengths.push((file, workspace.root.read(file)?.lines().count()));
    }
    Ok(Report { problems: Vec::new(), remarks: remarks(lengths) })
}

fn remarks(mut lengths: Vec<(&str, usize)>) -> Vec<String> {
    lengths.sort_by_key(|&(file, lines)| (Reverse(lines), file));
    let shown = lengths.iter().enumerate().filter(|(index, (_, lines))| *index < SHOWN || *lines > THINK);
    let remark = shown.map(|(_, &(file, lines))| match lines {
        lines if lines > SPLIT => format!("{lines:>4} {file} (split)"),
        lines if lines > THINK => format!("{lines:>4} {file} (think)"),
        lines => format!("{lines:>4} {file}"),
    });
    remark.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_files_are_shown_and_the_long_ones_are_marked() {
        let names: Vec<String> = (0..12).map(|index| format!("f{index:02}.rs")).collect();
        let lengths: Vec<(&str, usize)> = names
            .iter()
            .zip([10, 601, 600, 401, 400, 9, 8, 7, 6, 5, 4, 3])
            .map(|(name, n)| (name.as_str(), n))
            .collect();
        let remarks = remarks(lengths);
        assert_eq!(remarks.len(), SHOWN);
        assert_eq!(
            remarks[..5],
            [
                " 601 f01.rs (split)",
                " 600 f02.rs (think)",
                " 401 f03.rs (think)",
                " 400 f04.rs",
                "  10 f00.rs"
            ]
        );
    }

    #[test]
    fn a_long_file_is_shown_even_beyond_the_ten() {
        let names: Vec<String> = (0..12).map(|index| format!("f{index:02}.rs")).collect();
        assert_eq!(remarks(names.iter().map(|name| (name.as_str(), 450)).collect()).len(), 12);
    }
}
