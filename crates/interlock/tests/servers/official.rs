//! The official servers, unmodified.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{installed, prove};

fn package(name: &str) -> String {
    let folder = installed("node").join("node_modules/@modelcontextprotocol").join(name);
    folder.join("dist/index.js").display().to_string()
}

#[test]
fn the_memory_server_loses_entities_and_does_it_again_from_the_saved_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("replay.json").display().to_string();
    let environment = ["--env", "MEMORY_FILE_PATH={scratch}/memory.jsonl", "--save", &saved];
    prove(&environment, &["node", &package("server-memory")]).assert_broken();
    let again = prove(&["--replay", &saved, "--trials", "3"], &[]);
    again.assert_broken();
    assert_eq!(again.report["sets"][0]["evidence"]["again"]["times"], 3, "{:#}", again.report);
}

#[test]
fn of_two_edits_of_one_file_the_filesystem_server_loses_one() {
    let said = prove(
        &[
            "--no-save",
            "--setup",
            r#"write_file {"path": "{scratch}/list.txt", "content": "apple\nbread\n"}"#,
            "--call",
            r#"edit_file {"path": "{scratch}/list.txt", "edits": [{"oldText": "apple", "newText": "two apples"}]}"#,
            "--call",
            r#"edit_file {"path": "{scratch}/list.txt", "edits": [{"oldText": "bread", "newText": "one bread"}]}"#,
            "--read",
            r#"read_text_file {"path": "{scratch}/list.txt"}"#,
        ],
        &["node", &package("server-filesystem"), "{scratch}"],
    );
    said.assert_broken();
}

#[test]
fn an_audit_of_the_memory_server_finds_it_proves_it_and_holds_it_in_one_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let package = installed("node").join("node_modules/@modelcontextprotocol/server-memory");
    let output = Command::new(env!("CARGO_BIN_EXE_interlock"))
        .arg("audit")
        .arg(package)
        .args(["--run", "--budget", "120s", "--output"])
        .arg(&report)
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said} {}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&fs::read(report).expect("the report")).expect("JSON");
    let entries = report["subjects"][0]["entries"].as_array().expect("entries");
    let whole = |entry: &&Value| {
        entry["standing"] == "found-and-proven"
            && entry["hazard"] == "lost-update"
            && entry["behind_guard"] == "held"
    };
    assert!(entries.iter().any(|entry| whole(&entry)), "{entries:#?}");
    assert!(said.contains("all of them were found in the sources"), "{said}");
}

#[test]
fn what_the_servers_lose_is_seen_in_their_files_where_no_read_shows_it() {
    let entity = |name: &str| {
        format!(
            r#"create_entities {{"entities": [{{"name": "{name}", "entityType": "person", "observations": []}}]}}"#
        )
    };
    let (one, two) = (entity("ada"), entity("bob"));
    let environment = ["--no-save", "--env", "MEMORY_FILE_PATH={scratch}/memory.jsonl"];
    // What is looked for is somebody whom no call adds.
    let calls = ["--call", &one, "--call", &two, "--read", r#"open_nodes {"names": ["nobody"]}"#];
    let said = prove(&[&environment[..], &calls].concat(), &["node", &package("server-memory")]);
    said.assert_broken();
    assert!(said.report["notes"].to_string().contains("files are compared too"), "{:#}", said.report);

    let edit = |old: &str, new: &str| {
        format!(
            r#"edit_file {{"path": "{{scratch}}/list.txt", "edits": [{{"oldText": "{old}", "newText": "{new}"}}]}}"#
        )
    };
    let (one, two) = (edit("apple", "two apples"), edit("bread", "one bread"));
    let setup = r#"write_file {"path": "{scratch}/list.txt", "content": "apple\nbread\n"}"#;
    let said = prove(
        &["--no-save", "--setup", setup, "--call", &one, "--call", &two, "--read", "scratch:"],
        &["node", &package("server-filesystem"), "{scratch}"],
    );
    said.assert_broken();
}
