//! `--demo`: servers that come with the program, so that there is something to see before anything is set up.

use std::{env, fs};

use anyhow::{Context, Result};

use super::wanted::{Source, Start, Wanted};

/// The sources of the small server, as they stand in `examples/credits-server`.
macro_rules! sources {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../../examples/credits-server/", $name)))),+]
    };
}

const SOURCES: &[(&str, &str)] = sources![
    "package.json",
    "schema.sql",
    "src/allowance.ts",
    "src/caller.ts",
    "src/files.ts",
    "src/http.ts",
    "src/index.ts",
    "src/preferences.ts",
    "src/reply.ts",
    "src/reports.ts",
    "src/search.ts",
    "src/server.ts",
    "src/spending.ts",
    "src/statement.ts",
    "src/stores.ts",
    "src/transfer.ts",
    "src/usage.ts",
    "tsconfig.json",
];

/// The unsafe ledger, which is run, and the credits server, which is read.
pub(super) fn wanted() -> Result<Vec<Wanted>> {
    let program = env::current_exe().context("where this program is cannot be told")?;
    let words = ["ledger", "--unsafe", "--seed", "--state", "sqlite:{scratch}/ledger.db"];
    let command = [program.display().to_string()].into_iter().chain(words.map(str::to_owned));
    let stage = tempfile::TempDir::with_prefix("interlock-demo-")?;
    for (name, text) in SOURCES {
        let path = stage.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(vec![
        Wanted {
            name: "the bundled ledger, unsafe".to_owned(),
            origin: vec!["the reference server with the naive twin of each tool; it is written in Rust, which scan does not read yet, so it is \
                          proven only"
                .to_owned()],
            source: Source::Nowhere,
            start: Ok(Start {
                command: command.collect(),
                directory: stage.path().to_owned(),
                is_given: true,
                is_ours: true,
                ..Start::default()
            }),
            stage: None,
        },
        Wanted {
            name: "examples/credits-server".to_owned(),
            origin: vec!["a small server that does everything the naive way; it needs PostgreSQL, MongoDB and Redis, so it is found only"
                .to_owned()],
            source: Source::Folder(stage.path().to_owned()),
            start: Err("the demo only reads it: it needs three databases".to_owned()),
            stage: Some(stage),
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_of_the_example_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/credits-server/src");
        let mut there: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| format!("src/{}", entry.unwrap().file_name().to_string_lossy()))
            .collect();
        there.sort();
        let ours: Vec<&str> =
            SOURCES.iter().map(|(name, _)| *name).filter(|name| name.starts_with("src/")).collect();
        assert_eq!(ours, there);
    }
}
