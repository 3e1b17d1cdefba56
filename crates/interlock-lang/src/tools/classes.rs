//! A class per tool: `class Add extends MCPTool { name = "add"; async execute(input) { … } }`.

use interlock_model::ir::Root;

use super::{AbstractValue, discovery::Discovery};
use crate::tables::Registers;

/// Makes the methods of such classes handlers.
pub(super) fn tools(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    for number in 0..index.eval.flat.classes.len() {
        let Some(base) = index.ancestry(number).last().and_then(|class| class.bases.first()) else {
            continue;
        };
        let Root::Global(base) = &base.root else { continue };
        let Some((library, base)) = base.rsplit_once("::") else { continue };
        if index.eval.names.contains(library) || !index.sdk().is_sdk(library) {
            continue;
        }
        let Some(known) = index.sdk().class.get(base) else { continue };
        let Some(function) = index.method(number, &known.work) else { continue };
        match known.registers {
            Registers::Tool | Registers::Object | Registers::Function | Registers::Described => {
                // A class between the base and the tools has no name of its own and is no tool.
                if let AbstractValue::Text(name) = index.name_in(&AbstractValue::of_class(number)) {
                    let annotations = &index.sdk().object.annotations;
                    let tool = index.tool(name, &index.member(AbstractValue::of_class(number), annotations));
                    discovery.serve(function, tool);
                }
            }
            Registers::Request | Registers::Entry | Registers::Calls | Registers::Lists => {
                discovery.entry(function)
            }
        }
    }
}
