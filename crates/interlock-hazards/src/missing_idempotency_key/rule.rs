//! A request with an effect that is not idempotent: when the call is sent again, it takes effect again.
//!
//! Reported:
//! ```text
//! await fetch(`${API}/charges`, { method: "POST", body });     // reported here
//! ```
//! Not reported:
//! ```text
//! await fetch(`${API}/charges`, { method: "POST", body, headers: { "Idempotency-Key": orderId } });
//! await db.run("INSERT INTO sent (order_id) VALUES (?)", orderId);   // or: a key of the call lets one through
//! await fetch(`${API}/charges`, { method: "POST", body });
//! ```
//!
//! A request of which it is not known whether it changes anything is reported only where a loop of the handler repeats it.

use std::cell::LazyCell;

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Change, Op, Resource, Term, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::unless,
    lexicon::Topic,
    view::{At, Entry, Kinds, Piece, Runs, View},
    words::words,
};

use super::HAZARD;

/// Finds `missing-idempotency-key`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let called = view.entries_with(Kinds::EXTERNAL).filter(|entry| *entry.runs != Runs::StartUp);
    called.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    entry
        .steps_of(Kinds::EXTERNAL)
        .filter_map(|at| entry.settle(&HAZARD.id, &[at], judge(entry, at)))
        .collect()
}

fn judge(entry: &Entry<'_>, at: At) -> Result<Issue, Reason> {
    let Some(Op::External { service, change, idempotency, .. }) = entry.op(at) else {
        return Err(Reason::OutOfScope);
    };
    unless(*change == Change::None, Reason::OnlyReads)?;
    let retried = LazyCell::new(|| entry.control().retried_by(at));
    let fresh = idempotency.as_ref().is_some_and(|key| is_fresh(entry, key));
    let bare = match (change, idempotency) {
        (Change::Effect, None) => "carries no idempotency key",
        (Change::Effect, Some(_)) if fresh => "carries a key that the next call draws anew",
        // The handler itself repeats it, so a key that was drawn before the loop is enough.
        (Change::Unknown, None) if retried.is_some() => {
            "is repeated by a loop and carries no idempotency key"
        }
        (Change::Unknown, Some(key))
            if fresh && retried.is_some_and(|retry| is_drawn_inside(entry, retry.head, key)) =>
        {
            "is repeated by a loop that draws a new key each time"
        }
        (Change::Unknown, _) if retried.is_none() => return Err(Reason::NotRepeated),
        _ => return Err(Reason::KeyedRequest),
    };
    unless(is_reserved(entry, at), Reason::ClaimedFirst)?;
    let is_harmless =
        asks_for_token(entry, service) || *change == Change::Unknown && only_computes(entry, service);
    unless(is_harmless, Reason::HarmlessRepeat)?;
    let (to, there) = match service {
        Term::Unknown => (String::new(), String::new()),
        _ => (format!(" to {}", entry.quoted(service)), format!(" at {}", entry.quoted(service))),
    };
    let again = retried.map_or(at, |retry| retry.head);
    let by_itself = *change == Change::Unknown;
    let message = format!(
        "the request{to} {bare}, so whoever it charges or writes to gets it twice when the call is sent again"
    );
    let span = entry.position(at, &[]);
    let issue =
        Issue::at(entry, at, &[], Reach::Both, message).step(Lane::A, span, format!("sends the request{to}"));
    let issue = if by_itself {
        issue.step(Lane::X, span, "the answer is lost").step(
            Lane::A,
            entry.position(again, &[at]),
            "tries again",
        )
    } else {
        issue.step(Lane::X, span, "the answer is lost, and the client sends the call again")
    };
    let issue = issue.step(Lane::B, span, format!("sends it again: it takes effect a second time{there}"));
    Ok(if by_itself { issue.no_surer_than(Confidence::Medium) } else { issue })
}

/// Whether a request goes to where tokens and sessions are given out: one more of them harms nobody.
fn asks_for_token(entry: &Entry<'_>, service: &Term) -> bool {
    let gives_tokens = |text: &str| {
        let last = text.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        text.contains('/') && entry.lexicon().has(Topic::GivesTokens, &last.to_ascii_lowercase())
            || text.contains("/oauth")
            || text.contains("/openid")
    };
    entry
        .alias()
        .pattern(service)
        .0
        .iter()
        .any(|piece| matches!(piece, Piece::Text(text) if gives_tokens(text)))
}

