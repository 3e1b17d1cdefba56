//! Answers to `scan --dump-ir` and `scan --why`: text for people, JSON for programs.

use std::fmt::Write as _;

use interlock_model::{FunctionIr, Location, Reaching, RuleOutcome, RuleVerdict, Why};
use serde::Serialize;

use crate::{clean, encode, json::coverage::Loss};

/// What finds check-act pairs for the rules that share them.
const PAIRS: &str = "check-act pairs";

/// The IR of functions as text.
#[must_use]
pub fn dump_text(functions: &[FunctionIr]) -> String {
    let shown = functions.iter().map(|function| {
        let ir: String = function.ir.lines().map(|line| clean::line(line) + "\n").collect();
        format!("{}\n{ir}", clean::line(&function.location.to_string()))
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// The IR of functions as JSON.
#[must_use]
pub fn dump_json(functions: &[FunctionIr]) -> String {
    let functions: Vec<WireFunction<'_>> = functions.iter().map(WireFunction::from).collect();
    encode::json(&Dump { version: 1, functions })
}

/// What is known about a line, as text.
#[must_use]
pub fn why_text(why: &Why) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}", place(&why.location));
    for FunctionIr { name, location, ir } in &why.functions {
        let _ = writeln!(out, "\nin {} ({}):", clean::line(name), place(location));
        for step in ir.lines() {
            let _ = writeln!(out, "  {}", clean::line(step));
        }
    }
    out.push_str("\nreached by:\n");
    if why.reached.is_empty() {
        out.push_str("  nothing that is known\n");
    }
    for Reaching { entry, calls, inlined } in &why.reached {
        let unseen = if *inlined { "" } else { "; the rules did not see the line there" };
        let _ = writeln!(out, "  {}{unseen}", clean::line(entry));
        for (function, location) in calls {
            let _ = writeln!(out, "    {} ({})", clean::line(function), place(location));
        }
    }
    out.push_str("\nrules:\n");
    if why.rules.is_empty() {
        out.push_str("  none has anything to say here\n");
    }
    for RuleOutcome { hazard, location, outcome } in &why.rules {
        let (verdict, with, words) = match outcome {
            RuleVerdict::Reported(message) => ("reported", "at", message),
            RuleVerdict::Silent(reason) => ("silent", "with", reason),
        };
        let elsewhere =
            if *location == why.location { String::new() } else { format!(" {with} {}", place(location)) };
        let rule = hazard.as_ref().map_or(PAIRS, |hazard| hazard.as_str());
        let _ = writeln!(out, "  {rule}: {verdict}{elsewhere}: {}", clean::line(words));
    }
    if !why.lost.is_empty() {
        out.push_str("\nlost:\n");
        for loss in &why.lost {
            let _ = writeln!(out, "  {}", clean::line(&loss.to_string()));
        }
    }
    out
}

/// What is known about a line, as JSON.
#[must_use]
pub fn why_json(why: &Why) -> String {
    encode::json(&WireWhy {
        version: 1,
        file: &why.location.file,
        line: why.location.line,
        functions: why.functions.iter().map(WireFunction::from).collect(),
        reached: why.reached.iter().map(WireReaching::from).collect(),
        rules: why.rules.iter().map(WireRule::from).collect(),
        lost: why.lost.iter().map(Loss::from).collect(),
    })
}

/// `FILE:LINE`, of several lines the first.
fn place(location: &Location) -> String {
    clean::line(&format!("{}:{}", location.file, location.line))
}

#[derive(Serialize)]
struct Dump<'w> {
    version: u64,
    functions: Vec<WireFunction<'w>>,
}

#[derive(Serialize)]
struct WireFunction<'w> {
    name: &'w str,
    file: &'w str,
    line: u32,
    ir: Vec<&'w str>,
}

#[derive(Serialize)]
struct WireWhy<'w> {
    version: u64,
    file: &'w str,
    line: u32,
    functions: Vec<WireFunction<'w>>,
    reached: Vec<WireReaching<'w>>,
    rules: Vec<WireRule<'w>>,
    lost: Vec<Loss>,
}

#[derive(Serialize)]
struct WireReaching<'w> {
    entry: &'w str,
    inlined: bool,
    calls: Vec<WireCall<'w>>,
}

#[derive(Serialize)]
struct WireCall<'w> {
    function: &'w str,
    file: &'w str,
    line: u32,
}

#[derive(Serialize)]
struct WireRule<'w> {
    hazard: Option<&'w str>,
    file: &'w str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported: Option<&'w str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    silent: Option<&'w str>,
}

impl<'w> From<&'w FunctionIr> for WireFunction<'w> {
    fn from(FunctionIr { name, location, ir }: &'w FunctionIr) -> Self {
        Self { name, file: &location.file, line: location.line, ir: ir.lines().collect() }
    }
}

impl<'w> From<&'w Reaching> for WireReaching<'w> {
    fn from(Reaching { entry, calls, inlined }: &'w Reaching) -> Self {
        let call = |(function, location): &'w (String, Location)| WireCall {
            function,
            file: &location.file,
            line: location.line,
        };
        Self { entry, inlined: *inlined, calls: calls.iter().map(call).collect() }
    }
}

impl<'w> From<&'w RuleOutcome> for WireRule<'w> {
    fn from(RuleOutcome { hazard, location, outcome }: &'w RuleOutcome) -> Self {
        let (reported, silent) = match outcome {
            RuleVerdict::Reported(message) => (Some(&**message), None),
            RuleVerdict::Silent(reason) => (None, Some(&**reason)),
        };
        let hazard = hazard.as_ref().map(|hazard| hazard.as_str());
        Self { hazard, file: &location.file, line: location.line, reported, silent }
    }
}
