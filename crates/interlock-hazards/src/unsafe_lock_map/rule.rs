//! A lock table that forgets its locks too early or never, or a lock that each call makes for itself.
//!
//! Reported:
//! ```text
//! const lock = locks.get(id) ?? new Mutex();        // reported here: nothing ever removes an entry
//! locks.set(id, lock);
//! locks.delete(id);                                 // or here: others may still wait for it
//! ```
//! Not reported:
//! ```text
//! if (--lock.waiting === 0) locks.delete(id);       // the last one who needs it removes it
//! ```
//!
//! A chain of promises that is used as a lock is judged where it is built (`HandMade` of the model). Waiting once for what may be taken again is in `once.rs`.

use std::collections::HashMap;

use interlock_model::{
    Confidence, Lane, Reach, Severity, Span,
    ir::{AccessPath, Field, HandMade, Op, Removal, Resource, Root, Start, Term, Value},
};

use super::{HAZARD, once::waited_once};
use crate::{
    Issue, Outcome, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Runs, View},
};

/// Finds `unsafe-lock-map`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let mut found: Vec<Issue> =
        view.program.hand_made.iter().flat_map(|made| hand_made(view, made)).collect();
    let removals = Removals::of(view);
    for entry in view.entries_with(Kinds::READ | Kinds::NEW).filter(|entry| *entry.runs != Runs::StartUp) {
        found.extend(waited_once(entry));
        for at in entry.all(Kinds::NEW, |op| matches!(op, Op::New { lock: Some(_), .. })) {
            found.extend(in_a_map(&removals, entry, at));
            found.extend(entry.settle(&HAZARD.id, &[at], at_its_use(entry, at)));
        }
    }
    found
}

/// What is wrong with a lock that the tree builds itself.
fn hand_made(view: &View<'_>, made: &HandMade) -> Vec<Issue> {
    let mut found = vec![];
    let name = made.path.fields.iter().rev().find_map(|field| match field {
        Field::Name(name) => Some(name.to_string()),
        Field::At(_) => None,
    });
    let name = name.or_else(|| match &made.path.root {
        Root::Global(name) => Some(name.rsplit("::").next().unwrap_or_default().to_owned()),
        _ => None,
    });
    let name = name.map_or_else(|| "the lock".to_owned(), |name| format!("`{name}`"));
    let (removal, removed_at) = made.removal;
    let limited = view.program.limited.iter().any(|limited| limited.path == made.path);
    if made.keyed && !limited {
        let never = removed_at == made.span || removed_at == Span::default();
        match removal {
            Removal::Last => {}
            Removal::Nobody => {
                let (span, why) = if never {
                    (made.span, "nothing ever removes an entry of")
                } else {
                    (
                        removed_at,
                        "the clean-up compares with something that was never stored, so no entry is ever removed from",
                    )
                };
                let message = format!(
                    "{why} {name}, and the map grows with every key that a caller names until the server is killed"
                );
                let issue = issue(view, made, span, message)
                    .step(Lane::A, made.span, format!("adds an entry to {name} for its key"))
                    .step(Lane::A, span, "leaves, and the entry stays")
                    .step(Lane::B, made.span, "comes with another key: one more entry for ever");
                found.push(if never { issue.only(Severity::Low) } else { issue });
            }
            Removal::Anybody => found.push(dropped(
                issue(view, made, removed_at, early(&name)),
                made.span,
                removed_at,
                Lane::A,
                &name,
            )),
            Removal::Timer => found.push(dropped(
                issue(view, made, removed_at, early(&name)),
                made.span,
                removed_at,
                Lane::X,
                &name,
            )),
        }
    }
    if !made.exclusive {
        let message = format!(
            "two calls that wait for the same holder of {name} go on together, so the lock keeps nobody out"
        );
        found.push(
            issue(view, made, made.span, message)
                .step(Lane::A, made.span, "waits for the holder")
                .step(Lane::B, made.span, "waits for the same holder")
                .step(Lane::A, made.span, "goes on when the holder leaves")
                .step(Lane::B, made.span, "goes on as well"),
        );
    }
    if !made.outlives_failure {
        let message =
            format!("once a call under {name} has failed, every later call fails or waits for ever");
        found.push(
            issue(view, made, made.span, message)
                .step(Lane::A, made.span, "holds the lock")
                .step(Lane::X, made.span, "its work fails, and the failure stays in the chain")
                .step(Lane::B, made.span, "is chained behind the failure and never runs"),
        );
    }
    view.settle_at(&HAZARD.id, made.span, needs(!found.is_empty(), Reason::SoundLock));
    found
}