/// Whether a request is called after something that is worked out and given back: who asks again changes nothing there.
fn only_computes(entry: &Entry<'_>, service: &Term) -> bool {
    let pieces = entry.alias().pattern(service).0;
    // What is asked for ends where its parameters begin.
    let whole = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(['?', '#']));
    let Some(Piece::Text(text)) = pieces.iter().find(|piece| whole(piece)).or(pieces.last()) else {
        return false;
    };
    let path = text.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or_default();
    let computes = |name: &str| entry.lexicon().has(Topic::Computes, &name.to_ascii_lowercase());
    match name.rsplit_once(':') {
        // A method of its own, in words: `models/small:batchEmbedContents`.
        Some((_, method)) => words(method).iter().any(|word| computes(word)),
        None => computes(name),
    }
}

fn is_fresh(entry: &Entry<'_>, key: &Term) -> bool {
    entry.alias().is_another_each_time(key)
}

/// Whether a key is drawn anew at each turn of a loop.
fn is_drawn_inside(entry: &Entry<'_>, head: At, key: &Term) -> bool {
    let values = entry.flow().values_in(key);
    // Another name for it, as in a function that captured it, draws nothing.
    let draws = |op: &Op| match op {
        Op::Derive { term: Term::Path(_), .. } => false,
        Op::Derive { into, .. } => values.iter().any(|value| entry.flow().depends_on(*value, *into)),
        _ => false,
    };
    let drawn: Vec<At> = entry.all(Kinds::DERIVE, draws).collect();
    // A key that is written out in the request itself is as new as the request.
    drawn.is_empty() || drawn.iter().any(|at| entry.control().encloses(head, *at))
}

/// Whether a record that only one call can make decided that this one sends it.
fn is_reserved(entry: &Entry<'_>, at: At) -> bool {
    let claims = |mode: &WriteMode| {
        matches!(mode, WriteMode::Exclusive | WriteMode::Conditional(_) | WriteMode::Ensure)
    };
    let decided = entry.flow().controlling_reads(at).any(|(_, source)| match entry.op(source) {
        Some(Op::Write { mode, .. }) => claims(mode) && names_the_call(entry, source),
        Some(Op::Delete { outcome, .. }) => outcome.is_some() && names_the_call(entry, source),
        _ => false,
    });
    // A second insert of the same key fails, and the failure passes the request by.
    let inserted = || {
        entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Exclusive, .. })).any(|step| {
            step < at
                && entry.control().leads_to(step, at).is_some()
                && names_the_call(entry, step)
                && entry
                    .control()
                    .around(step, |op| matches!(op, Op::Check { .. }))
                    .is_none_or(|check| entry.control().encloses(check, at))
                && entry.control().around(step, |op| matches!(op, Op::Try { catch: Some(_), .. })).is_none_or(
                    |attempt| entry.control().encloses(attempt, at) || !swallows(entry, attempt, at),
                )
        })
    };
    decided || inserted()
}

/// Whether a failure inside a try still leads to a step behind it.
fn swallows(entry: &Entry<'_>, attempt: At, at: At) -> bool {
    let caught = entry.control().inside(attempt).find(|step| entry.control().is_recovery(*step));
    caught.is_none_or(|caught| entry.control().leads_to(caught, at).is_some())
}

/// Whether a record's key comes from what the call is about, so that the repeated call has the same.
fn names_the_call(entry: &Entry<'_>, at: At) -> bool {
    let key = match entry.resource(at) {
        Some(Resource::Row { key, .. }) if **key == Term::Unknown => {
            // An insert whose key is not known by its column: what is inserted has it in it.
            return match entry.op(at) {
                Some(Op::Write { mode: WriteMode::Exclusive | WriteMode::Ensure, from, .. }) => {
                    !from.is_empty() && !from.iter().any(|value| is_fresh(entry, &(*value).into()))
                }
                _ => false,
            };
        }
        Some(Resource::Row { key, .. }) => key,
        Some(Resource::Key(key) | Resource::File(key)) => key,
        _ => return false,
    };
    !matches!(key, Term::Unknown | Term::Any) && !is_fresh(entry, key)
}
