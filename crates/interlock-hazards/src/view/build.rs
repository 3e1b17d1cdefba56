//! From nested blocks to flat steps: one walk that numbers the steps, draws the edges and notes what holds at each.

use std::{collections::HashMap, sync::Arc};

use interlock_model::{
    Span,
    ir::{Block, Bound, Effect, Exit, FunctionId, Lock, Op, Program, Resource, ValueInfo, Via},
};

use super::{
    Facts,
    ahead::Known,
    entry::{At, Entry, Frame, Next, Runs, Step, Stretch, Ways},
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
            sources: vec![],
            births: vec![],
            answers: HashMap::new(),
            ahead: Known::default(),
            beside_calls: true,
            frames: vec![Frame { parent: 0, depth: 0, function: expanded.function, call: Span::default() }],
        };
        let nothing: Arc<[At]> = [].into();
        let here = Here {
            held: nothing.clone(),
            open: nothing.clone(),
            judges: nothing.clone(),
            loops: nothing,
            frame: 0,
            stretch: Stretch::default(),
        };
        let mut walk = Walk { entry, after: vec![], catches: vec![], breaks: vec![], returns: vec![] };
        walk.entry.define(&expanded.body);
        let end = walk.block(&expanded.body, here, Dangling::start());
        walk.connect(end.ends, Next::Return);
        let mut entry = walk.entry;
        entry.note_births();
        entry.name_resources();
        entry.trace();
        entry
    }
}

/// What holds at the place that the walk has come to.
#[derive(Clone)]
struct Here {
    held: Arc<[At]>,
    open: Arc<[At]>,
    judges: Arc<[At]>,
    loops: Arc<[At]>,
    frame: usize,
    stretch: Stretch,
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
    held: Arc<[At]>,
    open: Arc<[At]>,
    /// The checks that decide over everything behind the block, because another way out of them was a failure.
    judges: Arc<[At]>,
}

/// The acquisitions that hold and the transactions that are open behind a step.
type Behind = (Arc<[At]>, Arc<[At]>);

struct Walk<'e> {
    entry: Entry<'e>,
    /// For each step: the acquisitions that hold and the transactions that are open behind it.
    after: Vec<Behind>,
    /// For each try around here: the steps from which a failure leads to its catch or finally.
    catches: Vec<Vec<At>>,
    /// For each loop around here: the steps that leave it.
    breaks: Vec<Vec<At>>,
    /// For each followed call around here: the steps that return from it.
    returns: Vec<Vec<At>>,
}

impl<'e> Walk<'e> {
    fn block(&mut self, block: &'e Block, mut here: Here, mut from: Dangling) -> End {
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
        End { ends: from, held: here.held, open: here.open, judges: here.judges }
    }

    /// Adds the step itself; control comes to it from what dangles, and goes on from it.
    fn step(&mut self, effect: &'e Effect, here: &Here, from: &mut Dangling) -> At {
        let at = self.entry.steps.len();
        self.entry.steps.push(Step {
            effect,
            resource: None,
            frame: here.frame,
            held: here.held.clone(),
            open: here.open.clone(),
            judges: here.judges.clone(),
            loops: here.loops.clone(),
            next: vec![],
            stretch: here.stretch,
            until: at + 1,
        });
        self.after.push((here.held.clone(), here.open.clone()));
        let before = std::mem::replace(from, Dangling { start: false, ends: vec![at] });
        self.connect(before, Next::Step(at));
        if may_fail(&effect.op) {
            self.fail(at);
        }
        at
    }

    fn effect(&mut self, effect: &'e Effect, at: At, here: &mut Here, from: &mut Dangling) {
        match &effect.op {
            Op::Exit(exit) => {
                self.exit(exit, at);
                *from = Dangling::dead();
            }
            Op::Acquire { .. } => here.held = with(&here.held, at),
            Op::Release { lock } => {
                let lock = self.entry.lock(lock);
                here.held = self.without_last(&here.held, |held| held.is_the_same_as(&lock));
            }
            Op::Begin { .. } => here.open = with(&here.open, at),
            Op::End { via, .. } => here.open = self.keep_open(&here.open, via),
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
                let end = self.block(body, Here { stretch, ..here.clone() }, Dangling::after(at));
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
            *after = (here.held.clone(), here.open.clone());
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
            Exit::Continue => match self.entry.steps.get(at).and_then(|step| step.loops.last().copied()) {
                Some(head) => Next::Step(head),
                None => Next::Return,
            },
            Exit::Throw => return self.fail(at),
        };
        self.connect(Dangling::after(at), goes);
    }

