//! The steps of a followed function, copied in where it is called.

use interlock_model::{
    Span,
    ir::{AccessPath, Argument, Block, Callee, Catch, Effect, FunctionId, Member, Op, Root, Term, Value},
};

use super::{
    call::{Call, Target},
    follow::{DEEPEST, Follower},
    later::{Done, Later, NOBODY, SMALL},
    rename::Rename,
    work::Work,
};

/// What stands for a function where it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Its steps.
    Copied,
    /// A step, in place of which they are put in later.
    Later,
    /// A step, in place of which its compact summary is put in later.
    Compact,
}

/// What a call gives back, in the values of its caller.
pub(super) struct Given {
    /// What it depends on.
    pub(super) from: Vec<Value>,
    /// What it is.
    pub(super) term: Term,
    /// Its members, where it was put together.
    pub(super) members: Vec<Member>,
}

impl<'p> Follower<'p, '_> {
    /// Copies a followed function in, or a step for it where it is put in later, its parameters bound to what the call hands over. Says
    /// what it returns.
    pub(super) fn copy(
        &mut self,
        target: &Target<'p>,
        call: &Call<'_>,
        form: Form,
        work: &mut Work<'p>,
        inside: &mut Block,
    ) -> Option<Given> {
        let Target { id, function, summary, captures } = target;
        let later = form != Form::Copied;
        let adopted = if later { summary.values.get(..summary.ports) } else { None };
        let offset = work.values.adopt(adopted.unwrap_or(&summary.values), &summary.captures);
        // A plain function has no receiver; whatever it calls `this` is nothing that anybody else sees.
        let nobody;
        let this = match (call.receiver, function.owner.is_some()) {
            (Some(receiver), _) => Some(receiver),
            // A closure inside a method shares the method's receiver.
            (None, _) if function.owner.is_some() => None,
            (None, _) => {
                nobody = AccessPath::of(Root::Value(NOBODY));
                Some(&nobody)
            }
        };
        let rename = Rename { ports: &[], offset, this, apart: None };
        let steps = if later { 1 } else { summary.body.len() };
        inside.reserve_exact(summary.parameters.len() + summary.captures.len() + steps);
        let mut bind = |parameter: Value, argument: Option<&Argument>, work: &mut Work<'p>| {
            if summary.idle.contains(&parameter) {
                return;
            }
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
        let gathers = self.program.gathers.get(id).map(|at| *at as usize);
        let optional = self.program.optional.get(id).map_or(&[][..], Vec::as_slice);
        for (index, parameter) in summary.parameters.iter().enumerate() {
            let given = call.arguments.get(index);
            bind(*parameter, given, work);
            if matches!(given, None | Some(Argument::Term(Term::Unknown)))
                && optional.iter().any(|at| *at as usize == index)
            {
                work.values.leave_out(rename.value(*parameter));
            }
            if Some(index) == gathers {
                let gathered = call.arguments.get(index..).unwrap_or_default();
                work.values.gather(rename.value(*parameter), gathered);
            }
        }
        for (index, capture) in summary.captures.iter().enumerate() {
            match captures.get(index) {
                Some(Term::Unknown) => work.values.capture(rename.value(*capture)),
                known => bind(*capture, known.cloned().map(Argument::Term).as_ref(), work),
            }
        }
        if later {
            if form == Form::Later {
                work.size += summary.size;
            }
            let is_idle = |port: &Value| summary.idle.contains(port);
            let named = |port: Value| if is_idle(&port) { NOBODY } else { rename.value(port) };
            let ports = (0..).take(summary.ports).map(|port| named(Value(port)));
            inside.push(Effect {
                span: call.span,
                op: Later::step(*id, form == Form::Compact, this.cloned(), ports),
            });
        } else if summary.silent {
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
        let has_reads =
            form != Form::Compact || summary.compact(self).is_some_and(|compact| compact.has_reads);
        summary.returned.as_ref().filter(|_| has_reads).map(|returned| {
            let term = returned.whole.map_or(Term::Unknown, |whole| Term::Path(rename.value(whole).into()));
            let member =
                |member: &Member| Member { names: member.names.clone(), is: rename.path(&member.is) };
            let members = returned.members.iter().map(member).collect();
            Given { from: rename.values(&returned.from), term, members }
        })
    }

    fn copy_block(&mut self, block: &Block, rename: &Rename<'_>, work: &mut Work<'p>) -> Block {
        let mut out = Block::with_capacity(block.len());
        block.iter().for_each(|effect| self.copy_step(effect, rename, work, &mut out));
        out
    }

    /// Copies a step of a followed function. Calls that had to wait until their parameters were bound to functions are followed now.
    pub(super) fn copy_step(
        &mut self,
        effect: &Effect,
        rename: &Rename<'_>,
        work: &mut Work<'p>,
        out: &mut Block,
    ) {
        let span = effect.span;
        let op = match &effect.op {
            call @ Op::Call { callee: Callee::Value(value), .. }
                if !work.whole && self.depth < DEEPEST && work.values.is_bound(rename.value(*value)) =>
            {
                self.depth += 1;
                self.call(span, rename.op(call), work, out);
                self.depth -= 1;
                return;
            }
            // `if on_progress: on_progress(done)`, and nobody wants to know.
            Op::Call { into, callee: Callee::Value(value), .. }
                if work.values.is_left_out(rename.value(*value)) =>
            {
                let Some(into) = rename.maybe(*into) else { return };
                Op::Derive { into, from: vec![], term: Term::Unknown }
            }
            Op::Check { on, equal, then, otherwise, .. } => Op::Check {
                on: rename.values(on),
                equal: equal.clone(),
                asks: vec![],
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
            Op::Inlined { function, receiver, body } if work.leaves_out(*function, body, self) => {
                if let Some(body) = self.compact_in_place(*function, body) {
                    let receiver = receiver.as_ref().map(|path| rename.path(path));
                    Op::Inlined { function: *function, receiver, body: self.copy_block(&body, rename, work) }
                } else if suspends(body, self) {
                    Op::Suspend
                } else {
                    return;
                }
            }
            Op::Inlined { function, receiver, body } => Op::Inlined {
                function: *function,
                receiver: receiver.as_ref().map(|path| rename.path(path)),
                body: self.copy_block(body, rename, work),
            },
            other => match Later::of(other) {
                Some(later) => return self.copy_later(&later, span, rename, work, out),
                None => rename.op(other),
            },
        };
        let op = work.values.by_method(op);
        work.values.note(&op);
        out.push(Effect { span, op });
    }

    /// Copies a step that stands for a function, or puts the function in where its own steps are wanted.
    fn copy_later(
        &mut self,
        later: &Later<'_>,
        span: Span,
        rename: &Rename<'_>,
        work: &mut Work<'p>,
        out: &mut Block,
    ) {
        let this = later.this.map(|path| rename.path(path)).or_else(|| rename.this.cloned());
        let ports = rename.values(&later.ports());
        let summary = self.done(later.function).cloned();
        let compact = summary.as_ref().filter(|_| later.compact).and_then(|summary| summary.compact(self));
        let (values, body) = match (&summary, compact) {
            (Some(_), Some(compact))
                if work.whole && !self.leaves_out(later.function) && work.takes(compact) =>
            {
                (&compact.values, &compact.body)
            }
            (Some(summary), _) if work.whole && (later.compact || self.leaves_out(later.function)) => {
                if suspends(&summary.body, self) {
                    out.push(Effect { span, op: Op::Suspend });
                }
                return;
            }
            (Some(summary), None) if work.whole || work.lean && work.is_thinned_by_lean_copy(summary) => {
                (&summary.values, &*summary.body)
            }
            _ => {
                let step = Later::step(later.function, later.compact, this, ports.into_iter());
                return out.push(Effect { span, op: step });
            }
        };
        let rename = work.values.adopt_behind(values, &ports, this.as_ref());
        out.reserve(body.len());
        body.iter().for_each(|effect| self.copy_step(effect, &rename, work, out));
    }

    /// What is left of a function that is inlined in a body and does not fit once more: its arguments, and a step for its compact summary.
    fn compact_in_place(&self, function: FunctionId, body: &Block) -> Option<Block> {
        let (last, arguments) = body.split_last()?;
        let later = Later::of(&last.op).filter(|later| later.function == function)?;
        self.done(function)?.compact(self)?;
        let step = Later::step(function, true, later.this.cloned(), later.ports().into_iter());
        let step = Effect { span: last.span, op: step };
        Some(arguments.iter().cloned().chain([step]).collect())
    }
}

impl Target<'_> {
    /// Whether it is put in later. Where functions are handed over, returned or called back, who is called is only known by copying;
    /// and what is handed something that was made here mostly does to it what nobody else sees, of which little is left in a copy.
    pub(super) fn is_for_later(&self, call: &Call<'_>, work: &Work<'_>) -> bool {
        let Target { summary, captures, .. } = self;
        let is_made =
            |path: &AccessPath| matches!(path.root, Root::Value(value) if work.values.is_made(value));
        let is_ours = |term: &Term| match term {
            Term::Path(path @ AccessPath { root: Root::Value(value), fields }) => {
                is_made(path) || fields.is_empty() && work.values.function(*value).is_some()
            }
            _ => false,
        };
        let hands_over = |argument: &Argument| match argument {
            Argument::Closure { .. } => true,
            Argument::Term(term) => is_ours(term),
        };
        summary.size > SMALL
            && !summary.silent
            && !summary.held.functions
            && !call.arguments.iter().any(hands_over)
            && !captures.iter().any(is_ours)
            && !call.receiver.is_some_and(is_made)
    }
}

/// Whether others may run meanwhile on the thread that runs a block.
pub(super) fn suspends<'p>(block: &Block, done: &impl Done<'p>) -> bool {
    block.iter().any(|effect| match &effect.op {
        Op::Suspend | Op::Acquire { outcome: None, .. } => true,
        Op::Spawn { .. } => false,
        op => match Later::of(op) {
            Some(later) => done.done(later.function).is_some_and(|inside| suspends(&inside.body, done)),
            None => op.blocks().any(|block| suspends(block, done)),
        },
    })
}
