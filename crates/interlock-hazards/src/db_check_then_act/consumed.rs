//! Something that may be used once is looked for, and removed in a second step: two calls find it and both use it.

use interlock_model::{
    Confidence,
    ir::{Condition, Effect, Exit, Op, Resource, Value},
};

use crate::{
    Issue,
    clash::Clash,
    is_called_to,
    view::{At, Entry, Overlap},
    words,
};

use super::rule::used_at;

/// What is good for one use only.
const ONCE: [&str; 16] = [
    "code",
    "codes",
    "otp",
    "otps",
    "nonce",
    "nonces",
    "challenge",
    "challenges",
    "voucher",
    "vouchers",
    "coupon",
    "coupons",
    "onetime",
    "ticket",
    "tickets",
    "magic",
];

/// Whether something that is good for one use is taken by whoever finds it, and what it says is used.
pub(super) fn is_used_up(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let Some(Op::Delete { when, outcome, .. }) = entry.op(clash.act) else { return false };
    let asks = clash.check.is_some_and(|check| entry.answer(check, clash.act).is_some());
    asks && clash.overlap == Overlap::Sure
        && when.as_ref().is_none_or(|Condition(demands)| demands.is_empty())
        && is_good_once(clash)
        && !removes_on_request(clash)
        && clash.judged_fields().is_empty()
        && outcome.is_none_or(|outcome| !decides(entry, clash.act, outcome))
        && (refuses(clash) || is_used(clash))
}

fn is_good_once(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let name = match clash.resource() {
        Some(Resource::Row { table, key, .. }) => format!("{} {}", entry.text(table), entry.text(key)),
        Some(Resource::Key(key)) => entry.text(key),
        _ => return false,
    };
    words(&name).iter().any(|word| ONCE.contains(&word.as_str()))
}

/// Whether removing it is what the caller asks for, or a clearing up.
fn removes_on_request(clash: &Clash<'_, '_>) -> bool {
    const REMOVES: [&str; 12] = [
        "delete",
        "remove",
        "revoke",
        "purge",
        "cleanup",
        "clean",
        "prune",
        "cancel",
        "expire",
        "destroy",
        "unregister",
        "clear",
    ];
    let entry = clash.entry;
    entry.tools().iter().any(|tool| is_called_to(tool, &REMOVES))
        || is_called_to(&entry.function_name(entry.home(&[clash.look, clash.act])), &REMOVES)
}

/// Whether what a removal came to decides anything.
fn decides(entry: &Entry<'_>, act: At, outcome: Value) -> bool {
    let says = |values: &[Value]| values.iter().any(|value| entry.depends_on(*value, outcome));
    (act + 1..entry.steps.len()).any(|at| match entry.op(at) {
        Some(Op::Check { on: values, .. } | Op::Exit(Exit::Return(values))) => says(values),
        _ => false,
    })
}

/// Whether who does not find it is sent away.
fn refuses(clash: &Clash<'_, '_>) -> bool {
    let Some(check) = clash.check else { return false };
    let Some(Op::Check { then, otherwise, .. }) = clash.entry.op(check) else { return false };
    let missing = if clash.entry.answer(check, clash.act) == Some(true) { otherwise } else { then };
    matches!(missing.last(), Some(Effect { op: Op::Exit(Exit::Throw | Exit::Return(_)), .. }))
}

/// Whether what was found is handed on, kept or given back.
fn is_used(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let Some(check) = clash.check else { return false };
    let way = entry.answer(check, clash.act);
    let of_it = |value: &Value| entry.sources(*value).contains(&clash.look);
    (check + 1..entry.steps.len()).any(|at| {
        let counts = match entry.op(at) {
            Some(Op::Check { .. }) => false,
            Some(Op::Write { .. }) => entry.meets(clash.act, at).is_none(),
            _ => true,
        };
        counts && entry.answer(check, at) == way && used_at(entry, at).iter().any(of_it)
    })
}

pub(super) fn issue(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.entry.thing(clash.look);
    let message = format!(
        "{thing} is good for one use, but is looked for in one step and removed in another, so two calls at once both find it and use it"
    );
    clash
        .told(
            message,
            &format!("finds {thing}"),
            &format!("removes {thing}"),
            "it was gone already, and was used twice",
        )
        .no_surer_than(Confidence::Medium)
}
