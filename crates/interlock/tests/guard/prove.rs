//! `interlock prove` through the guard: what is broken without it holds behind it, over all pairs of tools that write.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::kit::{INTERLOCK, official, scratch};

/// The tools of the memory server that write, each with a call that changes what the setup has made.
const WRITERS: &[(&str, &str)] = &[
    ("create_entities", r#"{"entities": [{"name": "new", "entityType": "t", "observations": []}]}"#),
    ("create_relations", r#"{"relations": [{"from": "a", "to": "b", "relationType": "knows"}]}"#),
    ("add_observations", r#"{"observations": [{"entityName": "a", "contents": ["seen"]}]}"#),
    ("delete_entities", r#"{"entityNames": ["c"]}"#),
    ("delete_observations", r#"{"deletions": [{"entityName": "b", "observations": ["old"]}]}"#),
    ("delete_relations", r#"{"relations": [{"from": "b", "to": "a", "relationType": "likes"}]}"#),
];

const SETUP: &str = r#"[
    'create_entities {"entities": [{"name": "a", "entityType": "t", "observations": []}, {"name": "b", "entityType": "t", "observations": ["old"]}, {"name": "c", "entityType": "t", "observations": []}]}',
    'create_relations {"relations": [{"from": "b", "to": "a", "relationType": "likes"}]}',
]"#;

/// Every pair of writers, each with itself too.
fn plan() -> String {
    let pairs = WRITERS.iter().enumerate().flat_map(|(index, one)| {
        WRITERS.iter().skip(index).map(move |other| {
            let ((first, one), (second, other)) = (one, other);
            format!(
                "[[set]]\nname = \"{first} and {second}\"\nhazard = \"lost-update\"\nsetup = {SETUP}\n\
                 calls = ['{first} {one}', '{second} {other}']\nreads = ['read_graph {{}}']\n"
            )
        })
    });
    pairs.collect()
}

fn verdicts(server: &[&str], options: &[&str]) -> Vec<(String, String)> {
    let folder = scratch();
    let path = folder.path().join("plan.toml");
    std::fs::write(&path, plan()).expect("the plan is written");
    let output = Command::new(INTERLOCK)
        .args(["prove", "--no-save", "--format", "json", "--budget", "1800s", "--max-calls", "100000"])
        // However slow the machine is, an answer that comes is an answer.
        .args(["--timeout", "120s"])
        .args(["--env", "MEMORY_FILE_PATH={scratch}/memory.jsonl", "--plan"])
        .arg(&path)
        .args(options)
        .arg("--")
        .args(server)
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&output.stderr)));
    let sets = report["sets"].as_array().expect("sets").iter();
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    sets.map(|set| (word(&set["name"]), format!("{}: {}", word(&set["verdict"]), word(&set["reason"]))))
        .collect()
}

#[test]
fn every_pair_of_writers_of_the_memory_server_holds_behind_the_guard() {
    let server = official("server-memory");
    let behind = verdicts(&[INTERLOCK, "guard", "--", "node", &server], &["--trials", "2", "--all"]);
    assert_eq!(behind.len(), WRITERS.len() * (WRITERS.len() + 1) / 2, "{behind:#?}");
    assert!(behind.iter().all(|(_, verdict)| verdict.starts_with("held")), "{behind:#?}");
}
