//! What binds two changes, or makes one of them best-effort, so that it may go without the other.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::ir::{Block, Callee, Exit, Op, Resource, Term, Value};

use crate::{
    lexicon::Topic,
    view::{At, Entry, Kinds},
};

/// The changes that a function makes.
pub(super) struct Changes {
    /// What each of them is about.
    pub(super) subjects: BTreeMap<At, BTreeSet<Term>>,
    /// The attempts around those that may fail without anything coming of it.
    best_effort: BTreeMap<At, At>,
}

impl Changes {
    pub(super) fn of(entry: &Entry<'_>, changes: &[At]) -> Self {
        let subjects = changes.iter().map(|at| (*at, entry.flow().subjects(*at))).collect();
        let caught = changes.iter().filter(|at| entry.control().is_caught(**at));
        let best_effort = caught.filter_map(|at| Some((*at, best_effort_attempt(entry, *at)?))).collect();
        Self { subjects, best_effort }
    }

    /// Whether a change may fail without another one, because its author catches that and goes on. Two halves of one sum are no such pair,
    /// whatever their author thinks.
    pub(super) fn may_fail_alone(&self, entry: &Entry<'_>, change: At, other: At) -> bool {
        let Some(attempt) = self.best_effort.get(&change).copied() else { return false };
        let table = |at: At| match entry.resource(at) {
            Some(Resource::Row { table, .. }) => Some(table),
            _ => None,
        };
        let same_table =
            table(change).is_some_and(|one| table(other).is_some_and(|two| one.names_the_same_as(two)));
        let made: Vec<Value> = entry
            .control()
            .inside(attempt)
            .filter_map(|at| match entry.op(at) {
                Some(Op::Derive { into, .. }) => Some(*into),
                _ => None,
            })
            .collect();
        let asks = |check: &At| match entry.op(*check) {
            Some(Op::Check { on, .. }) => {
                on.iter().any(|value| made.iter().any(|made| entry.flow().depends_on(*value, *made)))
            }
            _ => false,
        };
        let asks_first =
            || entry.control().control_dependences(other).iter().filter(|check| **check > attempt).any(asks);
        !same_table
            && !entry.control().encloses(attempt, other)
            && entry.frame_of(attempt) == entry.frame_of(other)
            && !asks_first()
    }
}

/// The attempt that catches a failure of a change, where it does no more than say so, and nobody asks later.
fn best_effort_attempt(entry: &Entry<'_>, change: At) -> Option<At> {
    let attempt = entry.control().catcher(change)?;
    let Some(Op::Try { catch: Some(catch), .. }) = entry.op(attempt) else { return None };
    let mut noted: Vec<Value> = catch.error.into_iter().collect();
    if !only_says_so(entry, &catch.body, &mut noted) {
        return None;
    }
    // A variable that there was before is asked or returned later, even if nothing of that is left to see.
    let variable = |value: Value| entry.name_of(value).split('.').next();
    let called: BTreeSet<Option<&str>> = noted.iter().map(|value| variable(*value)).collect();
    let was_there = |at: At| match entry.op(at) {
        Some(Op::Derive { into, .. }) => called.contains(&variable(*into)),
        _ => false,
    };
    if !called.is_empty() && entry.steps_of(Kinds::DERIVE).take_while(|at| *at < attempt).any(was_there) {
        return None;
    }
    let is_noted = |values: &[Value]| values.iter().any(|value| entry.flow().depends_on_any(*value, &noted));
    let behind = entry.control().inside(attempt).last().unwrap_or(attempt) + 1;
    let asks = |at: At| match entry.op(at) {
        Some(Op::Check { on: values, .. } | Op::Exit(Exit::Return(values))) => is_noted(values),
        _ => false,
    };
    (!(behind..entry.steps.len()).any(asks)).then_some(attempt)
}

/// Whether a block does nothing but tell people; `noted` gets what is computed in it.
fn only_says_so(entry: &Entry<'_>, block: &Block, noted: &mut Vec<Value>) -> bool {
    let is_log = |name: &str| entry.lexicon().has_word_of(Topic::TellsPeople, name);
    block.iter().all(|effect| match &effect.op {
        Op::Derive { into, .. } => {
            noted.push(*into);
            true
        }
        Op::Call { callee: Callee::Named(name), .. } => is_log(name),
        Op::Call { callee: Callee::Function(id), .. } | Op::Inlined { function: id, .. } => {
            is_log(&entry.function_name(*id))
        }
        Op::Suspend => true,
        _ => false,
    })
}

/// Whether each of two changes is in a transaction of its own with what belongs to it, or the second, in one transaction or by removing it,
/// goes on with a record that the first's transaction has left whole: what belongs together is stored together, twice.
pub(super) fn is_bound_to_its_own(entry: &Entry<'_>, first: At, second: At, changes: &Changes) -> bool {
    let has_partner = |change: At, without: At, fits: &dyn Fn(At) -> bool| {
        entry.locks().open(change).iter().any(|begin| {
            let within = |at: At| entry.locks().open(at).contains(begin);
            !within(without)
                && changes.subjects.keys().any(|other| *other != change && within(*other) && fits(*other))
        })
    };
    let any = |_: At| true;
    let is_same = |other: At| entry.alias().same_record(other, second);
    let is_whole =
        matches!(entry.op(second), Some(Op::Delete { .. })) || !entry.locks().open(second).is_empty();
    has_partner(first, second, &any) && has_partner(second, first, &any)
        || is_whole && has_partner(first, second, &is_same)
}

/// Whether something binds two changes that are sent at once; `None` if they are not.
pub(super) fn are_bound_side_by_side(entry: &Entry<'_>, first: At, second: At) -> Option<bool> {
    let together = |at: At| entry.control().around(at, |op| matches!(op, Op::Together { .. }));
    let common = together(first)?;
    if first > second || together(second) != Some(common) {
        return None;
    }
    let locked = entry.locks().held(first).iter().any(|lock| entry.locks().held(second).contains(lock));
    let in_transaction =
        entry.locks().open(first).iter().any(|begin| entry.locks().open(second).contains(begin));
    Some(locked || in_transaction)
}

/// Whether the failure of the second is caught, and the first is changed back there.
pub(super) fn is_taken_back(entry: &Entry<'_>, first: At, second: At) -> bool {
    let undoes = entry.steps_of(Kinds::WRITE | Kinds::DELETE);
    undoes
        .filter(|undo| entry.control().is_recovery(*undo) && entry.alias().same_record(first, *undo))
        .any(|undo| entry.control().leads_to(second, undo).is_some())
        || given_back_after_refusal(entry, first, second)
}

/// Whether a second change that took no effect leads to the first being changed back.
fn given_back_after_refusal(entry: &Entry<'_>, first: At, second: At) -> bool {
    let Some(Op::Write { outcome: Some(outcome), .. } | Op::Delete { outcome: Some(outcome), .. }) =
        entry.op(second)
    else {
        return false;
    };
    let depends = |check: &At| match entry.op(*check) {
        Some(Op::Check { on, .. }) => on.iter().any(|value| entry.flow().depends_on(*value, *outcome)),
        _ => false,
    };
    let undoes = entry.steps_of(Kinds::WRITE | Kinds::DELETE);
    undoes.filter(|undo| *undo > second && entry.alias().same_record(first, *undo)).any(|undo| {
        entry
            .control()
            .control_dependences(undo)
            .iter()
            .any(|check| depends(check) && entry.control().encloses(*check, undo))
    })
}
