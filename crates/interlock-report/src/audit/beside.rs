//! What each tool is safe to be called beside: what was tried, and what came of it.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::Verdict;

use super::{Proved, Standing, Subject};

/// One tool.
#[derive(Debug, Default)]
pub(super) struct Tool {
    /// Whether it was found in the sources and followed to the end; nothing where there are no sources.
    pub(super) followed: Option<bool>,
    /// Broken or latent when called beside these.
    pub(super) breaks: BTreeSet<String>,
    /// A scan says that it may go wrong beside these, and calls have not shown it.
    pub(super) may_break: BTreeSet<String>,
    /// Held when called beside these.
    pub(super) held: BTreeSet<String>,
}

/// All tools that are known of, by name.
pub(super) fn tools(subject: &Subject) -> BTreeMap<String, Tool> {
    let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
    for tool in subject.scan.iter().flat_map(|report| &report.coverage.tools) {
        tools.entry(tool.name.clone()).or_default().followed = Some(tool.followed);
    }
    for name in subject.proved().into_iter().flat_map(|proved| &proved.tools) {
        tools.entry(name.clone()).or_default();
    }
    for set in subject.proved().into_iter().flat_map(|proved| &proved.proof.sets) {
        let calls = &set.set.calls;
        for (index, call) in calls.iter().enumerate() {
            let others = calls.iter().enumerate().filter(|(other, _)| *other != index);
            let tool = tools.entry(call.tool.clone()).or_default();
            let beside = match set.verdict {
                Verdict::Broken | Verdict::Latent => &mut tool.breaks,
                Verdict::Held => &mut tool.held,
                Verdict::Unknown => continue,
            };
            beside.extend(others.map(|(_, other)| other.tool.clone()));
        }
    }
    for entry in subject.entries().iter().filter(|entry| entry.standing == Standing::FoundOnly) {
        for name in &entry.tools {
            tools.entry(name.clone()).or_default().may_break.extend(entry.tools.iter().cloned());
        }
    }
    // What broke once is not safe, whatever else held.
    for tool in tools.values_mut() {
        tool.held.retain(|other| !tool.breaks.contains(other));
        tool.may_break.retain(|other| !tool.breaks.contains(other));
    }
    tools
}

/// The tools that were called together with another call.
pub(super) fn called(proved: &Proved) -> BTreeSet<&str> {
    let sets = proved.proof.sets.iter().filter(|set| set.verdict != Verdict::Unknown);
    sets.flat_map(|set| set.set.calls.iter().map(|call| call.tool.as_str())).collect()
}
