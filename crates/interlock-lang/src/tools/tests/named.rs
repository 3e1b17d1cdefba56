//! One registration per tool.

use expect_test::expect;

use super::check;

#[test]
fn tools_are_registered_with_inline_handlers_named_functions_and_methods() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { save } from "./save.js";
const server = new McpServer({ name: "s", version: "1" });
const NAME = "get_" + "thing";
const prefix = "x";
server.registerTool("add", { description: "d", annotations: { idempotentHint: true } }, async ({ a }) => ({ content: [] }));
server.tool("old", { a: 1 }, async ({ a }) => ({ content: [] }));
server.tool("older", "description", { a: 1 }, { readOnlyHint: true }, async ({ a }) => ({ content: [] }));
server.registerTool("save", {}, save);
server.registerTool(`${prefix}_load`, {}, (args) => load(args));
async function load(args) { return { content: [] }; }
class Store {
  server = new McpServer({ name: "t", version: "1" });
  setup() {
    this.server.registerTool("put", {}, this.put.bind(this));
    this.server.registerTool("drop", {}, async (args) => this.drop(args));
  }
  async put(args) { return { content: [] }; }
  async drop(args) { return { content: [] }; }
}
new Store().setup();
//- save.ts
export async function save(args) { return { content: [] }; }
"#,
        &expect![[r#"
            index.ts:6 module.closure: add (idempotent)
            index.ts:7 module.closure: old
            index.ts:8 module.closure: older (read-only)
            index.ts:10 module.closure: x_load
            index.ts:16 Store.setup.closure: drop
            index.ts:18 Store.put: put
            save.ts:1 save: save
        "#]],
    );
}

#[test]
fn hints_and_names_may_be_constants_of_another_file() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/server";
import { READ_ONLY, NAMES } from "./constants.js";
export function register(server: McpServer) {
  const config = { description: "d", inputSchema: {}, annotations: READ_ONLY };
  server.registerTool(NAMES.list, config, async () => ({ content: [] }));
  server.registerTool(NAMES.count, { ...config }, async () => ({ content: [] }));
}
//- constants.ts
export const READ_ONLY = { readOnlyHint: true, idempotentHint: true } as const;
export const NAMES = { list: "list_things", count: "count_things" };
"#,
        &expect![[r#"
            index.ts:5 register.closure: list_things (read-only) (idempotent)
            index.ts:6 register.closure: count_things (read-only) (idempotent)
        "#]],
    );
}

#[test]
fn a_handler_without_a_readable_name_has_that_of_its_function() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "s", version: "1" });
async function lookUp() { return { content: [] }; }
server.registerTool(process.env.TOOL_NAME, {}, lookUp);
server.registerTool("lost", {}, globalThis.somewhere);
"#,
        &expect![[r#"
            index.ts:3 lookUp: lookUp
            note index.ts:5: the handler of the tool lost was not found
        "#]],
    );
}

