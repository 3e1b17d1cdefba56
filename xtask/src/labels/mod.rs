//! `cargo xtask labels`: what a scan tells of real servers, beside what readers wrote down about them from the code alone, before any scan.
//!
//! Reach is how many of the listed tools are found by name, recall how many of the sure races, and the traps are what looks like a race and
//! is none. How many findings are true is another question: somebody has to read them (`xtask/data/judged`).

mod compare;
mod lists;
mod table;

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, ensure};

use self::{compare::compare, lists::Server};
use crate::{copies, report, root::Root, target_folder};

/// Where the lists are, below the root.
const LISTS: &str = "xtask/data/labels";

/// What the command line says.
#[derive(clap::Args)]
pub(crate) struct Labels {
    /// Folders of checkouts: `owner+name`, `owner/name` or `name`, each a repository or a plain folder that is taken as it is
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// The list: a file, or the name of one in `xtask/data/labels` without its ending
    #[arg(long, value_name = "FILE")]
    labels: PathBuf,
    /// Only servers whose repository has this in its name
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Name every race that is missed and every trap that is told
    #[arg(long)]
    missed: bool,
    /// The program to run; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Scans the listed servers, one after the other, and prints the table.
pub(crate) fn run(root: &Root, labels: &Labels) -> Result<()> {
    let named = root.join(LISTS).join(&labels.labels).with_added_extension("jsonl");
    let path = if labels.labels.is_file() { &labels.labels } else { &named };
    let text = fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    let servers = lists::read(&text).with_context(|| format!("failed to read {}", path.display()))?;
    let program = report::program(root, labels.program.as_deref())?;
    let work = target_folder::of(root)?.join(format!("labels-{}", std::process::id()));
    let (mut rows, mut absent) = (Vec::new(), Vec::new());
    let asked_for = |server: &&Server| labels.only.as_ref().is_none_or(|words| server.repo.contains(words));
    for server in servers.iter().filter(asked_for) {
        let Some(sources) = copies::find(&labels.folders, &server.repo) else {
            absent.push(&*server.repo);
            continue;
        };
        copies::copy(&sources, &server.commit, &work)?;
        let report = report::scan(&program, &work).with_context(|| format!("failed to scan {}", server.repo));
        fs::remove_dir_all(&work)?;
        rows.push(compare(server, &report?));
    }
    if !absent.is_empty() {
        eprintln!("not counted, because the folders given hold no checkout: {}", absent.join(", "));
    }
    ensure!(!rows.is_empty(), "the list is about nothing that the folders hold");
    print!("{}", table::of(&rows));
    if labels.missed {
        print!("{}", table::of_missed(&rows));
    }
    Ok(())
}
