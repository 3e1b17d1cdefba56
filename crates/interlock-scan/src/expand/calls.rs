//! Which function refers to which: by a call, or by making a function value of it.

use std::{collections::HashSet, mem};

use interlock_model::{
    Span,
    ir::{Argument, Callee, Function, FunctionId, Op, Program},
};

/// Who refers to whom.
#[derive(Default)]
pub(super) struct Calls {
    /// For each function, those that it refers to.
    pub(super) of: Vec<Vec<FunctionId>>,
    /// Those that are called in several places.
    pub(super) often: HashSet<FunctionId>,
}

impl Calls {
    pub(super) fn new(program: &Program) -> Self {
        let mut calls = Self::default();
        let mut called = vec![false; program.functions.len()];
        for function in &program.functions {
            for effect in function.effects() {
                if let Some(callee) = called_by(&effect.op)
                    && called.get_mut(callee.0 as usize).is_some_and(|known| mem::replace(known, true))
                {
                    calls.often.insert(callee);
                }
            }
            let mut to: Vec<FunctionId> = references(function).map(|(id, _)| id).collect();
            to.retain(|function| program.function(*function).is_some());
            to.sort_unstable();
            to.dedup();
            calls.of.push(to);
        }
        calls
    }

    /// The functions that one refers to, each once.
    pub(super) fn of(&self, function: FunctionId) -> &[FunctionId] {
        self.of.get(function.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// How many functions refer to each, other than itself.
    pub(super) fn callers(&self) -> Vec<u32> {
        let mut callers = vec![0; self.of.len()];
        for (caller, to) in (0..).map(FunctionId).zip(&self.of) {
            for callee in to.iter().filter(|callee| **callee != caller) {
                if let Some(count) = callers.get_mut(callee.0 as usize) {
                    *count += 1;
                }
            }
        }
        callers
    }
}

/// The functions that one refers to, each time with where.
pub(crate) fn references(function: &Function) -> impl Iterator<Item = (FunctionId, Span)> {
    function.effects().flat_map(|effect| {
        let made = match &effect.op {
            Op::Closure { function, .. } => Some(*function),
            op => called_by(op),
        };
        let arguments: &[Argument] = match &effect.op {
            Op::Call { arguments, .. } => arguments,
            _ => &[],
        };
        let handed = arguments.iter().filter_map(|argument| match argument {
            Argument::Closure { function, .. } => Some(*function),
            Argument::Term(_) => None,
        });
        made.into_iter().chain(handed).map(|id| (id, effect.span))
    })
}

/// The function that a step calls by name.
fn called_by(op: &Op) -> Option<FunctionId> {
    match op {
        Op::Call { callee: Callee::Function(function) | Callee::Closure { function, .. }, .. } => {
            Some(*function)
        }
        _ => None,
    }
}

/// Which functions something reaches.
pub(super) struct Reached<'c> {
    calls: &'c Calls,
    seen: Vec<bool>,
}

impl<'c> Reached<'c> {
    pub(super) fn new(calls: &'c Calls) -> Self {
        Self { calls, seen: vec![false; calls.of.len()] }
    }

    pub(super) fn has(&self, id: FunctionId) -> bool {
        self.seen.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.seen.iter().filter(|seen| **seen).count()
    }

    pub(super) fn from(&mut self, id: FunctionId) {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let Some(seen) = self.seen.get_mut(id.0 as usize) else { continue };
            if !mem::replace(seen, true) {
                pending.extend(self.calls.of(id));
            }
        }
    }
}
