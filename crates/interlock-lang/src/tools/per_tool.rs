//! One closure that is registered as many tools, and goes elsewhere for each: `for (const tool of tools) server.registerTool(tool.name,
//! {}, (args) => run(tool, args))`.

use interlock_model::ir::{FunctionId, Name};

use super::{AbstractValue, Assumed, Context, Dispatch, Env, discovery::Discovery};

/// How deep calls are followed from the closure.
const DEPTH: usize = 4;

/// How many functions are looked at for one tool.
const FUNCTIONS: usize = 100;

/// Notes where the calls of a handler go for one of its tools, if that depends on the tool.
pub(super) fn calls<'i>(
    discovery: &mut Discovery<'_, 'i>,
    work: &AbstractValue<'i>,
    at: &Context<'i>,
    tool: &Name,
) {
    let AbstractValue::Function(FunctionId(function), _) = discovery.index.settle(work.clone()) else {
        return;
    };
    let mut pending = vec![(at.go(function), DEPTH)];
    let mut seen = vec![];
    while let Some((at, depth)) = pending.pop() {
        if seen.contains(&at.function) || seen.len() >= FUNCTIONS {
            continue;
        }
        seen.push(at.function);
        for closure in discovery.index.closures(at.function) {
            pending.push((at.go(*closure), depth));
        }
        let Some(depth) = depth.checked_sub(1) else { continue };
        for number in discovery.index.inside(at.function) {
            pending.extend(call(discovery, *number, &at, tool).map(|at| (at, depth)));
        }
    }
}

/// Notes the same of a method of a tool that is an object of a class: what it has from a class that it extends goes on to what is its own.
pub(super) fn inherited(discovery: &mut Discovery<'_, '_>, method: u32, class: usize, tool: &Name) {
    let index = discovery.index;
    let base = index.owner(method).and_then(|owner| index.class(owner)).filter(|base| *base != class);
    if let Some(base) = base {
        let at = Context { function: method, env: Env::default().with_this(base, class) };
        calls(discovery, &AbstractValue::Function(FunctionId(method), at.env.clone()), &at, tool);
    }
}

/// Notes where a call goes. Answers with the function that it reaches in any case, to go on there.
fn call<'i>(
    discovery: &mut Discovery<'_, 'i>,
    number: u32,
    at: &Context<'i>,
    tool: &Name,
) -> Option<Context<'i>> {
    let index = discovery.index;
    let site = index.site(number)?;
    let target = match index.path(site.callee.as_ref()?, at) {
        AbstractValue::Function(FunctionId(target), _) => target,
        _ => return site.function.map(|function| at.go(function)),
    };
    if index.target(site).is_none() {
        let dispatch = discovery.dispatches.entry(number).or_insert_with(|| Dispatch {
            site: number,
            on: None,
            ways: vec![],
        });
        if !dispatch.ways.iter().any(|(known, _)| known == tool) {
            dispatch.ways.push((tool.clone(), FunctionId(target)));
        }
        return None;
    }
    let parameters = index.unit(target)?.function.parameters.iter().copied();
    let arguments = site.arguments.iter().map(|arg| Assumed::Arg(arg, site.within));
    Some(Context { function: target, env: at.env.with(target, parameters.zip(arguments).collect()) })
}
