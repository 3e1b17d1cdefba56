//! Construction of the control-flow graph: one walk over nested blocks that numbers the steps, draws the edges and notes what holds at each.

use std::sync::{Arc, OnceLock};

use interlock_model::{
    Span,
    ir::{
        Block, Bound, Effect, Exit, FunctionId, Interleaving, Lock, Name, Op, Program, Value, ValueInfo, Via,
    },
};

use crate::view::{
    At, Entry, Facts, Kinds, Locks, Runs, Step,
    control::{
        dangling::Dangling,
        edges::{Edges, Next},
        flow_facts::{FlowFacts, List, Lists, Now, Stretch},
        ops::{is_quiet, may_fail, pauses, returns},
        reachable::{Bits, Known},
    },
    entry::{Branches, Frame},
    flow::sources::{ListNumber, Sources},
    kinds::KindOfStep,
};

/// A function whose calls that were inlined: what the analysis hands over.
#[derive(Debug)]
pub struct Expanded {
    /// The function that is entered.
    pub function: FunctionId,
    /// When it runs.
    pub runs: Runs,
    /// Every value, those of the functions inside included.
    pub values: Arc<[ValueInfo]>,
    /// Its steps; calls that could be inlined are [`Op::Inlined`].
    pub body: Arc<Block>,
}

impl<'e> Entry<'e> {
    /// Lays a function out.
    #[must_use]
    pub fn new(program: &'e Program, facts: &Arc<Facts>, expanded: &'e Expanded) -> Self {
        let entry = Self {
            program,
            facts: facts.clone(),
            function: expanded.function,
            runs: &expanded.runs,
            steps: vec![],
            kinds: KindOfStep::default(),
            resources: vec![],
            flow_facts: vec![],
            lists: Lists::default(),
            values: &expanded.values,
            definitions: vec![],
            inputs: vec![],
            branches: vec![],
            attempts: vec![],
            pauses: Bits::default(),
            sources: Sources::default(),
            definition_sites: OnceLock::new(),
            ahead: Known::default(),
            beside_calls: true,
            frames: vec![Frame {
                parent: 0,
                depth: 0,
                at: 0,
                function: expanded.function,
                call: Span::default(),
                interleaves: interleaves(program, expanded.function),
            }],
        };
        let unwinds = program.function(expanded.function).is_none_or(|function| function.unwinds);
        let mut walk =
            Walk { entry, unwinds, after: vec![], catches: vec![], breaks: vec![], returns: vec![] };
        let steps = walk.entry.define(&expanded.body);
        walk.entry.steps.reserve_exact(steps);
        walk.entry.kinds.reserve_exact(steps);
        walk.entry.flow_facts.reserve(steps / 2);
        walk.entry.pauses = Bits::new(steps);
        let end = walk.block(&expanded.body, Now::default(), Dangling::start());
        walk.connect(&end.ends, Next::Return);
        let mut entry = walk.entry;
        entry.name_resources();
        entry.trace();
        entry
    }
}

/// The end of a block: where control goes on from, and what holds there.
pub(super) struct End {
    pub(super) ends: Dangling,
    /// Its judges also decide over everything behind the block, because another way out of them was a failure.
    pub(super) here: Now,
}

pub(super) struct Walk<'e> {
    pub(super) entry: Entry<'e>,
    /// Whether a failure leaves by itself; else it is a check and an exit like any other.
    unwinds: bool,
    /// What holds behind a step, where that is not what holds at it.
    after: Vec<(At, FlowFacts)>,
    /// For each try around here: the steps from which a failure leads to its catch or finally.
    catches: Vec<Vec<At>>,
    /// For each loop around here: the steps that leave it.
    breaks: Vec<Vec<At>>,
    /// For each inlined call around here: the steps that return from it.
    returns: Vec<Vec<At>>,
}

impl<'e> Walk<'e> {
    fn block(&mut self, block: &'e Block, mut here: Now, mut from: Dangling) -> End {
        // Where the step ends whose failures have been reported.
        let mut reported = 0;
        for effect in block {
            if from.is_dead() {
                break;
            }
            let at = self.step(effect, &mut here, &mut from);
            // What a call that was inlined fails at stands among its steps, what a chain catches is caught, and a pause just ends; waiting
            // for them adds nothing.
            let waits = effect.op == Op::Suspend && effect.span.start < reported;
            if self.unwinds && may_fail(&effect.op) && !waits {
                self.fail(at);
            }
            reported = match &effect.op {
                // Who waits for a lock has it when the waiting is over, not before: `async with lock`.
                Op::Inlined { .. } | Op::Sleep { .. } | Op::Acquire { .. } => u32::MAX,
                Op::Try { catch: Some(_), .. } => effect.span.end,
                Op::Derive { .. } => reported,
                _ => 0,
            };
            self.effect(effect, at, &mut here, &mut from);
            let until = number(self.entry.steps.len());
            if let Some(step) = self.entry.steps.get_mut(at) {
                step.until = until;
            }
        }
        End { ends: from, here }
    }

