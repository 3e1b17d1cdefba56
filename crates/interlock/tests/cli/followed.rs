//! Which tools count as followed to the end, and how the running server's own list is held against them.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::{Ended, interlock};

/// A tool `work` with this body, beside a tool in which nothing can be lost.
fn tree(body: &str, more: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        r#"import {{ McpServer }} from "@modelcontextprotocol/sdk/server/mcp.js";
import {{ Client, compute }} from "acme-sdk";
import {{ gone }} from "./gone.js";
import {{ writeFile }} from "node:fs/promises";
const server = new McpServer({{ name: "n", version: "1" }});
const client = new Client();
{more}
server.registerTool("plain", {{}}, async () => ({{ content: [] }}));
server.registerTool("work", {{}}, async ({{ all, given }}, extra) => {{
{body}
  return {{ content: [] }};
}});
"#
    );
    fs::write(folder.path().join("index.ts"), text).expect("a file");
    folder
}

fn scan(tree: &TempDir, options: &[&str]) -> Ended {
    let mut command = interlock(&["scan", "--format", "json"]);
    command.arg(tree.path()).args(options);
    Ended::from(command.output().expect("the program starts"))
}

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr))
}

/// What the tool `work` has lost, as `kind callee`.
fn lost(body: &str, more: &str) -> Vec<String> {
    let report = json(&scan(&tree(body, more), &[]));
    let tools = report.pointer("/coverage/tools").and_then(Value::as_array).expect("tools");
    let work = tools.iter().find(|tool| tool["name"] == "work").expect("the tool");
    let text = |loss: &Value, key: &str| loss[key].as_str().unwrap_or_default().to_owned();
    let lost: Vec<String> = work["lost"]
        .as_array()
        .expect("losses")
        .iter()
        .map(|loss| format!("{} {}", text(loss, "kind"), text(loss, "callee")))
        .collect();
    assert_eq!(work["followed"], lost.is_empty(), "{report}");
    lost
}

/// A logger of the tree whose levels are looked up.
const LOGGER: &str =
    "const logger = { warn(x) { return writeFile('a', x); }, info(x) { return writeFile('a', x); } };";

/// A class of the tree with a method that touches something, of which nobody is known to be made.
const STORE: &str = "export class Store { save(x) { return writeFile('a', x); } parse(x) { return x + x; } exec(x) { return writeFile('a', x); } }";

