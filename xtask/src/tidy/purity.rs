//! The pure crates touch neither files, network, processes, environment, threads, clock, chance nor tasks: then a rule can be
//! judged by a value in a test, and a scan is the same from run to run. The dependency table keeps the crates of others out;
//! this check keeps out what the standard library would hand them.

use anyhow::Result;

use super::{
    Problem, Report,
    layers::LAYERS,
    paths::{Named, paths},
    strip::code_only,
};
use crate::workspace::Workspace;

/// Parts of the standard library, as the beginning of a path.
const PATHS: &[&[&str]] =
    &[&["std", "fs"], &["std", "net"], &["std", "process"], &["std", "env"], &["std", "thread"]];

/// Names that are refused wherever they stand.
const NAMES: &[&str] = &["Instant", "SystemTime", "tokio", "rand"];

/// Looks through the sources of the pure crates, their tests included.
pub(super) fn check(workspace: &Workspace) -> Result<Report> {
    let mut problems = Vec::new();
    for layer in LAYERS.iter().filter(|layer| layer.pure.is_some()) {
        let folder = format!("crates/{}/src/", layer.name);
        for file in workspace.with_extension(&["rs"]).filter(|file| file.starts_with(&folder)) {
            let source = workspace.root.read(file)?;
            problems.extend(impurities(&source).into_iter().map(|(line, name)| {
                Problem::new(
                    file,
                    line,
                    format!("{} is pure and may not mention `{name}`; take it as an argument", layer.name),
                )
            }));
        }
    }
    Ok(problems.into())
}

/// The line and name of everything that a pure crate may not mention.
fn impurities(source: &str) -> Vec<(usize, String)> {
    paths(&code_only(source))
        .iter()
        .filter_map(|named| refused(named).map(|name| (named.line, name)))
        .collect()
}

/// A path is refused at the word that makes it so; the words after that are not counted again.
fn refused(named: &Named) -> Option<String> {
    let path: Vec<&str> = named.path.iter().map(String::as_str).collect();
    let is_refused = PATHS.contains(&path.as_slice()) || path.last().is_some_and(|last| NAMES.contains(last));
    is_refused.then(|| path.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, expected: &[(usize, &str)]) {
        let expected: Vec<(usize, String)> =
            expected.iter().map(|&(line, name)| (line, name.to_owned())).collect();
        assert_eq!(impurities(source), expected, "{source}");
    }

    #[test]
    fn a_path_into_the_impure_part_of_the_standard_library_is_reported_once() {
        found("use std::fmt;\nlet x = std::fs::read(path);", &[(2, "std::fs")]);
        found("use std::{collections::BTreeMap, env, fmt};", &[(1, "std::env")]);
        found("::std::thread::spawn(f);", &[(1, "std::thread")]);
    }

    #[test]
    fn clock_chance_and_tasks_are_reported_by_name() {
        found("use std::time::{Duration, Instant};", &[(1, "std::time::Instant")]);
        found("tokio::spawn(x);\nrand::random()", &[(1, "tokio"), (2, "rand")]);
    }

    #[test]
    fn what_is_only_said_is_no_use() {
        found("// std::fs\n/// tokio\nlet x = \"std::net\"; /* rand */ let y = r#\"SystemTime\"#;", &[]);
    }

    #[test]
    fn longer_words_and_other_paths_are_not_meant() {
        found("let operand = random_instant; my::fs::read(); std::fmt::x; InstantLike", &[]);
    }

    #[test]
    fn tests_of_a_pure_crate_count_and_other_crates_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let source = "//! Opens.\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        let workspace = Workspace::of_test(
            folder.path(),
            &[("crates/interlock-model/src/a.rs", source), ("crates/interlock-scan/src/a.rs", source)],
        );
        let report = check(&workspace).unwrap();
        let places: Vec<(&str, usize)> =
            report.problems.iter().map(|at| (at.file.as_str(), at.line)).collect();
        assert_eq!(places, [("crates/interlock-model/src/a.rs", 4)]);
    }
}
