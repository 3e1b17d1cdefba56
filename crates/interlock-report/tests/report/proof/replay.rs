//! Replays.

use std::time::Duration;

use expect_test::expect;
use interlock_model::{CallSet, Delivery, Fault, Oracle, Outcome, Perturbation, PlannedCall, Schedule, Seen};
use interlock_report::proof::replay::{LARGEST, MOST_CALLS, Replay, Target, from_text, to_text};
use serde_json::{Value, json};

use super::sample::{lost_entity, micros};

fn memory() -> Replay {
    let lost = lost_entity();
    let evidence = lost.evidence.unwrap();
    Replay {
        target: Target::Command {
            command: ["node", "dist/index.js"].map(str::to_owned).to_vec(),
            environment: [
                ("MEMORY_FILE_PATH".to_owned(), Some("{scratch}/memory.jsonl".to_owned())),
                ("TOKEN".to_owned(), None),
            ]
            .into(),
        },
        set: lost.set,
        schedule: evidence.schedule,
        observed: Some(Outcome { answers: vec![Seen::Nothing, Seen::Error(json!("busy"))], reads: vec![] }),
    }
}

fn deep(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn a_replay_has_the_server_the_calls_and_how_they_meet() {
    expect![[r#"
        {
          "version": 1,
          "target": {
            "command": [
              "node",
              "dist/index.js"
            ],
            "environment": {
              "MEMORY_FILE_PATH": "{scratch}/memory.jsonl",
              "TOKEN": null
            }
          },
          "set": {
            "name": "create_entities + create_entities",
            "hazard": "lost-update",
            "calls": [
              {
                "tool": "create_entities",
                "arguments": {
                  "entities": [
                    {
                      "entityType": "person",
                      "name": "ada",
                      "observations": [
                        "ada was here"
                      ]
                    }
                  ]
                }
              },
              {
                "tool": "create_entities",
                "arguments": {
                  "entities": [
                    {
                      "entityType": "person",
                      "name": "bob",
                      "observations": [
                        "bob was here"
                      ]
                    }
                  ]
                }
              }
            ],
            "reads": [
              {
                "tool": "read_graph",
                "arguments": {}
              }
            ]
          },
          "schedule": {
            "delivery": "one-write"
          },
          "observed": {
            "answers": [
              null,
              {
                "error": "busy"
              }
            ],
            "reads": []
          }
        }
    "#]]
    .assert_eq(&to_text(&memory()).unwrap());
}

#[test]
fn every_part_of_a_replay_reads_back() {
    let full = CallSet {
        name: "a\u{1b}b".into(),
        hazard: Some("unprotected-multi-step".parse().unwrap()),
        setup: vec![PlannedCall { meta: json!({"k": 1.5}), ..PlannedCall::new("seed", json!([deep(90)])) }],
        calls: vec![PlannedCall::default(), PlannedCall::new("transfer", json!({"amount": u64::MAX}))],
        reads: vec![PlannedCall::new("balance", json!({}))],
        fault: Fault::Kill { after: micros(1_500) },
        oracle: Oracle::NoMoreThanSerial,
        invariants: vec!["reads[0].sum == 100".into()],
    };
    let schedule = |delivery, perturbation| Schedule {
        delivery,
        offsets: vec![Duration::ZERO, Duration::from_nanos(1)],
        perturbation,
    };
    let target = Target::Url { url: "http://127.0.0.1:3000/mcp".into(), reset: Some("make reset".into()) };
    let mut other = full.clone();
    other.fault = Fault::Close { after: Duration::ZERO };
    other.oracle = Oracle::Once;
    let mut last = other.clone();
    last.fault = Fault::None;
    last.oracle = Oracle::SomeRefused;
    for (set, delivery, perturbation) in [
        (full, Delivery::Connections, Perturbation::None),
        (other.clone(), Delivery::LastBytes, Perturbation::SlowFiles { seed: u64::MAX }),
        (last, Delivery::Http2, Perturbation::PythonSwitches { seed: 3 }),
        (other, Delivery::OneWrite, Perturbation::NodeOrder { choices: vec![0, 3, 1] }),
    ] {
        let replay = Replay {
            target: target.clone(),
            set,
            schedule: schedule(delivery, perturbation),
            observed: memory().observed,
        };
        assert_eq!(from_text(&to_text(&replay).unwrap()).unwrap(), replay);
    }
}

#[test]
fn an_outcome_that_would_make_the_file_unreadable_is_left_out() {
    for value in [deep(120), json!("x".repeat(LARGEST))] {
        let mut replay = memory();
        replay.observed = Some(Outcome { answers: vec![], reads: vec![Seen::Result(value)] });
        let back = from_text(&to_text(&replay).unwrap()).unwrap();
        assert_eq!(back, Replay { observed: None, ..replay });
    }
}

#[test]
fn calls_that_a_replay_cannot_hold_are_refused_with_words() {
    let said = |arguments: Value, count: usize| {
        let mut replay = memory();
        replay.set.calls = vec![PlannedCall::new("add", arguments); count];
        to_text(&replay).unwrap_err().to_string()
    };
    let refused =
        [said(deep(101), 1), said(json!("x".repeat(LARGEST)), 1), said(Value::Null, MOST_CALLS + 1)];
    expect![[r#"
        the arguments of add are nested deeper than 100 levels
        the calls take 4194820 bytes, and a replay at most 4194304
        a set of 1001 calls, and a replay has at most 1000"#]]
    .assert_eq(&refused.join("\n"));
}

#[test]
fn what_is_no_replay_is_refused_with_words() {
    let said = |text: &str| {
        let error = from_text(text).unwrap_err();
        // Where it goes wrong depends on the order of the keys, which another build may keep.
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!(
            "{error}{}",
            source.as_deref().and_then(|said| said.split(" at line ").next()).unwrap_or_default()
        )
    };
    let good: Value = serde_json::from_str(&to_text(&memory()).unwrap()).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut file = good.clone();
        *file.pointer_mut(pointer).unwrap() = value;
        said(&file.to_string())
    };
    let call = good["set"]["calls"][0].clone();
    let refused = [
        said(""),
        said("\u{0}\u{1}"),
        said("{}"),
        said(&" ".repeat(LARGEST + 1)),
        said(&"[".repeat(100_000)),
        with("/version", json!(99)),
        with("/target", json!({"program": "node"})),
        with("/target/command", json!([])),
        with("/set/calls", json!([])),
        with("/set/calls", json!(vec![call; MOST_CALLS + 1])),
        with("/set/calls", json!([{"arguments": {}}])),
        with("/set/hazard", json!("No Hazard")),
        with("/schedule/delivery", json!("pigeon")),
        with("/schedule", json!({"delivery": "one-write", "offsets_ns": [-1]})),
        with(
            "/schedule",
            json!({"delivery": "one-write", "perturbation": {"kind": "node-order", "choices": vec![0; 100_001]}}),
        ),
    ];
    expect![[r#"
        not a replay of `interlock prove`: the file is damaged, or something else: EOF while parsing a value
        not a replay of `interlock prove`: the file is damaged, or something else: expected value
        not a replay of `interlock prove`: the file is damaged, or something else: missing field `version`
        4194305 bytes, and a replay has at most 4194304
        not a replay of `interlock prove`: the file is damaged, or something else: invalid type: sequence, expected u64
        version 99 of the replay is not known here; this release reads version 1
        not a replay of `interlock prove`: the file is damaged, or something else: a target has a command, or a url
        the command is empty
        the set has no calls
        a set of 1001 calls, and a replay has at most 1000
        not a replay of `interlock prove`: the file is damaged, or something else: missing field `tool`
        not a replay of `interlock prove`: the file is damaged, or something else: `No Hazard` is not a hazard name: lower-case words joined by single hyphens, such as `lost-update`
        not a replay of `interlock prove`: the file is damaged, or something else: unknown variant `pigeon`, expected one of `one-write`, `connections`, `last-bytes`, `http2`
        not a replay of `interlock prove`: the file is damaged, or something else: invalid value: integer `-1`, expected u64
        a schedule of 100001 choices, and a replay has at most 100000"#]].assert_eq(&refused.join("\n"));
}

#[test]
fn a_damaged_replay_is_refused_and_never_more() {
    let good = to_text(&memory()).unwrap();
    for cut in 0..good.len() {
        if let Some(Ok(replay)) = good.get(..cut).map(from_text) {
            // Only the newline at the end may go.
            assert_eq!(replay, memory());
        }
        let mut damaged = good.clone().into_bytes();
        damaged[cut] ^= 1;
        if let Ok(damaged) = String::from_utf8(damaged) {
            let _ = from_text(&damaged);
        }
    }
}
