//! `interlock scan` as scripts call it: exit codes, formats, files, streams.

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{Ended, interlock, run};

/// A server that loses updates: its file is read, changed and written back.
const RACY: &str = r#"import { readFile } from "node:fs/promises";
import writeFileAtomic from "write-file-atomic";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "notes", version: "1.0.0" });
const FILE = "/var/lib/notes.json";

server.registerTool("add_note", { inputSchema: { text: z.string() } }, async ({ text }) => {
  const notes: string[] = JSON.parse(await readFile(FILE, "utf8"));
  notes.push(text);
  await writeFileAtomic(FILE, JSON.stringify(notes));
  return { content: [{ type: "text", text: "saved" }] };
});
"#;
const LINE: u64 = 10;

/// A server in whose tool nothing can go wrong.
const SAFE: &str = r#"import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "add", version: "1.0.0" });
server.registerTool("add", {}, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }));
"#;

/// A web server, of which nobody knows a tool.
const ROUTE: &str = r#"import express from "express";
const app = express();
app.get("/time", (request, response) => { response.send("now"); });
app.listen(3000);
"#;

/// A file is read, changed and written back, by what nothing is known to call.
const UNREACHED: &str = r#"import { readFile, writeFile } from "node:fs/promises";
export async function count(path: string) {
  const all = JSON.parse(await readFile(path, "utf8"));
  all.count += 1;
  await writeFile(path, JSON.stringify(all));
}
"#;

const CALM: &str = "export function add(a: number, b: number) {\n  return a + b;\n}\n";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

fn scan(folder: &Path, options: &[&str]) -> Ended {
    let mut arguments = vec!["scan"];
    arguments.extend(options);
    let mut command = interlock(&arguments);
    // git is found by its path.
    command.arg(folder).env("PATH", "/usr/bin:/bin");
    Ended::from(command.output().expect("the program starts"))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr))
}

fn lines(report: &Value) -> Vec<(String, u64)> {
    let findings = report.get("findings").and_then(Value::as_array).expect("findings");
    let line =
        |finding: &Value| Some((finding.get("hazard")?.as_str()?.to_owned(), finding.get("line")?.as_u64()?));
    findings.iter().map(|finding| line(finding).expect("a hazard and a line")).collect()
}

#[test]
fn what_is_found_is_told_with_the_tool_and_the_exit_code() {
    let racy = tree(&[("src/index.ts", RACY)]);
    let found = scan(racy.path(), &["--format", "json"]);
    assert_eq!((found.code, found.stderr.as_str()), (1, ""));
    let report = json(&found);
    assert_eq!(report["version"], 1);
    assert!(lines(&report).contains(&("lost-update".to_owned(), LINE)), "{report}");
    assert_eq!(report["findings"][0]["tools"][0], "add_note");
    assert_eq!(report["findings"][0]["file"], "src/index.ts");
    assert_eq!(report["coverage"]["files"], 1);

    let calm = tree(&[("index.ts", SAFE)]);
    let clean = scan(calm.path(), &["--format", "json"]);
    assert_eq!((clean.code, lines(&json(&clean)).len()), (0, 0));
    assert_eq!((&json(&clean)["score"], &json(&clean)["grade"]), (&100.into(), &"A".into()));
}

#[test]
fn a_tree_without_a_tool_is_not_graded() {
    let helper = tree(&[("add.ts", CALM)]);
    let damaged = tree(&[("a.ts", "server.tool(\"a\", async () => {{{{ \u{1}"), ("b.ts", "]]]]")]);
    let route = tree(&[("app.ts", ROUTE)]);
    for tree in [&helper, &damaged, &route] {
        let ended = scan(tree.path(), &["--format", "json"]);
        let report = json(&ended);
        assert_eq!(ended.code, 3, "{report}");
        assert_eq!((&report["score"], &report["grade"]), (&Value::Null, &Value::Null));
        let why = report["not_graded"].as_str().expect("a reason");
        assert!(why.starts_with("no tool of an MCP server was found in "), "{why}");
        assert!(why.contains("--show-files"), "it says what to try: {why}");
        for format in ["text", "markdown", "sarif", "github"] {
            let ended = scan(tree.path(), &["--format", format]);
            assert_eq!(ended.code, 3, "{format}");
            let words = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("not graded: no tool of an MCP server was found"), "{format}: {words}");
            assert!(!words.contains("grade A"), "{format}: {words}");
        }
    }
    let empty = tree(&[("readme.md", "# nothing\n")]);
    let report = json(&scan(empty.path(), &["--format", "json"]));
    assert_eq!(report["grade"], Value::Null);
    assert!(report["not_graded"].as_str().expect("a reason").starts_with("no source file was read"));
}

