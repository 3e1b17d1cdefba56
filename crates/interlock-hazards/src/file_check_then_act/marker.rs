//! A file that says that something is done already: it is looked for, the work is done elsewhere, and only then is it made.
//!
//! Reported:
//! ```text
//! if (await exists("seeded")) return;               // reported here
//! await appendFile("members.log", line);
//! await writeFile("seeded", "yes");                 // two calls have both done it by now
//! ```
//! Not reported:
//! ```text
//! await writeFile("seeded", "yes", { flag: "wx" }); // made first, and by one call only
//! await appendFile("members.log", line);
//! ```
//!
//! Work that comes to the same when it is done twice, such as a file that gets the same content, is none here.

use interlock_model::{
    Confidence, Lane,
    ir::{Change, Op, Resource, Term, WriteMode},
};

use crate::{
    Issue,
    check_act::CheckAct,
    view::{At, Entry, Kinds},
};

/// The work that a call does between not finding a file and making it, and that must not be done twice.
pub(super) fn work(pair: &CheckAct<'_, '_>) -> Option<At> {
    let entry = pair.entry;
    // Where a caller may have it done anew, it is a copy that is asked for and no note of what was done.
    let check = pair.check.filter(|check| !entry.control().early_exits(pair.act).contains(check))?;
    let missing = entry.control().answer(check, pair.act)?;
    let is_work = |at: At| match entry.op(at) {
        Some(Op::External { change, .. }) => matches!(change, Change::Effect | Change::Unknown),
        Some(Op::Write { mode: WriteMode::Append, to: Resource::File(_), .. }) => {
            entry.alias().overlap(pair.act, at).is_none()
        }
        Some(Op::Write {
            mode: WriteMode::Exclusive | WriteMode::Atomic, to: Resource::Row { .. }, ..
        }) => true,
        _ => false,
    };
    entry.steps_of(Kinds::EXTERNAL | Kinds::WRITE).find(|at| {
        check < *at
            && *at < pair.act
            && is_work(*at)
            && !entry.control().is_recovery(*at)
            && entry.control().answer(check, *at) == Some(missing)
            && entry.control().leads_to(*at, pair.act).is_some()
    })
}

fn describe(entry: &Entry<'_>, work: At) -> String {
    match (entry.op(work), entry.resource(work)) {
        (Some(Op::External { service: Term::Unknown, .. }), _) => "a request is sent".into(),
        (Some(Op::External { service, .. }), _) => format!("a request to {} is sent", entry.quoted(service)),
        (_, Some(Resource::Row { table, .. })) => format!("{} is changed", entry.quoted(table)),
        _ => format!("{} is added to", entry.thing(work)),
    }
}

pub(super) fn issue(pair: &CheckAct<'_, '_>, work: At) -> Issue {
    let entry = pair.entry;
    let (thing, done) = (pair.thing(), describe(entry, work));
    let message = format!(
        "{thing} says that this was done before, but it is looked for before {done} and made only afterwards, so two calls at once both do it"
    );
    let (seen, worked) = (pair.read_span(), entry.position(work, &[pair.read, pair.act]));
    pair.issue(message)
        .no_surer_than(Confidence::Medium)
        .advise(
            "Make the file first, with an exclusive flag, let only the call that has made it do the work, and remove it again if the work fails.",
        )
        .step(Lane::A, seen, format!("does not find {thing}"))
        .step(Lane::B, seen, format!("does not find {thing}"))
        .step(Lane::A, worked, "does the work")
        .step(Lane::B, worked, "does the same work again")
        .step(Lane::A, pair.act_span(), format!("makes {thing}: too late for B"))
}
