//! What is one of two: a name, a table, a function that is there or else another.

use expect_test::expect;

use super::check;

#[test]
fn a_name_that_may_be_given_is_what_it_is_otherwise() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { add, drop } from "./work.js";
const server = new McpServer({ name: "s", version: "1" });

function registerAdd(server, options = {}) {
  const toolName = options.toolName || "add";
  server.registerTool(toolName, { description: "adds" }, async (args) => add(args));
}
function registerDrop(server, { toolName = "drop", store } = {}) {
  server.registerTool(toolName, { description: "drops" }, async (args) => drop(args));
}
function registerMore(server, toolName = "more") {
  server.registerTool(toolName, { description: "more" }, async (args) => add(args));
}
registerAdd(server, { store: 1 });
registerDrop(server, { store: 1 });
registerMore(server);
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:7 registerAdd.closure: add
            index.ts:10 registerDrop.closure: drop
            index.ts:13 registerMore.closure: more
        "#]],
    );
}

#[test]
fn a_name_that_is_given_is_that() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { add, drop } from "./work.js";
const server = new McpServer({ name: "s", version: "1" });

function register(server, options = {}) {
  server.registerTool(options.name ?? "usual", { description: "does" }, async (args) => add(args));
}
function registerMore(server, toolName = "more") {
  server.registerTool(toolName, { description: "does" }, async (args) => drop(args));
}
register(server, { name: "first" });
register(server);
registerMore(server, "second");
registerMore(server);
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:6 register.closure: first, usual
            index.ts:9 registerMore.closure: second, more
        "#]],
    );
}

#[test]
fn a_table_that_is_there_or_else_is_not() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

const one = [{ name: "add", handler: add }];
const two = [{ name: "drop", handler: drop }];
const tools = process.env.MORE ? one : two;
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = tools.find((tool) => tool.name === request.params.name);
  return tool.handler(request.params.arguments);
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:9 module.closure: add, drop
        "#]],
    );
}

#[test]
fn a_function_that_is_one_of_two_knows_the_name_that_both_take_along() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  const once = async () => {
    switch (name) {
      case "add": return add(args);
      case "drop": return drop(args);
    }
  };
  const run = process.env.TWICE ? async () => { await once(); return once(); } : once;
  return run();
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:6 module.closure: add, drop
        "#]],
    );
}

#[test]
fn tools_that_are_made_side_by_side() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { add, drop } from "./work.js";
const server = new McpServer({ name: "s", version: "1" });

const factories = [
  (server) => ({ name: "add", callback: async (args) => add(args) }),
  (server) => ({ name: "drop", callback: async (args) => drop(args) }),
];
async function main() {
  const tools = await Promise.all(factories.map((make) => make(server)));
  for (const tool of tools) {
    server.registerTool(tool.name, {}, async (args) => tool.callback(args));
  }
}
main();
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:12 main.closure: add
            index.ts:12 main.closure: drop
        "#]],
    );
}

#[test]
fn tools_that_are_registered_side_by_side() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { add, drop } from "./work.js";
const server = new McpServer({ name: "s", version: "1" });

const tools = [{ name: "add", work: add }, { name: "drop", work: drop }];
async function main() {
  await Promise.all(tools.map(async (tool) => {
    server.registerTool(tool.name, {}, async (args) => tool.work(args));
  }));
}
main();
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:8 main.closure.closure: add
            index.ts:8 main.closure.closure: drop
        "#]],
    );
}
