//! Tools that classes are written for: a class per tool, `class Add extends MCPTool { name = "add"; async execute(input) { … } }`, and a
//! method per tool, `@Tool({ name: "add" }) async add(input) { … }`.

use interlock_model::ir::Root;

use super::{
    env::{At, Thing},
    found::Found,
    look::FUEL,
    register::is_mcp,
};
use crate::typescript::{module::Decorated, split_global};

/// Makes the methods of such classes handlers.
pub(super) fn tools(found: &mut Found<'_, '_>) {
    let index = found.index;
    for number in 0..index.input.classes.len() {
        let Some(base) = index.line(number).last().and_then(|class| class.extends.as_ref()) else { continue };
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

/// Makes the methods handlers that a decorator makes tools of.
pub(super) fn methods(found: &mut Found<'_, '_>) {
    let index = found.index;
    for decorated in index.input.classes.iter().flat_map(|class| &class.decorated) {
        let Decorated { by, told, method, within } = decorated;
        let Root::Global(by) = &by.root else { continue };
        // Frameworks for agents have such decorators as well, and their tools are called in the process itself.
        if !split_global(by).is_some_and(|(library, _)| !index.is_file(library) && library.contains("mcp")) {
            continue;
        }
        let told = told.as_ref().map(|told| index.settle(index.look(told, &At::plain(*within), FUEL), FUEL));
        let told = told.unwrap_or(Thing::Unknown);
        let named = told.text().cloned().or_else(|| index.name_in(&told).text().cloned());
        let own = || found.name_of(*method).rsplit('.').next().unwrap_or("tool").into();
        let tool = index.tool_in(named.unwrap_or_else(own), &told);
        found.serve(*method, tool);
    }
}
