//! Check-then-act on a file that is a record store: what it says is judged, then the whole file is replaced by something new.
//!
//! Reported:
//! ```text
//! const state = JSON.parse(await readFile(FILE));   // reported here
//! if (state.status !== "open") throw new Error("closed");
//! await writeFile(FILE, JSON.stringify({ status: "paid", by }));
//! ```
//! Not reported:
//! ```text
//! const kept = JSON.parse(await readFile(CACHE));
//! if (kept.until > Date.now()) return kept.answer;  // a cache: what is made anew twice is as good
//! await writeFile(CACHE, JSON.stringify({ until, answer }));
//! ```
//!
//! What is written back from what was read is `lost-update`; a file that is only looked for, `file-check-then-act`; one that is worked off and emptied, `lost_update/discarded.rs`.

use interlock_model::{
    Confidence,
    ir::{Aspect, Exit, Op, Resource, Root, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    fields::{asks_presence, says_it_went_well},
    view::{At, Entry, Kinds, Overlap, View},
};

use super::rule::{makes_anew, sets_what_was_compared};

/// Whether what a file says decides that it is replaced by something that was not made of it.
pub(crate) fn claims(view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let reads =
        matches!(entry.op(pair.read), Some(Op::Read { aspect: Aspect::Content, of: Resource::File(_), .. }));
    let replaces = matches!(
        (entry.op(pair.act), pair.resource()),
        (Some(Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. }), Some(Resource::File(_)))
    );
    let check = pair.check.filter(|_| reads && replaces).ok_or(Reason::OutOfScope)?;
    unless(pair.data_dependent_at_all, Reason::OutOfScope)?;
    needs(pair.overlap == Overlap::Sure, Reason::UnsureSame)?;
    unless(entry.control().is_recovery(pair.act), Reason::OnlyInRecovery)?;
    let judged = judged_parts(pair, check);
    needs(!judged.is_empty(), Reason::JudgesPresence)?;
    unless(makes_anew(pair) || sets_what_was_compared(pair), Reason::SameContent)?;
    unless(
        !entry.control().is_refused(check, pair.act) && is_cache(pair, check, &judged),
        Reason::KeepsCache,
    )?;
    // What is the same whoever writes it takes nothing away, unless something else is put there in between.
    unless(is_constant(entry, pair.act) && !is_put_otherwise(view, pair), Reason::NobodyWrites)
}

/// The parts of what was read that a check compares; empty if it only asks whether there is something, or how many characters the text has.
fn judged_parts(pair: &CheckAct<'_, '_>, check: At) -> Vec<Value> {
    let entry = pair.entry;
    let (Some(Op::Check { on, equal, .. }), Some(Op::Read { into, .. })) =
        (entry.op(check), entry.op(pair.read))
    else {
        return vec![];
    };
    let is_judged = |value: &&Value| {
        let flow = entry.flow();
        if !flow.sources(**value).contains(&pair.read) || flow.is_opaque_result(**value, pair.read) {
            return false;
        }
        let (Some(field), Some(path)) = (entry.alias().field_of(**value), entry.alias().field_path(**value))
        else {
            return false;
        };
        // So the front end calls a size that is compared with a number.
        let is_several = entry.name_of(**value).split('.').next() == Some("several");
        let is_compared = on.len() > 1 || equal.is_some() || is_several;
        let is_presence = asks_presence(entry, **value, &field, pair.act);
        let of_text = path.root == Root::Value(*into);
        !says_it_went_well(entry, **value, &field) && (!is_presence || is_compared && !of_text)
    };
    on.iter().filter(is_judged).copied().collect()
}

/// Whether the file is kept only not to be asked for again: it runs out by the clock, is kept with what it was made from, or who finds it
/// good gives back what else it says.
fn is_cache(pair: &CheckAct<'_, '_>, check: At, judged: &[Value]) -> bool {
    let entry = pair.entry;
    let Some(Op::Check { on, .. }) = entry.op(check) else { return false };
    let others = || {
        let branch = entry.control().answer(check, pair.act).map(|branch| !branch);
        (check + 1..entry.steps.len())
            .filter(move |at| branch.is_some() && entry.control().answer(check, *at) == branch)
    };
    let is_other_part = |value: &Value| {
        entry.flow().sources(*value).contains(&pair.read) && !entry.flow().depends_on_any(*value, judged)
    };
    let gives_back = |at: At| matches!(entry.op(at), Some(Op::Exit(Exit::Return(given))) if given.iter().any(is_other_part));
    entry.flow().is_time(on) || pair.puts_what_was_compared() || others().any(gives_back)
}

/// Whether nothing of this call's own is in what is written.
fn is_constant(entry: &Entry<'_>, act: At) -> bool {
    let nothing_in = |from: &[Value]| {
        let flow = entry.flow();
        from.iter().all(|value| flow.origin(*value).is_none_or(|origin| !origin.is_argument()))
            && flow.sources_of(from).is_empty()
            && !flow.backward_slice(from).iter().any(|value| flow.is_handed_over(*value))
    };
    match entry.op(act) {
        Some(Op::Write { from, .. }) => nothing_in(from),
        Some(Op::Rename { from, .. }) => {
            let moved = entry.alias().resolve_resource(from);
            entry.steps_of(Kinds::WRITE).filter(|write| *write < act).any(|write| {
                entry.resource(write) == Some(&moved)
                    && matches!(entry.op(write), Some(Op::Write { from, .. }) if nothing_in(from))
            })
        }
        _ => false,
    }
}

/// Whether anybody puts something else into the file.
fn is_put_otherwise(view: &View<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let Some(Resource::File(path)) = pair.resource() else { return false };
    let pattern = pair.entry.alias().file_pattern(path);
    let puts = |entry: &Entry<'_>, at: At| {
        let same = matches!(entry.resource(at), Some(Resource::File(other)) if entry.alias().file_pattern(other).fits(&pattern));
        same && !is_constant(entry, at)
    };
    pattern.fits(&pattern)
        && !pattern.is_open()
        && view.entries_with(Kinds::WRITE | Kinds::RENAME).any(|entry| {
            entry.runs_beside_itself()
                && entry.steps_of(Kinds::WRITE | Kinds::RENAME).any(|at| puts(entry, at))
        })
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let entry = pair.entry;
    let thing = entry.thing(pair.read);
    let field = pair
        .check
        .and_then(|check| judged_parts(pair, check).first().copied())
        .and_then(|value| entry.alias().field_of(value));
    let what = field.map_or_else(|| format!("what {thing} says"), |field| format!("`{field}` of {thing}"));
    let message = format!(
        "{what} is judged and then the whole file is replaced, so two calls at once both pass, and what was put there in between is gone"
    );
    pair.report(
        message,
        &format!("reads {thing}, and passes"),
        &format!("replaces {thing}"),
        "it passed on a state that A has changed",
    )
    .no_surer_than(Confidence::Medium)
    .advise(
        "Hold one lock from the read to the write, as wide as the file itself (across processes where several of them use it).",
    )
}
