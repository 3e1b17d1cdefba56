//! The plan behind a proof: what was learnt of a server, as a file that `prove --plan` takes back, with a line corrected.

use std::fmt::Write as _;

use interlock_model::{Fault, Learnt, Oracle, PlannedCall, ProofReport, SetReport};
use serde_json::Value;

use super::words;
use crate::clean;

/// A plan has no more sets than this; those that say most come first.
const MOST_SETS: usize = 200;

/// Writes the calls of all sets as a plan, each with what came of it; what was not called, and why, stands above them, and what was learnt of
/// arguments: a tool of which no call worked is a set of its own that waits behind `#` for somebody to correct it.
#[must_use]
pub fn write(report: &ProofReport) -> String {
    let mut out = format!("# {}\n# {}\n", clean::line(&report.target), clean::line(&words::headline(report)));
    for note in &report.notes {
        let _ = writeln!(out, "# {}", clean::line(note));
    }
    for learnt in &report.learnt {
        out.push_str(&told(learnt));
    }
    for set in report.sets.iter().take(MOST_SETS) {
        out.push_str(&one(set));
    }
    if let Some(left @ 1..) = report.sets.len().checked_sub(MOST_SETS) {
        let _ = writeln!(out, "\n# {left} more are left out: a plan has at most {MOST_SETS}");
    }
    out
}

/// What was learnt of one tool, behind `#`.
fn told(learnt: &Learnt) -> String {
    let mut out = format!("\n# {}\n", clean::line(&words::learnt(learnt)));
    for refused in words::refused(learnt) {
        let _ = writeln!(out, "#   {}", clean::line(&refused));
    }
    let last = learnt.refused.last().filter(|_| learnt.works.is_none());
    if let Some((last, _)) = last {
        out.push_str("# Corrected, and without the signs in front, it is tried:\n# [[set]]\n");
        if !learnt.setup.is_empty() {
            let setup: Vec<String> = learnt.setup.iter().map(call).collect();
            let _ = writeln!(out, "# setup = [{}]", clean::line(&setup.join(", ")));
        }
        let _ = writeln!(out, "# calls = [{}]", clean::line(&call(last)));
    }
    out
}

fn one(report: &SetReport) -> String {
    let set = &report.set;
    let mut out = format!("\n# {}: {}\n[[set]]\n", report.verdict, clean::line(&report.reason));
    let _ = writeln!(out, "name = {}", text(&words::name(set)));
    if let Some(hazard) = &set.hazard {
        let _ = writeln!(out, "hazard = {}", text(hazard.as_str()));
    }
    for (key, calls) in [("setup", &set.setup), ("calls", &set.calls), ("reads", &set.reads)] {
        if !calls.is_empty() {
            let lines: String = calls.iter().map(|one| format!("  {},\n", call(one))).collect();
            let _ = writeln!(out, "{key} = [\n{lines}]");
        }
    }
    if !set.invariants.is_empty() {
        let all: Vec<String> = set.invariants.iter().map(|one| text(one)).collect();
        let _ = writeln!(out, "invariants = [{}]", all.join(", "));
    }
    let fault = match set.fault {
        Fault::None => None,
        Fault::Kill { after } => Some(("kill", after)),
        Fault::Close { after } => Some(("close", after)),
    };
    if let Some((kind, after)) = fault {
        let _ = writeln!(out, "fault = {{ kind = \"{kind}\", after = \"{}us\" }}", after.as_micros());
    }
    let oracle = match set.oracle {
        Oracle::Serial => None,
        Oracle::NoMoreThanSerial => Some("no-more-than-serial"),
        Oracle::Once => Some("once"),
        Oracle::SomeRefused => Some("some-refused"),
    };
    if let Some(oracle) = oracle {
        let _ = writeln!(out, "oracle = \"{oracle}\"");
    }
    out
}

/// `'TOOL {json}'`; a call with `_meta`, or one whose tool has an odd name, as a table.
fn call(call: &PlannedCall) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.:/".contains(c);
    if call.meta.is_null() && call.tool.chars().all(is_plain) && !call.tool.is_empty() {
        let arguments = match &call.arguments {
            Value::Null => String::new(),
            other => format!(" {other}"),
        };
        return text(&format!("{}{arguments}", call.tool));
    }
    let mut fields = vec![format!("tool = {}", text(&call.tool))];
    for (name, value) in [("arguments", &call.arguments), ("meta", &call.meta)] {
        if value.is_object() {
            fields.push(format!("{name} = {}", inline(value)));
        }
    }
    format!("{{ {} }}", fields.join(", "))
}

