//! What probes share: calls of a surface that should meet, as sets.

use std::time::Duration;

use interlock_model::{CallSet, HazardId, PlannedCall, Surface, ToolSurface};

use crate::words;

/// Calls of one tool, after its set-up and before its read-backs.
pub(crate) fn set(hazard: &HazardId, tool: &ToolSurface, calls: Vec<PlannedCall>) -> CallSet {
    CallSet {
        name: name(&calls),
        hazard: Some(hazard.clone()),
        setup: tool.setup.clone(),
        calls,
        reads: tool.reads.clone(),
        ..CallSet::default()
    }
}

/// One call of each of two tools, after both set-ups and before both's read-backs.
pub(crate) fn two(hazard: &HazardId, one: &ToolSurface, other: &ToolSurface) -> Option<CallSet> {
    Some(pair(hazard, (one, one.samples.first()?), (other, other.samples.first()?)))
}

/// The same with these calls of the two tools.
pub(crate) fn pair(
    hazard: &HazardId,
    (one, first): (&ToolSurface, &PlannedCall),
    (other, second): (&ToolSurface, &PlannedCall),
) -> CallSet {
    // Where both begin the same way, that is done once.
    let shared = one.setup == other.setup;
    let by = if shared { 0 } else { one.setup.len() };
    let mut setup = one.setup.clone();
    if !shared {
        setup.extend(other.setup.iter().map(|call| call.shifted(by)));
    }
    let mut reads = one.reads.clone();
    for read in other.reads.iter().map(|read| read.shifted(by)) {
        if !reads.contains(&read) {
            reads.push(read);
        }
    }
    let calls = vec![first.clone(), second.shifted(by)];
    CallSet { name: name(&calls), hazard: Some(hazard.clone()), setup, calls, reads, ..CallSet::default() }
}

/// Two to four calls of one tool that say different things: about one thing, about several.
pub(crate) fn different(tool: &ToolSurface) -> Vec<Vec<PlannedCall>> {
    let (same, others) = (&tool.samples, &tool.others);
    let mut groups: Vec<Vec<PlannedCall>> = Vec::new();
    let mut add = |calls: Vec<&PlannedCall>| {
        let calls: Vec<PlannedCall> = calls.into_iter().cloned().collect();
        if calls.len() > 1 && !groups.contains(&calls) {
            groups.push(calls);
        }
    };
    add(same.iter().take(1).chain(others.iter().take(1)).collect());
    add(same.iter().take(2).collect());
    add(same.iter().take(2).chain(others.iter().take(1)).collect());
    add(same.iter().take(2).chain(others.iter().take(2)).collect());
    groups
}

/// The same call twice, three and four times.
pub(crate) fn copies(call: &PlannedCall) -> impl Iterator<Item = Vec<PlannedCall>> {
    [2, 3, 4].into_iter().map(move |count| vec![call.clone(); count])
}

/// What is after state that no argument names: one call again and again. Where the code was seen to have the hazard, what its calls name may
/// matter after all, so those that say different things come first.
pub(crate) fn twice_or_more(tool: &ToolSurface) -> Vec<Vec<PlannedCall>> {
    let again = tool.samples.first().into_iter().flat_map(copies);
    if tool.found { different(tool).into_iter().chain(again).collect() } else { again.collect() }
}

/// Moments in the middle of a call of a tool: parts of what it takes by itself, or of what most calls take.
pub(crate) fn moments(tool: &ToolSurface, parts: u32) -> impl Iterator<Item = Duration> {
    let took = if tool.took.is_zero() { USUAL } else { tool.took };
    (1..=parts).map(move |part| took * (2 * part - 1) / (2 * parts))
}

const USUAL: Duration = Duration::from_millis(20);

/// The read-backs that are calls of tools. What is read without a call (`scratch:`, the server's folder) can be compared and meets nobody: no tool
/// has a colon in its name.
pub(crate) fn called_reads(tool: &ToolSurface) -> impl Iterator<Item = &PlannedCall> {
    tool.reads.iter().filter(|read| !read.tool.contains(':'))
}

/// A call and one of its read-backs.
pub(crate) fn beside_reader(hazard: &HazardId, tool: &ToolSurface) -> Option<CallSet> {
    let calls = vec![tool.samples.first()?.clone(), called_reads(tool).next()?.clone()];
    Some(set(hazard, tool, calls))
}

