//! Double spend of what is good for one use: it is looked for in one statement and removed in another.
//!
//! Reported:
//! ```text
//! const code = await db.get("SELECT * FROM auth_codes WHERE code = ?", given);   // reported here
//! if (!code) throw new Error("unknown code");
//! await db.run("DELETE FROM auth_codes WHERE code = ?", given);
//! return issueToken(code.user);
//! ```
//! Not reported:
//! ```text
//! const gone = await db.run("DELETE FROM auth_codes WHERE code = ?", given);
//! if (gone.changes === 0) throw new Error("unknown code");   // what the removal came to decides
//! ```
//!
//! The same in memory is `stale_read_across_await/twice.rs`. What is removed because the caller asks for that is no use of it.

use interlock_model::{
    Confidence,
    ir::{Condition, Effect, Exit, Op, Resource, Value},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Overlap, View},
};

use super::rule::used_at;

/// Whether something that is good for one use is taken by whoever finds it, and what it says is used.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let Some(Op::Delete { when, outcome, .. }) = entry.op(pair.act) else { return Err(Reason::OutOfScope) };
    let asks = pair.check.is_some_and(|check| entry.control().answer(check, pair.act).is_some());
    let whole = when.as_ref().is_none_or(|Condition(demands)| demands.is_empty());
    needs(asks && whole && is_good_once(pair) && pair.judged_fields().is_empty(), Reason::OutOfScope)?;
    needs(pair.overlap == Overlap::Sure, Reason::UnsureSame)?;
    unless(removes_on_request(pair), Reason::EndsOnRequest)?;
    unless(outcome.is_some_and(|outcome| decides(entry, pair.act, outcome)), Reason::OutcomeDecides)?;
    needs(refuses(pair) || is_used(pair), Reason::NotUsed)
}

fn is_good_once(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let name = match pair.resource() {
        Some(Resource::Row { table, key, .. }) => format!("{} {}", entry.text(table), entry.text(key)),
        Some(Resource::Key(key)) => entry.text(key),
        _ => return false,
    };
    entry.lexicon().has_word_of(Topic::Once, &name)
}

/// Whether removing it is what the caller asks for, or a clearing up.
fn removes_on_request(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let removes = |name: &str| entry.lexicon().has_verb_of(Topic::Removes, name);
    entry.tools().iter().any(|tool| removes(tool))
        || removes(&entry.function_name(entry.home(&[pair.read, pair.act])))
}

/// Whether what a removal came to decides anything.
fn decides(entry: &Entry<'_>, act: At, outcome: Value) -> bool {
    let says = |values: &[Value]| values.iter().any(|value| entry.flow().depends_on(*value, outcome));
    (act + 1..entry.steps.len()).any(|at| match entry.op(at) {
        Some(Op::Check { on: values, .. } | Op::Exit(Exit::Return(values))) => says(values),
        _ => false,
    })
}

/// Whether who does not find it is sent away.
fn refuses(pair: &CheckAct<'_, '_>) -> bool {
    let Some(check) = pair.check else { return false };
    let Some(Op::Check { then, otherwise, .. }) = pair.entry.op(check) else { return false };
    let missing = if pair.entry.control().answer(check, pair.act) == Some(true) { otherwise } else { then };
    matches!(missing.last(), Some(Effect { op: Op::Exit(Exit::Throw | Exit::Return(_)), .. }))
}

/// Whether what was found is handed on, kept or given back.
fn is_used(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let Some(check) = pair.check else { return false };
    let branch = entry.control().answer(check, pair.act);
    let of_it = |value: &Value| entry.flow().sources(*value).contains(&pair.read);
    (check + 1..entry.steps.len()).any(|at| {
        let counts = match entry.op(at) {
            Some(Op::Check { .. }) => false,
            Some(Op::Write { .. }) => entry.alias().meets(pair.act, at).is_none(),
            _ => true,
        };
        counts && entry.control().answer(check, at) == branch && used_at(entry, at).iter().any(of_it)
    })
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.entry.thing(pair.read);
    let message = format!(
        "{thing} is good for one use, but is looked for in one step and removed in another, so two calls at once both find it and use it"
    );
    pair.report(
        message,
        &format!("finds {thing}"),
        &format!("removes {thing}"),
        "it was gone already, and was used twice",
    )
    .no_surer_than(Confidence::Medium)
}
