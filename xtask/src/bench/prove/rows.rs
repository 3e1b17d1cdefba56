//! The table of servers, `servers.toml`, and how the commands in it are filled in.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::{
    root::Root,
    servers::{self, SOURCES},
    target_folder,
};

/// All servers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    /// The twenty.
    pub(super) server: Vec<Row>,
    /// Those that are not counted.
    pub(super) beside: Vec<Row>,
}

/// One server with its twin.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) hazard: String,
    pub(super) transport: Transport,
    pub(super) command: Vec<String>,
    #[serde(default = "broken")]
    pub(super) racy: String,
    #[serde(default = "held")]
    pub(super) fixed: String,
    /// The verdict on the twin when prove is told no more than for the race.
    #[serde(default = "held")]
    pub(super) survey: String,
    #[serde(default)]
    pub(super) setup: Vec<String>,
    #[serde(default)]
    pub(super) calls: Vec<String>,
    #[serde(default)]
    pub(super) reads: Vec<String>,
    pub(super) why: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Transport {
    Stdio,
    Http,
}

/// Where the things are that commands name.
pub(super) struct Places {
    pub(super) servers: PathBuf,
    pub(super) installed: PathBuf,
    pub(super) programs: PathBuf,
}

fn broken() -> String {
    "broken".to_owned()
}

fn held() -> String {
    "held".to_owned()
}

impl Rows {
    pub(super) fn read(root: &Root) -> Result<Self> {
        let text = root.read(&format!("{SOURCES}/servers.toml"))?;
        toml::from_str(&text).context("servers.toml is not as its head says")
    }
}

impl Row {
    /// Whether prove is told nothing but how to start it.
    pub(super) fn is_bare(&self) -> bool {
        self.setup.is_empty() && self.calls.is_empty() && self.reads.is_empty()
    }

    /// What prove is told.
    pub(super) fn told(&self) -> Vec<String> {
        let flagged = |flag: &str, values: &[String]| {
            values.iter().flat_map(|value| [flag.to_owned(), value.clone()]).collect::<Vec<_>>()
        };
        [flagged("--setup", &self.setup), flagged("--call", &self.calls), flagged("--read", &self.reads)]
            .concat()
    }
}

impl Places {
    pub(super) fn of(root: &Root) -> Result<Self> {
        Ok(Self {
            servers: root.join(SOURCES),
            installed: servers::installed(root)?,
            programs: target_folder::of(root)?.join("release"),
        })
    }

    /// A command with everything filled in but `{scratch}`.
    pub(super) fn fill(&self, command: &[String]) -> Vec<String> {
        let places =
            [("{servers}", &self.servers), ("{installed}", &self.installed), ("{programs}", &self.programs)];
        let fill = |word: &String| {
            places
                .iter()
                .fold(word.clone(), |word, (name, place)| word.replace(name, &place.display().to_string()))
        };
        command.iter().map(fill).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rows() -> Rows {
        Rows::read(&Root::find(None, None).unwrap()).unwrap()
    }

    #[test]
    fn there_are_twenty_with_names_of_their_own() {
        let names: BTreeSet<String> = rows().server.into_iter().map(|row| row.name).collect();
        assert_eq!(names.len(), 20);
    }

    #[test]
    fn every_source_that_a_command_names_is_there() {
        let places = Places {
            servers: Root::find(None, None).unwrap().join(SOURCES),
            installed: "i".into(),
            programs: "p".into(),
        };
        let Rows { server, beside } = rows();
        for row in server.iter().chain(&beside) {
            for word in places.fill(&row.command) {
                let source = word.ends_with(".mjs") || word.ends_with(".py");
                assert!(!source || PathBuf::from(&word).is_file(), "{}: there is no {word}", row.name);
            }
        }
    }

    #[test]
    fn who_tells_prove_what_to_call_says_why() {
        for row in rows().server {
            assert_eq!(row.is_bare(), row.why.is_none(), "{}", row.name);
        }
    }

    #[test]
    fn what_prove_is_told_is_set_up_then_calls_then_reads() {
        let text = "name='x'\nhazard='h'\ntransport='stdio'\ncommand=['c']\nsetup=['a']\ncalls=['b','c']\nreads=['d']";
        let row: Row = toml::from_str(text).unwrap();
        assert_eq!(row.told().join(" "), "--setup a --call b --call c --read d");
        assert_eq!((row.racy.as_str(), row.fixed.as_str()), ("broken", "held"));
    }
}
