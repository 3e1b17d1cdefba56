//! A class per tool: `class Add extends MCPTool { name = "add"; async execute(input) { … } }`.

use interlock_model::ir::Root;

use super::{env::Thing, found::Found, look::FUEL, register::is_mcp};

/// Makes the methods of such classes handlers.
pub(super) fn tools(found: &mut Found<'_, '_>) {
    let index = found.index;
    for number in 0..index.input.classes.len() {
        let Some(base) = index.line(number).last().and_then(|class| class.bases.first()) else { continue };
        let Root::Global(base) = &base.root else { continue };
        let Some((library, base)) = base.rsplit_once("::") else { continue };
        if index.is_file(library) || !is_mcp(library) {
            continue;
        }
        let work = |method: &str| index.class_at(number).and_then(|_| index.method(number, method));
        match base {
            "MCPTool" => {
                let Some(function) = work("execute") else { continue };
                // A class between the base and the tools has no name of its own and is no tool.
                if let Thing::Text(name) = index.name_in(&Thing::This(number)) {
                    let tool = index.tool(name, &index.member(Thing::This(number), "annotations", FUEL));
                    found.serve(function, tool);
                }
            }
            "MCPResource" => work("read").into_iter().for_each(|function| found.entry(function)),
            "MCPPrompt" => work("generateMessages").into_iter().for_each(|function| found.entry(function)),
            _ => {}
        }
    }
}
