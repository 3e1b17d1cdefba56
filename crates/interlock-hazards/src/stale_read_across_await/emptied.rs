//! A batch that is emptied behind the wait for what was in it before: what came in meanwhile is thrown away.
//!
//! Reported:
//! ```text
//! await send(this.events);
//! this.events = [];                                 // reported here
//! ```
//! Not reported:
//! ```text
//! const batch = this.events;
//! this.events = [];                                 // emptied first
//! await send(batch);
//! ```
//!
//! Only what is called like a batch counts: a cache or a context is set back because it has become worthless.

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{AccessPath, Argument, Aspect, Change, Field, Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    gates::is_claimed,
    lexicon::Topic,
    view::{At, Entry, Kinds, Runs, View},
};

use super::HAZARD;

/// A step that adds to what is gathered.
struct Addition {
    field: String,
    span: Span,
}

/// Gathered things that are emptied behind the wait for those that were there before it. What else says so of an act has reported it.
pub(super) fn emptied(view: &View<'_>, reported: impl Fn(&Entry<'_>, At) -> bool) -> Vec<Issue> {
    let empties = |entry: &Entry<'_>| {
        let acts = entry.steps_of(Kinds::WRITE | Kinds::DELETE).filter(|at| gathered(entry, *at).is_some());
        acts.collect::<Vec<At>>()
    };
    let racing = view.entries_with(Kinds::WRITE | Kinds::DELETE).filter(|entry| entry.runs_beside_itself());
    let found: Vec<(&Entry<'_>, At, At)> = racing
        .flat_map(|entry| empties(entry).into_iter().map(move |act| (entry, act)))
        .filter_map(|(entry, act)| {
            let judge = || {
                unless(reported(entry, act), Reason::ReportedElsewhere)?;
                sent_before(view, entry, act)
            };
            Some((entry, entry.note(&HAZARD.id, &[act], judge()).ok()?, act))
        })
        .collect();
    if found.is_empty() {
        return vec![];
    }
    let added = additions(view);
    found
        .into_iter()
        .filter_map(|(entry, read, act)| {
            let whole = gathered(entry, act)?;
            let (field, file) = (entry.alias().last_name(&whole)?, entry.span(act).file);
            let other = added.iter().find(|other| other.field == field && other.span.file == file);
            let other = entry.settle(&HAZARD.id, &[read, act], other.ok_or(Reason::NobodyWrites))?;
            Some(issue(entry, &whole, read, act, other.span))
        })
        .collect()
}

/// The place in memory that a step leaves empty.
fn gathered(entry: &Entry<'_>, act: At) -> Option<AccessPath> {
    let empties = match entry.op(act)? {
        Op::Write { mode: WriteMode::Blind, from, .. } => from.is_empty() || cuts_all(entry, act, from),
        Op::Delete { .. } => true,
        _ => false,
    };
    let Resource::Shared(path) = entry.resource(act).filter(|_| empties)? else { return None };
    let mut whole = path.clone();
    // `list.length = 0` leaves the list empty.
    if matches!(whole.fields.last(), Some(Field::Name(name)) if &**name == "length") {
        whole.fields.pop();
    }
    // What is taken out of a map by its key is one thing, and not all of them.
    let is_entry = matches!(whole.fields.last(), Some(Field::At(_)));
    (!is_entry && is_gathered(entry, &whole) && entry.alias().is_shared(&whole)).then_some(whole)
}

/// Whether as many are cut off as there are at that moment: `list.splice(0, list.length)`.
fn cuts_all(entry: &Entry<'_>, act: At, from: &[Value]) -> bool {
    let [number] = from else { return false };
    let [read] = entry.flow().sources(*number) else { return false };
    entry.name_of(*number).split('.').next() == Some("length")
        && entry.resource(*read) == entry.resource(act)
        && entry.control().leads_to(*read, act) == Some(false)
}

