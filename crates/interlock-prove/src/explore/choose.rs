//! From what was asked to the sets that are tried.

use std::collections::BTreeSet;

use async_trait::async_trait;
use interlock_model::{Answer, CallSet, Fingerprint, PlannedCall};
use serde_json::Value;

use crate::{
    lab::Lab,
    plan::{
        from,
        listing::Listing,
        pick,
        survey::{Bounds, Runner, Survey, survey},
    },
    request::{Ask, Progress},
    trouble::Trouble,
};

/// A set and the findings that it was made for.
pub(super) type Chosen = (CallSet, Vec<Fingerprint>);

#[async_trait]
impl Runner for Lab {
    async fn serial(&self, calls: &[PlannedCall]) -> Result<Vec<Answer>, String> {
        self.in_turn(calls).await.map_err(|trouble| trouble.to_string())
    }
}

/// The sets to try, the most promising first. What is not called is noted.
pub(super) async fn choose(
    ask: Ask,
    lab: &Lab,
    bounds: Bounds,
    progress: &dyn Progress,
    notes: &mut Vec<String>,
) -> Result<Vec<Chosen>, Trouble> {
    match ask {
        Ask::Sets(sets) => {
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
                chosen.push((set, Vec::new()));
            }
            Ok(chosen)
        }
        Ask::Survey { allow_destructive } => {
            let found = look(lab, Bounds { allow_destructive, ..bounds }, progress, notes).await?;
            if found.surface.writers().next().is_none() {
                notes.push("no call is known that changes anything, so only reading was tried; name some with --call".into());
            }
            Ok(pick::pick(&found.surface).into_iter().map(|set| (set, Vec::new())).collect())
        }
        Ask::Findings { findings, allow_destructive } => {
            // A tool that a finding names is called because somebody asked for it.
            let named = if allow_destructive {
                findings.iter().flat_map(|found| found.tools.clone()).collect()
            } else {
                BTreeSet::new()
            };
            let found = look(lab, Bounds { allow_destructive, named, ..bounds }, progress, notes).await?;
            let from = from::sets(&findings, &found.surface);
            notes.extend(
                from.left_out.into_iter().map(|(finding, why)| format!("finding {}: {why}", finding.0)),
            );
            Ok(from.sets)
        }
    }
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
    let found = survey(&tools, lab, &Bounds { named: named.clone(), ..bounds.clone() }).await;
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
