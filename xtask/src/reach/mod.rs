//! `cargo xtask reach`: how much of a real server a scan sees, measured without a judgement of its races.
//!
//! For every tool of a list, a known race is put into the function that does the tool's work, in a copy of the checkout; one scan then
//! answers for all tools of a server. With `--unlock` something that protects today is taken away instead, and the finding must come.

mod lists;
mod outcome;
mod probe;
mod progress;
mod removals;
mod table;
mod text;
mod tools;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use self::{outcome::Outcome, progress::Kept, table::Row};
use crate::{
    copies::{self, Sources},
    report,
    root::Root,
    target_folder,
};

/// Where the lists are, below the root.
const LISTS: &str = "xtask/data/reach";

/// What the command line says.
#[derive(clap::Args)]
pub(crate) struct Reach {
    /// Checkouts, or folders of checkouts: `owner+name`, `owner/name` or `name`, each a repository or a plain folder that is taken as it is
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Take away what protects today, and expect the finding
    #[arg(long)]
    unlock: bool,
    /// Only servers whose repository has this in its name
    #[arg(long, value_name = "WORDS")]
    only: Option<String>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Keep what was measured in a file, server by server, and take from there what an earlier run has kept; a new program needs a new file
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// The folder of the lists; by default the one of this repository
    #[arg(long, value_name = "FOLDER")]
    lists: Option<PathBuf>,
    /// The program to run; by default it is built in release mode
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// Measures, and prints what came out.
pub(crate) fn run(root: &Root, reach: &Reach) -> Result<()> {
    let lists = reach.lists.clone().unwrap_or_else(|| root.join(LISTS));
    let folders = reach.folders.iter().map(|folder| {
        folder.canonicalize().with_context(|| format!("there is no folder {}", folder.display()))
    });
    let folders = folders.collect::<Result<Vec<_>>>()?;
    let program = report::program(root, reach.program.as_deref())?;
    let work = target_folder::of(root)?.join(format!("reach-{}", std::process::id()));
    let setting =
        Setting { folders, program, work, only: reach.only.as_deref(), resume: reach.resume.as_deref() };
    let printed = if reach.unlock {
        unlock(&setting, &lists, reach.json)
    } else {
        probe_servers(&setting, &lists, reach.json)
    };
    print!("{}", printed?);
    Ok(())
}

/// What both kinds of measurement need.
struct Setting<'a> {
    folders: Vec<PathBuf>,
    program: PathBuf,
    /// A folder on the target folder's disk for the copies, one at a time.
    work: PathBuf,
    only: Option<&'a str>,
    resume: Option<&'a Path>,
}

/// How the measurement of one kind names what it measures and tells what came out.
struct Kind<T, R> {
    repository: fn(&T) -> &str,
    /// What tells one from another in the file of an interrupted run.
    key: fn(&T) -> String,
    /// What came out, in a few words.
    told: fn(&R) -> String,
}

impl Setting<'_> {
    /// Measures one server after the other. What came out is told at once on the error output: a run takes long, and says where it is.
    fn each<T, R: Serialize + DeserializeOwned>(
        &self,
        of: &[T],
        kind: &Kind<T, R>,
        mut measure: impl FnMut(&T, &Sources) -> Result<R>,
    ) -> Result<Vec<R>> {
        let mut kept = Kept::open(self.resume)?;
        let repository = kind.repository;
        let asked_for = |one: &&T| self.only.is_none_or(|words| repository(one).contains(words));
        let (mut there, mut absent) = (Vec::new(), Vec::new());
        for one in of.iter().filter(asked_for) {
            match copies::find(&self.folders, repository(one)) {
                Some(sources) => there.push((one, sources)),
                None => absent.push(repository(one)),
            }
        }
        absent.dedup();
        if !absent.is_empty() {
            eprintln!("not counted, because the folders given hold no checkout: {}", absent.join(", "));
        }
        ensure!(!there.is_empty(), "no list is about what the folders hold");
        let mut results = Vec::new();
        for (number, (one, sources)) in there.iter().enumerate() {
            let (name, began) = (repository(one), Instant::now());
            let key = (kind.key)(one);
            let (result, when) = if let Some(result) = kept.take(&key)? {
                (result, "kept from before".to_owned())
            } else {
                let result = measure(one, sources).with_context(|| format!("failed to measure {name}"))?;
                kept.add(&key, &result)?;
                (result, format!("{:.1} s", began.elapsed().as_secs_f64()))
            };
            eprintln!("{} of {}  {name}: {} ({when})", number + 1, there.len(), (kind.told)(&result));
            results.push(result);
        }
        Ok(results)
    }
}

fn probe_servers(setting: &Setting<'_>, lists: &Path, json: bool) -> Result<String> {
    let servers = lists::read_servers(lists)?;
    let kind = Kind {
        repository: |server: &lists::Server| &server.origin.repo,
        key: |server| format!("{} {} {}", server.origin.repo, server.origin.commit, server.tools.len()),
        told: |(_, probed): &Row| table::in_words(probed),
    };
    let rows: Vec<Row> = setting.each(&servers, &kind, |server, sources| {
        let probed = tools::probe_tools(&setting.program, sources, server, &setting.work)?;
        Ok((server.origin.repo.clone(), probed))
    })?;
    if !json {
        return Ok(table::of_tools(&rows));
    }
    let probed = || rows.iter().flat_map(|(_, probed)| probed);
    let count = |outcome: Outcome| probed().filter(|probed| probed.outcome == outcome).count();
    let [named, reached, low_only, missed] = Outcome::ALL.map(count);
    let servers: Vec<_> = rows.iter().map(|(repo, tools)| json!({ "repo": repo, "tools": tools })).collect();
    let sum = json!({
        "tools": probed().count(), "named": named, "reached": reached, "low-only": low_only, "missed": missed,
    });
    Ok(format!("{:#}\n", json!({ "sum": sum, "servers": servers })))
}

fn unlock(setting: &Setting<'_>, lists: &Path, json: bool) -> Result<String> {
    let removals = lists::read_removals(lists)?;
    let mut before = removals::Before::default();
    let kind = Kind {
        repository: |removal: &lists::Removal| &removal.repo,
        key: |removal| {
            let (first, last) = removal.lines;
            format!("{} {} {} {first}-{last} {}", removal.repo, removal.commit, removal.file, removal.removes)
        },
        told: |removed: &removals::Removed| format!("{}, {}", removed.removes, removed.answer.words()),
    };
    let removed = setting.each(&removals, &kind, |removal, sources| {
        removals::remove(&setting.program, sources, removal, &setting.work, &mut before)
    })?;
    Ok(if json { format!("{:#}\n", json!({ "removals": removed })) } else { table::of_removals(&removed) })
}
