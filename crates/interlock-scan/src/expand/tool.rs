//! One tool of a handler that answers for many: the ways that its dispatch takes for the other names are not followed.
//!
//! Whoever leads from the handler to the dispatch is expanded once for each tool, so that a handler of fifty tools does not have to
//! hold all fifty at once.

use std::sync::{Arc, OnceLock};

use interlock_model::ir::{Asked, FunctionId, Name, Op, Program, Role, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{calls::Calls, summary::Summary};

/// The tools of a handler, and the functions that tell them apart or lead to one that does.
pub(super) struct Dispatch {
    tools: FxHashSet<Name>,
    /// Those of all handlers.
    all: Arc<FxHashSet<Name>>,
    functions: FxHashSet<FunctionId>,
}

/// The handlers of several tools.
pub(super) fn dispatches(program: &Program, calls: &Calls) -> FxHashMap<FunctionId, Dispatch> {
    let ids = || (0..).map(FunctionId).zip(&program.functions);
    let handlers: Vec<(FunctionId, FxHashSet<Name>)> = ids()
        .filter_map(|(id, function)| match &function.role {
            Role::Handler(tools) if tools.len() > 1 => {
                Some((id, tools.iter().map(|tool| tool.name.clone()).collect()))
            }
            _ => None,
        })
        .collect();
    if handlers.is_empty() {
        return FxHashMap::default();
    }
    let tools = program.functions.iter().filter_map(|function| match &function.role {
        Role::Handler(tools) => Some(tools),
        _ => None,
    });
    let all: Arc<FxHashSet<Name>> = Arc::new(tools.flatten().map(|tool| tool.name.clone()).collect());
    let mut asked: FxHashMap<FunctionId, Vec<&Name>> = FxHashMap::default();
    for (id, function) in ids() {
        for effect in function.effects() {
            if let Op::Check { equal, asks, .. } = &effect.op {
                let texts = equal.iter().chain(asks.iter().flat_map(|asked| &asked.texts));
                texts.for_each(|text| asked.entry(id).or_default().push(text));
            }
        }
    }
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    for (caller, to) in (0..).map(FunctionId).zip(&calls.of) {
        to.iter().for_each(|callee| callers.entry(*callee).or_default().push(caller));
    }
    let dispatch = |handler: FunctionId, tools: FxHashSet<Name>| {
        let reached = reached_from(calls, handler);
        let tells_apart = |id: &&FunctionId| {
            asked.get(*id).is_some_and(|texts| texts.iter().any(|text| tools.contains(*text)))
        };
        let mut functions: FxHashSet<FunctionId> = reached.iter().filter(tells_apart).copied().collect();
        let mut pending: Vec<FunctionId> = functions.iter().copied().collect();
        while let Some(callee) = pending.pop() {
            for caller in callers.get(&callee).into_iter().flatten() {
                if reached.contains(caller) && functions.insert(*caller) {
                    pending.push(*caller);
                }
            }
        }
        Dispatch { tools, all: all.clone(), functions }
    };
    handlers.into_iter().map(|(id, tools)| (id, dispatch(id, tools))).collect()
}

/// The functions that one refers to, however far, itself included. Mostly they are few, and handlers may be many.
fn reached_from(calls: &Calls, function: FunctionId) -> FxHashSet<FunctionId> {
    let mut reached = FxHashSet::from_iter([function]);
    let mut pending = vec![function];
    while let Some(function) = pending.pop() {
        pending.extend(calls.of(function).iter().filter(|callee| reached.insert(**callee)));
    }
    reached
}

impl Dispatch {
    /// Whether a function is another one for each tool.
    pub(super) fn is_of_it(&self, function: FunctionId) -> bool {
        self.functions.contains(&function)
    }

    /// The functions that are another one for each tool.
    pub(super) fn functions(&self) -> impl Iterator<Item = FunctionId> {
        self.functions.iter().copied()
    }
}

/// The tool that is looked at.
pub(super) struct Only<'p, 'd> {
    tool: &'d Name,
    dispatch: &'d Dispatch,
    /// What the functions of the dispatch are for this tool.
    summaries: FxHashMap<FunctionId, OnceLock<Arc<Summary<'p>>>>,
}

impl<'p, 'd> Only<'p, 'd> {
    pub(super) fn new(tool: &'d Name, dispatch: &'d Dispatch) -> Self {
        let summaries = dispatch.functions().map(|id| (id, OnceLock::new())).collect();
        Self { tool, dispatch, summaries }
    }

    /// Where the summary of a function belongs that is another one for each tool.
    pub(super) fn place(&self, function: FunctionId) -> Option<&OnceLock<Arc<Summary<'p>>>> {
        self.summaries.get(&function)
    }

    /// Whether a check takes its first way for this tool, if it is one that tells the tools apart. One that asks nothing but what the
    /// tool is called may name those of other handlers as well.
    pub(super) fn takes_then(&self, on: &[Value], equal: Option<&Name>, asks: &[Asked]) -> Option<bool> {
        let is_name = |text: &Name| {
            self.dispatch.tools.contains(text) || on.is_empty() && self.dispatch.all.contains(text)
        };
        if let Some(text) = equal.filter(|text| is_name(text)) {
            return Some(text == self.tool);
        }
        let mut takes_then = None;
        // Where all of the texts are tools it is asked for the tool; a yes to that may not be enough.
        for asked in asks.iter().filter(|asked| asked.texts.iter().all(is_name)) {
            if !asked.texts.contains(self.tool) {
                return Some(false);
            }
            takes_then = (asked.enough && asks.len() == 1).then_some(true);
        }
        takes_then
    }
}
