//! `--demo`: the first thing that somebody runs, from nothing.

use std::fs;

use crate::Desk;

#[test]
fn from_nothing_the_ledger_is_proven_and_held_and_the_small_server_is_found() {
    let desk = Desk::new();
    let page = desk.path("report.html");
    let ended = desk.audit(&["--demo", "--output", page.to_str().expect("a name")]);
    assert_eq!(ended.code, 1, "{} {}", ended.stdout, ended.stderr);
    let ledger = ended.entries(0);
    assert!(
        !ledger.is_empty() && ledger.iter().all(|entry| entry.starts_with("proven-only ")),
        "{ledger:#?}"
    );
    assert!(ledger.iter().any(|entry| entry.ends_with(" held")), "{ledger:#?}");
    assert!(ledger.iter().all(|entry| !entry.ends_with(" broken")), "{ledger:#?}");
    // The suggested policy refuses who has not read before, so these are held only if they are read first.
    let mut to_be_read =
        ledger.iter().filter(|entry| entry.contains("debit_balance") || entry.contains("spend_credits"));
    assert!(
        to_be_read.clone().next().is_none() || to_be_read.any(|entry| entry.ends_with(" held")),
        "{ledger:#?}"
    );
    let credits = ended.entries(1);
    assert!(
        credits.len() > 10 && credits.iter().all(|entry| entry.starts_with("found-only ")),
        "{credits:#?}"
    );
    for hazard in ["auth-check-then-act", "db-check-then-act", "lost-update", "non-atomic-rate-limit"] {
        assert!(credits.iter().any(|entry| entry.contains(hazard)), "{hazard}: {credits:#?}");
    }
    for line in [
        "the bundled ledger, unsafe",
        "examples/credits-server",
        "behind the guard with the suggested policy",
        "report: ",
    ] {
        assert!(ended.stdout.contains(line), "{line}: {}", ended.stdout);
    }
    let page = fs::read_to_string(page).expect("the report is written");
    assert!(page.contains("<svg") && page.contains("call B"), "it has timelines and witnesses");
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http://"),
        "nothing is loaded from elsewhere"
    );
    assert_eq!(desk.left_behind(), [] as [&str; 0]);
}

#[test]
fn a_report_of_no_known_form_is_refused_before_anything_is_done() {
    let desk = Desk::new();
    let output = desk.command(&["--demo", "--output", "report.pdf"]).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(".html, .md, .json or .sarif"), "{said}");
}
