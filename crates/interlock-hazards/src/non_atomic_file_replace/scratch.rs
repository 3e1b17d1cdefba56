//! A folder or file for the time of one call that goes by the same name in all of them.
//!
//! Reported:
//! ```text
//! await mkdir("/tmp/export", { recursive: true });  // reported here
//! await writeFile("/tmp/export/board.json", text);
//! await run("zip", "/tmp/export");                  // packs what another call has put there, or nothing at all
//! await rm("/tmp/export", { recursive: true });
//! ```
//! Not reported:
//! ```text
//! const folder = await mkdtemp("/tmp/export-");     // one for each call
//! ```
//!
//! A lock is made such that a second call fails to make it, and is none of these.

use interlock_model::{
    Confidence, Lane,
    ir::{Op, Resource, Term, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    keys::key_of,
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
};

use super::HAZARD;

/// What is made and removed by one call while others may work with it.
pub(super) fn scratch(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::DELETE).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let mut told: Vec<&Term> = vec![];
    let mut issues = vec![];
    for removal in entry.all(Kinds::DELETE, |op| matches!(op, Op::Delete { of: Resource::File(_), .. })) {
        let Some(Resource::File(path)) = entry.resource(removal) else { continue };
        if told.contains(&path) {
            continue;
        }
        let makes = |op: &Op| {
            let made = matches!(op, Op::Write { mode: WriteMode::Ensure | WriteMode::Blind, .. });
            made && matches!(op, Op::Write { to: Resource::File(_), .. })
        };
        let is_it = |make: &At| {
            *make < removal
                && entry.alias().overlap(*make, removal) == Some(Overlap::Sure)
                && entry.control().leads_to(*make, removal).is_some()
        };
        let Some(make) = entry.all(Kinds::WRITE, makes).find(is_it) else { continue };
        if let Some(issue) =
            entry.settle(&HAZARD.id, &[make, removal], judge(view, entry, (make, removal), path))
        {
            told.push(path);
            issues.push(issue);
        }
    }
    issues
}

fn judge(
    view: &View<'_>,
    entry: &Entry<'_>,
    (make, removal): (At, At),
    path: &Term,
) -> Result<Issue, Reason> {
    needs(entry.lexicon().has_inside(Topic::Scratch, &entry.text(path)), Reason::OutOfScope)?;
    unless(entry.alias().is_another_each_time(path), Reason::NameOfItsOwn)?;
    // A temporary file that is renamed over another file is no leftover; `rule.rs` reports that shape.
    let moved = |rename: At| match entry.op(rename) {
        Some(Op::Rename { from, .. }) => entry.alias().resolve_resource(from) == Resource::File(path.clone()),
        _ => false,
    };
    unless(entry.steps_of(Kinds::RENAME).any(moved), Reason::ReportedElsewhere)?;
    // Within one process other calls run only if this one suspends between creation and removal.
    let window = entry.locks().race_window(make, removal).ok_or(Reason::NotAfter)?;
    needs(window.suspends, Reason::NoSuspension)?;
    let reach = view.reach_of(entry, &window, &Resource::File(path.clone())).ok_or(Reason::HeldLock)?;
    let thing = entry.thing(removal);
    let message = format!(
        "{thing} is made for the time of one call under a name that all calls share, so a second call empties or removes what the first still works \
         with"
    );
    let (made, gone) = (entry.position(make, &[removal]), entry.position(removal, &[make]));
    let mut issue = Issue::at(entry, make, &[removal], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, made, format!("makes {thing}"))
        .step(Lane::B, made, format!("makes {thing} as well, in the same place"))
        .step(Lane::A, gone, format!("is done, and removes {thing}"))
        .step(Lane::B, gone, format!("still works with {thing}, and it is gone"));
    issue.keys = entry.resource(removal).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}
