//! Trees of several files, of whose findings more counts than the lines.

use std::fmt::Write;

use expect_test::expect;
use interlock_model::{Confidence, Finding};

use crate::catalogue::engine;

fn scan(files: &[(&str, &str)]) -> Vec<Finding> {
    let engine = engine();
    let programs =
        engine.programs(files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect());
    programs.into_iter().flat_map(|program| engine.findings(program)).collect()
}

#[test]
fn what_another_program_of_the_tree_does_is_less_sure_than_what_runs_beside_calls() {
    const STATE: &str = r#"
import { readFile, writeFile } from "node:fs/promises";
export async function count(path: string) {
  const all = JSON.parse(await readFile(path, "utf8"));
  all.count += 1;
  await writeFile(path, JSON.stringify(all));
}
"#;
    const SERVER: &str = r#"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { count } from "./state.js";
const server = new McpServer({ name: "a", version: "1.0.0" });
server.tool("noop", {}, async () => ({ content: [] }));
process.on("SIGUSR2", async () => { await count("/srv/a.json"); });
"#;
    const WATCHER: &str = r#"
import { watch } from "chokidar";
import { count } from "./other.js";
watch("/srv").on("change", async () => { await count("/srv/b.json"); });
"#;
    // A command runs once.
    const COMMAND: &str = r#"
import { program } from "commander";
import { count } from "./count.js";
program.command("count").action(async () => { await count("/srv/c.json"); });
program.parse();
"#;
    let findings = scan(&[
        ("server/state.ts", STATE),
        ("server/index.ts", SERVER),
        ("watcher/other.ts", STATE),
        ("watcher/index.ts", WATCHER),
        ("cli/count.ts", STATE),
        ("cli/index.ts", COMMAND),
    ]);
    let sure = |file: &str| {
        let lost =
            |finding: &&Finding| finding.location.file == file && finding.hazard.as_str() == "lost-update";
        findings.iter().find(lost).map(|finding| finding.confidence)
    };
    assert_eq!(sure("server/state.ts"), Some(Confidence::Medium));
    assert_eq!(sure("watcher/other.ts"), Some(Confidence::Low));
    assert_eq!(sure("cli/count.ts"), None);
}

#[test]
fn a_switch_over_many_tools_keeps_the_findings_of_each() {
    const TOOLS: usize = 30;
    let mut text = String::from(
        r#"
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { appendFile, readFile, writeFile } from "node:fs/promises";
const server = new Server({ name: "a", version: "1.0.0" }, { capabilities: { tools: {} } });
"#,
    );
    // What every tool calls first is a large function.
    text.push_str("async function report(name: string) {\n");
    for line in 0..150 {
        writeln!(text, "  await appendFile(`/var/log/a/{line}-${{name}}.log`, name);").unwrap();
    }
    text.push_str("}\n");
    for tool in 0..TOOLS {
        writeln!(text, "async function change{tool}(name: string) {{\n  await report(name);").unwrap();
        for line in 0..40 {
            writeln!(text, "  await appendFile(`/var/log/b/{tool}-{line}.log`, name);").unwrap();
        }
        writeln!(text, "  const all = JSON.parse(await readFile(\"/srv/{tool}.json\", \"utf8\"));").unwrap();
        writeln!(text, "  all.push(name);").unwrap();
        writeln!(text, "  await writeFile(\"/srv/{tool}.json\", JSON.stringify(all));\n}}").unwrap();
    }
    text.push_str("server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [\n");
    for tool in 0..TOOLS {
        writeln!(text, "  {{ name: \"tool{tool}\", inputSchema: {{ type: \"object\" }} }},").unwrap();
    }
    text.push_str("] }));\nserver.setRequestHandler(CallToolRequestSchema, async (request) => {\n");
    text.push_str("  await report(request.params.name);\n  switch (request.params.name) {\n");
    for tool in 0..TOOLS {
        let call = format!("await change{tool}(String(request.params.arguments?.name))");
        writeln!(text, "    case \"tool{tool}\": {call}; return {{ content: [] }};").unwrap();
    }
    text.push_str("    default: throw new Error(\"unknown\");\n  }\n});\n");
    let findings = scan(&[("index.ts", &text)]);
    for tool in 0..TOOLS {
        let function = format!("change{tool}");
        let lost = findings
            .iter()
            .filter(|finding| finding.hazard.as_str() == "lost-update" && finding.function == function);
        let tools: Vec<&String> = lost.flat_map(|finding| &finding.tools).collect();
        assert_eq!(tools, [&format!("tool{tool}")]);
    }
}

