//! A file that is read and worked off, and then overwritten as empty: what was added meanwhile is thrown away.
//!
//! Reported:
//! ```text
//! const jobs = JSON.parse(await readFile(QUEUE));   // reported here
//! for (const job of jobs) await send(job);
//! await writeFile(QUEUE, "[]");                     // with what another tool has added since
//! ```
//! Not reported:
//! ```text
//! await rename(QUEUE, own);                         // taken out of sight first
//! const jobs = JSON.parse(await readFile(own));
//! ```
//!
//! Only where something else adds to the file. What is written back from what was read is in `rule.rs`.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{Aspect, Op, Resource, WriteMode},
};

use crate::{
    Issue, Reason,
    claims::{Claim, claimed},
    decision::{needs, unless},
    dependences::data_dependences,
    gates::{Gates, is_claimed, is_made_because_missing},
    view::{At, Entry, Kinds, Overlap, Pattern, View},
};

use super::HAZARD;

/// The files that are emptied behind a read of what was in them.
pub(super) fn discarded(view: &View<'_>) -> Vec<Issue> {
    let racing = || view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    let mut found = vec![];
    for entry in racing() {
        for act in entry.steps_of(Kinds::WRITE | Kinds::RENAME).filter(|act| empties(entry, *act)) {
            let reads = entry.all(Kinds::READ, |op| {
                matches!(op, Op::Read { of: Resource::File(_), aspect: Aspect::Content, .. })
            });
            let same = |read: &At| *read < act && entry.alias().overlap(*read, act) == Some(Overlap::Sure);
            let Some(read) = reads.filter(same).last() else { continue };
            found.push((entry, read, act));
        }
    }
    if found.is_empty() {
        return vec![];
    }
    let added: Vec<Pattern> = racing().flat_map(additions).collect();
    let judged = claimed(view, Claim::JudgedFile);
    let judge = |entry: &Entry<'_>, read: At, act: At| {
        let is_judged = judged.iter().any(|pair| std::ptr::eq(pair.entry, entry) && pair.act == act);
        unless(is_judged, Reason::ReportedElsewhere)?;
        unless(entry.control().is_recovery(act), Reason::OnlyInRecovery)?;
        unless(is_made_because_missing(entry, act), Reason::MadeBecauseMissing)?;
        needs(is_used(entry, read), Reason::NotUsed)?;
        needs(is_added_to(entry, act, &added), Reason::NobodyWrites)?;
        let reach = view.interference(entry, read, act)?;
        unless(is_claimed(view, entry, read, act), Reason::ClaimedFirst)?;
        unless(Gates::default().single_flight(entry, read, act), Reason::SingleFlight)?;
        Ok(issue(entry, read, act, reach))
    };
    let settled = |(entry, read, act): (&Entry<'_>, At, At)| {
        entry.settle(&HAZARD.id, &[read, act], judge(entry, read, act))
    };
    found.into_iter().filter_map(settled).collect()
}

/// Whether a step leaves a file with nothing of what was in it, itself or by a rename of what was written beside it.
fn empties(entry: &Entry<'_>, act: At) -> bool {
    let writes_nothing = |op: Option<&Op>| matches!(op, Some(Op::Write { to: Resource::File(_), mode: WriteMode::Blind, from, .. }) if from.is_empty());
    match entry.op(act) {
        Some(Op::Rename { from, .. }) => {
            let from = entry.alias().resolve_resource(from);
            let moved = |write: At| write < act && entry.resource(write) == Some(&from);
            entry
                .steps_of(Kinds::WRITE)
                .filter(|write| moved(*write))
                .any(|write| writes_nothing(entry.op(write)))
        }
        op => writes_nothing(op),
    }
}

/// The files that a call adds to: it writes back what it has read, with more, or at the end.
fn additions(entry: &Entry<'_>) -> Vec<Pattern> {
    let adds = |at: &At| match entry.op(*at) {
        Some(Op::Write { to: Resource::File(_), mode: WriteMode::Append, .. }) => true,
        Some(Op::Write { to: Resource::File(_), mode: WriteMode::Blind, .. } | Op::Rename { .. }) => {
            let data = data_dependences(entry, *at, &mut Gates::default());
            data.iter().any(|read| entry.alias().overlap(*read, *at).is_some())
        }
        _ => false,
    };
    let names =
        entry.steps_of(Kinds::WRITE | Kinds::RENAME).filter(adds).filter_map(|at| match entry.resource(at) {
            Some(Resource::File(path)) => Some(entry.alias().pattern(path)),
            _ => None,
        });
    names.collect()
}

fn is_added_to(entry: &Entry<'_>, act: At, added: &[Pattern]) -> bool {
    match entry.resource(act) {
        Some(Resource::File(path)) => {
            let pattern = entry.alias().pattern(path);
            !pattern.is_open() && added.iter().any(|other| *other == pattern && other.fits(&pattern))
        }
        _ => false,
    }
}

/// Whether what was read is worked off: gone through, or sent somewhere.
fn is_used(entry: &Entry<'_>, read: At) -> bool {
    let uses = |op: &Op| match op {
        Op::Loop { item: Some(item), .. } => entry.flow().sources(*item).contains(&read),
        Op::External { from, .. } => entry.flow().sources_of(from).contains(&read),
        _ => false,
    };
    entry.all(Kinds::LOOP | Kinds::EXTERNAL, uses).any(|step| step > read)
}

fn issue(entry: &Entry<'_>, read: At, act: At, reach: Reach) -> Issue {
    let thing = entry.thing(act);
    let message = format!(
        "{thing} is read, worked off and then overwritten as empty, so what another call has added to it meanwhile is thrown away"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    Issue::at(entry, read, &[act], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("reads {thing}"))
        .step(Lane::B, seen, format!("adds to {thing}"))
        .step(Lane::A, done, format!("overwrites {thing}: what B has added is gone"))
}