    /// Adds the step itself; control comes to it from what dangles, and goes on from it.
    fn step(&mut self, effect: &'e Effect, here: &mut Now, from: &mut Dangling) -> At {
        let at = self.entry.steps.len();
        let known = *here.number.get_or_insert_with(|| {
            self.entry.flow_facts.push(here.here);
            number(self.entry.flow_facts.len() - 1)
        });
        let until = number(at + 1);
        self.entry.steps.push(Step { effect, next: Edges::default(), here: known, until, number: 0 });
        self.entry.kinds.push(Kinds::of(&effect.op));
        let anywhere = self.entry.frames.get(here.frame).is_some_and(|frame| frame.interleaves);
        if anywhere || pauses(&effect.op) {
            self.entry.pauses.add(at);
        }
        from.each().for_each(|before| self.lead(before, Next::Step(at)));
        from.only(at);
        at
    }

    fn effect(&mut self, effect: &'e Effect, at: At, here: &mut Now, from: &mut Dangling) {
        match &effect.op {
            Op::Exit(exit) => {
                self.exit(exit, at);
                *from = Dangling::dead();
            }
            Op::Acquire { .. } => here.hold(self.with(here.held, at)),
            Op::Release { lock } => {
                let lock = self.entry.locks().resolve(lock);
                here.hold(self.without_last(here.held, |locks, held| locks.are_one(held, &lock)));
            }
            Op::Begin { .. } => here.leave_open(self.with(here.open, at)),
            Op::End { via, .. } => here.leave_open(self.keep_open(here.open, via)),
            Op::Check { on, equal, then, otherwise, .. } => {
                self.check((on, equal.as_ref()), (then, otherwise), at, here, from);
            }
            Op::Loop { bound, body, .. } => self.repeat(*bound, body, at, here, from),
            Op::Try { body, catch, finally } => {
                let catch = catch.as_ref().map(|catch| &catch.body);
                self.attempt((body, catch, finally), at, here, from);
            }
            Op::Spawn { body, .. } => {
                let stretch = Stretch { detached: Some(at), ..Stretch::default() };
                // A failure of what runs detached does not come back here.
                let catches = std::mem::take(&mut self.catches);
                let (breaks, returns) = (std::mem::take(&mut self.breaks), std::mem::take(&mut self.returns));
                let end = self.block(body, here.within(stretch), Dangling::after(at));
                self.connect(&end.ends, Next::Return);
                (self.catches, self.breaks, self.returns) = (catches, breaks, returns);
            }
            Op::Together { branches } => {
                let mut ends = Dangling::dead();
                for branch in branches {
                    let end = self.block(branch, *here, Dangling::after(at));
                    ends.join(end.ends);
                }
                if !branches.is_empty() {
                    *from = ends;
                }
            }
            Op::Inlined { function, body, .. } => {
                self.inside(*function, (at, effect.span), body, here, from);
            }
            _ => {}
        }
        if let Op::Acquire { .. } | Op::Release { .. } | Op::Begin { .. } | Op::End { .. } = effect.op {
            self.after.push((at, here.here));
        }
    }

    fn exit(&mut self, exit: &Exit, at: At) {
        let goes = match exit {
            Exit::Return(_) => match self.returns.last_mut() {
                Some(returns) => return returns.push(at),
                None => Next::Return,
            },
            Exit::Break => match self.breaks.last_mut() {
                Some(breaks) => return breaks.push(at),
                None => Next::Return,
            },
            // The loop's own step has the way on and the way out.
            Exit::Continue => match self.entry.control().loops(at).last().copied() {
                Some(head) => Next::Step(head),
                None => Next::Return,
            },
            Exit::Throw => return self.fail(at),
        };
        self.lead(at, goes);
    }

