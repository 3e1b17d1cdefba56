//! Check-then-act over HTTP: a GET lists the records of a service, and a POST creates the record that the list did not contain.
//!
//! Reported:
//! ```text
//! const labels = await (await fetch(`${API}/labels`)).json();                 // reported here
//! if (labels.some((label) => label.name === name)) return;
//! await fetch(`${API}/labels`, { method: "POST", body: JSON.stringify({ name }) });   // there twice
//! ```
//! Not reported:
//! ```text
//! await fetch(`${API}/labels`, { method: "POST", headers: { "Idempotency-Key": name }, body });   // created once
//! ```
//!
//! Whether the service refuses a second one is not to be seen from here, so it is never sure.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Change, Op, Value},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    requests::{address, called, is_bare, is_given, without_question},
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// The requests that create what an answer from the same address did not have.
pub(super) fn remote(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::EXTERNAL).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(of_entry).collect()
}

fn of_entry(entry: &Entry<'_>) -> Vec<Issue> {
    let creates = |op: &Op| matches!(op, Op::External { change: Change::Unknown | Change::Effect, .. });
    let asks = |op: &Op| matches!(op, Op::External { change: Change::None, into: Some(_), .. });
    let asked: Vec<At> = entry.all(Kinds::EXTERNAL, asks).collect();
    let mut issues: Vec<Issue> = vec![];
    let mut told: Vec<At> = vec![];
    for act in entry.all(Kinds::EXTERNAL, creates) {
        let mut before = asked.iter().copied().filter(|read| *read < act && is_same_list(entry, *read, act));
        let Some((read, check)) = before.find_map(|read| Some((read, missing(entry, read, act)?))) else {
            continue;
        };
        // A request that a helper makes and of which its call says that it only asks.
        let at = entry.position(act, &[read]);
        if told.contains(&read) || asked.iter().any(|ask| *ask > check && entry.span(*ask) == at) {
            continue;
        }
        told.push(read);
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judge(entry, read, act)));
    }
    issues
}

/// Whether something is created at the address that was asked, whatever the question behind it was.
fn is_same_list(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (Some(asked), Some(sent)) = (address(entry, read), address(entry, act)) else { return false };
    let pattern = entry.alias().pattern(asked);
    pattern.fits(&pattern)
        && !is_bare(asked)
        && without_question(entry.alias().spell(asked)) == entry.alias().spell(sent)
}

/// The check by which an answer in which something was looked for, and not found, decides over a step.
fn missing(entry: &Entry<'_>, read: At, act: At) -> Option<At> {
    let given = |value: &Value| entry.flow().origin(*value).is_some_and(|origin| origin.is_argument());
    let is_found = |value: &Value| entry.flow().sources(*value).contains(&read);
    // One of the answer was picked by what the caller asks for, or each is compared with that: `if notebook.title == title: return`.
    let decides = |check: &At| match entry.op(*check) {
        Some(Op::Check { on, equal: None, .. }) => {
            on.len() <= 2
                && on.iter().any(is_found)
                && entry.control().answer(*check, act) == Some(false)
                && entry.flow().backward_slice(on).iter().chain(on).any(given)
        }
        _ => false,
    };
    let control = entry.control();
    control.control_dependences(act).iter().chain(control.early_exits(act)).copied().find(decides)
}

fn judge(entry: &Entry<'_>, read: At, act: At) -> Result<Issue, Reason> {
    let Some(Op::External { idempotency, .. }) = entry.op(act) else { return Err(Reason::OutOfScope) };
    unless(idempotency.as_ref().is_some_and(is_given), Reason::RepeatsCheck)?;
    unless(entry.control().is_recovery(act), Reason::OnlyInRecovery)?;
    needs(entry.control().leads_to(read, act).is_some(), Reason::NotAfter)?;
    let window = entry.locks().race_window(read, act).ok_or(Reason::NotAfter)?;
    unless(window.is_locked(), Reason::HeldLock)?;
    let thing = called(entry, act);
    let message = format!(
        "what {thing} holds is asked for, and what is not found there is created by another request, so two calls at once both create it"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let issue = Issue::at(entry, read, &[act], Reach::Both, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("does not find it at {thing}"))
        .step(Lane::B, seen, format!("does not find it at {thing}"))
        .step(Lane::A, done, format!("creates it at {thing}"))
        .step(Lane::B, done, format!("creates it at {thing}: it is there twice"));
    Ok(issue)
}
