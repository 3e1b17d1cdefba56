//! A name that is asked for together with something else, or one of several names.

use expect_test::expect;

use super::check;

#[test]
fn a_name_beside_the_method() {
    check(
        r#"
//- index.ts
import { add, drop } from "./work.js";

function handle(line) {
  const parsed = JSON.parse(line);
  if (parsed.method === "initialize") process.stdout.write("{}");
  else if (parsed.method === "tools/call" && parsed.params.name === "add") add(parsed.params.arguments);
  else if (parsed.params.name === "drop" && parsed.method === "tools/call") drop(parsed.params.arguments);
}
process.stdin.on("data", handle);
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:3 handle: add, drop
        "#]],
    );
}

#[test]
fn one_of_several_names() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  if (name === "add" || name === "plus") return add(args);
  if (["drop", "minus"].includes(name)) return drop(args);
  if (name !== "list" && name !== "show") throw new Error("unknown");
  return {};
});
//- work.ts
export async function add(args) { return {}; }
export async function drop(args) { return {}; }
"#,
        &expect![[r#"
            index.ts:6 module.closure: add, plus, drop, minus, list, show
        "#]],
    );
}

#[test]
fn what_else_is_compared_is_no_tool() {
    check(
        r#"
//- index.ts
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { add, drop } from "./work.js";
const server = new Server({ name: "s", version: "1" }, { capabilities: { tools: {} } });

server.setRequestHandler(CallToolRequestSchema, async (request) => {
  const { name, arguments: args } = request.params;
  if (name === "add" && args.mode === "fast") return add(args);
  if (args.kind === "one" || args.kind === "two") return drop(args);
  if (["red", "blue"].includes(args.colour)) return drop(args);
  if (name === "drop" || args.mode === "slow") return drop(args);
  return {};
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
