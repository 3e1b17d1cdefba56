//! Two misses load, refresh or initialise the same thing twice.

use interlock_model::{
    Confidence,
    ir::{Op, Resource, Value, WriteMode},
};

use crate::{
    Issue,
    clash::{Clash, clashes},
    view::{At, Entry, Kinds, Overlap, View},
};

use super::{
    cost::{Cost, cost},
    refreshed::refreshed,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let found = clashes(view);
    let mut misses: Vec<_> = found.iter().filter(|clash| claims(view, clash)).collect();
    // `has` and `get` before one load are one miss, told from the first of them; so are a cache and the time that is kept beside it.
    misses.dedup_by(|next, first| {
        std::ptr::eq(next.entry, first.entry) && (next.act == first.act || next.check == first.check)
    });
    let told = |entry: &Entry<'_>, act: At| {
        misses.iter().any(|clash| std::ptr::eq(clash.entry, entry) && clash.act == act)
    };
    let racing = view.entries_with(Kinds::EXTERNAL).filter(|entry| entry.runs_beside_itself());
    let tokens: Vec<Issue> =
        racing.flat_map(|entry| refreshed(view, entry, |act| told(entry, act))).collect();
    misses.into_iter().map(issue).chain(tokens).collect()
}

/// Whether something is missed, loaded and then kept: the value that is written does not come from what was there.
pub(crate) fn claims(_view: &View<'_>, clash: &Clash<'_, '_>) -> bool {
    let shared = match clash.resource() {
        Some(Resource::Shared(path)) => clash.entry.is_shared(path),
        _ => false,
    };
    let keeps = matches!(clash.entry.op(clash.act), Some(Op::Write { mode: WriteMode::Blind, .. }));
    // What is there and then taken away was not loaded.
    let missed = |check| {
        clash.entry.answer(check, clash.act) != Some(true)
            || is_nothing_yet(clash, check)
            || has_run_out(clash, check)
    };
    shared
        && keeps
        && clash.check.is_some_and(missed)
        && !clash.fed_at_all
        && !is_loaded_before(clash)
        && !notes_failure(clash)
        && match cost(clash) {
            Cost::None => false,
            Cost::Reading => !clash.entry.puts_what_all_get(clash.look, clash.act),
            Cost::More => true,
        }
}

/// Whether it is asked for a word and, when something has failed, set to one: a note of that, and nothing that was loaded.
fn notes_failure(clash: &Clash<'_, '_>) -> bool {
    let asks_for_word = |check| matches!(clash.entry.op(check), Some(Op::Check { equal: Some(_), .. }));
    let sets_word = matches!(clash.entry.op(clash.act), Some(Op::Write { from, .. }) if from.is_empty());
    sets_word && clash.entry.is_recovery(clash.act) && clash.check.is_some_and(asks_for_word)
}

/// Whether this very call has loaded it before it looked, by the same line: what is loaded anew each time is not missed.
fn is_loaded_before(clash: &Clash<'_, '_>) -> bool {
    let Clash { entry, look, act, .. } = clash;
    let loads = entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }));
    loads
        .filter(|load| load < look && entry.span(*load) == entry.span(*act))
        .any(|load| entry.overlap(load, *act) == Some(Overlap::Sure) && entry.leads_to(load, *look).is_some())
}

/// Whether a check asks for a word that stands for nothing, and something that was found out takes its place.
fn is_nothing_yet(clash: &Clash<'_, '_>, check: At) -> bool {
    const NOTHING: [&str; 9] = ["", "unknown", "none", "null", "undefined", "unset", "n/a", "-1", "0"];
    let (Some(Op::Check { equal: Some(word), .. }), Some(Op::Write { from, .. })) =
        (clash.entry.op(check), clash.entry.op(clash.act))
    else {
        return false;
    };
    NOTHING.iter().any(|nothing| word.eq_ignore_ascii_case(nothing)) && !from.is_empty()
}

/// Whether a check asks the clock, and something that was found out takes the place of what has run out.
fn has_run_out(clash: &Clash<'_, '_>, check: At) -> bool {
    let (Some(Op::Check { on, .. }), Some(Op::Write { from, .. })) =
        (clash.entry.op(check), clash.entry.op(clash.act))
    else {
        return false;
    };
    // When something was last done is no more than a note of it.
    let is_found_out = |value: &Value| !clash.entry.is_time(&[*value]);
    clash.entry.is_time(on) && from.iter().any(is_found_out)
}

fn issue(clash: &Clash<'_, '_>) -> Issue {
    match cost(clash) {
        // Who asks twice for what is only read has waited, and lost nothing.
        Cost::Reading => told(clash).no_surer_than(Confidence::Low),
        _ => told(clash),
    }
}

fn told(clash: &Clash<'_, '_>) -> Issue {
    let thing = clash.thing();
    let is_flag = matches!(clash.entry.op(clash.act), Some(Op::Write { from, .. }) if from.is_empty());
    if is_flag {
        // What is set says that something was done, and is not what was done.
        let message = format!(
            "{thing} is asked first and set only when the work is done, so calls that come at the same time do the work again each"
        );
        return clash.told(
            message,
            &format!("finds {thing} not set"),
            &format!("has done the work, and sets {thing}"),
            "it was done twice",
        );
    }
    let message = format!(
        "{thing} is looked for, loaded and only then kept, so calls that miss at the same time load it again each"
    );
    clash.told(
        message,
        &format!("does not find {thing}"),
        &format!("has loaded it, and keeps {thing}"),
        "it was loaded twice, and A's is dropped",
    )
}
