//! The first command that somebody runs.

use std::{fs, process::Command};

use crate::{Desk, INTERLOCK};

#[test]
fn the_demo_proves_the_ledger_holds_it_behind_the_guard_and_finds_the_example() {
    let desk = Desk::new();
    let names = ["page.html", "page.md", "page.sarif", "guard.toml"].map(|name| desk.path(name));
    let [html, markdown, sarif, policy] = names.each_ref().map(|path| path.to_str().expect("a name"));
    let ended = desk.audit(&[
        "--demo",
        "--output",
        html,
        "--output",
        markdown,
        "--output",
        sarif,
        "--emit-policy",
        policy,
    ]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    let proven = ended.entries(0);
    assert!(proven.iter().all(|entry| entry.starts_with("proven-only")), "{proven:#?}");
    let held = proven.iter().filter(|entry| entry.ends_with(" held")).count();
    assert!(held >= 3, "races that hold behind the guard: {proven:#?}");
    assert!(!proven.iter().any(|entry| entry.ends_with(" broken")), "{proven:#?}");
    let found = ended.entries(1);
    assert!(found.iter().all(|entry| entry.starts_with("found-only")), "{found:#?}");
    for hazard in ["db-check-then-act", "lost-update", "auth-check-then-act", "non-atomic-rate-limit"] {
        assert!(found.iter().any(|entry| entry.contains(hazard)), "{hazard}: {found:#?}");
    }
    assert!(ended.stdout.contains("proven only: "), "{}", ended.stdout);
    assert_eq!(desk.left_behind(), [] as [&str; 0]);

    // Nothing is fetched by the page and nothing runs on it.
    let page = fs::read_to_string(html).expect("the page is written");
    for word in ["<script", "javascript:", " src=", "@import", "url(", " onclick"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"), "it says so itself");
    assert!(fs::read_to_string(markdown).expect("the Markdown is written").contains("proven only"));
    let sarif: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(sarif).expect("the SARIF is written")).expect("JSON");
    assert_eq!(sarif["runs"].as_array().map(Vec::len), Some(1), "only one of the servers has sources");

    let checked = Command::new(INTERLOCK).args(["guard", "--check", "--config", policy]).output();
    let checked = checked.expect("the program starts");
    assert_ne!(checked.status.code(), Some(2), "{}", String::from_utf8_lossy(&checked.stdout));
}

#[test]
fn a_report_of_no_known_form_is_refused_before_anything_is_done() {
    let desk = Desk::new();
    let output = desk.command(&["--demo", "--output", "report.pdf"]).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(".html, .md, .json or .sarif"), "{said}");
}
