//! One way into the program, laid out flat.

use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, OnceLock},
};

use interlock_model::{
    Confidence, Span,
    ir::{Block, Effect, FunctionId, Name, Op, Program, Resource, Tool, ValueInfo},
};

use super::{
    Facts,
    ahead::{Bits, Known},
    alike::DefinitionSites,
    edges::Edges,
    flow::{Definition, Inputs},
    here::{FlowFacts, Lists},
    kinds::{KindOfStep, Kinds},
    sources::{ListNumber, Sources},
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
    pub(crate) facts: Arc<Facts>,
    /// Its steps in the order of the source.
    pub steps: Vec<Step<'e>>,
    /// What kind each of them is.
    pub(super) kinds: KindOfStep,
    /// What steps read, write or delete, under the names of this entry.
    pub(super) resources: Vec<Cow<'e, Resource>>,
    /// What holds at steps. Those between which nothing changes share it.
    pub(super) flow_facts: Vec<FlowFacts>,
    /// The lists of all of those.
    pub(super) lists: Lists,
    pub(super) values: &'e [ValueInfo],
    pub(super) definitions: Vec<Definition<'e>>,
    /// What each value was computed from, directly.
    pub(super) inputs: Vec<Inputs<'e>>,
    pub(super) sources: Sources,
    /// Which step made each value, once somebody asks.
    pub(super) definition_sites: OnceLock<DefinitionSites>,
    pub(super) frames: Vec<Frame>,
    /// Of each check: where its two ways stand, and which of them never get behind it.
    pub(super) branches: Vec<Branches>,
    /// Of each attempt whose failure is caught: the steps of its body.
    pub(super) attempts: Vec<Range<At>>,
    /// The steps at which another call of the same process may run.
    pub(super) pauses: Bits,
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
    /// The same for a part of what these tools do that is too large to be seen inside of them. Who calls it, and how, is not known.
    Part(Vec<Tool>),
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
    /// Where control may go from here.
    pub(super) next: Edges,
    /// The number of what holds there, among [`Entry::flow_facts`].
    pub(super) here: u32,
    /// The first step that is no longer inside it.
    pub(super) until: u32,
    /// The number of what is touched among [`Entry::resources`], of a check among [`Entry::branches`], or of an attempt among
    /// [`Entry::attempts`].
    pub(super) number: u32,
}

/// The two ways of a check.
#[derive(Debug, Clone, Default)]
pub(super) struct Branches {
    pub(super) then: Range<At>,
    pub(super) otherwise: Range<At>,
    pub(super) then_ends: bool,
    pub(super) otherwise_ends: bool,
    /// The list of the steps that the check depends on.
    pub(super) asked: ListNumber,
}

