//! Last-writer-wins between two notifications: each asks for the newest state and stores it, and the older answer may be stored last.
//!
//! Reported:
//! ```text
//! server.onNotification("changed", async () => {
//!   tools = await client.listTools();               // reported here
//! });
//! ```
//! Not reported:
//! ```text
//! server.onNotification("changed", async ({ id }) => {
//!   details.set(id, await client.describe(id));     // each asks for something of its own
//! });
//! ```
//!
//! Tools that are called by clients are not looked at: their answers are what each was asked for.

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{AccessPath, Argument, Field, Fresh, Op, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    gates::passes_once,
    view::{At, Entry, Kinds, Piece, Runs},
};

use super::HAZARD;

/// Two notifications at once, each of which asks for the newest state and then stores it: the older answer may be stored last.
pub(super) fn overtaken(entry: &Entry<'_>) -> Vec<Issue> {
    let notified =
        matches!(entry.runs, Runs::Event) || matches!(entry.runs, Runs::Call(tools) if tools.is_empty());
    if !notified {
        return vec![];
    }
    let stores = entry.all(Kinds::WRITE, |op| {
        matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. })
    });
    // What one answer sets at several places is one story.
    let mut late: Vec<(At, Issue)> =
        stores.filter_map(|store| entry.settle(&HAZARD.id, &[store], stored_late(entry, store))).collect();
    late.dedup_by_key(|(asked, _)| *asked);
    late.into_iter().map(|(_, issue)| issue).collect()
}

/// The question whose answer a step stores, and what to say of it.
fn stored_late(entry: &Entry<'_>, store: At) -> Result<(At, Issue), Reason> {
    let Some(Resource::Shared(path)) = entry.resource(store) else { return Err(Reason::OutOfScope) };
    needs(entry.alias().is_shared(path), Reason::OutOfScope)?;
    unless(is_under_own_name(entry, path), Reason::OwnRecord)?;
    unless(adds_on(entry, store), Reason::OnlyAdds)?;
    let asks = |from: &At| match entry.op(*from) {
        // What a request brings along is its own, whenever it is read; no later request brings a newer one.
        Some(Op::Call { receiver: Some(AccessPath { root: Root::Value(of), .. }), .. })
            if entry.flow().is_handed_over(*of) =>
        {
            false
        }
        Some(Op::External { .. } | Op::Call { awaited: true, .. }) => true,
        Some(Op::Read { of, .. }) => !matches!(of, Resource::Shared(_) | Resource::Flag(_)),
        _ => false,
    };
    let late = |from: &At| {
        entry.locks().race_window(*from, store).is_some_and(|window| window.suspends && !window.is_locked())
    };
    // The nearest question tells the story best: it stands where the answer is stored.
    let dependences = entry.flow().data_dependences(store);
    let mut questions = dependences.iter().rev().filter(|from| asks(from)).peekable();
    needs(questions.peek().is_some(), Reason::OutOfScope)?;
    let asked = *questions.find(|from| late(from)).ok_or(Reason::NoSuspension)?;
    unless(is_its_own(entry, asked, store), Reason::OwnQuestion)?;
    // What is only set where it was missing, or by the first to come, is loaded twice at worst.
    unless(entry.flow().controlling_reads(store).any(|(_, read)| passes_once(entry, read)), Reason::SetOnce)?;
    let thing = entry.thing(store);
    let (one, other) = (entry.position(asked, &[store]), entry.position(store, &[asked]));
    let message = format!(
        "{thing} is set from an answer that was asked for before a suspension, so where two of them are under way the older answer may win"
    );
    let issue = Issue::at(entry, store, &[asked], Reach::InProcess, message)
        .only(Severity::Low)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, one, "asks, and is told the old state")
        .step(Lane::B, one, "asks, and is told the new state")
        .step(Lane::B, other, format!("sets {thing} to the new state"))
        .step(Lane::A, other, format!("sets {thing} to the old state, and it stays"));
    Ok((asked, issue))
}

/// Whether an answer that is stored has to do with what the handler was called with: of two of those none is an older state of the
/// other.
fn is_its_own(entry: &Entry<'_>, asked: At, store: At) -> bool {
    let mut values = match entry.op(asked) {
        Some(Op::Call { arguments, .. }) => arguments.iter().flat_map(Argument::mentioned).collect(),
        Some(Op::External { service, .. }) => service.mentioned(),
        Some(Op::Read { of: Resource::File(name) | Resource::Key(name), .. }) => name.mentioned(),
        Some(Op::Read { of: Resource::Row { key, .. }, .. }) => key.mentioned(),
        _ => vec![],
    };
    if let Some(Op::Write { from, .. }) = entry.op(store) {
        values.extend(from);
    }
    entry.flow().backward_slice(&values).into_iter().any(|value| entry.flow().is_handed_over(value))
}

/// Whether something is kept under a name that this call has made up: no other call stores there.
fn is_under_own_name(entry: &Entry<'_>, path: &AccessPath) -> bool {
    path.fields.iter().any(|field| match field {
        Field::At(Term::Path(key)) => {
            key.fields.is_empty() && entry.alias().is_made_here(key)
                || is_begun_here(entry, key)
                || parts(entry, key).any(|part| is_made_up(entry, &part.into()))
        }
        Field::At(key) => is_made_up(entry, key),
        Field::Name(_) => false,
    })
}

/// Whether there is something in a name that is never the same twice.
fn is_made_up(entry: &Entry<'_>, name: &Term) -> bool {
    let fresh = |piece: &Piece| matches!(piece, Piece::Fresh(Fresh::Random | Fresh::Counter | Fresh::Time));
    entry.alias().pattern(name).0.iter().any(fresh)
}

/// What a name was made from: all of it, or what an object that was put together here has under it. `{ code, owner }` has `code` under
/// `code`.
fn parts<'e>(entry: &'e Entry<'_>, path: &AccessPath) -> impl Iterator<Item = Value> + 'e {
    let (whole, under) = match (&path.root, path.fields.as_slice()) {
        (Root::Value(whole), []) => (entry.flow().backward_slice(&[*whole]), None),
        (Root::Value(whole), [Field::Name(name)]) => {
            (entry.flow().backward_slice(&[*whole]), Some(name.clone()))
        }
        _ => (vec![], None),
    };
    let fits = move |value: &Value| under.as_ref().is_none_or(|name| entry.name_of(*value) == &**name);
    whole.into_iter().filter(fits)
}

/// Whether a name is that of a session which something that this call has made stands for.
fn is_begun_here(entry: &Entry<'_>, key: &AccessPath) -> bool {
    match (&key.root, key.fields.as_slice()) {
        (Root::Value(made), [Field::Name(name)]) => {
            &**name == "sessionId" && entry.flow().is_constructed(*made)
        }
        _ => false,
    }
}

/// Whether a step adds to what is there: in whatever order the answers come, all of them count. What was there is no older than the
/// answer; if it is, that is another story.
fn adds_on(entry: &Entry<'_>, store: At) -> bool {
    let same = |from: &At| {
        matches!(entry.op(*from), Some(Op::Read { .. })) && entry.alias().overlap(*from, store).is_some()
    };
    entry.flow().data_dependences(store).iter().any(same)
}
