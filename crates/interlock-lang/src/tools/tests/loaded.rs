//! Tools that are loaded when the server starts, or kept in tables that nobody can read to the end.

use expect_test::expect;

use super::check;

#[test]
fn a_name_that_is_told_apart_as_an_exception_is_not_all_that_a_server_answers() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { handlerOf } from "./registry.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  if (!request.params.arguments) {
    if (request.params.name === "host_create") throw new Error("arguments are required: hostname");
    throw new Error("arguments are required");
  }
  const handler = await handlerOf(request.params.name);
  return handler(request.params.arguments);
});
//- registry.ts
import { readdir } from "fs/promises";
const handlers = new Map();
async function load() {
  for (const file of await readdir("./tools")) {
    const { default: registration } = await import("./tools/" + file);
    handlers.set(registration.tool.name, registration.handler);
  }
}
export async function handlerOf(name) { await load(); return handlers.get(name); }
//- tools/host.ts
const tool = { name: "host_create", description: "Makes a host.", inputSchema: { type: "object" } };
export default { tool, handler: async (args) => ({}) };
//- tools/app.ts
import { copy } from "../work.js";
const tool = { name: "app_copy", description: "Copies an app.", inputSchema: { type: "object" } };
export default { tool, handler: copy };
//- work.ts
export async function copy(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:5 module.closure: host_create
            tools/host.ts:2 handler: host_create
            work.ts:1 copy: app_copy
        "#]],
    );
}

#[test]
fn a_switch_over_names_that_are_listed_needs_nothing_that_only_looks_like_a_tool() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { prompts } from "./agent.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "ask" }] }));
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  if (request.params.name === "ask") return prompts(request.params.arguments);
  throw new Error("unknown tool");
});
//- agent.ts
const inner = { name: "browse", description: "For the agent.", parameters: {}, execute: async (args) => ({}) };
export async function prompts(args) { return { tools: [inner] }; }
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            index.ts:6 module.closure: ask
        "#]],
    );
}

#[test]
fn what_is_kept_under_a_name_in_a_table_goes_by_that() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { find } from "toolbox";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = await find(request.params.name);
  return tool.handler(request.params.arguments);
});
//- zones.ts
export const zones = {
  zones_list: { description: "Lists zones.", inputSchema: {}, handler: async (args) => ({}) },
  "zones-add": { description: "Adds a zone.", inputSchema: {}, handler: async (args) => ({}) },
  settings: { description: "No tool: it is called otherwise.", retries: 3 },
};
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            zones.ts:2 handler: zones_list
            zones.ts:3 handler: zones-add
        "#]],
    );
}