#[test]
fn fastmcp_takes_tool_objects() {
    check(
        r#"
//- index.js
import { FastMCP } from "fastmcp";
import { registerDelete } from "./delete.js";
const server = new FastMCP({ name: "s" });
server.addTool({ name: "add", parameters: {}, annotations: { readOnlyHint: true }, execute: async (args, { session, log }) => "x" });
server.addResource({ uri: "file:///x", load: async () => ({ text: "" }) });
registerDelete(server);
await server.start({ transportType: "stdio" });
//- delete.js
export function registerDelete(server) {
  server.addTool({ name: "delete", async execute(args, context) { return context.session.userId; } });
}
"#,
        &expect![[r#"
            delete.js:2 execute: delete
              caller userId
            index.js:4 execute: add (read-only)
              session session
            index.js:5 load: no tool
            stdio index.js:7: 3 handlers
        "#]],
    );
}

#[test]
fn a_class_per_tool() {
    check(
        r#"
//- src/tools/Add.ts
import { MCPTool } from "mcp-framework";
export default class AddTool extends MCPTool<Input> {
  name = "add";
  description = "adds";
  annotations = { readOnlyHint: true };
  async execute(input: Input) { return input.a; }
}
//- src/index.ts
import { MCPServer } from "mcp-framework";
const server = new MCPServer({ transport: { type: "http-stream" } });
server.start();
"#,
        &expect![[r#"
            src/tools/Add.ts:6 AddTool.execute: add (read-only)
            http src/index.ts:2: 1 handlers
        "#]],
    );
}

#[test]
fn other_requests_and_notifications_are_entries_but_no_tools() {
    check(
        r#"
//- index.ts
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SubscribeRequestSchema, RootsListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
const server = new McpServer({ name: "s", version: "1" });
server.registerResource("r", "file:///r", {}, async (uri) => ({ contents: [] }));
server.registerPrompt("p", {}, async () => ({ messages: [] }));
server.server.setRequestHandler(SubscribeRequestSchema, async (request) => ({}));
server.server.setNotificationHandler(RootsListChangedNotificationSchema, async () => {});
server.server.oninitialized = async () => {};
"#,
        &expect![[r#"
            index.ts:4 module.closure: no tool
            index.ts:5 module.closure: no tool
            index.ts:6 module.closure: no tool
            index.ts:7 module.closure: no tool
            index.ts:8 oninitialized: no tool
        "#]],
    );
}

#[test]
fn what_only_looks_like_a_registration_is_none() {
    check(
        r#"
//- index.ts
import { Registry } from "prom-client";
import yargs from "yargs";
const registry = new Registry();
registry.registerTool("a", {}, () => 1);
yargs.tool("a", "b", () => 1);
class Toolbox { registerTool(name: string, config: object, handler: () => void) {} }
new Toolbox().registerTool("x", {}, () => {});
"#,
        &expect![[""]],
    );
}

#[test]
fn what_is_defined_by_itself_comes_to_an_end() {
    check(
        r#"
//- a.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { b } from "./b.js";
const server = new McpServer({ name: "s", version: "1" });
export const a = b.concat(a).filter((x) => x).map((x) => b[a[x]]);
class Tasks {
  tasks = this.tasks.filter((task) => this.tasks.concat(this.tasks.map((other) => other)));
  add() { this.tasks = this.tasks.concat(this.tasks.filter((task) => task)); }
}
function register(list) {
  list.push(...list);
  for (const item of list) {
    list.push(item);
    register(list.concat(a));
    server.registerTool(item.name, {}, wrap(item.run));
  }
}
const wrap = (f) => wrap(wrap(f));
register(a);
//- b.ts
import { a } from "./a.js";
export const b = [...a, ...b];
"#,
        &expect![[r#"
            note a.ts:14: the handler of the tool was not found
        "#]],
    );
}

#[test]
fn a_file_in_a_folder_of_tools_is_one_if_it_says_how_it_is_called() {
    check(
        r#"
//- src/tools/greet.ts
export const metadata = { name: "greet", description: "Greets", annotations: { readOnlyHint: true } };
export default async function greet({ who }) { return who; }
//- src/tools/helper.ts
export default async function helper() { return 1; }
//- app/page.tsx
export const metadata = { name: "page" };
export default function Page() { return 1; }
"#,
        &expect![[r#"
            src/tools/greet.ts:2 greet: greet (read-only)
        "#]],
    );
}

#[test]
fn a_tool_may_be_described_by_an_object_before_its_handler() {
    check(
        r#"
//- index.ts
import { McpServer } from "tmcp";
const server = new McpServer({ name: "s", version: "1" }, {});
server.tool({ name: "read", description: "d", annotations: { readOnlyHint: true } }, async () => ({ content: [] }));
server.tool({ name: "write", description: "d" }, write);
async function write(args) { return { content: [] }; }
"#,
        &expect![[r#"
            index.ts:5 write: write
            index.ts:3 module.closure: read (read-only)
        "#]],
    );
}

#[test]
fn decorators_announce_methods() {
    check(
        r#"
//- index.ts
import { Resource, Tool } from "@rekog/mcp-nest";
import { Tool as Hammer } from "toolbox";
import { z } from "zod";
export class Stock {
  @Tool({ name: "reserve", parameters: z.object({ sku: z.string().transform((sku) => sku.trim()) }) })
  async take({ sku }) { return sku; }
  @Tool({ description: "d", annotations: { readOnlyHint: true } })
  async count() { return 1; }
  @Resource({ uri: "mcp://stock" })
  async all() { return []; }
  @Hammer({ name: "no tool of ours" })
  async other() { return []; }
}
"#,
        &expect![[r#"
            index.ts:6 Stock.take: reserve
            index.ts:8 Stock.count: count (read-only)
            index.ts:10 Stock.all: no tool
        "#]],
    );
}

#[test]
fn decorators_announce_classes_by_the_method_that_does_the_work() {
    check(
        r#"
//- index.ts
import { Tool, ToolContext } from "@frontmcp/sdk";
import { Tool as Hammer } from "toolbox";
import { z } from "zod";
@Tool({ name: "users:delete", description: "d", inputSchema: { id: z.string() } })
export default class DeleteUser extends ToolContext {
  private check(id: string) { return id; }
  async execute(input: { id: string }) { return this.check(input.id); }
}
@Tool({ description: "d", annotations: { readOnlyHint: true } })
export class ListUsers extends ToolContext {
  async execute() { return []; }
}
@Tool({ name: "nothing" })
export class Nothing {}
@Hammer({ name: "no tool of ours" })
export class Nail {
  async execute() { return []; }
}
"#,
        &expect![[r#"
            index.ts:7 DeleteUser.execute: users:delete
            index.ts:11 ListUsers.execute: ListUsers (read-only)
        "#]],
    );
}

#[test]
fn a_decorator_of_any_library_announces_what_describes_itself_as_a_tool() {
    check(
        r#"
//- index.ts
import { ToolDecorator as Tool, ResourceDecorator as Resource } from "@nitrostack/core";
import { MCPTool } from "./decorators.js";
import { z } from "zod";
export class Flights {
  @Tool({ name: "search", description: "d", inputSchema: z.object({}) })
  async search() { return []; }
  @Resource({ uri: "flights://all" })
  async all() { return []; }
  @MCPTool("cancel")
  async cancel() { return []; }
}
//- booking.ts
import { Tool } from "agents-of-somebody";
import { z } from "zod";
export class Booking {
  @Tool({ name: "book", description: "d", parameters: z.object({}) })
  async book() { return []; }
  @Tool({ name: "no tool of ours" })
  async other() { return []; }
}
//- decorators.ts
export function MCPTool(name: string) { return () => {}; }
"#,
        &expect![[r#"
            booking.ts:5 Booking.book: book
            index.ts:6 Flights.search: search
            index.ts:8 Flights.all: no tool
            index.ts:10 Flights.cancel: cancel
        "#]],
    );
}

#[test]
fn what_stands_behind_the_handler_is_passed_by() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { tracked } from "elsewhere";
import { late } from "./late.js";
const server = new McpServer({ name: "s", version: "1" });
const hints = process.env.HINTS;
server.tool("one", "text", {}, async () => ({}), { annotations: {} });
server.tool("two", "text", {}, tracked("two", async () => ({})), hints ? { annotations: hints } : undefined);
server.tool("three", { at: z.string().transform((text) => text.trim()) }, late);
export function more(handler) {
  server.tool("four", z.string().transform((text) => text.trim()), handler);
}
more(async () => ({}));
[{ name: "five", hints: {} }, { name: "six" }].forEach((tool) => {
  server.tool(tool.name, {}, tracked(tool.name, async () => ({})), tool.hints ? { annotations: tool.hints } : undefined);
});
//- late.ts
export async function late() { return {}; }
"#,
        &expect![[r#"
            index.ts:7 module.closure: one
            index.ts:8 module.closure: two
            index.ts:13 module.closure: four
            index.ts:15 module.closure.closure: five, six
            late.ts:1 late: three
        "#]],
    );
}

#[test]
fn a_server_is_given_its_tools_where_it_is_made() {
    check(
        r#"
//- mastra.ts
import { MCPServer } from "@mastra/mcp";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { other } from "./other.js";
const add = createTool({ id: "add_note", description: "d", inputSchema: z.object({}), execute: async ({ context }) => context });
const list = createTool({ id: "list_notes", description: "d", annotations: { readOnlyHint: true }, execute: async () => [] });
export const server = new MCPServer({ name: "s", version: "1", tools: { add, list, other } });
//- other.ts
import { createTool } from "@mastra/core/tools";
export const other = createTool({ id: "other", execute: work });
async function work() { return []; }
//- sdk.ts
import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
export const server = createSdkMcpServer({
  name: "s",
  tools: [tool("put", "d", {}, async (args) => args), tool("get", "d", {}, async (args) => args)],
});
//- lite.ts
import { McpServer } from "mcp-lite";
const mcp = new McpServer({ name: "s", version: "1" });
mcp.tool("drop", { description: "d", inputSchema: {}, handler: async (args) => args });
//- box.ts
import { Box } from "toolbox";
export const box = new Box({ tools: { hammer: { execute: async () => [] } } });
"#,
        &expect![[r#"
            lite.ts:3 handler: drop
            mastra.ts:5 execute: add
            mastra.ts:6 execute: list (read-only)
            other.ts:3 work: other
            sdk.ts:4 module.closure: put
            sdk.ts:4 module.closure: get
        "#]],
    );
}
