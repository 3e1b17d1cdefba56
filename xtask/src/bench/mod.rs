//! `cargo xtask bench`: the home of measurements. Each runs us and a peer in one run on one machine, so that the ratio means
//! something where the seconds do not; none of them asserts a time.

mod explain;
mod guard;
mod program;
mod prove;
mod rows;
mod sample;
mod scan;
mod sync;
mod table;

use std::path::PathBuf;

use anyhow::{Result, bail};

pub(crate) use self::program::release_program;
use self::table::Table;
use crate::{
    columns::{Side, columns},
    root::Root,
};

/// One benchmark.
struct Bench {
    name: &'static str,
    about: &'static str,
    /// Of the workspace, on what was given; what it returns is printed.
    run: fn(&Root, &[PathBuf]) -> Result<String>,
}

/// The benchmarks. Adding one is one file and one line.
const BENCHES: &[Bench] = &[
    Bench {
        name: "explain",
        about: "start, print a page that is built in, end: `interlock explain` beside `rustc --explain`",
        run: |root, _| explain::run(root).map(told),
    },
    Bench {
        name: "sync",
        about: "the primitives and stores beside tokio, governor, Redis, SQLite, pgbench and bare system calls",
        run: |root, _| sync::run(root).map(told),
    },
    Bench {
        name: "scan",
        about: "a whole scan beside oxc alone, itself on one thread and with a cache, the size of its sources, and Semgrep; takes folders",
        run: scan::run,
    },
    Bench {
        name: "prove",
        about: "servers whose races are known, and their twins without them; takes words of names or hazards",
        run: prove::run,
    },
    Bench {
        name: "guard",
        about: "the guard in front of one server, beside no proxy, npm supergateway, PyPI mcp-proxy and the crate mcp-proxy",
        run: |root, _| guard::run(root).map(told),
    },
];

fn told(table: Table) -> String {
    table.to_string()
}

/// Runs the one that is named, or lists them.
pub(crate) fn run(root: &Root, name: Option<&str>, on: &[PathBuf]) -> Result<()> {
    let Some(name) = name else {
        print!("{}", list());
        return Ok(());
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        bail!("there is no benchmark `{name}`; these there are:\n{}", list().trim_end());
    };
    print!("{}", (bench.run)(root, on)?);
    Ok(())
}

fn list() -> String {
    let rows: Vec<Vec<String>> =
        BENCHES.iter().map(|bench| vec![bench.name.to_owned(), bench.about.to_owned()]).collect();
    columns(&[Side::Left, Side::Left], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_answered_with_the_list() {
        let error = run(&Root::find(None, None).unwrap(), Some("nothing"), &[]).unwrap_err().to_string();
        assert!(error.contains("`nothing`") && error.contains("\nexplain  start"), "{error}");
    }
}
