//! A trace for the viewers of Chrome.

use expect_test::expect;
use interlock_report::proof::trace;
use serde_json::Value;

use super::sample::{broken, held, hostile, mixed};

#[test]
fn a_set_is_a_process_a_call_a_thread_and_a_tick_an_instant() {
    let written: Value = serde_json::from_str(&trace::write(&mixed())).unwrap();
    let short = |event: &Value| {
        let text = |key: &str| event.get(key).map(|value| format!(" {key}={value}")).unwrap_or_default();
        let name = event["args"].get("name").map(|name| format!(" is {name}")).unwrap_or_default();
        format!(
            "{} {}{}{}{}{}{name}",
            event["ph"],
            event["name"],
            text("ts"),
            text("dur"),
            text("pid"),
            text("tid")
        )
    };
    let events: Vec<String> = written["traceEvents"].as_array().unwrap().iter().map(short).collect();
    expect![[r#"
        "M" "process_name" ts=0.0 pid=2 tid=0 is "broken: create_entities + create_entities"
        "M" "thread_name" ts=0.0 pid=2 tid=1 is "A create_entities"
        "X" "create_entities" ts=0.0 dur=3104.0 pid=2 tid=1
        "M" "thread_name" ts=0.0 pid=2 tid=2 is "B create_entities"
        "X" "create_entities" ts=0.0 dur=4206.0 pid=2 tid=2
        "i" "read readFile memory.jsonl" ts=310.0 pid=2 tid=1
        "i" "read readFile memory.jsonl" ts=350.0 pid=2 tid=2
        "i" "write writeFile memory.jsonl" ts=1420.0 pid=2 tid=1
        "i" "write writeFile memory.jsonl" ts=2980.0 pid=2 tid=2
        "X" "stale" ts=350.0 dur=2630.0 pid=2 tid=2"#]]
    .assert_eq(&events.join("\n"));
    assert_eq!(
        written["traceEvents"][2]["args"]["result"]["structuredContent"]["entities"][0]["name"],
        "ada"
    );
}

#[test]
fn every_event_has_what_the_viewers_ask_for() {
    for report in [mixed(), broken(), held(), hostile()] {
        let written: Value = serde_json::from_str(&trace::write(&report)).unwrap();
        for event in written["traceEvents"].as_array().unwrap() {
            assert!(
                event["ts"].is_number() && event["pid"].is_number() && event["tid"].is_number(),
                "{event}"
            );
            match event["ph"].as_str().unwrap() {
                "X" => assert!(event["dur"].as_f64().unwrap() >= 0.0),
                "i" => assert!(["t", "p"].contains(&event["s"].as_str().unwrap())),
                "M" => assert!(event["args"]["name"].is_string()),
                other => panic!("{other}"),
            }
        }
    }
}
