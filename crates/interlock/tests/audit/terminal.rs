//! On a terminal: the server is started only if somebody says so.

use std::{
    fs,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{Desk, INTERLOCK};

const COUNTER: &str = include_str!("../prove/counter.py");

/// An audit at a terminal, where the question is answered so; what was seen, and the report.
fn answered(desk: &Desk, answer: &str, environment: &Value) -> (Value, Value) {
    desk.write("work/counter.py", COUNTER);
    let report = desk.path("report.json");
    let report = report.to_str().expect("a name");
    let counter = ["python3", "counter.py", "unsafe", "{scratch}/value"];
    let command =
        [&[INTERLOCK, "audit", ".", "--output", report, "--budget", "60s", "--"], counter.as_slice()];
    let mut given = json!({ "HOME": desk.path("home"), "TMPDIR": desk.path("tmp"), "CI": "" });
    if let (Some(given), Some(more)) = (given.as_object_mut(), environment.as_object()) {
        given.extend(more.clone());
    }
    let task = json!({
        "folder": desk.path("work"), "command": command.concat(), "environment": given, "question": "[y/N]", "answer": answer,
    });
    let mut child = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/audit/terminal.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    serde_json::to_writer(child.stdin.take().expect("its input"), &task).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let saw: Value = serde_json::from_slice(&output.stdout).expect("it says what it saw");
    let report = fs::read_to_string(report).unwrap_or_default();
    (saw, serde_json::from_str(&report).unwrap_or_default())
}

#[test]
fn on_a_terminal_it_is_asked_first_and_a_yes_starts_the_server() {
    let (saw, report) = answered(&Desk::new(), "y\r", &json!({}));
    assert_eq!((&saw["answered"], &saw["code"]), (&true.into(), &1.into()), "{saw}");
    let seen = saw["seen"].as_str().expect("a screen");
    assert!(
        seen.contains("start `python3 counter.py unsafe {scratch}/value`"),
        "it says what it would start: {seen}"
    );
    assert!(seen.contains("step ") && seen.contains(" of "), "and then how far it is: {seen}");
    assert_eq!(report.pointer("/subjects/0/live/state"), Some(&"proved".into()), "{report}");
}

#[test]
fn a_no_and_an_empty_line_start_nothing() {
    for answer in ["n\r", "\r"] {
        let (saw, report) = answered(&Desk::new(), answer, &json!({}));
        assert_eq!(saw["answered"], true, "{saw}");
        assert_eq!(
            report.pointer("/subjects/0/live"),
            Some(&json!({ "state": "not-run", "why": "it was declined" })),
            "{report}"
        );
    }
}

#[test]
fn in_ci_nobody_is_asked_even_on_a_terminal() {
    let (saw, report) = answered(&Desk::new(), "y\r", &json!({ "CI": "true" }));
    assert_eq!(saw["answered"], false, "{saw}");
    assert_eq!(report.pointer("/subjects/0/live/state"), Some(&"not-run".into()), "{report}");
}
