//! A race to renew a token that is good for one use: the second caller is refused, or stores what is no longer valid.
//!
//! Reported:
//! ```text
//! const answer = await post("/token", { refresh_token: this.refreshToken });   // reported here
//! this.refreshToken = answer.refresh_token;
//! ```
//! Not reported:
//! ```text
//! this.refreshing ??= this.refresh();               // one request for all who come meanwhile
//! await this.refreshing;
//! ```
//!
//! Access tokens that can be asked for any number of times are no such tokens.

use interlock_model::{
    Lane, Reach, Span,
    ir::{Change, Field, Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::unless,
    gates::{Gates, is_claimed},
    keys::key_of,
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
};

use super::HAZARD;

/// A token that is read, sent and replaced by the answer, with room for another call in between. What else renews it has been reported.
pub(super) fn refreshed(view: &View<'_>, entry: &Entry<'_>, reported: impl Fn(At) -> bool) -> Vec<Issue> {
    let mut found: Vec<(Span, Issue)> = vec![];
    let mut gates = Gates::default();
    let requests: Vec<At> = entry
        .all(Kinds::EXTERNAL, |op| matches!(op, Op::External { change, .. } if *change != Change::None))
        .collect();
    if requests.is_empty() {
        return vec![];
    }
    for act in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Blind, .. })) {
        let data_dependent = entry.flow().data_dependences(act);
        let Some(request) = requests.iter().copied().find(|request| data_dependent.contains(request)) else {
            continue;
        };
        if reported(act) || !keeps_a_renewal(entry, act) {
            continue;
        }
        let Some(read) = spent(entry, request, act) else { continue };
        let raced = view.interference(entry, read, act).and_then(|reach| {
            unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
            unless(gates.single_flight(entry, read, act), Reason::SingleFlight)?;
            unless(gates.asked_later(entry, read, act, false), Reason::CheckedLater)?;
            Ok(reach)
        });
        let Some(reach) = entry.settle(&HAZARD.id, &[read, act], raced) else { continue };
        let story = [act];
        let thing = entry.thing(act);
        let message = format!(
            "a token is sent to be renewed and {thing} is replaced by the answer, so calls that renew at the same time send the same token twice, \
             and one that is good for one use is refused"
        );
        let (before, after) = (entry.position(read, &story), entry.position(act, &[read]));
        let mut issue = Issue::at(entry, read, &story, reach, message)
            .step(Lane::A, before, format!("sends the token from {thing}"))
            .step(Lane::B, before, format!("sends the token from {thing} as well"))
            .step(Lane::A, after, format!("replaces {thing} by the answer"))
            .step(Lane::B, after, "is refused, or replaces what A was given");
        issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
        found.push((entry.span(request), issue));
    }
    // What one answer sets at several places is one story, told of what most can reach.
    found.sort_by_key(|(request, issue)| (request.file.0, request.start, issue.reach == Reach::InProcess));
    found.dedup_by(|next, first| next.0 == first.0);
    found.into_iter().map(|(_, issue)| issue).collect()
}

/// Where what a request sends was looked at: the last read before it. What a request is made of is not told by its steps, so that of memory
/// none may be left; then it is the request itself, if it stands in a function that is named after what it does.
fn spent(entry: &Entry<'_>, request: At, act: At) -> Option<At> {
    let reads = entry.steps_of(Kinds::READ).filter(|read| *read < request);
    let same = |read: &At| {
        entry.alias().overlap(*read, act) == Some(Overlap::Sure)
            && entry.control().leads_to(*read, request).is_some()
    };
    let renews = |at: At| {
        let name = entry.function_name(entry.function_of(at));
        names_a_renewal(entry, name.rsplit('.').next().unwrap_or_default())
    };
    let in_memory = matches!(entry.resource(act), Some(Resource::Shared(_)));
    match reads.filter(same).last() {
        Some(read) => Some(read),
        None => (in_memory && renews(request)).then_some(request),
    }
}

/// Whether what is read or written is a token that renews others, by its name or by that of what is in it.
fn keeps_a_renewal(entry: &Entry<'_>, at: At) -> bool {
    let by_name = match entry.resource(at) {
        Some(Resource::Shared(path)) if !entry.alias().is_shared(path) => return false,
        Some(Resource::Shared(path)) => {
            names_a_renewal(entry, &entry.path_text(path))
                || path
                    .fields
                    .iter()
                    .any(|field| matches!(field, Field::Name(name) if names_a_renewal(entry, name)))
        }
        Some(Resource::File(_)) => false,
        _ => return false,
    };
    let says =
        |value: &Value| entry.alias().field_of(*value).is_some_and(|field| names_a_renewal(entry, &field));
    let holds = || match entry.op(at) {
        Some(Op::Write { from, .. }) => entry.flow().backward_slice(from).iter().any(says),
        _ => false,
    };
    by_name || holds()
}

fn names_a_renewal(entry: &Entry<'_>, name: &str) -> bool {
    entry.lexicon().has_word_of(Topic::Renewal, name.rsplit("::").next().unwrap_or_default())
}
