//! A handle that leaves the critical section: a call looks it up under a lock and uses it when the lock is given back, while another
//! takes it away under the same lock and closes it.
//!
//! Reported:
//! ```text
//! m.mu.RLock(); s := m.sessions[id]; m.mu.RUnlock() // reported here
//! s.client.Run(command)                             // the other has closed the client by now
//! // another call: m.mu.Lock(); s := m.sessions[id]; delete(m.sessions, id); m.mu.Unlock(); s.client.Close()
//! ```
//! Not reported:
//! ```text
//! m.mu.RLock(); s := m.sessions[id]; s.users.Add(1); m.mu.RUnlock()   // the one who closes waits for the users
//! s.mu.Lock(); s.client.Run(command); s.mu.Unlock() // a lock of the object, which the one who closes takes as well
//! ```
//!
//! A channel that is closed under its senders ends the program; there the list of channels may have been copied under the lock.

use interlock_model::{
    Confidence, Lane, Reach, Severity,
    ir::{AccessPath, Callee, Field, Op, Resource, Root, Term, Value, Via, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Runs, View},
};

use super::{
    HAZARD,
    places::{are_of_one, is_same_thing, locks_at, locks_before, map_of, part_of, share_a_lock},
    rule::ends_the_process,
};

/// Who takes something away under a lock and tears it down.
struct Taker<'v, 'e> {
    entry: &'v Entry<'e>,
    removed: At,
    close: At,
    place: AccessPath,
    /// Which part of it is torn down.
    part: Vec<Field>,
    /// Whether what is torn down is the key of the entry: a set of channels.
    is_key: bool,
}

/// Finds handles that are used behind the lock under which they were looked up.
pub(super) fn handed_out(view: &View<'_>) -> Vec<Issue> {
    let takers: Vec<Taker<'_, '_>> = view
        .entries_with(Kinds::DELETE | Kinds::WRITE)
        .filter(|entry| comes_meanwhile(entry))
        .flat_map(takers)
        .collect();
    if takers.is_empty() {
        return vec![];
    }
    let callers = view.entries_with(Kinds::READ).filter(|entry| entry.runs_beside_itself());
    callers.flat_map(|entry| users(entry, &takers)).collect()
}

/// Whether an entry has any way to run while calls do.
fn comes_meanwhile(entry: &Entry<'_>) -> bool {
    entry.has(Kinds::ACQUIRE)
}

/// Whether one can run beside the other as far as is known: what nothing calls is taken to be called where that holds for both, as in a
/// library.
fn may_meet(taker: &Taker<'_, '_>, user: &Entry<'_>) -> bool {
    let is_unreached = |entry: &Entry<'_>| *entry.runs == Runs::Unreached;
    let by_itself = || taker.entry.control().detached(taker.removed).is_some();
    !is_unreached(taker.entry) || is_unreached(user) || by_itself()
}

fn takers<'v, 'e>(entry: &'v Entry<'e>) -> Vec<Taker<'v, 'e>> {
    let closes: Vec<(At, AccessPath)> =
        (0..entry.steps.len()).filter_map(|at| Some((at, torn_down(entry, at)?))).collect();
    let mut found = vec![];
    if closes.is_empty() {
        return found;
    }
    for removed in entry.steps_of(Kinds::DELETE | Kinds::WRITE) {
        let Some(place) = emptied(entry, removed) else { continue };
        if entry.locks().mutexes(removed).is_empty() {
            continue;
        }
        for (close, handle) in &closes {
            let together = || {
                let control = entry.control();
                control.leads_to(removed, *close).is_some() || control.leads_to(*close, removed).is_some()
            };
            let Some((part, is_key)) = which(entry, removed, handle, &place).filter(|_| together()) else {
                continue;
            };
            let judge = || {
                let meanwhile =
                    !matches!(entry.runs, Runs::StartUp) || entry.control().detached(removed).is_some();
                needs(meanwhile, Reason::BeforeCalls)?;
                unless(entry.control().is_recovery(*close), Reason::OnlyInRecovery)?;
                unless(ends_the_process(entry, *close), Reason::ProcessEnds)?;
                unless(waits_for_users(entry, *close), Reason::CountedIn)?;
                unless(asks_for_users(entry, *close, &place), Reason::AsksFirst)
            };
            if entry.note(&HAZARD.id, &[removed, *close], judge()).is_ok() {
                found.push(Taker { entry, removed, close: *close, place: place.clone(), part, is_key });
            }
        }
    }
    found
}

