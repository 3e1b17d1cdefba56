//! What an audit came to, as far as it is counted; kept beside what was installed.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file that it is kept in; written last, so that a run that was stopped has none.
const FILE: &str = "outcome.json";
/// The report of the audit, beside it.
pub(super) const REPORT: &str = "audit.json";

/// One server.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// `broken`, `latent`, `held`, `unknown`, or `not started`.
    pub(super) verdict: String,
    /// Why nothing can be said.
    pub(super) why: String,
    pub(super) writers_tried: usize,
    pub(super) writers_known: usize,
    /// Tools that the server lists, that the scan found among those, and that met others.
    pub(super) listed: usize,
    pub(super) found: usize,
    pub(super) called: usize,
    /// Races: found at medium and high, proven, and both.
    pub(super) races_found: usize,
    pub(super) proven: usize,
    pub(super) both: usize,
    /// Found at high, and its calls met without breaking.
    pub(super) refuted: usize,
    pub(super) held_behind: usize,
    pub(super) tried_behind: usize,
    /// Whether something outside of the scratch folder was changed, or could have been.
    pub(super) outside: bool,
    pub(super) seconds: u64,
}

impl Outcome {
    pub(super) fn not_started(why: String) -> Self {
        Self { verdict: "not started".to_owned(), why, ..Self::default() }
    }

    /// What was kept in a folder, if there is something.
    pub(super) fn kept(folder: &Path) -> Option<Self> {
        let kept: Self = serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()?;
        // What is counted of a report may have become another since.
        let report = fs::read(folder.join(REPORT)).ok();
        let report: Option<Value> = report.and_then(|report| serde_json::from_slice(&report).ok());
        let counted = report.and_then(|report| read(&report, Duration::from_secs(kept.seconds)));
        Some(counted.unwrap_or(kept))
    }

    pub(super) fn keep(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        let text = serde_json::to_string_pretty(self)?;
        fs::write(folder.join(FILE), text).context("failed to keep the outcome")
    }
}

