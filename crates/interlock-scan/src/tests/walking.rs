//! Which files of a tree are scanned.

use std::path::PathBuf;

use expect_test::{Expect, expect};

use super::{notes, places, request, scan_toys, scanned, tree};

const FIND: &str = "find lost-update\n";

/// Every file of the tree finds itself, so what is reported is what was scanned.
fn check(files: &[&str], rules: &[(&str, &str)], expect: Expect) {
    let files: Vec<(&str, &str)> =
        files.iter().map(|path| (*path, FIND)).chain(rules.iter().copied()).collect();
    let folder = tree(&files);
    let scanned = scanned(folder.path());
    expect.assert_eq(&format!("{}\n\n{}", places(&scanned).join("\n"), notes(&scanned)));
}

#[test]
fn sources_are_scanned_in_the_order_of_their_paths_and_the_rest_is_counted() {
    check(
        &[
            "b.toy",
            "a/z.toy",
            "a.toy",
            "readme.md",
            ".hidden/x.toy",
            ".x.toy",
            "node_modules/p/x.toy",
            "a/node_modules/x.toy",
            "test/x.toy",
            "a/__tests__/x.toy",
            "a/b.test.toy",
            "types.d.ts",
            "x.min.js",
        ],
        &[("gen.toy", "// @generated\nfind lost-update\n")],
        expect![[r#"
            a.toy:1 lost-update
            a/z.toy:1 lost-update
            b.toy:1 lost-update

            left out: generated files (1 file)
            left out: installed packages (2 folders)
            left out: minified files (1 file)
            left out: tests and fixtures (2 folders, 1 file)
            left out: type declarations (1 file)
        "#]],
    );
}

#[test]
fn what_git_ignores_is_ignored_with_and_without_a_repository() {
    let files = ["a.toy", "out.toy", "deep/out.toy", "deep/kept/out.toy", "vendor/x.toy"];
    let rules = [(".gitignore", "out.toy\n/vendor/\n[broken\n"), ("deep/kept/.gitignore", "!out.toy\n")];
    check(
        &files,
        &rules,
        expect![[r#"
        a.toy:1 lost-update
        deep/kept/out.toy:1 lost-update

    "#]],
    );
}

#[test]
fn the_configuration_may_ignore_more() {
    check(
        &["a.toy", "legacy/b.toy", "c.gen.toy"],
        &[("interlock.toml", "ignore = [\"legacy/\", \"*.gen.toy\"]\n")],
        expect![[r#"
            a.toy:1 lost-update

            left out: what the configuration ignores (1 folder, 1 file)
        "#]],
    );
}

#[test]
fn compiled_output_counts_only_where_its_sources_are_not_there() {
    check(
        &["one/src/a.ts", "one/dist/a.js", "two/dist/b.js"],
        &[("one/package.json", "{}"), ("two/package.json", "{}")],
        expect![[r#"
            one/src/a.ts:1 lost-update
            two/dist/b.js:1 lost-update

            left out: compiled output of sources that are scanned (1 file)
        "#]],
    );
}

#[test]
fn what_is_given_by_name_is_scanned_whatever_it_is_called() {
    let folder = tree(&[
        (".gitignore", "ignored*\ndist/\n"),
        (".git/HEAD", ""),
        ("tests/a.test.toy", FIND),
        ("tests/b.toy", FIND),
        ("ignored.toy", FIND),
        ("dist/c.js", FIND),
        ("src/c.ts", FIND),
    ]);
    let scanned = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path().join(path)).collect();
        places(&scan_toys(&request(&paths), &()).unwrap())
    };
    assert_eq!(scanned(&["tests"]), ["b.toy:1 lost-update"]);
    assert_eq!(scanned(&["tests/a.test.toy"]), ["a.test.toy:1 lost-update"]);
    assert_eq!(scanned(&["ignored.toy"]), ["ignored.toy:1 lost-update"]);
    assert_eq!(scanned(&["dist"]), ["c.js:1 lost-update"]);
    assert_eq!(scanned(&["dist", "src"]), ["dist/c.js:1 lost-update", "src/c.ts:1 lost-update"]);
    assert_eq!(scanned(&["src", "src/c.ts", "src"]), ["c.ts:1 lost-update"]);
    assert_eq!(scanned(&["."]), ["src/c.ts:1 lost-update"]);
}

#[test]
fn the_rules_of_a_repository_hold_below_it_and_end_at_it() {
    let folder = tree(&[
        (".gitignore", "*\n"),
        ("repo/.git/HEAD", ""),
        ("repo/.gitignore", "*.gen.toy\n"),
        ("repo/src/a.toy", FIND),
        ("repo/src/b.gen.toy", FIND),
    ]);
    assert_eq!(places(&scanned(&folder.path().join("repo/src"))), ["a.toy:1 lost-update"]);
}
