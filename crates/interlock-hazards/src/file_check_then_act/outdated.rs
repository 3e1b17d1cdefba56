//! What a file says decides that it goes: what somebody else has put there since goes with it, unread.

use std::collections::HashMap;

use interlock_model::{
    Confidence, Lane, Severity, Span,
    ir::{Aspect, Op, Resource, Value},
};

use crate::{
    Issue, auth_check_then_act,
    clash::Clash,
    view::{At, Kinds, Overlap, Pattern, View},
};

/// Files that are removed because of what was read in them.
pub(super) fn outdated(view: &View<'_>, found: &[Clash<'_, '_>]) -> Vec<Issue> {
    let mut claimed: Vec<&Clash<'_, '_>> = found
        .iter()
        .filter(|clash| claims(clash) && !auth_check_then_act::rule::claims(view, clash))
        .collect();
    // Of several looks before one act the last is the one that was meant for it.
    claimed.reverse();
    claimed.dedup_by(|next, last| std::ptr::eq(next.entry, last.entry) && next.act == last.act);
    if claimed.is_empty() {
        return vec![];
    }
    let made = makers(view);
    claimed.into_iter().rev().filter_map(|clash| issue(clash, &made)).collect()
}

/// Whether what a file says decided that it is removed.
fn claims(clash: &Clash<'_, '_>) -> bool {
    let entry = clash.entry;
    let reads =
        matches!(entry.op(clash.look), Some(Op::Read { aspect: Aspect::Content, of: Resource::File(_), .. }));
    let goes = matches!(entry.op(clash.act), Some(Op::Delete { .. }));
    reads
        && goes
        && clash.overlap == Overlap::Sure
        && !clash.fed_at_all
        && clash.check.is_some_and(|check| is_about_content(clash, check))
}

/// Whether a check goes by what was read, and by nothing else but the clock and what the caller wants. Whoever compares it with
/// something of its own asks whether the file is its own.
fn is_about_content(clash: &Clash<'_, '_>, check: At) -> bool {
    let entry = clash.entry;
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    let from_file = |value: &Value| entry.sources(*value).contains(&clash.look);
    let judged: Vec<Value> = on.iter().copied().filter(|value| !entry.is_answer(*value)).collect();
    let wanted = |value: &Value| entry.made_of(&[*value]).iter().any(|part| entry.is_handed_over(*part));
    let is_asked = |value: &Value| entry.is_time(&[*value]) || wanted(value);
    judged.iter().any(from_file) && judged.iter().all(|value| from_file(value) || is_asked(value))
}

/// The files that somebody makes, writes or replaces, and where the first does.
fn makers(view: &View<'_>) -> HashMap<Pattern, Span> {
    let mut found = HashMap::new();
    let puts = |op: &Op| matches!(op, Op::Write { to: Resource::File(_), .. } | Op::Rename { .. });
    for entry in view.entries_with(Kinds::WRITE | Kinds::RENAME) {
        for at in entry.all(Kinds::WRITE | Kinds::RENAME, puts) {
            if let Some(Resource::File(path)) = entry.resource(at) {
                found.entry(entry.pattern(path)).or_insert_with(|| entry.place(at, &[]));
            }
        }
    }
    found
}

fn issue(clash: &Clash<'_, '_>, made: &HashMap<Pattern, Span>) -> Option<Issue> {
    let Some(Resource::File(path)) = clash.resource() else { return None };
    let pattern = clash.entry.pattern(path);
    let maker = *made.get(&pattern).filter(|_| pattern.fits(&pattern))?;
    let thing = clash.thing();
    let message = format!(
        "what {thing} says is judged and then it is removed by name, so what another call has put there meanwhile is removed unread"
    );
    let issue = clash
        .issue(message)
        .only(Severity::Medium)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, clash.look_span(), format!("reads {thing}, and finds it out of date"))
        .step(Lane::B, maker, format!("puts something new at {thing}"))
        .step(Lane::A, clash.act_span(), format!("removes {thing}: B's is gone"));
    Some(issue)
}
