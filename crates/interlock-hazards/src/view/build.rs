//! From nested blocks to flat steps: one walk that numbers the steps, draws the edges and notes what holds at each.

use std::{collections::HashMap, sync::Arc};

use interlock_model::{
    Span,
    ir::{Block, Bound, Effect, Exit, FunctionId, Lock, Op, Program, Resource, ValueInfo, Via},
};

use super::{
    Facts,
    ahead::Known,
    entry::{At, Edges, Entry, Frame, Here, Next, Runs, Step, Stretch, Ways},
    flow::Sources,
};

/// A function whose calls have been followed: what the analysis hands over.
#[derive(Debug)]
pub struct Expanded {
    /// The function that is entered.
    pub function: FunctionId,
    /// When it runs.
    pub runs: Runs,
    /// Every value, those of the functions inside included.
    pub values: Arc<[ValueInfo]>,
    /// Its steps; calls that could be followed are [`Op::Inlined`].
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
            values: &expanded.values,
            definitions: vec![],
            inputs: vec![],
            ways: HashMap::new(),
            attempts: HashMap::new(),
            sources: Sources::default(),
            births: vec![],
            answers: HashMap::new(),
            ahead: Known::default(),
            beside_calls: true,
            frames: vec![Frame { parent: 0, depth: 0, function: expanded.function, call: Span::default() }],
        };
        let nothing: Arc<[At]> = [].into();
        let here = Arc::new(Here {
            held: nothing.clone(),
            open: nothing.clone(),
            judges: nothing.clone(),
            loops: nothing,
            frame: 0,
            stretch: Stretch::default(),
        });
        let mut walk = Walk { entry, after: vec![], catches: vec![], breaks: vec![], returns: vec![] };
        let steps = walk.entry.define(&expanded.body);
        walk.entry.steps.reserve_exact(steps);
        walk.after.reserve_exact(steps);
        let end = walk.block(&expanded.body, here, Dangling::start());
        walk.connect(end.ends, Next::Return);
        let mut entry = walk.entry;
        entry.note_births();
        entry.name_resources();
        entry.trace();
        entry
    }
}

/// The steps whose control goes to whatever comes next.
#[derive(Default)]
struct Dangling {
    /// Nothing has been walked yet, so there is nobody to connect.
    start: bool,
    ends: Vec<At>,
}

/// The end of a block: where control goes on from, and what holds there.
struct End {
    ends: Dangling,
    /// Its judges also decide over everything behind the block, because another way out of them was a failure.
    here: Arc<Here>,
}

struct Walk<'e> {
    entry: Entry<'e>,
    /// For each step: what holds behind it.
    after: Vec<Arc<Here>>,
    /// For each try around here: the steps from which a failure leads to its catch or finally.
    catches: Vec<Vec<At>>,
    /// For each loop around here: the steps that leave it.
    breaks: Vec<Vec<At>>,
    /// For each followed call around here: the steps that return from it.
    returns: Vec<Vec<At>>,
}

impl<'e> Walk<'e> {
    fn block(&mut self, block: &'e Block, mut here: Arc<Here>, mut from: Dangling) -> End {
        for effect in block {
            if from.is_dead() {
                break;
            }
            let at = self.step(effect, &here, &mut from);
            self.effect(effect, at, &mut here, &mut from);
            let until = self.entry.steps.len();
            if let Some(step) = self.entry.steps.get_mut(at) {
                step.until = until;
            }
        }
        End { ends: from, here }
    }

    /// Adds the step itself; control comes to it from what dangles, and goes on from it.
    fn step(&mut self, effect: &'e Effect, here: &Arc<Here>, from: &mut Dangling) -> At {
        let at = self.entry.steps.len();
        self.entry.steps.push(Step {
            effect,
            resource: None,
            here: here.clone(),
            next: Edges::default(),
            until: at + 1,
        });
        self.after.push(here.clone());
        from.ends.drain(..).for_each(|before| self.lead(before, Next::Step(at)));
        from.ends.push(at);
        from.start = false;
        if may_fail(&effect.op) {
            self.fail(at);
        }
        at
    }

