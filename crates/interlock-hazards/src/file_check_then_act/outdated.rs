//! A removal that was decided by what a file said before: what another call has put there since is removed unread.
//!
//! Reported:
//! ```text
//! const lock = JSON.parse(await readFile(LOCK));    // reported here
//! if (lock.expires < Date.now()) await unlink(LOCK);
//! ```
//! Not reported:
//! ```text
//! const lock = JSON.parse(await readFile(LOCK));
//! if (lock.owner === me) await unlink(LOCK);        // asks whether the file is its own
//! ```
//!
//! Files that nobody here writes are left alone.

use std::collections::HashMap;

use interlock_model::{
    Confidence, Lane, Severity, Span,
    ir::{Aspect, Op, Resource, Value},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed},
    decision::needs,
    view::{At, Kinds, Overlap, Pattern, View},
};

use super::{HAZARD, rule::keep_last_reads};

/// Files that are removed because of what was read in them.
pub(super) fn outdated(view: &View<'_>) -> Vec<Issue> {
    let mut pairs = claimed(view, Claim::OutdatedFile);
    keep_last_reads(&mut pairs);
    if pairs.is_empty() {
        return vec![];
    }
    let made = makers(view);
    let judge = |pair: &CheckAct<'_, '_>| issue(pair, &made).ok_or(Reason::NobodyWrites);
    pairs
        .iter()
        .filter_map(|pair| pair.entry.settle(&HAZARD.id, &[pair.read, pair.act], judge(pair)))
        .collect()
}

/// Whether what a file says decided that it is removed.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let reads =
        matches!(entry.op(pair.read), Some(Op::Read { aspect: Aspect::Content, of: Resource::File(_), .. }));
    let goes = matches!(entry.op(pair.act), Some(Op::Delete { .. }));
    needs(reads && goes && !pair.data_dependent_at_all, Reason::OutOfScope)?;
    needs(pair.overlap == Overlap::Sure, Reason::UnsureSame)?;
    needs(pair.check.is_some_and(|check| is_about_content(pair, check)), Reason::ComparedWithOwn)
}

/// Whether a check goes by what was read, and by nothing else but the clock and what the caller wants. Whoever compares it with
/// something of its own asks whether the file is its own.
fn is_about_content(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let entry = pair.entry;
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    let from_file = |value: &Value| entry.flow().sources(*value).contains(&pair.read);
    let judged: Vec<Value> = on.iter().copied().filter(|value| !entry.flow().is_answer(*value)).collect();
    let wanted = |value: &Value| {
        entry.flow().backward_slice(&[*value]).iter().any(|part| entry.flow().is_handed_over(*part))
    };
    let is_asked = |value: &Value| entry.flow().is_time(&[*value]) || wanted(value);
    judged.iter().any(from_file) && judged.iter().all(|value| from_file(value) || is_asked(value))
}

/// The files that somebody makes, writes or replaces, and where the first does.
fn makers(view: &View<'_>) -> HashMap<Pattern, Span> {
    let mut found = HashMap::new();
    let puts = |op: &Op| matches!(op, Op::Write { to: Resource::File(_), .. } | Op::Rename { .. });
    for entry in view.entries_with(Kinds::WRITE | Kinds::RENAME) {
        for at in entry.all(Kinds::WRITE | Kinds::RENAME, puts) {
            if let Some(Resource::File(path)) = entry.resource(at) {
                found.entry(entry.alias().pattern(path)).or_insert_with(|| entry.position(at, &[]));
            }
        }
    }
    found
}

fn issue(pair: &CheckAct<'_, '_>, made: &HashMap<Pattern, Span>) -> Option<Issue> {
    let Some(Resource::File(path)) = pair.resource() else { return None };
    let pattern = pair.entry.alias().pattern(path);
    let maker = *made.get(&pattern).filter(|_| pattern.fits(&pattern))?;
    let thing = pair.thing();
    let message = format!(
        "what {thing} says is judged and then it is removed by name, so what another call has put there meanwhile is removed unread"
    );
    let issue = pair
        .issue(message)
        .only(Severity::Medium)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, pair.read_span(), format!("reads {thing}, and finds it out of date"))
        .step(Lane::B, maker, format!("puts something new at {thing}"))
        .step(Lane::A, pair.act_span(), format!("removes {thing}: B's is gone"));
    Some(issue)
}
