//! The questions rules ask, in their smallest form: enough to show that the answer is in the IR.

use interlock_model::ir::{Block, Callee, Effect, Function, Interleaving, Lock, Op, Program, Resource};

/// A step in the order in which one call runs through them, helpers included, with the locks held there.
pub(crate) struct Step<'p> {
    pub(crate) op: &'p Op,
    pub(crate) held: Vec<&'p Lock>,
    pub(crate) interleaving: Interleaving,
}

/// Every step of the named function, its callees put in place of their calls.
pub(crate) fn steps<'p>(program: &'p Program, name: &str) -> Vec<Step<'p>> {
    let function =
        program.functions.iter().find(|function| &*function.name == name).expect("the function is there");
    let mut walk = Walk { program, steps: Vec::new() };
    walk.block(&function.body, function, Vec::new());
    walk.steps
}

struct Walk<'p> {
    program: &'p Program,
    steps: Vec<Step<'p>>,
}

impl<'p> Walk<'p> {
    /// Goes through a block and returns the locks held behind it; `None` if nothing gets there.
    fn block(
        &mut self,
        block: &'p Block,
        function: &'p Function,
        mut held: Vec<&'p Lock>,
    ) -> Option<Vec<&'p Lock>> {
        for Effect { op, .. } in block {
            match op {
                Op::Acquire { lock, .. } => held.push(lock),
                Op::Release { lock } => held.retain(|other| *other != lock),
                Op::Call { callee: Callee::Function(id), .. } => {
                    let callee = self.program.function(*id).expect("the callee is there");
                    held = self.block(&callee.body, callee, held.clone()).unwrap_or(held);
                }
                _ => {}
            }
            self.steps.push(Step { op, held: held.clone(), interleaving: function.interleaving });
            match op {
                Op::Exit(_) => return None,
                Op::Check { then, otherwise, .. } => {
                    let ways = [then, otherwise].map(|way| self.block(way, function, held.clone()));
                    // What is held on every way that goes on.
                    held = ways
                        .into_iter()
                        .flatten()
                        .reduce(|a, b| a.into_iter().filter(|l| b.contains(l)).collect())?;
                }
                other => {
                    for inner in other.blocks() {
                        held = self.block(inner, function, held.clone()).unwrap_or(held);
                    }
                }
            }
        }
        Some(held)
    }
}

/// Whether another call can come in between the first read of a resource and the first write to it.
pub(crate) fn another_call_fits_between(
    program: &Program,
    name: &str,
    same: impl Fn(&Resource) -> bool,
) -> bool {
    let steps = steps(program, name);
    let read =
        steps.iter().position(|step| matches!(step.op, Op::Read { of, .. } if same(of))).expect("a read");
    let write =
        steps.iter().position(|step| matches!(step.op, Op::Write { to, .. } if same(to))).expect("a write");
    let stretch = steps.get(read..=write).expect("the read comes first");
    let lets_in =
        |step: &Step<'_>| step.interleaving == Interleaving::Anywhere || matches!(step.op, Op::Suspend);
    let held_throughout = stretch.iter().map(|step| step.held.clone()).reduce(common).unwrap_or_default();
    stretch.iter().any(lets_in) && held_throughout.is_empty()
}

fn common<'p>(some: Vec<&'p Lock>, others: Vec<&'p Lock>) -> Vec<&'p Lock> {
    some.into_iter().filter(|lock| others.contains(lock)).collect()
}
