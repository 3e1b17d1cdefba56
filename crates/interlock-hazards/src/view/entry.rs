//! One way into the program, laid out flat.

use std::{borrow::Cow, collections::HashMap, ops::Range, sync::Arc};

use interlock_model::{
    Confidence, Span,
    ir::{Effect, FunctionId, Name, Op, Program, Resource, Tool, Value, ValueInfo},
};

use super::{
    Facts,
    ahead::Known,
    flow::{Definition, Sources},
};

/// The number of a step in its [`Entry`].
pub type At = usize;

/// One way into the program.
#[derive(Debug)]
pub struct Entry<'e> {
    /// The program, for names.
    pub program: &'e Program,
    /// The function that is entered.
    pub function: FunctionId,
    /// When it runs.
    pub runs: &'e Runs,
    /// What is known of the whole program.
    pub(super) facts: Arc<Facts>,
    /// Its steps in the order of the source.
    pub steps: Vec<Step<'e>>,
    pub(super) values: &'e [ValueInfo],
    pub(super) definitions: Vec<Definition<'e>>,
    /// What each value was computed from, directly.
    pub(super) inputs: Vec<Cow<'e, [Value]>>,
    pub(super) sources: Sources,
    /// The step that made each value.
    pub(super) births: Vec<Option<At>>,
    /// The helper that was followed right before a step: what it answers is made there.
    pub(super) answers: HashMap<At, FunctionId>,
    pub(super) frames: Vec<Frame>,
    /// For each check: where its two ways stand, and which of them never get behind it.
    pub(super) ways: HashMap<At, Ways>,
    /// For each attempt whose failure is caught: the steps of its body.
    pub(super) attempts: HashMap<At, Range<At>>,
    /// What is reached from the steps that were asked for last.
    pub(super) ahead: Known,
    /// Whether it has anything in common with what callers reach. Commands and scripts of the same tree have not.
    pub(super) beside_calls: bool,
}

/// When an entry runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// A client calls these tools, any number of times at once. None for a request that is no tool.
    Call(Vec<Tool>),
    /// Something happens: a signal, a timer, a message. It runs beside calls.
    Event,
    /// Before calls are accepted.
    StartUp,
    /// Nothing in the tree calls it.
    Unreached,
}

/// A step of an entry.
#[derive(Debug)]
pub struct Step<'e> {
    /// What it does, and where that is written. Blocks inside it have steps of their own.
    pub effect: &'e Effect,
    /// What it reads, writes or deletes, under the names of this entry.
    pub resource: Option<Resource>,
    /// What holds there. Steps between which nothing changes share it.
    pub(super) here: Arc<Here>,
    /// Where control may go from here.
    pub(super) next: Edges,
    /// The first step that is no longer inside it.
    pub(super) until: At,
}

/// What holds at a step.
#[derive(Debug, Clone)]
pub(super) struct Here {
    /// The acquisitions that hold here on every way that leads here.
    pub(super) held: Arc<[At]>,
    /// The transactions that are open here on every way that leads here.
    pub(super) open: Arc<[At]>,
    /// The checks that decided that it runs.
    pub(super) judges: Arc<[At]>,
    /// The loops around it, outermost first.
    pub(super) loops: Arc<[At]>,
    /// The calls it is inside of.
    pub(super) frame: usize,
    /// What kind of stretch it stands in.
    pub(super) stretch: Stretch,
}

impl Here {
    /// The same in another kind of stretch.
    pub(super) fn within(&self, stretch: Stretch) -> Arc<Self> {
        Arc::new(Self { stretch, ..self.clone() })
    }
}

/// The two ways of a check.
#[derive(Debug, Clone)]
pub(super) struct Ways {
    pub(super) then: Range<At>,
    pub(super) otherwise: Range<At>,
    pub(super) then_ends: bool,
    pub(super) otherwise_ends: bool,
}

/// Where control may go from a step. Hardly any has more than two ways.
#[derive(Debug, Default)]
pub(super) enum Edges {
    #[default]
    None,
    One([Next; 1]),
    Two([Next; 2]),
    More(Vec<Next>),
}

impl Edges {
    pub(super) fn as_slice(&self) -> &[Next] {
        match self {
            Self::None => &[],
            Self::One(next) => next,
            Self::Two(next) => next,
            Self::More(next) => next,
        }
    }

    /// One way more, unless it is known.
    pub(super) fn add(&mut self, to: Next) {
        if self.as_slice().contains(&to) {
            return;
        }
        *self = match std::mem::take(self) {
            Self::None => Self::One([to]),
            Self::One([one]) => Self::Two([one, to]),
            Self::Two([one, other]) => Self::More(vec![one, other, to]),
            Self::More(mut next) => {
                next.push(to);
                Self::More(next)
            }
        };
    }
}

