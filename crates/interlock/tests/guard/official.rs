//! The official servers, unmodified: what they lose by themselves they keep behind the guard.

use serde_json::json;

use crate::kit::{Client, Line, official, scratch};

const WRITES: usize = 50;
const EDITS: usize = 20;

/// Writes so many entities at once, and says how many are there afterwards.
async fn kept(client: Client) -> usize {
    let create = |number| {
        let entity = json!({ "name": format!("entity {number}"), "entityType": "test", "observations": [] });
        ("create_entities", json!({ "entities": [entity] }))
    };
    let said = client.burst((0..WRITES).map(create)).await;
    assert!(said.iter().all(|said| !said.is_error), "all are acknowledged: {said:?}");
    let graph = client.call("read_graph", json!({})).await;
    let entities = graph.value()["entities"].as_array().map(Vec::len);
    entities.unwrap_or_else(|| panic!("no graph: {:?}", graph.result))
}

fn memory(folder: &tempfile::TempDir) -> Line {
    Line::bare(&["node", &official("server-memory")])
        .env("MEMORY_FILE_PATH", folder.path().join("memory.jsonl"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_server_alone_loses_writes() {
    let folder = scratch();
    let kept = kept(memory(&folder).stdio().await).await;
    assert!(kept < WRITES, "{kept} of {WRITES}");
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_guard_that_was_told_nothing_it_keeps_them_all_over_stdio() {
    let folder = scratch();
    assert_eq!(kept(memory(&folder).guarded(&[]).stdio().await).await, WRITES);
}

#[tokio::test(flavor = "multi_thread")]
async fn and_over_http() {
    let folder = scratch();
    let guard = memory(&folder).guarded(&["--listen", "127.0.0.1:0"]).serve();
    assert_eq!(kept(guard.client().await).await, WRITES);
}

#[tokio::test(flavor = "multi_thread")]
async fn and_with_one_lock_for_all_tools() {
    let folder = scratch();
    assert_eq!(kept(memory(&folder).guarded(&["--lock", "*=graph"]).stdio().await).await, WRITES);
}

/// Edits as many lines of one file at once, and says how many edits are in it afterwards.
async fn edited(guard: Option<&[&str]>) -> usize {
    let folder = scratch();
    // The server resolves links, and some systems keep their temporary folders behind one.
    let root = folder.path().canonicalize().expect("it is there");
    let path = root.join("list.txt");
    let lines: String = (0..EDITS).map(|number| format!("line {number} old\n")).collect();
    std::fs::write(&path, lines).expect("the file is written");
    let server = Line::bare(&["node", &official("server-filesystem"), &root.display().to_string()]);
    let client = match guard {
        Some(options) => server.guarded(options).stdio().await,
        None => server.stdio().await,
    };
    let edit = |number| {
        let (old, new) = (format!("line {number} old\n"), format!("line {number} new\n"));
        let edits = json!([{ "oldText": old, "newText": new }]);
        ("edit_file", json!({ "path": path.display().to_string(), "edits": edits }))
    };
    let said = client.burst((0..EDITS).map(edit)).await;
    if guard.is_some() {
        assert!(said.iter().all(|said| !said.is_error), "{said:?}");
    }
    let text = std::fs::read_to_string(&path).expect("the file is there");
    text.lines().filter(|line| line.ends_with(" new")).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filesystem_server_loses_edits_alone_and_none_behind_the_guard() {
    let alone = edited(None).await;
    assert!(alone < EDITS, "{alone} of {EDITS}");
    assert_eq!(edited(Some(&[])).await, EDITS);
    assert_eq!(edited(Some(&["--lock", "edit_file=file:{args.path}"])).await, EDITS);
}
