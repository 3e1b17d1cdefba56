//! Decorators that a tree defines itself.

use expect_test::expect;

use super::check;

#[test]
fn a_decorator_of_the_tree_registers_by_what_it_does() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "points", version: "1" });
const registry: { name: string; run: (args: unknown) => unknown }[] = [];
function expose(name: string) {
  return (_: object, key: string, descriptor: PropertyDescriptor) => {
    registry.push({ name: name ?? key, run: descriptor.value });
  };
}
function offered(options: { title: string }) {
  return function (work, context) { registry.push({ name: context.name, run: work }); };
}
function logged(name: string) {
  return (_: object, key: string, descriptor: PropertyDescriptor) => { console.log(name, key); };
}
export class Points {
  @expose("add_point")
  async add({ point }) { return point; }
  @logged("drop")
  @expose("drop_point")
  async drop({ point }) { return point; }
  @offered({ title: "All points" })
  async all() { return []; }
  @logged("no tool")
  async other() { return []; }
}
for (const tool of registry) server.registerTool(tool.name, {}, tool.run);
"#,
        &expect![[r#"
            index.ts:17 Points.add: add_point
            index.ts:20 Points.drop: drop_point
            index.ts:22 Points.all: all
        "#]],
    );
}

#[test]
fn a_decorator_of_the_tree_keeps_handlers_in_a_map() {
    check(
        r#"
//- decorators.ts
export const tools = new Map<string, { handler: Function }>();
export function command(options: { name: string; description: string }) {
  return function (target: any, key: string, descriptor: PropertyDescriptor) {
    tools.set(options.name, { handler: target[key] });
    return descriptor;
  };
}
//- points.ts
import { command } from "./decorators.js";
export class Points {
  @command({ name: "add_point", description: "adds one" })
  async add({ point }) { return point; }
}
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { tools } from "./decorators.js";
import "./points.js";
const server = new McpServer({ name: "points", version: "1" });
for (const [name, tool] of tools) server.registerTool(name, {}, (args) => tool.handler(args));
"#,
        &expect![[r#"
            index.ts:5 module.closure: add_point
        "#]],
    );
}

#[test]
fn a_registry_is_what_is_put_into_it_wherever_that_is_written() {
    check(
        r#"
//- index.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "points", version: "1" });
const registry: { name: string; run: (args: unknown) => unknown }[] = [];
const more = new Map<string, { run: (args: unknown) => unknown }>();
function add(name, run) { registry.push({ name, run }); }
function keep(name, run) { more.set(name, { run }); }
add("one", async () => 1);
add("two", async () => 2);
keep("three", async () => 3);
for (const tool of registry) server.registerTool(tool.name, {}, tool.run);
for (const [name, tool] of more) server.registerTool(name, {}, tool.run);
"#,
        &expect![[r#"
            index.ts:7 module.closure: one
            index.ts:8 module.closure: two
            index.ts:9 module.closure: three
        "#]],
    );
}
