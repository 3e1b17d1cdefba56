//! Double use of what is kept in memory for one use: it is taken away only when the work is done.
//!
//! Reported:
//! ```text
//! const pending = approvals.get(id);                // reported here
//! if (!pending) throw new Error("unknown");
//! await transfer(pending);
//! approvals.delete(id);
//! ```
//! Not reported:
//! ```text
//! const pending = approvals.get(id);
//! if (!pending) throw new Error("unknown");
//! approvals.delete(id);                             // taken away before anybody else can look
//! await transfer(pending);
//! ```
//!
//! What is ended because the caller asks for that, and what is only cached, may be ended twice.

use interlock_model::{
    Confidence,
    ir::{Callee, Change, Field, Op, Origin, Resource, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
};

/// Whether something that the caller names is found in memory, and something that must not happen twice happens before it is taken away.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let takes_away = match entry.op(pair.act) {
        Some(Op::Delete { .. }) => true,
        Some(Op::Write { mode: WriteMode::Blind, from, .. }) => from.is_empty(),
        _ => false,
    };
    let in_memory = matches!(pair.resource(), Some(Resource::Shared(_)));
    needs(in_memory && takes_away, Reason::OutOfScope)?;
    needs(pair.overlap == Overlap::Sure, Reason::UnsureSame)?;
    let check = pair.check.filter(|check| refuses(pair, *check)).ok_or(Reason::OutOfScope)?;
    needs(is_named_by_caller(pair, check), Reason::NotNamedByCaller)?;
    needs(happens_between(pair).is_some(), Reason::NothingTwice)?;
    unless(is_called_a_cache(pair), Reason::KeepsCache)?;
    unless(ends(entry, pair), Reason::EndsOnRequest)
}

/// Whether who does not find it, or does not know it, does not get to take it away.
fn refuses(pair: &CheckAct<'_, '_>, check: At) -> bool {
    pair.entry.control().answer(check, pair.act).is_some()
}

/// Whether the caller says which one it is: the key of an entry, or what the thing is compared with.
fn is_named_by_caller(pair: &CheckAct<'_, '_>, check: At) -> bool {
    let entry = pair.entry;
    let is_given = |value: &Value| {
        let given =
            |part: &Value| matches!(entry.flow().origin(*part), Some(Origin::Argument | Origin::Arguments));
        given(value) || entry.flow().backward_slice(&[*value]).iter().any(given)
    };
    let (Some(Resource::Shared(path)), Some(Op::Check { on, .. })) = (pair.resource(), entry.op(check))
    else {
        return false;
    };
    let in_key = path.fields.iter().any(|field| match field {
        Field::At(key) => entry.flow().values_in(key).iter().any(is_given),
        Field::Name(_) => false,
    });
    in_key || on.iter().any(|value| is_given(value) && !entry.flow().sources(*value).contains(&pair.read))
}

/// What is done outside between the read and the taking away, and is not undone or left out if it is done again.
fn happens_between(pair: &CheckAct<'_, '_>) -> Option<At> {
    let entry = pair.entry;
    let counts = |op: &Op| match op {
        Op::External { change: Change::Effect | Change::Unknown, idempotency: None, .. } => true,
        Op::Write { to: Resource::Row { .. }, mode: WriteMode::Exclusive | WriteMode::Atomic, .. } => true,
        Op::Call { callee: Callee::Named(name), awaited: true, .. } => {
            entry.lexicon().has_verb_of(Topic::DoesOnce, name)
        }
        _ => false,
    };
    let mut steps = entry.all(Kinds::EXTERNAL | Kinds::WRITE | Kinds::CALL, counts);
    steps.find(|at| {
        pair.read < *at
            && *at < pair.act
            && entry.control().leads_to(pair.read, *at).is_some()
            && entry.control().leads_to(*at, pair.act).is_some()
    })
}

/// Whether it is kept only to be quick. What is done then is no use of it.
fn is_called_a_cache(pair: &CheckAct<'_, '_>) -> bool {
    pair.resource().is_some_and(|resource| match resource {
        Resource::Shared(path) => {
            pair.entry.lexicon().has_inside(Topic::CacheInMemory, &pair.entry.path_text(path))
        }
        _ => false,
    })
}

/// Whether to end it is what the caller asks for, by the name of the tool or in words.
fn ends(entry: &Entry<'_>, pair: &CheckAct<'_, '_>) -> bool {
    let lexicon = entry.lexicon();
    let is_end =
        |name: &str| lexicon.has_verb_of(Topic::Removes, name) || lexicon.has_verb_of(Topic::Ends, name);
    let asked = |check: &At| match entry.op(*check) {
        Some(Op::Check { equal: Some(word), .. }) => is_end(word),
        _ => false,
    };
    entry.control().control_dependences(pair.act).iter().any(asked)
        || entry.tools().iter().any(|tool| is_end(tool))
        || is_end(&entry.function_name(entry.home(&[pair.read, pair.act])))
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.entry.thing(pair.read);
    let message = format!(
        "{thing} is looked for, and taken away only when the work is done, so two calls at once both find it and do the work"
    );
    pair.report(
        message,
        &format!("finds {thing}"),
        &format!("has done the work, and takes {thing} away"),
        "it was done twice",
    )
    .no_surer_than(Confidence::Medium)
}
