//! What the suite has written down: a folder for each scenario, `server-NAME-TIME`, with its checks as JSON.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;

/// The length of the time at the end of a folder's name, with the dash before it.
const TIME: usize = "-2026-07-28T12-00-00-000Z".len();

/// How a check came out, the better one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Status {
    Success,
    Info,
    Skipped,
    Warning,
    Failure,
}

/// How a scenario came out, the better one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Passes,
    /// No check had anything to check: nothing is shown.
    Nothing,
    Warns,
    Fails,
}

/// The scenarios of one run by name.
#[derive(Debug, Default)]
pub(super) struct Scenarios(pub(super) BTreeMap<String, Scenario>);

/// The checks of a scenario by id and name. One that was made several times counts by the worst of them.
#[derive(Debug, Default)]
pub(super) struct Scenario(pub(super) BTreeMap<String, Check>);

#[derive(Debug)]
pub(super) struct Check {
    pub(super) status: Status,
    /// What was wrong, in the suite's words.
    pub(super) message: String,
}

/// A check as it is written down; what is not read here is of no use for a comparison.
#[derive(Deserialize)]
struct Written {
    id: String,
    name: String,
    status: Status,
    #[serde(rename = "errorMessage", default)]
    message: String,
}

/// Reads what one run has left in its folder.
pub(super) fn read(folder: &Path) -> Result<Scenarios> {
    let mut scenarios = Scenarios::default();
    let entries = fs::read_dir(folder).with_context(|| {
        format!("the suite left no results in {}; its log is beside it", folder.display())
    })?;
    for entry in entries {
        let path = entry.context("failed to list the results")?.path();
        let file = path.join("checks.json");
        let text = fs::read_to_string(&file).with_context(|| format!("failed to read {}", file.display()))?;
        let name = path.file_name().and_then(|name| name.to_str()).and_then(scenario);
        let name = name.with_context(|| format!("{} is not named as expected", path.display()))?;
        let checks = parse(&text).with_context(|| format!("failed to understand {}", file.display()))?;
        scenarios.0.insert(name.to_owned(), checks);
    }
    Ok(scenarios)
}

fn scenario(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix("server-")?;
    name.get(..name.len().checked_sub(TIME)?)
}

fn parse(text: &str) -> Result<Scenario> {
    let mut scenario = Scenario::default();
    for written in serde_json::from_str::<Vec<Written>>(text)? {
        let check = Check { status: written.status, message: written.message };
        let name = format!("{} {}", written.id, written.name);
        match scenario.0.get_mut(&name) {
            Some(known) if known.status >= check.status => {}
            Some(known) => *known = check,
            None => {
                scenario.0.insert(name, check);
            }
        }
    }
    Ok(scenario)
}

impl Scenarios {
    /// Whether the server was there at all.
    pub(super) fn any_passes(&self) -> bool {
        self.0.values().any(|scenario| scenario.verdict() == Verdict::Passes)
    }
}

impl Scenario {
    pub(super) fn verdict(&self) -> Verdict {
        // That the suite itself kept to the schema is no achievement of the server.
        let own = self.0.iter().filter(|(name, _)| !name.starts_with("wire-schema-harness-error "));
        let statuses: Vec<Status> = own.map(|(_, check)| check.status).collect();
        match statuses.iter().max() {
            Some(Status::Failure) => Verdict::Fails,
            Some(Status::Warning) => Verdict::Warns,
            Some(_) if statuses.contains(&Status::Success) => Verdict::Passes,
            Some(_) | None => Verdict::Nothing,
        }
    }

    pub(super) fn successes(&self) -> usize {
        self.0.values().filter(|check| check.status == Status::Success).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(statuses: &[(&str, &str)]) -> Scenario {
        let checks = statuses.iter().map(
            |(id, status)| serde_json::json!({ "id": id, "name": "N", "status": status, "details": {} }),
        );
        parse(&serde_json::Value::from_iter(checks).to_string()).unwrap()
    }

    #[test]
    fn the_name_of_a_scenario_is_found_in_the_name_of_its_folder() {
        assert_eq!(
            scenario("server-server-sse-polling-2026-11-15T13-55-16-265Z"),
            Some("server-sse-polling")
        );
        assert_eq!(scenario("server-x"), None);
        assert_eq!(scenario("client-x-2026-11-15T13-55-16-265Z"), None);
    }

    #[test]
    fn a_check_that_was_made_twice_counts_by_the_worse() {
        let one = of(&[("a", "SUCCESS"), ("a", "FAILURE"), ("a", "SUCCESS")]);
        assert_eq!(one.0.values().map(|check| check.status).collect::<Vec<_>>(), [Status::Failure]);
    }

    #[test]
    fn a_scenario_passes_only_by_a_check_of_the_server() {
        assert_eq!(of(&[("a", "SUCCESS"), ("b", "INFO"), ("c", "SKIPPED")]).verdict(), Verdict::Passes);
        assert_eq!(of(&[("wire-schema-harness-error", "SUCCESS")]).verdict(), Verdict::Nothing);
        assert_eq!(of(&[("a", "SKIPPED")]).verdict(), Verdict::Nothing);
        assert_eq!(of(&[]).verdict(), Verdict::Nothing);
        assert_eq!(of(&[("a", "SUCCESS"), ("b", "WARNING")]).verdict(), Verdict::Warns);
        assert_eq!(of(&[("a", "WARNING"), ("b", "FAILURE")]).verdict(), Verdict::Fails);
    }
}
