//! The official servers, unmodified: memory with nothing told but where its file is, its proof replayed, and all schedules of two calls
//! that do no harm to each other; filesystem with a file to edit.

use anyhow::{Context, Result};

use super::trial::{Prover, Said};

/// How often the proof is replayed.
const REPLAYS: &str = "20";

/// Proves both.
pub(super) fn run(prover: &Prover) -> Result<String> {
    let package = |name: &str| {
        let packages = prover.places.installed.join("node/node_modules/@modelcontextprotocol");
        packages.join(name).join("dist/index.js").display().to_string()
    };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();

    eprintln!("server-memory");
    let memory = words(&["node", &package("server-memory")]);
    let environment = words(&["--env", "MEMORY_FILE_PATH={scratch}/memory.jsonl"]);
    let folder = tempfile::tempdir().context("failed to make a folder for a replay")?;
    let replay = folder.path().join("replay.json").display().to_string();
    let said = prover.prove(&[environment.clone(), words(&["--save", &replay])].concat(), &memory)?;
    let mut text = line("server-memory, told nothing", &said);
    if said.verdict == "broken" {
        let (times, runs) = prover.prove(&words(&["--replay", &replay, "--trials", REPLAYS]), &[])?.again;
        text.push_str(&format!("server-memory, replay: {times} of {runs} (aim: all)\n"));
    }

    // Whoever deletes what is deleted already changes nothing and says nothing else, so that no order ends the walk.
    let gone = r#"delete_entities {"entityNames": ["bread"]}"#;
    let entity =
        r#"create_entities {"entities": [{"name": "bread", "entityType": "food", "observations": []}]}"#;
    let told = ["--no-save", "--setup", entity, "--call", gone, "--call", gone, "--read", "read_graph"];
    let said = prover.prove(&[environment, words(&told)].concat(), &memory)?;
    let (schedules, exhausted, seconds) = said.walked;
    let all = if exhausted { "all there are" } else { "not all there are" };
    text.push_str(&format!(
        "server-memory, two deletions: {} after {schedules} schedules, {all}, in {seconds:.2} s besides starting it (aim: all of them, in less than 2 s)\n",
        said.verdict
    ));

    eprintln!("server-filesystem");
    let filesystem = words(&["node", &package("server-filesystem"), "{scratch}"]);
    let edit = |old: &str, new: &str| {
        format!(
            r#"edit_file {{"path": "{{scratch}}/list.txt", "edits": [{{"oldText": "{old}", "newText": "{new}"}}]}}"#
        )
    };
    let told = words(&[
        "--no-save",
        "--setup",
        r#"write_file {"path": "{scratch}/list.txt", "content": "apple\nbread\n"}"#,
        "--call",
        &edit("apple", "two apples"),
        "--call",
        &edit("bread", "one bread"),
        "--read",
        r#"read_text_file {"path": "{scratch}/list.txt"}"#,
    ]);
    text.push_str(&line("server-filesystem, two edits", &prover.prove(&told, &filesystem)?));
    Ok(text)
}

fn line(name: &str, said: &Said) -> String {
    format!("{name}: {} after {} trials, {:.1} s: {}\n", said.verdict, said.trials, said.seconds, said.reason)
}