#[test]
fn a_call_is_lost_where_it_could_hide_a_change_of_what_calls_share() {
    for (body, more, expected) in [
        // A library that nobody has described: waited for, and not only asked.
        ("await client.push(all);", "", &["unknown-library push"] as &[&str]),
        ("await client.getStatus(all);", "", &[]),
        ("const x = client.push(all);", "", &[]),
        // What is taken for a request by its name is not seen by that: an import that leads nowhere, a library nobody has described.
        ("await client.updateNote(all, { text: given });", "", &["unknown-library updateNote"]),
        ("await gone.update(all, { text: given });", "", &["unresolved-import ./gone.js.gone.update"]),
        ("const found = await client.retrieveNote(all); return found;", "", &[]),
        // Whoever gives a call back is waited for where its caller waits, and only there.
        ("await wrap(all);", "function wrap(x) { return client.push(x); }", &["unknown-library push"]),
        (
            "const x = wrap(all); await client.getStatus(x);",
            "function wrap(x) { return client.push(x); }",
            &[],
        ),
        ("await Promise.all(all.map((x) => client.push(x)));", "", &["unknown-library push"]),
        // Something of which nothing is known: lost where a function of the tree could be meant that touches something.
        ("given.save(all);", STORE, &["unresolved-receiver save"]),
        ("given.parse(all);", STORE, &[]),
        ("given.toUpperCase(); given.map((x) => x); JSON.parse(given).list.sort();", STORE, &[]),
        ("await given.apply_all(all);", "", &["unresolved-receiver apply_all"]),
        // What the protocol has is nothing that calls share.
        ("await extra.sendNotification({ method: 'x' });", "", &[]),
        // An import that leads nowhere could be anything.
        ("gone(all);", "", &["unresolved-import ./gone.js.gone"]),
        // A function that comes as a value, unless it settles a promise.
        ("given(all);", "", &["unknown-function given"]),
        // A method that is handed over is one all the same.
        ("const found = every(given.getPages);", "function every(f) { return f(1); }", &[]),
        (
            "const found = every(given.save);",
            &format!("{STORE} function every(f) {{ return f(1); }}"),
            &["unresolved-receiver save"],
        ),
        // What tells the client something is the protocol's, also where it was taken out of what came with the call.
        ("const { reportProgress } = extra; await reportProgress({ progress: 1 });", "", &[]),
        // What a library has given back is the library's: lost where it is waited for.
        ("const end = client.startTimer(); end();", "", &[]),
        ("const end = client.begin(); await end();", "", &["unknown-library end"]),
        // An object is there at once, and what makes a client reaches nobody yet.
        ("const it = await made();", "async function made() { return new Client({ url: 'x' }); }", &[]),
        (
            "const it = await made();",
            "import { createClient } from 'acme'; async function made() { return createClient(); }",
            &[],
        ),
        (
            "const it = await made();",
            "import { createOrder } from 'acme'; async function made() { return createOrder(); }",
            &["unknown-library acme.createOrder"],
        ),
        // Patterns, text and lists only compute, whatever else is called like their methods.
        ("const found = /a(b)/.exec(given); const every = /x/g; every.exec(given);", STORE, &[]),
        ("gone.name.toUpperCase(); gone.all.includes(given); gone.all.find((x) => x === given);", "", &[]),
        ("gone.all.save(given);", "", &["unresolved-import ./gone.js.gone.all.save"]),
        // Whichever level it is, it is told.
        ("const level = given ? 'warn' : 'info'; console[level](all); logger[level](all);", LOGGER, &[]),
        ("const kind = given ? 'save' : 'drop'; client[kind](all);", "", &["unknown-function ?"]),
        ("await new Promise((resolve, reject) => { given.on('x', () => reject(1)); resolve(2); });", "", &[]),
    ] {
        assert_eq!(lost(body, more), expected, "{body}");
    }
}

/// Functions of the tree through which requests are sent.
const SENDERS: &str = r#"
const API = "https://notes.example";
async function send(method, path, body) {
  const answer = await fetch(API + path, { method, body: JSON.stringify(body) });
  return answer.json();
}
function withHeaders(init = {}) {
  const all = { ...init };
  if (all.body) all.body = JSON.stringify(all.body);
  return all;
}
function split(options = {}) {
  const { timeout, ...init } = options;
  return { timeout, init };
}
async function request(path, options = {}) {
  const { timeout, init } = split(withHeaders(options));
  const answer = await fetch(API + path, { ...init, headers: { timeout } });
  return answer.json();
}
"#;

#[test]
fn a_request_is_lost_where_it_is_not_known_what_it_changes() {
    for (body, expected) in [
        ("await fetch('https://a/' + given);", &[] as &[&str]),
        ("await fetch('https://a/' + given, { method: 'PUT', body: all });", &[]),
        ("await fetch('https://a/' + given, { method: all ? 'PUT' : 'POST' });", &[]),
        ("await fetch('https://a/' + given, all);", &["unknown-request fetch"]),
        ("await fetch('https://a/' + given, { ...all });", &["unknown-request fetch"]),
        // Whoever hands over the method says what is sent.
        ("await send('PUT', '/notes/' + given, all); await send('GET', '/notes');", &[]),
        ("await send(given, '/notes', all);", &["unknown-request fetch"]),
        // So does whoever writes the options out, however often they are put together anew on the way.
        ("await request('/notes'); await request('/notes/' + given, { method: 'PUT', body: all });", &[]),
        ("await request('/notes/' + given, all);", &["unknown-request fetch"]),
        // One call that is known does not make up for one that is not.
        ("await send('GET', '/notes'); await send(given, '/notes');", &["unknown-request fetch"]),
    ] {
        assert_eq!(lost(body, SENDERS), expected, "{body}");
    }
}