#[test]
fn what_a_function_took_along_is_called_what_the_source_calls_it() {
    // Methods that share a variable of the function that made them, called from a third place.
    const STORE: &str = r#"
export function unrelated(text: string) { return text.length; }
export function makePurse() {
  const name = "purse";
  const accounts = new Map<string, number>();
  return {
    name,
    async spend(user: string) {
      const before = accounts.get(user) ?? 100;
      await fetch("https://example.com/rate");
      accounts.set(user, before - unrelated(user));
    },
  };
}
"#;
    const SERVER: &str = r#"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { makePurse } from "./purse.js";
const purse = makePurse();
const server = new McpServer({ name: "a", version: "1.0.0" });
server.tool("spend", {}, async (args) => {
  await purse.spend(args.user);
  return { content: [] };
});
"#;
    let findings = scan(&[("a/index.ts", SERVER), ("a/purse.ts", STORE)]);
    let told: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.location.file == "a/purse.ts" && finding.location.line == 9)
        .filter_map(|finding| finding.message.split('`').nth(1))
        .collect();
    assert_eq!(told, ["accounts[args.user]"]);
}

#[test]
fn a_closure_that_calls_itself_through_a_map_comes_to_an_end() {
    const SERVER: &str = r#"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { tree } from "./tree.js";
const server = new McpServer({ name: "a", version: "1.0.0" });
server.tool("show", {}, async () => ({ content: [{ type: "text", text: tree([]) }] }));
"#;
    const TREE: &str = r#"
export function tree(items: any[]) {
  const all = new Map(items.map((item) => [item.id, item]));
  const render = (item: any): any => all.get(item.id).children.map((child: any) => render(child));
  return items.map((item) => render(item));
}
"#;
    assert_eq!(scan(&[("server.ts", SERVER), ("tree.ts", TREE)]), []);
}

#[test]
fn tools_of_a_list_that_is_put_together_on_the_spot_are_found() {
    const TOOLS: &str = r#"
import { readFile, writeFile } from "node:fs/promises";
const add = {
  name: "add",
  handler: async () => {
    const all = JSON.parse(await readFile("/srv/a.json", "utf8"));
    await writeFile("/srv/a.json", JSON.stringify([...all, 1]));
    return { content: [] };
  },
};
export const writers = [add];
export const readers = [{ name: "noop", handler: async () => ({ content: [] }) }];
"#;
    const SERVER: &str = r#"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { readers, writers } from "./tools.js";
const server = new McpServer({ name: "a", version: "1.0.0" });
[...readers, ...writers].forEach((tool) => { server.tool(tool.name, {}, tool.handler); });
"#;
    let findings = scan(&[("server.ts", SERVER), ("tools.ts", TOOLS)]);
    let lost = findings.iter().find(|finding| finding.hazard.to_string() == "lost-update").unwrap();
    assert_eq!((&*lost.tools, lost.confidence), (&["add".to_owned()][..], Confidence::High));
}

/// The keys that the guard is told to lock, by tool.
fn locks(files: &[(&str, &str)], hazard: &str) -> Vec<String> {
    let findings = scan(files);
    let of_hazard = findings.iter().filter(|finding| finding.hazard.as_str() == hazard);
    let mut locks: Vec<String> = of_hazard
        .flat_map(|finding| &finding.remedy.policy)
        .map(|policy| {
            let keys: Vec<String> = policy.lock.iter().flatten().map(ToString::to_string).collect();
            format!("{}: {}", policy.matches.join(" "), keys.join(" "))
        })
        .collect();
    locks.sort();
    locks.dedup();
    locks
}

