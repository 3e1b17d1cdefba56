//! A wait that is not repeated: all who wait for the same holder go on together.
//!
//! Reported:
//! ```text
//! const running = jobs.get(id);                     // reported here
//! if (running) await running;
//! jobs.set(id, work(id));
//! ```
//! Not reported:
//! ```text
//! while (jobs.has(id)) await jobs.get(id);          // asks again after each wait
//! jobs.set(id, work(id));
//! ```
//!
//! Only entries of a map that are removed again count: a cache is filled once.

use interlock_model::{
    Lane, Reach,
    ir::{Field, Op, Resource, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, Overlap},
};

use super::HAZARD;

/// Finds the waits that are not repeated before the entry is taken over.
pub(super) fn waited_once(entry: &Entry<'_>) -> Vec<Issue> {
    let keyed = |op: &Op| match op {
        Op::Read { of: Resource::Shared(path), .. } => {
            path.fields.iter().any(|field| matches!(field, Field::At(_)))
        }
        _ => false,
    };
    // Hardly any call waits for another like this, and looks are many.
    let waits: Vec<At> =
        entry.steps_of(Kinds::CHECK).filter(|check| entry.control().only_waits(*check)).collect();
    if waits.is_empty() {
        return vec![];
    }
    entry
        .all(Kinds::READ, keyed)
        .filter_map(|read| entry.settle(&HAZARD.id, &[read], taken_over(entry, read, &waits)))
        .collect()
}

fn taken_over(entry: &Entry<'_>, read: At, waits: &[At]) -> Result<Issue, Reason> {
    let Some(Op::Read { into, of: Resource::Shared(path), .. }) = entry.op(read) else {
        return Err(Reason::OutOfScope);
    };
    needs(entry.alias().is_shared(path), Reason::OutOfScope)?;
    let for_it = |check: &&At| matches!(entry.op(**check), Some(Op::Check { on, .. }) if on.contains(into));
    let check = *waits.iter().find(for_it).ok_or(Reason::OutOfScope)?;
    // Who comes back to the read before it goes on has looked again.
    unless(entry.control().loops(check) != entry.control().loops(read), Reason::CheckedAgain)?;
    let same = |at: &At| entry.alias().overlap(read, *at) == Some(Overlap::Sure);
    let takes = |op: &Op| matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. });
    let take = entry.all(Kinds::WRITE, takes).filter(same).find(|take| {
        *take > check
            && entry.control().loops(*take) == entry.control().loops(read)
            && entry.control().leads_to(read, *take) == Some(true)
    });
    let take = take.ok_or(Reason::OutOfScope)?;
    let drop = entry
        .all(Kinds::DELETE, |op| matches!(op, Op::Delete { of: Resource::Shared(_), .. }))
        .find(|drop| same(drop) && entry.control().leads_to(take, *drop).is_some())
        .ok_or(Reason::OutOfScope)?;
    let steps = [read, take, drop];
    let thing = entry.thing(read);
    let message = format!(
        "whoever holds {thing} is waited for once and then the entry is replaced without looking again, so two calls that wait for \
         the same holder go on together"
    );
    let at = |step: At| entry.position(step, &steps);
    let issue = Issue::at(entry, read, &steps, Reach::InProcess, message)
        .advise("Look again after the wait, in a loop, and take the place in the same step in which it was found free.")
        .step(Lane::A, at(read), format!("finds a holder in {thing}, and waits for it"))
        .step(Lane::B, at(read), "finds the same holder, and waits for it")
        .step(Lane::A, at(take), format!("goes on, and puts itself into {thing}"))
        .step(Lane::B, at(take), format!("goes on as well, over A: {thing} keeps nobody out"));
    Ok(issue)
}