#[test]
fn too_few_tools_followed_are_not_graded_and_end_in_three() {
    let lost = tree("await client.push(all);", "");
    let ended = scan(&lost, &[]);
    let report = json(&ended);
    assert_eq!((ended.code, &report["score"], &report["grade"]), (3, &Value::Null, &Value::Null));
    let why = report["not_graded"].as_str().expect("a reason");
    assert!(why.starts_with("1 of 2 tools were followed to the end, and a grade needs 80 %."), "{why}");
    assert!(why.contains("push = { do = \"nothing\" }"), "it names the line that helps: {why}");
    // The line that it names helps.
    fs::write(lost.path().join("interlock.toml"), "[unknown.methods]\npush = { do = \"nothing\" }\n")
        .expect("a file");
    let helped = scan(&lost, &[]);
    assert_eq!((helped.code, &json(&helped)["grade"]), (0, &"A".into()), "{}", helped.stdout);
    let text = interlock(&["scan"]).arg(lost.path()).output().expect("the program starts");
    assert!(String::from_utf8_lossy(&text.stdout).contains("2 of 2 tools followed to the end"));
}

#[test]
fn a_tool_that_only_the_server_lists_is_named() {
    let sources = tree("", "");
    let saved = sources.path().join("tools.json");
    let path = saved.to_str().expect("a path");
    let answer =
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"plain"},{"name":"work"},{"name":"zap"}]}}"#;
    fs::write(&saved, answer).expect("a file");
    let ended = scan(&sources, &["--tools", path]);
    let report = json(&ended);
    assert_eq!(report["coverage"]["listed"]["missed"], serde_json::json!(["zap"]), "{report}");
    assert_eq!((ended.code, &report["grade"]), (3, &Value::Null), "2 of 3 are too few");
    let mut text = interlock(&["scan", "--tools", path]);
    let text = Ended::from(text.arg(sources.path()).output().expect("the program starts"));
    assert!(
        text.stdout.contains("lost: zap: the server lists it, and it was not found in the sources"),
        "{}",
        text.stdout
    );
    fs::write(&saved, r#"{"tools":[{"name":"plain"}]}"#).expect("a file");
    let fewer = scan(&sources, &["--tools", path]);
    assert_eq!(json(&fewer)["coverage"]["listed"]["unlisted"], serde_json::json!(["work"]));
    assert_eq!(fewer.code, 0);
    fs::write(&saved, "nothing").expect("a file");
    let refused = scan(&sources, &["--tools", path]);
    assert!(refused.code == 2 && refused.stderr.contains("tools/list"), "{}", refused.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn the_running_server_is_asked_for_its_tools_when_somebody_says_so() {
    let sources = tree("", "");
    let program = env!("CARGO_BIN_EXE_interlock");
    let ended = scan(&sources, &["--live", "--", program, "ledger"]);
    let report = json(&ended);
    let missed = report["coverage"]["listed"]["missed"].as_array().expect("a list");
    assert!(missed.len() > 5 && !missed.contains(&"plain".into()), "{report}");
    assert_eq!(report["coverage"]["listed"]["unlisted"], serde_json::json!(["plain", "work"]));
    assert_eq!((ended.code, &report["grade"]), (3, &Value::Null));
    let silent = scan(&sources, &["--live", "--", "/bin/false"]);
    assert!(silent.code == 2 && silent.stderr.contains("did not list its tools"), "{}", silent.stderr);
    let nothing = scan(&sources, &["--live"]);
    assert_eq!(nothing.code, 2, "{}", nothing.stderr);
}

#[test]
fn a_handler_of_all_tools_that_goes_where_nothing_is_known_is_not_graded() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = r#"
from elsewhere import load
class Server:
    def __init__(self):
        self.work = load()
    def handle(self, request):
        if request["method"] == "tools/call":
            params = request["params"]
            return self.work[params["name"]]["run"](params["arguments"])
"#;
    fs::write(folder.path().join("server.py"), text).expect("a file");
    let ended = scan(&folder, &[]);
    let report = json(&ended);
    assert_eq!((ended.code, &report["grade"]), (3, &Value::Null), "{report}");
    let why = report["not_graded"].as_str().expect("a reason");
    assert!(why.starts_with("0 of 1 tool was followed to the end"), "{why}");
}

/// A tree of these files.
fn files(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::write(place, text).expect("a file");
    }
    folder
}

