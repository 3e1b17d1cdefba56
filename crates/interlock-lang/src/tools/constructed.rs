//! Tools that a server is given where it is made: `new MCPServer({ tools: { add } })`, `createSdkMcpServer({ tools: [tool("add", …)] })`.

use interlock_model::ir::{AccessPath, Name, Root};

use super::{AbstractValue, Context, discovery::Discovery, dispatch, index::Index};
use crate::{
    Arg, Shape,
    module::{Site, split_global},
    tables::Registers,
};

/// Whether a call has a library make something of MCP, and hands it tools.
pub(super) fn is_given(index: &Index<'_>, site: &Site) -> bool {
    let of_mcp = match &site.callee {
        Some(AccessPath { root: Root::Global(name), fields }) if fields.is_empty() => {
            let own = split_global(name).is_some_and(|(library, _)| index.eval.names.contains(library));
            !own && index.sdk().has_word(name)
        }
        _ => false,
    };
    let given = &index.sdk().given;
    let is_handler = |name: &Name| given.handlers.contains_key(&**name);
    let has_tools = |arg: &Arg| match &arg.shape {
        Shape::Object(members) => members.iter().any(|(name, _)| **name == *given.member || is_handler(name)),
        _ => false,
    };
    of_mcp && site.arguments.iter().any(has_tools)
}

/// Registers them.
pub(super) fn tools<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, site: &'i Site) {
    let index = discovery.index;
    let at = Context::plain(site.within);
    for given in &site.arguments {
        if let Shape::Object(members) = &given.shape {
            members.iter().for_each(|(member, work)| handler(discovery, site, member, work));
        }
        let tools = index.member(index.evaluate(given, &at), &index.sdk().given.member);
        // `tools: async () => ({ … })`: they are what it answers with.
        let tools = match index.settle(tools.clone()) {
            AbstractValue::Function(function, env) => index.returned(function.0, &env),
            _ => tools,
        };
        for (key, thing) in index.elements(&tools) {
            tool(discovery, number, key, &thing);
        }
    }
}

/// A handler of all tools: `Server("tasks", on_call_tool=answer)`.
fn handler<'i>(discovery: &mut Discovery<'_, 'i>, site: &'i Site, member: &str, work: &'i Arg) {
    let index = discovery.index;
    let Some(registers) = index.sdk().given.handlers.get(member) else { return };
    let work = index.evaluate(work, &Context::plain(site.within));
    for function in discovery.functions(&work) {
        match registers {
            Registers::Calls => dispatch::calls(discovery, function),
            Registers::Lists => {
                dispatch::lists(discovery, function);
                discovery.entry(function);
            }
            _ => discovery.entry(function),
        }
    }
}

/// One of them: an object, or what a library makes of one, or of a name and a function.
fn tool<'i>(discovery: &mut Discovery<'_, 'i>, number: u32, key: Option<Name>, thing: &AbstractValue<'i>) {
    let index = discovery.index;
    let settled = index.settle(thing.clone());
    let (object, work) = match &settled {
        AbstractValue::Call(made, at) => {
            let Some(site) = index.site(*made) else { return };
            let at = at.go(site.within);
            let look = |arg: &'i Arg| index.evaluate(arg, &at);
            match site.arguments.split_first() {
                Some((object @ Arg { shape: Shape::Object(_), .. }, _)) => {
                    let object = look(object);
                    let work = index.work_in(&object);
                    (object, work)
                }
                Some((name, rest)) => (look(name), rest.last().map_or(AbstractValue::Unknown, look)),
                None => return,
            }
        }
        AbstractValue::Object(..) | AbstractValue::Instance(..) => (settled.clone(), index.work_in(&settled)),
        AbstractValue::Function(..) => (AbstractValue::Unknown, settled.clone()),
        _ => return,
    };
    if discovery.functions(&work).is_empty() {
        return;
    }
    let said = || {
        let own = [index.text(object.clone()), index.name_in(&object)];
        let id = || index.text(index.member(object.clone(), "id")).text().cloned();
        own.iter().find_map(AbstractValue::text).cloned().or_else(id)
    };
    let name = key.or_else(said);
    discovery.handler(number, &work, name, |name| index.tool_in(name, &object));
}