/// Reads the report of an audit of one server.
pub(super) fn read(report: &Value, took: Duration) -> Option<Outcome> {
    let subject = report.pointer("/subjects/0")?;
    let list = |at: &str| subject.pointer(at).and_then(Value::as_array).cloned().unwrap_or_default();
    let text =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |at: &str| subject.pointer(at).and_then(Value::as_u64).unwrap_or_default();
    let seconds = took.as_secs();
    let listed: BTreeSet<String> =
        list("/live/listed").iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    // The coverage has all tools that the server lists, those as well that the sources do not show.
    let counts_of = |listed: &Value| {
        let missed = listed.get("missed").and_then(Value::as_array).map_or(0, Vec::len);
        let tools = usize::try_from(listed.get("tools")?.as_u64()?).ok()?;
        Some((tools.saturating_sub(missed), tools))
    };
    let compared = subject.pointer("/scan/coverage/listed").and_then(counts_of);
    let (found, listed_count) = compared.unwrap_or((0, listed.len()));
    let strong = |finding: &&Value| text(finding, "confidence") != "low";
    let races_found = list("/scan/findings").iter().filter(strong).count();
    let Some(proof) = subject.pointer("/live/proof") else {
        let why = subject.pointer("/live/why").and_then(Value::as_str).unwrap_or_default().to_owned();
        // It has listed its tools, so it did start; nothing came of it all the same.
        if compared.is_some() {
            return Some(Outcome {
                verdict: "unknown".into(),
                why,
                races_found,
                listed: listed_count,
                found,
                seconds,
                ..Outcome::default()
            });
        }
        return Some(Outcome {
            races_found,
            found,
            listed: listed_count,
            seconds,
            ..Outcome::not_started(why)
        });
    };
    let sets = list("/live/proof/sets");
    let met = |set: &&Value| set.pointer("/explored/trials").and_then(Value::as_u64) > Some(0);
    let calls = sets.iter().filter(met).filter_map(|set| set.get("calls")?.as_array());
    let called: BTreeSet<String> = calls.flatten().map(|call| text(call, "tool")).collect();
    let broken =
        sets.iter().filter(|set| ["broken", "latent"].contains(&text(set, "verdict").as_str())).count();
    let entries = list("/entries");
    let both = entries.iter().filter(|entry| text(entry, "standing") == "found-and-proven").count();
    let refuted = list("/scan/findings")
        .iter()
        .filter(|finding| {
            text(finding, "confidence") == "high"
                && finding.pointer("/proof/verdict").and_then(Value::as_str) == Some("held")
        })
        .count();
    let behind = list("/live/behind_guard/sets");
    let held_behind = behind.iter().filter(|set| text(set, "verdict") == "held").count();
    let isolation = |name: &str| proof.pointer(&format!("/isolation/{name}")).and_then(Value::as_str);
    let outside =
        isolation("files") != Some("refused") || !list("/live/proof/isolation/changed_outside").is_empty();
    let unknown = sets.iter().find(|set| text(set, "verdict") == "unknown").map(|set| text(set, "reason"));
    let why = proof.get("reason").and_then(Value::as_str).map(str::to_owned).or(unknown).unwrap_or_default();
    Some(Outcome {
        verdict: text(proof, "verdict"),
        why,
        writers_tried: usize::try_from(number("/live/proof/writers/tried")).ok()?,
        writers_known: usize::try_from(number("/live/proof/writers/known")).ok()?,
        listed: listed_count,
        found,
        called: called.len(),
        races_found,
        proven: broken,
        both: both.min(broken),
        refuted,
        held_behind,
        tried_behind: behind.len(),
        outside,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_audit_is_counted() {
        let set = |verdict: &str, trials: u64, tool: &str| json!({"verdict": verdict, "reason": "", "explored": {"trials": trials}, "calls": [{"tool": tool}]});
        let report = json!({"subjects": [{
            "scan": {
                "coverage": {
                    "tools": [{"name": "add"}, {"name": "get"}, {"name": "gone"}],
                    "listed": {"tools": 2, "missed": ["get"], "unlisted": ["gone"]},
                },
                "findings": [
                    {"confidence": "high", "proof": {"verdict": "broken"}},
                    {"confidence": "high", "proof": {"verdict": "held"}},
                    {"confidence": "low"},
                ],
            },
            "live": {
                "listed": ["add", "get"],
                "proof": {
                    "verdict": "broken",
                    "writers": {"tried": 1, "known": 2},
                    "isolation": {"files": "refused", "changed_outside": []},
                    "sets": [set("broken", 9, "add"), set("unknown", 0, "get")],
                },
                "behind_guard": {"sets": [set("held", 4, "add")]},
            },
            "entries": [{"standing": "found-and-proven"}, {"standing": "found-only"}],
        }]});
        let outcome = read(&report, Duration::from_secs(7)).unwrap();
        let expected = Outcome {
            verdict: "broken".into(),
            writers_tried: 1,
            writers_known: 2,
            listed: 2,
            found: 1,
            called: 1,
            races_found: 2,
            proven: 1,
            both: 1,
            refuted: 1,
            held_behind: 1,
            tried_behind: 1,
            seconds: 7,
            ..Outcome::default()
        };
        assert_eq!(outcome, expected);
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Outcome::kept(folder.path()), None);
        outcome.keep(folder.path()).unwrap();
        assert_eq!(Outcome::kept(folder.path()), Some(outcome));
    }

    #[test]
    fn a_server_that_lists_its_tools_has_started_whatever_came_of_it() {
        let coverage =
            json!({"tools": [{"name": "add"}], "listed": {"tools": 3, "missed": ["b", "c"], "unlisted": []}});
        let live = json!({"state": "unknown", "why": "all of the time went by"});
        let report = json!({"subjects": [{"scan": {"coverage": coverage, "findings": []}, "live": live, "entries": []}]});
        let outcome = read(&report, Duration::ZERO).unwrap();
        assert_eq!((outcome.verdict.as_str(), outcome.listed, outcome.found), ("unknown", 3, 1));
    }

    #[test]
    fn a_server_that_does_not_start_is_one_that_does_not() {
        let report = json!({"subjects": [{"scan": null, "live": {"state": "unknown", "why": "no licence"}, "entries": []}]});
        let outcome = read(&report, Duration::ZERO).unwrap();
        assert_eq!((outcome.verdict.as_str(), outcome.why.as_str()), ("not started", "no licence"));
    }
}
