//! Lost update at a service: a document is asked for, changed and put back, with nothing that says which state it was made of.
//!
//! Reported:
//! ```text
//! const page = await (await fetch(`${API}/pages/${id}`)).json();            // reported here
//! page.body += text;
//! await fetch(`${API}/pages/${id}`, { method: "PUT", body: JSON.stringify(page) });
//! ```
//! So is what was found among many, `/pages?title=…`, and is put back whole as `/pages/7`.
//! Not reported:
//! ```text
//! await fetch(url, { method: "PUT", headers: { "If-Match": etag }, body });  // refused if it has changed
//! await fetch(url, { method: "PATCH", body: JSON.stringify({ title }) });    // nothing of what was read is put back
//! ```
//!
//! Whether the service compares by itself is not to be seen from here, so it is never sure.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Change, Name, Op, Term, Value},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    requests::{
        address, called, is_given, is_of_own_making, is_put, is_same_address, names_version, parts_of, stays,
        without_question,
    },
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// So many members of what was found make what is put back of it.
const SEVERAL: usize = 2;

/// The requests that put back at an address what was made of an older answer from there.
pub(super) fn remote(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::EXTERNAL).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let puts = |op: &Op| matches!(op, Op::External { change: Change::Settled | Change::Unknown, from, .. } if !from.is_empty());
    let acts: Vec<At> = entry.all(Kinds::EXTERNAL, puts).collect();
    let asks = |op: &Op| matches!(op, Op::External { change: Change::None, into: Some(_), .. });
    let mut issues = vec![];
    for act in acts {
        // The last answer before is what was changed.
        let read = entry
            .all(Kinds::EXTERNAL, asks)
            .filter(|read| *read < act && is_same_address(entry, *read, act))
            .filter(|read| entry.control().leads_to(*read, act).is_some())
            .max();
        let among = || {
            let asked = entry.all(Kinds::EXTERNAL, asks).filter(|read| *read < act);
            asked
                .filter(|read| {
                    is_one_of_many(entry, *read, act)
                        && puts_all_back(entry, *read, act)
                        && entry.control().leads_to(*read, act).is_some()
                })
                .max()
        };
        let Some(read) = read.or_else(among) else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judge(entry, read, act)));
    }
    issues
}

/// Whether a request puts one of those in place that another has asked for: `/notes?filter=…`, and then `/notes/7`.
fn is_one_of_many(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(asked), Some(put)) = (address(entry, read), address(entry, act)) else { return false };
    let asked = parts_of(without_question(entry.alias().spell(asked)));
    let put = parts_of(without_question(entry.alias().spell(put)));
    let [before @ .., Term::Literal(between), Term::Path(_)] = put.as_slice() else { return false };
    let Some(before_id) = between.strip_suffix('/') else { return false };
    // The last words of the address may be one text with what stands before the id.
    let is_same = match before_id {
        "" => asked == before,
        text => match asked.split_last() {
            Some((Term::Literal(last), rest)) => **last == *text && rest == before,
            _ => false,
        },
    };
    is_same && is_put(entry, act) && !asked.is_empty() && !asked.contains(&Term::Unknown)
}

/// Whether what is put back is what was found with all that it had, or with several of its members, and not with one that was looked up.
fn puts_all_back(entry: &Entry<'_>, read: At, act: At) -> bool {
    let Some(Op::External { from, .. }) = entry.op(act) else { return false };
    entry.flow().holds_whole(from, read) || {
        let sent = entry.flow().backward_slice(from);
        let is_of_answer = |value: &&Value| entry.flow().sources(**value).contains(&read);
        let members = sent.iter().chain(from).filter(is_of_answer);
        let mut content: Vec<Name> = members.filter_map(|value| entry.alias().field_of(*value)).collect();
        content.retain(|name| !stays(entry, name));
        content.sort_unstable();
        content.dedup();
        content.len() >= SEVERAL
    }
}

fn judge(entry: &Entry<'_>, read: At, act: At) -> Result<Issue, Reason> {
    let Some(Op::External { from, idempotency, .. }) = entry.op(act) else { return Err(Reason::OutOfScope) };
    unless(idempotency.as_ref().is_some_and(is_given), Reason::RepeatsCheck)?;
    unless(is_of_own_making(entry, read, act), Reason::OwnRecord)?;
    let sent = entry.flow().backward_slice(from);
    let is_of_answer = |value: &&Value| entry.flow().sources(**value).contains(&read);
    let of_answer: Vec<&Value> = sent.iter().chain(from).filter(is_of_answer).collect();
    needs(!of_answer.is_empty(), Reason::NotComputedFromRead)?;
    let field = |value: &Value| entry.alias().field_of(*value);
    let versioned = of_answer.iter().any(|value| names_version(entry, **value))
        || idempotency.is_some() && sent.iter().any(|value| names_version(entry, *value));
    unless(versioned, Reason::Versioned)?;
    // Which one it is, as the service calls it, is no content, nor is of which kind.
    let named: Vec<_> = of_answer.iter().filter_map(|value| field(value)).collect();
    let only_names = !named.is_empty() && named.iter().all(|name| stays(entry, name));
    unless(only_names, Reason::NotComputedFromRead)?;
    let window = entry.locks().race_window(read, act).ok_or(Reason::NotAfter)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    let (asked, thing) = (called(entry, read), called(entry, act));
    let message = format!(
        "what {thing} holds is asked for, changed and put back with nothing that says which state it was made of, so of two calls at once one \
         change is lost although both are answered with success"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let issue = Issue::at(entry, read, &[act], Reach::Both, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("asks for {asked}"))
        .step(Lane::B, seen, format!("asks for {asked}"))
        .step(Lane::A, done, format!("puts {thing} back"))
        .step(Lane::B, done, format!("puts {thing} back: A's change is gone"));
    Ok(issue)
}