const SERVER: &str = r#"import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "n", version: "1" });
server.registerTool("plain", {}, async () => ({ content: [] }));
"#;

/// Which tools are not followed, and what each of them has lost first.
fn unfollowed(tree: &TempDir) -> Vec<String> {
    let report = json(&scan(tree, &[]));
    let tools = report.pointer("/coverage/tools").and_then(Value::as_array).expect("tools");
    let lost = tools.iter().filter(|tool| tool["followed"] == false);
    lost.map(|tool| {
        let first = tool.pointer("/lost/0/kind").and_then(Value::as_str).unwrap_or("nothing");
        format!("{} {first}", tool["name"].as_str().unwrap_or_default())
    })
    .collect()
}

#[test]
fn a_tool_that_is_announced_without_a_function_is_not_followed() {
    let more = |text: &str| files(&[("index.ts", &format!("{SERVER}{text}"))]);
    for (text, expected) in [
        (
            "import { make } from './gone.js'; server.registerTool('a', {}, make('a'));",
            &["a unresolved-import"] as &[&str],
        ),
        ("server.registerTool('a', {}, globalThis.handlers.one);", &["a unknown-function"]),
        ("const work = async () => ({ content: [] }); server.registerTool('a', {}, work);", &[]),
    ] {
        assert_eq!(unfollowed(&more(text)), expected, "{text}");
    }
    let listed = |known: &str| {
        files(&[(
            "index.ts",
            &format!(
                r#"import {{ Server }} from "@modelcontextprotocol/sdk/server/index.js";
import {{ CallToolRequestSchema, ListToolsRequestSchema }} from "@modelcontextprotocol/sdk/types.js";
import {{ more }} from "./missing.js";
const server = new Server({{ name: "s", version: "1" }}, {{}});
const handlers = {{ {known}, ...more }};
server.setRequestHandler(ListToolsRequestSchema, async () => ({{ tools: [{{ name: "ask" }}, {{ name: "tell" }}] }}));
server.setRequestHandler(CallToolRequestSchema, async (request) => handlers[request.params.name](request.params.arguments));
"#
            ),
        )])
    };
    let ask = "ask: async () => ({ content: [] })";
    assert_eq!(unfollowed(&listed(ask)), ["tell unknown-function"]);
    assert!(unfollowed(&listed(&format!("{ask}, tell: async () => ({{ content: [] }})"))).is_empty());
}

#[test]
fn a_tool_from_an_import_is_called_like_it_in_python() {
    let server = |more: &str| {
        let text = format!(
            "from mcp.server.fastmcp import FastMCP\nfrom .gone import write_note\nmcp = FastMCP('s')\n\
             @mcp.tool()\ndef ok() -> str:\n    return 'x'\n{more}"
        );
        files(&[("server.py", &text)])
    };
    assert_eq!(unfollowed(&server("mcp.add_tool(write_note)\n")), ["write_note unresolved-import"]);
    assert_eq!(unfollowed(&server("mcp.add_tool(write_note, name='w')\n")), ["w unresolved-import"]);
    assert!(unfollowed(&server("mcp.add_tool(ok, name='w')\n")).is_empty());
}