#[test]
fn a_line_of_the_configuration_makes_the_tools_of_a_registry_known() {
    const REGISTRY: &str = "const all = [];\nexport function defineCommand(name, about, work) { all.push([name, about, work]); }\n";
    const COMMANDS: &str = "import { defineCommand } from \"./registry.js\";\n\
                            defineCommand(\"buy\", \"Buys\", async ({ id }) => ({ content: [id] }));\n";
    let own = tree(&[("registry.ts", REGISTRY), ("index.ts", COMMANDS)]);
    let unknown = json(&scan(own.path(), &["--format", "json"]));
    let line = "defineCommand = { registers = \"tool\", own = true }";
    assert!(unknown["not_graded"].as_str().expect("a reason").contains(line), "{unknown}");
    fs::write(own.path().join("interlock.toml"), format!("[tools.call]\n{line}\n")).expect("a file");
    let known = scan(own.path(), &["--format", "json"]);
    assert_eq!((known.code, &json(&known)["grade"]), (0, &"A".into()), "{}", known.stdout);
    assert_eq!(json(&known)["coverage"]["tools"][0]["name"], "buy");
}

#[test]
fn what_is_of_low_confidence_touches_neither_score_nor_exit_code() {
    let unreached = tree(&[("count.ts", UNREACHED)]);
    let ended = scan(unreached.path(), &["--format", "json"]);
    let report = json(&ended);
    assert_eq!((ended.code, lines(&report).is_empty()), (3, false), "{report}");
    assert_eq!((&report["score"], &report["grade"]), (&Value::Null, &Value::Null));
    let beside = tree(&[("count.ts", UNREACHED), ("index.ts", SAFE)]);
    let ended = scan(beside.path(), &["--format", "json"]);
    let report = json(&ended);
    assert_eq!(
        (ended.code, lines(&report).is_empty(), &report["score"]),
        (0, false, &100.into()),
        "{report}"
    );
    let folded = scan(beside.path(), &[]);
    assert!(
        folded.stdout.contains("of low confidence are not shown") && !folded.stdout.contains("lost-update")
    );
    assert!(folded.stdout.contains("grade A: no findings"), "{}", folded.stdout);
    let all = scan(beside.path(), &["--all"]);
    assert!(all.stdout.contains("lost-update") && !all.stdout.contains("not shown"), "{}", all.stdout);
    assert_eq!((folded.code, all.code), (0, 0));
    assert!(scan(beside.path(), &["--format", "sarif"]).stdout.contains("\"lost-update\""));
}

#[test]
fn every_format_is_written_and_names_the_hazard() {
    let racy = tree(&[("index.ts", RACY)]);
    for format in ["text", "json", "sarif", "github", "markdown"] {
        let found = scan(racy.path(), &["--format", format]);
        assert_eq!((found.code, found.stderr.as_str()), (1, ""), "{format}");
        assert!(found.stdout.contains("lost-update"), "{format}: {}", found.stdout);
        assert!(!found.stdout.contains('\x1b'), "{format} has no colour in a pipe");
    }
    assert!(scan(racy.path(), &["--color", "always"]).stdout.contains("\x1b["));
    assert!(!scan(racy.path(), &["--color", "never"]).stdout.contains('\x1b'));
}

#[test]
fn nothing_to_check_is_no_success() {
    let empty = tree(&[("readme.md", "# nothing\n")]);
    let nothing = scan(empty.path(), &[]);
    assert_eq!(nothing.code, 3);
    assert!(nothing.stderr.starts_with("nothing to check"), "{}", nothing.stderr);
    assert_eq!(json(&scan(empty.path(), &["--format", "json"]))["coverage"]["files"], 0);
}

