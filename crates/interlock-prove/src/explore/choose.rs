//! From what was asked to the sets that are tried.

use std::{collections::BTreeSet, path::Path};

use async_trait::async_trait;
use interlock_model::{Answer, CallSet, PlannedCall};
use serde_json::Value;
use strsim::jaro_winkler;

use crate::{
    lab::Lab,
    plan::{
        from::{self, Found},
        listing::Listing,
        pick,
        restraint::Withheld,
        survey::{Bounds, Runner, Survey, survey},
    },
    request::{Ask, Progress},
    trouble::Trouble,
};

/// What is tried, and what is not.
pub(super) struct Choice {
    /// The most promising first.
    pub(super) sets: Vec<Chosen>,
    /// Why nothing that changes anything is among them, if that is so although nobody asked for it.
    pub(super) no_writer: Option<String>,
}

/// A set, and why it was chosen.
pub(super) struct Chosen {
    pub(super) set: CallSet,
    /// Whether somebody named it.
    pub(super) by_hand: bool,
    /// The findings that it was made for.
    pub(super) findings: Vec<Found>,
}

impl Chosen {
    pub(super) fn by_hand(set: CallSet) -> Self {
        Self { set, by_hand: true, findings: Vec::new() }
    }
}

#[async_trait]
impl Runner for Lab {
    async fn serial(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String> {
        self.in_turn(calls).await.map_err(|trouble| trouble.to_string())
    }

    fn withholds(&self, call: &PlannedCall) -> Option<Withheld> {
        self.restraint.withholds(call, Path::new("{scratch}"))
    }
}

/// The sets to try. What is not called is noted.
pub(super) async fn choose(
    ask: Ask,
    lab: &Lab,
    bounds: Bounds,
    progress: &dyn Progress,
    notes: &mut Vec<String>,
) -> Result<Choice, Trouble> {
    match ask {
        Ask::Sets(sets) => {
            progress.doing("asking for the tools");
            let named = |set: &'_ CallSet| [set.setup.clone(), set.calls.clone(), set.reads.clone()].concat();
            lab.restraint.know_by_hand(&sets.iter().flat_map(named).collect::<Vec<_>>());
            // A server that does not list its tools may have them all the same.
            if let Ok(tools) = lab.tools().await {
                are_there(&sets, &tools)?;
            }
            let mut chosen = Vec::new();
            for mut set in sets {
                if set.reads.is_empty() && wants_reads(&set) {
                    progress.doing(&format!("{}: looking for what shows the state", set.name));
                    set.reads = reads_of(&set, lab, &bounds).await?;
                    if set.reads.is_empty() {
                        notes.push(format!(
                            "{}: no tool shows what the calls change; only answers are compared",
                            set.name
                        ));
                    }
                }
                chosen.push(Chosen::by_hand(set));
            }
            Ok(Choice { sets: chosen, no_writer: None })
        }
        Ask::Survey => {
            let found = look(lab, bounds, progress, notes).await?;
            let sets = pick::pick(&found.surface).into_iter();
            let sets = sets.map(|set| Chosen { set, by_hand: false, findings: Vec::new() }).collect();
            Ok(Choice { sets, no_writer: no_writer(&found) })
        }
        Ask::Findings { findings } => {
            // That a scan names a tool is no leave to call it if it looks destructive: a scan reads code, and nobody has asked for the call.
            let found = look(lab, bounds, progress, notes).await?;
            let from = from::sets(&findings, &found.surface, &found.left_alone);
            notes.extend(
                from.left_out.into_iter().map(|(finding, why)| format!("finding {}: {why}", finding.0)),
            );
            let chosen = |(set, findings)| Chosen { set, by_hand: false, findings };
            Ok(Choice { sets: from.sets.into_iter().map(chosen).collect(), no_writer: None })
        }
        Ask::Everything { findings } => {
            let found = look(lab, bounds, progress, notes).await?;
            let from = from::sets(&findings, &found.surface, &found.left_alone);
            notes.extend(
                from.left_out.into_iter().map(|(finding, why)| format!("finding {}: {why}", finding.0)),
            );
            let mut sets: Vec<Chosen> = from
                .sets
                .into_iter()
                .map(|(set, findings)| Chosen { set, by_hand: false, findings })
                .collect();
            for set in pick::pick(&found.surface) {
                if !sets.iter().any(|known| pick::same(&known.set, &set)) {
                    sets.push(Chosen { set, by_hand: false, findings: Vec::new() });
                }
            }
            Ok(Choice { sets, no_writer: no_writer(&found) })
        }
    }
}

/// Whether the tools that sets name are there. One that is not would be refused in every order and together alike.
fn are_there(sets: &[CallSet], tools: &[Value]) -> Result<(), Trouble> {
    let known: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
    let called = sets.iter().flat_map(|set| set.setup.iter().chain(&set.calls).chain(&set.reads));
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

/// Reads whose answer the calls of a set change. Only its own tools and those that look like readers are called.
async fn reads_of(set: &CallSet, lab: &Lab, bounds: &Bounds) -> Result<Vec<PlannedCall>, Trouble> {
    let named: BTreeSet<String> = set.calls.iter().map(|call| call.tool.clone()).collect();
    let concerned = |tool: &Value| {
        Listing::read(tool).is_some_and(|tool| named.contains(&tool.name) || tool.looks_like_reader())
    };
    let tools: Vec<Value> = lab.tools().await?.into_iter().filter(concerned).collect();
    let found = survey(&tools, lab, bounds).await;
    if let Some(reader) = found.left_behind {
        return Err(Trouble::NotFresh(reader));
    }
    let mut reads: Vec<PlannedCall> = Vec::new();
    for tool in found.surface.tools.into_iter().filter(|tool| named.contains(&tool.name)) {
        for read in tool.reads {
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
    }
    Ok(reads)
}

/// Counting successes needs no look at the state.
fn wants_reads(set: &CallSet) -> bool {
    use interlock_model::Oracle;
    matches!(set.oracle, Oracle::Serial | Oracle::Once)
}