    fn effect(&mut self, effect: &'e Effect, at: At, here: &mut Arc<Here>, from: &mut Dangling) {
        match &effect.op {
            Op::Exit(exit) => {
                self.exit(exit, at);
                *from = Dangling::dead();
            }
            Op::Acquire { .. } => change(here, |here| here.held = with(&here.held, at)),
            Op::Release { lock } => {
                let lock = self.entry.lock(lock);
                let held = self.without_last(&here.held, |held| held.is_the_same_as(&lock));
                change(here, |here| here.held = held);
            }
            Op::Begin { .. } => change(here, |here| here.open = with(&here.open, at)),
            Op::End { via, .. } => {
                let open = self.keep_open(&here.open, via);
                change(here, |here| here.open = open);
            }
            Op::Check { then, otherwise, .. } => self.check(then, otherwise, at, here, from),
            Op::Loop { bound, body, .. } => self.repeat(*bound, body, at, here, from),
            Op::Try { body, catch, finally } => {
                let catch = catch.as_ref().map(|catch| &catch.body);
                self.attempt((body, catch, finally), at, here, from);
            }
            Op::Spawn { body, .. } => {
                let stretch = Stretch { apart: Some(at), ..Stretch::default() };
                // A failure of what runs apart does not come back here.
                let catches = std::mem::take(&mut self.catches);
                let (breaks, returns) = (std::mem::take(&mut self.breaks), std::mem::take(&mut self.returns));
                let end = self.block(body, here.within(stretch), Dangling::after(at));
                self.connect(end.ends, Next::Return);
                (self.catches, self.breaks, self.returns) = (catches, breaks, returns);
            }
            Op::Together { branches } => {
                let mut ends = Dangling::dead();
                for branch in branches {
                    let end = self.block(branch, here.clone(), Dangling::after(at));
                    ends.join(end.ends);
                }
                if !branches.is_empty() {
                    *from = ends;
                }
            }
            Op::Inlined { function, body } => self.inside(*function, effect.span, body, here, from),
            _ => {}
        }
        if let Op::Acquire { .. } | Op::Release { .. } | Op::Begin { .. } | Op::End { .. } = effect.op
            && let Some(after) = self.after.get_mut(at)
        {
            *after = here.clone();
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
            Exit::Continue => match self.entry.steps.get(at).and_then(|step| step.here.loops.last().copied())
            {
                Some(head) => Next::Step(head),
                None => Next::Return,
            },
            Exit::Throw => return self.fail(at),
        };
        self.lead(at, goes);
    }

    fn check(
        &mut self,
        then: &'e Block,
        otherwise: &'e Block,
        at: At,
        here: &mut Arc<Here>,
        from: &mut Dangling,
    ) {
        let mut judged = here.clone();
        change(&mut judged, |judged| judged.judges = with(&judged.judges, at));
        let first = self.entry.steps.len();
        let one = self.block(then, judged.clone(), Dangling::after(at));
        let middle = self.entry.steps.len();
        let other = self.block(otherwise, judged, Dangling::after(at));
        let ways = Ways {
            then: first..middle,
            otherwise: middle..self.entry.steps.len(),
            then_ends: one.ends.is_dead(),
            otherwise_ends: other.ends.is_dead(),
        };
        self.entry.ways.insert(at, ways);
        // What comes behind a check of which one way never gets there is decided by it as well.
        let decides = one.ends.is_dead() != other.ends.is_dead();
        self.join(here, &one, &other);
        if decides {
            // The way that goes on may itself have been decided further in.
            let goes_on = if one.ends.is_dead() { &other.here } else { &one.here };
            judge(here, &goes_on.judges);
        }
        let mut ends = one.ends;
        ends.join(other.ends);
        *from = ends;
    }

    fn repeat(&mut self, bound: Bound, body: &'e Block, at: At, here: &mut Arc<Here>, from: &mut Dangling) {
        self.breaks.push(vec![]);
        let mut inside = here.clone();
        change(&mut inside, |inside| inside.loops = with(&inside.loops, at));
        let end = self.block(body, inside, Dangling::after(at));
        self.connect(end.ends, Next::Step(at));
        let left = self.breaks.pop().unwrap_or_default();
        // A loop without a limit is only left from inside.
        let mut ends = if bound == Bound::Unlimited && !left.is_empty() {
            Dangling::dead()
        } else {
            Dangling::after(at)
        };
        ends.ends.extend(left);
        if bound == Bound::Limited || bound == Bound::Unlimited {
            let held = meet(&here.held, false, &end.here.held, false);
            hold(here, &held);
        }
        *from = ends;
    }

