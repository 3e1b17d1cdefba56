//! What is kept in memory for one use is looked for, used, and taken away only then: who comes meanwhile uses it as well.

use interlock_model::{
    Confidence,
    ir::{Callee, Change, Field, Op, Origin, Resource, Value, WriteMode},
};

use crate::{
    Issue,
    clash::Clash,
    fields::mentions,
    is_called_to,
    view::{At, Entry, Kinds, Overlap},
};

/// What functions are called that end something. Who ends a thing twice has ended it.
const ENDS: [&str; 28] = [
    "abort",
    "cancel",
    "cleanup",
    "clear",
    "close",
    "delete",
    "destroy",
    "detach",
    "disconnect",
    "dismiss",
    "dispose",
    "drop",
    "end",
    "evict",
    "finish",
    "invalidate",
    "kill",
    "leave",
    "logout",
    "release",
    "remove",
    "reset",
    "revoke",
    "shutdown",
    "stop",
    "terminate",
    "unregister",
    "unsubscribe",
];

/// What functions are called that do what must not be done twice.
const DOES: [&str; 16] = [
    "book", "buy", "charge", "click", "execute", "mint", "order", "pay", "place", "post", "publish",
    "redeem", "send", "submit", "transfer", "withdraw",
];

/// Whether something that the caller names is found in memory, and something that must not happen twice happens before it is taken away.
pub(super) fn is_used_twice(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let Some(Resource::Shared(_)) = clash.resource() else { return false };
    let takes_away = match entry.op(clash.act) {
        Some(Op::Delete { .. }) => true,
        Some(Op::Write { mode: WriteMode::Blind, from, .. }) => from.is_empty(),
        _ => false,
    };
    takes_away
        && clash.overlap == Overlap::Sure
        && clash.check.is_some_and(|check| refuses(clash, check) && is_named_by_caller(clash, check))
        && happens_between(clash).is_some()
        && !is_called_a_cache(clash)
        && !ends(entry, clash)
}

/// Whether who does not find it, or does not know it, does not get to take it away.
fn refuses(clash: &Clash<'_, '_>, check: At) -> bool {
    clash.entry.answer(check, clash.act).is_some()
}

/// Whether the caller says which one it is: the key of an entry, or what the thing is compared with.
fn is_named_by_caller(clash: &Clash<'_, '_>, check: At) -> bool {
    let entry = clash.entry;
    let is_given = |value: &Value| {
        let given = |part: &Value| matches!(entry.origin(*part), Some(Origin::Argument | Origin::Arguments));
        given(value) || entry.made_of(&[*value]).iter().any(given)
    };
    let (Some(Resource::Shared(path)), Some(Op::Check { on, .. })) = (clash.resource(), entry.op(check))
    else {
        return false;
    };
    let in_key = path.fields.iter().any(|field| match field {
        Field::At(key) => entry.values_in(key).iter().any(is_given),
        Field::Name(_) => false,
    });
    in_key || on.iter().any(|value| is_given(value) && !entry.sources(*value).contains(&clash.look))
}

/// What is done outside between the look and the taking away, and is not undone or left out if it is done again.
fn happens_between(clash: &Clash<'_, '_>) -> Option<At> {
    let entry = clash.entry;
    let counts = |op: &Op| match op {
        Op::External { change: Change::Effect | Change::Unknown, idempotency: None, .. } => true,
        Op::Write { to: Resource::Row { .. }, mode: WriteMode::Exclusive | WriteMode::Atomic, .. } => true,
        Op::Call { callee: Callee::Named(name), awaited: true, .. } => is_called_to(name, &DOES),
        _ => false,
    };
    let mut steps = entry.all(Kinds::EXTERNAL | Kinds::WRITE | Kinds::CALL, counts);
    steps.find(|at| {
        clash.look < *at
            && *at < clash.act
            && entry.leads_to(clash.look, *at).is_some()
            && entry.leads_to(*at, clash.act).is_some()
    })
}

/// Whether it is kept only to be quick. What is done then is no use of it.
fn is_called_a_cache(clash: &Clash<'_, '_>) -> bool {
    clash.resource().is_some_and(|resource| match resource {
        Resource::Shared(path) => mentions(&clash.entry.path_text(path), &["cache", "cached", "memo"]),
        _ => false,
    })
}

/// Whether to end it is what the caller asks for, by the name of the tool or in words.
fn ends(entry: &Entry<'_>, clash: &Clash<'_, '_>) -> bool {
    let asked = |check: &At| match entry.op(*check) {
        Some(Op::Check { equal: Some(word), .. }) => is_called_to(word, &ENDS),
        _ => false,
    };
    entry.judges(clash.act).iter().any(asked)
        || entry.tools().iter().any(|tool| is_called_to(tool, &ENDS))
        || is_called_to(&entry.function_name(entry.home(&[clash.look, clash.act])), &ENDS)
}

pub(super) fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.entry.thing(clash.look);
    let message = format!(
        "{thing} is looked for, and taken away only when the work is done, so two calls at once both find it and do the work"
    );
    clash
        .told(
            message,
            &format!("finds {thing}"),
            &format!("has done the work, and takes {thing} away"),
            "it was done twice",
        )
        .no_surer_than(Confidence::Medium)
}
