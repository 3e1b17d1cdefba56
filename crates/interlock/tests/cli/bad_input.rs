//! Trees that nobody has vouched for, given to the real program: no panic, no overflow, no hang, and what is beside is still scanned.

use std::{
    fs,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{Ended, interlock};

/// What stands beside every bad file, and must be found all the same.
const GOOD: &str = r#"import { readFile } from "node:fs/promises";
import writeFileAtomic from "write-file-atomic";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "notes", version: "1.0.0" });
server.registerTool("add_note", {}, async ({ text }) => {
  const notes: string[] = JSON.parse(await readFile("/n.json", "utf8"));
  notes.push(text);
  await writeFileAtomic("/n.json", JSON.stringify(notes));
  return { content: [] };
});
"#;

/// No scan of one file takes as long on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Scans a folder that holds the good file and more; the report.
fn scan(folder: &Path, what: &str) -> Value {
    try_scan(folder).unwrap_or_else(|wrong| panic!("{what}: {wrong}"))
}

/// The same, or what went wrong.
fn try_scan(folder: &Path) -> Result<Value, String> {
    fs::write(folder.join("good.ts"), GOOD).expect("a file");
    let output = tempfile::NamedTempFile::new().expect("a file");
    let mut child = interlock(&["scan", "--format", "json", "--output"])
        .arg(output.path())
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let start = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("it can be ended");
            return Err("it hangs".to_owned());
        }
        thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().expect("it ends");
    if ended.status.code().is_none() {
        return Err(format!("it was killed: {}", ended.status));
    }
    let ended = Ended::from(ended);
    if (ended.code, ended.stderr.as_str()) != (1, "") {
        return Err(format!("it ended in {}: {}", ended.code, ended.stderr));
    }
    let report: Value =
        serde_json::from_str(&fs::read_to_string(output.path()).expect("a report")).expect("JSON");
    let findings = report.get("findings").and_then(Value::as_array).expect("findings");
    let is = |finding: &Value, key: &str, value: Value| finding.get(key) == Some(&value);
    let good = |finding: &&Value| {
        is(finding, "file", "good.ts".into())
            && is(finding, "hazard", "lost-update".into())
            && is(finding, "line", 6.into())
    };
    if findings.iter().filter(good).count() == 1 {
        Ok(report)
    } else {
        Err(format!("the good file was not scanned: {report}"))
    }
}