    fn attempt(
        &mut self,
        (body, catch, finally): (&'e Block, Option<&'e Block>, &'e Block),
        at: At,
        here: &mut Arc<Here>,
        from: &mut Dangling,
    ) {
        let before = here.clone();
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
        hold(here, &end.here.held);
        leave_open(here, &end.here.open);
        judge(here, &end.here.judges);
        let mut ends = end.ends;
        if let Some(catch) = catch {
            self.entry.attempts.insert(at, first..self.entry.steps.len());
            let failed = self.catches.pop().unwrap_or_default();
            let stretch = Stretch { in_catch: true, ..before.stretch };
            // What was acquired inside is not sure to be held where the failure is caught.
            let mut recovering = before.within(stretch);
            change(&mut recovering, |recovering| recovering.judges = with(&recovering.judges, at));
            let caught = self.block(catch, recovering, Dangling { start: false, ends: failed });
            let (dead, caught_dead) = (ends.is_dead(), caught.ends.is_dead());
            let held = meet(&here.held, dead, &caught.here.held, caught_dead);
            let open = meet(&here.open, dead, &caught.here.open, caught_dead);
            hold(here, &held);
            leave_open(here, &open);
            if dead {
                judge(here, &caught.here.judges);
            } else if caught_dead {
                // Nothing failed, or we would not be here.
                change(here, |here| here.judges = with(&here.judges, at));
            } else {
                // Both ways go on, so nothing inside decides over what follows.
                judge(here, &before.judges);
            }
            ends.join(caught.ends);
        }
        if finally_catches {
            let failed = self.catches.pop().unwrap_or_default();
            let returned = self.returns.pop().unwrap_or_default();
            let completes = !ends.is_dead();
            let stretch = Stretch { in_finally: true, ..before.stretch };
            let mut into = ends;
            into.ends.extend(failed.iter().chain(&returned));
            let end = self.block(finally, here.within(stretch), into);
            hold(here, &end.here.held);
            leave_open(here, &end.here.open);
            let last = end.ends;
            if !failed.is_empty() {
                for at in &last.ends {
                    self.fail(*at);
                }
            }
            if !returned.is_empty() {
                match self.returns.last_mut() {
                    Some(returns) => returns.extend(&last.ends),
                    None => self.connect(Dangling { start: false, ends: last.ends.clone() }, Next::Return),
                }
            }
            ends = if completes { last } else { Dangling::dead() };
        }
        *from = ends;
    }

    fn inside(
        &mut self,
        function: FunctionId,
        call: Span,
        body: &'e Block,
        here: &mut Arc<Here>,
        from: &mut Dangling,
    ) {
        let depth = self.entry.frames.get(here.frame).map_or(0, |frame| frame.depth) + 1;
        self.entry.frames.push(Frame { parent: here.frame, depth, function, call });
        let frame = self.entry.frames.len() - 1;
        self.returns.push(vec![]);
        let breaks = std::mem::take(&mut self.breaks);
        let mut inside = here.clone();
        change(&mut inside, |inside| inside.frame = frame);
        let end = self.block(body, inside, std::mem::take(from));
        self.breaks = breaks;
        let returned = self.returns.pop().unwrap_or_default();
        // A return from the middle joins the end; what decided over it inside does not decide out here.
        let straight = returned.is_empty();
        let mut ends = end.ends;
        let mut held = (!ends.is_dead()).then(|| end.here.held.clone());
        let mut open = (!ends.is_dead()).then(|| end.here.open.clone());
        for at in &returned {
            if let Some(behind) = self.after.get(*at) {
                held = Some(held.map_or_else(|| behind.held.clone(), |held| common(&held, &behind.held)));
                open = Some(open.map_or_else(|| behind.open.clone(), |open| common(&open, &behind.open)));
            }
        }
        // A single way out keeps what decided over it: a helper that throws unless all is well.
        let judges = match (&*returned, ends.is_dead()) {
            ([], false) if straight => end.here.judges.clone(),
            (returned, dead) => {
                let mut ways: Vec<Arc<[At]>> = returned
                    .iter()
                    .filter_map(|at| self.entry.steps.get(*at))
                    .map(|step| step.here.judges.clone())
                    .collect();
                if !dead {
                    ways.push(end.here.judges.clone());
                }
                ways.into_iter().reduce(|one, other| common(&one, &other)).unwrap_or(here.judges.clone())
            }
        };
        judge(here, &judges);
        held.iter().for_each(|held| hold(here, held));
        open.iter().for_each(|open| leave_open(here, open));
        ends.ends.extend(returned);
        *from = ends;
    }

    /// What holds behind two ways, of which a dead one has no say.
    fn join(&self, here: &mut Arc<Here>, one: &End, other: &End) {
        let (dead, other_dead) = (one.ends.is_dead(), other.ends.is_dead());
        hold(here, &meet(&one.here.held, dead, &other.here.held, other_dead));
        leave_open(here, &meet(&one.here.open, dead, &other.here.open, other_dead));
    }

    /// A failure at a step goes to the nearest catch, or out.
    fn fail(&mut self, at: At) {
        match self.catches.last_mut() {
            Some(failed) => failed.push(at),
            None => self.lead(at, Next::Throw),
        }
    }

    fn connect(&mut self, from: Dangling, to: Next) {
        from.ends.into_iter().for_each(|at| self.lead(at, to));
    }

    fn lead(&mut self, from: At, to: Next) {
        if let Some(step) = self.entry.steps.get_mut(from) {
            step.next.add(to);
        }
    }

    /// The acquisitions without the last of a lock: one that was taken twice is given back twice.
    fn without_last(&self, held: &Arc<[At]>, is_lock: impl Fn(&Lock) -> bool) -> Arc<[At]> {
        let given_back = held.iter().rposition(|at| match self.entry.op(*at) {
            Some(Op::Acquire { lock, .. }) => is_lock(&self.entry.lock(lock)),
            _ => false,
        });
        (0..).zip(held.iter()).filter(|(place, _)| Some(*place) != given_back).map(|(_, at)| *at).collect()
    }

    fn keep_open(&self, open: &Arc<[At]>, via: &Via) -> Arc<[At]> {
        let stays = |at: &&At| match self.entry.op(**at) {
            Some(Op::Begin { transaction }) => transaction.via != *via,
            _ => true,
        };
        open.iter().filter(stays).copied().collect()
    }
}

impl Dangling {
    const fn start() -> Self {
        Self { start: true, ends: vec![] }
    }