#[test]
fn the_rule_of_the_guard_names_arguments_as_callers_do() {
    const STORE: &str = r#"
import { readFile, writeFile } from "node:fs/promises";
export async function edit(path: string) {
  const all = JSON.parse(await readFile(path, "utf8"));
  all.count += 1;
  await writeFile(path, JSON.stringify(all));
}
"#;
    const REGISTERED: &str = r#"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { edit } from "./store.js";
const server = new McpServer({ name: "a", version: "1.0.0" });
server.registerTool("taken_apart", {}, async ({ file }) => { await edit(`/srv/${file}.json`); return { content: [] }; });
server.registerTool("whole", {}, async (args) => { await edit(args.target.path); return { content: [] }; });
// more
"#;
    const MORE: &str = r#"
server.registerTool("session", {}, async (args, extra) => { await edit(`/srv/${extra.sessionId}.json`); return { content: [] }; });
server.registerTool("fixed", {}, async () => { await edit("/srv/all.json"); return { content: [] }; });
"#;
    let keys = locks(&[("store.ts", STORE), ("index.ts", REGISTERED)], "lost-update");
    assert_eq!(keys, ["taken_apart: file:{args.file}", "whole: file:{args.target.path}"]);

    // Who does not say which one it is keeps the others out.
    let more = REGISTERED.replace("// more", MORE);
    let keys = locks(&[("store.ts", STORE), ("index.ts", &more)], "lost-update");
    assert_eq!(keys, ["fixed session taken_apart whole: all.json file files"]);

    const DISPATCHED: &str = r#"
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { edit } from "./store.js";
const server = new Server({ name: "a", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  switch (request.params.name) {
    case "edit": {
      const args = request.params.arguments as { file: string };
      await edit(args.file);
      return { content: [] };
    }
    case "rename": {
      await edit(`/srv/${request.params.name}`);
      return { content: [] };
    }
  }
  throw new Error("unknown");
});
"#;
    let keys = locks(&[("store.ts", STORE), ("index.ts", DISPATCHED)], "lost-update");
    assert_eq!(keys, ["edit rename: file files"]);

    // What nothing reaches has parameters, and no caller knows their names.
    let keys = locks(&[("store.ts", STORE)], "lost-update");
    assert_eq!(keys, ["*: files"]);
}

/// How sure a scan is of the findings of one hazard in one file with these steps in its handlers, in the order of the lines.
fn sureness(hazard: &str, handlers: &str) -> Vec<Confidence> {
    let text = format!(
        r#"
import {{ randomUUID }} from "node:crypto";
import {{ existsSync }} from "node:fs";
import {{ readFile, stat, writeFile }} from "node:fs/promises";
import {{ McpServer }} from "@modelcontextprotocol/sdk/server/mcp.js";
import pg from "pg";
import {{ createClient }} from "redis";
const pool = new pg.Pool();
const server = new McpServer({{ name: "a", version: "1.0.0" }});
{handlers}"#
    );
    let mut findings = scan(&[("server.ts", &text)]);
    findings.retain(|finding| finding.hazard.as_str() == hazard);
    findings.sort_by_key(|finding| finding.location.line);
    findings.iter().map(|finding| finding.confidence).collect()
}

#[test]
fn a_load_that_only_reads_is_unsure_and_one_that_leaves_a_connection_behind_is_not() {
    const READS: &str = r#"
let tenants: string[] | undefined;
server.tool("tenants", {}, async () => {
  if (!tenants) tenants = await resolveTenants("all");
  return { content: [] };
});
async function resolveTenants(which: string) {
  const answer = await fetch(`https://tenants.example/${which}`);
  return (await answer.json()) as string[];
}
"#;
    const CONNECTS: &str = r#"
let client: ReturnType<typeof createClient> | undefined;
server.tool("ping", {}, async () => {
  if (!client) {
    const made = createClient();
    await made.connect();
    client = made;
  }
  return { content: [] };
});
"#;
    assert_eq!(sureness("duplicate-load", READS), [Confidence::Low]);
    assert_eq!(sureness("duplicate-load", CONNECTS), [Confidence::High]);
}

