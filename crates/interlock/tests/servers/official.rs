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
