//! A stale lock that two take over at once: how old the lock is, or whose, is looked at, then it is removed by name and made anew.
//!
//! Reported:
//! ```text
//! try { await mkdir(LOCK); return; } catch (e) { if (e.code !== "EEXIST") throw e; }
//! const { mtimeMs } = await stat(LOCK);              // reported here: both find it stale
//! if (Date.now() - mtimeMs > STALE) await rm(LOCK);  // the second removes what the first has just made
//! ```
//! Not reported:
//! ```text
//! await rename(LOCK, own);                           // one of them moves it away under a name of its own, and looks at it again
//! ```
//!
//! That the removal may fail, and that this is caught, is no help: by then there is a new lock to remove.

use interlock_model::{
    Confidence, Lane,
    ir::{Aspect, Op, Resource, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::unless,
    keys::key_of,
    view::{At, Entry, Kinds, Overlap, View},
};

use super::HAZARD;

/// The removals of locks that were found to be stale.
pub(super) fn takeovers(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::DELETE).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let makes = |op: &Op| matches!(op, Op::Write { to: Resource::File(_), mode: WriteMode::Exclusive, .. });
    let made: Vec<At> = entry.all(Kinds::WRITE, makes).collect();
    if made.is_empty() {
        return vec![];
    }
    let mut issues = vec![];
    for removal in entry.all(Kinds::DELETE, |op| matches!(op, Op::Delete { of: Resource::File(_), .. })) {
        // Who fails to make it looks at it, removes it, and tries again.
        let is_anew = |make: &At| {
            entry.alias().overlap(removal, *make) == Some(Overlap::Sure)
                && entry.control().leads_to(removal, *make).is_some()
        };
        let Some(make) = made.iter().copied().find(is_anew) else { continue };
        let Some(look) = looked_at(entry, removal) else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[look, removal], judge(view, entry, (look, removal, make))));
    }
    issues
}

/// The read of the lock file (its age or its content) on which the removal of the lock file depends.
fn looked_at(entry: &Entry<'_>, removal: At) -> Option<At> {
    let looks = |(_, read): &(At, At)| {
        let asks = matches!(
            entry.op(*read),
            Some(Op::Read { of: Resource::File(_), aspect: Aspect::Metadata | Aspect::Content, .. })
        );
        asks && *read < removal && entry.alias().overlap(*read, removal) == Some(Overlap::Sure)
    };
    let judged = |(check, _): &(At, At)| matches!(entry.op(*check), Some(Op::Check { .. }));
    entry.flow().controlling_reads(removal).filter(judged).filter(looks).map(|(_, read)| read).max()
}

fn judge(view: &View<'_>, entry: &Entry<'_>, (look, removal, make): (At, At, At)) -> Result<Issue, Reason> {
    let reach = view.interference(entry, look, removal)?;
    // Who has made it itself removes its own.
    let is_own = entry.control().comes_before(make, look) && !entry.control().is_recovery(look);
    unless(is_own && entry.control().leads_to(look, make).is_none(), Reason::OwnRecord)?;
    let thing = entry.thing(removal);
    let message = format!(
        "{thing} is taken for a lock that somebody has left behind, then removed by name and made anew, so of two calls at once the second \
         removes what the first has just made, and both go on"
    );
    let (seen, gone) = (entry.position(look, &[removal]), entry.position(removal, &[look]));
    let mut issue = Issue::at(entry, look, &[removal], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("finds that {thing} is stale"))
        .step(Lane::B, seen, format!("finds that {thing} is stale"))
        .step(Lane::A, gone, format!("removes {thing}"))
        .step(Lane::A, entry.span(make), format!("makes {thing} anew, and goes on"))
        .step(Lane::B, gone, format!("removes {thing}: that is A's"))
        .step(Lane::B, entry.span(make), format!("makes {thing} as well, and goes on"));
    issue.keys = entry.resource(removal).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}
