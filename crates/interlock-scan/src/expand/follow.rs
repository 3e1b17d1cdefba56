//! One function with its calls followed.

use std::sync::{Arc, OnceLock};

use interlock_model::ir::{Block, Catch, Effect, FunctionId, Op, Program};

use super::{
    bind::Values,
    call::Call,
    summary::{Summaries, Summary},
    tool::Only,
    work::Work,
};

/// How deep calls are followed.
pub(super) const DEEPEST: usize = 120;

/// Follows the calls of one circle of functions; whom they call besides must have been followed.
pub(super) struct Follower<'p, 's> {
    pub(super) program: &'p Program,
    summaries: &'s Summaries<'p>,
    /// The tool that a handler of many is followed for.
    only: Option<Only<'p, 's>>,
    /// What is being expanded right now, outermost first.
    running: Vec<FunctionId>,
    pub(super) depth: usize,
}

impl<'p, 's> Follower<'p, 's> {
    pub(super) fn new(program: &'p Program, summaries: &'s Summaries<'p>) -> Self {
        Self { program, summaries, only: None, running: vec![], depth: 0 }
    }

    /// One that follows a handler for one of its tools.
    pub(super) fn only(program: &'p Program, summaries: &'s Summaries<'p>, only: Only<'p, 's>) -> Self {
        Self { only: Some(only), ..Self::new(program, summaries) }
    }

    /// A function with its calls followed; `None` for one that is being expanded right now, or too deep down.
    pub(super) fn summary(&mut self, id: FunctionId) -> Option<Arc<Summary<'p>>> {
        if let Some(summary) = self.place(id)?.get() {
            return Some(summary.clone());
        }
        if self.running.contains(&id) || self.depth >= DEEPEST {
            return None;
        }
        let function = self.program.function(id)?;
        self.running.push(id);
        self.depth += 1;
        let mut work = Work::new(Values::new(function));
        let body = self.block(&function.body, &mut work);
        self.depth -= 1;
        self.running.pop();
        let summary = Arc::new(Summary::new(function, body, work));
        Some(self.place(id)?.get_or_init(|| summary).clone())
    }

    /// Where a function's summary belongs.
    fn place(&self, id: FunctionId) -> Option<&OnceLock<Arc<Summary<'p>>>> {
        self.only.as_ref().and_then(|only| only.place(id)).or_else(|| self.summaries.get(id.0 as usize))
    }

    fn block(&mut self, block: &Block, work: &mut Work<'p>) -> Block {
        let mut out = Block::with_capacity(block.len());
        for effect in block {
            self.effect(effect, work, &mut out);
        }
        out
    }

    fn effect(&mut self, effect: &Effect, work: &mut Work<'p>, out: &mut Block) {
        work.size += 1;
        let span = effect.span;
        let op = match &effect.op {
            Op::Call { into, callee, receiver, arguments, awaited } => {
                let call =
                    Call { span, into: *into, receiver: receiver.as_ref(), arguments, awaited: *awaited };
                return self.call(callee, &call, work, out);
            }
            Op::Derive { into, term, .. } => {
                work.values.alias(*into, term);
                effect.op.clone()
            }
            Op::Closure { into, function, captures } => {
                work.values.hold(*into, *function, captures.clone());
                effect.op.clone()
            }
            Op::Check { equal, then, otherwise, .. }
                if let Some(way) =
                    self.only.as_ref().and_then(|only| only.way(equal.as_ref(), then, otherwise)) =>
            {
                return way.iter().for_each(|effect| self.effect(effect, work, out));
            }
            Op::Check { on, equal, then, otherwise } => Op::Check {
                on: on.clone(),
                equal: equal.clone(),
                then: self.block(then, work),
                otherwise: self.block(otherwise, work),
            },
            Op::Spawn { start, body } => Op::Spawn { start: *start, body: self.block(body, work) },
            Op::Together { branches } => {
                Op::Together { branches: branches.iter().map(|branch| self.block(branch, work)).collect() }
            }
            Op::Loop { bound, item, body } => {
                Op::Loop { bound: *bound, item: *item, body: self.block(body, work) }
            }
            Op::Try { body, catch, finally } => Op::Try {
                body: self.block(body, work),
                catch: catch
                    .as_ref()
                    .map(|catch| Catch { error: catch.error, body: self.block(&catch.body, work) }),
                finally: self.block(finally, work),
            },
            Op::Inlined { function, body } => {
                Op::Inlined { function: *function, body: self.block(body, work) }
            }
            other => other.clone(),
        };
        out.push(Effect { span, op });
    }
}
