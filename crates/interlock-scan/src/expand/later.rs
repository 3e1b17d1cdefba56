//! Calls whose steps are put in later.
//!
//! A function that is called from many others, which are called from others again, would be copied at every level. So what is large and
//! deals in no functions is left out of a summary: a step stands for it that names it, and the values through which it is bound to its
//! caller. Only ways into the program are [made whole](super::whole).

use std::sync::Arc;

use interlock_model::ir::{AccessPath, Argument, Block, Callee, FunctionId, Op, Root, Term, Value};

use super::summary::Summary;

/// What has fewer steps is copied at once.
pub(super) const SMALL: usize = 8;

/// A value that nobody has.
pub(super) const NOBODY: Value = Value(u32::MAX);

/// Who knows the functions that have been followed.
pub(super) trait Done<'p> {
    /// A function that has been followed.
    fn done(&self, id: FunctionId) -> Option<&Arc<Summary<'p>>>;
}

/// A step for what is put in later.
pub(super) struct Later<'o> {
    pub(super) function: FunctionId,
    /// What `this` is inside; `None` where it stays what it is.
    pub(super) this: Option<&'o AccessPath>,
    arguments: &'o [Argument],
}

impl<'o> Later<'o> {
    /// What a step stands for, if it is one of these. No call is pending in a program whose calls are followed, so those are them.
    pub(super) fn of(op: &'o Op) -> Option<Self> {
        match op {
            Op::Call { callee: Callee::Pending(function), receiver, arguments, .. } => {
                Some(Self { function: FunctionId(*function), this: receiver.as_ref(), arguments })
            }
            _ => None,
        }
    }

    /// The step for a function that is put in later. `ports` are what its first values are called.
    pub(super) fn step(
        function: FunctionId,
        this: Option<AccessPath>,
        ports: impl Iterator<Item = Value>,
    ) -> Op {
        Op::Call {
            into: None,
            callee: Callee::Pending(function.0),
            receiver: this,
            arguments: ports.map(|port| Argument::Term(port.into())).collect(),
            awaited: false,
        }
    }

    /// What a value is called that its caller speaks of.
    pub(super) fn port(&self, value: Value) -> Option<Value> {
        self.arguments.get(value.0 as usize).and_then(as_value)
    }

    /// What its first values are called.
    pub(super) fn ports(&self) -> Vec<Value> {
        self.arguments.iter().filter_map(as_value).collect()
    }
}

fn as_value(argument: &Argument) -> Option<Value> {
    match argument {
        Argument::Term(Term::Path(AccessPath { root: Root::Value(value), .. })) => Some(*value),
        _ => None,
    }
}

/// What a function holds besides its steps, counting what is put in later.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    /// Functions as values, or calls of such: who binds them has to see them.
    pub(super) functions: bool,
    /// Steps that are put in later.
    pub(super) later: bool,
    /// A connection, process or listener that starts to exist.
    pub(super) opens: bool,
}

impl Held {
    pub(super) fn by<'p>(body: &Block, done: &impl Done<'p>) -> Self {
        let mut held = Self::default();
        held.add(body, done);
        held
    }

    fn add<'p>(&mut self, body: &Block, done: &impl Done<'p>) {
        for effect in body {
            match &effect.op {
                Op::Closure { .. } | Op::Call { callee: Callee::Value(_), .. } => self.functions = true,
                Op::Open { .. } => self.opens = true,
                Op::Call { callee: Callee::Pending(function), .. } => {
                    self.later = true;
                    self.opens |= done.done(FunctionId(*function)).is_some_and(|inside| inside.held.opens);
                }
                op => op.blocks().for_each(|block| self.add(block, done)),
            }
        }
    }
}
