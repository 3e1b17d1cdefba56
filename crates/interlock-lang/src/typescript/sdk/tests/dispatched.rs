//! One handler for all tools.

use expect_test::expect;

use super::{check, check_steps};

#[test]
fn a_switch_over_names_is_one_handler_with_many_tools() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });
const TOOLS = [{ name: "read", annotations: { readOnlyHint: true } }, { name: "write" }, { name: "list" }];
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: TOOLS }));
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  switch (name) {
    case "read": return read(args);
    case "write": return write(args);
    default: return other(name, args);
  }
});
async function read(args) { return {}; }
async function write(args) { return {}; }
async function other(tool, args) {
  if (tool === "list") return {};
  throw new Error("unknown tool");
}
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            index.ts:6 module.closure: read (read-only), write, list
        "#]],
    );
}

#[test]
fn methods_named_as_text_and_handlers_that_are_methods() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/server";
class App {
  private server: Server;
  constructor() {
    this.server = new Server({ name: "s", version: "1" });
    this.server.setRequestHandler("tools/call", (request) => this.handle(request));
  }
  async handle(request) {
    if (request.params.name === "a") return {};
    else if (request.params.name === "b") return {};
    throw new Error("unknown");
  }
}
new App();
"#,
        &expect![[r#"
            index.ts:6 App.constructor.closure: a, b
        "#]],
    );
}

#[test]
fn a_list_of_tool_objects_is_searched_by_name() {
    let tree = r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { tools } from "./tools.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = tools.find((tool) => tool.name === request.params.name);
  if (!tool) throw new Error("unknown tool");
  return await tool.execute(request.params.arguments);
});
//- tools.ts
const save = { name: "save", execute: async (args) => ({}) };
export const tools = [save, { name: "load", annotations: { readOnlyHint: true }, execute: load }];
async function load(args) { return {}; }
"#;
    check(
        tree,
        &expect![[r#"
        index.ts:5 module.closure: save, load (read-only)
    "#]],
    );
    check_steps(
        tree,
        "handles",
        &expect![[r#"
            5     fn module.closure(request) handles save handles load read-only, async
            6       tools = read shared ::tools.ts::tools
            6       loop over each item
            6         item = derived from tools
            6         entry = ::tools.ts::tools[item] from tools
            6         result = call fn module.closure.closure with request(entry), not awaited
            6       tool = derived from tools, result
            7       check tool
                    else
            7         throw
            8       arguments = read shared request.params.arguments
            8       check tool is "save"
                    then
            8         result.5 = call execute(request.params.arguments) on tool
                    else
            8         check tool is "load"
                      then
            8           result.4 = call load(request.params.arguments) on tool
            8       execute = derived from result.5, result.4
            8       suspend
            8       return execute
        "#]],
    );
}

#[test]
fn a_map_of_handlers_is_looked_up_by_name() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new Server({ name: "s", version: "1" }, {});
const handlers = { save: async (args) => ({}), load: async (args) => ({}) };
const registry = new Map<string, Handler>();
registry.set("drop", async (args) => ({}));
server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: args } }) => {
  const registered = registry.get(name);
  if (registered) return registered(args);
  return handlers[name](args);
});
"#,
        &expect![[r#"
            index.ts:7 module.closure: drop, save, load
        "#]],
    );
}

#[test]
fn a_dispatch_that_is_not_understood_answers_what_the_server_lists() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { proxy } from "./proxy.js";
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(ListToolsRequestSchema, async () => {
  return { tools: [{ name: "one" }, { name: "two", annotations: { readOnlyHint: true } }] };
});
server.setRequestHandler(CallToolRequestSchema, (request) => proxy.forward(request));
//- proxy.ts
export const proxy = makeProxy();
"#,
        &expect![[r#"
            index.ts:5 module.closure: no tool
            index.ts:8 module.closure: one, two (read-only)
        "#]],
    );
}

#[test]
fn json_rpc_by_hand() {
    check(
        r#"
//- server.js
const readline = require("readline");
const rl = readline.createInterface({ input: process.stdin });
rl.on("line", async (line) => {
  const message = JSON.parse(line);
  await handle(message);
});
async function handle(message) {
  if (message.method === "initialize") return reply(message, {});
  if (message.method === "tools/call") {
    const { name, arguments: args } = message.params;
    if (name === "increment") return reply(message, await increment(args));
    if (name === "reset") return reply(message, {});
  }
}
async function increment(args) { return {}; }
function reply(message, result) { process.stdout.write(JSON.stringify({ id: message.id, result }) + "\n"); }
"#,
        &expect![[r#"
            server.js:7 handle: increment, reset
        "#]],
    );
}
