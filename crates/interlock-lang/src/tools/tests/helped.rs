//! Names and tools that go through helpers: what they answer with, what they look up in a loop, what a constructor keeps.

use expect_test::expect;

use super::check;

#[test]
fn a_name_that_a_helper_gives_back() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

const handlers = { add, drop };
const ALIASES = { plus: { name: "add" } };
function resolve(name, args) {
  const normal = name.trim().toLowerCase();
  const alias = ALIASES[normal];
  if (!alias) return { name: normal, args };
  return { name: alias.name, args };
}
async function call(params) {
  const { name, args } = resolve(params.name, params.arguments);
  return handlers[name](args);
}
server.setRequestHandler(CallToolRequestSchema, async (request) => call(request.params));
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:18 module.closure: add, drop
        "#]],
    );
}

#[test]
fn a_request_that_is_made_anew() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

function normalize(request) {
  return { ...request, params: { name: request.params.name, arguments: request.params.arguments ?? {} } };
}
async function execute(request) {
  switch (request.params.name) {
    case "add": return add(request.params.arguments);
    case "drop": return drop(request.params.arguments);
  }
}
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const normal = normalize(request);
  return execute(normal);
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:15 module.closure: add, drop
        "#]],
    );
}

#[test]
fn what_else_a_helper_gives_back_is_no_name() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

function describe(name) {
  return { name, kind: "tool" };
}
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const found = describe(request.params.name);
  if (found.kind === "other") throw new Error("other");
  if (found.name === "add") return add(request.params.arguments);
  return {};
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:9 module.closure: add
        "#]],
    );
}

#[test]
fn a_tool_that_a_loop_finds_by_its_name() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

const configs = { addNumber: { name: "add", handler: add }, dropNumber: { name: "drop", handler: drop } };
function find(name) {
  for (const [type, config] of Object.entries(configs)) {
    if (config.name === name) return { config, type };
  }
  return undefined;
}
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { config } = find(request.params.name);
  return config.handler(request.params.arguments);
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:13 module.closure: add, drop
        "#]],
    );
}

#[test]
fn things_that_a_loop_compares_with_nothing_are_no_tools() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

const hooks = [{ name: "before", handler: add }, { name: "after", handler: drop }];
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  for (const hook of hooks) {
    await hook.handler(request.params.arguments);
  }
  if (request.params.name === "work") return {};
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:7 module.closure: work
        "#]],
    );
}

#[test]
fn objects_of_a_class_that_were_made_with_their_name_and_their_work() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { add, drop } from "./work.js";
const server = new McpServer({ name: "s", version: "1" });

class Base {
  constructor({ name, callback }) {
    this.name = name;
    this.callback = callback;
  }
}
class Tool extends Base {
  constructor(options) {
    super({ ...options, name: options.name });
  }
}
const makeAdd = () => new Tool({ name: "add", callback: async (args) => add(args) });
const makeDrop = () => new Base({ name: "drop", callback: async (args) => drop(args) });
for (const tool of [makeAdd(), makeDrop()]) {
  server.registerTool(tool.name, {}, async (args) => tool.callback(args));
}
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:19 module.closure: add, drop
        "#]],
    );
}

#[test]
fn handlers_that_are_kept_by_method() {
    check(
        r#"
//- index.ts
import { add, drop } from "./work.js";

const handlers = new Map();
handlers.set("initialize", async () => ({}));
handlers.set("tools/call", async (params) => {
  const { name, arguments: args } = params;
  switch (name) {
    case "add": return add(args);
    case "drop": return drop(args);
  }
});
export async function handle({ method, params }) {
  return handlers.get(method)(params);
}
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:5 module.closure: add, drop
        "#]],
    );
}

#[test]
fn names_behind_another_method_are_no_tools() {
    check(
        r#"
//- index.ts
import { add, drop } from "./work.js";

export async function handle(request) {
  const { method, params } = request;
  note(method);
  switch (method) {
    case "tools/call":
      if (params.name === "add") return add(params.arguments);
      return {};
    case "prompts/get":
      if (params.name === "hello") return {};
      return {};
  }
}
function note(method) {
  if (method !== "tools/call") return;
  console.error(method);
}
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:3 handle: add
        "#]],
    );
}
