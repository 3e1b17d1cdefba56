//! `interlock scan --why` and `--dump-ir`: what the analysis knows of a line and of a function.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Ended, run};

/// `load` and `save` in another file than the tool; a second tool holds a lock; one function is called by nobody.
const SERVER: &str = r#"import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Mutex } from "async-mutex";
import { load, save } from "./store.js";
import { notify } from "./unknown.js";

const server = new McpServer({ name: "notes", version: "1.0.0" });
const mutex = new Mutex();

server.registerTool("add_note", {}, async ({ text }) => {
  const notes = await load();
  notes.push(text);
  await save(notes);
  await notify.everybody(text);
  return { content: [] };
});
const totals = new Map();
server.registerTool("count", {}, async ({ by }) => {
  totals.set("n", (totals.get("n") ?? 0) + by);
  return { content: [] };
});
"#;

const STORE: &str = r#"import { readFile, writeFile } from "node:fs/promises";

export async function load() {
  return JSON.parse(await readFile("/var/lib/notes.json", "utf8"));
}

export async function save(notes) {
  await writeFile("/var/lib/notes.json", JSON.stringify(notes));
}

export class Journal {
  async rotate() {
    await writeFile("/var/lib/journal.log", "");
  }
}
"#;

fn tree() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("index.ts"), SERVER).expect("a file");
    fs::write(folder.path().join("store.ts"), STORE).expect("a file");
    folder
}

fn ask(folder: &Path, options: &[&str]) -> Ended {
    let mut arguments = vec!["scan"];
    arguments.extend(options);
    let folder = folder.to_str().expect("UTF-8").to_owned();
    arguments.push(&folder);
    run(&arguments)
}

#[test]
fn why_names_the_tools_the_calls_the_steps_the_rules_and_what_was_lost() {
    let tree = tree();
    let why = ask(tree.path(), &["--why", "store.ts:8"]);
    assert_eq!((why.code, why.stderr.as_str()), (0, ""), "{}", why.stdout);
    for words in [
        "store.ts:8\n",
        "in save (store.ts:7):",
        "write blind file \"/var/lib/notes.json\"",
        "reached by:\n  tool add_note\n",
        "    save (index.ts:12)\n",
        "lost-update: reported at index.ts:10: ",
        "non-atomic-file-replace: reported: ",
    ] {
        assert!(why.stdout.contains(words), "{words}: {}", why.stdout);
    }
    let lost = ask(tree.path(), &["--why", "index.ts:13"]);
    assert!(lost.stdout.contains("lost:\n  index.ts:13: "), "{}", lost.stdout);
    assert!(lost.stdout.contains("everybody"), "{}", lost.stdout);

    let json: Value =
        serde_json::from_str(&ask(tree.path(), &["--why", "store.ts:8", "--format", "json"]).stdout)
            .expect("JSON");
    assert_eq!((&json["file"], &json["line"]), (&"store.ts".into(), &8.into()));
    assert_eq!(json["reached"][0]["entry"], "tool add_note");
    assert_eq!(json["reached"][0]["inlined"], true);
    assert_eq!(json["functions"][0]["name"], "save");
}

#[test]
fn why_names_the_reason_of_a_silence() {
    let tree = tree();
    let why = ask(tree.path(), &["--why", "index.ts:18"]);
    assert_eq!(why.code, 0, "{}", why.stderr);
    assert!(why.stdout.contains("reached by:\n  tool count\n"), "{}", why.stdout);
    assert!(why.stdout.contains(": silent: nothing can come between"), "{}", why.stdout);
}

#[test]
fn why_says_of_code_that_nothing_reaches_that_nothing_does() {
    let tree = tree();
    let why = ask(tree.path(), &["--why", "store.ts:13"]);
    assert_eq!(why.code, 0, "{}", why.stderr);
    assert!(why.stdout.contains("reached by:\n  nothing that is known"), "{}", why.stdout);
}

#[test]
fn the_ir_of_a_function_is_found_by_its_name_its_method_and_its_place() {
    let tree = tree();
    for name in ["Journal.rotate", "rotate", "store.ts:13"] {
        let dumped = ask(tree.path(), &["--dump-ir", name]);
        assert_eq!((dumped.code, dumped.stderr.as_str()), (0, ""), "{name}");
        assert!(dumped.stdout.contains("fn Journal.rotate()"), "{name}: {}", dumped.stdout);
        assert!(dumped.stdout.contains("/var/lib/journal.log"), "{name}: {}", dumped.stdout);
    }
    let linked = ask(tree.path(), &["--dump-ir", "index.ts:11"]).stdout;
    assert!(linked.contains("call save(notes)") && !linked.contains("write blind"), "{linked}");
    let inlined = ask(tree.path(), &["--dump-ir", "index.ts:11", "--inlined"]).stdout;
    assert!(inlined.contains("write blind file \"/var/lib/notes.json\""), "{inlined}");
    let json: Value =
        serde_json::from_str(&ask(tree.path(), &["--dump-ir", "save", "--format", "json"]).stdout)
            .expect("JSON");
    assert_eq!((&json["functions"][0]["name"], &json["functions"][0]["line"]), (&"save".into(), &7.into()));
}

#[test]
fn what_is_not_there_is_answered_with_what_is_near() {
    let tree = tree();
    for (options, words) in [
        (&["--why", "stores.ts:8"][..], "there is no file for `stores.ts:8`; try store.ts"),
        (&["--why", "store.ts:6"], "no step stands at `store.ts:6`; try store.ts:4, store.ts:8"),
        (&["--why", "store.ts"], "not of the form FILE:LINE: `store.ts`"),
        (&["--dump-ir", "saves"], "there is no function `saves`; try save"),
        (&["--dump-ir", "save", "--format", "sarif"], "try `--format json`"),
        (&["--inlined"], "--dump-ir"),
    ] {
        let refused = ask(tree.path(), options);
        assert_eq!(refused.code, 2, "{options:?}: {}", refused.stdout);
        assert!(refused.stderr.contains(words), "{options:?}: {}", refused.stderr);
        assert!(refused.stdout.is_empty(), "{options:?}");
    }
}