/// Where control may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// To a step.
    Step(At),
    /// Out, with success.
    Return,
    /// Out, with a failure.
    Throw,
}

/// What kind of stretch a step stands in; the innermost that says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Stretch {
    pub(super) in_catch: bool,
    pub(super) is_caught: bool,
    pub(super) in_finally: bool,
    /// Runs beside the call that started it.
    pub(super) apart: Option<At>,
}

/// A call that was followed.
#[derive(Debug)]
pub(super) struct Frame {
    /// The frame that it was called from; the entry's own has itself.
    pub(super) parent: usize,
    pub(super) depth: usize,
    pub(super) function: FunctionId,
    /// Where the call is written, in the parent's function.
    pub(super) call: Span,
}

impl<'e> Entry<'e> {
    /// What a step does.
    #[must_use]
    pub fn op(&self, at: At) -> Option<&'e Op> {
        self.steps.get(at).map(|step| &step.effect.op)
    }

    /// What a step reads, writes or deletes.
    #[must_use]
    pub fn resource(&self, at: At) -> Option<&Resource> {
        self.steps.get(at).and_then(|step| step.resource.as_ref())
    }

    /// The steps of which something holds, with their numbers.
    pub fn all(&self, holds: impl Fn(&Op) -> bool) -> impl Iterator<Item = At> {
        (0..).zip(&self.steps).filter(move |(_, step)| holds(&step.effect.op)).map(|(at, _)| at)
    }

    /// Whether the entry is a function, or calls it somewhere.
    pub(super) fn functions(&self) -> impl Iterator<Item = FunctionId> {
        self.frames.iter().map(|frame| frame.function)
    }

    /// The names of the tools through which a caller gets here.
    #[must_use]
    pub fn tools(&self) -> Vec<Name> {
        match self.runs {
            Runs::Call(tools) => tools.iter().map(|tool| tool.name.clone()).collect(),
            _ => vec![],
        }
    }

    /// Whether two of it can run at the same time.
    #[must_use]
    pub fn runs_beside_itself(&self) -> bool {
        !matches!(self.runs, Runs::StartUp)
    }

    /// How sure one can be that callers get here.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        match self.runs {
            Runs::Call(_) => Confidence::High,
            Runs::Event | Runs::StartUp if self.beside_calls => Confidence::Medium,
            Runs::Event | Runs::StartUp | Runs::Unreached => Confidence::Low,
        }
    }

    /// The checks, and the attempts whose failure was caught, that decided that a step runs, nearest last.
    #[must_use]
    pub fn judges(&self, at: At) -> &[At] {
        self.steps.get(at).map_or(&[], |step| &step.here.judges)
    }

    /// What a check must have said for a step to run; `None` if both answers lead there.
    #[must_use]
    pub fn answer(&self, check: At, at: At) -> Option<bool> {
        let ways = self.ways.get(&check)?;
        match (ways.then.contains(&at), ways.otherwise.contains(&at)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ if ways.then_ends && !ways.otherwise_ends => Some(false),
            _ if ways.otherwise_ends && !ways.then_ends => Some(true),
            _ => None,
        }
    }

    /// Whether a check does nothing on a yes but wait.
    #[must_use]
    pub fn only_waits(&self, check: At) -> bool {
        let Some(ways) = self.ways.get(&check) else { return false };
        let waits = |at: At| matches!(self.op(at), Some(Op::Suspend));
        !ways.then.is_empty() && ways.then.clone().all(waits) && ways.otherwise.is_empty()
    }

    /// The loops around a step, outermost first.
    #[must_use]
    pub fn loops(&self, at: At) -> &[At] {
        self.steps.get(at).map_or(&[], |step| &step.here.loops)
    }

    /// Whether a step only runs when something has failed.
    #[must_use]
    pub fn is_recovery(&self, at: At) -> bool {
        self.steps.get(at).is_some_and(|step| step.here.stretch.in_catch)
    }

    /// Whether a failure of the step is dealt with around it.
    #[must_use]
    pub fn is_caught(&self, at: At) -> bool {
        self.steps.get(at).is_some_and(|step| step.here.stretch.is_caught)
    }

    /// Whether a step runs in every case.
    #[must_use]
    pub fn is_finally(&self, at: At) -> bool {
        self.steps.get(at).is_some_and(|step| step.here.stretch.in_finally)
    }

    /// The spawn that started the step beside the call, if one did.
    #[must_use]
    pub fn apart(&self, at: At) -> Option<At> {
        self.steps.get(at).and_then(|step| step.here.stretch.apart)
    }

    /// The function that a step is written in.
    #[must_use]
    pub fn function_of(&self, at: At) -> FunctionId {
        let frame = self.steps.get(at).and_then(|step| self.frames.get(step.here.frame));
        frame.map_or(self.function, |frame| frame.function)
    }
}
