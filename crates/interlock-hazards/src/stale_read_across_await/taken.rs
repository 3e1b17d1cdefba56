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

use interlock_model::ir::{Op, Root, Value, WriteMode};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    view::{At, Overlap, View},
};

/// How many names something may have on the way to the check.
const MOST_NAMES: usize = 8;

/// Whether something is refused if it is there, and put there behind a suspension.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let puts =
        matches!(entry.op(pair.act), Some(Op::Write { mode: WriteMode::Blind | WriteMode::Ensure, .. }));
    needs(pair.is_shared() && puts && !pair.data_dependent_at_all, Reason::OutOfScope)?;
    needs(pair.overlap == Overlap::Sure, Reason::UnsureSame)?;
    let check = pair.check.ok_or(Reason::OutOfScope)?;
    needs(asks_for_it(pair, check), Reason::JudgesContent)?;
    let is_free = entry.control().answer(check, pair.act) == Some(false);
    needs(is_free && entry.control().is_refused(check, pair.act), Reason::OutOfScope)?;
    unless(entry.control().is_recovery(pair.act), Reason::NotesFailure)
}

/// Whether a check asks for what was read itself, and not for something that came of it later: a request that was sent with a token says
/// nothing of the token.
fn asks_for_it(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let entry = pair.entry;
    let (Some(Op::Check { on, .. }), Some(Op::Read { into, .. })) = (entry.op(check), entry.op(pair.read))
    else {
        return false;
    };
    let is_it = |value: &Value| {
        let mut value = *value;
        // Under other names, and through `!!found` and `found ?? null`.
        for _ in 0..MOST_NAMES {
            if value == *into || entry.alias().resolve_path(&value.into()).root == Root::Value(*into) {
                return true;
            }
            match entry.flow().inputs(value) {
                [only] => value = *only,
                _ => return false,
            }
        }
        false
    };
    on.iter().any(is_it)
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    let message = format!(
        "{thing} is refused if it is there and put there only after a suspension, so two calls at once both find it free, and the later \
         one takes the other's place"
    );
    pair.report(message, &format!("does not find {thing}"), &format!("puts {thing} there"), "A's is gone")
}