#[test]
fn rows_that_are_removed_together_are_unsure_and_an_amount_that_is_taken_and_given_is_not() {
    const REMOVES: &str = r#"
server.tool("forget", { id: String }, async ({ id }) => {
  const { rows } = await pool.query("SELECT tags FROM notes WHERE id = $1", [id]);
  if (!rows[0].tags) throw new Error("nothing there");
  await pool.query("DELETE FROM tags WHERE note = $1", [id]);
  await pool.query("DELETE FROM notes WHERE id = $1", [id]);
  return { content: [] };
});
"#;
    const MOVES: &str = r#"
server.tool("pay", { from: String, to: String, amount: Number }, async ({ from, to, amount }) => {
  await pool.query("UPDATE accounts SET balance = balance - $1 WHERE id = $2", [amount, from]);
  await pool.query("UPDATE accounts SET balance = balance + $1 WHERE id = $2", [amount, to]);
  return { content: [] };
});
"#;
    assert_eq!(sureness("unprotected-multi-step", REMOVES), [Confidence::Low]);
    assert_eq!(sureness("unprotected-multi-step", MOVES), [Confidence::Medium]);
}

#[test]
fn a_file_of_a_cache_that_is_made_anew_where_it_is_no_good_is_unsure() {
    const REBUILT: &str = r#"
const CACHE = "/srv/cache/pages.json";
server.tool("pages", { url: String }, async ({ url }) => {
  let known;
  try {
    known = JSON.parse(await readFile(CACHE, "utf8"));
  } catch {
    known = undefined;
  }
  if (!known) {
    const answer = await fetch(url);
    await writeFile(CACHE, await answer.text());
  }
  return { content: [] };
});
"#;
    const STATE: &str = r#"
const STATE = "/srv/state/pages.json";
server.tool("add", { url: String }, async ({ url }) => {
  let known: string[] = [];
  try {
    known = JSON.parse(await readFile(STATE, "utf8"));
  } catch {
    known = [];
  }
  await writeFile(STATE, JSON.stringify([...known, url]));
  return { content: [] };
});
"#;
    assert_eq!(sureness("non-atomic-file-replace", REBUILT), [Confidence::Low]);
    assert_eq!(sureness("non-atomic-file-replace", STATE), [Confidence::High]);
}

/// The message and the steps of the only finding of a hazard.
fn words_of(hazard: &str, handlers: &str) -> String {
    const HEAD: &str = r#"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Pool } from "pg";
const pool = new Pool();
const server = new McpServer({ name: "a", version: "1.0.0" });
"#;
    let findings = scan(&[("index.ts", &format!("{HEAD}{handlers}"))]);
    let told: Vec<&Finding> = findings.iter().filter(|finding| finding.hazard.as_str() == hazard).collect();
    let [only] = told.as_slice() else { panic!("{} findings of {hazard}", told.len()) };
    format!("{}\n{}", only.message, only.witness)
}