    fn check(&mut self, then: &'e Block, otherwise: &'e Block, at: At, here: &mut Here, from: &mut Dangling) {
        let judged = Here { judges: with(&here.judges, at), ..here.clone() };
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
        here.held = meet(&one.held, one.ends.is_dead(), &other.held, other.ends.is_dead());
        here.open = meet(&one.open, one.ends.is_dead(), &other.open, other.ends.is_dead());
        if decides {
            // The way that goes on may itself have been decided further in.
            here.judges = if one.ends.is_dead() { other.judges } else { one.judges };
        }
        let mut ends = one.ends;
        ends.join(other.ends);
        *from = ends;
    }

    fn repeat(&mut self, bound: Bound, body: &'e Block, at: At, here: &mut Here, from: &mut Dangling) {
        self.breaks.push(vec![]);
        let inside = Here { loops: with(&here.loops, at), ..here.clone() };
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
            here.held = meet(&here.held, false, &end.held, false);
        }
        *from = ends;
    }

    fn attempt(
        &mut self,
        (body, catch, finally): (&'e Block, Option<&'e Block>, &'e Block),
        at: At,
        here: &mut Here,
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
        let end = self.block(body, Here { stretch, ..here.clone() }, std::mem::take(from));
        let mut ends = end.ends;
        (here.held, here.open, here.judges) = (end.held, end.open, end.judges);
        if let Some(catch) = catch {
            self.entry.attempts.insert(at, first..self.entry.steps.len());
            let failed = self.catches.pop().unwrap_or_default();
            let stretch = Stretch { in_catch: true, ..before.stretch };
            // What was acquired inside is not sure to be held where the failure is caught.
            let caught = self.block(
                catch,
                Here { stretch, judges: with(&before.judges, at), ..before.clone() },
                Dangling { start: false, ends: failed },
            );
            here.held = meet(&here.held, ends.is_dead(), &caught.held, caught.ends.is_dead());
            here.open = meet(&here.open, ends.is_dead(), &caught.open, caught.ends.is_dead());
            if ends.is_dead() {
                here.judges = caught.judges;
            } else if caught.ends.is_dead() {
                // Nothing failed, or we would not be here.
                here.judges = with(&here.judges, at);
            } else {
                // Both ways go on, so nothing inside decides over what follows.
                here.judges = before.judges.clone();
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
            let inside = Here { stretch, ..here.clone() };
            let end = self.block(finally, inside, into);
            (here.held, here.open) = (end.held, end.open);
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
        here: &mut Here,
        from: &mut Dangling,
    ) {
        let depth = self.entry.frames.get(here.frame).map_or(0, |frame| frame.depth) + 1;
        self.entry.frames.push(Frame { parent: here.frame, depth, function, call });
        let frame = self.entry.frames.len() - 1;
        self.returns.push(vec![]);
        let breaks = std::mem::take(&mut self.breaks);
        let end = self.block(body, Here { frame, ..here.clone() }, std::mem::take(from));
        self.breaks = breaks;
        let returned = self.returns.pop().unwrap_or_default();
        // A return from the middle joins the end; what decided over it inside does not decide out here.
        let straight = returned.is_empty();
        let mut ends = end.ends;
        let mut held = (!ends.is_dead()).then_some(end.held);
        let mut open = (!ends.is_dead()).then_some(end.open);
        for at in &returned {
            if let Some((holds, opened)) = self.after.get(*at) {
                held = Some(held.map_or_else(|| holds.clone(), |held| common(&held, holds)));
                open = Some(open.map_or_else(|| opened.clone(), |open| common(&open, opened)));
            }
        }
        // A single way out keeps what decided over it: a helper that throws unless all is well.
        here.judges = match (&*returned, ends.is_dead()) {
            ([], false) if straight => end.judges,
            (returned, dead) => {
                let mut ways: Vec<Arc<[At]>> = returned
                    .iter()
                    .filter_map(|at| self.entry.steps.get(*at))
                    .map(|step| step.judges.clone())
                    .collect();
                if !dead {
                    ways.push(end.judges);
                }
                ways.into_iter().reduce(|one, other| common(&one, &other)).unwrap_or(here.judges.clone())
            }
        };
        here.held = held.unwrap_or_else(|| here.held.clone());
        here.open = open.unwrap_or_else(|| here.open.clone());
        ends.ends.extend(returned);
        *from = ends;
    }

    /// A failure at a step goes to the nearest catch, or out.
    fn fail(&mut self, at: At) {
        match self.catches.last_mut() {
            Some(failed) => failed.push(at),
            None => self.connect(Dangling::after(at), Next::Throw),
        }
    }

    fn connect(&mut self, from: Dangling, to: Next) {
        for at in from.ends {
            if let Some(step) = self.entry.steps.get_mut(at)
                && !step.next.contains(&to)
            {
                step.next.push(to);
            }
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
    if one == other {
        return one.clone();
    }
    one.iter().filter(|at| other.contains(at)).copied().collect()
}
