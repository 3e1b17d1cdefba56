//! What recognisers ask: [what things are](Contexts), and what the names of each call say before anything is followed.

use std::{cell::OnceCell, ops::Deref};

use interlock_model::ir::{Asked, Function, Name, Op, Resource, Root, Term, Value};

use super::{
    call_kind::{CallKind, Names},
    mixin::{self, Mixed},
    mounted::{self, Mounted},
    origin,
};
pub(super) use crate::eval::Definition;
use crate::{
    eval::context::Contexts,
    module::Site,
    tables::{Builtins, Sdk},
};

/// What recognisers ask.
#[derive(Debug)]
pub(super) struct Index<'i> {
    contexts: Contexts<'i>,
    /// The folders that are packages of their own: those with a `package.json`, without a slash at the end.
    pub(super) packages: Vec<&'i str>,
    /// What the names of each call say.
    says: Vec<CallKind>,
    /// The functions that compare something with `tools/call`.
    by_hand: Vec<u32>,
    /// The functions that name who calls, or in which session.
    personal: Vec<u32>,
    /// The servers that others take over.
    mounted: OnceCell<Vec<Mounted>>,
    /// The objects that register their own methods.
    mixed: OnceCell<Vec<Mixed>>,
}

impl<'i> Deref for Index<'i> {
    type Target = Contexts<'i>;

    fn deref(&self) -> &Contexts<'i> {
        &self.contexts
    }
}

impl<'i> Index<'i> {
    pub(super) fn of(contexts: Contexts<'i>, packages: Vec<&'i str>) -> Self {
        let (mut by_hand, mut personal) = (vec![], vec![]);
        let tables = contexts.eval.knowledge.tables();
        for (number, function) in (0_u32..).zip(contexts.functions) {
            steps(tables.sdk(), number, function, &mut by_hand, &mut personal);
        }
        let mut names = Names::new(tables);
        let says = |site: &'i Site| {
            let (is_foreign, is_known) =
                (|root: &Root| contexts.is_foreign(root), |name: &str| contexts.is_known(name));
            let says = site.callee.as_ref().map(|callee| names.of(callee, is_foreign, is_known));
            says.unwrap_or(CallKind::NOTHING)
        };
        let says = contexts.eval.flat.sites.iter().map(says).collect();
        Self { contexts, packages, says, by_hand, personal, mounted: OnceCell::new(), mixed: OnceCell::new() }
    }

    /// The calls, each with what its names say.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&'i Site, CallKind)> {
        self.eval.flat.sites.iter().zip(self.says.iter().copied())
    }

    /// The calls whose names say something, with their numbers.
    pub(super) fn calls_that(&self, say: CallKind) -> impl Iterator<Item = (u32, &'i Site)> {
        let says = move |(number, (site, says)): (u32, (&'i Site, CallKind))| {
            says.any(say).then_some((number, site))
        };
        (0_u32..).zip(self.calls()).filter_map(says)
    }

    /// What the names of a call say.
    pub(super) fn kind_of_call(&self, number: u32) -> CallKind {
        self.says.get(number as usize).copied().unwrap_or(CallKind::NOTHING)
    }

    /// The functions that compare something with `tools/call`.
    pub(super) fn by_hand(&self) -> &[u32] {
        &self.by_hand
    }

    /// The servers that others take over, with what their tools are called by.
    pub(super) fn mounted(&self) -> &[Mounted] {
        self.mounted.get_or_init(|| mounted::all(self))
    }

    /// The objects that register their own methods, with what those are called by.
    pub(super) fn mixed(&self) -> &[Mixed] {
        self.mixed.get_or_init(|| mixin::all(self))
    }

    /// The functions that name who calls, or in which session.
    pub(super) fn personal(&self) -> &[u32] {
        &self.personal
    }

    /// How tools are registered.
    pub(super) fn sdk(&self) -> &'i Sdk {
        self.eval.knowledge.tables().sdk()
    }

    /// What the language itself offers.
    pub(super) fn builtins(&self) -> &'i Builtins {
        self.eval.builtins
    }
}

/// Remembers what the steps of a function say.
fn steps(sdk: &Sdk, number: u32, function: &Function, by_hand: &mut Vec<u32>, personal: &mut Vec<u32>) {
    for effect in function.effects() {
        match &effect.op {
            Op::Read { of: Resource::Shared(path), .. } | Op::Derive { term: Term::Path(path), .. }
                if origin::may_say(sdk, path) =>
            {
                note(personal, number);
            }
            op @ Op::Check { .. } if compared(op).any(|(_, word)| **word == *sdk.dispatch.method) => {
                note(by_hand, number);
            }
            _ => {}
        }
    }
}

/// The texts that a check compares with, each with the values that are compared.
pub(super) fn compared(op: &Op) -> impl Iterator<Item = (&[Value], &Name)> {
    let (on, equal, asks) = match op {
        Op::Check { on, equal, asks, .. } => (on.as_slice(), equal.as_ref(), asks.as_slice()),
        _ => (&[][..], None, &[][..]),
    };
    let asked =
        asks.iter().flat_map(|Asked { on, texts, .. }| texts.iter().map(|text| (on.as_slice(), text)));
    equal.map(|text| (on, text)).into_iter().chain(asked)
}

/// Adds a function to those that have something, each once.
fn note(functions: &mut Vec<u32>, function: u32) {
    if functions.last() != Some(&function) {
        functions.push(function);
    }
}
