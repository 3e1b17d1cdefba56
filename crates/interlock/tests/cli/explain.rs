//! `interlock explain`.

use std::collections::BTreeSet;

use expect_test::expect;
use interlock_hazards::ALL;
use serde_json::Value;

use crate::run;

#[test]
fn without_a_name_every_hazard_is_a_row_and_the_worst_come_first() {
    let table = run(&["explain"]);
    assert_eq!((table.code, table.stderr.as_str()), (0, ""));
    let rows: Vec<&str> =
        table.stdout.lines().skip(1).filter_map(|row| row.split_whitespace().next()).collect();
    let names: BTreeSet<&str> = ALL.iter().map(|hazard| hazard.id.as_str()).collect();
    assert_eq!(rows.len(), names.len());
    assert_eq!(rows.iter().copied().collect::<BTreeSet<_>>(), names);
    let severities = rows.iter().map(|name| interlock_hazards::find(name).unwrap().severity);
    assert!(severities.is_sorted_by(|worse, milder| worse >= milder));
}

#[test]
fn a_name_shows_its_page() {
    let page = run(&["explain", "lost-update"]);
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    assert!(
        page.stdout
            .starts_with("lost-update: high, deducts 15; CWE-362; covered by scan, prove, guard, sync\n")
    );
    for section in ["What goes wrong", "In TypeScript", "In Rust", "How scan finds it", "How to stop it"] {
        assert!(page.stdout.contains(&format!("## {section}\n")), "{section}");
    }
    assert!(
        page.stdout.lines().filter(|line| !line.starts_with("    ")).all(|line| line.chars().count() <= 100)
    );
}

#[test]
fn every_hazard_has_a_page_in_every_format() {
    for hazard in ALL {
        for format in ["text", "json", "markdown"] {
            let page = run(&["explain", hazard.id.as_str(), "--format", format]);
            assert_eq!((page.code, page.stderr.as_str()), (0, ""), "{} as {format}", hazard.id);
            assert!(page.stdout.contains(hazard.title), "{} as {format}", hazard.id);
        }
    }
}

#[test]
fn an_unknown_name_is_misuse_and_the_nearest_one_is_suggested() {
    let refusal = run(&["explain", "nonsense"]);
    assert_eq!((refusal.code, refusal.stdout.as_str()), (2, ""));
    assert!(
        refusal.stderr.starts_with("error: there is no hazard `nonsense`: the nearest is `"),
        "{}",
        refusal.stderr
    );
    let suggested = |name: &str, nearest: &str| {
        let refusal = run(&["explain", name]);
        assert_eq!(refusal.code, 2);
        assert!(refusal.stderr.contains(&format!("the nearest is `{nearest}`")), "{}", refusal.stderr);
    };
    suggested("lost-updat", "lost-update");
    suggested("Retry_Storm", "retry-storm");
    suggested("caller-limit", "no-caller-limit");
    suggested("rate-limit", "non-atomic-rate-limit");
    suggested("lock_map", "unsafe-lock-map");
    assert_eq!(run(&["explain", ""]).code, 2);
}

#[test]
fn json_says_its_version_and_carries_every_page() {
    let json: Value = serde_json::from_str(&run(&["explain", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["version"], 1);
    let hazards = json["hazards"].as_array().unwrap();
    assert_eq!(hazards.len(), ALL.len());
    for hazard in hazards {
        let known = interlock_hazards::find(hazard["id"].as_str().unwrap()).unwrap();
        assert_eq!(hazard["page"], known.page);
        assert_eq!(hazard["deduction"], known.deduction);
    }
}

#[test]
fn json_of_one_hazard_has_the_same_shape() {
    let json: Value =
        serde_json::from_str(&run(&["explain", "leak-on-partial-init", "--format", "json"]).stdout).unwrap();
    let mut hazard = json["hazards"][0].clone();
    hazard.as_object_mut().unwrap().remove("page");
    expect![[r#"
        {
          "cwe": [
            "CWE-404",
            "CWE-772"
          ],
          "deduction": 10,
          "faces": [
            "scan",
            "sync"
          ],
          "id": "leak-on-partial-init",
          "remedy": {
            "code": "Register the close of each thing before the next one is opened.",
            "policy": null,
            "primitive": "gate"
          },
          "severity": "medium",
          "summary": "Start-up fails half way, and what had already been opened is never closed.",
          "title": "Start-up fails half way and leaves things open"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&hazard).unwrap());
}

#[test]
fn markdown_of_one_hazard_is_its_page() {
    let page = run(&["explain", "lost-update", "--format", "markdown"]);
    assert_eq!(page.stdout, interlock_hazards::find("lost-update").unwrap().page);
}
