//! Where in a function something may be held that keeps others out: a lock, or a transaction.
//!
//! One walk over the steps, with everything that may be held at each. What a failure or a return leaves held is told apart from what the
//! end of a block does, so that a lock that one branch takes and gives back is no shelter for what stands beside it.

use interlock_model::ir::{Block, Callee, Exit, FunctionId, Lock, Op, Via};
use rustc_hash::FxHashSet;

/// Of functions that are called in a body, those that are called where nothing is held. One that is called in no step that is seen
/// is among them if nothing is ever held.
pub(super) fn called_free(body: &Block, functions: &[FunctionId]) -> Vec<FunctionId> {
    if functions.is_empty() {
        return vec![];
    }
    let mut walk = Walk { wanted: functions.iter().copied().collect(), free: vec![], known: vec![] };
    walk.block(body, 0);
    let is_free = |function: &&FunctionId| walk.known.is_empty() || walk.free.contains(*function);
    functions.iter().filter(is_free).copied().collect()
}

/// What may be held, one bit for each lock or transaction.
type Held = u64;

/// How many are told apart; the last stands for all others, and is never given back.
const MOST_KNOWN: usize = 63;

/// A lock or a transaction, by what gives it back.
#[derive(Clone, Copy)]
enum Holder<'b> {
    Lock(&'b Lock),
    Transaction(&'b Via),
}

/// What may be held behind a block.
#[derive(Clone, Copy, Default)]
struct Behind {
    /// At its end; none where it is always left before.
    end: Option<Held>,
    /// Where the function is left in it, or a loop.
    left: Held,
    /// Where something in it fails.
    failed: Held,
}

struct Walk<'b> {
    wanted: FxHashSet<FunctionId>,
    /// Those that were found so far, in the order of their calls.
    free: Vec<FunctionId>,
    known: Vec<Holder<'b>>,
}

impl<'b> Walk<'b> {
    fn block(&mut self, block: &'b Block, before: Held) -> Behind {
        let mut behind = Behind { end: Some(before), ..Behind::default() };
        for effect in block {
            let Some(held) = behind.end else { break };
            let step = self.step(&effect.op, held);
            behind =
                Behind { end: step.end, left: behind.left | step.left, failed: behind.failed | step.failed };
        }
        behind
    }

    fn step(&mut self, op: &'b Op, held: Held) -> Behind {
        let plain = Behind { end: Some(held), left: 0, failed: held };
        match op {
            Op::Acquire { lock, .. } => Behind { end: Some(held | self.bit(Holder::Lock(lock))), ..plain },
            Op::Begin { transaction } => {
                Behind { end: Some(held | self.bit(Holder::Transaction(&transaction.via))), ..plain }
            }
            Op::Release { lock } => {
                Behind { end: Some(held & !self.given_back(Holder::Lock(lock))), ..plain }
            }
            Op::End { via, .. } => {
                Behind { end: Some(held & !self.given_back(Holder::Transaction(via))), ..plain }
            }
            Op::Exit(Exit::Throw) => Behind { end: None, ..plain },
            Op::Exit(_) => Behind { end: None, left: held, failed: 0 },
            Op::Call { callee, .. } => {
                self.called(callee, held);
                plain
            }
            Op::Check { then, otherwise, .. } => either(self.block(then, held), self.block(otherwise, held)),
            Op::Inlined { body, .. } => {
                let inside = self.block(body, held);
                Behind { end: Some(inside.end.unwrap_or(0) | inside.left), left: 0, ..inside }
            }
            Op::Loop { body, .. } => {
                let mark = self.free.len();
                let turn = self.block(body, held);
                let end = held | turn.end.unwrap_or(0) | turn.left;
                if end != held {
                    // A turn may begin with what the one before has left held.
                    self.free.truncate(mark);
                }
                Behind { end: Some(end), ..turn }
            }
            Op::Together { branches } => {
                let branches = branches.iter().map(|branch| self.block(branch, held));
                branches.fold(plain, either)
            }
            // What runs on by itself fails and ends by itself.
            Op::Spawn { body, .. } => {
                self.block(body, held);
                plain
            }
            Op::Try { body, catch, finally } => {
                let tried = self.block(body, held);
                let behind = match catch {
                    Some(catch) => {
                        let caught = self.block(&catch.body, tried.failed);
                        let left = tried.left | caught.left;
                        Behind { left, failed: caught.failed, ..either(tried, caught) }
                    }
                    None => tried,
                };
                let reaching = behind.end.unwrap_or(0) | behind.left | behind.failed;
                let last = self.block(finally, reaching);
                let Some(end) = last.end else { return last };
                let (given_back, taken) = (reaching & !end, end & !reaching);
                let through = |held: Held| held & !given_back | taken;
                Behind {
                    end: behind.end.map(through),
                    left: through(behind.left) | last.left,
                    failed: through(behind.failed) | last.failed & !given_back,
                }
            }
            _ => plain,
        }
    }

    fn called(&mut self, callee: &Callee, held: Held) {
        if let Callee::Function(function) | Callee::Closure { function, .. } = callee
            && held == 0
            && self.wanted.contains(function)
        {
            self.free.push(*function);
        }
    }

    fn bit(&mut self, holder: Holder<'b>) -> Held {
        let at = self.known.iter().position(|known| is_the_same(*known, holder)).unwrap_or_else(|| {
            self.known.push(holder);
            self.known.len() - 1
        });
        1 << at.min(MOST_KNOWN)
    }

    /// What giving something back takes away. What was taken under another name stays.
    fn given_back(&self, holder: Holder<'b>) -> Held {
        let at = self.known.iter().position(|known| is_the_same(*known, holder));
        at.filter(|at| *at < MOST_KNOWN).map_or(0, |at| 1 << at)
    }
}

/// Behind one of two ways.
fn either(one: Behind, other: Behind) -> Behind {
    let end = match (one.end, other.end) {
        (Some(one), Some(other)) => Some(one | other),
        (one, other) => one.or(other),
    };
    Behind { end, left: one.left | other.left, failed: one.failed | other.failed }
}

fn is_the_same(one: Holder<'_>, other: Holder<'_>) -> bool {
    match (one, other) {
        (Holder::Lock(one), Holder::Lock(other)) => one.is_the_same_as(other),
        (Holder::Transaction(one), Holder::Transaction(other)) => one == other,
        _ => false,
    }
}