#[test]
fn where_tools_may_be_that_nobody_sees_there_is_no_grade() {
    let why = |tree: &TempDir, options: &[&str]| {
        let report = json(&scan(tree, options));
        report["not_graded"].as_str().unwrap_or("graded").to_owned()
    };
    for (text, expected) in [
        (
            "import { installAll } from '@acme/tools'; installAll(server);",
            "1 tool was found, and others may be",
        ),
        ("import { setup } from './gone.js'; setup(server);", "1 tool was found, and others may be"),
        // Who runs or watches a server announces nothing.
        ("import { serveHttp } from '@acme/http'; serveHttp(server);", "graded"),
        ("import { instrument } from '@acme/trace'; instrument(server);", "graded"),
        ("import { startServer } from './gone.js'; startServer(server);", "graded"),
        ("import { registerAll } from './own.js'; registerAll(server);", "graded"),
        ("import { registerUser } from '@acme/users'; registerUser({ name: 'server' });", "graded"),
    ] {
        let own = "export function registerAll(server) {}";
        let tree = files(&[("index.ts", &format!("{SERVER}{text}")), ("own.ts", own)]);
        let found = why(&tree, &[]);
        assert!(found.starts_with(expected), "{text}: {found}");
        // The server itself knows which tools there are.
        let saved = tree.path().join("tools.json");
        fs::write(&saved, r#"{"tools":[{"name":"plain"}]}"#).expect("a file");
        assert_eq!(why(&tree, &["--tools", saved.to_str().expect("a path")]), "graded", "{text}");
    }
    for (manifest, text, expected) in [
        (
            "Cargo.toml",
            "[dependencies]\nrmcp = \"0.8\"\n",
            "a server of this tree is written in Rust (`Cargo.toml`)",
        ),
        ("examples/Cargo.toml", "[dependencies]\nrmcp = \"0.8\"\n", "graded"),
        ("Cargo.toml", "[dependencies]\ntokio = \"1\"\n", "graded"),
    ] {
        let tree = files(&[("index.ts", SERVER), (manifest, text)]);
        let found = why(&tree, &[]);
        assert!(found.starts_with(expected), "{manifest} {text}: {found}");
    }
}

#[test]
fn what_is_told_to_a_program_that_lives_on_is_not_seen() {
    let child = "import { spawn } from 'node:child_process'; class Shell { child = spawn('heroku', ['repl']); \
                 async tell(text) { this.child.stdin.write(text); } } const shell = new Shell();";
    assert_eq!(lost("await shell.tell(given);", child), ["other-program heroku"]);
    let asks = "import { spawn } from 'node:child_process'; class Shell { child = spawn('cat', []); \
                async tell(text) { this.child.stdin.write(text); } } const shell = new Shell();";
    assert_eq!(lost("await shell.tell(given);", asks), [""; 0]);
}

#[test]
fn a_filter_makes_no_grade() {
    let racy = files(&[(
        "index.ts",
        &format!(
            "import {{ readFile, writeFile }} from 'node:fs/promises';\n{SERVER}server.registerTool('add', {{}}, async ({{ note }}) => {{\n  \
             const all = JSON.parse(await readFile('notes.json', 'utf8'));\n  all.push(note);\n  \
             await writeFile('notes.json', JSON.stringify(all));\n  return {{ content: [] }};\n}});\n"
        ),
    )]);
    let score = |options: &[&str]| json(&scan(&racy, options))["score"].clone();
    let all = score(&[]);
    assert!(all.as_u64().is_some_and(|score| score < 90), "{all}");
    for options in [["--hazards", "retry-storm"], ["--min-severity", "critical"]] {
        assert_eq!(score(&options), all, "{options:?}");
        let text = interlock(&["scan"]).arg(racy.path()).args(options).output().expect("the program starts");
        let text = String::from_utf8_lossy(&text.stdout).replace('\n', " ");
        assert!(text.contains("not shown:"), "{text}");
    }
}

#[test]
fn a_file_that_does_not_parse_is_not_followed_and_what_is_found_there_is_low() {
    let text = format!(
        "import {{ readFile, writeFile }} from 'node:fs/promises';\n{SERVER}server.registerTool('add', {{}}, async ({{ note }}) => {{\n  \
         const all = JSON.parse(await readFile('notes.json', 'utf8'));\n  all.push(note);\n  \
         await writeFile('notes.json', JSON.stringify(all));\n  return {{ content: [] }};\n}});\n"
    );
    let confidence = |tree: &TempDir| {
        let report = json(&scan(tree, &[]));
        let findings = report["findings"].as_array().expect("findings").clone();
        let lost = findings.into_iter().find(|finding| finding["hazard"] == "lost-update");
        lost.expect("the finding")["confidence"].clone()
    };
    assert_eq!(confidence(&files(&[("index.ts", &text)])), "high");
    let damaged =
        files(&[("index.ts", &format!("{text}<<<<<<< HEAD\nserver.registerTool('b', {{}}, b);\n"))]);
    assert_eq!(confidence(&damaged), "low");
    assert_eq!(unfollowed(&damaged), ["add damaged-file"], "the other tool does nothing");
}
