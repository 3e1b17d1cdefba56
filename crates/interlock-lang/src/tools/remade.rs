//! Tools that are made of other tools: `Tool.from_tool(add, name="add_checked", transform_fn=checked)`.
//!
//! The new one runs the old one, or a function in its place that may hand the call on; so both are looked at under the new name. One that
//! is not named anew is the old one with other words.

use super::{
    AbstractValue, Context, Unbound,
    discovery::Discovery,
    index::Index,
    mounted,
    register::{made_by_registration, named_by},
};
use crate::{module::Site, tables::Remakes};

/// How many tools may be made of each other.
const TOOLS: usize = 4;

/// A tool that is made of the one that a call is handed.
pub(super) fn tool<'i>(discovery: &mut Discovery<'_, 'i>, site: &'i Site, remakes: &Remakes) {
    let index = discovery.index;
    let option = |name: &str| site.arguments.iter().find_map(|arg| arg.member(name));
    let Some(old) = option(&remakes.tool).or_else(|| site.arguments.first()) else { return };
    let by = option(&remakes.by);
    let ways = index.caller_contexts(site.within, |at| {
        let given = site.arguments.iter().map(|arg| index.settle(index.evaluate(arg, at)).unbound());
        given.flatten().collect::<Vec<Unbound>>()
    });
    for env in ways {
        let at = Context { function: site.within, env };
        let options = site.arguments.iter().map(|arg| index.evaluate(arg, &at));
        let options: Vec<AbstractValue<'i>> = options.collect();
        let beside = options.get(1..).filter(|beside| !beside.is_empty()).unwrap_or(&options);
        let old = work_of(index, index.evaluate(old, &at));
        let old = discovery.functions(&old);
        let by = by.map_or_else(Vec::new, |by| discovery.functions(&index.evaluate(by, &at)));
        let named = match named_by(index, beside) {
            Some(named) => named,
            None => match (old.first(), by.is_empty()) {
                (Some(old), false) => discovery.called_like(*old),
                _ => continue,
            },
        };
        let ways = mounted::ways_of(index, site, &at);
        for function in old.into_iter().chain(by) {
            discovery.serve_under(function, Some(&named), &ways, beside);
        }
    }
}

/// What does the work of a tool that is kept in a variable: what it was made of.
fn work_of<'i>(index: &Index<'i>, mut tool: AbstractValue<'i>) -> AbstractValue<'i> {
    for _ in 0..TOOLS {
        let AbstractValue::Call(number, at) = &tool else { break };
        let Some(site) = index.site(*number).filter(|_| made_by_registration(index, &tool)) else { break };
        let Some(arg) = site.arguments.first() else { break };
        tool = index.evaluate(arg, &at.go(site.within));
    }
    tool
}