    const fn dead() -> Self {
        Self { start: false, ends: vec![] }
    }

    fn after(at: At) -> Self {
        Self { start: false, ends: vec![at] }
    }

    fn is_dead(&self) -> bool {
        !self.start && self.ends.is_empty()
    }

    fn join(&mut self, other: Self) {
        self.start |= other.start;
        self.ends.extend(other.ends);
    }
}

/// Whether a step can fail by itself: what talks to something outside the function.
fn may_fail(op: &Op) -> bool {
    match op {
        Op::Read { of: resource, .. }
        | Op::Write { to: resource, .. }
        | Op::Delete { of: resource, .. }
        | Op::Rename { from: resource, .. } => {
            matches!(
                resource,
                Resource::File(_) | Resource::Row { .. } | Resource::Key(_) | Resource::Stream(_)
            )
        }
        Op::External { .. } | Op::Call { .. } | Op::Suspend | Op::Open { .. } | Op::Begin { .. } => true,
        Op::End { .. } => true,
        _ => false,
    }
}

/// Changes what holds from here on; the steps before keep what held there.
fn change(here: &mut Arc<Here>, by: impl FnOnce(&mut Here)) {
    by(Arc::make_mut(here));
}

fn hold(here: &mut Arc<Here>, held: &Arc<[At]>) {
    if !Arc::ptr_eq(&here.held, held) {
        change(here, |here| here.held = held.clone());
    }
}

fn leave_open(here: &mut Arc<Here>, open: &Arc<[At]>) {
    if !Arc::ptr_eq(&here.open, open) {
        change(here, |here| here.open = open.clone());
    }
}

fn judge(here: &mut Arc<Here>, judges: &Arc<[At]>) {
    if !Arc::ptr_eq(&here.judges, judges) {
        change(here, |here| here.judges = judges.clone());
    }
}

fn with(set: &Arc<[At]>, at: At) -> Arc<[At]> {
    set.iter().copied().chain([at]).collect()
}

/// What holds on both ways; a way that does not go on has no say.
fn meet(one: &Arc<[At]>, one_is_dead: bool, other: &Arc<[At]>, other_is_dead: bool) -> Arc<[At]> {
    match (one_is_dead, other_is_dead) {
        (true, false) => other.clone(),
        (false, true) => one.clone(),
        _ => common(one, other),
    }
}

fn common(one: &Arc<[At]>, other: &Arc<[At]>) -> Arc<[At]> {
    if Arc::ptr_eq(one, other) || one == other {
        return one.clone();
    }
    one.iter().filter(|at| other.contains(at)).copied().collect()
}
