//! The steps of a followed function, copied in where it is called.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Catch, Effect, Function, Op, Root, Term, Value,
};

use super::{
    call::Call,
    follow::{DEEPEST, Follower},
    rename::Rename,
    summary::Summary,
    work::Work,
};

impl<'p> Follower<'p, '_> {
    /// Copies a followed function in, its parameters bound to what the call hands over. Says what it returns.
    pub(super) fn copy(
        &mut self,
        target: &Function,
        summary: &Summary<'p>,
        captures: &[Term],
        call: &Call<'_>,
        work: &mut Work<'p>,
        inside: &mut Block,
    ) -> Option<(Vec<Value>, Term)> {
        let offset = work.values.adopt(&summary.values);
        // A plain function has no receiver; whatever it calls `this` is nothing that anybody else sees.
        let nobody;
        let this = match (call.receiver, target.owner.is_some()) {
            (Some(receiver), _) => Some(receiver),
            // A closure inside a method shares the method's receiver.
            (None, _) if target.owner.is_some() => None,
            (None, _) => {
                nobody = AccessPath::of(Root::Value(Value(u32::MAX)));
                Some(&nobody)
            }
        };
        let rename = Rename { offset, this };
        let mut bind = |parameter: Value, argument: Option<&Argument>, work: &mut Work<'p>| {
            let into = rename.value(parameter);
            match argument {
                Some(Argument::Closure { function, captures }) => {
                    work.values.hold(into, *function, captures.clone());
                }
                Some(Argument::Term(term)) => {
                    work.values.alias(into, term);
                    let op = Op::Derive { into, from: term.mentioned(), term: term.clone() };
                    inside.push(Effect { span: call.span, op });
                }
                None => {}
            }
        };
        for (index, parameter) in summary.parameters.iter().enumerate() {
            bind(*parameter, call.arguments.get(index), work);
        }
        for (index, capture) in summary.captures.iter().enumerate() {
            bind(*capture, captures.get(index).cloned().map(Argument::Term).as_ref(), work);
        }
        if summary.silent {
            // Only what it returns counts, and that is bound to the arguments by names alone.
            work.size += inside.len();
            let steps = summary.body.iter().filter(|effect| {
                matches!(
                    effect.op,
                    Op::Derive { .. } | Op::New { .. } | Op::Closure { .. } | Op::Call { into: Some(_), .. }
                )
            });
            steps.for_each(|effect| self.copy_step(effect, &rename, work, inside));
        } else {
            work.size += summary.size;
            summary.body.iter().for_each(|effect| self.copy_step(effect, &rename, work, inside));
        }
        summary.returned.as_ref().map(|returned| {
            let term = returned.whole.map_or(Term::Unknown, |whole| Term::Path(rename.value(whole).into()));
            (rename.values(&returned.from), term)
        })
    }

    fn copy_block(&mut self, block: &Block, rename: &Rename<'_>, work: &mut Work<'p>) -> Block {
        let mut out = Block::with_capacity(block.len());
        block.iter().for_each(|effect| self.copy_step(effect, rename, work, &mut out));
        out
    }

    /// Copies a step of a followed function. Calls that had to wait until their parameters were bound to functions are followed now.
    fn copy_step(&mut self, effect: &Effect, rename: &Rename<'_>, work: &mut Work<'p>, out: &mut Block) {
        let span = effect.span;
        let op = match &effect.op {
            Op::Call { into, callee: callee @ Callee::Value(value), receiver, arguments, awaited }
                if self.depth < DEEPEST && work.values.function(rename.value(*value)).is_some() =>
            {
                let receiver = receiver.as_ref().map(|path| rename.path(path));
                let arguments: Vec<Argument> =
                    arguments.iter().map(|argument| rename.argument(argument)).collect();
                let into = into.map(|into| rename.value(into));
                let call = Call {
                    span,
                    into,
                    receiver: receiver.as_ref(),
                    arguments: &arguments,
                    awaited: *awaited,
                };
                self.depth += 1;
                self.call(&rename.callee(callee), &call, work, out);
                self.depth -= 1;
                return;
            }
            Op::Check { on, equal, then, otherwise } => Op::Check {
                on: rename.values(on),
                equal: equal.clone(),
                then: self.copy_block(then, rename, work),
                otherwise: self.copy_block(otherwise, rename, work),
            },
            Op::Spawn { start, body } => {
                Op::Spawn { start: *start, body: self.copy_block(body, rename, work) }
            }
            Op::Together { branches } => Op::Together {
                branches: branches.iter().map(|branch| self.copy_block(branch, rename, work)).collect(),
            },
            Op::Loop { bound, item, body } => Op::Loop {
                bound: *bound,
                item: rename.maybe(*item),
                body: self.copy_block(body, rename, work),
            },
            Op::Try { body, catch, finally } => Op::Try {
                body: self.copy_block(body, rename, work),
                catch: catch.as_ref().map(|catch| Catch {
                    error: rename.maybe(catch.error),
                    body: self.copy_block(&catch.body, rename, work),
                }),
                finally: self.copy_block(finally, rename, work),
            },
            // What is left out for its size still lets others in.
            Op::Inlined { function, body } if work.leaves_out(*function, body) => {
                if !suspends(body) {
                    return;
                }
                Op::Suspend
            }
            Op::Inlined { function, body } => {
                Op::Inlined { function: *function, body: self.copy_block(body, rename, work) }
            }
            other => rename.op(other),
        };
        match &op {
            Op::Derive { into, term, .. } => work.values.alias(*into, term),
            Op::Closure { into, function, captures } => {
                work.values.hold(*into, *function, captures.clone());
            }
            _ => {}
        }
        out.push(Effect { span, op });
    }
}

/// Whether others may run meanwhile on the thread that runs a block.
fn suspends(block: &Block) -> bool {
    block.iter().any(|effect| match &effect.op {
        Op::Suspend | Op::Acquire { outcome: None, .. } => true,
        Op::Spawn { .. } => false,
        op => op.blocks().any(suspends),
    })
}
