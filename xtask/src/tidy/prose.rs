//! No file names a path of the machine it was written on: it would be wrong everywhere else and tells who wrote it.

use anyhow::Result;

use super::{Problem, Report, strip::is_word};
use crate::workspace::Workspace;

/// Where people's own folders lie, on Linux and macOS. In pieces, so that this file does not report itself.
const HOMES: &[&str] = &[concat!("/", "home/"), concat!("/", "root/"), concat!("/", "Users/")];

/// The files that people write by hand.
const EXTENSIONS: &[&str] = &["rs", "md", "toml", "sh"];

/// Looks through every line, for people's folders and for the folder that this checkout lies in.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut problems = Vec::new();
    let here = workspace.root.path().display().to_string();
    let scripts = workspace.files.iter().map(String::as_str).filter(|file| file.starts_with(".ci/"));
    for file in workspace.with_extension(EXTENSIONS).chain(scripts) {
        for (index, line) in workspace.root.read(file)?.lines().enumerate() {
            let folder = home_in(line).or_else(|| line.contains(&here).then_some(&here));
            if let Some(folder) = folder {
                let text = format!("names a folder below `{folder}`, which only its writer's machine has");
                problems.push(Problem::new(file, index + 1, text));
            }
        }
    }
    Ok(problems.into())
}

fn home_in(line: &str) -> Option<&'static str> {
    let names_a_folder = |home: &&str| {
        line.match_indices(home)
            .any(|(at, _)| line.get(at + home.len()..).is_some_and(|rest| rest.starts_with(is_word)))
    };
    HOMES.iter().copied().find(|home| names_a_folder(home))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_person_is_reported_and_the_bare_word_is_not() {
        for home in HOMES {
            assert_eq!(home_in(&format!("see {home}someone/notes")), Some(*home));
            assert_eq!(home_in(&format!("{home} and {home}x")), Some(*home));
            assert_eq!(home_in(&format!("below {home}")), None);
            assert_eq!(home_in(&format!("{home}<name>")), None);
        }
        assert_eq!(home_in("the root of a home for users"), None);
    }

    #[test]
    fn the_line_is_named_and_other_kinds_of_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("fine\n{}me\n", HOMES[0]);
        let workspace = Workspace::of_test(folder.path(), &[("a.md", &text), ("a.json", &text)]);
        let places: Vec<(String, usize)> =
            check(&workspace).unwrap().problems.into_iter().map(|at| (at.file, at.line)).collect();
        assert_eq!(places, [("a.md".to_owned(), 2)]);
    }
}
