//! One function with its calls inlined, whoever calls it: what `--dump-ir --inlined` prints.

use std::sync::OnceLock;

use interlock_model::ir::{Function, FunctionId, Program, Value};

use super::{
    bodies::Bodies,
    budget::Budget,
    calls::{Calls, Reached},
    component::has_many_roots,
    entries::follow,
    follow::Follower,
    order::levels,
};

/// A function with its calls inlined, in values of its own. `None` for one that the program does not have.
pub(crate) fn inlined(mut program: Program, id: FunctionId) -> Option<Function> {
    let calls = Calls::new(&program);
    let mut reached = Reached::new(&calls);
    reached.from(id);
    let mut budget = Budget::of(&program);
    let levels = levels(&calls, &reached, program.functions.len());
    let components = levels.iter().flatten().filter(|component| has_many_roots(component)).flatten().copied();
    let bodies = Bodies::of(&mut program, components);
    let summaries = follow(&program, &bodies, &levels, &mut budget);
    let function = program.function(id)?;
    let summary = summaries.get(id.0 as usize).and_then(OnceLock::get)?;
    let whole = Follower::new(&program, &bodies, &summaries).whole(summary);
    // What a caller binds comes first: parameters, then captures.
    let mut numbers = (0..).map(Value);
    let parameters = numbers.by_ref().take(function.parameters.len()).collect();
    let captures = numbers.take(function.captures.len()).collect();
    let values = whole.infos().to_vec();
    let body = whole.body.to_vec();
    Some(Function { parameters, captures, values, body, ..function.clone() })
}
