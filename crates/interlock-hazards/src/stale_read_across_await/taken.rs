//! A name in memory that is looked for, refused if it is there, and taken only behind a suspension: two calls both find it free.
//!
//! Reported:
//! ```text
//! if (users.has(name)) throw new Error("taken");    // reported here
//! const secret = await hash(password);
//! users.set(name, { secret });                      // the later one takes the place of the other
//! ```
//! Not reported:
//! ```text
//! if (running.has(id)) throw new Error("busy");
//! running.add(id);                                  // taken before anybody else can look
//! try { await work(id); } finally { running.delete(id); }
//! ```
//!
//! What whoever finds it gets is a cache, and `duplicate-load`.

use interlock_model::ir::{Op, WriteMode};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    view::{Overlap, View},
};

/// Whether something is refused if it is there, and put there behind a suspension.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let puts =
        matches!(entry.op(pair.act), Some(Op::Write { mode: WriteMode::Blind | WriteMode::Ensure, .. }));
    needs(pair.is_shared() && puts && !pair.data_dependent_at_all, Reason::OutOfScope)?;
    needs(pair.overlap == Overlap::Sure, Reason::UnsureSame)?;
    let check = pair.check.ok_or(Reason::OutOfScope)?;
    let is_free = entry.control().answer(check, pair.act) == Some(false);
    needs(is_free && entry.control().is_refused(check, pair.act), Reason::OutOfScope)?;
    unless(entry.control().is_recovery(pair.act), Reason::NotesFailure)
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    let message = format!(
        "{thing} is refused if it is there and put there only after a suspension, so two calls at once both find it free, and the later \
         one takes the other's place"
    );
    pair.report(message, &format!("does not find {thing}"), &format!("puts {thing} there"), "A's is gone")
}
