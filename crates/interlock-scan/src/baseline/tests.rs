//! Baselines written, read, pruned and refused.

use expect_test::expect;
use interlock_model::{Confidence, Location, Reach, Remedy, Severity, Witness};

use super::*;

fn finding(fingerprint: &str, file: &str) -> Finding {
    Finding {
        hazard: "lost-update".parse().unwrap(),
        severity: Severity::High,
        confidence: Confidence::High,
        reach: Reach::Both,
        location: Location { file: file.into(), line: 1, end_line: 1 },
        function: "add".into(),
        tools: Vec::new(),
        message: String::new(),
        witness: Witness::default(),
        remedy: Remedy { code: String::new(), policy: Vec::new(), primitive: None },
        fingerprint: Fingerprint(fingerprint.into()),
        hardening: None,
        proof: None,
    }
}

#[test]
fn a_baseline_is_sorted_and_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    let baseline = Baseline::of(&[finding("aa", "z.ts"), finding("bb", "a.ts")]);
    baseline.write(&path).unwrap();
    assert_eq!(Baseline::read(&path).unwrap(), baseline);
    expect![[r#"
        {
          "version": 1,
          "findings": [
            {
              "hazard": "lost-update",
              "file": "a.ts",
              "function": "add",
              "fingerprint": "bb"
            },
            {
              "hazard": "lost-update",
              "file": "z.ts",
              "function": "add",
              "fingerprint": "aa"
            }
          ]
        }
    "#]]
    .assert_eq(&fs::read_to_string(&path).unwrap());
}

#[test]
fn what_is_gone_is_pruned_and_what_is_there_is_known() {
    let mut baseline = Baseline::of(&[finding("aa", "a.ts"), finding("bb", "a.ts")]);
    let now = [finding("bb", "a.ts"), finding("cc", "a.ts")];
    assert_eq!(baseline.prune(&now), 1);
    assert_eq!(now.map(|finding| baseline.knows(&finding)), [true, false]);
    assert_eq!(baseline.len(), 1);
}

#[test]
fn what_is_no_baseline_is_refused_and_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("package.json");
    for content in
        ["{\"name\": \"server\"}", "{\"version\": 1, \"findi", "", "[]", "{\"version\": 2, \"findings\": []}"]
    {
        fs::write(&path, content).unwrap();
        assert!(matches!(Baseline::read(&path), Err(BaselineError::Invalid { .. })), "{content}");
        assert!(Baseline::default().write(&path).is_err(), "{content}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_baseline_that_is_not_there_is_told() {
    let error = Baseline::read(Path::new("/no/such.json")).unwrap_err();
    assert_eq!(error.to_string(), "failed to read the baseline `/no/such.json`: entity not found");
}
