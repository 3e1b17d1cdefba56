//! Servers that are started.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use crate::Desk;

const COUNTER: &str = include_str!("../prove/counter.py");

#[test]
fn a_server_that_breaks_is_proven_and_holds_behind_the_policy_that_was_made_for_it() {
    let desk = Desk::new();
    desk.write("work/counter.py", COUNTER);
    let ended = desk.audit(&[".", "--run", "--", "python3", "counter.py", "unsafe", "{scratch}/value"]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    let entries = ended.entries(0);
    assert!(entries.iter().any(|entry| entry.starts_with("proven-only")), "{entries:#?}");
    assert!(entries.iter().all(|entry| !entry.ends_with("broken")), "{entries:#?}");
    assert!(entries.iter().any(|entry| entry.ends_with("held")), "{entries:#?} {}", ended.report);
    let tools = ended.at("/subjects/0/tools");
    let broke =
        tools.as_array().into_iter().flatten().filter(|tool| tool["breaks_beside"] != serde_json::json!([]));
    assert!(broke.count() > 0, "{tools}");
}

#[test]
fn a_server_that_nobody_agreed_to_run_is_not_run() {
    let desk = Desk::new();
    desk.write("work/counter.py", COUNTER);
    let ended = desk.audit(&[".", "--", "python3", "counter.py", "unsafe", "{scratch}/value"]);
    assert_eq!(ended.at("/subjects/0/live/state"), "not-run", "{}", ended.report);
    assert_eq!(ended.code, 3, "nothing was found, and nothing was tried: {} {}", ended.stdout, ended.stderr);
}

#[test]
fn a_command_that_is_no_server_is_unknown_and_the_sources_are_read_all_the_same() {
    let desk = Desk::new();
    let example = crate::example().display().to_string();
    let ended = desk.audit(&[&example, "--run", "--", "true"]);
    assert_eq!(ended.at("/subjects/0/live/state"), "unknown", "{}", ended.report);
    assert_eq!(ended.code, 1);
    assert!(!ended.entries(0).is_empty());
}

#[test]
fn an_interrupt_gives_the_report_of_what_is_done_so_far() {
    let desk = Desk::new();
    let path = desk.path("report.json");
    let mut command =
        desk.command(&["--demo", "--budget", "3600s", "--output", path.to_str().expect("a name")]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let patience = Instant::now();
    // By then it proves: instances have been made.
    while desk.left_behind().len() < 2 && patience.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs(2));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("stopped before it was done"),
        "{said} {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = std::fs::read_to_string(&path).expect("the report is written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["stopped"], true);
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}