#[test]
fn a_file_that_exports_what_it_takes_and_what_it_does_goes_by_its_own_name() {
    check(
        r#"
//- src/index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { manifests } from "./manifests.js";
const server = new McpServer({ name: "s", version: "1" });
export async function start() {
  for (const manifest of await manifests()) {
    const module = await import(manifest.module);
    server.registerTool(manifest.names.mcp, { inputSchema: module.schema }, (args) => module.handler(args));
  }
}
//- src/manifests.ts
import { readFile } from "fs/promises";
export async function manifests() { return JSON.parse(await readFile("manifests.json", "utf8")); }
//- src/tools/device/boot_sim.ts
export const schema = { id: "string" };
export const handler = async (args) => ({});
//- src/tools/device/named.ts
export const name = "list_sims";
export const schema = {};
export async function handler(args) { return {}; }
//- src/tools/device/index.ts
export const schema = {};
export async function handler(args) { return {}; }
//- src/tools/device/helper.ts
export async function handler(args) { return {}; }
//- src/routes/health.ts
export const schema = {};
export async function handler(args) { return {}; }
"#,
        &expect![[r#"
            src/index.ts:7 start.closure: start.closure
            src/tools/device/boot_sim.ts:2 handler: boot_sim
            src/tools/device/named.ts:3 handler: list_sims
        "#]],
    );
}

#[test]
fn a_helper_that_takes_a_tool_or_what_makes_one_gives_back_the_tool() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as pages from "./pages.js";
const server = new McpServer({ name: "s", version: "1" });
const tools = [];
for (const tool of Object.values(pages)) {
  if (typeof tool === "function") tools.push(tool({ slim: false }));
  else tools.push(tool);
}
for (const tool of tools) {
  server.registerTool(tool.name, { description: tool.description }, (args) => tool.handler(args));
}
//- define.ts
export function defineTool(definition) {
  if (typeof definition === "function") {
    const factory = definition;
    return (args) => factory(args);
  }
  return definition;
}
//- pages.ts
import { defineTool } from "./define.js";
export const open = defineTool({ name: "open_page", description: "Opens.", schema: {}, handler: async (args) => ({}) });
export const close = defineTool({ name: "close_page", description: "Closes.", schema: {}, handler: async (args) => ({}) });
export const list = defineTool((options) => {
  return { name: "list_pages", description: "Lists.", schema: {}, handler: async (args) => ({}) };
});
"#,
        &expect![[r#"
            index.ts:10 module.closure: list_pages
            index.ts:10 module.closure: close_page
            index.ts:10 module.closure: open_page
        "#]],
    );
}

#[test]
fn a_dispatch_that_is_not_understood_answers_what_its_own_package_lists() {
    check(
        r#"
//- packages/a/package.json
{ "name": "a" }
//- packages/b/package.json
{ "name": "b" }
//- packages/a/index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { run } from "engine";
const server = new Server({ name: "a", version: "1" }, {});
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "a_one" }, { name: "a_two" }] }));
server.setRequestHandler(CallToolRequestSchema, async (request) => run(request));
//- packages/b/index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { run } from "engine";
const server = new Server({ name: "b", version: "1" }, {});
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [{ name: "b_one" }] }));
server.setRequestHandler(CallToolRequestSchema, async (request) => run(request));
"#,
        &expect![[r#"
            packages/a/index.ts:5 module.closure: no tool
            packages/a/index.ts:6 module.closure: a_one, a_two
            packages/b/index.ts:5 module.closure: no tool
            packages/b/index.ts:6 module.closure: b_one
        "#]],
    );
}

#[test]
fn a_method_that_registers_for_others_is_found_where_it_is_called_by_name() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { registerAll } from "./tools.js";
function contextOf(server: McpServer) {
  const registerTool = (name, config, work) => server.registerTool(name, config, work);
  return {
    registerTool,
    accountTool(name, config, work) {
      return registerTool(name, config, async (args) => work(args, "account"));
    },
  };
}
export function start(loaders) {
  const context = contextOf(new McpServer({ name: "s", version: "1" }));
  for (const loader of loaders) loader(context);
}
//- tools.ts
import type { Context } from "./types";
export function registerAll(context: Context, log) {
  context.accountTool("zones_list", {}, async (args, account) => ({}));
  context.accountTool("zones_add", {}, async (args, account) => ({}));
  log.write("zones", {}, async () => ({}));
}
"#,
        &expect![[r#"
            index.ts:8 accountTool.closure: zones_list, zones_add
            index.ts:8 accountTool.closure: zones_list
            index.ts:8 accountTool.closure: zones_add
            note tools.ts:1: the import of "./types" leads to no file of the tree
        "#]],
    );
}

#[test]
fn a_helper_gives_back_what_it_looks_up_in_a_table_of_its_own() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { spaces } from "./spaces.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const handler = handlerOf(request.params.name);
  if (!handler) throw new Error("unknown tool");
  return await handler(request.params.arguments);
});
function handlerOf(name) {
  const handlers = { space_list: spaces.list, space_get: spaces.get };
  return handlers[name];
}
//- spaces.ts
export const spaces = {
  list: async (args) => ({}),
  get: async (args) => ({}),
};
"#,
        &expect![[r#"
            index.ts:5 module.closure: space_list, space_get
        "#]],
    );
}