    fn check(
        &mut self,
        (on, equal): (&[Value], Option<&Name>),
        (then, otherwise): (&'e Block, &'e Block),
        at: At,
        here: &mut Now,
        from: &mut Dangling,
    ) {
        let number = self.entry.branches.len();
        self.number(at, number);
        self.entry.branches.push(Branches::default());
        let mut judged = *here;
        judged.judge(self.with(here.control_dependences, at));
        let first = self.entry.steps.len();
        let mut agreed = judged;
        if self.entry.locks().asks_for_a_transaction(on, equal) {
            agreed.leave_open(self.with(here.open, at));
        }
        let one = self.block(then, agreed, Dangling::after(at));
        let middle = self.entry.steps.len();
        let other = self.block(otherwise, judged, Dangling::after(at));
        let branches = Branches {
            then: first..middle,
            otherwise: middle..self.entry.steps.len(),
            then_ends: one.ends.is_dead(),
            otherwise_ends: other.ends.is_dead(),
            // Told when all values have been traced.
            asked: ListNumber::default(),
        };
        if let Some(known) = self.entry.branches.get_mut(number) {
            *known = branches;
        }
        // What comes behind a check of which one way never gets there is decided by it as well.
        let decides = one.ends.is_dead() != other.ends.is_dead();
        let early_exits = self.early_exits_of_branches(judged, &one, &other);
        here.come_by(early_exits);
        let before = here.open;
        self.join(here, &one, &other);
        here.leave_open(self.entry.lists.retain(here.open, |open| open != at));
        // Who begins a transaction only where none is open has one either way.
        if !one.ends.is_dead() && !other.ends.is_dead() {
            if self.opens(before, one.here.open) && is_quiet(otherwise) {
                here.leave_open(one.here.open);
            } else if self.opens(before, other.here.open) && is_quiet(then) {
                here.leave_open(other.here.open);
            }
        }
        if decides {
            // The way that goes on may itself have been decided further in.
            let goes_on = if one.ends.is_dead() { other.here } else { one.here };
            here.judge(goes_on.control_dependences);
        }
        let mut ends = one.ends;
        ends.join(other.ends);
        *from = ends;
    }

    fn repeat(&mut self, bound: Bound, body: &'e Block, at: At, here: &mut Now, from: &mut Dangling) {
        self.breaks.push(vec![]);
        let mut inside = *here;
        let loops = self.with(here.loops, at);
        inside.change(|inside| inside.loops = loops);
        let end = self.block(body, inside, Dangling::after(at));
        self.connect(&end.ends, Next::Step(at));
        let left = self.breaks.pop().unwrap_or_default();
        // A loop without a limit is only left from inside.
        let mut ends = if bound == Bound::Unlimited && (!left.is_empty() || returns(body)) {
            Dangling::dead()
        } else {
            Dangling::after(at)
        };
        ends.extend(&left);
        let early_exits = self.early_exits_of_loop(inside, &end);
        here.come_by(early_exits);
        // Who takes the lock of each of some things holds them all behind the loop: where there is none, nothing is to be kept.
        if bound == Bound::Each && !end.ends.is_dead() && left.is_empty() {
            here.hold(end.here.held);
        } else if bound != Bound::Each {
            here.hold(self.meet(here.held, false, end.here.held, false));
        }
        *from = ends;
    }

