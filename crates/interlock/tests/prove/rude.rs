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
    unknown("never", "no answer within 3 s, --timeout waits longer");
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
    let (code, report) = Counter::new("junk").judged(TWO_ADDS);
    assert_eq!(
        (code, report.pointer("/verdict").and_then(serde_json::Value::as_str)),
        (1, Some("broken")),
        "{report:#}"
    );
    let notes = report["notes"].as_array().expect("notes");
    let said = |note: &serde_json::Value| note.as_str().is_some_and(|note| note.contains("`counting...`"));
    assert_eq!(notes.iter().filter(|note| said(note)).count(), 1, "{report:#}");
}

#[test]
fn lines_that_are_no_messages_are_passed_over_before_the_handshake_too() {
    let (code, report) = Counter::new("chatty").judged(TWO_ADDS);
    assert_eq!(
        (code, report.pointer("/verdict").and_then(serde_json::Value::as_str)),
        (1, Some("broken")),
        "{report:#}"
    );
    let notes = report["notes"].to_string();
    assert!(notes.contains("no message: `Counter v1"), "{notes}");
}

#[test]
fn one_that_prints_without_end_is_given_up() {
    let counter = Counter::new("flood");
    let ended = counter.run(TWO_ADDS);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("`all is well`"), "{}", ended.stderr);
    counter.assert_nothing_is_left();
}

#[test]
fn one_that_prints_something_else_than_messages_is_told_what_it_printed() {
    let counter = Counter::new("banner");
    let ended = counter.run(TWO_ADDS);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("`\\u{1b}[32mListening on port 3000"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("\u{1b}[32m"), "a terminal would obey it: {}", ended.stderr);
    counter.assert_nothing_is_left();
}
