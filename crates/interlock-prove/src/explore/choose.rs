//! From what was asked to the sets that are tried.

use std::{collections::BTreeSet, path::Path, time::Instant};

use async_trait::async_trait;
use interlock_model::{
    Answer, CallSet, Effectful, Fault, Fingerprint, Learnt, PlannedCall, Surface, ToolSurface,
};
use serde_json::Value;
use strsim::jaro_winkler;

use super::stages::Stages;
use crate::{
    files::{FILES, in_processes, is_files},
    lab::Lab,
    plan::{
        from::{self, Found},
        listing::Listing,
        pick,
        restraint::Withheld,
        survey::{Bounds, NamedCalls, Runner, ShownBy, Survey, Surveyor, shown_by, survey},
    },
    request::{Ask, Progress},
    trouble::Trouble,
};

/// What is tried next, and what is not.
pub(super) struct Choice {
    /// The most promising first.
    pub(super) sets: Vec<Chosen>,
    /// Why nothing that changes anything is among them, if that is so although nobody asked for it.
    pub(super) no_writer: Option<String>,
    /// The tools that write or may, where all of them were to be tried.
    pub(super) writers: Option<BTreeSet<String>>,
    /// Whether more is chosen when these have been tried.
    pub(super) more: bool,
    /// What was learnt of arguments until now.
    pub(super) learnt: Vec<Learnt>,
    /// Writers of which no call that we know to make was accepted, and how they were refused.
    pub(super) never_accepted: Vec<(String, String)>,
}

impl Choice {
    /// Sets that somebody wanted; what else the server has was not asked for.
    pub(super) fn wanted(sets: Vec<Chosen>) -> Self {
        let (learnt, never_accepted) = (Vec::new(), Vec::new());
        Self { sets, no_writer: None, writers: None, more: false, learnt, never_accepted }
    }

    /// Sets from everything that a survey found.
    pub(super) fn of_survey(sets: Vec<Chosen>, found: &Survey) -> Self {
        let mut writers = writers(&found.surface, &found.not_reached);
        writers.extend(found.never_accepted.iter().map(|(tool, _)| tool.clone()));
        Self {
            no_writer: no_writer(found),
            writers: Some(writers),
            learnt: found.learnt.clone(),
            never_accepted: found.never_accepted.clone(),
            ..Self::wanted(sets)
        }
    }
}

/// The tools that write or may: those that can be called, and those that were not reached.
pub(super) fn writers(surface: &Surface, not_reached: &[String]) -> BTreeSet<String> {
    let may_write = |tool: &&ToolSurface| tool.effect != Effectful::Reads && !tool.samples.is_empty();
    let known = surface.tools.iter().filter(may_write).map(|tool| &tool.name);
    known.chain(not_reached).cloned().collect()
}

/// Chooses step by step. A survey of many tools takes as long as several proofs, so what a scan found is surveyed and tried before the rest.
pub(super) struct Chooser<'l> {
    lab: &'l Lab,
    bounds: Bounds,
    ask: Option<Ask>,
    stages: Option<Stages<'l>>,
}

/// A set, and why it was chosen.
pub(super) struct Chosen {
    pub(super) set: CallSet,
    /// Whether somebody named it.
    pub(super) by_hand: bool,
    /// The findings that it was made for.
    pub(super) findings: Vec<Found>,
    /// Whether its calls may change something and nothing is read that would show it: answers that are right do not say that the state is.
    pub(super) is_blind: bool,
    /// Which of the tools that it calls only read.
    pub(super) readers: BTreeSet<String>,
    /// What the survey asks before it calls anything. Some servers want to be read before they are written to.
    pub(super) questions: Vec<PlannedCall>,
}

/// So many readers are asked before calls that are refused without.
const MOST_ASKED: usize = 8;

impl Chosen {
    pub(super) fn by_hand(set: CallSet) -> Self {
        let (findings, readers, questions) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { set, by_hand: true, findings, is_blind: false, readers, questions }
    }

