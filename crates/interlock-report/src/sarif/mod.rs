//! SARIF 2.1.0, the form that code scanning services take.
//!
//! The witness is a code flow with one thread per call; the order over all threads is each step's `executionOrder`.

mod result;
mod rule;
mod uri;
mod wire;

use interlock_model::Report;

use crate::{Rule, encode};

/// The version of the standard.
pub const VERSION: &str = "2.1.0";

/// What the paths are relative to. The name is the one that GitHub and others know.
const ROOT: &str = "%SRCROOT%";

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes a report. `prefix` is what leads from the root of the repository to the scanned root, with a slash at its end, or nothing.
#[must_use]
pub fn write(report: &Report, rules: &[Rule<'_>], prefix: &str) -> String {
    log([run(report, rules, prefix)].into())
}

/// Writes several reports, each a run with its prefix.
pub(crate) fn write_all(reports: &[(Report, String)], rules: &[Rule<'_>]) -> String {
    log(reports.iter().map(|(report, prefix)| run(report, rules, prefix)).collect())
}

fn log(runs: Vec<wire::Run<'_>>) -> String {
    encode::json(&wire::Log { schema: SCHEMA, version: VERSION, runs })
}

fn run<'r>(report: &'r Report, rules: &'r [Rule<'_>], prefix: &str) -> wire::Run<'r> {
    let driver = wire::Driver {
        name: "Interlock",
        semantic_version: env!("CARGO_PKG_VERSION"),
        short_description: wire::Text::new("Finds race conditions in MCP servers"),
        rules: rules.iter().map(rule::descriptor).collect(),
    };
    let coverage = &report.coverage;
    wire::Run {
        tool: wire::Tool { driver },
        invocations: [wire::Invocation {
            execution_successful: true,
            tool_execution_notifications: notifications(report),
        }],
        original_uri_base_ids: wire::BaseIds {
            root: wire::BaseId { description: wire::Text::new("The root of the repository") },
        },
        results: report.findings.iter().map(|finding| result::result(finding, rules, prefix)).collect(),
        column_kind: "utf16CodeUnits",
        properties: wire::RunProperties {
            score: report.rating.score(),
            grade: report.rating.grade().map(|grade| grade.to_string()),
            not_graded: report.rating.not_graded().map(str::to_owned),
            files: coverage.files,
            functions: coverage.functions,
            handlers: coverage.handlers,
            followed: coverage.followed(),
        },
    }
}

/// What was left out; first of all, and louder, that the whole is not graded.
fn notifications(report: &Report) -> Vec<wire::Notification> {
    let not_graded = report.rating.not_graded().map(|why| ("warning", format!("not graded: {why}")));
    let notes = report.coverage.notes.iter().map(|note| ("note", note.clone()));
    let notification = |(level, text): (&'static str, String)| wire::Notification {
        level,
        message: wire::Text::new(result::literal(&text)),
    };
    not_graded.into_iter().chain(notes).map(notification).collect()
}
