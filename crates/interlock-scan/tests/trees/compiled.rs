//! Every case once more as compilers publish it: what is told of the source is told of what it becomes, and nothing else.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use interlock_hazards::Hazard;
use interlock_scan::Engine;
use interlock_testkit::{cases::Case, packages};

use crate::catalogue::{engine, pages};

/// A tree: paths and texts.
type Tree = Vec<BTreeMap<String, String>>;

/// Only types say what is handed over here, and compilers drop them.
const BY_TYPES: &[&str] = &[
    "a browser in a state that all handlers are handed",
    "a bucket of a Worker that is handed to helpers",
    "a count by the minute and one by the hour",
    "a row and its tags, by a connection of one's own",
];

/// Other cases that are told differently once they are compiled, and why.
const KNOWN: &[(&str, &str)] = &[
    ("a handle that the block itself closes", "esbuild's own code for `using` tries again without a pause"),
    (
        "of two classes of one interface only the other is made",
        "a bundler leaves out a class that nobody makes",
    ),
    (
        "prisma: one client that is kept across reloads",
        "`exports.db` is followed to the global that may hold it",
    ),
    (
        "a helper asks where no method is given, and is told otherwise by what is spread into its options",
        "`Object.assign` is not read as the spread that it was",
    ),
    (
        "a category is looked for among all, and made by a helper that is handed its options",
        "`Object.assign` is not read as the spread that it was",
    ),
    (
        "a post is asked for, found to be a draft, and handed in by another request",
        "`Object.assign` is not read as the spread that it was",
    ),
    (
        "the options of a request are put together by helpers that return objects",
        "`Object.assign` is not read as the spread that it was",
    ),
    (
        "the way with the store leaves the function, and the rest is for nobody",
        "the conditional that `??` becomes is not read as surely there",
    ),
];

#[test]
fn the_cases_are_told_as_before_once_they_are_compiled() {
    let pages: Vec<_> = pages().collect();
    let cases: Vec<(&Hazard, &Case)> =
        pages.iter().flat_map(|(hazard, cases)| cases.cases.iter().map(|case| (*hazard, case))).collect();
    let trees: Vec<Tree> = cases.iter().map(|(_, case)| tree(case)).collect();
    let engine = engine();
    let before: Vec<BTreeSet<String>> = trees.iter().map(|tree| told(&engine, tree)).collect();
    let mut different = Vec::new();
    for (way, compiled) in compile(&trees) {
        let done = compiled.iter().flatten().count();
        assert!(done * 10 > trees.len() * 9, "{way}: only {done} of {} cases were compiled", trees.len());
        for (((hazard, case), before), tree) in cases.iter().zip(&before).zip(&compiled) {
            let known = BY_TYPES.contains(&&*case.name) || KNOWN.iter().any(|(name, _)| *name == case.name);
            let Some(tree) = tree.as_ref().filter(|_| !known) else { continue };
            let after = told(&engine, tree);
            if after != *before {
                different.push(format!("{way}: {}: {}: {before:?} and then {after:?}", hazard.id, case.name));
            }
        }
    }
    assert!(different.is_empty(), "{} are told differently:\n{}", different.len(), different.join("\n"));
}

fn tree(case: &Case) -> Tree {
    let file = |path: &str, text: &str| {
        BTreeMap::from([("path".to_owned(), path.to_owned()), ("text".to_owned(), text.to_owned())])
    };
    case.files.iter().map(|it| file(&it.path, &it.text)).collect()
}

/// The hazards that are told of a tree.
fn told(engine: &Engine<'_>, tree: &Tree) -> BTreeSet<String> {
    let files = tree.iter().map(|file| (file["path"].clone(), file["text"].clone())).collect();
    let programs = engine.programs(files);
    let findings = programs.into_iter().flat_map(|program| engine.findings(program));
    findings.map(|finding| finding.hazard.to_string()).collect()
}

/// What the trees become, by the way in which they are compiled.
fn compile(trees: &[Tree]) -> BTreeMap<String, Vec<Option<Tree>>> {
    let packages = packages::installed(env!("CARGO_TARGET_TMPDIR"), "compilers");
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/trees/compile.mjs");
    let mut node = Command::new("node")
        .arg(script)
        .arg(&packages)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is there");
    let input = serde_json::to_vec(trees).expect("trees are JSON");
    node.stdin.take().expect("it has an input").write_all(&input).expect("it reads");
    let output = node.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the compilers ended in {}", output.status);
    serde_json::from_slice(&output.stdout).expect("it writes JSON")
}
