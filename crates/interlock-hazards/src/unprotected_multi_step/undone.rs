//! A wrong compensation: an error path sets a record back after a request outside that may have gone through.
//!
//! Reported:
//! ```text
//! await db.run("UPDATE orders SET state = 'paying' WHERE id = ?", id);
//! try { await charge(order); await notify(order); }
//! catch { await db.run("UPDATE orders SET state = 'open' WHERE id = ?", id); }   // reported here
//! ```
//! Not reported:
//! ```text
//! try { await charge(order, { idempotencyKey: id }); await notify(order); }   // sent again, it is the same charge
//! catch { await db.run("UPDATE orders SET state = 'open' WHERE id = ?", id); }
//! ```
//!
//! That the request has no key at all is `missing-idempotency-key`.

use interlock_model::{
    Lane, Reach,
    ir::{Change, Op, Resource},
};

use crate::{
    Issue, Reason,
    fields::same_name,
    view::{At, Entry, Kinds},
};

use super::HAZARD;

/// An error path that sets a record back after an effect outside that cannot be taken back.
pub(super) fn undone(entry: &Entry<'_>) -> Vec<Issue> {
    let mut found = vec![];
    for undo in entry.steps_of(Kinds::WRITE).filter(|at| entry.control().is_recovery(*at)) {
        if !matches!(entry.resource(undo), Some(Resource::Row { .. } | Resource::Key(_))) {
            continue;
        }
        let set_before = entry.steps_of(Kinds::WRITE).find(|set| {
            !entry.control().is_recovery(*set)
                && entry.alias().same_record(*set, undo)
                && sets_the_same(entry, *set, undo)
        });
        let Some(set) = set_before else { continue };
        let effect = entry
            .all(Kinds::EXTERNAL, |op| matches!(op, Op::External { change: Change::Effect, .. }))
            .find(|effect| {
                entry.control().leads_to(set, *effect).is_some()
                    && !repeats_harmlessly(entry, *effect)
                    && fails_after(entry, *effect, undo)
            });
        let effect = effect.ok_or(Reason::NothingSentBefore);
        let Some(effect) = entry.settle(&HAZARD.id, &[set, undo], effect) else { continue };
        let story = [effect, set];
        let service = match entry.op(effect) {
            Some(Op::External { service, .. }) => entry.quoted(service),
            _ => "the service".into(),
        };
        let thing = entry.thing(undo);
        let message = format!(
            "{thing} is set back although the request to {service} may have gone through, so the next try sends it a second time"
        );
        found.push(
            Issue::at(entry, undo, &story, Reach::Both, message)
                .step(
                    Lane::A,
                    entry.position(effect, &[undo, set]),
                    format!("the request to {service} goes through"),
                )
                .step(
                    Lane::X,
                    entry.position(effect, &[undo, set]),
                    "a later step fails, or the answer is lost",
                )
                .step(Lane::A, entry.position(undo, &story), format!("sets {thing} back"))
                .step(
                    Lane::B,
                    entry.position(effect, &[undo, set]),
                    format!("finds {thing} open, and sends the request again"),
                ),
        );
    }
    found
}

fn sets_the_same(entry: &Entry<'_>, one: At, other: At) -> bool {
    match (entry.alias().columns(one), entry.alias().columns(other)) {
        (Some(one), Some(other)) => one.iter().any(|column| other.iter().any(|name| same_name(column, name))),
        _ => true,
    }
}

fn repeats_harmlessly(entry: &Entry<'_>, effect: At) -> bool {
    let Some(Op::External { idempotency: Some(key), .. }) = entry.op(effect) else { return false };
    !entry.alias().is_another_each_time(key)
}

/// Whether something behind the effect can fail and lead to the undoing.
fn fails_after(entry: &Entry<'_>, effect: At, undo: At) -> bool {
    (effect + 1..undo).any(|at| {
        let fallible = matches!(
            entry.op(at),
            Some(Op::Write { .. } | Op::Delete { .. } | Op::External { .. } | Op::Call { .. })
        ) && !entry.control().is_recovery(at);
        fallible
            && entry.control().leads_to(effect, at).is_some()
            && entry.control().leads_to(at, undo).is_some()
    })
}
