//! One function with its calls followed.

use std::sync::{Arc, OnceLock};

use interlock_model::ir::{Block, Catch, Effect, FunctionId, Op, Program};

use super::{
    bind::Values,
    bodies::Bodies,
    component::Component,
    later::Done,
    summary::{Summaries, Summary},
    tool::Only,
    unreached::LeftOut,
    work::Work,
};

/// How deep calls are followed.
pub(super) const DEEPEST: usize = 120;

/// Follows the calls of one component of functions; whom they call besides must have been followed.
pub(super) struct Follower<'p, 's> {
    pub(super) program: &'p Program,
    bodies: &'s Bodies,
    summaries: &'s Summaries<'p>,
    /// The tool that a handler of many is followed for.
    only: Option<Only<'p, 's>>,
    /// The component of which one member is summarised as the root.
    component: Option<Component<'p>>,
    /// What is not put in where a function is made whole.
    without: Option<&'s LeftOut>,
    /// Whether there is no room left for copies.
    pub(super) crowded: bool,
    /// What is being expanded right now, outermost first.
    running: Vec<FunctionId>,
    pub(super) depth: usize,
}

impl<'p> Done<'p> for Follower<'p, '_> {
    fn done(&self, id: FunctionId) -> Option<&Arc<Summary<'p>>> {
        self.place(id)?.get()
    }
}

impl<'p, 's> Follower<'p, 's> {
    pub(super) fn new(program: &'p Program, bodies: &'s Bodies, summaries: &'s Summaries<'p>) -> Self {
        Self {
            program,
            bodies,
            summaries,
            only: None,
            component: None,
            without: None,
            crowded: false,
            running: vec![],
            depth: 0,
        }
    }

    /// One that follows a handler for one of its tools.
    pub(super) fn only(self, only: Only<'p, 's>) -> Self {
        Self { only: Some(only), ..self }
    }

    /// One that summarises a member of a component as its root.
    pub(super) fn component(self, members: &[FunctionId]) -> Self {
        Self { component: Some(Component::new(members)), ..self }
    }

    /// Whether a function is summarised anew for the root. Its steps are copied at once: whoever is kept must not refer to it.
    pub(super) fn is_transient(&self, id: FunctionId) -> bool {
        self.component.as_ref().is_some_and(|component| component.place(id).is_some())
    }

    /// One that makes a function whole but for some others.
    pub(super) fn without(self, without: Option<&'s LeftOut>) -> Self {
        Self { without, ..self }
    }

    /// Whether a function is not put in.
    pub(super) fn leaves_out(&self, function: FunctionId) -> bool {
        self.without.is_some_and(|without| without.has(function))
    }

    /// One that copies nothing but what is small, if there is no room for more.
    pub(super) fn crowded(self, crowded: bool) -> Self {
        Self { crowded, ..self }
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
        let mut work = Work::new(Values::of(function));
        if let Some(objects) = self.program.made.get(&id) {
            work.values.put_together(objects);
        }
        let body = self.block(self.bodies.take(id), &mut work);
        self.depth -= 1;
        self.running.pop();
        let (parameters, captures) = (&function.parameters, &function.captures);
        let members = self.program.returned.get(&id).map_or(&[][..], Vec::as_slice);
        let summary = Summary::new(parameters, captures, body, &work.values, members, self);
        let (large, cut) = (work.large(), work.cut.into_iter().collect());
        let summary = Arc::new(Summary { large, cut, ..summary });
        Some(self.place(id)?.get_or_init(|| summary).clone())
    }

    /// Where a function's summary belongs.
    fn place(&self, id: FunctionId) -> Option<&OnceLock<Arc<Summary<'p>>>> {
        let of_tool = self.only.as_ref().and_then(|only| only.place(id));
        let of_component = || self.component.as_ref().and_then(|component| component.place(id));
        of_tool.or_else(of_component).or_else(|| self.summaries.get(id.0 as usize))
    }

    fn block(&mut self, block: Block, work: &mut Work<'p>) -> Block {
        let mut out = Block::with_capacity(block.len());
        for effect in block {
            self.effect(effect, work, &mut out);
        }
        out
    }

    fn effect(&mut self, effect: Effect, work: &mut Work<'p>, out: &mut Block) {
        work.size += 1;
        let Effect { span, op } = effect;
        let op = work.values.taken_apart(span, op, out);
        let op = match op {
            Op::Call { .. } => return self.call(span, op, work, out),
            Op::Check { on, equal, asks, then, otherwise } => {
                let only = self.only.as_ref();
                let takes_then = only.and_then(|only| only.takes_then(&on, equal.as_ref(), &asks));
                if let Some(takes_then) = takes_then {
                    let way = if takes_then { then } else { otherwise };
                    return way.into_iter().for_each(|effect| self.effect(effect, work, out));
                }
                let fork = work.fork();
                let then = self.block(then, work);
                let one = work.back(fork);
                let otherwise = self.block(otherwise, work);
                let other = work.back(fork);
                work.join(one, leads_on(&then));
                work.join(other, leads_on(&otherwise));
                Op::Check { on, equal, asks: vec![], then, otherwise }
            }
            Op::Spawn { start, body } => Op::Spawn { start, body: self.block(body, work) },
            Op::Together { branches } => Op::Together {
                branches: branches.into_iter().map(|branch| self.block(branch, work)).collect(),
            },
            Op::Loop { bound, item, body } => Op::Loop { bound, item, body: self.block(body, work) },
            Op::Try { body, catch, finally } => Op::Try {
                body: self.block(body, work),
                catch: catch.map(|Catch { error, body }| Catch { error, body: self.block(body, work) }),
                finally: self.block(finally, work),
            },
            Op::Inlined { function, receiver, body } => {
                Op::Inlined { function, receiver, body: self.block(body, work) }
            }
            other => {
                work.values.note(&other);
                other
            }
        };
        out.push(Effect { span, op });
    }
}

/// Whether control comes out of a block at its end.
fn leads_on(block: &Block) -> bool {
    !matches!(block.last(), Some(Effect { op: Op::Exit(_), .. }))
}
