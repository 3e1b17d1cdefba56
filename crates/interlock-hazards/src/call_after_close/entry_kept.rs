//! Teardown of an entry of a shared map that is still in the map: a tool closes what it has looked up there, waits for that, and only then
//! removes the entry.
//!
//! Reported:
//! ```text
//! const session = sessions.get(id);
//! await session.page.close();                       // reported here
//! sessions.delete(id);                              // until now every call gets the closing page
//! ```
//! Not reported:
//! ```text
//! sessions.delete(id);                              // taken out of sight first
//! await session.page.close();
//! ```

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{AccessPath, Callee, Field, Op, Resource, Root},
};

use crate::{
    Issue, Reason,
    decision::unless,
    lexicon::Topic,
    view::{At, Entry, Kinds, Overlap, View},
};

use super::{
    HAZARD,
    places::{is_same_place, map_of},
    remedy::TAKE_OUT_FIRST,
    rule::ends_the_process,
};

/// The entries that a tool of an entry point tears down before it removes them.
pub(super) fn entries_kept(view: &View<'_>) -> Vec<Issue> {
    let tools = view.entries_with(Kinds::DELETE).filter(|entry| entry.is_tool());
    tools.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> = vec![];
    for removed in entry.steps_of(Kinds::DELETE) {
        let Some(Resource::Shared(place)) = entry.resource(removed) else { continue };
        let is_entry = matches!(place.fields.last(), Some(Field::At(_)));
        if !is_entry || !entry.alias().is_shared(place) {
            continue;
        }
        let looked_up = entry.all(Kinds::READ, |op| matches!(op, Op::Read { of: Resource::Shared(_), .. }));
        let looked_up: Vec<At> = looked_up
            .filter(|read| *read < removed && entry.alias().overlap(*read, removed) == Some(Overlap::Sure))
            .collect();
        let torn_down = (0..removed).find(|close| {
            closes(entry, *close, &looked_up) && entry.control().leads_to(*close, removed) == Some(true)
        });
        let Some(close) = torn_down else { continue };
        let judge = || {
            unless(entry.control().is_recovery(close), Reason::OnlyInRecovery)?;
            unless(ends_the_process(entry, close), Reason::ProcessEnds)?;
            unless(is_taken_first(entry, removed, close), Reason::TakenOutFirst)?;
            let window = entry.locks().race_window(close, removed).ok_or(Reason::NotAfter)?;
            unless(window.is_locked(), Reason::HeldLock)?;
            let user = user(view, entry, removed, place).ok_or(Reason::NobodyUses)?;
            Ok(issue(entry, close, removed, user, place))
        };
        let issue = entry.settle(&HAZARD.id, &[close, removed], judge());
        found.extend(issue.filter(|issue| !found.iter().any(|known| known.span == issue.span)));
    }
    found
}

/// Whether a step closes the entry that was looked up, or a member of it: by the library's table, or by the method's name.
fn closes(entry: &Entry<'_>, at: At, looked_up: &[At]) -> bool {
    let handle = match entry.op(at) {
        Some(Op::Close { handle }) => handle,
        Some(Op::Call { callee: Callee::Named(name), receiver: Some(receiver), .. })
            if entry.lexicon().has_verb_of(Topic::Closes, name) =>
        {
            receiver
        }
        _ => return false,
    };
    let is_part = |read: &At| {
        let Some(Op::Read { into, .. }) = entry.op(*read) else { return false };
        match handle.root {
            Root::Value(value) => {
                value == *into
                    || entry.flow().depends_on(value, *into)
                    || entry.flow().sources(value).contains(read)
            }
            _ => {
                matches!(entry.resource(*read), Some(Resource::Shared(place)) if entry.alias().resolve_path(handle).begins_with(place))
            }
        }
    };
    looked_up.iter().any(is_part)
}

/// Whether the entry has been removed before already, and is so once more to be sure.
fn is_taken_first(entry: &Entry<'_>, removed: At, close: At) -> bool {
    entry.steps_of(Kinds::DELETE).any(|first| {
        first < close
            && entry.alias().overlap(first, removed) == Some(Overlap::Sure)
            && entry.control().leads_to(first, close).is_some()
    })
}

/// A call of another tool that takes an entry out of the same map, and does not remove it. Who holds the object that has the map may call it
/// otherwise: there it is the member of that name in a method of the same class.
fn user<'v, 'e>(
    view: &'v View<'e>,
    entry: &Entry<'_>,
    removed: At,
    place: &AccessPath,
) -> Option<(&'v Entry<'e>, At)> {
    let ours = map_of(place)?;
    let is_it = |other: &Entry<'_>, at: At, path: &AccessPath| {
        let whole = map_of(path);
        other.alias().is_shared(path)
            && whole.is_some_and(|theirs| is_same_place((entry, removed, &ours), (other, at, &theirs)))
    };
    let touches = |other: &Entry<'_>, at: At| matches!(other.resource(at), Some(Resource::Shared(path)) if is_it(other, at, path));
    let others =
        view.entries_with(Kinds::READ).filter(|other| other.is_tool() && !std::ptr::eq(*other, entry));
    others.into_iter().find_map(|other| {
        let removes = other.steps_of(Kinds::DELETE).any(|at| touches(other, at));
        let mut reads = other.steps_of(Kinds::READ).filter(|read| touches(other, *read));
        reads.next().filter(|_| !removes).map(|read| (other, read))
    })
}

fn issue(
    entry: &Entry<'_>,
    close: At,
    removed: At,
    (other, used): (&Entry<'_>, At),
    place: &AccessPath,
) -> Issue {
    let name = entry.path_text(place);
    let message = format!(
        "what `{name}` holds is closed while it is still in there, so a call that looks it up meanwhile goes on with something that is gone"
    );
    let (closed, gone) = (entry.position(close, &[removed]), entry.position(removed, &[close]));
    Issue::at(entry, close, &[removed], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .advise(TAKE_OUT_FIRST)
        .only(Severity::Medium)
        .step(Lane::X, closed, format!("closes what `{name}` holds, and waits for that"))
        .step(Lane::A, other.position(used, &[]), "still finds it there, and goes on with it")
        .step(Lane::X, gone, format!("only now removes `{name}`"))
}
