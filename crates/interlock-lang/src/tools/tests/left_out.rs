//! What looks like a tool and is none: ways of one tool, classes that nobody gives to a server. And methods of requests by name.

use expect_test::expect;

use super::check;

#[test]
fn the_ways_of_one_tool_are_no_tools() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { labels } from "./labels.js";
import { files } from "./files.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  switch (request.params.name) {
    case "labels": return labels(request);
    case "files": return files(request.params.name, request.params.arguments);
  }
});
//- labels.ts
import { z } from "zod";
const schema = z.object({ action: z.string() });
const ACTIONS = { create: { tool: create, toolName: "create_label" }, info: { tool: info, toolName: "label_info" } };
export async function labels(request) {
  const { action, ...rest } = schema.parse({ ...(request.params.arguments ?? {}) });
  const way = ACTIONS[action];
  return way.tool({ params: { name: way.toolName, arguments: rest } });
}
async function create(request) { return {}; }
async function info(request) { return {}; }
//- files.ts
const ways = new Map([["read", read], ["drop", drop]]);
export async function files(name, args) {
  const way = ways.get(args.action);
  return way(args);
}
async function read(args) { return {}; }
async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:7 module.closure: labels, files
        "#]],
    );
}

#[test]
fn what_is_looked_up_by_the_name_stays_a_tool() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
const TOOLS = { add: { tool: add }, drop: { tool: drop } };

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  const found = TOOLS[name];
  return found.tool(args);
});
async function add(args) { return {}; }
async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:6 module.closure: add, drop
        "#]],
    );
}

const TOOL_CLASSES: &str = r#"
//- tools.ts
export class AddTool { name = "add"; description = "adds"; async execute(args) { return {}; } }
export class DropTool { name = "drop"; description = "drops"; async execute(args) { return {}; } }
export class OldTool { name = "old"; description = "nobody asks for it"; async execute(args) { return {}; } }
export class DraftTool { name = "draft"; description = "nobody names it"; async execute(args) { return {}; } }
//- server.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { registry } from "./registry.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tools = await registry.get("all").tools();
  return tools.find((tool) => tool.name === request.params.name).execute(request.params.arguments);
});
"#;

#[test]
fn a_class_that_nobody_gives_to_the_server_is_no_tool() {
    let tree = format!(
        "{TOOL_CLASSES}{}",
        r#"
//- registry.ts
import { Container } from "somewhere";
import { AddTool, DropTool, OldTool } from "./tools.js";
export const registry = new Container();
registry.bind(DropTool).to(DropTool);
registry.bind(OldTool).to(OldTool);
registry.register(new AddTool());
registry.register(registry.get(DropTool));
registry.register(registry.get(MoreTool));
export class MoreTool { name = "more"; description = "more"; async execute(args) { return {}; } }
"#
    );
    check(
        &tree,
        &expect![[r#"
        registry.ts:9 MoreTool.execute: more
        server.ts:5 module.closure: no tool
        tools.ts:1 AddTool.execute: add
        tools.ts:2 DropTool.execute: drop
    "#]],
    );
}

#[test]
fn where_hardly_any_class_is_named_all_of_them_are_tools() {
    let tree = format!(
        "{TOOL_CLASSES}{}",
        r#"
//- registry.ts
import { Container } from "somewhere";
export const registry = new Container();
registry.load("./tools");
"#
    );
    check(
        &tree,
        &expect![[r#"
        server.ts:5 module.closure: no tool
        tools.ts:1 AddTool.execute: add
        tools.ts:2 DropTool.execute: drop
        tools.ts:3 OldTool.execute: old
        tools.ts:4 DraftTool.execute: draft
    "#]],
    );
}

#[test]
fn a_method_that_is_a_member_of_an_enumeration_of_another_file() {
    check(
        r#"
//- index.ts
import { Method, NAMES } from "./types.js";
class Server {
  async process(request) {
    switch (request.method) {
      case Method.LIST: return { tools: [] };
      case Method.CALL: return this.call(request.params);
    }
  }
  async call(params) {
    if (params.name === NAMES.add) return this.add(params.arguments);
    switch (params.name) {
      case "drop": return this.drop(params.arguments);
    }
  }
  async add(args) { return {}; }
  async drop(args) { return {}; }
}
process.stdin.on("data", (line) => new Server().process(JSON.parse(line)));
//- types.ts
export enum Method { LIST = "tools/list", CALL = "tools/call" }
export const NAMES = { add: "add" } as const;
"#,
        &expect![[r#"
            index.ts:3 Server.process: add, drop
        "#]],
    );
}

#[test]
fn tools_that_a_server_is_given_by_a_function() {
    check(
        r#"
//- index.ts
import { createMcpServer } from "@shop/mcp-server";
createMcpServer({
  name: "shop",
  tools: async () => ({ add: { description: "adds", execute: async (args) => ({}) } }),
});
"#,
        &expect![[r#"
            index.ts:4 execute: add
        "#]],
    );
}
