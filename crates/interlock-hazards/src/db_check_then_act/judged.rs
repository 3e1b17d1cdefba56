//! Check-then-act over HTTP on one record: a GET asks for it, one of its fields is compared, and another request changes or deletes it whatever the
//! field is by then.
//!
//! Reported:
//! ```text
//! const post = await api.request(`/posts/${id}`);                              // reported here
//! if (post.status !== "draft") throw new Error("not a draft");
//! await api.request(`/posts/${id}`, { method: "POST", body: JSON.stringify({ status: "pending" }) });
//! ```
//! Not reported:
//! ```text
//! if (!response.ok) throw new Error("not found");                              // how the request went
//! await api.request(url, { method: "PUT", headers: { "If-Match": etag } });    // refused if it has changed
//! ```
//!
//! A request that sends back content of the answer is `lost-update`. Whether the service refuses an outdated change by itself cannot be seen in the
//! sources, so these findings have medium confidence at most.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Change, Name, Op, Value},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    fields::says_it_went_well,
    requests::{called, is_given, is_of_own_making, is_same_address, is_versioned, only_asks, stays},
    view::{At, Entry, Kinds, View},
    words,
};

use super::HAZARD;

/// The requests that change a record which another has asked for and a comparison has judged.
pub(super) fn judged_remotely(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::EXTERNAL).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let changes = |op: &Op| matches!(op, Op::External { change: Change::Settled | Change::Unknown, .. });
    let asks = |op: &Op| matches!(op, Op::External { change: Change::None, into: Some(_), .. });
    let asked: Vec<At> = entry.all(Kinds::EXTERNAL, asks).collect();
    let mut issues = vec![];
    let mut told: Vec<At> = vec![];
    for act in entry.all(Kinds::EXTERNAL, changes) {
        let before = asked
            .iter()
            .rev()
            .copied()
            .filter(|read| *read < act && !told.contains(read) && is_same_address(entry, *read, act));
        let found = before.filter(|read| !only_asks(entry, act, *read)).find_map(|read| {
            let (check, field) = compared(entry, read, act)?;
            Some((read, check, field))
        });
        let Some((read, check, field)) = found else { continue };
        told.push(read);
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judge(entry, read, act, check, &field)));
    }
    issues
}

/// Words by which an answer says how the request went, and not how the record is.
const WENT_WELL: &[&str] = &["ok", "success", "succeeded", "true"];

/// Fields that say of which kind a record is, and in which form; nobody changes them.
const KINDS: &[&str] =
    &["mimetype", "contenttype", "mediatype", "format", "encoding", "representation", "editor"];

/// The comparison of a field of an answer with a word that a step runs for, and the field. Where it runs for all other words, as with `if (state ===
/// "closed") return`, two calls mostly do the same. How the request went is no field of the record, and neither is which one it is or of which kind.
fn compared(entry: &Entry<'_>, read: At, act: At) -> Option<(At, Name)> {
    let compares = |check: &At| match entry.op(*check) {
        Some(Op::Check { on, equal: Some(word), .. })
            if word.parse::<f64>().is_err()
                && !WENT_WELL.contains(&&*word.to_ascii_lowercase())
                && entry.control().answer(*check, act) == Some(true) =>
        {
            let field_of_answer = |value: &Value| {
                let field = entry.alias().field_of(*value)?;
                let is_of_record = entry.flow().sources(*value).contains(&read)
                    && !says_it_went_well(entry, *value, &field)
                    && !KINDS.contains(&&*words(&field).concat())
                    && !stays(entry, &field);
                is_of_record.then_some(field)
            };
            on.iter().find_map(field_of_answer)
        }
        _ => None,
    };
    let judges = entry.control().control_dependences(act);
    judges.iter().find_map(|check| Some((*check, compares(check)?)))
}

fn judge(entry: &Entry<'_>, read: At, act: At, check: At, field: &Name) -> Result<Issue, Reason> {
    let Some(Op::External { from, idempotency, .. }) = entry.op(act) else { return Err(Reason::OutOfScope) };
    unless(idempotency.as_ref().is_some_and(is_given), Reason::RepeatsCheck)?;
    unless(is_of_own_making(entry, read, act), Reason::OwnRecord)?;
    unless(is_versioned(entry, from, idempotency.is_some()), Reason::Versioned)?;
    let is_content = |value: &Value| {
        entry.flow().sources(*value).contains(&read)
            && entry.alias().field_of(*value).is_some_and(|name| !stays(entry, &name))
    };
    let sent = entry.flow().backward_slice(from);
    unless(sent.iter().chain(from).any(is_content), Reason::ReportedElsewhere)?;
    unless(entry.control().is_recovery(act), Reason::OnlyInRecovery)?;
    needs(entry.control().leads_to(check, act).is_some(), Reason::NotAfter)?;
    let window = entry.locks().race_window(read, act).ok_or(Reason::NotAfter)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    let thing = called(entry, act);
    let message = format!(
        "what {thing} holds is asked for and judged by its `{field}`, and then changed by another request that does not repeat the judgement, so of two \
         calls at once the second changes what the first has left behind"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let issue = Issue::at(entry, read, &[act], Reach::Both, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("asks for {thing}, and goes by its `{field}`"))
        .step(Lane::B, seen, format!("asks for {thing}, and goes by its `{field}`"))
        .step(Lane::A, done, format!("changes {thing}"))
        .step(Lane::B, done, format!("changes {thing}, whatever its `{field}` is by now"));
    Ok(issue)
}
