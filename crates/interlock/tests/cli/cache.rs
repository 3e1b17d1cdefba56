//! What `interlock scan` keeps between scans: the same bytes in less time, and nothing that anybody has to care for.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{Ended, interlock};

const SERVER: &str = r#"import { readFile, writeFile } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { FILE } from "./place.js";
const server = new McpServer({ name: "notes", version: "1.0.0" });
server.registerTool("add_note", {}, async ({ text }) => {
  const notes = JSON.parse(await readFile(FILE, "utf8"));
  notes.push(text);
  await writeFile(FILE, JSON.stringify(notes));
  return { content: [] };
});
"#;

fn tree() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("index.ts"), SERVER).expect("a file");
    fs::write(folder.path().join("place.ts"), "export const FILE = \"/var/lib/notes.json\";\n")
        .expect("a file");
    folder
}

/// Scans with a folder for caches.
fn scan(tree: &Path, caches: &Path, options: &[&str]) -> Ended {
    let mut command = interlock(&["scan", "--format", "json"]);
    command.args(options).arg(tree).env("XDG_CACHE_HOME", caches);
    Ended::from(command.output().expect("the program starts"))
}

fn entries(caches: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(caches.join("interlock/scan"));
    let mut entries: Vec<PathBuf> =
        folder.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

#[test]
fn a_second_scan_says_the_same_and_a_change_is_seen() {
    let (tree, caches) = (tree(), tempfile::tempdir().expect("a folder"));
    let without = scan(tree.path(), caches.path(), &["--no-cache"]);
    assert_eq!((without.code, entries(caches.path()).len()), (1, 0), "nothing is kept: {}", without.stderr);
    for round in ["cold", "warm"] {
        let ended = scan(tree.path(), caches.path(), &[]);
        assert_eq!((ended.code, &ended.stdout), (1, &without.stdout), "{round}");
    }
    assert_eq!(entries(caches.path()).len(), 1);
    // What is chosen afterwards is chosen from what was kept.
    let chosen = scan(tree.path(), caches.path(), &["--min-severity", "high"]);
    assert_eq!(
        chosen.stdout,
        scan(tree.path(), caches.path(), &["--min-severity", "high", "--no-cache"]).stdout
    );
    assert_eq!(entries(caches.path()).len(), 1);

    let changed = ["// one line more\n".to_owned() + SERVER, SERVER.replace("add_note", "append_note")];
    for text in changed {
        fs::write(tree.path().join("index.ts"), text).expect("the file");
        let changed = scan(tree.path(), caches.path(), &[]);
        assert_ne!(changed.stdout, without.stdout, "lines and names are others");
        assert_eq!(changed.stdout, scan(tree.path(), caches.path(), &["--no-cache"]).stdout);
    }
    fs::write(tree.path().join("interlock.toml"), "[severity]\nlost-update = \"off\"\n").expect("a file");
    let weighed = scan(tree.path(), caches.path(), &[]);
    assert!(!weighed.stdout.contains("lost-update"), "{}", weighed.stdout);
}

#[test]
fn a_damaged_or_foreign_entry_is_passed_over_and_written_anew() {
    let (tree, caches) = (tree(), tempfile::tempdir().expect("a folder"));
    let whole = scan(tree.path(), caches.path(), &[]);
    let [entry] = &entries(caches.path())[..] else { panic!("one entry") };
    let kept = fs::read(entry).expect("the entry");
    for damage in [&b""[..], b"interlock cache\n", &kept[..kept.len() / 2], &[0xff; 4_096]] {
        fs::write(entry, damage).expect("the entry");
        let again = scan(tree.path(), caches.path(), &[]);
        assert_eq!((again.code, &again.stdout, again.stderr.as_str()), (whole.code, &whole.stdout, ""));
        assert_eq!(fs::read(entry).expect("the entry"), kept, "it is whole again");
    }
    fs::remove_dir_all(caches.path().join("interlock")).expect("it goes");
    assert_eq!(scan(tree.path(), caches.path(), &[]).stdout, whole.stdout);
}

#[test]
fn nothing_is_kept_in_the_scanned_tree_and_a_folder_that_cannot_be_made_is_no_failure() {
    let tree = tree();
    let inside = tree.path().join("caches");
    let whole = scan(tree.path(), &inside, &[]);
    assert_eq!((whole.code, inside.exists()), (1, false));
    let file = tempfile::NamedTempFile::new().expect("a file");
    let refused = scan(tree.path(), file.path(), &[]);
    assert_eq!((refused.code, &refused.stdout, refused.stderr.as_str()), (1, &whole.stdout, ""));
}