/// What a step takes away: an entry of a map, what a field held, or all entries of a map that is made anew.
fn emptied(entry: &Entry<'_>, at: At) -> Option<AccessPath> {
    let Some(Resource::Shared(path)) = entry.resource(at) else { return None };
    if path.fields.is_empty() || !entry.alias().is_shared(path) {
        return None;
    }
    match entry.op(at) {
        Some(Op::Delete { .. }) => Some(path.clone()),
        Some(Op::Write { mode: WriteMode::Blind, from, .. }) => {
            let is_new = |value: &Value| entry.alias().is_made_here(&(*value).into());
            match from.as_slice() {
                [] => Some(path.clone()),
                [only] if is_new(only) => Some(path.clone().at(Term::Unknown)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What a step closes, by the library's table or by the method's name.
fn torn_down(entry: &Entry<'_>, at: At) -> Option<AccessPath> {
    match entry.op(at)? {
        Op::Close { handle } => Some(handle.clone()),
        Op::Call { callee: Callee::Named(name), receiver: Some(receiver), .. } if ends(entry, name) => {
            Some(receiver.clone())
        }
        _ => None,
    }
}

fn ends(entry: &Entry<'_>, name: &str) -> bool {
    entry.lexicon().has_verb_of(Topic::Closes, name) || entry.lexicon().has_verb_of(Topic::CutsOff, name)
}

/// Which part of what was taken away is torn down, and whether it is its key.
fn which(
    entry: &Entry<'_>,
    removed: At,
    handle: &AccessPath,
    place: &AccessPath,
) -> Option<(Vec<Field>, bool)> {
    if let Some(part) = part_of(entry, handle, place) {
        return Some((part, false));
    }
    let resolved = entry.alias().resolve_path(handle);
    // A loop over all entries comes to this one.
    if let Some((Field::At(_), map)) = place.fields.split_last()
        && resolved.root == place.root
        && let Some((Field::At(Term::Unknown), part)) =
            resolved.fields.strip_prefix(map).and_then(<[Field]>::split_first)
    {
        return Some((part.to_vec(), false));
    }
    let taken = match (entry.op(removed), &resolved.root) {
        (Some(Op::Delete { outcome: Some(outcome), .. }), Root::Value(value)) => {
            entry.flow().is_all_of(*value, *outcome)
        }
        _ => false,
    };
    if taken {
        return Some((resolved.fields.iter().cloned().collect(), false));
    }
    match place.fields.last() {
        Some(Field::At(key)) if *key == resolved.clone().into() => Some((vec![], true)),
        _ => None,
    }
}

/// Whether the one who closes waits until nobody is counted in any more.
fn waits_for_users(entry: &Entry<'_>, close: At) -> bool {
    let drains = entry.all(Kinds::OTHER, |op| matches!(op, Op::Drain { .. }));
    drains.into_iter().any(|drain| drain < close && entry.control().leads_to(drain, close).is_some())
}

/// Whether the one who closes asks first how many use it, or whether somebody is at it.
fn asks_for_users(entry: &Entry<'_>, close: At, place: &AccessPath) -> bool {
    let lexicon = entry.lexicon();
    let says = |name: &str| {
        lexicon.has_word_of(Topic::Busy, name)
            || lexicon.has_inside(Topic::UnderWay, name)
            || lexicon.has_word_of(Topic::Holders, name)
    };
    let about_users = |read: &At| match entry.resource(*read) {
        Some(Resource::Shared(path)) if path.fields.len() > place.fields.len() && path.begins_with(place) => {
            matches!(path.fields.last(), Some(Field::Name(name)) if says(name))
        }
        _ => false,
    };
    let checks = entry.control().control_dependences(close);
    checks.iter().any(|check| entry.flow().condition_sources(*check).iter().any(about_users))
}

fn users(entry: &Entry<'_>, takers: &[Taker<'_, '_>]) -> Vec<Issue> {
    let mut found: Vec<Issue> = vec![];
    let mut told: Vec<At> = vec![];
    for read in entry.steps_of(Kinds::READ) {
        let Some(Resource::Shared(place)) = entry.resource(read) else { continue };
        let locks = locks_at(entry, read);
        if locks.is_empty() || !entry.alias().is_shared(place) {
            continue;
        }
        for taker in takers {
            if !may_meet(taker, entry) {
                continue;
            }
            let theirs = (taker.entry, taker.removed, &taker.place);
            let is_list = taker.is_key
                && map_of(&taker.place).is_some_and(|map| {
                    is_same_thing((taker.entry, taker.removed, &map), (entry, read, place))
                });
            if !is_list && (taker.is_key || !is_same_thing(theirs, (entry, read, place))) {
                continue;
            }
            let used = (read + 1..entry.steps.len()).find(|at| match is_list {
                true => sends(entry, *at, read),
                false => used_part(entry, *at, place).is_some_and(|part| are_of_one(&part, &taker.part)),
            });
            let judge = || {
                let used = used.ok_or(Reason::NotUsed)?;
                needs(share_a_lock(&locks, &locks_at(taker.entry, taker.removed)), Reason::OutOfScope)?;
                let window = entry.locks().race_window(read, used).ok_or(Reason::NotAfter)?;
                needs(window.suspends, Reason::NoSuspension)?;
                unless(window.is_locked(), Reason::HeldLock)?;
                let theirs =
                    [locks_at(taker.entry, taker.close), locks_before(taker.entry, taker.close)].concat();
                unless(share_a_lock(&locks_at(entry, used), &theirs), Reason::HeldLock)?;
                unless(takes_itself(entry, read, used, place), Reason::TakenOutFirst)?;
                unless(counts_in(entry, read, used, place), Reason::CountedIn)?;
                Ok(used)
            };
            let Some(used) = entry.settle(&HAZARD.id, &[read], judge()) else { continue };
            if told.contains(&used) {
                continue;
            }
            told.push(used);
            let issue = issue(entry, read, used, taker);
            if !found.iter().any(|known| known.span == issue.span) {
                found.push(issue);
            }
        }
    }
    found
}

/// Which part of what was looked up a step works with.
fn used_part(entry: &Entry<'_>, at: At, place: &AccessPath) -> Option<Vec<Field>> {
    let over = match entry.op(at)? {
        Op::Read { via: Some(via), .. }
        | Op::Write { via: Some(via), .. }
        | Op::Delete { via: Some(via), .. } => {
            let (Via::Client(path) | Via::Pool(path)) = &**via;
            path
        }
        Op::External { over: Some(path), .. } => path,
        Op::Call { callee: Callee::Named(name), receiver: Some(path), .. } if !ends(entry, name) => path,
        Op::Write { to: Resource::Stream(path), .. } => path,
        _ => return None,
    };
    part_of(entry, over, place)
}

/// Whether a step sends on a channel that comes from a list which was read before.
fn sends(entry: &Entry<'_>, at: At, read: At) -> bool {
    match entry.op(at) {
        Some(Op::Call { callee: Callee::Named(name), receiver: Some(path), .. }) if &**name == "send" => {
            matches!(path.root, Root::Value(channel) if entry.flow().sources(channel).contains(&read))
        }
        _ => false,
    }
}

/// Whether the call has taken it away itself before it uses it: then nobody else finds it.
fn takes_itself(entry: &Entry<'_>, read: At, used: At, place: &AccessPath) -> bool {
    entry.steps_of(Kinds::DELETE | Kinds::WRITE).any(|gone| {
        gone > read
            && gone < used
            && emptied(entry, gone).is_some_and(|path| path == *place)
            && entry.control().leads_to(gone, used).is_some()
    })
}

/// Whether the call says that it uses it before it gives the lock back: a wait group, or a number that goes up.
fn counts_in(entry: &Entry<'_>, read: At, used: At, place: &AccessPath) -> bool {
    let held = entry.locks().held(read);
    let counts = |at: At| match entry.op(at) {
        Some(Op::CountIn { .. }) => true,
        Some(Op::Write { mode: WriteMode::Atomic, to: Resource::Shared(path), .. }) => {
            part_of(entry, path, place).is_some()
        }
        Some(Op::Write { mode: WriteMode::Blind, to: Resource::Shared(path), .. }) => {
            let again = |read: &At| entry.resource(*read) == entry.resource(at);
            part_of(entry, path, place).is_some_and(|part| !part.is_empty())
                && entry.flow().data_dependences(at).iter().any(again)
        }
        _ => false,
    };
    (read..used).any(|at| counts(at) && held.iter().any(|lock| entry.locks().held(at).contains(lock)))
}

fn issue(entry: &Entry<'_>, read: At, used: At, taker: &Taker<'_, '_>) -> Issue {
    let name = entry.thing(read);
    let (looked, works) = (entry.position(read, &[used]), entry.position(used, &[read]));
    let gone = taker.entry.position(taker.close, &[taker.removed]);
    let message = match taker.is_key {
        true => format!(
            "the channels of {name} are copied under the lock and sent to after it, so another call closes one in between, and the send on it is a panic that ends the program"
        ),
        false => format!(
            "what {name} holds is looked up under a lock and used after it, so another call takes it away and closes it in between, and this one goes on with something that is gone"
        ),
    };
    let issue = Issue::at(entry, read, &[used], Reach::InProcess, message).no_surer_than(Confidence::Medium);
    let issue = if taker.is_key { issue } else { issue.only(Severity::Medium) };
    let uses =
        if taker.is_key { "sends on the closed channel, and panics" } else { "works with it: it is gone" };
    issue
        .step(Lane::A, looked, format!("looks up {name}, and gives the lock back"))
        .step(Lane::X, gone, "another call has taken it away under the lock, and closes it")
        .step(Lane::A, works, uses)
}