fn notes(report: &Value) -> String {
    let notes = report.pointer("/coverage/notes").and_then(Value::as_array).expect("notes").iter();
    notes.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

#[test]
fn nesting_without_end_neither_overflows_the_stack_nor_takes_forever() {
    const DEEP: usize = 100_000;
    let around = |open: &str, middle: &str, close: &str| {
        format!("{}{middle}{}", open.repeat(DEEP), close.repeat(DEEP))
    };
    let shapes: &[(&str, String)] = &[
        ("parentheses", around("(", "1", ")")),
        ("open parentheses", "(".repeat(DEEP)),
        ("brackets", around("[", "", "]")),
        ("open brackets", format!("let a = {}", "[".repeat(DEEP))),
        ("braces", around("{", "", "}")),
        ("objects", format!("x = {}", around("{a:", "1", "}"))),
        ("closing braces", "}".repeat(DEEP)),
        ("else if", format!("if (a) {{}} {}", "else if (a) { b(); }\n".repeat(DEEP))),
        ("negations", format!("x = {}a", "!".repeat(DEEP))),
        ("minus", format!("x = {}a", "- ".repeat(DEEP))),
        ("typeof", format!("x = {}a", "typeof ".repeat(DEEP))),
        ("awaits", format!("async function f() {{ {}a }}", "await ".repeat(DEEP))),
        ("sums", format!("x = a{}", " + a".repeat(DEEP))),
        ("ands", format!("if (a{}) b();", " && a()".repeat(DEEP))),
        ("powers", format!("x = a{}", " ** a".repeat(DEEP))),
        ("conditionals", format!("x = {}c", "a ? b : ".repeat(DEEP))),
        ("nullish", format!("x = a{}", " ?? a".repeat(DEEP))),
        ("assignments", format!("{}1", "a = ".repeat(DEEP))),
        ("commas", format!("x = (a{})", ", a".repeat(DEEP))),
        ("members", format!("x = a{}", ".b".repeat(DEEP))),
        ("optional members", format!("x = a{}", "?.b".repeat(DEEP))),
        ("calls", format!("f{}", "()".repeat(DEEP))),
        ("then", format!("async function f() {{ await p{}; }}", ".then((x) => x)".repeat(DEEP))),
        ("arrows", format!("x = {}1", "a => ".repeat(DEEP))),
        ("functions", around("function f() {", "", "}")),
        ("classes", around("class A { a = class { ", "", "} }")),
        ("blocks", around("if (a) {", "b();", "}")),
        ("loops", format!("{}b();", "for (;;) ".repeat(DEEP))),
        ("tries", around("try {", "", "} finally {}")),
        ("labels", (0..DEEP).map(|n| format!("l{n}: ")).collect::<String>() + "a();"),
        ("templates", around("`${", "", "}`")),
        ("types", format!("let a: {}", around("Array<", "x", ">"))),
        ("unions", format!("type T = a{};", " | a".repeat(DEEP))),
        ("conditional types", format!("type T = {}c;", "a extends b ? c : ".repeat(DEEP))),
        ("decorators", format!("{}class A {{}}", "@a ".repeat(DEEP))),
        ("new", format!("x = {}a", "new ".repeat(DEEP))),
        ("spreads", format!("x = {}a{}", "[...".repeat(DEEP), "]".repeat(DEEP))),
        ("assertions", format!("x = a{}", " as b".repeat(DEEP))),
        ("non-null", format!("x = a{}", "!".repeat(DEEP))),
        ("patterns", format!("let {} = 1", around("[", "a", "]"))),
        ("cases", format!("switch (a) {{ {} }}", "case 1: b();\n".repeat(DEEP))),
        ("statements", "a();\n".repeat(DEEP)),
        ("handlers", "a.on('x', () => {".repeat(DEEP)),
    ];
    let elements = format!("x = {}", around("<a>", "", "</a>"));
    let shapes =
        shapes.iter().map(|(what, text)| (*what, "bad.ts", text)).chain([("elements", "bad.tsx", &elements)]);
    let mut wrong = Vec::new();
    for (what, file, text) in shapes {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(file), text).expect("a file");
        if let Err(why) = try_scan(folder.path()) {
            wrong.push(format!("{what}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn damaged_and_oversized_files_are_noted_and_the_rest_is_scanned() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content).expect("a file");
    put("broken.ts", b"function ( { =>\n const = 'unterminated\n `\n /* ");
    put("bytes.ts", b"const a = \"\xff\xfe\";\n");
    put("nul.ts", b"const a = 1;\0\0\0\n");
    put("huge.ts", &vec![b'x'; 50 << 20]);
    put("line.ts", format!("const a = \"{}\";", "x".repeat(2 << 20)).as_bytes());
    put("empty.ts", b"");
    put("bom.ts", b"\xef\xbb\xbfexport const a = 1;\n");
    put("cr.ts", b"export const a = 1;\rexport const b = 2;\r");
    put("tsconfig.json", b"{ \"compilerOptions\": { \"paths\": [ }");
    put("package.json", b"[1, 2");
    let report = scan(folder.path(), "damaged files");
    let notes = notes(&report);
    for words in ["bytes.ts: is no UTF-8", "huge.ts: is larger than", "minified files (1 file)", "broken.ts"]
    {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[cfg(unix)]
#[test]
fn links_pipes_and_closed_folders_are_noted_and_the_rest_is_scanned() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret.ts"), GOOD).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("closed")).expect("a folder");
    fs::write(at("closed/in.ts"), "export {};\n").expect("a file");
    symlink(folder.path(), at("loop")).expect("a link");
    symlink(at("circle.ts"), at("circle.ts")).expect("a link");
    symlink(outside.path().join("secret.ts"), at("secret.ts")).expect("a link");
    symlink(outside.path(), at("outside")).expect("a link");
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o000)).expect("it can be closed");
    let open = fs::read_dir(at("closed")).is_ok();
    let report = scan(folder.path(), "links");
    fs::set_permissions(at("closed"), fs::Permissions::from_mode(0o755)).expect("it can be opened");
    let notes = notes(&report);
    for words in [
        "loop: is a link to",
        "circle.ts: is a link that",
        "secret.ts: is a link out",
        "outside: is a link out",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    // Whoever may read everything, such as root, finds the folder open.
    assert_eq!(notes.contains("closed: permission denied"), !open, "{notes}");
    assert_eq!(report["coverage"]["files"], if open { 2 } else { 1 });
    assert!(!report["findings"].to_string().contains("secret.ts"));
}
