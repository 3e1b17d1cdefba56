//! An entry point of the program, laid out flat.

use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, OnceLock},
};

use interlock_model::{
    Span,
    ir::{Effect, FunctionId, Interleaving, Name, Op, Program, Resource, Tool, ValueInfo},
};

use super::{
    Alias, Control, Facts, Flow, Locks,
    control::{
        edges::Edges,
        flow_facts::{FlowFacts, Lists},
        reachable::{Bits, Known},
    },
    flow::{
        def_use::{Definition, Inputs},
        definition_sites::DefinitionSites,
        sources::{ListNumber, Sources},
    },
    kinds::{KindOfStep, Kinds},
};

/// The number of a step in its [`Entry`].
pub type At = usize;

/// One entry point.
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

/// A call that was inlined.
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
    /// Its control flow.
    #[must_use]
    pub const fn control(&self) -> Control<'_, 'e> {
        Control(self)
    }

    /// Its data flow.
    #[must_use]
    pub const fn flow(&self) -> Flow<'_, 'e> {
        Flow(self)
    }

    /// What its names stand for.
    #[must_use]
    pub const fn alias(&self) -> Alias<'_, 'e> {
        Alias(self)
    }

    /// Its locks and transactions.
    #[must_use]
    pub const fn locks(&self) -> Locks<'_, 'e> {
        Locks(self)
    }

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

    /// Who gets to a step where it is no tool, and from where, for a message: a finding without tools would name nobody.
    pub(crate) fn way_without_tool(&self, at: At) -> Option<String> {
        let who = match self.runs {
            Runs::Call(tools) if tools.is_empty() => match self.program.routes.get(&self.function) {
                Some(route) => format!("a request that is no tool (`{route}`)"),
                None => "a request that is no tool".to_owned(),
            },
            Runs::Event => "an event or a timer".to_owned(),
            Runs::StartUp if self.background_loop(at).is_some() => {
                "a loop that start-up leaves running".to_owned()
            }
            _ => return None,
        };
        let from = self.calls_around(at).last().map_or_else(|| self.span(at), |(_, span)| span);
        let file = self.program.files.get(from.file.0 as usize)?;
        Some(format!("{who} leads there from {file}:{}", from.line))
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

    /// Where calls of it meet in one process, which may depend on the version of a library.
    #[must_use]
    pub fn interleaving(&self) -> Option<Interleaving> {
        self.program.function(self.function).map(|function| function.interleaving)
    }

    /// The function that a step is written in.
    #[must_use]
    pub fn function_of(&self, at: At) -> FunctionId {
        let frame = self.control().flow_facts(at).and_then(|here| self.frames.get(here.frame));
        frame.map_or(self.function, |frame| frame.function)
    }
}
