//! A check of an amount in memory that is out of date when the amount is taken.
//!
//! Reported:
//! ```text
//! if (seats > 0) {                                  // reported here
//!   await pay();
//!   seats--;                                        // right by itself, but nobody compared it
//! }
//! ```
//! Not reported:
//! ```text
//! if (seats > 0) {
//!   seats--;                                        // taken at once, and given back if the rest fails
//!   try { await pay(); } catch (e) { seats++; throw e; }
//! }
//! ```
//!
//! An amount in a store is `db-check-then-act`.

use interlock_model::ir::{Interleaving, Op, Resource, Value, WriteMode};

use crate::{
    Issue, Reason,
    check_act::CheckAct,
    decision::{needs, unless},
    view::{At, Kinds, View},
};

/// Whether something is compared with an amount, and changed by that amount from what stands there after the wait: nothing is lost, and
/// still was what was compared out of date.
pub(crate) fn claims(_view: &View<'_>, pair: &CheckAct<'_, '_>) -> Result<(), Reason> {
    let entry = pair.entry;
    let recounts = !pair.data_dependent && pair.data_dependent_at_all;
    needs(pair.is_shared() && recounts, Reason::OutOfScope)?;
    let (Some(Op::Check { on, equal: None, .. }), Some(Op::Write { from, mode: WriteMode::Blind, .. })) =
        (pair.check.and_then(|check| entry.op(check)), entry.op(pair.act))
    else {
        return Err(Reason::OutOfScope);
    };
    let amount = |value: &&Value| !entry.flow().sources(**value).contains(&pair.read);
    let taken = |value: &Value| {
        let name = entry.alias().resolve(&(*value).into());
        from.iter().any(|other| entry.alias().resolve(&(*other).into()) == name)
    };
    let own = |value: &Value| !entry.alias().is_shared(&(*value).into());
    if on.iter().filter(amount).any(|value| own(value) && taken(value)) {
        return Ok(());
    }
    needs(counts(pair, on, from), Reason::OutOfScope)?;
    unless(is_taken_at_once(pair), Reason::TakenAtOnce)
}

/// Whether something is compared with what is written in the source, and then counted: `if (seats > 0) { await pay(); seats--; }`.
fn counts(pair: &CheckAct<'_, '_>, on: &[Value], from: &[Value]) -> bool {
    let entry = pair.entry;
    let Some(Resource::Shared(path)) = pair.resource() else { return false };
    // On the way to a place one comes by those that it is a part of.
    let leads_there =
        |at: &At| matches!(entry.resource(*at), Some(Resource::Shared(whole)) if path.begins_with(whole));
    let seen = |value: &Value, is_look: &dyn Fn(&At) -> bool| {
        let sources = entry.flow().sources(*value);
        sources.iter().any(is_look) && sources.iter().all(leads_there)
    };
    let is_look = |value: &Value| seen(value, &|at| *at == pair.read);
    let again = |value: &Value| {
        seen(value, &|at| *at > pair.read && entry.resource(*at) == pair.resource())
            && !entry.flow().sources(*value).contains(&pair.read)
    };
    // That it has failed is counted however many of them fail at once.
    !entry.control().is_recovery(pair.act)
        && !on.is_empty()
        && on.iter().all(is_look)
        && !from.is_empty()
        && from.iter().all(again)
}

/// Whether the same thing is changed right before the read or after it as well, while nobody else runs: what is changed later gives that back.
fn is_taken_at_once(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    entry.steps_of(Kinds::WRITE).any(|write| {
        write != pair.act
            && entry.resource(write) == pair.resource()
            && entry.control().leads_to(write, pair.act).is_some()
            && [(pair.read, write), (write, pair.read)]
                .into_iter()
                .any(|(first, second)| entry.control().leads_to(first, second) == Some(false))
    })
}

pub(super) fn issue(pair: &CheckAct<'_, '_>) -> Issue {
    let thing = pair.thing();
    let between = match pair.entry.interleaving() {
        Some(Interleaving::Anywhere) => "compared and then changed with no lock held throughout",
        _ => "compared before a suspension and changed after it",
    };
    let message = format!("{thing} is {between}, so two calls at once both pass the comparison");
    pair.report(
        message,
        &format!("reads {thing}, and passes"),
        &format!("changes {thing}"),
        "it passed on what A has already used up",
    )
}