    /// One that a probe picked, for these findings.
    pub(super) fn picked(set: CallSet, findings: Vec<Found>, surface: &Surface) -> Self {
        let is_blind = set.reads.is_empty() && wants_reads(&set) && !only_reads(&set, surface);
        let only_read = |call: &&PlannedCall| surface.readers().any(|tool| tool.name == call.tool);
        let readers = set.calls.iter().filter(only_read).map(|call| call.tool.clone()).collect();
        let asked = surface.readers().filter(|tool| tool.setup.is_empty());
        let questions = asked.filter_map(|tool| tool.samples.first().cloned()).take(MOST_ASKED).collect();
        Self { set, by_hand: false, findings, is_blind, readers, questions }
    }
}

#[async_trait]
impl Runner for Lab {
    async fn serial(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String> {
        self.in_turn(calls).await.map_err(|trouble| trouble.to_string())
    }

    async fn serial_then(
        &self,
        calls: &[PlannedCall],
        then: &[PlannedCall],
        is_worth: &(dyn for<'a> Fn(&'a [Answer]) -> bool + Sync),
    ) -> Result<Vec<Answer>, String> {
        self.in_turn_then(calls, then, is_worth).await.map_err(|trouble| trouble.to_string())
    }

    fn withholds(&self, call: &PlannedCall) -> Option<Withheld> {
        self.restraint.withholds(call, Path::new("{scratch}"))
    }

    fn shows_files(&self) -> bool {
        Self::shows_files(self)
    }
}

impl<'l> Chooser<'l> {
    pub(super) fn new(ask: Ask, lab: &'l Lab, bounds: Bounds) -> Self {
        Self { lab, bounds, ask: Some(ask), stages: None }
    }

    /// The next sets to try. What is not called is noted.
    pub(super) async fn next(
        &mut self,
        progress: &dyn Progress,
        notes: &mut Vec<String>,
    ) -> Result<Choice, Trouble> {
        let (lab, bounds) = (self.lab, self.bounds.clone());
        match self.ask.take() {
            Some(Ask::Again(sets)) => {
                lab.restraint.know_by_hand(sets.iter().flat_map(calls_of).collect::<Vec<_>>());
                let _ = lab.tools().await;
                Ok(Choice::wanted(sets.into_iter().map(Chosen::by_hand).collect()))
            }
            Some(Ask::Sets(sets)) => named(sets, lab, &bounds, progress, notes).await,
            Some(Ask::Survey) => self.begin(Vec::new(), progress, notes).await,
            Some(Ask::Between) => {
                let found = look(lab, bounds, progress, notes).await?;
                let picked = |set| Chosen::picked(set, Vec::new(), &found.surface);
                let sets = between_processes(pick::pick(&found.surface)).into_iter().map(picked).collect();
                Ok(Choice::of_survey(sets, &found))
            }
            Some(Ask::Findings { findings }) => {
                // That a scan names a tool is no leave to call it if it looks destructive: a scan reads code, and nobody has asked for the call.
                let found = look(lab, bounds, progress, notes).await?;
                let from = from::sets(&findings, &found.surface, &found.left_alone);
                notes.extend(left_out(from.left_out));
                let chosen = |(set, findings)| Chosen::picked(set, findings, &found.surface);
                let sets = from.sets.into_iter().map(chosen).collect();
                Ok(Choice { learnt: found.learnt.clone(), ..Choice::wanted(sets) })
            }
            Some(Ask::Everything { findings }) => self.begin(findings, progress, notes).await,
            None => match &mut self.stages {
                Some(stages) => stages.step(&bounds, progress, notes).await,
                None => Ok(Choice::wanted(Vec::new())),
            },
        }
    }

