//! `cargo xtask bench`: the home of measurements. Each runs us and a peer in one run on one machine, so that the ratio means
//! something where the seconds do not; none of them asserts a time.

mod explain;
mod program;
mod sample;
mod sync;
mod table;

use anyhow::{Result, bail};

use self::table::Table;
use crate::{
    columns::{Side, columns},
    root::Root,
};

/// One benchmark.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&Root) -> Result<Table>,
}

/// The benchmarks. Adding one is one file and one line.
const BENCHES: &[Bench] = &[
    Bench {
        name: "explain",
        about: "start, print a page that is built in, end: `interlock explain` beside `rustc --explain`",
        run: explain::run,
    },
    Bench {
        name: "sync",
        about: "the primitives and stores beside tokio, governor, Redis, SQLite, pgbench and bare system calls",
        run: sync::run,
    },
];

/// Runs the one that is named, or lists them.
pub(crate) fn run(root: &Root, name: Option<&str>) -> Result<()> {
    let Some(name) = name else {
        print!("{}", list());
        return Ok(());
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == name) else {
        bail!("there is no benchmark `{name}`; these there are:\n{}", list().trim_end());
    };
    print!("{}", (bench.run)(root)?);
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
        let error = run(&Root::find(None, None).unwrap(), Some("nothing")).unwrap_err().to_string();
        assert!(error.contains("`nothing`") && error.contains("\nexplain  start"), "{error}");
    }
}
