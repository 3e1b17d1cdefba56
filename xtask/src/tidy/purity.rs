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

/// The parts of the standard library that only compute. A list of what is allowed, because the others are many and grow.
const COMPUTES: &[&str] = &[
    "any",
    "array",
    "borrow",
    "cell",
    "char",
    "cmp",
    "collections",
    "convert",
    "default",
    "error",
    "fmt",
    "hash",
    "iter",
    "marker",
    "mem",
    "num",
    "ops",
    "option",
    "primitive",
    "ptr",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "sync",
    "time",
    "vec",
];

/// The standard library by all its names.
const STANDARD: &[&str] = &["std", "core", "alloc"];

/// Names that are refused wherever they stand: the clock, chance and tasks.
const NAMES: &[&str] = &["Instant", "SystemTime", "RandomState", "tokio", "rand"];

/// Looks through the sources of the pure crates, unit tests included; what stands in `tests/` may use what it likes.
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
    let named = paths(&code_only(source));
    let by_path = named.iter().filter_map(|named| refused(named).map(|name| (named.line, name)));
    // `use std as other` would hide what comes after it.
    let by_alias = named.windows(2).filter_map(|pair| match pair {
        [library, word] if renames(library, word) => {
            Some((word.line, format!("{} as", library.path.join("::"))))
        }
        _ => None,
    });
    by_path.chain(by_alias).collect()
}

fn renames(library: &Named, word: &Named) -> bool {
    let is_standard = matches!(library.path.as_slice(), [name] if STANDARD.contains(&name.as_str()));
    is_standard && word.path.last().is_some_and(|word| word == "as")
}

/// A path is refused at the word that makes it so; the words after that are not counted again.
fn refused(named: &Named) -> Option<String> {
    let path: Vec<&str> = named.path.iter().map(String::as_str).collect();
    let is_refused = match path.as_slice() {
        [standard, part] if STANDARD.contains(standard) => !COMPUTES.contains(part),
        [.., last] => NAMES.contains(last),
        [] => false,
    };
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
        found(
            "use std::{io::stdin, os::unix::net, path::Path};",
            &[(1, "std::io"), (1, "std::os"), (1, "std::path")],
        );
        found("alloc::vec::Vec::new(); core::fmt::x", &[]);
        found("use std as s;", &[(1, "std as")]);
    }

    #[test]
    fn clock_chance_and_tasks_are_reported_by_name() {
        found("use std::time::{Duration, Instant};", &[(1, "std::time::Instant")]);
        found("std::collections::hash_map::RandomState", &[(1, "std::collections::hash_map::RandomState")]);
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
