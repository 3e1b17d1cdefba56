//! Suppressions against findings.

use expect_test::{Expect, expect};
use interlock_model::{Confidence, Fingerprint, Location, Reach, Remedy, Severity, Witness};

use super::*;

fn finding(line: u32, end_line: u32) -> Finding {
    Finding {
        hazard: "lost-update".parse().unwrap(),
        severity: Severity::High,
        confidence: Confidence::High,
        reach: Reach::Both,
        location: Location { file: "a.ts".into(), line, end_line },
        function: "f".into(),
        tools: Vec::new(),
        message: String::new(),
        witness: Witness::default(),
        remedy: Remedy { code: String::new(), policy: Vec::new(), primitive: None },
        fingerprint: Fingerprint(String::new()),
        hardening: None,
        proof: None,
    }
}

/// The lines that are still reported, and the notes.
fn check(text: &str, findings: &[(u32, u32)], left: &[u32], expect: Expect) {
    let mut findings: Vec<Finding> = findings.iter().map(|(line, end)| finding(*line, *end)).collect();
    let before = findings.len();
    let (suppressed, notes) = apply(&mut findings, &[("a.ts".to_owned(), suppressions(text))]);
    assert_eq!(findings.iter().map(|finding| finding.location.line).collect::<Vec<_>>(), left);
    assert_eq!(suppressed, before - left.len());
    expect.assert_eq(&notes.join("\n"));
}

#[test]
fn a_reason_on_or_above_the_line_silences_the_hazard_there() {
    check(
        "load(); // interlock-ignore[lost-update]: one writer\nload();",
        &[(1, 1), (2, 2)],
        &[2],
        expect![""],
    );
    check(
        "// interlock-ignore[lost-update]: one writer\nload();\nload();",
        &[(2, 2), (3, 3)],
        &[3],
        expect![""],
    );
    check("load(\n  x,\n); // interlock-ignore[lost-update]: one writer", &[(1, 3)], &[], expect![""]);
}

#[test]
fn without_a_reason_nothing_is_silenced() {
    check(
        "load(); // interlock-ignore[lost-update]",
        &[(1, 1)],
        &[1],
        expect!["a.ts:1: the suppression gives no reason, so it silences nothing"],
    );
}

#[test]
fn unknown_and_unused_suppressions_are_told() {
    check(
        "load(); // interlock-ignore[lost-updates, retry-storm, lost-update]: one writer",
        &[(1, 1)],
        &[],
        expect![[r#"
            a.ts:1: there is no hazard `lost-updates`; the nearest is `lost-update`
            a.ts:1: the suppression of `retry-storm` silences nothing; remove it"#]],
    );
}

#[test]
fn another_files_findings_are_not_silenced() {
    let mut findings = vec![finding(1, 1)];
    let text = "load(); // interlock-ignore[lost-update]: one writer";
    let (suppressed, _) = apply(&mut findings, &[("b.ts".to_owned(), suppressions(text))]);
    assert_eq!((suppressed, findings.len()), (0, 1));
}
