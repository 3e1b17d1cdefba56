//! A list in memory that is searched, and to which what was not found is added only behind a suspension: two calls both add it.
//!
//! Reported:
//! ```text
//! if (feeds.some((feed) => feed.url === url)) throw new Error("known");   // reported here
//! const title = await titleOf(url);
//! feeds.push({ url, title });                       // there twice
//! ```
//! Not reported:
//! ```text
//! const title = await titleOf(url);
//! if (!feeds.some((feed) => feed.url === url)) feeds.push({ url, title });   // searched where it is added
//! ```
//!
//! How many entries there are is no search (`non-atomic-rate-limit`), and a set takes the same thing once.

use interlock_model::{
    Confidence, Lane,
    ir::{Op, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    gates::{Gates, is_claimed},
    keys::key_of,
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// What is added to lists behind a search that is out of date by then.
pub(super) fn added(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let adds = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Append, .. });
    let mut gates = Gates::default();
    let mut issues = vec![];
    for act in entry.all(Kinds::WRITE, adds).filter(|act| !entry.control().is_recovery(*act)) {
        let searches: Vec<(At, At)> = entry
            .flow()
            .controlling_reads(act)
            .filter(|(check, read)| searches(entry, *check, *read, act))
            .collect();
        let Some((_, read)) = searches.first().copied() else { continue };
        let judged = judge(view, entry, (read, act), &searches, &mut gates);
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judged));
    }
    issues
}

/// Whether a list is searched for something that is then added to it because it is not there.
fn searches(entry: &Entry<'_>, check: At, read: At, act: At) -> bool {
    let (Some(Resource::Shared(seen)), Some(Resource::Shared(list))) =
        (entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { from, .. })) =
        (entry.op(check), entry.op(act))
    else {
        return false;
    };
    let [found] = on.as_slice() else { return false };
    let given = |value: &Value| entry.flow().origin(*value).is_some_and(|origin| origin.is_argument());
    let sought = || {
        let mut sought = entry.flow().backward_slice(&[*found]);
        // `names.includes(name)` looks at one place.
        seen.mention(&mut sought);
        sought
    };
    let put = || from.iter().copied().chain(entry.flow().backward_slice(from)).collect::<Vec<Value>>();
    seen.begins_with(list)
        && entry.alias().is_shared(list)
        && entry.control().answer(check, act) == Some(false)
        && {
            let put = put();
            sought().iter().any(|value| given(value) && put.contains(value))
        }
}

/// Whether the call puts the list there anew in between: a copy of what is kept elsewhere, which is another story.
fn is_reloaded(entry: &Entry<'_>, read: At, act: At) -> bool {
    let replaces = |at: &At| {
        matches!(entry.op(*at), Some(Op::Write { mode: WriteMode::Blind, .. }))
            && entry.resource(*at) == entry.resource(act)
            && entry.control().leads_to(read, *at).is_some()
            && entry.control().leads_to(*at, act).is_some()
    };
    entry.steps_of(Kinds::WRITE).filter(|at| (read..act).contains(at)).any(|at| replaces(&at))
}

fn judge(
    view: &View<'_>,
    entry: &Entry<'_>,
    (read, act): (At, At),
    searches: &[(At, At)],
    gates: &mut Gates,
) -> Result<Issue, Reason> {
    // Searched once more where nobody can come in between.
    let again = |(_, again): &(At, At)| view.interference(entry, *again, act) == Err(Reason::NoSuspension);
    let is_alone = searches.iter().all(|(_, other)| *other == read);
    unless(searches.iter().any(again), if is_alone { Reason::NoSuspension } else { Reason::CheckedAgain })?;
    let reach = view.interference(entry, read, act)?;
    unless(is_reloaded(entry, read, act), Reason::ReportedElsewhere)?;
    unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
    unless(gates.single_flight(entry, read, act), Reason::SingleFlight)?;
    needs(entry.control().comes_before(read, act), Reason::NotAfter)?;
    let thing = entry.thing(act);
    let message = format!(
        "{thing} is searched, and what is not found there is added only after a suspension, so two calls at once both add it"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let mut issue = Issue::at(entry, read, &[act], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("does not find it in {thing}"))
        .step(Lane::B, seen, format!("does not find it in {thing}"))
        .step(Lane::A, done, format!("adds it to {thing}"))
        .step(Lane::B, done, format!("adds it to {thing}: it is there twice"));
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}