#[test]
fn a_role_is_no_ownership() {
    const PUBLISHES: &str = r#"
server.tool("publish", { id: String, space: String, user: String }, async ({ id, space, user }) => {
  const { rows } = await pool.query("SELECT role FROM members WHERE space = $1 AND user_id = $2", [space, user]);
  if (rows[0].role !== "editor") throw new Error("forbidden");
  await pool.query("UPDATE pages SET public = 1 WHERE id = $1 AND space = $2", [id, space]);
  return { content: [] };
});
server.tool("leave", { space: String, user: String }, async ({ space, user }) => {
  await pool.query("DELETE FROM members WHERE space = $1 AND user_id = $2", [space, user]);
  return { content: [] };
});
"#;
    const HANDS_OVER: &str = r#"
server.tool("remove_page", { id: String, user: String }, async ({ id, user }) => {
  const { rows } = await pool.query("SELECT * FROM pages WHERE id = $1", [id]);
  if (rows[0].owner !== user) throw new Error("forbidden");
  await pool.query("DELETE FROM pages WHERE id = $1", [id]);
  return { content: [] };
});
server.tool("hand_over", { id: String, to: String }, async ({ id, to }) => {
  await pool.query("UPDATE pages SET owner = $2 WHERE id = $1", [id, to]);
  return { content: [] };
});
"#;
    expect![[r#"
        `role` of the row in `members` is checked in one operation and the act runs in another, so a caller who has just lost the right still gets through
        1 reads the row in `members`: `role` allows it  index.ts:8
                                                                    2 takes that right away: changes the row in `members`  index.ts:8
        3 changes `public` in `pages` all the same  index.ts:10
    "#]]
    .assert_eq(&words_of("auth-check-then-act", PUBLISHES));
    let owned = words_of("auth-check-then-act", HANDS_OVER);
    assert!(owned.contains("`owner` is the caller") && owned.contains("to somebody else"), "{owned}");
}

#[test]
fn only_an_amount_is_used_up() {
    const PASSWORD: &str = r#"
server.tool("change", { id: String, old: String, next: String }, async ({ id, old, next }) => {
  const { rows } = await pool.query("SELECT password FROM users WHERE id = $1", [id]);
  if (rows[0].password !== old) throw new Error("wrong");
  await pool.query("UPDATE users SET password = $2 WHERE id = $1", [id, next]);
  return { content: [] };
});
"#;
    const BALANCE: &str = r#"
server.tool("spend", { id: String, amount: Number }, async ({ id, amount }) => {
  const { rows } = await pool.query("SELECT balance FROM users WHERE id = $1", [id]);
  if (rows[0].balance < amount) throw new Error("too little");
  await pool.query("UPDATE users SET balance = balance - $2 WHERE id = $1", [id, amount]);
  return { content: [] };
});
"#;
    assert!(!words_of("db-check-then-act", PASSWORD).contains("used up"));
    assert!(words_of("db-check-then-act", BALANCE).contains("used up"));
}

#[test]
fn who_gets_there_by_no_tool_is_named_and_so_are_others_with_other_names() {
    const STATE: &str = r#"
import { readFile, writeFile } from "node:fs/promises";
export async function count(path: string) {
  const all = JSON.parse(await readFile(path, "utf8"));
  all.count += 1;
  await writeFile(path, JSON.stringify(all));
}
"#;
    const SERVER: &str = r#"
import express from "express";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { count } from "./state.js";
const server = new McpServer({ name: "a", version: "1.0.0" });
server.tool("noop", {}, async () => {
  TOOL
  return { content: [] };
});
const app = express();
app.post("/count", async (req, res) => {
  ROUTE
  res.end();
});
setInterval(async () => {
  TIMER
}, 1000);
app.listen(3000);
await server.connect(new StdioServerTransport());
"#;
    let message = |tool: &str, route: &str, timer: &str| {
        let server = SERVER.replace("TOOL", tool).replace("ROUTE", route).replace("TIMER", timer);
        let findings = scan(&[("state.ts", STATE), ("index.ts", &server)]);
        let lost = findings.into_iter().filter(|finding| finding.hazard.as_str() == "lost-update");
        lost.map(|finding| finding.message).collect::<Vec<_>>().join("\n")
    };
    let [tool, route, timer] =
        ["tool", "route", "timer"].map(|name| format!("await count('/srv/{name}.json');"));
    let only_tool = message(&tool, "", "");
    assert!(only_tool.contains("`/srv/tool.json`") && !only_tool.contains(';'), "{only_tool}");
    let only_route = message("", &route, "");
    assert!(
        only_route.ends_with("; a request that is no tool (`POST /count`) leads there from index.ts:13"),
        "{only_route}"
    );
    let only_timer = message("", "", &timer);
    assert!(only_timer.ends_with("; an event or a timer leads there from index.ts:16"), "{only_timer}");
    let all = message(&tool, &route, &timer);
    assert!(
        all.contains("`/srv/tool.json`") && all.ends_with("; other callers get here with other names"),
        "{all}"
    );
}
