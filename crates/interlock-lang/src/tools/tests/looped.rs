//! Tools that a loop or a helper registers on behalf of others.

use expect_test::expect;

use super::{check, check_steps};

#[test]
fn a_loop_registers_the_objects_of_a_list() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { readTool } from "./read.js";
import writeTool from "./write.js";
const tools = [readTool, writeTool, { name: "stat", config: {}, handler: async () => ({ content: [] }) }];
export function build() {
  const server = new McpServer({ name: "s", version: "1" });
  for (const tool of tools) {
    server.registerTool(tool.name, tool.config, tool.handler);
  }
  return server;
}
//- read.ts
export const readTool = { name: "read", config: { annotations: { readOnlyHint: true } }, handler: async () => ({ content: [] }) };
//- write.ts
const handler = async (args) => ({ content: [] });
export default { name: "write", config: {}, handler };
"#,
        &expect![[r#"
            index.ts:4 handler: stat
            read.ts:1 handler: read (read-only)
            write.ts:1 handler: write
        "#]],
    );
}

#[test]
fn each_of_the_values_and_entries_of_an_object_is_registered() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as tools from "./tools.js";
const server = new McpServer({ name: "s", version: "1" });
const more = { push: async () => ({ content: [] }), pull: async () => ({ content: [] }) };
Object.values(tools).forEach((tool) => server.tool(tool.name, tool.schema, tool.run));
for (const [name, handler] of Object.entries(more)) {
  server.registerTool(name, {}, handler);
}
//- tools.ts
export const one = { name: "one", schema: {}, run: async () => ({ content: [] }) };
export const two = { name: "two", schema: {}, run: async () => ({ content: [] }) };
"#,
        &expect![[r#"
            index.ts:4 push: push
            index.ts:4 pull: pull
            tools.ts:1 run: one
            tools.ts:2 run: two
        "#]],
    );
}

#[test]
fn what_a_file_passes_on_from_others_is_registered_too() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as tools from "./tools/index.js";
const server = new McpServer({ name: "s", version: "1" });
for (const tool of Object.values(tools)) {
  server.tool(tool.name, tool.schema, async (args) => tool.run(args));
}
//- tools/index.ts
export { one } from "./one.js";
export * from "./two.js";
//- tools/one.ts
export const one = { name: "one", schema: {}, run: async () => ({ content: [] }) };
const own = { name: "own", schema: {}, run: async () => ({ content: [] }) };
//- tools/two.ts
export * from "./index.js";
export const two = { name: "two", schema: {}, run: async () => ({ content: [] }) };
export default { name: "three", schema: {}, run: async () => ({ content: [] }) };
"#,
        &expect![[r#"
            index.ts:5 module.closure: one
            index.ts:5 module.closure: two
        "#]],
    );
}

#[test]
fn helpers_register_for_their_callers_also_through_each_other() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "s", version: "1" });
function define(name: string, handler: Handler, readOnly = false) {
  server.registerTool(name, { annotations: { readOnlyHint: true } }, handler);
}
function defineAll(group: string, handlers: { get: Handler; put: Handler }) {
  define(`${group}_get`, handlers.get);
  define(`${group}_put`, handlers.put);
}
define("ping", async () => ({ content: [] }));
defineAll("user", { get: async () => ({ content: [] }), put: async () => ({ content: [] }) });
defineAll("team", { get: async () => ({ content: [] }), put: putTeam });
async function putTeam() { return { content: [] }; }
"#,
        &expect![[r#"
            index.ts:13 putTeam: team_put (read-only)
            index.ts:10 module.closure: ping (read-only)
            index.ts:11 get: user_get (read-only)
            index.ts:11 put: user_put (read-only)
            index.ts:12 get: team_get (read-only)
        "#]],
    );
}

