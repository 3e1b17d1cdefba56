//! The audit log, read back from its file.

use expect_test::expect;

use super::story::{HOSTILE, arrive, call, day, decide, ops};
use crate::{
    event::Decision,
    ops::{AuditOptions, OpsOptions},
};

fn log(arguments: Option<usize>, tell: impl FnOnce(&crate::ops::Ops)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let ops = ops(OpsOptions {
        audit: Some(AuditOptions { path: path.clone(), arguments }),
        ..OpsOptions::default()
    });
    tell(&ops);
    ops.close();
    std::fs::read_to_string(path).unwrap()
}

/// The lines without what the clock says.
fn shown(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let mut line: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        assert!(line.remove("time").unwrap().as_str().unwrap().ends_with('Z'));
        if line["event"] == "ended" {
            line.remove("waited_ms");
        }
        out += &format!("{}\n", serde_json::Value::Object(line));
    }
    out
}

#[test]
fn a_day_as_an_auditor_reads_it() {
    expect![[r#"
        {"call":"00000000000000000000000000000001","caller":"key:ci","decision":"granted","event":"decided","fence":1,"keys":["graph"],"tool":"create","upstream":"memory","waited_ms":1.5}
        {"call":"00000000000000000000000000000002","caller":"key:ci","decision":"granted","event":"decided","fence":2,"keys":["graph"],"tool":"create","upstream":"memory","waited_ms":1.5}
        {"call":"00000000000000000000000000000003","caller":"key:ci","decision":"granted","event":"decided","fence":3,"keys":["graph"],"tool":"create","upstream":"memory","waited_ms":1.5}
        {"call":"00000000000000000000000000000001","caller":"key:ci","ending":"answered","event":"ended","fence":1,"keys":["graph"],"took_ms":40,"tool":"create","upstream":"memory"}
        {"call":"00000000000000000000000000000002","caller":"key:ci","ending":"unknown","event":"ended","fence":2,"keys":["graph"],"note":"the upstream may still be working on it; when the lease has run out, only an upstream that checks the fence is protected","reason":"no answer within 60 s","took_ms":40,"tool":"create","upstream":"memory"}
        {"call":"00000000000000000000000000000005","caller":"key:ci","decision":"refused","event":"decided","keys":[],"reason":"too_often","tool":"read","upstream":"memory","waited_ms":1.5}
        {"call":"00000000000000000000000000000006","caller":"key:ci","decision":"replayed","event":"decided","keys":[],"tool":"read","upstream":"memory","waited_ms":1.5}
        {"call":"00000000000000000000000000000007","caller":"key:ci","decision":"observed","event":"decided","keys":["graph"],"reason":"stale","tool":"read","upstream":"memory","waited_ms":1.5}
        {"call":"00000000000000000000000000000007","caller":"key:ci","ending":"failed","event":"ended","keys":["graph"],"took_ms":40,"tool":"read","upstream":"memory"}
    "#]].assert_eq(&shown(&log(None, day)));
}

#[test]
fn arguments_are_written_only_when_asked_for_and_only_so_many() {
    let tell = |ops: &crate::ops::Ops| {
        let call = call("t");
        arrive(ops, 1, &call);
        decide(ops, 1, &call, Decision::Replayed, &[]);
    };
    assert!(!log(None, tell).contains("order"));
    let asked = log(Some(100), tell);
    assert!(asked.contains(r#""arguments":"{\"order\":\"7\",\"text\":\"a\\nb\"}""#), "{asked}");
    let cut = log(Some(9), tell);
    assert!(cut.contains(r#""arguments_bytes":27,"arguments":"{\"order\":…""#), "{cut}");
}

#[test]
fn whatever_a_client_is_called_it_is_one_line_that_no_terminal_obeys() {
    let text = log(None, |ops| {
        let call = call(HOSTILE);
        arrive(ops, 1, &call);
        decide(ops, 1, &call, Decision::Refused { reason: "denied" }, &[HOSTILE]);
    });
    assert_eq!(text.lines().count(), 1);
    assert!(!text.trim_end().contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["tool"], HOSTILE);
    assert_eq!(line["keys"][0], HOSTILE);
}