/// A value of JSON in TOML. There is no null there: a field that is null is left out.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(string) => text(string),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter(|item| !item.is_null()).map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| format!("{} = {}", text(name), inline(value)))
                .collect();
            format!("{{ {} }}", fields.join(", "))
        }
    }
}

/// A text between single quotes, where it may stand there; else with everything spelled out as in JSON, which TOML reads too.
fn text(text: &str) -> String {
    if !text.contains('\'') && !text.chars().any(char::is_control) {
        return format!("'{text}'");
    }
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use interlock_model::{CallSet, Verdict};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_says_of_each_set_what_is_called_and_what_came_of_it() {
        let with_meta = PlannedCall {
            tool: "pay".into(),
            arguments: json!({"amount": 10, "to": "it's", "note": null, "tags": ["a", 1.5, true]}),
            meta: json!({"dev.interlock/idempotency-key": "k"}),
        };
        let set = CallSet {
            name: "pay + pay".into(),
            hazard: "lost-update".parse().ok(),
            setup: vec![PlannedCall::new("open", json!({"path": "{scratch}/a.txt"}))],
            calls: vec![PlannedCall::new("say", json!({"text": "it's\u{7f}\n"})), with_meta],
            reads: vec![PlannedCall::new("scratch:", json!({}))],
            fault: Fault::Kill { after: std::time::Duration::from_millis(15) },
            oracle: Oracle::Once,
            invariants: vec!["succeeded <= 1".into()],
        };
        let report = ProofReport {
            target: "node server.js\nrm -r".into(),
            verdict: Verdict::Unknown,
            reason: Some("not every writer was tried".into()),
            writers: None,
            isolation: Default::default(),
            sets: vec![SetReport {
                set,
                verdict: Verdict::Held,
                reason: "every outcome is one".into(),
                explored: Default::default(),
                evidence: None,
            }],
            explored: Default::default(),
            took: Default::default(),
            notes: vec!["`drop` is not called\n[[set]]".into()],
            learnt: vec![
                Learnt {
                    tool: "pay".into(),
                    setup: vec![PlannedCall::new("open", json!({"path": "{scratch}/a.txt"}))],
                    works: Some(PlannedCall::new("pay", json!({"amount": 10, "to": "bob"}))),
                    sources: vec![
                        ("amount".into(), "made up".into()),
                        ("to".into(), "the answer of open".into()),
                    ],
                    refused: vec![(
                        PlannedCall::new("pay", json!({"to": "item-a"})),
                        "no such\n[[set]]".into(),
                    )],
                },
                Learnt {
                    tool: "book".into(),
                    refused: vec![(
                        PlannedCall::new("book", json!({"on": "it's\n[[set]]"})),
                        "no date".into(),
                    )],
                    ..Learnt::default()
                },
            ],
        };
        expect![[r#"
            # node server.js rm -r
            # unknown: not every writer was tried
            # `drop` is not called [[set]]

            # pay {"amount":10,"to":"bob"}: amount is made up, to is the answer of open; open {"path":"{scratch}/a.txt"} was called first
            #   refused: pay {"to":"item-a"}: no such [[set]]

            # book: no call that we know to make worked
            #   refused: book {"on":"it's\n[[set]]"}: no date
            # Corrected, and without the signs in front, it is tried:
            # [[set]]
            # calls = ["book {\"on\":\"it's\\n[[set]]\"}"]

            # held: every outcome is one
            [[set]]
            name = 'pay + pay'
            hazard = 'lost-update'
            setup = [
              'open {"path":"{scratch}/a.txt"}',
            ]
            calls = [
              "say {\"text\":\"it's\u007f\\n\"}",
              { tool = 'pay', arguments = { 'amount' = 10, 'tags' = ['a', 1.5, true], 'to' = "it's" }, meta = { 'dev.interlock/idempotency-key' = 'k' } },
            ]
            reads = [
              'scratch: {}',
            ]
            invariants = ['succeeded <= 1']
            fault = { kind = "kill", after = "15000us" }
            oracle = "once"
        "#]]
        .assert_eq(&write(&report));
    }
}