    fn attempt(
        &mut self,
        (body, catch, finally): (&'e Block, Option<&'e Block>, &'e Block),
        at: At,
        here: &mut Now,
        from: &mut Dangling,
    ) {
        let before = *here;
        let first = self.entry.steps.len();
        let finally_catches = !finally.is_empty();
        if finally_catches {
            self.catches.push(vec![]);
            self.returns.push(vec![]);
        }
        if catch.is_some() {
            self.catches.push(vec![]);
        }
        let stretch = Stretch { is_caught: before.stretch.is_caught || catch.is_some(), ..before.stretch };
        let end = self.block(body, here.within(stretch), std::mem::take(from));
        here.hold(end.here.held);
        here.leave_open(end.here.open);
        here.judge(end.here.control_dependences);
        here.come_by(end.here.early_exits);
        let mut ends = end.ends;
        if let Some(catch) = catch {
            self.number(at, self.entry.attempts.len());
            self.entry.attempts.push(first..self.entry.steps.len());
            let failed = self.catches.pop().unwrap_or_default();
            let may_fail = !failed.is_empty();
            let stretch = Stretch { in_catch: true, ..before.stretch };
            // What was acquired inside is not sure to be held where the failure is caught.
            let mut recovering = before.within(stretch);
            recovering.judge(self.with(before.control_dependences, at));
            let caught = self.block(catch, recovering, Dangling::of(failed));
            let (dead, caught_dead) = (ends.is_dead(), caught.ends.is_dead());
            here.hold(self.meet(here.held, dead, caught.here.held, caught_dead));
            here.leave_open(self.meet(here.open, dead, caught.here.open, caught_dead));
            if dead {
                here.judge(caught.here.control_dependences);
                here.come_by(caught.here.early_exits);
            } else if caught_dead {
                // Nothing failed, or we would not be here; where nothing can fail that says nothing.
                if may_fail {
                    here.judge(self.with(here.control_dependences, at));
                }
            } else {
                // Both ways go on, so nothing inside decides over what follows; but where some way inside leaves the call for good,
                // who comes by here may have come by a failure: `try { await access(to); if (!overwrite) return; } catch {}`.
                let may_leave = may_fail && returns(body);
                here.come_by(before.early_exits);
                here.judge(match may_leave {
                    true => self.with(before.control_dependences, at),
                    false => before.control_dependences,
                });
            }
            ends.join(caught.ends);
        }
        if finally_catches {
            let failed = self.catches.pop().unwrap_or_default();
            let returned = self.returns.pop().unwrap_or_default();
            let completes = !ends.is_dead();
            let stretch = Stretch { in_finally: true, ..before.stretch };
            let mut into = ends;
            into.extend(&failed);
            into.extend(&returned);
            // A `finally` runs whatever a check in its `try` has found, so only the checks that decide over the `try` decide over it.
            let mut in_any_case = here.within(stretch);
            in_any_case.judge(before.control_dependences);
            in_any_case.come_by(before.early_exits);
            let end = self.block(finally, in_any_case, into);
            here.hold(end.here.held);
            here.leave_open(end.here.open);
            let last = end.ends;
            if !failed.is_empty() {
                last.each().for_each(|at| self.fail(at));
            }
            if !returned.is_empty() {
                match self.returns.last_mut() {
                    Some(returns) => returns.extend(last.each()),
                    None => self.connect(&last, Next::Return),
                }
            }
            ends = if completes { last } else { Dangling::dead() };
        }
        *from = ends;
    }

    fn inside(
        &mut self,
        function: FunctionId,
        (at, call): (At, Span),
        body: &'e Block,
        here: &mut Now,
        from: &mut Dangling,
    ) {
        let depth = self.entry.frames.get(here.frame).map_or(0, |frame| frame.depth) + 1;
        // Whatever a thread runs it runs in that thread.
        let outer = self.entry.frames.get(here.frame).is_some_and(|frame| frame.interleaves);
        let interleaves = outer || interleaves(self.entry.program, function);
        self.entry.frames.push(Frame { parent: here.frame, depth, at, function, call, interleaves });
        let frame = self.entry.frames.len() - 1;
        self.returns.push(vec![]);
        let breaks = std::mem::take(&mut self.breaks);
        let mut inside = *here;
        inside.change(|inside| inside.frame = frame);
        let end = self.block(body, inside, std::mem::take(from));
        self.breaks = breaks;
        let returned = self.returns.pop().unwrap_or_default();
        // A return from the middle joins the end; what decided over it inside does not decide out here.
        let straight = returned.is_empty();
        let goes_on = !end.ends.is_dead();
        let (mut held, mut open) = (goes_on.then_some(end.here.held), goes_on.then_some(end.here.open));
        for at in &returned {
            if let Some(behind) = self.behind(*at) {
                held = Some(held.map_or(behind.held, |held| self.entry.lists.common(held, behind.held)));
                open = Some(open.map_or(behind.open, |open| self.entry.lists.common(open, behind.open)));
            }
        }
        // A single way out keeps what decided over it: a helper that throws unless all is well.
        let control_dependences = match goes_on && straight {
            true => end.here.control_dependences,
            false => {
                let mut control_dependences = None;
                let returning =
                    returned.iter().filter_map(|at| self.entry.control().flow_facts(*at).copied());
                let branches: Vec<List> = returning.map(|here| here.control_dependences).collect();
                for branch in branches.into_iter().chain(goes_on.then_some(end.here.control_dependences)) {
                    control_dependences = Some(control_dependences.map_or(branch, |control_dependences| {
                        self.entry.lists.common(control_dependences, branch)
                    }));
                }
                let control_dependences = control_dependences.unwrap_or(here.control_dependences);
                self.undecided(control_dependences, &returned, goes_on)
            }
        };
        let early_exits = self.early_exits_of_call((*here, control_dependences), &returned, &end);
        here.judge(control_dependences);
        here.come_by(early_exits);
        held.into_iter().for_each(|held| here.hold(held));
        open.into_iter().for_each(|open| here.leave_open(open));
        let mut ends = end.ends;
        ends.extend(&returned);
        *from = ends;
    }

    /// The judges behind a inlined call without those both of whose ways lead there, one by a return and one by the end: whatever
    /// they found, what follows runs.
    fn undecided(&mut self, control_dependences: List, returned: &[At], goes_on: bool) -> List {
        let branch = |branches: &Branches, at: At| match (
            branches.then.contains(&at),
            branches.otherwise.contains(&at),
        ) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            // Behind the check: by the way that does not end.
            _ if branches.then_ends => Some(false),
            _ if branches.otherwise_ends => Some(true),
            _ => None,
        };
        let behind = At::MAX;
        let parts = |check: &At| {
            let Some(branches) = self.entry.control().branches_of(*check) else { return false };
            let mut exits =
                returned.iter().copied().chain(goes_on.then_some(behind)).map(|at| branch(branches, at));
            let first = exits.next();
            exits.any(|exit| Some(exit) != first)
        };
        let parting: Vec<At> =
            self.entry.lists.get(control_dependences).iter().copied().filter(|check| parts(check)).collect();
        if parting.is_empty() {
            control_dependences
        } else {
            self.entry.lists.retain(control_dependences, |at| !parting.contains(&at))
        }
    }

