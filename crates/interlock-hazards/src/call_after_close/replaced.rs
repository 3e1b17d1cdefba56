//! Teardown of a shared handle while it is still where other calls find it.
//!
//! Reported:
//! ```text
//! await this.browser.close();                       // reported here
//! this.browser = undefined;
//! ```
//! Not reported:
//! ```text
//! const old = this.browser;
//! this.browser = undefined;                         // taken out of sight first
//! await old.close();
//! ```
//!
//! One of many, which others do not know by name, and what was found broken, may be closed where it is.

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{AccessPath, Field, Op, Resource, Root, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    view::{At, Entry, Kinds, View},
};

use super::{HAZARD, remedy::TAKE_OUT_FIRST, rule::ends_the_process};

/// A handle that a tool closes, waits for, and only then takes out of sight or replaces.
pub(super) fn replaced(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> = vec![];
    if !entry.is_tool() {
        return found;
    }
    for close in entry.steps_of(Kinds::CLOSE) {
        let Some(Op::Close { handle }) = entry.op(close) else { continue };
        let handle = entry.alias().resolve_path(handle);
        // One of many is found by a name that others need not know, and what failed is of no use to anybody.
        let one_for_all = entry.alias().is_shared(&handle)
            && handle.fields.iter().all(|field| matches!(field, Field::Name(_)));
        let sets = || {
            entry
                .all(Kinds::WRITE, |op| matches!(op, Op::Write { mode: WriteMode::Blind, .. }))
                .filter(|set| matches!(entry.resource(*set), Some(Resource::Shared(path)) if *path == handle))
        };
        let judge = || {
            needs(one_for_all, Reason::OneOfMany)?;
            unless(entry.control().is_recovery(close), Reason::OnlyInRecovery)?;
            unless(is_broken(entry, close, &handle), Reason::FoundBroken)?;
            unless(ends_the_process(entry, close), Reason::ProcessEnds)?;
            unless(
                sets().any(|set| set < close && entry.control().leads_to(set, close).is_some()),
                Reason::TakenOutFirst,
            )?;
            let set = sets().find(|set| *set > close && entry.control().leads_to(close, *set) == Some(true));
            let set = set.ok_or(Reason::TakenOutFirst)?;
            needs(
                entry.locks().race_window(close, set).is_some_and(|window| !window.is_locked()),
                Reason::HeldLock,
            )?;
            let (other, used) = user(view, entry, &handle).ok_or(Reason::NobodyUses)?;
            Ok((set, other, used))
        };
        let Some((set, other, used)) = entry.settle(&HAZARD.id, &[close], judge()) else { continue };
        let issue = issue(entry, close, set, (other, used), &handle);
        if !found.iter().any(|known| known.span == issue.span) {
            found.push(issue);
        }
    }
    found
}

/// Whether the handle is closed because it was found to be of no more use: something else was asked than whether it is there.
fn is_broken(entry: &Entry<'_>, close: At, handle: &AccessPath) -> bool {
    let about_its_state = |from: &At| match (entry.op(*from), entry.resource(*from)) {
        (Some(Op::Call { receiver: Some(path), .. } | Op::External { over: Some(path), .. }), _) => {
            entry.alias().resolve_path(path).begins_with(handle)
        }
        (_, Some(Resource::Shared(path))) => path != handle && path.begins_with(handle),
        _ => false,
    };
    entry
        .control()
        .control_dependences(close)
        .iter()
        .any(|check| entry.flow().condition_sources(*check).iter().any(about_its_state))
}

/// A call of another tool that finds the handle there. What is captured has another number in every entry, and the same name.
fn user<'v, 'e>(view: &'v View<'e>, entry: &Entry<'_>, handle: &AccessPath) -> Option<(&'v Entry<'e>, At)> {
    let name = entry.path_text(handle);
    let is_it = |other: &Entry<'_>, path: &AccessPath| match (&path.root, &handle.root) {
        (Root::Global(one), Root::Global(two)) => one == two && path.fields == handle.fields,
        _ => path.fields == handle.fields && other.alias().is_shared(path) && other.path_text(path) == name,
    };
    let others =
        view.entries_with(Kinds::READ).filter(|other| other.is_tool() && other.function != entry.function);
    others.into_iter().find_map(|other| {
        let closes = other.steps_of(Kinds::CLOSE).any(|close| {
            matches!(other.op(close), Some(Op::Close { handle: own }) if is_it(other, &other.alias().resolve_path(own)))
        });
        let mut reads = other.steps_of(Kinds::READ).filter(|read| {
            matches!(other.resource(*read), Some(Resource::Shared(path)) if is_it(other, path))
        });
        reads.next().filter(|_| !closes).map(|read| (other, read))
    })
}

fn issue(
    entry: &Entry<'_>,
    close: At,
    set: At,
    (other, used): (&Entry<'_>, At),
    handle: &AccessPath,
) -> Issue {
    let name = entry.path_text(handle);
    let message = format!(
        "`{name}` is torn down while it is still where other calls find it, so a call that comes meanwhile goes on with something that is gone"
    );
    let (closed, gone) = (entry.position(close, &[set]), entry.position(set, &[close]));
    Issue::at(entry, close, &[set], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .advise(TAKE_OUT_FIRST)
        .only(Severity::Medium)
        .step(Lane::X, closed, format!("tears `{name}` down, and waits for that"))
        .step(Lane::A, other.position(used, &[]), format!("finds `{name}`, and goes on with it"))
        .step(Lane::X, gone, format!("only now takes `{name}` out of sight"))
}