    /// Asks the readers, and takes the first step.
    async fn begin(
        &mut self,
        findings: Vec<Found>,
        progress: &dyn Progress,
        notes: &mut Vec<String>,
    ) -> Result<Choice, Trouble> {
        let (lab, bounds) = (self.lab, self.bounds.clone());
        progress.doing("asking for the tools");
        let tools = lab.tools().await?;
        progress.doing(&format!("finding out what {} tools do", tools.len()));
        let begin = Instant::now();
        let surveyor = Surveyor::begin(&tools, lab, &bounds).await;
        let surveyed = begin.elapsed();
        let stages = Stages::new(surveyor, findings, surveyed);
        self.stages.insert(stages).step(&bounds, progress, notes).await
    }
}

/// Whether nothing that a set calls is known to change anything.
pub(super) fn only_reads(set: &CallSet, surface: &Surface) -> bool {
    let reads = |call: &PlannedCall| {
        surface.tools.iter().any(|tool| tool.name == call.tool && tool.effect == Effectful::Reads)
    };
    set.calls.iter().all(reads)
}

/// The meetings of two that two clients of a server on standard streams can have: each client has a process of its own.
fn between_processes(mut sets: Vec<CallSet>) -> Vec<CallSet> {
    sets.retain(|set| set.calls.len() == 2 && set.fault == Fault::None && wants_reads(set));
    sets.into_iter().map(in_processes).collect()
}

/// Sets that somebody named, with what shows the state where they do not say it.
async fn named(
    sets: Vec<CallSet>,
    lab: &Lab,
    bounds: &Bounds,
    progress: &dyn Progress,
    notes: &mut Vec<String>,
) -> Result<Choice, Trouble> {
    progress.doing("asking for the tools");
    lab.restraint.know_by_hand(sets.iter().flat_map(calls_of).collect::<Vec<_>>());
    if !lab.shows_files() && sets.iter().flat_map(calls_of).any(is_files) {
        let why = "; the folder of a server that somebody else runs cannot be read or written";
        return Err(Trouble::NoTool(FILES.into(), why.into()));
    }
    // A server that does not list its tools may have them all the same.
    if let Ok(tools) = lab.tools().await {
        are_there(&sets, &tools)?;
    }
    let mut chosen = Vec::new();
    for mut set in sets {
        let changes = set.calls.iter().any(|call| lab.restraint.may_change(&call.tool));
        let mut is_blind = false;
        if wants_reads(&set) && changes {
            progress.doing(&format!("{}: looking for what shows the state", set.name));
            let mut shown = shown_in(&set, lab, bounds).await?;
            // Who says what must be true has said what is to be looked at.
            if !set.invariants.is_empty() {
                let named = set.reads.iter().any(is_files);
                shown.reads.retain(|read| named || !is_files(read));
                shown.is_shown = true;
            }
            if let Some(note) = note_of(&set, &shown) {
                notes.push(note);
            }
            is_blind = !shown.is_shown;
            set.reads = shown.reads;
        }
        let only_read = |call: &&PlannedCall| !lab.restraint.may_change(&call.tool);
        let readers = set.calls.iter().filter(only_read).map(|call| call.tool.clone()).collect();
        chosen.push(Chosen { is_blind, readers, ..Chosen::by_hand(set) });
    }
    Ok(Choice::wanted(chosen))
}

/// What is to be said of the reads that were found, for people.
fn note_of(set: &CallSet, shown: &ShownBy) -> Option<String> {
    let name = &set.name;
    let by_tools = shown.reads.iter().any(|read| !is_files(read));
    let adds_files = shown.reads.iter().any(is_files) && !set.reads.iter().any(is_files);
    let adds_files = adds_files && (!set.reads.is_empty() || !by_tools);
    match (set.reads.is_empty(), shown.is_shown) {
        (true, false) => {
            Some(format!("{name}: no tool shows what the calls change; only answers are compared"))
        }
        (false, false) => Some(format!("{name}: what --read names does not show what the calls change")),
        (true, true) if adds_files => {
            Some(format!("{name}: no tool shows what the calls change; the server's files are compared"))
        }
        (false, true) if adds_files => Some(format!(
            "{name}: what --read names does not show what the calls change; the server's files are compared too"
        )),
        _ => None,
    }
}