    /// What holds behind two ways, of which a dead one has no say.
    fn join(&mut self, here: &mut Now, one: &End, other: &End) {
        let (dead, other_dead) = (one.ends.is_dead(), other.ends.is_dead());
        here.hold(self.meet(one.here.held, dead, other.here.held, other_dead));
        here.leave_open(self.meet(one.here.open, dead, other.here.open, other_dead));
    }

    /// What holds on both ways; a way that does not go on has no say.
    fn meet(&mut self, one: List, one_is_dead: bool, other: List, other_is_dead: bool) -> List {
        match (one_is_dead, other_is_dead) {
            (true, false) => other,
            (false, true) => one,
            _ => self.entry.lists.common(one, other),
        }
    }

    pub(super) fn with(&mut self, list: List, at: At) -> List {
        self.entry.lists.with(list, at)
    }

    /// What holds behind a step.
    fn behind(&self, at: At) -> Option<FlowFacts> {
        let changed = self.after.binary_search_by_key(&at, |(at, _)| *at).ok();
        match changed.and_then(|location| self.after.get(location)) {
            Some((_, behind)) => Some(*behind),
            None => self.entry.control().flow_facts(at).copied(),
        }
    }

    /// Gives a step the number under which more is known of it.
    fn number(&mut self, at: At, known: usize) {
        if let Some(step) = self.entry.steps.get_mut(at) {
            step.number = number(known);
        }
    }

    /// A failure at a step goes to the nearest catch, or out.
    fn fail(&mut self, at: At) {
        match self.catches.last_mut() {
            Some(failed) => failed.push(at),
            None => self.lead(at, Next::Throw),
        }
    }

    fn connect(&mut self, from: &Dangling, to: Next) {
        from.each().for_each(|at| self.lead(at, to));
    }

    fn lead(&mut self, from: At, to: Next) {
        if let Some(step) = self.entry.steps.get_mut(from) {
            step.next.add(to);
        }
    }

    /// The acquisitions without the last of a lock: one that was taken twice is given back twice.
    fn without_last(&mut self, held: List, is_lock: impl Fn(Locks<'_, 'e>, &Lock) -> bool) -> List {
        let locks = self.entry.locks();
        let taken = |at: &&At| match self.entry.op(**at) {
            Some(Op::Acquire { lock, .. }) => is_lock(locks, &locks.resolve(lock)),
            _ => false,
        };
        let given_back = self.entry.lists.get(held).iter().rfind(taken).copied();
        self.entry.lists.retain(held, |at| Some(at) != given_back)
    }

    /// Whether more transactions are open than before.
    fn opens(&self, before: List, behind: List) -> bool {
        self.entry.lists.get(behind).len() > self.entry.lists.get(before).len()
    }

    /// The open transactions without the last on a connection: one inside another is a part of it, and the other is still open.
    fn keep_open(&mut self, open: List, via: &Via) -> List {
        let entry = &self.entry;
        let is_on_it = |at: &&At| match entry.op(**at) {
            Some(Op::Begin { transaction }) => transaction.via == *via,
            _ => false,
        };
        let ended = entry.lists.get(open).iter().rfind(is_on_it).copied();
        self.entry.lists.retain(open, |at| Some(at) != ended)
    }
}

/// A number as steps keep it. An entry never has that many of anything.
fn number(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether other calls run between any two steps of a function.
fn interleaves(program: &Program, function: FunctionId) -> bool {
    program.function(function).is_some_and(|function| function.interleaving != Interleaving::AtSuspension)
}