/// The read of all that was there before it was sent off, with others let in until the act.
fn sent_before(view: &View<'_>, entry: &Entry<'_>, act: At) -> Result<At, Reason> {
    let whole = gathered(entry, act).ok_or(Reason::OutOfScope)?;
    let sees_all = |read: &At| {
        matches!(entry.op(*read), Some(Op::Read { aspect: Aspect::Content, .. }))
            && *read < act
            && matches!(entry.resource(*read), Some(Resource::Shared(seen)) if *seen == whole)
    };
    let reads: Vec<At> = entry.steps_of(Kinds::READ).filter(sees_all).collect();
    // Whoever makes sure at the last moment that nothing was added knows what is thrown away.
    let asks_again = entry
        .flow()
        .controlling_reads(act)
        .any(|(_, read)| reads.contains(&read) && view.reach(entry, read, act).is_none());
    unless(asks_again, Reason::CheckedAgain)?;
    let mut reason = Reason::OutOfScope;
    let mut sent =
        reads.into_iter().rev().filter(|read| (read + 1..act).any(|send| sends(entry, *read, send, act)));
    let lost = sent.find(|read| {
        let judge = || {
            needs(view.interference(entry, *read, act)? == Reach::InProcess, Reason::OutOfScope)?;
            unless(clears_up(entry, *read, act), Reason::EndsOnRequest)?;
            unless(is_claimed(view, entry, *read, act), Reason::ClaimedFirst)
        };
        judge().map_err(|why| reason = why).is_ok()
    });
    lost.ok_or(reason)
}

/// Whether a place is called like one where things wait until they are sent. A cache, a context or a number of attempts is set back
/// because it has become worthless.
fn is_gathered(entry: &Entry<'_>, whole: &AccessPath) -> bool {
    entry.lexicon().has_word_of(Topic::Waiting, &entry.path_text(whole))
}

/// Whether a step on the way from a read to an act gives away what was seen, and is waited for.
fn sends(entry: &Entry<'_>, read: At, send: At, act: At) -> bool {
    let Some(Op::Read { into: seen, .. }) = entry.op(read) else { return false };
    let gives_away = match entry.op(send) {
        Some(Op::Call { arguments, awaited: true, .. }) => {
            arguments.iter().flat_map(Argument::mentioned).any(|value| entry.flow().depends_on(value, *seen))
        }
        // What a request is made of is not told by its step. What waits to be sent and is read as a whole is what is sent.
        Some(Op::External { change, .. }) => {
            let counted = entry
                .name_of(*seen)
                .split('.')
                .next()
                .is_some_and(|name| entry.lexicon().has(Topic::Size, name));
            *change != Change::None && !counted
        }
        Some(Op::Write { to: Resource::File(_) | Resource::Row { .. } | Resource::Key(_), .. }) => {
            entry.flow().data_dependences(send).contains(&read)
        }
        _ => false,
    };
    gives_away
        && entry.control().leads_to(read, send).is_some()
        && entry.control().leads_to(send, act) == Some(true)
}

/// Whether all is thrown away because nobody is to come any more.
fn clears_up(entry: &Entry<'_>, read: At, act: At) -> bool {
    let names = |function| entry.lexicon().has_verb_of(Topic::ClearsUp, &entry.function_name(function));
    entry.control().is_recovery(act) || names(entry.function) || names(entry.home(&[read, act]))
}

/// Everything that calls and events add to something in memory.
fn additions(view: &View<'_>) -> Vec<Addition> {
    let mut found = vec![];
    for entry in view.entries_with(Kinds::WRITE).filter(|entry| *entry.runs != Runs::StartUp) {
        for at in entry.steps_of(Kinds::WRITE) {
            let (Some(Op::Write { mode, from, .. }), Some(Resource::Shared(path))) =
                (entry.op(at), entry.resource(at))
            else {
                continue;
            };
            let under_key = path.fields.iter().position(|field| matches!(field, Field::At(_)));
            let keeps_rest = || {
                entry
                    .flow()
                    .data_dependences(at)
                    .iter()
                    .any(|from| entry.alias().overlap(*from, at).is_some())
            };
            let adds = *mode == WriteMode::Append
                || under_key.is_some()
                || (*mode == WriteMode::Blind && !from.is_empty() && keeps_rest());
            if !adds {
                continue;
            }
            let mut whole = path.clone();
            whole.fields = path.fields.iter().take(under_key.unwrap_or(path.fields.len())).cloned().collect();
            let span = entry.span(at);
            found.extend(entry.alias().last_name(&whole).map(|field| Addition { field, span }));
            // What is counted up in an object is a part of what it holds.
            if under_key.is_none() && *mode == WriteMode::Blind {
                whole.fields.pop();
                found.extend(entry.alias().last_name(&whole).map(|field| Addition { field, span }));
            }
        }
    }
    found
}

fn issue(entry: &Entry<'_>, whole: &AccessPath, read: At, act: At, added: Span) -> Issue {
    let thing = format!("`{}`", entry.path_text(whole));
    let message = format!(
        "{thing} is emptied behind the wait for what was in it before, so what another call has put there meanwhile is thrown away"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    Issue::at(entry, act, &[read], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("takes what is in {thing}, and waits until it is away"))
        .step(Lane::B, added, format!("puts more into {thing}"))
        .step(Lane::A, done, format!("empties {thing}: B's is gone"))
}
