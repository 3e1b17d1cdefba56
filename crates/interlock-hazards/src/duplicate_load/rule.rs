//! Cache stampede, or racy lazy initialisation: two calls miss, and both load what is then kept.
//!
//! Reported:
//! ```text
//! if (!cache.has(key)) {                            // reported here
//!   cache.set(key, await load(key));
//! }
//! ```
//! Not reported:
//! ```text
//! if (!cache.has(key)) {
//!   cache.set(key, load(key));                      // the promise is kept at once, and all wait for it
//! }
//! return await cache.get(key);
//! ```
//!
//! What is written from what was there is an update, not a load. How bad it is depends on what the load does (`cost.rs`); tokens that are used up by being renewed are in
//! `refreshed.rs`, what a flag of a library says is open in `opened.rs`.

use interlock_model::{
    Confidence,
    ir::{Op, Resource, Root, Start, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    claims::{Claim, claimed, silent},
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, Runs, View},
};

use super::{
    HAZARD,
    cost::{Cost, cost},
    opened::opened,
    refreshed::refreshed,
};

pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let mut misses = claimed(view, Claim::DuplicateLoad);
    // `has` and `get` before one load are one miss, reported from the first of them; so are a cache and the time that is kept beside it.
    misses.dedup_by(|next, first| {
        let is_same =
            std::ptr::eq(next.entry, first.entry) && (next.act == first.act || next.check == first.check);
        if is_same {
            silent(next, &HAZARD.id, Reason::ReportedElsewhere);
        }
        is_same
    });
    let reported = |entry: &Entry<'_>, act: At| {
        misses.iter().any(|pair| std::ptr::eq(pair.entry, entry) && pair.act == act)
    };
    let racing = view.entries_with(Kinds::EXTERNAL).filter(|entry| entry.runs_beside_itself());
    let tokens: Vec<Issue> =
        racing.flat_map(|entry| refreshed(view, entry, |act| reported(entry, act))).collect();
    let misses = misses.iter().map(|pair| pair.settle(&HAZARD.id, issue(pair)));
    misses.chain(tokens).chain(opened(view)).collect()
}

/// Whether something is missed, loaded and then kept: the value that is written does not come from what was there.
pub(crate) fn claims(view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let keeps = matches!(pair.entry.op(pair.act), Some(Op::Write { mode: WriteMode::Blind, .. }));
    needs(pair.is_shared() && keeps && !pair.data_dependent_at_all, Reason::OutOfScope)?;
    let check = pair.check.ok_or(Reason::OutOfScope)?;
    // What is there and then taken away was not loaded.
    let missed = pair.entry.control().answer(check, pair.act) != Some(true)
        || is_nothing_yet(pair, check)
        || has_run_out(pair, check);
    needs(missed, Reason::WrittenBecauseFound)?;
    unless(is_refused_if_there(pair), Reason::RefusedIfThere)?;
    // What was compared and is then put there was not loaded: a mark that only goes up.
    unless(pair.puts_what_was_compared(), Reason::OutOfScope)?;
    unless(takes_back(pair), Reason::ComesAndGoes)?;
    unless(is_loaded_at_start(view, pair), Reason::BeforeCalls)?;
    unless(is_loaded_before(pair), Reason::LoadedEachTime)?;
    unless(notes_failure(pair), Reason::NotesFailure)?;
    unless(notes_time(pair, check), Reason::OnlyNotesUse)?;
    match cost(pair) {
        Cost::None => Err(Reason::CostsNothing),
        Cost::Reading => {
            unless(pair.entry.alias().puts_what_all_get(pair.read, pair.act), Reason::SharedResult)
        }
        Cost::Starting | Cost::More => Ok(()),
    }
}

/// Whether it is set to something fixed where something has failed: a note of that, or the flag set back for the next try. Nothing was loaded.
fn notes_failure(pair: &CheckAct<'_, '_>) -> bool {
    let sets_word = matches!(pair.entry.op(pair.act), Some(Op::Write { from, .. }) if from.is_empty());
    sets_word && pair.entry.control().is_recovery(pair.act)
}

/// Whether whoever finds it there is refused: a name that is taken, work that somebody is at. What is cached is given to whoever finds it.
fn is_refused_if_there(pair: &CheckAct<'_, '_>) -> bool {
    pair.check.is_some_and(|check| pair.entry.control().is_refused(check, pair.act))
}

/// Whether the act only takes back in the end what this call has set before: a flag that is there while the work runs.
fn takes_back(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let empties = matches!(entry.op(pair.act), Some(Op::Write { from, .. }) if from.is_empty());
    let sets = |set: At| {
        set < pair.act
            && entry.alias().overlap(set, pair.act) == Some(Overlap::Sure)
            && entry.control().leads_to(set, pair.act).is_some()
    };
    empties && entry.control().is_finally(pair.act) && entry.steps_of(Kinds::WRITE).any(sets)
}

