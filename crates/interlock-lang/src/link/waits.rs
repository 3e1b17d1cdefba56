//! Waiting for a function of the program, in a language where that alone lets nobody else run: the function runs on in place of whoever
//! waits, and others get their turn where it waits itself.

use interlock_model::ir::{Block, Callee, Function, Op};

/// Takes away the suspensions behind calls of the program's own functions.
pub(super) fn settle(functions: &mut [Function]) {
    let asynchronous: Vec<bool> = functions.iter().map(|function| function.asynchronous).collect();
    for function in functions {
        block(&mut function.body, &asynchronous);
    }
}

fn block(effects: &mut Block, asynchronous: &[bool]) {
    let mut own = false;
    effects.retain_mut(|effect| {
        if own && effect.op == Op::Suspend {
            own = false;
            return false;
        }
        own = match &effect.op {
            Op::Call {
                callee: Callee::Function(id) | Callee::Closure { function: id, .. },
                awaited: true,
                ..
            } => asynchronous.get(id.0 as usize).copied().unwrap_or(false),
            // What is only computed from the result stands between the call and the wait.
            Op::Derive { .. } => own,
            _ => false,
        };
        effect.op.blocks_mut().for_each(|inner| block(inner, asynchronous));
        true
    });
}