#[test]
fn misuse_is_told_and_ends_in_two() {
    let calm = tree(&[("index.ts", CALM), ("bad.toml", "nonsense = 1\n")]);
    let bad = calm.path().join("bad.toml");
    let bad = bad.to_str().expect("UTF-8");
    for (options, words) in [
        (&["--config", bad][..], "there is no key `nonsense`"),
        (&["--config", "/no/such.toml"], "it is not there"),
        (&["--baseline", "/no/such.json"], "failed to read the baseline"),
        (&["--since", "-x"], "is no commit"),
        (&["--since", "HEAD"], "in no git repository"),
        (&["--min-severity", "terrible"], "`terrible` is none of low, medium, high, critical"),
        (&["--hazards", "lost-updates"], "there is no hazard `lost-updates`; the nearest is `lost-update`"),
        (&["--language", "cobol"], "there is no language `cobol` here"),
        // What was not looked for is not gone.
        (&["--hazards", "lost-update", "--prune-baseline", "known.json"], "cannot be used with"),
        (&["--language", "python", "--prune-baseline", "known.json"], "cannot be used with"),
        (&["--language", "python", "--write-baseline", "known.json"], "cannot be used with"),
        (&["--threads", "0"], "0"),
        (&["--output", "/no/such/folder/out.json"], "failed to write"),
    ] {
        let refused = scan(calm.path(), options);
        assert_eq!(refused.code, 2, "{options:?}");
        assert!(refused.stderr.contains(words), "{options:?}: {}", refused.stderr);
    }
    let missing = run(&["scan", "/no/such/place"]);
    assert_eq!(missing.code, 2);
    assert_eq!(missing.stderr, "error: there is no `/no/such/place`; give a file or a folder that exists\n");
    assert_eq!(run(&["scan"]).code, 2, "a path is required");
}

#[test]
fn hazards_and_languages_are_chosen_by_name() {
    let off = "[severity]\nlost-update = \"off\"\n";
    let racy = tree(&[("index.ts", RACY), ("interlock.toml", off), ("other.py", "print(1)\n")]);
    let found = |options: &[&str]| {
        let report = json(&scan(racy.path(), &[&["--format", "json"], options].concat()));
        let hazards: BTreeSet<String> = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["hazard"].as_str().unwrap().to_owned())
            .collect();
        (hazards, report["coverage"]["files"].as_u64().unwrap())
    };
    assert!(!found(&[]).0.contains("lost-update"), "the configuration turns it off");
    assert_eq!(found(&["--hazards", "lost-update"]).0, BTreeSet::from(["lost-update".to_owned()]));
    assert!(found(&["--hazards", "all"]).0.contains("lost-update"));
    assert_eq!(found(&["--hazards", "all"]).1, 2);
    assert_eq!(found(&["--hazards", "all", "--language", "python"]), (BTreeSet::new(), 1));
}

#[test]
fn one_file_and_several_paths_are_scanned() {
    let both = tree(&[("a/index.ts", RACY), ("b/index.ts", RACY), ("c/index.ts", RACY)]);
    let at = |path: &str| both.path().join(path).to_str().expect("UTF-8").to_owned();
    let one = run(&["scan", "--format", "json", &at("a/index.ts")]);
    assert_eq!(json(&one)["findings"][0]["file"], "index.ts");
    let two = json(&run(&["scan", "--format", "json", &at("b"), &at("a/index.ts")]));
    let files: Vec<&str> =
        two["findings"].as_array().unwrap().iter().map(|f| f["file"].as_str().unwrap()).collect();
    assert!(files.contains(&"a/index.ts") && files.contains(&"b/index.ts") && files.is_sorted(), "{files:?}");
}

#[test]
fn a_file_is_written_whole_and_standard_output_stays_empty() {
    let racy = tree(&[("index.ts", RACY)]);
    let target = racy.path().join("out.json");
    let path = target.to_str().expect("UTF-8");
    let found = scan(racy.path(), &["--format", "json", "--output", path]);
    assert_eq!((found.code, found.stdout.as_str()), (1, ""));
    let report: Value = serde_json::from_str(&fs::read_to_string(&target).expect("the file")).expect("JSON");
    assert!(!lines(&report).is_empty());
    assert_eq!(fs::read_dir(racy.path()).expect("the folder").count(), 2, "nothing else is left behind");
}