fn issue(view: &View<'_>, made: &HandMade, span: Span, message: String) -> Issue {
    let mut tools: Vec<_> = view.entries_of(made.function).flat_map(Entry::tools).collect();
    tools.sort();
    tools.dedup();
    Issue {
        severity: None,
        confidence: if tools.is_empty() { Confidence::Medium } else { Confidence::High },
        reach: Reach::InProcess,
        span,
        function: made.function,
        tools,
        message,
        witness: vec![],
        keys: vec![],
        advice: None,
    }
}

fn early(name: &str) -> String {
    format!(
        "an entry of {name} is removed while others may hold it or wait for it, so the next call makes a second lock for the same key"
    )
}

/// The story of an entry that goes while it is in use.
fn dropped(issue: Issue, made: Span, removed: Span, by: Lane, name: &str) -> Issue {
    issue
        .step(Lane::A, made, "holds the lock of a key")
        .step(by, removed, format!("removes it from {name}, whoever waits for it"))
        .step(Lane::B, made, "finds no entry, makes a new lock and goes on beside those of the old one")
}

/// A map in which each key has a lock.
fn in_a_map(removals: &Removals<'_, '_>, entry: &Entry<'_>, at: At) -> Vec<Issue> {
    let Some(Op::New { into, .. }) = entry.op(at) else { return vec![] };
    // An object that has a lock of its own among other things is made elsewhere, and its map is a register of such objects.
    let is_lock = |store: At, from: &[Value]| {
        let flow = entry.flow();
        let beside = entry.frame_of(store) == entry.frame_of(at);
        from.iter().any(|from| flow.is_all_of(*from, *into) || beside && flow.depends_on(*from, *into))
    };
    let stored = entry
        .all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }))
        .filter(|store| matches!(entry.op(*store), Some(Op::Write { from, .. }) if is_lock(*store, from)))
        .find_map(|store| match entry.resource(store) {
            Some(Resource::Shared(path)) => map_of(path).map(|(map, key)| (store, map, key)),
            _ => None,
        });
    let Some((store, map, key)) = stored else { return vec![] };
    let bounded = || {
        let values = entry.flow().values_in(&key);
        matches!(key, Term::Literal(_))
            || (!values.is_empty() && values.iter().all(|value| entry.flow().is_bounded(*value)))
    };
    let grows = needs(entry.alias().is_shared(&map), Reason::OwnLock)
        .and_then(|()| unless(entry.locks().is_limited(&map) || bounded(), Reason::FewKeys));
    if entry.note(&HAZARD.id, &[at, store], grows).is_err() {
        return vec![];
    }
    let name = format!("`{}`", entry.path_text(&map));
    let location = entry.position(at, &[]);
    let removals = removals.from(&map);
    if removals.is_empty() {
        let message = format!(
            "nothing ever removes an entry of {name}, so the map grows with every key that a caller names until the server is killed"
        );
        let issue = Issue::at(entry, at, &[], Reach::InProcess, message)
            .only(Severity::Low)
            .step(Lane::A, location, format!("makes a lock and puts it into {name}"))
            .step(Lane::A, entry.position(store, &[]), "leaves, and the entry stays")
            .step(Lane::B, location, "comes with another key: one more entry for ever");
        entry.decide(Some(&HAZARD.id), &[at, store], Outcome::Reported);
        return vec![issue];
    }
    let careless = removals.iter().filter(|(other, removal)| {
        let asks = unless(is_careful(other, *removal, &map), Reason::AsksFirst);
        other.settle(&HAZARD.id, &[*removal], asks).is_some()
    });
    careless
        .map(|(other, removal)| {
            let removed = other.position(*removal, &[]);
            let by = if by_timer(other, *removal) { Lane::X } else { Lane::A };
            let issue = Issue::at(other, *removal, &[], Reach::InProcess, early(&name));
            dropped(issue, location, removed, by, &name)
        })
        .collect()
}

/// The map and the key of an entry of one.
fn map_of(path: &AccessPath) -> Option<(AccessPath, Term)> {
    let mut map = path.clone();
    match map.fields.pop()? {
        Field::At(key) => Some((map, key)),
        Field::Name(_) => None,
    }
}

/// The steps that take an entry out of a map, or empty it, by the map.
struct Removals<'v, 'e>(HashMap<AccessPath, Vec<(&'v Entry<'e>, At)>>);