/// The call that is repeated to see what stops it: of a tool in which it was found, else the one that costs least: of a reader that has to be told nothing, else of any reader, else of a writer.
pub(crate) fn cheapest(surface: &Surface) -> Option<(&ToolSurface, &PlannedCall)> {
    let with_sample = |tool| -> Option<(&ToolSurface, &PlannedCall)> {
        let tool: &ToolSurface = tool;
        Some((tool, tool.samples.first()?))
    };
    let is_free = |(_, call): &(&ToolSurface, &PlannedCall)| {
        call.arguments.as_object().is_none_or(|all| all.is_empty())
    };
    let readers = || surface.readers().filter_map(with_sample);
    let mut found = surface.tools.iter().filter(|tool| tool.found).filter_map(with_sample);
    found
        .next()
        .or_else(|| readers().find(is_free))
        .or_else(|| readers().next())
        .or_else(|| surface.writers().filter_map(with_sample).next())
}

/// Whether a tool's name has one of these words.
pub(crate) fn says(tool: &ToolSurface, known: &[&str]) -> bool {
    words(&tool.name).iter().any(|word| known.contains(&word.as_str()))
}

/// Whether it works on files: it is told a path, or named after them.
pub(crate) fn is_about_files(tool: &ToolSurface) -> bool {
    let is_path = |thing: &String| thing.starts_with("{scratch}/") || thing.starts_with('/');
    tool.things.iter().any(is_path)
        || says(tool, &["file", "files", "report", "folder", "directory", "dir", "upload"])
}

/// Whether it counts: there is nothing that its arguments name.
pub(crate) fn counts(tool: &ToolSurface) -> bool {
    tool.things.is_empty()
        && tool.samples.first().and_then(|call| call.arguments.as_object()).is_none_or(|all| all.len() <= 2)
}

fn name(calls: &[PlannedCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    match names.as_slice() {
        [first, .., _] if names.len() > 4 && names.iter().all(|name| name == first) => {
            format!("{first} × {}", names.len())
        }
        _ => names.join(" + "),
    }
}

#[cfg(test)]
pub(crate) mod kit {
    //! Surfaces made by hand, and sets in one line each.

    use interlock_model::{CallSet, Effectful, Fault, Oracle, PlannedCall, Surface, ToolSurface};
    use serde_json::json;

    /// A call of a tool about a thing, saying something.
    pub(crate) fn call(tool: &str, thing: &str, said: &str) -> PlannedCall {
        PlannedCall::new(tool, json!({"id": thing, "text": said}))
    }

    /// A writer with two samples about `a`, one about `b`, and one read-back.
    pub(crate) fn writer(name: &str) -> ToolSurface {
        ToolSurface {
            name: name.into(),
            effect: Effectful::Writes,
            samples: vec![call(name, "a", "one"), call(name, "a", "two")],
            others: vec![call(name, "b", "one")],
            things: vec!["a".into()],
            reads: vec![PlannedCall::new("get", json!({"id": "a"}))],
            ..ToolSurface::default()
        }
    }

    /// A writer that is told nothing.
    pub(crate) fn counter(name: &str) -> ToolSurface {
        ToolSurface {
            name: name.into(),
            effect: Effectful::Writes,
            samples: vec![PlannedCall::new(name, json!({}))],
            reads: vec![PlannedCall::new("get_count", json!({}))],
            ..ToolSurface::default()
        }
    }

    /// A reader that is told nothing.
    pub(crate) fn reader(name: &str) -> ToolSurface {
        let samples = vec![PlannedCall::new(name, json!({}))];
        ToolSurface { name: name.into(), effect: Effectful::Reads, samples, ..ToolSurface::default() }
    }

    pub(crate) fn surface(tools: &[ToolSurface]) -> Surface {
        Surface { tools: tools.to_vec(), ..Surface::default() }
    }

    /// What a probe picks, one line for each set.
    pub(crate) fn lines(sets: &[CallSet]) -> String {
        let line = |set: &CallSet| {
            let fault = match set.fault {
                Fault::None => String::new(),
                Fault::Kill { after } => format!(" kill after {after:?}"),
                Fault::Close { after } => format!(" close after {after:?}"),
            };
            let oracle =
                if set.oracle == Oracle::Serial { String::new() } else { format!(" {:?}", set.oracle) };
            let calls: Vec<String> = match set.calls.as_slice() {
                [first, ..] if set.calls.len() > 4 => {
                    vec![format!("{} × {}", first.arguments, set.calls.len())]
                }
                calls => calls.iter().map(|call| call.arguments.to_string()).collect(),
            };
            let setup = if set.setup.is_empty() {
                String::new()
            } else {
                format!(" after {} calls", set.setup.len())
            };
            format!("{}: {}{setup}{fault}{oracle}\n", set.name, calls.join(" "))
        };
        sets.iter().map(line).collect()
    }
}