#[test]
fn a_baseline_is_written_used_and_pruned() {
    let racy = tree(&[("index.ts", RACY)]);
    let baseline = tree(&[]).keep().join("baseline.json");
    let path = baseline.to_str().expect("UTF-8");
    let written = scan(racy.path(), &["--write-baseline", path]);
    assert_eq!(written.code, 0, "{}", written.stdout);
    assert!(
        written.stderr.starts_with("wrote ") && written.stderr.contains(" finding"),
        "{}",
        written.stderr
    );
    let known = scan(racy.path(), &["--baseline", path]);
    assert_eq!(known.code, 0, "{}", known.stdout);
    assert!(known.stdout.contains("known from the baseline"), "{}", known.stdout);

    fs::write(racy.path().join("index.ts"), SAFE).expect("the file");
    let pruned = scan(racy.path(), &["--prune-baseline", path]);
    assert_eq!(pruned.code, 0);
    assert!(pruned.stderr.starts_with("removed "), "{}", pruned.stderr);
    assert!(!fs::read_to_string(&baseline).expect("the baseline").contains("lost-update"));
    fs::remove_dir_all(baseline.parent().expect("its folder")).expect("it goes");
}

#[test]
fn a_suppression_silences_and_the_configuration_decides() {
    let silenced =
        RACY.replace("\"utf8\"));", "\"utf8\")); // interlock-ignore[lost-update]: one client only");
    let racy = tree(&[("index.ts", &silenced)]);
    let found = scan(racy.path(), &["--format", "json"]);
    assert!(lines(&json(&found)).iter().all(|(hazard, _)| hazard != "lost-update"), "{}", found.stdout);

    let off: String = lines(&json(&scan(tree(&[("index.ts", RACY)]).path(), &["--format", "json"])))
        .iter()
        .map(|(hazard, _)| format!("{hazard} = \"off\"\n"))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let quiet = tree(&[("index.ts", RACY), ("interlock.toml", &format!("[severity]\n{off}"))]);
    assert_eq!(scan(quiet.path(), &[]).code, 0);
}

#[test]
fn only_what_changed_since_a_commit_is_told() {
    let racy = tree(&[("old.ts", RACY)]);
    for arguments in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "first"]] {
        let mut git = Command::new("git");
        git.current_dir(racy.path()).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
        git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_WORK_TREE");
        assert!(git.args(arguments).status().expect("git is there").success());
    }
    assert_eq!(scan(racy.path(), &["--since", "HEAD"]).code, 0);
    fs::write(racy.path().join("new.ts"), RACY.replace("notes.json", "other.json")).expect("a file");
    let found = scan(racy.path(), &["--since", "HEAD", "--format", "json"]);
    let report = json(&found);
    assert_eq!(found.code, 1);
    assert!(report["findings"].as_array().unwrap().iter().all(|f| f["file"] == "new.ts"), "{report}");
}