/// Whether start-up has loaded it before anybody calls, by the same line, and nobody here takes it away again.
fn is_loaded_at_start(view: &View<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let (Some(thing), span) = (pair.resource(), pair.entry.span(pair.act)) else { return false };
    let writes = |entry: &Entry<'_>, is: &dyn Fn(&Entry<'_>, At) -> bool| {
        entry
            .steps_of(Kinds::WRITE | Kinds::DELETE)
            .any(|at| entry.resource(at).is_some_and(|other| other == thing) && is(entry, at))
    };
    // What start-up only hands over runs later.
    let is_handed_over = |entry: &Entry<'_>, at: At| {
        let by = entry.control().detached(at).and_then(|by| entry.op(by));
        matches!(by, Some(Op::Spawn { start: Start::Event | Start::Timer, .. }))
    };
    let loads = |entry: &Entry<'_>, at: At| entry.span(at) == span && !is_handed_over(entry, at);
    let at_start = |entry: &Entry<'_>| *entry.runs == Runs::StartUp && writes(entry, &loads);
    let empties = |entry: &Entry<'_>, at: At| match entry.op(at) {
        Some(Op::Write { from, .. }) => from.is_empty(),
        _ => true,
    };
    let emptied = |entry: &Entry<'_>| entry.runs_beside_itself() && writes(entry, &empties);
    let is_global = matches!(thing, Resource::Shared(path) if matches!(path.root, Root::Global(_)));
    // What runs out is missed again.
    let asks_clock = pair
        .check
        .and_then(|check| pair.entry.op(check))
        .is_some_and(|op| matches!(op, Op::Check { on, .. } if pair.entry.flow().is_time(on)));
    is_global && !asks_clock && view.entries.iter().any(at_start) && !view.entries.iter().any(emptied)
}

/// Whether the clock is asked whether enough time has passed, and the time is noted behind the work: a pause between two rounds, or after
/// a failure. Nothing was loaded.
fn notes_time(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let (Some(Op::Check { on, .. }), Some(Op::Write { from, .. })) =
        (pair.entry.op(check), pair.entry.op(pair.act))
    else {
        return false;
    };
    let flow = pair.entry.flow();
    let is_clock = |value: &Value| flow.is_time(&[*value]) && flow.sources(*value).is_empty();
    flow.is_time(on) && !from.is_empty() && from.iter().all(is_clock)
}

/// Whether this very call has loaded it before it looked, by the same line: what is loaded anew each time is not missed.
fn is_loaded_before(pair: &CheckAct<'_, '_>) -> bool {
    let (entry, read, act) = (pair.entry, &pair.read, &pair.act);
    let loads = entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }));
    loads.filter(|load| load < read && entry.span(*load) == entry.span(*act)).any(|load| {
        entry.alias().overlap(load, *act) == Some(Overlap::Sure)
            && entry.control().leads_to(load, *read).is_some()
    })
}

/// Whether a check asks for a word that stands for nothing, and something that was found out takes its place.
fn is_nothing_yet(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let (Some(Op::Check { equal: Some(word), .. }), Some(Op::Write { from, .. })) =
        (pair.entry.op(check), pair.entry.op(pair.act))
    else {
        return false;
    };
    let nothing = pair.entry.lexicon().list(Topic::Nothing);
    nothing.iter().any(|nothing| word.eq_ignore_ascii_case(nothing)) && !from.is_empty()
}

/// Whether a check asks the clock, and something that was found out takes the place of what has run out.
fn has_run_out(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let (Some(Op::Check { on, .. }), Some(Op::Write { from, .. })) =
        (pair.entry.op(check), pair.entry.op(pair.act))
    else {
        return false;
    };
    // When something was last done is no more than a note of it.
    let is_opaque_result = |value: &Value| !pair.entry.flow().is_time(&[*value]);
    pair.entry.flow().is_time(on) && from.iter().any(is_opaque_result)
}

fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    match cost(pair) {
        // Who asks twice for what is only read has waited, and lost nothing.
        Cost::Reading => as_issue(pair).no_surer_than(Confidence::Low),
        // That the object lives on is told by its names.
        Cost::Starting => as_issue(pair).no_surer_than(Confidence::Medium),
        // What its author calls a cache may well be filled twice.
        _ if is_called_a_cache(pair) => as_issue(pair).no_surer_than(Confidence::Medium),
        _ => as_issue(pair),
    }
}

fn is_called_a_cache(pair: &CheckAct<'_, '_>) -> bool {
    match pair.resource() {
        Some(Resource::Shared(path)) => {
            pair.entry.lexicon().has_inside(Topic::CacheInMemory, &pair.entry.path_text(path))
        }
        _ => false,
    }
}

fn as_issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    let is_flag = matches!(pair.entry.op(pair.act), Some(Op::Write { from, .. }) if from.is_empty());
    if is_flag {
        // What is set says that something was done, and is not what was done.
        let message = format!(
            "{thing} is asked first and set only when the work is done, so calls that come at the same time do the work again each"
        );
        return pair.report(
            message,
            &format!("finds {thing} not set"),
            &format!("has done the work, and sets {thing}"),
            "it was done twice",
        );
    }
    let message = format!(
        "{thing} is looked for, loaded and only then kept, so calls that miss at the same time load it again each"
    );
    pair.report(
        message,
        &format!("does not find {thing}"),
        &format!("has loaded it, and keeps {thing}"),
        "it was loaded twice, and A's is dropped",
    )
}