/// A call that was followed.
#[derive(Debug)]
pub(super) struct Frame {
    /// The frame that it was called from; the entry's own has itself.
    pub(super) parent: usize,
    pub(super) depth: usize,
    /// The step that has what the function does inside.
    pub(super) at: At,
    pub(super) function: FunctionId,
    /// Where the call is written, in the parent's function.
    pub(super) call: Span,
    /// Whether other calls run between any two of its steps.
    pub(super) interleaves: bool,
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
        let touches = self.kinds.is_one_of(at, Kinds::TOUCHES);
        let number = touches.then(|| self.steps.get(at)).flatten()?.number;
        self.resources.get(number as usize).map(|resource| &**resource)
    }

    /// Whether the entry is a function, or calls it somewhere.
    pub(super) fn functions(&self) -> impl Iterator<Item = FunctionId> {
        self.frames.iter().map(|frame| frame.function)
    }

    /// The names of the tools through which a caller gets here.
    #[must_use]
    pub fn tools(&self) -> Vec<Name> {
        match self.runs {
            Runs::Call(tools) | Runs::Part(tools) => tools.iter().map(|tool| tool.name.clone()).collect(),
            _ => vec![],
        }
    }

    /// Whether a caller gets here through a tool.
    #[must_use]
    pub fn is_tool(&self) -> bool {
        matches!(self.runs, Runs::Call(tools) | Runs::Part(tools) if !tools.is_empty())
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
            Runs::Part(_) => Confidence::Medium,
            Runs::Event | Runs::StartUp if self.beside_calls => Confidence::Medium,
            Runs::Event | Runs::StartUp | Runs::Unreached => Confidence::Low,
        }
    }

    /// The checks, and the attempts whose failure was caught, that decided that a step runs, nearest last.
    #[must_use]
    pub fn control_dependences(&self, at: At) -> &[At] {
        self.list(|here| here.control_dependences, at)
    }

    /// What a check must have said for a step to run; `None` if both answers lead there.
    #[must_use]
    pub fn answer(&self, check: At, at: At) -> Option<bool> {
        let branches = self.branches_of(check)?;
        match (branches.then.contains(&at), branches.otherwise.contains(&at)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ if branches.then_ends && !branches.otherwise_ends => Some(false),
            _ if branches.otherwise_ends && !branches.then_ends => Some(true),
            _ => None,
        }
    }

    pub(super) fn branches_of(&self, check: At) -> Option<&Branches> {
        let checks = self.kinds.is_one_of(check, Kinds::CHECK);
        let number = checks.then(|| self.steps.get(check)).flatten()?.number;
        self.branches.get(number as usize)
    }

    /// The steps of what is tried, where its failure is caught.
    #[must_use]
    pub fn tried(&self, attempt: At) -> Option<&Range<At>> {
        let tries = self.kinds.is_one_of(attempt, Kinds::TRY);
        let step = tries.then(|| self.steps.get(attempt)).flatten()?;
        matches!(step.effect.op, Op::Try { catch: Some(_), .. })
            .then(|| self.attempts.get(step.number as usize))
            .flatten()
    }

    /// The attempt that catches a failure of a step, if one does.
    #[must_use]
    pub fn catcher(&self, at: At) -> Option<At> {
        let around = |attempt: &At| self.tried(*attempt).is_some_and(|tried| tried.contains(&at));
        (0..at).rev().find(around)
    }

    /// Whether a check does nothing on a yes but wait.
    #[must_use]
    pub fn only_waits(&self, check: At) -> bool {
        let Some(branches) = self.branches_of(check) else { return false };
        let waits = |at: At| matches!(self.op(at), Some(Op::Suspend));
        !branches.then.is_empty() && branches.then.clone().all(waits) && branches.otherwise.is_empty()
    }

    /// The loops around a step, outermost first.
    #[must_use]
    pub fn loops(&self, at: At) -> &[At] {
        self.list(|here| here.loops, at)
    }

    /// Whether a step only runs when something has failed.
    #[must_use]
    pub fn is_recovery(&self, at: At) -> bool {
        self.here(at).is_some_and(|here| here.stretch.in_catch)
    }

    /// Whether a failure of the step is dealt with around it.
    #[must_use]
    pub fn is_caught(&self, at: At) -> bool {
        self.here(at).is_some_and(|here| here.stretch.is_caught)
    }

    /// Whether a failure of the second of two steps is dealt with around it. What catches whatever goes wrong from the first one on, and
    /// asks nothing about it, only words it.
    #[must_use]
    pub fn is_dealt_with(&self, first: At, second: At) -> bool {
        let asks = |attempt: At| match self.op(attempt) {
            Some(Op::Try { catch: Some(catch), .. }) => has_check(&catch.body),
            _ => false,
        };
        self.is_caught(second)
            && self.steps_of(Kinds::TRY).take_while(|attempt| *attempt < second).any(|attempt| {
                let tried = self.tried(attempt).filter(|tried| tried.contains(&second));
                tried.is_some_and(|tried| !tried.contains(&first) || asks(attempt))
            })
    }

    /// Whether a step runs in every case.
    #[must_use]
    pub fn is_finally(&self, at: At) -> bool {
        self.here(at).is_some_and(|here| here.stretch.in_finally)
    }

    /// The spawn that started the step beside the call, if one did.
    #[must_use]
    pub fn detached(&self, at: At) -> Option<At> {
        self.here(at).and_then(|here| here.stretch.detached)
    }

    /// The function that a step is written in.
    #[must_use]
    pub fn function_of(&self, at: At) -> FunctionId {
        let frame = self.here(at).and_then(|here| self.frames.get(here.frame));
        frame.map_or(self.function, |frame| frame.function)
    }
}

fn has_check(block: &Block) -> bool {
    let asks = |op: &Op| matches!(op, Op::Check { on, .. } if !on.is_empty());
    block.iter().any(|effect| asks(&effect.op) || effect.op.blocks().any(has_check))
}
