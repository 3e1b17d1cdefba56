//! Decisions about nothing: branches, loops and followed calls in which values are computed and nothing else happens.
//!
//! What they compute takes their place, in the same order. A return behind which the function does nothing more goes as well: what it
//! returns is known by then. So a helper that looks a name up in five branches is five computed values, and not five decisions.

use interlock_model::ir::{Block, Effect, Exit, Op};

/// Takes decisions about nothing out of the body of a function. Who `opens` something and returns it hands it on, and rules ask about
/// that, so its returns stay.
pub(super) fn slice(body: &mut Block, opens: bool) {
    block(body, opens);
}

/// Works from the end of a block to its start; `more` says whether something happens behind the block. Says whether something happens
/// in it or behind it.
fn block(steps: &mut Block, more: bool) -> bool {
    let mut more = more;
    // From the last to the first.
    let mut dissolving: Vec<usize> = vec![];
    for (index, effect) in steps.iter_mut().enumerate().rev() {
        let dissolves = match &mut effect.op {
            Op::Derive { .. }
            | Op::New { .. }
            | Op::Closure { .. }
            | Op::Exit(Exit::Break | Exit::Continue) => {
                continue;
            }
            Op::Exit(Exit::Return(_)) if more => continue,
            Op::Exit(Exit::Return(_)) => true,
            Op::Check { then, otherwise, .. } => {
                block(then, more);
                block(otherwise, more);
                computes(then, false) && computes(otherwise, false)
            }
            Op::Loop { body, .. } => {
                // Whatever happens in a loop happens behind all the rest of it.
                let happens = more || any(body, &happens);
                block(body, happens);
                computes(body, true)
            }
            Op::Inlined { body, .. } | Op::Spawn { body, .. } => {
                block(body, false);
                computes(body, false)
            }
            Op::Together { branches } => {
                branches.iter_mut().for_each(|branch| {
                    block(branch, true);
                });
                branches.iter().all(|branch| computes(branch, false))
            }
            Op::Try { body, catch, finally } => {
                let behind = block(finally, more);
                block(body, behind);
                if let Some(catch) = catch {
                    block(&mut catch.body, behind);
                }
                let caught = catch.as_ref().is_none_or(|catch| computes(&catch.body, false));
                caught && computes(body, false) && computes(finally, false)
            }
            _ => false,
        };
        if dissolves {
            dissolving.push(index);
        } else {
            more = true;
        }
    }
    if !dissolving.is_empty() {
        let old = std::mem::take(steps);
        let gone = dissolving.iter().filter_map(|index| old.get(*index));
        let more: usize = gone.map(|effect| effect.op.blocks().map(Vec::len).sum::<usize>()).sum();
        steps.reserve_exact(old.len() + more);
        for (index, effect) in old.into_iter().enumerate() {
            if dissolving.last() == Some(&index) {
                dissolving.pop();
                dissolve(effect, steps);
            } else {
                steps.push(effect);
            }
        }
    }
    more
}

/// Whether values are computed in a block and nothing else happens, but for the turns of a loop.
fn computes(block: &Block, in_loop: bool) -> bool {
    block.iter().all(|effect| match &effect.op {
        Op::Derive { .. } | Op::New { .. } | Op::Closure { .. } => true,
        Op::Exit(Exit::Break | Exit::Continue) => in_loop,
        Op::Check { then, otherwise, .. } => computes(then, in_loop) && computes(otherwise, in_loop),
        _ => false,
    })
}

/// Leaves what a step computes.
fn dissolve(Effect { span, op }: Effect, into: &mut Block) {
    let blocks = match op {
        Op::Derive { .. } | Op::New { .. } | Op::Closure { .. } => return into.push(Effect { span, op }),
        Op::Check { then, otherwise, .. } => vec![then, otherwise],
        Op::Loop { body, .. } | Op::Inlined { body, .. } | Op::Spawn { body, .. } => vec![body],
        Op::Together { branches } => branches,
        Op::Try { body, catch, finally } => {
            [Some(body), catch.map(|catch| catch.body), Some(finally)].into_iter().flatten().collect()
        }
        _ => return,
    };
    for effect in blocks.into_iter().flatten() {
        dissolve(effect, into);
    }
}

fn happens(op: &Op) -> bool {
    let computed = matches!(
        op,
        Op::Derive { .. }
            | Op::New { .. }
            | Op::Closure { .. }
            | Op::Exit(Exit::Return(_) | Exit::Break | Exit::Continue)
    );
    !computed && op.blocks().next().is_none() && !matches!(op, Op::Together { .. })
}

fn any(block: &Block, holds: &impl Fn(&Op) -> bool) -> bool {
    block.iter().any(|effect| holds(&effect.op) || effect.op.blocks().any(|inner| any(inner, holds)))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use interlock_model::ir::{Body, Bound, FunctionBuilder, Program, Resource, Value, WriteMode};

    use super::*;

    /// What is left of a function, as text.
    fn check(body: impl FnOnce(&mut Body<'_>, Value), expected: &Expect) {
        let mut program = Program::default();
        let mut function = FunctionBuilder::new("f").body(["a"], |b, [a]| body(b, a));
        slice(&mut function.body, false);
        program.add_function(function);
        expected.assert_eq(&program.to_string());
    }

    fn file() -> Resource {
        Resource::File("x".into())
    }

    #[test]
    fn a_decision_about_nothing_is_what_it_computes() {
        check(
            |b, a| {
                let then = |b: &mut Body<'_>| {
                    let one = b.derive("one", [a]);
                    b.ret([one]);
                };
                b.check([a], then, |_| {});
                let two = b.derive("two", [a]);
                b.ret([two]);
            },
            &expect![[r#"
                ?
                0     fn f(a)
                0       one = derived from a
                0       two = derived from a
            "#]],
        );
    }

    #[test]
    fn a_return_that_keeps_something_from_happening_stays_with_its_decision() {
        check(
            |b, a| {
                b.check([a], |b| b.ret([a]), |_| {});
                b.write(file(), [a], WriteMode::Blind);
                b.ret([a]);
            },
            &expect![[r#"
                ?
                0     fn f(a)
                0       check a
                        then
                0         return a
                0       write blind file "x" from a
            "#]],
        );
    }

    #[test]
    fn a_loop_in_which_something_happens_keeps_its_exits() {
        check(
            |b, a| {
                b.repeat(Bound::Each, |b| {
                    b.check([a], |b| b.push(Op::Exit(Exit::Break)), |_| {});
                    b.write(file(), [a], WriteMode::Append);
                });
                b.repeat(Bound::Each, |b| {
                    b.check([a], |b| b.push(Op::Exit(Exit::Continue)), |_| {});
                    b.derive("sum", [a]);
                });
            },
            &expect![[r#"
                ?
                0     fn f(a)
                0       loop over each
                0         check a
                          then
                0           break
                0         write append file "x" from a
                0       sum = derived from a
            "#]],
        );
    }
}
