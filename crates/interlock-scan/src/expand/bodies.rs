//! The steps of the program's functions. Each is followed once, and what is followed takes the steps along instead of copying them.

use std::sync::{Mutex, PoisonError};

use interlock_model::ir::{Block, FunctionId, Program};
use rustc_hash::FxHashSet;

/// The steps of functions that have not been followed.
pub(super) struct Bodies {
    of: Vec<Mutex<Block>>,
    /// Those that are followed more than once.
    kept: FxHashSet<FunctionId>,
}

impl Bodies {
    /// Takes the steps out of a program. `kept` are the functions that will be followed more than once.
    pub(super) fn of(program: &mut Program, kept: impl Iterator<Item = FunctionId>) -> Self {
        let bodies = program.functions.iter_mut().map(|function| std::mem::take(&mut function.body));
        Self { of: bodies.map(Mutex::new).collect(), kept: kept.collect() }
    }

    /// The steps of a function, which are gone afterwards unless it is followed again.
    pub(super) fn take(&self, id: FunctionId) -> Block {
        let Some(body) = self.of.get(id.0 as usize) else { return Block::new() };
        let mut body = body.lock().unwrap_or_else(PoisonError::into_inner);
        if self.kept.contains(&id) { body.clone() } else { std::mem::take(&mut body) }
    }
}
