//! JSON, and what becomes of it when it is read back.

use std::{error::Error, num::NonZeroU32, time::Duration};

use expect_test::expect;
use interlock_model::{IdempotencyKey, KeyTemplate, Mode, Report, ToolPolicy};
use interlock_report::json::{read, write};

use crate::sample::{nothing, retry_storm, two_findings};

#[test]
fn a_report_is_written_with_the_fields_of_the_contract() {
    expect![[r#"
        {
          "version": 1,
          "score": 75,
          "grade": "C",
          "coverage": {
            "files": 12,
            "functions": 240,
            "handlers": 2,
            "tools": [
              {
                "name": "create_entities",
                "followed": true,
                "lost": []
              },
              {
                "name": "delete_entities",
                "followed": false,
                "lost": [
                  {
                    "kind": "unresolved-receiver",
                    "file": "src/graph.ts",
                    "line": 9,
                    "callee": "flush"
                  }
                ]
              }
            ],
            "not_followed": {
              "unknown_libraries": 0,
              "unresolved_imports": 0,
              "unresolved_receivers": 1,
              "unknown_functions": 0,
              "alternatives": 0,
              "not_inlined": 0,
              "budget": 0,
              "other_programs": 0,
              "unknown_requests": 0,
              "unreached": 7
            },
            "notes": [
              "src/broken.ts: 3 lines could not be read",
              "tests were left out: 4 files"
            ]
          },
          "findings": [
            {
              "hazard": "lost-update",
              "severity": "high",
              "confidence": "high",
              "reach": "both",
              "file": "src/graph.ts",
              "line": 5,
              "end_line": 5,
              "function": "Graph.create",
              "tools": [
                "create_entities",
                "delete_entities"
              ],
              "message": "Two create_entities calls read the same graph, and the later write discards the other's entities",
              "witness": [
                {
                  "call": "A",
                  "file": "src/graph.ts",
                  "line": 5,
                  "step": "reads the whole graph"
                },
                {
                  "call": "B",
                  "file": "src/graph.ts",
                  "line": 5,
                  "step": "reads the whole graph"
                },
                {
                  "call": "A",
                  "file": "src/graph.ts",
                  "line": 7,
                  "step": "writes the whole graph"
                },
                {
                  "call": "B",
                  "file": "src/graph.ts",
                  "line": 7,
                  "step": "writes the whole graph: A's entities are gone"
                }
              ],
              "remedy": {
                "code": "Hold one lock from the read to the write, as wide as the state itself, or write only over the version that was read.",
                "policy": [
                  {
                    "match": [
                      "create_entities",
                      "delete_entities"
                    ],
                    "lock": [
                      "graph"
                    ],
                    "changes": [
                      "graph"
                    ]
                  }
                ]
              },
              "fingerprint": "0123456789abcdef"
            },
            {
              "hazard": "lock-not-released",
              "severity": "medium",
              "confidence": "medium",
              "reach": "in-process",
              "file": "src/lock.ts",
              "line": 10,
              "end_line": 14,
              "function": "withLock",
              "tools": [],
              "message": "When the work fails the lock stays held, and every later call waits for good",
              "witness": [
                {
                  "call": "A",
                  "file": "src/lock.ts",
                  "line": 10,
                  "step": "takes the lock"
                },
                {
                  "call": "X",
                  "file": "src/work.ts",
                  "line": 12,
                  "step": "the work fails"
                },
                {
                  "call": "B",
                  "file": "src/lock.ts",
                  "line": 10,
                  "step": "waits for the lock: for good"
                }
              ],
              "remedy": {
                "code": "Release in finally.",
                "policy": []
              },
              "fingerprint": "fedcba9876543210",
              "proof": {
                "verdict": "broken",
                "replay": "replay.json"
              }
            }
          ]
        }
    "#]].assert_eq(&write(&two_findings()));
}

#[test]
fn a_report_without_findings_is_complete() {
    expect![[r#"
        {
          "version": 1,
          "score": null,
          "grade": null,
          "not_graded": "no tool was found in 1 file; look again",
          "coverage": {
            "files": 1,
            "functions": 2,
            "handlers": 0,
            "tools": [],
            "not_followed": {
              "unknown_libraries": 0,
              "unresolved_imports": 0,
              "unresolved_receivers": 0,
              "unknown_functions": 0,
              "alternatives": 0,
              "not_inlined": 0,
              "budget": 0,
              "other_programs": 0,
              "unknown_requests": 0,
              "unreached": 0
            },
            "notes": []
          },
          "findings": []
        }
    "#]]
    .assert_eq(&write(&nothing()));
}

#[test]
fn what_was_written_reads_back_as_it_was() {
    for report in [two_findings(), nothing()] {
        assert_eq!(read(&write(&report)).unwrap(), report);
    }
}

#[test]
fn every_field_of_a_policy_reads_back() {
    let keys = |text: &str| Some(vec![text.parse::<KeyTemplate>().unwrap()]);
    let mut report = two_findings();
    report.findings[0].remedy.policy = vec![ToolPolicy {
        matches: vec!["a\"\\\n".into()],
        lock: Some(vec![]),
        lock_shared: keys("order:{args.id}"),
        observes: keys("{args.a.b}"),
        changes: Some(vec![KeyTemplate::fixed("file:{x}.json")]),
        requires_fresh: keys("graph"),
        rate: Some("60/min".parse().unwrap()),
        in_flight: NonZeroU32::new(10),
        idempotency: Some(IdempotencyKey::Argument("requestId".into())),
        timeout: Some(Duration::from_secs(30)),
        deny: Some(true),
        mode: Some(Mode::Observe),
    }];
    assert_eq!(read(&write(&report)).unwrap(), report);
}

#[test]
fn fields_that_are_not_known_are_passed_over() {
    let text = write(&two_findings())
        .replace("\"score\"", "\"colour\": {\"deep\": [1]}, \"score\"")
        .replace("\"hazard\"", "\"since\": null, \"hazard\"");
    assert_eq!(read(&text).unwrap(), two_findings());
    assert_eq!(read(&format!("\u{feff}{text}")).unwrap(), two_findings());
}

/// The whole chain of what is said about a text that cannot be read.
fn said(result: Result<Report, interlock_report::json::ReadError>) -> String {
    let error = result.unwrap_err();
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

#[test]
fn a_text_that_is_no_report_is_refused_with_the_place() {
    let good = write(&two_findings());
    let with = |old: &str, new: &str| {
        assert!(good.contains(old), "{old}");
        said(read(&good.replacen(old, new, 1)))
    };
    let all = [
        said(read("")),
        said(read("[]")),
        said(read("{}")),
        said(read(&"[".repeat(100_000))),
        with("\"version\": 1", "\"version\": 2"),
        with("\"score\": 75", "\"score\": 101"),
        with("\"score\": 75", "\"score\": -1"),
        with("\"grade\": \"C\"", "\"grade\": \"E\""),
        with("\"severity\": \"high\"", "\"severity\": \"fatal\""),
        with("\"hazard\": \"lost-update\"", "\"hazard\": \"Lost Update\""),
        with("\"call\": \"A\"", "\"call\": \"C\""),
        with("\"line\": 5", "\"line\": -5"),
        with("\"fingerprint\"", "\"finger\""),
        with("\"match\"", "\"timeout\": \"soon\", \"match\""),
        with("\"match\"", "\"lock_shared\": [\"\"], \"match\""),
    ];
    expect![[r#"
        not a report of `interlock scan --format json`: EOF while parsing a value at line 1 column 0
        not a report of `interlock scan --format json`: invalid length 0, expected an object with a version at line 1 column 2
        not a report of `interlock scan --format json`: missing field `version` at line 1 column 2
        not a report of `interlock scan --format json`: invalid type: sequence, expected u64 at line 1 column 1
        version 2 of the report is not known here; this release reads version 1
        not a report of `interlock scan --format json`: a score of 101, which is above 100 at line 3 column 14
        not a report of `interlock scan --format json`: invalid value: integer `-1`, expected u8 at line 3 column 13
        not a report of `interlock scan --format json`: unknown variant `E`, expected one of `A`, `B`, `C`, `D`, `F` at line 4 column 14
        not a report of `interlock scan --format json`: `fatal` is none of low, medium, high, critical at line 48 column 25
        not a report of `interlock scan --format json`: `Lost Update` is not a hazard name: lower-case words joined by single hyphens, such as `lost-update` at line 47 column 29
        not a report of `interlock scan --format json`: unknown variant `C`, expected one of `A`, `B`, `X` at line 62 column 21
        not a report of `interlock scan --format json`: invalid value: integer `-5`, expected u32 at line 52 column 16
        not a report of `interlock scan --format json`: missing field `fingerprint` at line 104 column 5
        not a report of `interlock scan --format json`: `soon` is no time in seconds, such as `30s` at line 101 column 9
        not a report of `interlock scan --format json`: a key must not be empty at line 101 column 9"#]].assert_eq(&all.join("\n"));
}

#[test]
fn a_hardening_names_its_server_and_the_other_places_and_comes_back() {
    let report = Report { findings: vec![retry_storm()], ..nothing() };
    let text = write(&report);
    let read = read(&text).unwrap();
    assert_eq!(read.findings[0].hardening, report.findings[0].hardening);
    assert!(text.contains(r#""hardening": {"#), "{text}");
    assert!(!write(&two_findings()).contains("hardening"));
}