impl<'v, 'e> Removals<'v, 'e> {
    fn of(view: &'v View<'e>) -> Self {
        let mut found: HashMap<AccessPath, Vec<(&Entry<'_>, At)>> = HashMap::new();
        for entry in view.entries_with(Kinds::DELETE) {
            for at in entry.all(Kinds::DELETE, |op| matches!(op, Op::Delete { of: Resource::Shared(_), .. }))
            {
                let Some(Resource::Shared(path)) = entry.resource(at) else { continue };
                if let Some((map, _)) = map_of(path) {
                    found.entry(map).or_default().push((entry, at));
                }
                found.entry(path.clone()).or_default().push((entry, at));
            }
        }
        Self(found)
    }

    fn from(&self, map: &AccessPath) -> &[(&'v Entry<'e>, At)] {
        self.0.get(map).map_or(&[], Vec::as_slice)
    }
}

fn by_timer(entry: &Entry<'_>, at: At) -> bool {
    *entry.runs == Runs::Event
        || entry
            .control()
            .detached(at)
            .is_some_and(|spawn| matches!(entry.op(spawn), Some(Op::Spawn { start: Start::Timer, .. })))
}

/// Whether a removal first asks whether anybody is left: how many use it, whether it is locked, whether the entry is still the same.
fn is_careful(entry: &Entry<'_>, at: At, map: &AccessPath) -> bool {
    let concerns = |source: &At| match (entry.op(*source), entry.resource(*source)) {
        (_, Some(Resource::Shared(path))) => path.root == map.root,
        (Some(Op::Call { receiver: Some(path), .. }), _) => {
            entry.alias().resolve_path(path).root == map.root
                || map_of(&entry.alias().resolve_path(path)).is_some()
        }
        _ => false,
    };
    let is_count = |name: &str| entry.lexicon().has_inside(Topic::Holders, name);
    entry.control().control_dependences(at).iter().any(|check| {
        let Some(Op::Check { on, .. }) = entry.op(*check) else { return false };
        let asks = entry.flow().condition_sources(*check).iter().any(concerns)
            || on.iter().any(|value| {
                entry.alias().field_of(*value).is_some_and(|field| is_count(&field))
                    || is_count(entry.name_of(*value))
            });
        // What was asked before the timer was set says nothing about the time when it goes off.
        let in_time =
            entry.control().detached(at).is_none_or(|spawn| entry.control().encloses(spawn, *check));
        entry.control().encloses(*check, at) && in_time && asks
    })
}

/// A lock that the call which takes it has made, and that no other call can see.
fn at_its_use(entry: &Entry<'_>, at: At) -> Result<Issue, Reason> {
    let Some(Op::New { into, .. }) = entry.op(at) else { return Err(Reason::OutOfScope) };
    let taken = entry.steps_of(Kinds::ACQUIRE).find(|taken| {
        let Some(Op::Acquire { lock, .. }) = entry.op(*taken) else { return false };
        let lock = entry.locks().resolve(lock);
        lock.object.root == Root::Value(*into) && entry.alias().is_made_here(&lock.object)
    });
    let taken = taken.ok_or(Reason::OutOfScope)?;
    // A call may bound its own work with a lock of its own.
    let own_work = entry
        .control()
        .around(taken, |op| matches!(op, Op::Loop { .. } | Op::Together { .. } | Op::Spawn { .. }))
        .is_some_and(|around| !entry.control().encloses(around, at));
    let several = entry
        .steps_of(Kinds::ACQUIRE)
        .filter(|other| matches!(entry.op(*other), Some(Op::Acquire { lock, .. }) if entry.locks().resolve(lock).object.root == Root::Value(*into)))
        .count();
    unless(own_work || several > 1, Reason::OwnWork)?;
    let story = [taken];
    let name = entry.name_of(*into);
    let name = if name.is_empty() { "the lock".to_owned() } else { format!("`{name}`") };
    let message =
        format!("{name} is made by the call that takes it, so every call has its own and none ever waits");
    let issue = Issue::at(entry, at, &story, Reach::InProcess, message)
        .step(Lane::A, entry.position(at, &story), "makes a lock")
        .step(Lane::B, entry.position(at, &story), "makes another one")
        .step(Lane::A, entry.position(taken, &story), "takes its own at once")
        .step(Lane::B, entry.position(taken, &story), "takes its own at once, beside A");
    Ok(issue)
}
