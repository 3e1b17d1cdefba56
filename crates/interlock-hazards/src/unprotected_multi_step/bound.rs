//! Whether something binds two changes, or lets one of them go without the other.

use std::collections::{BTreeMap, BTreeSet};

use interlock_model::ir::{Op, Term};

use crate::view::{At, Entry, Kinds};

/// Whether a change may fail without anything coming of it, because its author catches that and goes on: the other one does not need it.
/// Unless it is asked later whether all went well.
pub(super) fn may_fail_alone(entry: &Entry<'_>, change: At, other: At) -> bool {
    let Some(attempt) = entry.catcher(change) else { return false };
    let (Some(Op::Try { catch: Some(catch), .. }), Some(tried)) = (entry.op(attempt), entry.tried(attempt))
    else {
        return false;
    };
    let says_so =
        |op: &Op| matches!(op, Op::Exit(_) | Op::Write { .. } | Op::Delete { .. } | Op::Rename { .. });
    let asks_later = || entry.judges(other).iter().any(|check| *check > attempt);
    !tried.contains(&other) && !asks_later() && !catch.body.iter().any(|effect| reaches(&effect.op, &says_so))
}

fn reaches(op: &Op, holds: &impl Fn(&Op) -> bool) -> bool {
    holds(op) || op.blocks().flatten().any(|effect| reaches(&effect.op, holds))
}

/// Whether the first has a change of the second's record in a transaction with it, and the second has another transaction: what belongs
/// together is stored together, twice.
pub(super) fn is_bound_to_its_own(
    entry: &Entry<'_>,
    first: At,
    second: At,
    subjects: &BTreeMap<At, BTreeSet<Term>>,
) -> bool {
    let with_first = |begin: &At| {
        let mut others = subjects.keys().filter(|other| entry.open(**other).contains(begin));
        !entry.open(second).contains(begin) && others.any(|other| entry.same_record(*other, second))
    };
    !entry.open(second).is_empty() && entry.open(first).iter().any(with_first)
}

/// Whether something binds two changes that are sent at once; `None` if they are not.
pub(super) fn are_bound_side_by_side(entry: &Entry<'_>, first: At, second: At) -> Option<bool> {
    let together = |at: At| entry.around(at, |op| matches!(op, Op::Together { .. }));
    let common = together(first)?;
    if first > second || together(second) != Some(common) {
        return None;
    }
    let locked = entry.held(first).iter().any(|lock| entry.held(second).contains(lock));
    let in_transaction = entry.open(first).iter().any(|begin| entry.open(second).contains(begin));
    Some(locked || in_transaction)
}

/// Whether the failure of the second is caught, and the first is changed back there.
pub(super) fn is_taken_back(entry: &Entry<'_>, first: At, second: At) -> bool {
    let undoes = entry.steps_of(Kinds::WRITE | Kinds::DELETE);
    undoes
        .filter(|undo| entry.is_recovery(*undo) && entry.same_record(first, *undo))
        .any(|undo| entry.leads_to(second, undo).is_some())
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
        Some(Op::Check { on, .. }) => on.iter().any(|value| entry.depends_on(*value, *outcome)),
        _ => false,
    };
    let undoes = entry.steps_of(Kinds::WRITE | Kinds::DELETE);
    undoes
        .filter(|undo| *undo > second && entry.same_record(first, *undo))
        .any(|undo| entry.judges(undo).iter().any(|check| depends(check) && entry.encloses(*check, undo)))
}
