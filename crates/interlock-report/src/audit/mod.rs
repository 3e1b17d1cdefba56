//! How an audit is written down: what was found, what was proven, and what stops it, side by side.
//!
//! An [`Audit`] is what came of each [`Subject`]; `entry` puts a finding of the scan and the races that were shown of it together, and every
//! format goes through the same entries in the same order.

mod beside;
mod entry;

pub mod html;
pub mod json;
pub mod markdown;
pub mod sarif;
pub mod text;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use interlock_model::{Fingerprint, HazardId, ProofReport, Report, SetReport, Verdict};

use self::entry::{Entry, Standing};
use crate::summary::counted;

/// What came of an audit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Audit {
    /// One for each server that was looked at.
    pub subjects: Vec<Subject>,
    /// How long all of it took.
    pub took: Duration,
    /// Whether somebody ended it before it was done.
    pub stopped: bool,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Subject {
    /// What was named: a folder, an address, a package, a server of a client.
    pub name: String,
    /// How it came here, a sentence each.
    pub origin: Vec<String>,
    /// What was found in its sources, with what was proven of it; nothing where there are no sources.
    pub scan: Option<Report>,
    /// The texts of the files that the findings name.
    pub sources: BTreeMap<String, String>,
    /// What leads from the root of its repository to what was scanned, with a slash at its end.
    pub prefix: String,
    /// What the running server showed.
    pub live: Live,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// What the running server showed.
#[derive(Debug, Clone, PartialEq)]
pub enum Live {
    /// It was not started; why, and what to do if it should be.
    NotRun(String),
    /// It was started and nothing could be shown; why.
    Unknown(String),
    /// It was called.
    Proved(Box<Proved>),
}

/// What calls showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Proved {
    /// The tools that it lists.
    pub tools: Vec<String>,
    /// The proof.
    pub proof: ProofReport,
    /// For each set of the proof, the findings that it was made for.
    pub made_for: Vec<Vec<Fingerprint>>,
    /// The guard's configuration that was made of all this.
    pub policy: Option<String>,
    /// The races, run again behind the guard with that configuration; or why they were not.
    pub behind: Result<ProofReport, String>,
}

impl Default for Live {
    fn default() -> Self {
        Self::NotRun("nobody asked for it".to_owned())
    }
}

impl Subject {
    /// The findings and races, in the order in which they are worth reading.
    fn entries(&self) -> Vec<Entry<'_>> {
        entry::of(self)
    }

    fn proved(&self) -> Option<&Proved> {
        match &self.live {
            Live::Proved(proved) => Some(proved),
            Live::NotRun(_) | Live::Unknown(_) => None,
        }
    }

    /// The hazards that calls showed and no finding explains.
    #[must_use]
    pub fn proven_only(&self) -> BTreeSet<HazardId> {
        let entries = self.entries();
        let found = |hazard: &&HazardId| {
            entries.iter().any(|entry| entry.finding.is_some() && entry.hazard() == Some(*hazard))
        };
        let proven = entries.iter().filter(|entry| entry.standing == Standing::ProvenOnly);
        proven.filter_map(Entry::hazard).filter(|hazard| !found(hazard)).cloned().collect()
    }

    /// Whether anything counts against it.
    #[must_use]
    pub fn has_hazards(&self) -> bool {
        let found = self.scan.as_ref().is_some_and(|report| report.counted().next().is_some());
        found || self.proved().is_some_and(|proved| proved.proof.verdict >= Verdict::Latent)
    }

    /// Whether enough was seen to call it clean.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        let graded = self.scan.as_ref().is_some_and(|report| report.rating.score().is_some());
        graded || self.proved().is_some_and(|proved| proved.proof.verdict == Verdict::Held)
    }
}

impl Proved {
    /// The races that were shown, each with the findings that it was looked for.
    fn races(&self) -> impl Iterator<Item = (&SetReport, &[Fingerprint])> {
        let made_for =
            self.made_for.iter().map(Vec::as_slice).chain(std::iter::repeat(&[] as &[Fingerprint]));
        self.proof.sets.iter().zip(made_for).filter(|(set, _)| set.verdict >= Verdict::Latent)
    }

    /// What became of a race behind the guard.
    fn behind(&self, race: &SetReport) -> Option<Verdict> {
        let again = self.behind.as_ref().ok()?.sets.iter();
        let mut again =
            again.filter(|set| set.set.calls == race.set.calls && set.set.setup == race.set.setup);
        again.next().map(|set| set.verdict)
    }
}

/// What the guard made of the races: `behind the guard with the suggested policy, 3 of 3 races hold`.
fn guarded(proved: &Proved) -> Option<String> {
    let races: Vec<&SetReport> = proved.races().map(|(set, _)| set).collect();
    if races.is_empty() {
        return None;
    }
    Some(match &proved.behind {
        Err(why) => format!("the suggested policy was not tried: {why}"),
        Ok(_) => {
            let held = races.iter().filter(|race| proved.behind(race) == Some(Verdict::Held)).count();
            let untried = races.iter().filter(|race| proved.behind(race).is_none()).count();
            let unknown = races.iter().filter(|race| proved.behind(race) == Some(Verdict::Unknown)).count();
            let more = [(unknown, "where nothing could be shown"), (untried, "not tried again")];
            let more: String = more
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, words)| format!(", {count} {words}"))
                .collect();
            let races = counted(races.len(), "race");
            format!("behind the guard with the suggested policy, {held} of {races} held{more}")
        }
    })
}

/// How many entries there are of each standing: `2 found and proven, 1 proven only, 4 found only`.
fn tally(entries: &[Entry<'_>]) -> String {
    let words = Standing::ALL.iter().filter_map(|standing| {
        let count = entries.iter().filter(|entry| entry.standing == *standing).count();
        (count > 0).then(|| format!("{count} {standing}"))
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "nothing found, nothing proven".to_owned() } else { words.join(", ") }
}

/// How much of the server was looked at: `12 of 13 tools were found in the sources and followed to the end, 5 were called`.
fn looked_at(subject: &Subject) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(report) = &subject.scan {
        said.push(crate::summary::coverage(report));
    } else {
        said.push("its sources were not looked at".to_owned());
    }
    match &subject.live {
        Live::NotRun(why) => said.push(format!("not run: {why}")),
        Live::Unknown(why) => said.push(format!("run, and nothing could be shown: {why}")),
        Live::Proved(proved) => {
            let called = beside::called(proved).len();
            let all = proved.tools.len();
            let tools = if all == 1 { "tool" } else { "tools" };
            said.push(format!(
                "{called} of {all} {tools} were called together with others; tried {}",
                crate::proof::explored(&proved.proof)
            ));
            said.extend(guarded(proved));
        }
    }
    said
}
