//! `cargo xtask corpus`: the program against real repositories, whose races and safe places somebody has written down.
//!
//! Labels name lines of one commit that must or must not be reported; pairs name a fix, with the lines before it. A checkout may be a
//! working copy or a bare repository: the commits are taken out of it into a temporary folder.

mod facts;
mod judge;
mod scans;

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};

use self::{
    facts::{Expected, Fact},
    judge::{Row, judge},
    scans::Scans,
};
use crate::{
    columns::{Side, columns},
    report,
    root::Root,
};

/// What the command line says.
#[derive(clap::Args)]
pub(crate) struct Corpus {
    /// The folder of checkouts: `owner+name`, `owner/name` or `name`, each a working copy or a bare repository
    folder: PathBuf,
    /// Lines that must or must not be reported, one JSON object per line
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Fixes with what they fix, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// The languages to look at
    #[arg(
        long = "lang",
        value_name = "LANGUAGE",
        value_delimiter = ',',
        default_value = "typescript,javascript"
    )]
    languages: Vec<String>,
    /// The program to run; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Scans what the facts are about, and prints how they compare.
pub(crate) fn run(root: &Root, corpus: &Corpus) -> Result<()> {
    let read = |path: &Option<PathBuf>| match path {
        Some(path) => fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display())),
        None => Ok(String::new()),
    };
    let (labels, pairs) = (facts::labels(&read(&corpus.labels)?)?, facts::pairs(&read(&corpus.pairs)?)?);
    let facts: Vec<Fact> =
        labels.into_iter().chain(pairs).filter(|fact| corpus.languages.contains(&fact.language)).collect();
    ensure!(
        !facts.is_empty(),
        "there is nothing to compare: give --labels and --pairs, and --lang if need be"
    );
    let program = report::program(root, corpus.program.as_deref())?;
    let mut scans = Scans::new(&corpus.folder, program)?;
    let rows = facts.iter().map(|fact| judge(fact, &mut scans)).collect::<Result<Vec<Row>>>()?;
    print!("{}", table(&rows));
    let wrong = rows.iter().filter(|row| !row.right).count();
    ensure!(wrong == 0, "{wrong} of {} are not as they should be", rows.len());
    Ok(())
}

fn table(rows: &[Row]) -> String {
    let head = ["", "expected", "hazard", "where", "what was reported"].map(str::to_owned).to_vec();
    let cells = rows.iter().map(|row| {
        let mark = if row.right { "ok" } else { "WRONG" };
        vec![
            mark.to_owned(),
            row.expected.words().to_owned(),
            row.hazard.clone(),
            row.place.clone(),
            row.got.clone(),
        ]
    });
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(cells).collect();
    let mut text = columns(&[Side::Left; 5], &lines);
    text.push('\n');
    for expected in Expected::ALL {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| row.expected == expected).collect();
        if !of_kind.is_empty() {
            let right = of_kind.iter().filter(|row| row.right).count();
            text += &format!("{}: {right} of {}\n", expected.words(), of_kind.len());
        }
    }
    text
}
