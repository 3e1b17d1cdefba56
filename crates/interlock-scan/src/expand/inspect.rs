//! One function with its calls inlined, whoever calls it: what `--dump-ir --inlined` prints.

use std::sync::OnceLock;

use interlock_model::ir::{Function, FunctionId, Program, Value};

use super::{
    bodies::Bodies,
    calls::{Calls, Reached},
    component::has_many_roots,
    entries::follow,
    follow::Follower,
    order::levels,
    room::Room,
};

/// A function with its calls inlined, in values of its own. `None` for one that the program does not have.
pub(crate) fn inlined(mut program: Program, id: FunctionId) -> Option<Function> {
    let calls = Calls::new(&program);
    let mut reached = Reached::new(&calls);
    reached.from(id);
    let mut room = Room::of(&program);
    let levels = levels(&calls, &reached, program.functions.len());
    let circles = levels.iter().flatten().filter(|circle| has_many_roots(circle)).flatten().copied();
    let bodies = Bodies::of(&mut program, circles);
    let summaries = follow(&program, &bodies, &levels, &mut room);
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