#[test]
fn one_thread_and_many_print_the_same_bytes() {
    let files: Vec<(String, String)> = (0..40)
        .map(|n| (format!("p{n}/index.ts"), RACY.replace("notes.json", &format!("notes{}.json", n % 5))))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let many = tree(&files);
    let with = |threads: &str| scan(many.path(), &["--format", "json", "--threads", threads]).stdout;
    let one = with("1");
    assert!(one.len() > 1_000);
    assert_eq!(one, with("2"));
    assert_eq!(one, with("7"));
    assert_eq!(one, with("7"), "and again");
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let files: Vec<(String, String)> = (0..60)
        .map(|n| (format!("p{n}/index.ts"), RACY.replace("notes.json", &format!("notes{n}.json"))))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let many = tree(&files);
    let mut child = interlock(&["scan", "--format", "json"])
        .arg(many.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdout = child.stdout.take().expect("its output");
    stdout.read_exact(&mut [0; 1]).expect("it writes");
    drop(stdout);
    let ended = Ended::from(child.wait_with_output().expect("it ends"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
}

/// A server that looks whether a file is there, then writes it.
const GUARDED: &str = r#"import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "reports", version: "1.0.0" });

server.registerTool("create_report", { inputSchema: { name: z.string() } }, async ({ name }) => {
  const path = `/var/lib/reports/${name}`;
  if (existsSync(path)) throw new Error("it is there already");
  await writeFile(path, "report");
  return { content: [{ type: "text", text: "created" }] };
});
"#;

#[test]
fn what_is_mechanical_is_shown_as_a_diff_and_repaired_on_demand() {
    let guarded = tree(&[("src/index.ts", GUARDED)]);
    let file = guarded.path().join("src/index.ts");
    let found = scan(guarded.path(), &["--format", "json"]);
    assert!(found.stdout.contains("file-check-then-act"), "{}", found.stdout);

    let shown = scan(guarded.path(), &["--diff"]);
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.starts_with("--- a/src/index.ts\n+++ b/src/index.ts\n@@ "), "{}", shown.stdout);
    assert!(shown.stdout.contains("wx"), "{}", shown.stdout);
    assert_eq!(fs::read_to_string(&file).expect("the file"), GUARDED, "--diff alone changes nothing");

    let repaired = scan(guarded.path(), &["--fix", "--format", "json"]);
    assert_eq!(repaired.stderr, "repaired src/index.ts: file-check-then-act\n");
    assert!(!repaired.stdout.contains("file-check-then-act"), "{}", repaired.stdout);
    let text = fs::read_to_string(&file).expect("the file");
    assert!(text.contains("wx") && text != GUARDED, "{text}");
    let again = scan(guarded.path(), &["--fix", "--format", "json"]);
    assert_eq!((again.stderr.as_str(), fs::read_to_string(&file).expect("the file")), ("", text));
}

/// The page about scan.
const PAGE: &str = include_str!("../../../../docs/scan.md");

/// The blocks of a language under a heading of the page.
fn blocks(heading: &str, language: &str) -> Vec<String> {
    let (_, section) = PAGE.split_once(&format!("\n## {heading}\n")).expect("the heading");
    let section = section.split("\n## ").next().unwrap_or_default();
    let fence = format!("```{language}\n");
    section
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_settings_on_the_page_are_settings() {
    let settings = blocks("`interlock.toml`", "toml").concat();
    let folder = tree(&[("src/index.ts", RACY), ("interlock.toml", &settings), ("vendor/index.ts", RACY)]);
    let found = scan(folder.path(), &["--format", "json"]);
    let report = json(&found);
    assert_eq!((found.code, found.stderr.as_str()), (1, ""));
    assert_eq!(report["score"], 95, "{report}");
    assert_eq!(report["coverage"]["files"], 1, "{report}");
}

#[test]
fn the_library_on_the_page_is_known_by_what_the_page_says_of_it() {
    let server = blocks("Your own libraries", "ts").concat();
    let models = blocks("Your own libraries", "toml").concat();
    let line = (1..).zip(server.lines()).find(|(_, line)| line.contains("store.read")).expect("a read").0;
    let told = |files: &[(&str, &str)]| {
        let folder = tree(files);
        let found = scan(folder.path(), &["--format", "json"]);
        assert_eq!(found.stderr, "");
        lines(&json(&found))
    };
    assert_eq!(told(&[("src/index.ts", &server)]), [], "nothing is known of it");
    let known = told(&[("src/index.ts", &server), ("interlock.toml", &models)]);
    assert_eq!(known, [("lost-update".to_owned(), line)]);
    let no_lock = models.replace("withLock = ", "unlocked = ");
    let both = told(&[("src/index.ts", &server), ("interlock.toml", &no_lock)]);
    assert_eq!(both.len(), 2, "nobody knows that it is a lock: {both:?}");
}

#[test]
fn the_files_that_would_be_read_are_listed_without_a_scan() {
    let folder = tree(&[
        ("src/server.ts", RACY),
        ("src/server.test.ts", RACY),
        ("tsup.config.ts", CALM),
        ("node_modules/a/index.js", CALM),
        ("lib/add.mjs", CALM),
    ]);
    let ended = scan(folder.path(), &["--show-files"]);
    let names: Vec<&str> = ended.stdout.lines().filter_map(|line| line.rsplit('/').next()).collect();
    assert_eq!((ended.code, names), (0, vec!["add.mjs", "server.ts"]), "{}", ended.stderr);
    let files = scan(folder.path(), &["--format", "json"]);
    assert_eq!(json(&files).pointer("/coverage/files"), Some(&Value::from(2)), "as many as a scan reads");

    let empty = tree(&[("README.md", "nothing to read")]);
    let ended = scan(empty.path(), &["--show-files"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (3, ""), "{}", ended.stderr);
}
