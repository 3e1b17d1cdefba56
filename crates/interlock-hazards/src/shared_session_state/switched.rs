//! A setting that all calls share is switched for one of them: who calls, a token, the folder to work in.
//!
//! Reported:
//! ```text
//! const before = current;
//! current = user;                                   // reported here
//! await work();                                     // another call works as this user meanwhile
//! current = before;
//! client.token = token;                             // and here
//! await fetch(…); await client.send(text);          // with whose token?
//! ```
//! Not reported:
//! ```text
//! current.run(user, () => work());                  // a context of each call
//! client.as(token).send(text);                      // an object of its own
//! ```
//!
//! What a tool sets because that is asked of it (`set_project`) is meant for all.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Field, Op, Origin, Resource, Root, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
    words,
};

use super::HAZARD;

/// The places where a call sets for itself what all calls share, and relies on it behind a suspension.
pub(super) fn switched(view: &View<'_>) -> Vec<Issue> {
    let called = view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    called.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let sets = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. });
    let writes: Vec<At> = entry.all(Kinds::WRITE, sets).filter(|at| is_setting(entry, *at)).collect();
    let mut issues = vec![];
    for set in writes.iter().copied().filter(|set| is_given(entry, *set)) {
        let judged = put_back(view, entry, set, &writes).or_else(|first| {
            let used = relied_on(view, entry, set)?;
            // Why it is not put back says more than why it is not relied on.
            used.ok_or(first)
        });
        issues.extend(entry.settle(&HAZARD.id, &[set], judged));
    }
    issues
}

/// A place that all calls share, and none of them has an entry of its own in.
fn is_setting(entry: &Entry<'_>, at: At) -> bool {
    match entry.resource(at) {
        Some(Resource::Shared(path)) => {
            entry.alias().is_shared(path) && path.fields.iter().all(|field| matches!(field, Field::Name(_)))
        }
        _ => false,
    }
}

/// Whether what is set comes from the call: another one sets something else.
fn is_given(entry: &Entry<'_>, set: At) -> bool {
    let Some(Op::Write { from, .. }) = entry.op(set) else { return false };
    let given = |value: &Value| {
        matches!(
            entry.flow().origin(*value),
            Some(Origin::Argument | Origin::Arguments | Origin::Caller | Origin::Session)
        )
    };
    from.iter().any(given) || entry.flow().backward_slice(from).iter().any(given)
}

/// A setting that is put back to what it was before, behind a suspension.
fn put_back(view: &View<'_>, entry: &Entry<'_>, set: At, writes: &[At]) -> Result<Issue, Reason> {
    let same = |at: At| entry.alias().overlap(at, set) == Some(Overlap::Sure);
    let was_read = |read: &At| *read < set && same(*read);
    let restores = |back: &&At| {
        **back > set && same(**back) && entry.flow().data_dependences(**back).iter().any(was_read)
    };
    let back = *writes.iter().find(restores).ok_or(Reason::NotComputedFromRead)?;
    unless(entry.flow().data_dependences(set).iter().any(was_read), Reason::NotReplaced)?;
    let reach = view.interference(entry, set, back)?;
    let thing = entry.thing(set);
    let message = format!(
        "{thing} is switched for one call and put back when it is done, so what another call does meanwhile goes by this call's setting"
    );
    let (here, there) = (entry.position(set, &[back]), entry.position(back, &[set]));
    let issue = Issue::at(entry, set, &[back], reach, message)
        .advise("Hand it on to whoever needs it instead of keeping it for all calls, or hold one lock until it is no longer needed.")
        .step(Lane::A, here, format!("sets {thing}"))
        .step(Lane::B, here, format!("sets {thing} for itself, while A still works"))
        .step(Lane::A, there, format!("goes on with B's {thing}, and puts back what was there before"));
    Ok(issue)
}

/// What says who calls, set by a call and read again behind a suspension: `Ok(None)` where it is not read again.
fn relied_on(view: &View<'_>, entry: &Entry<'_>, set: At) -> Result<Option<Issue>, Reason> {
    let Some(Resource::Shared(path)) = entry.resource(set) else { return Ok(None) };
    needs(says_who_calls(entry, path), Reason::OutOfScope)?;
    unless(is_asked_for(entry, set), Reason::EndsOnRequest)?;
    let relies = |read: &At| {
        *read > set
            && entry.alias().overlap(set, *read) == Some(Overlap::Sure)
            && entry.control().leads_to(set, *read) == Some(true)
    };
    let Some(read) = entry.steps_of(Kinds::READ).find(relies) else { return Ok(None) };
    let reach = view.interference(entry, set, read)?;
    let thing = entry.thing(set);
    let message = format!(
        "{thing} is set for all by one call and read again after a suspension, so it may be what another call has set meanwhile"
    );
    let (here, there) = (entry.position(set, &[read]), entry.position(read, &[set]));
    let reach = if reach == Reach::CrossProcess { Reach::InProcess } else { reach };
    let issue = Issue::at(entry, set, &[read], reach, message)
        .advise("Hand it on to whoever needs it instead of keeping it for all calls, or hold one lock until it is no longer needed.")
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, here, format!("sets {thing}"))
        .step(Lane::B, here, format!("sets {thing} as well"))
        .step(Lane::A, there, format!("reads {thing}: it is B's"));
    Ok(Some(issue))
}

/// Whether a place is called after whoever calls.
fn says_who_calls(entry: &Entry<'_>, path: &AccessPath) -> bool {
    let last = path.fields.iter().rev().find_map(|field| match field {
        Field::Name(name) => Some(&**name),
        Field::At(_) => None,
    });
    let root = match &path.root {
        Root::Global(name) => name.rsplit("::").next(),
        _ => None,
    };
    // What a name is about stands at its end: `currentUser` and `user_id`, but not `tokenCounter`.
    let is_about = |name: &str| {
        let mut words = words(name);
        while words.len() > 1 && words.last().is_some_and(|last| matches!(last.as_str(), "id" | "name")) {
            words.pop();
        }
        words.last().is_some_and(|last| entry.lexicon().has(Topic::WhoCalls, last))
    };
    last.or(root).is_some_and(is_about)
}

/// Whether to set it is what the caller asks for.
fn is_asked_for(entry: &Entry<'_>, set: At) -> bool {
    let sets = |name: &str| entry.lexicon().has_verb_of(Topic::SetsState, name);
    entry.tools().iter().any(|tool| sets(tool)) || sets(&entry.function_name(entry.function_of(set)))
}
