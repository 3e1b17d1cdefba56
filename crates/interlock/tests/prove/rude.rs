//! Servers that do what no server should: the verdict is unknown, with the reason, and nothing is left behind.

use crate::{Counter, TWO_ADDS};

fn unknown(mode: &'static str, because: &str) {
    let counter = Counter::new(mode);
    let (code, report) = counter.json(&[TWO_ADDS, &["--timeout", "3s"]].concat());
    assert_eq!(
        (code, report.pointer("/verdict").and_then(serde_json::Value::as_str)),
        (3, Some("unknown")),
        "{mode}: {report:#}"
    );
    let reason = report.pointer("/sets/0/reason").and_then(serde_json::Value::as_str).unwrap_or_default();
    assert!(reason.contains(because), "{mode}: {reason}");
    counter.assert_nothing_is_left();
}

#[test]
fn one_that_crashes() {
    unknown("crash", "out of memory, says the counter");
}

#[test]
fn one_that_answers_twice() {
    unknown("twice", "answered twice");
}

#[test]
fn one_that_never_answers() {
    unknown("never", "no answer within");
}

#[test]
fn one_that_is_gone_at_once() {
    let counter = Counter::new("gone");
    let ended = counter.run(TWO_ADDS);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("no licence"), "{}", ended.stderr);
    counter.assert_nothing_is_left();
}

#[test]
fn junk_on_the_output_is_passed_over() {
    let (code, report) = Counter::new("junk").json(TWO_ADDS);
    assert_eq!(
        (code, report.pointer("/verdict").and_then(serde_json::Value::as_str)),
        (1, Some("broken")),
        "{report:#}"
    );
}