#[test]
fn a_base_class_registers_for_the_classes_that_extend_it() {
    check(
        r#"
//- base.ts
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
export abstract class Tool {
  abstract name: string;
  abstract execute(args: unknown): Promise<unknown>;
  register(server: McpServer) {
    server.registerTool(this.name, {}, async (args) => this.execute(args));
    server.registerTool(`${this.name}_again`, {}, this.execute.bind(this));
  }
}
//- find.ts
import { Tool } from "./base.js";
export class Find extends Tool {
  name = "find";
  async execute(args: unknown) { return {}; }
}
//- insert.ts
import { Tool } from "./base.js";
export class Insert extends Tool {
  get name() { return "insert"; }
  async execute(args: unknown) { return {}; }
}
"#,
        &expect![[r#"
            base.ts:6 Tool.register.closure: find, insert
            find.ts:4 Find.execute: find_again
            insert.ts:4 Insert.execute: insert_again
        "#]],
    );
}

#[test]
fn lists_that_are_filled_bit_by_bit_and_objects_that_a_function_defines() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { allTools } from "./tools.js";
const server = new McpServer({ name: "s", version: "1" });
for (const tool of allTools()) {
  server.registerTool(tool.name, { annotations: tool.annotations }, async (args) => tool.run(args));
}
//- tools.ts
function define(tool) {
  if (typeof tool === "function") return () => tool();
  return { ...tool, scoped: true };
}
const extra = [define({ name: "third", run: async () => ({}) })];
export function allTools() {
  const tools = [define({ name: "first", annotations: { readOnlyHint: true }, run: async () => ({}) })];
  tools.push(define({ name: "second", run: async () => ({}) }));
  for (const one of extra) {
    tools.push(one);
  }
  return tools;
}
"#,
        &expect![[r#"
            index.ts:5 module.closure: first (read-only), second, third
        "#]],
    );
}

#[test]
fn tools_of_classes_whose_names_are_nowhere_to_be_read_are_called_by_their_class() {
    let tree = r#"
//- base.ts
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
export abstract class Base {
  readonly name: string;
  constructor(options: Options) { this.name = options.name; }
  register(server: McpServer) {
    server.registerTool(this.name, {}, async (args) => this.invoke(args));
  }
  async invoke(args) { return await this.execute(args); }
  abstract execute(args: unknown): Promise<unknown>;
}
//- tools.ts
import { Base } from "./base.js";
let count = 0;
export class Find extends Base {
  static toolName = "find";
  async execute(args) { count = 1; return {}; }
}
export class Insert extends Base {
  async execute(args) { count = 2; return {}; }
}
"#;
    check(
        tree,
        &expect![[r#"
        base.ts:6 Base.register.closure: find, Insert
    "#]],
    );
    check_steps(
        tree,
        "invoke",
        &expect![[r#"
        8     fn Base.invoke(args), async
        8       check is "find"
                then
        8         result.3 = call Find.execute(args) on this
                else
        8         check is "Insert"
                  then
        8           result.2 = call Insert.execute(args) on this
        8       execute = derived from result.3, result.2
        8       suspend
        8       return execute
        tools.ts
    "#]],
    );
}

#[test]
fn a_helper_is_found_by_whatever_name_it_is_called() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as helpers from "./helpers.js";
export const server = new McpServer({ name: "s", version: "1" });
class Registry {
  static add(name: string, run: Run) { server.registerTool(name, {}, run); }
}
const own = { put: (name: string, run: Run) => server.registerTool(name, {}, run) };
const all = { ...own };
function define(name: string, run: Run) { server.registerTool(name, {}, run); }
const short = { define };
const lists: any = {};
lists.keep = (name: string, run: Run) => server.registerTool(name, {}, run);
helpers.enlist("one", async () => ({ content: [] }));
Registry.add("two", async () => ({ content: [] }));
all.put("three", async () => ({ content: [] }));
short.define("four", async () => ({ content: [] }));
lists.keep("five", async () => ({ content: [] }));
short.nobody("six", async () => ({ content: [] }));
//- helpers.ts
import { server } from "./index.js";
export function enlist(name: string, run: Run) { server.registerTool(name, {}, run); }
"#,
        &expect![[r#"
            index.ts:13 module.closure: one
            index.ts:14 module.closure: two
            index.ts:15 module.closure: three
            index.ts:16 module.closure: four
            index.ts:17 module.closure: five
        "#]],
    );
}

#[test]
fn tools_that_come_from_nowhere_are_those_that_look_like_them() {
    check(
        r#"
//- server.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { pick } from "tool-filter";
import { collections } from "./collections";
const server = new McpServer({ name: "s", version: "1" });
pick(collections).forEach((collection) => {
  const tools = collection.tools();
  tools.forEach((tool) => {
    server.registerTool(tool.title, { description: tool.description, inputSchema: tool.input }, tool.work);
  });
});
//- collections.ts
import { decorate } from "tool-filter";
import { makeRemove } from "./remove";
const Get = {
  title: "get",
  description: "reads",
  input: {},
  annotations: { readOnlyHint: true },
  work: async (args) => ({}),
};
export const collections = [decorate(Get), decorate(removers())];
export function removers() {
  const remove = makeRemove();
  return { remove: { title: "remove", description: "removes", work: remove }, other: { title: "no tool", work: remove } };
}
export const command = { title: "serve", work: async () => {} };
//- remove.ts
export function makeRemove() {
  return async function remove(args) { return {}; };
}
"#,
        &expect![[r#"
            collections.ts:8 work: get (read-only)
            remove.ts:2 remove: remove
        "#]],
    );
}

#[test]
fn a_loop_over_descriptions_looks_up_what_does_the_work() {
    check_steps(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { handlers } from "./handlers.js";
const definitions = [{ name: "read" }, { name: "write" }];
export function register(server: McpServer) {
  for (const definition of definitions) {
    const name = definition.name;
    server.registerTool(name, {}, async (args) => {
      const handler = handlers[name];
      if (!handler) throw new Error("unknown");
      return handler(args);
    });
  }
}
//- handlers.ts
import { more } from "./more.js";
export const handlers = { read: async (args) => ({ content: [] }), ...more };
//- more.ts
export const more = { write: async (args) => ({ content: [] }) };
"#,
        "fn register.closure",
        &expect![[r#"
            7     fn register.closure(args) with name handles read handles write, async
            8       handler = read shared ::handlers.ts::handlers[name]
            9       check handler
                    else
            9         throw
            10      check is "read"
                    then
            10        result.5 = call read(args)
                    else
            10        check is "write"
                      then
            10          result.4 = call write(args)
            10      handler.2 = derived from result.5, result.4
            10      return handler.2
            more.ts
        "#]],
    );
}

#[test]
fn tools_that_nobody_can_name_are_those_that_describe_themselves() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { cached, run } from "./cache.js";
const server = new McpServer({ name: "s", version: "1" });
for (const tool of cached()) {
  const options: Record<string, unknown> = { description: tool.description };
  server.registerTool(tool.name, options, async (args) => run(tool.name, args));
}
//- cache.ts
import { noteTools } from "./notes.js";
import { all } from "./all.js";
let map: Map<string, any> | null = null;
const fill = () => { map = new Map([...noteTools(), ...all].map((tool) => [tool.name ?? tool.tool.name, tool])); };
export const cached = () => { fill(); return Array.from(map!.values()).filter((tool) => process.env[tool.name]); };
export const run = async (name: string, args: unknown) => map!.get(name).handler(args);
//- notes.ts
import { z } from "zod";
const Add = z.object({ text: z.string() });
export function noteTools() {
  return [
    { name: "add_note", description: "d", inputSchema: Add, handler: async (args) => args },
    { name: "list_notes", description: "d", inputSchema: {}, annotations: { readOnlyHint: true }, handler: async () => [] },
    { name: "no work", description: "d", inputSchema: {} },
    { name: "command", description: "d", action: async () => [] },
  ];
}
//- all.ts
const Drop = { name: "drop", description: "d", inputSchema: {} };
const Odd = { name: "odd" };
async function drop(args) { return args; }
async function odd(args) { return args; }
export const all = [{ tool: Drop, handler: drop }, { tool: Odd, handler: odd }];
"#,
        &expect![[r#"
            all.ts:3 drop: drop
            index.ts:6 module.closure: module.closure
            notes.ts:5 handler: add_note
            notes.ts:6 handler: list_notes (read-only)
        "#]],
    );
}