/// All calls of a set.
fn calls_of(set: &CallSet) -> impl Iterator<Item = &PlannedCall> {
    set.setup.iter().chain(&set.calls).chain(&set.reads)
}

/// The findings that no call can show, for people.
pub(super) fn left_out(left_out: Vec<(Fingerprint, String)>) -> impl Iterator<Item = String> {
    left_out.into_iter().map(|(finding, why)| format!("finding {}: {why}", finding.0))
}

/// Whether the tools that sets name are there. One that is not would be refused in every order and together alike.
fn are_there(sets: &[CallSet], tools: &[Value]) -> Result<(), Trouble> {
    let known: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
    let called = sets.iter().flat_map(|set| set.setup.iter().chain(&set.calls).chain(&set.reads));
    let called = called.filter(|call| !is_files(call));
    for PlannedCall { tool, .. } in called {
        if !known.contains(&tool.as_str()) {
            let near =
                known.iter().max_by(|one, two| jaro_winkler(tool, one).total_cmp(&jaro_winkler(tool, two)));
            let near = near.map(|near| format!("; is `{near}` meant?")).unwrap_or_default();
            return Err(Trouble::NoTool(tool.clone(), near));
        }
    }
    Ok(())
}

/// How many tools are named in one sentence.
const MOST_NAMED: usize = 5;

/// Why no writer was explored, and what to try.
fn no_writer(found: &Survey) -> Option<String> {
    if found.surface.writers().next().is_some() {
        return None;
    }
    let named: Vec<String> =
        found.left_alone.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    let and_more = if found.left_alone.len() > MOST_NAMED { " and others" } else { "" };
    let mut why = "no writer was explored, only reading was tried".to_owned();
    if found.cut_short {
        why += ": the survey ended before every tool was tried, a larger --budget or --max-calls goes on";
    } else if named.is_empty() {
        why += ": no call is known that changes anything";
    }
    if !named.is_empty() {
        why += &format!(
            "; {}{and_more} may destroy something or reach beyond the server, --allow-destructive calls what is left alone",
            named.join(", ")
        );
    }
    why += "; --call 'TOOL {json}' names a call";
    Some(why)
}

async fn look(
    lab: &Lab,
    bounds: Bounds,
    progress: &dyn Progress,
    notes: &mut Vec<String>,
) -> Result<Survey, Trouble> {
    progress.doing("asking for the tools");
    let tools = lab.tools().await?;
    progress.doing(&format!("finding out what {} tools do", tools.len()));
    let mut found = survey(&tools, lab, &bounds).await;
    notes.append(&mut found.notes);
    match found.left_behind.take() {
        Some(reader) => Err(Trouble::NotFresh(reader)),
        None => Ok(found),
    }
}

/// Reads whose answer the calls of a set change. Beside what the set names only tools that look like readers are called.
async fn shown_in(set: &CallSet, lab: &Lab, bounds: &Bounds) -> Result<ShownBy, Trouble> {
    let reads = |tool: &Value| Listing::read(tool).is_some_and(|tool| tool.looks_like_reader());
    // A server that does not list its tools may have them all the same; who named reads wants no others.
    let listed = if set.reads.is_empty() { lab.tools().await? } else { Vec::new() };
    let readers: Vec<Value> = listed.into_iter().filter(reads).collect();
    let named = NamedCalls { setup: &set.setup, calls: &set.calls, reads: &set.reads };
    let mut shown = shown_by(named, &readers, lab, bounds).await;
    match shown.left_behind.take() {
        Some(reader) => Err(Trouble::NotFresh(reader)),
        None => Ok(shown),
    }
}

/// Counting successes needs no look at the state.
fn wants_reads(set: &CallSet) -> bool {
    use interlock_model::Oracle;
    matches!(set.oracle, Oracle::Serial | Oracle::Once)
}
