//! Which function refers to which: by a call, or by making a function value of it.

use std::{collections::HashSet, mem};

use interlock_model::ir::{Argument, Callee, FunctionId, Op, Program};

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
            let mut to = vec![];
            for effect in function.effects() {
                match &effect.op {
                    Op::Closure { function, .. } => to.push(*function),
                    Op::Call { callee, arguments, .. } => {
                        match callee {
                            Callee::Function(function) | Callee::Closure { function, .. } => {
                                to.push(*function);
                                if called
                                    .get_mut(function.0 as usize)
                                    .is_some_and(|known| mem::replace(known, true))
                                {
                                    calls.often.insert(*function);
                                }
                            }
                            Callee::Value(_) | Callee::Named(_) | Callee::Pending(_) => {}
                        }
                        for argument in arguments {
                            if let Argument::Closure { function, .. } = argument {
                                to.push(*function);
                            }
                        }
                    }
                    _ => {}
                }
            }
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
