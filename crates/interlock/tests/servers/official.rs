//! The official servers, unmodified.

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
fn an_audit_of_the_memory_server_finds_proves_and_holds_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let server = installed("node").join("node_modules/@modelcontextprotocol/server-memory");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_interlock"))
        .args(["audit", "--run", "--budget", "600s", "--output"])
        .arg(&report)
        .arg(server)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said} {}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&report).expect("the report is written");
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let entries = report["subjects"][0]["entries"].as_array().cloned().unwrap_or_default();
    let proven = entries.iter().filter(|entry| entry["standing"] == "found-and-proven");
    let proven: Vec<_> = proven.filter(|entry| entry["hazard"] == "lost-update").collect();
    assert!(!proven.is_empty(), "{said}");
    assert!(proven.iter().all(|entry| entry["behind_guard"] == "held"), "{said}");
    let origin = report["subjects"][0]["origin"].to_string();
    assert!(origin.contains("MEMORY_FILE_PATH={scratch}"), "it was told where to keep its file: {origin}");
}
