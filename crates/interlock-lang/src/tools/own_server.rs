//! Servers that a tree writes itself: a class that answers `tools/call` by hand and has methods of its own to register.
//!
//! ```text
//! class Server:
//!     def tool(self, name):
//!         def register(function):
//!             self.tools[name] = {"function": function}
//!             return function
//!         return register
//!     def handle(self, request):
//!         if request["method"] == "tools/call":
//!             return self.tools[request["params"]["name"]]["function"]()
//!
//! @server.tool("add")                 # registers
//! def add(): …
//! ```
//!
//! What such a method does with what it is handed is not followed: that it is a method of the class that answers, and goes by a name that
//! registers, says enough. Where `dispatch` has followed the table to its functions, they are served already and nothing is added here.

use interlock_model::ir::{FunctionId, Name};

use super::{
    AbstractValue, Context, call_kind::CallKind, discovery::Discovery, index::Index, mounted, split_method,
};
use crate::{Arg, Shape, module::Site, tables::Registers};

/// Makes what is handed to such methods tools.
pub(super) fn tools(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    if index.by_hand().is_empty() {
        return;
    }
    // Of a class whose table was followed, all that is registered is known.
    let answering: Vec<u32> =
        index.by_hand().iter().copied().filter(|function| !discovery.tells_tools_apart(*function)).collect();
    for (_, site) in index.calls_that(CallKind::REGISTERS) {
        let method = site.callee.as_ref().and_then(split_method).map(|(method, _)| method);
        let registers = method.and_then(|method| index.sdk().call.get(method)).map(|call| call.registers);
        let is_tool = matches!(
            registers,
            Some(Registers::Function | Registers::Tool | Registers::Described | Registers::Object)
        );
        if is_tool && is_of_answering_class(index, site, &answering) {
            register(discovery, site);
        }
    }
}

/// Whether a call reaches a method of a class that answers `tools/call`, itself or by a class above or below it.
fn is_of_answering_class<'i>(index: &Index<'i>, site: &'i Site, answering: &[u32]) -> bool {
    let class_of = |function: u32| index.class(index.owner(function)?);
    let Some(own) = index.target(site).and_then(class_of) else { return false };
    let is_related = |other: usize| {
        own == other || index.descendants(own).contains(&other) || index.descendants(other).contains(&own)
    };
    answering.iter().filter_map(|answering| class_of(*answering)).any(is_related)
}

/// Serves what one call registers, under the first text that it is handed beside it.
fn register<'i>(discovery: &mut Discovery<'_, 'i>, site: &'i Site) {
    let index = discovery.index;
    // A list that is gone over, or a method that registers for others, says per caller what is handed over.
    let ways = index.caller_contexts(site.within, |at| {
        site.arguments
            .iter()
            .filter_map(|arg| index.settle(index.evaluate(arg, at)).unbound())
            .collect::<Vec<_>>()
    });
    for env in ways {
        let at = Context { function: site.within, env };
        let Some((position, work)) = work_of(index, site, &at) else { continue };
        let functions = discovery.functions(&work);
        let beside = site.arguments.iter().enumerate().filter(|(other, _)| *other != position);
        let beside: Vec<AbstractValue<'i>> = beside.map(|(_, arg)| index.evaluate(arg, &at)).collect();
        let named: Option<Name> =
            beside.iter().find_map(|thing| index.text(thing.clone()).text().cloned()).or_else(|| {
                beside.iter().chain([&work]).find_map(|object| index.name_in(object).text().cloned())
            });
        let ways = mounted::ways_of(index, site, &at);
        for function in
            functions.into_iter().filter(|function| !discovery.serves_inside(*function)).collect::<Vec<_>>()
        {
            discovery.serve_under(function, named.as_ref(), &ways, &beside);
            discovery.called_by_tree.push(FunctionId(function));
        }
    }
}

/// What does the work among the arguments: a function, or an object that has one. The last of several, as a name and options stand before it.
fn work_of<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<(usize, AbstractValue<'i>)> {
    let things = || {
        let thing = |(position, arg): (usize, &'i Arg)| (position, index.evaluate(arg, at));
        site.arguments
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, arg)| !matches!(arg.shape, Shape::Null))
            .map(thing)
    };
    let is_function =
        |thing: &AbstractValue<'i>| matches!(index.settle(thing.clone()), AbstractValue::Function(..));
    let is_object = |thing: &AbstractValue<'i>| {
        matches!(index.settle(thing.clone()), AbstractValue::Object(..) | AbstractValue::Instance(..))
            && matches!(index.settle(index.work_in(thing)), AbstractValue::Function(..))
    };
    things().find(|(_, thing)| is_function(thing)).or_else(|| things().find(|(_, thing)| is_object(thing)))
}
