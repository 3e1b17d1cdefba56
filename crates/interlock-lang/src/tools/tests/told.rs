//! Registries of one's own, of which a user tells in `interlock.toml`.

use expect_test::{Expect, expect};

use super::{check_program, linked_with};

fn check(tables: &str, tree: &str, expected: &Expect) {
    check_program(&linked_with(tables, tree), expected);
}

const COMMANDS: &str = r#"
//- commands.ts
import { defineCommand } from "./registry.js";
defineCommand("add", { description: "adds" }, async (args) => args.a);
defineCommand("drop", {}, dropAll);
async function dropAll(args) { return args; }
//- registry.ts
const commands: unknown[] = [];
export function defineCommand(...command: unknown[]) { commands.push(JSON.stringify(command)); }
"#;

#[test]
fn a_registry_that_nobody_knows_registers_nothing() {
    check("", COMMANDS, &expect![""]);
}

#[test]
fn a_function_of_the_tree_registers_tools_where_the_user_says_so() {
    check(
        "[tools.call]\ndefineCommand = { registers = \"tool\", own = true }",
        COMMANDS,
        &expect![[r#"
            commands.ts:4 dropAll: drop
            commands.ts:2 module.closure: add
        "#]],
    );
}

#[test]
fn a_decorator_announces_tools_where_the_user_says_so() {
    let tree = r#"
//- add.ts
import { ShopTool } from "@shop/mcp";
export class Shop {
  @ShopTool({ name: "buy" })
  async buy(args) { return args; }
}
"#;
    check("", tree, &expect![""]);
    check(
        "[tools.decorator]\nShopTool = \"tool\"",
        tree,
        &expect![[r#"
        add.ts:4 Shop.buy: buy
    "#]],
    );
}

#[test]
fn an_object_says_its_work_by_a_word_that_the_user_adds() {
    let tree = r#"
//- add.ts
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
const server = new McpServer({ name: "s", version: "1" });
server.addTool({ name: "buy", perform: async (args) => args });
"#;
    check(
        "[tools.object]\nwork = [\"perform\"]",
        tree,
        &expect![[r#"
        add.ts:3 perform: buy
    "#]],
    );
}
