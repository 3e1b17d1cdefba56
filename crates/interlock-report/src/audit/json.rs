//! An audit for programs: the reports of scan and prove as they are, and what joins them.

use interlock_model::Verdict;
use serde::Serialize;

use super::{Audit, Entry, Live, Subject, beside};
use crate::{Rule, encode};

/// The version that is written.
pub const VERSION: u64 = 1;

#[derive(Serialize)]
struct Log<S> {
    version: u64,
    stopped: bool,
    subjects: Vec<S>,
}

#[derive(Serialize)]
struct One<'s, S, P> {
    name: &'s str,
    origin: &'s [String],
    scan: Option<S>,
    live: Run<'s, P>,
    entries: Vec<Row<'s>>,
    tools: Vec<Tool>,
    notes: &'s [String],
}

#[derive(Serialize)]
struct Run<'s, P> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'s str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    listed: &'s [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind_guard: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guard_not_tried: Option<&'s str>,
}

#[derive(Serialize)]
struct Row<'s> {
    standing: &'static str,
    hazard: Option<&'s str>,
    severity: &'static str,
    tools: Vec<String>,
    message: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    behind_guard: Option<&'static str>,
}

#[derive(Serialize)]
struct Tool {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    followed: Option<bool>,
    breaks_beside: Vec<String>,
    may_break_beside: Vec<String>,
    held_beside: Vec<String>,
}

/// Writes an audit.
#[must_use]
pub fn write(audit: &Audit, rules: &[Rule<'_>]) -> String {
    let subjects = audit.subjects.iter().map(|subject| one(subject, rules)).collect();
    encode::json(&Log { version: VERSION, stopped: audit.stopped, subjects })
}

fn one<'s>(subject: &'s Subject, rules: &[Rule<'_>]) -> One<'s, impl Serialize + 's, impl Serialize + 's> {
    let live = match &subject.live {
        Live::NotRun(why) => run("not-run", Some(why)),
        Live::Unknown(why) => run("unknown", Some(why)),
        Live::Proved(proved) => Run {
            listed: &proved.tools,
            proof: Some(crate::proof::json::wire(&proved.proof)),
            policy: proved.policy.as_deref(),
            behind_guard: proved.behind.as_ref().ok().map(crate::proof::json::wire),
            guard_not_tried: proved.behind.as_ref().err().map(String::as_str),
            ..run("proved", None)
        },
    };
    let listed = |names: std::collections::BTreeSet<String>| names.into_iter().collect();
    One {
        name: &subject.name,
        origin: &subject.origin,
        scan: subject.scan.as_ref().map(crate::json::wire),
        live,
        entries: subject.entries().iter().map(|entry| row(entry, rules)).collect(),
        tools: beside::tools(subject)
            .into_iter()
            .map(|(name, tool)| Tool {
                name,
                followed: tool.followed,
                breaks_beside: listed(tool.breaks),
                may_break_beside: listed(tool.may_break),
                held_beside: listed(tool.held),
            })
            .collect(),
        notes: &subject.notes,
    }
}

fn run<'a, P>(state: &'static str, why: Option<&'a str>) -> Run<'a, P> {
    Run { state, why, listed: &[], proof: None, policy: None, behind_guard: None, guard_not_tried: None }
}

fn row<'s>(entry: &Entry<'s>, rules: &[Rule<'_>]) -> Row<'s> {
    Row {
        standing: entry.standing.word(),
        hazard: entry.hazard().map(|hazard| hazard.as_str()),
        severity: entry.severity(rules).name(),
        tools: entry.tools.clone(),
        message: entry.message(),
        fingerprint: entry.finding.map(|finding| finding.fingerprint.0.as_str()),
        verdict: entry.races.first().map(|race| race.verdict.name()),
        behind_guard: entry.behind.map(Verdict::name),
    }
}
