//! Tools that a handler looks up by name, and that something else calls.

use super::{check, check_steps};
use expect_test::expect;

#[test]
fn what_was_looked_up_by_name_is_called_in_a_closure_or_by_a_helper() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const tools = { add: { run: add }, drop: { run: drop } };
async function add(args) { return args; }
async function drop(args) { return args; }
async function timed(work) { return await work(); }
async function execute(tool, args) { const { run } = tool; return await timed(() => run(args)); }
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = tools[request.params.name];
  const args = request.params.arguments;
  return await timed(() => execute(tool, args));
});
"#,
        &expect![[r#"
            index.ts:9 module.closure: module.closure
        "#]],
    );
}

#[test]
fn tools_are_set_in_an_object_under_names_of_their_own() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
const tools = {};
function define(tool) { tools[tool.name] = tool; }
define({ name: "add", handler: async (args) => args });
define({ name: "drop", handler: async (args) => args });
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = tools[request.params.name];
  return await tool.handler(request.params.arguments);
});
"#,
        &expect![[r#"
            index.ts:8 module.closure: add, drop
        "#]],
    );
}

#[test]
fn the_list_that_is_looked_into_is_what_callers_hand_over() {
    check(
        r#"
//- actions.ts
const send = { name: "send", run: async (input) => input };
const list = { name: "list", run: async (input) => input };
export const ACTIONS = [send, list];
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { ACTIONS } from "./actions.js";
async function start(actions) {
  const server = new Server({ name: "s", version: "1" }, {});
  server.setRequestHandler(CallToolRequestSchema, async (request) => {
    const action = actions.find((action) => action.name === request.params.name);
    return await action.run(request.params.arguments);
  });
}
start(ACTIONS);
"#,
        &expect![[r#"
            index.ts:6 start.closure: send, list
        "#]],
    );
}

#[test]
fn what_a_tool_has_from_a_class_that_it_extends_goes_on_to_what_is_its_own() {
    check_steps(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
abstract class Base {
  async execute(args) { return await this.work(args); }
}
class Add extends Base { name = "add"; async work(args) { return args; } }
class Drop extends Base { name = "drop"; async work(args) { return args; } }
const tools = [new Add(), new Drop()];
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const tool = tools.find((tool) => tool.name === request.params.name);
  return await tool.execute(request.params.arguments);
});
"#,
        "Base.execute",
        &expect![[r#"
            4     fn Base.execute(args), async
            4       check is "add"
                    then
            4         result.3 = call Add.work(args) on this
                    else
            4         check is "drop"
                      then
            4           result.2 = call Drop.work(args) on this
            4       work = derived from result.3, result.2
            4       suspend
            4       return work
        "#]],
    );
}

#[test]
fn a_constant_names_what_is_kept_in_a_table() {
    check(
        r#"
//- names.ts
export const NAMES = { ADD: "add", DROP: "drop" } as const;
export enum Tool { List = "list" }
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { NAMES, Tool } from "./names.js";
async function add(args) { return args; }
async function drop(args) { return args; }
async function list(args) { return args; }
const handlers = { [NAMES.ADD]: add, [NAMES.DROP]: drop, [Tool.List]: list };
const server = new Server({ name: "s", version: "1" }, {});
server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const handler = handlers[request.params.name];
  return await handler(request.params.arguments);
});
"#,
        &expect![[r#"
            index.ts:9 module.closure: add, drop, list
        "#]],
    );
}
