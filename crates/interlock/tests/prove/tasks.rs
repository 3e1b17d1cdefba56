//! Servers that were called held or broken although nothing had been tried, or nothing was wrong; told nothing but the command.

use std::process::Command;

use serde_json::Value;

/// What comes of a server in this mode.
fn prove(mode: &str, options: &[&str]) -> (i32, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_interlock"))
        .args([
            "prove",
            "--format",
            "json",
            "--no-save",
            "--budget",
            "1800s",
            "--trials",
            "2",
            "--timeout",
            "60s",
        ])
        .args(options)
        .args(["--", "python3", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/prove/tasks.py"), mode])
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code().expect("it was not killed"), report)
}

fn verdict(report: &Value) -> &str {
    report["verdict"].as_str().unwrap_or_default()
}

fn broken_set(report: &Value) -> &Value {
    let sets = report["sets"].as_array().expect("sets");
    sets.iter().find(|set| set["verdict"] == "broken").unwrap_or_else(|| panic!("nothing broke: {report:#}"))
}

#[test]
fn what_only_a_tool_behind_a_set_up_loses_is_not_called_held() {
    let (code, report) = prove("completed", &[]);
    assert_eq!((code, verdict(&report)), (1, "broken"), "{report:#}");
    let reason = broken_set(&report)["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("was acknowledged and is gone"), "{reason}");
}

#[test]
fn a_server_that_wants_to_be_read_first_is_read_first() {
    let (code, report) = prove("guided", &[]);
    assert_eq!((code, verdict(&report)), (1, "broken"), "{report:#}");
    assert_eq!(broken_set(&report)["setup"][0]["tool"], "get_guidelines", "{report:#}");
}

#[test]
fn where_a_loss_would_not_show_nothing_is_called_held() {
    let (code, report) = prove("flag", &[]);
    assert_eq!((code, verdict(&report)), (3, "unknown"), "{report:#}");
    let reason = report["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("`enable_all` met others only in calls of which it would not show"), "{reason}");
    assert_eq!(report["writers"]["tried"], 0, "{report:#}");
}

#[test]
fn a_label_that_sounds_like_a_key_promises_nothing() {
    let (code, report) = prove("labelled", &[]);
    assert_eq!((code, verdict(&report)), (0, "held"), "{report:#}");
}

#[test]
fn readers_that_never_say_the_same_take_nothing_from_writers_that_held() {
    let (code, report) = prove("noisy", &[]);
    assert_eq!((code, verdict(&report)), (0, "held"), "{report:#}");
    assert_eq!(
        (&report["writers"]["tried"], &report["writers"]["known"]),
        (&1.into(), &1.into()),
        "{report:#}"
    );
    let notes = report["notes"].to_string();
    assert!(notes.contains("--two-processes"), "{notes}");
    let sets = report["sets"].as_array().expect("sets");
    let calls = sets.iter().flat_map(|set| set["calls"].as_array().expect("calls"));
    assert!(
        calls.into_iter().all(|call| call["tool"] != "scratch:"),
        "what is read without a call meets nobody: {report:#}"
    );
}

#[test]
fn arguments_that_are_refused_one_after_another_are_corrected_one_after_another() {
    let (code, report) = prove("choosy", &[]);
    assert_eq!((code, verdict(&report)), (1, "broken"), "{report:#}");
}

#[test]
fn state_is_looked_for_wherever_a_server_keeps_it() {
    for mode in ["logs", "template"] {
        let (code, report) = prove(mode, &[]);
        assert_eq!((code, verdict(&report)), (1, "broken"), "{mode}: {report:#}");
    }
}
