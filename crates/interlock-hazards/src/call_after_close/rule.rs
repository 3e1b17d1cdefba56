//! Use after close: a call tests a flag and goes on, and the handle is torn down before it is used.
//!
//! Reported:
//! ```text
//! if (this.closed) throw new Error("closed");       // reported here
//! const row = await this.lookup(id);
//! return this.db.run(row);                          // close() has run in between
//! ```
//! Not reported:
//! ```text
//! this.inFlight++;                                  // counted in, in the same step as the test
//! try { return await this.db.run(id); } finally { this.inFlight--; }
//! // close(): waits until inFlight is 0
//! ```
//!
//! Where the process ends, nothing is left to race for. A tool that replaces what all share is in `replaced.rs`, one that closes an entry of
//! a map in `entry_kept.rs`, a channel that is closed twice in `closed_twice.rs`, what is used behind the lock under which it was looked
//! up in `handed_out.rs`, a goroutine that counts itself in too late in `counted_late.rs`, and a loop that nothing ends in `endless.rs`.

use std::collections::{BTreeSet, HashMap};

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Callee, Field, LockKind, Op, Resource, Root, Start, Term, Via},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    lexicon::Topic,
    view::{At, Entry, Kinds, Runs, View},
};

use super::{
    HAZARD,
    closed_twice::closed_twice,
    counted_late::{asked_early, counted_late},
    endless::endless,
    entry_kept::entries_kept,
    handed_out::handed_out,
    replaced::replaced,
};

/// Finds `call-after-close`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    // A helper that closes is seen from every entry that reaches it; once is enough.
    let mut known = BTreeSet::new();
    let closers: Vec<Closer<'_, '_>> = view
        .entries_with(Kinds::CLOSE)
        .flat_map(closers)
        .filter(|closer| known.insert((closer.flag.clone(), closer.handle.clone())))
        .collect();
    let torn_down =
        |entry| idle(view, entry).into_iter().chain(replaced(view, entry)).chain(closed_twice(entry));
    if closers.is_empty() {
        let found = view.entries_with(Kinds::CLOSE).flat_map(torn_down).chain(entries_kept(view));
        let late = counted_late(view).into_iter().chain(asked_early(view)).chain(endless(view));
        return found.chain(handed_out(view)).chain(late).collect();
    }
    // Paths that lead to the same place end alike, whatever they start at.
    let mut by_end: HashMap<Option<&Field>, Vec<&Closer<'_, '_>>> = HashMap::new();
    for closer in &closers {
        by_end.entry(closer.flag.fields.last()).or_default().push(closer);
    }
    let callers = || view.entries_with(Kinds::CHECK).filter(|entry| entry.runs_beside_itself());
    let mut found: Vec<Issue> = callers().flat_map(|entry| tested(entry, &by_end)).collect();
    found.extend(view.entries_with(Kinds::CLOSE).flat_map(torn_down));
    found.extend(entries_kept(view));
    found.extend(counted_late(view));
    // What is told of a test of a flag is not told again of what was looked up with it.
    let known: BTreeSet<_> = found.iter().map(|issue| issue.function).collect();
    let others = handed_out(view).into_iter().chain(asked_early(view)).chain(endless(view));
    found.extend(others.filter(|issue| !known.contains(&issue.function)));
    found
}

/// A way to close: a flag is set, then a handle is torn down.
struct Closer<'v, 'e> {
    entry: &'v Entry<'e>,
    flag: AccessPath,
    set: At,
    close: At,
    handle: AccessPath,
}

fn closers<'v, 'e>(entry: &'v Entry<'e>) -> Vec<Closer<'v, 'e>> {
    // Where the process ends, nothing is left to race for.
    let closes: Vec<(At, AccessPath)> = entry
        .steps_of(Kinds::CLOSE)
        .filter(|close| {
            let judge = || {
                needs(is_close(entry, *close), Reason::OutOfScope)?;
                unless(ends_the_process(entry, *close), Reason::ProcessEnds)
            };
            entry.note(&HAZARD.id, &[*close], judge()).is_ok()
        })
        .filter_map(|close| match entry.op(close) {
            Some(Op::Close { handle }) => Some((close, entry.alias().resolve_path(handle))),
            _ => None,
        })
        .filter(|(close, handle)| !is_own(entry, *close, handle))
        .collect();
    let mut found: Vec<Closer<'v, 'e>> = vec![];
    if closes.is_empty() {
        return found;
    }
    // A flag is set to what the source says, not to what was computed.
    for set in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { from, .. } if from.is_empty())) {
        let flag = match entry.resource(set) {
            Some(Resource::Flag(path)) => path,
            Some(Resource::Shared(path)) if entry.alias().is_shared(path) && is_flag(entry, path) => path,
            _ => continue,
        };
        for (close, handle) in &closes {
            let known = found.iter().any(|other| other.flag == *flag && other.handle == *handle);
            // A handle that is forgotten when it is closed is no flag.
            let forgets = starts_with(handle, flag);
            if !known && !forgets && entry.control().leads_to(set, *close).is_some() {
                let (flag, handle) = (flag.clone(), handle.clone());
                found.push(Closer { entry, flag, set, close: *close, handle });
            }
        }
    }
    found
}

/// Whether a handle is only known by a local name where threads run: a connection that was accepted for this one peer.
fn is_own(entry: &Entry<'_>, close: At, handle: &AccessPath) -> bool {
    let unwinds = entry.program.function(entry.function_of(close)).is_none_or(|it| it.unwinds);
    !unwinds
        && handle.fields.is_empty()
        && matches!(handle.root, Root::Value(_))
        && !entry.alias().is_shared(handle)
}

/// Whether a place is called like something that says whether calls may still start.
fn is_flag(entry: &Entry<'_>, path: &AccessPath) -> bool {
    let text = entry.path_text(path);
    entry.lexicon().has_inside(Topic::ClosingFlag, text.rsplit('.').next().unwrap_or_default())
}

/// Whether a step belongs to something that closes: an event, or a function of that name.
pub(super) fn is_close(entry: &Entry<'_>, at: At) -> bool {
    let name = entry.function_name(entry.function_of(at));
    *entry.runs == Runs::Event
        || entry.control().detached(at).is_some()
        || entry.lexicon().has_inside(Topic::Closes, &name)
        || entry.lexicon().has_inside(Topic::Closes, &entry.function_name(entry.function))
}

pub(super) fn ends_the_process(entry: &Entry<'_>, at: At) -> bool {
    let exits = entry.all(Kinds::CALL, |op| matches!(op, Op::Call { callee: Callee::Named(name), .. } if entry.lexicon().has(Topic::ExitsProcess, name)));
    exits.into_iter().any(|exit| entry.control().leads_to(at, exit).is_some())
}

fn tested(entry: &Entry<'_>, closers: &HashMap<Option<&Field>, Vec<&Closer<'_, '_>>>) -> Vec<Issue> {
    let mut found = vec![];
    for check in entry.steps_of(Kinds::CHECK) {
        for test in entry.flow().condition_sources(check).iter().copied() {
            let flag = match (entry.op(test), entry.resource(test)) {
                (Some(Op::Read { .. }), Some(Resource::Flag(path) | Resource::Shared(path))) => path,
                _ => continue,
            };
            let closers = closers.get(&flag.fields.last()).into_iter().flatten().copied();
            let story = closers.filter(|closer| is_same(&closer.flag, flag)).find_map(|closer| {
                let used = use_after(entry, test, check, &seen_from(flag, closer))?;
                // Where it is tested once more, the last test counts: a look before the lock is taken only saves taking it.
                if is_tested_again(entry, check, used, flag) {
                    return None;
                }
                let late = unless(is_counted_in(entry, test, used, closer), Reason::CountedIn);
                entry.settle(&HAZARD.id, &[test, used], late)?;
                Some((closer, used))
            });
            if let Some((closer, used)) = story {
                found.push(issue(entry, test, used, closer));
            }
        }
    }
    found
}

/// Whether a later test of the flag decides on the use as well.
fn is_tested_again(entry: &Entry<'_>, check: At, used: At, flag: &AccessPath) -> bool {
    let of_flag = |read: &At| match (entry.op(*read), entry.resource(*read)) {
        (Some(Op::Read { .. }), Some(Resource::Flag(path) | Resource::Shared(path))) => path == flag,
        _ => false,
    };
    entry
        .control()
        .control_dependences(used)
        .iter()
        .any(|later| *later > check && entry.flow().condition_sources(*later).iter().any(of_flag))
}

/// Whether two paths of different entries lead to the same place. A method seen from itself starts at `this`.
pub(super) fn is_same(one: &AccessPath, other: &AccessPath) -> bool {
    leads_to_same(&one.root, &one.fields, other)
}

fn leads_to_same(root: &Root, fields: &[Field], other: &AccessPath) -> bool {
    if *root == other.root && same_fields(fields, &other.fields) {
        return true;
    }
    let tail = fields.len().min(other.fields.len());
    let end = |fields: &'_ [Field]| fields.len() - tail;
    (*root == Root::This || other.root == Root::This)
        && tail > 0
        && fields
            .get(end(fields)..)
            .zip(other.fields.get(end(&other.fields)..))
            .is_some_and(|(one, two)| same_fields(one, two))
}

/// Whether two ways lead to the same place. A loop over all entries comes to each of them.
fn same_fields(one: &[Field], two: &[Field]) -> bool {
    let any = |field: &Field| matches!(field, Field::At(Term::Unknown));
    let entry = |field: &Field| matches!(field, Field::At(_));
    let same = |(one, two): (&Field, &Field)| one == two || any(one) && entry(two) || entry(one) && any(two);
    one.len() == two.len() && one.iter().zip(two).all(same)
}

/// What close tears down, as the one who tests the flag calls it: `this.client` of a manager is `this.manager.client` where the flag that is tested is
/// `this.manager.closed`.
fn seen_from(flag: &AccessPath, closer: &Closer<'_, '_>) -> AccessPath {
    let within = flag.fields.len().checked_sub(closer.flag.fields.len()).filter(|within| *within > 0);
    match (within.and_then(|within| flag.fields.get(..within)), &closer.flag.root, &closer.handle.root) {
        (Some(object), Root::This, Root::This) => AccessPath {
            root: flag.root.clone(),
            fields: object.iter().chain(closer.handle.fields.iter()).cloned().collect(),
        },
        _ => closer.handle.clone(),
    }
}

/// A use of the handle that the test decided on, with room for a close in between.
fn use_after(entry: &Entry<'_>, test: At, check: At, handle: &AccessPath) -> Option<At> {
    (check + 1..entry.steps.len()).find(|at| {
        uses(entry, *at, handle)
            && entry.control().control_dependences(*at).contains(&check)
            && entry.control().leads_to(test, *at) == Some(true)
    })
}

pub(super) fn uses(entry: &Entry<'_>, at: At, handle: &AccessPath) -> bool {
    let over = match entry.op(at) {
        Some(
            Op::Read { via: Some(via), .. }
            | Op::Write { via: Some(via), .. }
            | Op::Delete { via: Some(via), .. },
        ) => {
            let (Via::Client(path) | Via::Pool(path)) = &**via;
            path
        }
        Some(Op::External { over: Some(path), .. } | Op::Call { receiver: Some(path), .. }) => path,
        Some(Op::Write { to: Resource::Stream(path), .. }) => path,
        // Where the statement does not say which way it goes, it goes over what is closed for its sake.
        Some(Op::Read { via: None, .. } | Op::Write { via: None, .. } | Op::Delete { via: None, .. }) => {
            return matches!(entry.resource(at), Some(Resource::Row { .. } | Resource::Key(_)));
        }
        _ => return false,
    };
    starts_with(&entry.alias().resolve_path(over), handle)
}

/// Whether the call counts itself in, in the same step as its test, in what close waits for.
fn is_counted_in(entry: &Entry<'_>, test: At, used: At, closer: &Closer<'_, '_>) -> bool {
    let waited = |path: &AccessPath| {
        (closer.set..closer.close).any(|at| match (closer.entry.op(at), closer.entry.resource(at)) {
            (Some(Op::Drain { group }), _) => is_same(&closer.entry.alias().resolve_path(group), path),
            (Some(Op::Read { .. }), Some(Resource::Shared(read))) => {
                is_same(read, path) || starts_with(path, read)
            }
            _ => false,
        })
    };
    // What close waits for is not always told by its steps; that it waits, and that calls come and go there, is.
    let closer_waits = closer.entry.control().leads_to(closer.set, closer.close) == Some(true);
    let counts =
        entry.all(Kinds::OTHER | Kinds::WRITE, |op| matches!(op, Op::CountIn { .. } | Op::Write { .. }));
    let counted = counts.into_iter().any(|at| {
        let path = match (entry.op(at), entry.resource(at)) {
            (Some(Op::CountIn { group }), _) => entry.alias().resolve_path(group),
            (Some(Op::Write { .. }), Some(Resource::Shared(path))) => path.clone(),
            _ => return false,
        };
        let together = entry.control().leads_to(test, at) == Some(false)
            || entry
                .locks()
                .race_window(test, at)
                .is_some_and(|window| window.locks.iter().any(|lock| is_ordered_by(closer, lock)));
        together && (waited(&path) || (counts_out(entry, at) && closer_waits))
    });
    // A lock that is held over the whole use, and that close takes as well, is as good as a count.
    // Who shares it only with others who look is kept apart from close all the same.
    let held = || {
        let all_the_way = entry.locks().held(used);
        let locks = entry.locks().held(test).iter().filter(|at| all_the_way.contains(at));
        locks
            .filter_map(|at| match entry.op(*at) {
                Some(Op::Acquire { lock, .. }) => Some(entry.locks().resolve(lock)),
                _ => None,
            })
            .any(|lock| lock.kind == LockKind::Mutex && sets_under(closer, &lock))
    };
    // A channel that is closed when all is done, and that close waits at.
    let says_when_done = || {
        entry.steps_of(Kinds::CLOSE).any(|done| match entry.op(done) {
            Some(Op::Close { handle }) => {
                done > used && entry.control().is_finally(done) && waited(&entry.alias().resolve_path(handle))
            }
            _ => false,
        })
    };
    counted || held() || says_when_done()
}

/// Whether what a call put somewhere is taken out again before it ends.
fn counts_out(entry: &Entry<'_>, put: At) -> bool {
    let takes = |op: &Op| matches!(op, Op::Delete { .. } | Op::CountOut { .. } | Op::Write { .. });
    let root = |at: At| match entry.resource(at) {
        Some(Resource::Shared(path)) => Some((path.root.clone(), path.fields.first().cloned())),
        _ => None,
    };
    let out = |at: At| entry.control().is_finally(at) || entry.control().detached(at).is_some();
    entry.all(Kinds::CHANGES | Kinds::OTHER, takes).any(|at| {
        at != put
            && out(at)
            && root(at).is_some()
            && (entry.alias().same_record(put, at) || same_root(&root(at), &root(put)))
    })
}

fn same_root<R: PartialEq, F>(one: &Option<(R, F)>, other: &Option<(R, F)>) -> bool {
    matches!((one, other), (Some((one, _)), Some((other, _))) if one == other)
}

/// Whether a lock puts the calls that count themselves in under it before the wait: the flag is set under it, or it is taken between that
/// and the wait. A lock that is only taken for the teardown comes too late.
fn is_ordered_by(closer: &Closer<'_, '_>, lock: &interlock_model::ir::Lock) -> bool {
    let drain = (closer.set..closer.close).find(|at| matches!(closer.entry.op(*at), Some(Op::Drain { .. })));
    let Some(drain) = drain else { return sets_under(closer, lock) };
    let held =
        |at: At| closer.entry.locks().mutexes(at).iter().any(|held| is_same(&held.object, &lock.object));
    (closer.set..=drain).any(held)
}

fn sets_under(closer: &Closer<'_, '_>, lock: &interlock_model::ir::Lock) -> bool {
    let at = |at: At| closer.entry.locks().mutexes(at).iter().any(|held| is_same(&held.object, &lock.object));
    at(closer.set) || at(closer.close)
}

fn starts_with(path: &AccessPath, start: &AccessPath) -> bool {
    path.fields.get(..start.fields.len()).is_some_and(|cut| leads_to_same(&path.root, cut, start))
}

fn issue(entry: &Entry<'_>, test: At, used: At, closer: &Closer<'_, '_>) -> Issue {
    let story = [used];
    let (flag, handle) = (entry.thing(test), entry.path_text(&closer.handle));
    let message = format!(
        "{flag} is tested before the call is counted in, so close can tear `{handle}` down in between and the call goes on over a connection that is gone"
    );
    Issue::at(entry, test, &story, Reach::InProcess, message)
        .step(Lane::A, entry.position(test, &story), format!("tests {flag}: not closing"))
        .step(
            Lane::X,
            closer.entry.position(closer.set, &[closer.close]),
            format!("close sets {flag}, and finds nobody to wait for"),
        )
        .step(Lane::X, closer.entry.position(closer.close, &[closer.set]), format!("tears `{handle}` down"))
        .step(Lane::A, entry.position(used, &story), format!("uses `{handle}`, which is gone"))
}

/// A timer that tears down what calls may be using, and asks nobody.
fn idle(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let mut found = vec![];
    for close in entry.steps_of(Kinds::CLOSE) {
        let Some(Op::Close { handle }) = entry.op(close) else { continue };
        let by_timer = |spawn: At| matches!(entry.op(spawn), Some(Op::Spawn { start: Start::Timer, .. }));
        let Some(spawn) = entry.control().detached(close).filter(|spawn| by_timer(*spawn)) else { continue };
        let asks = entry
            .control()
            .control_dependences(close)
            .iter()
            .any(|check| entry.control().encloses(spawn, *check));
        let handle = entry.alias().resolve_path(handle);
        let user = || {
            view.entries.iter().filter(|other| matches!(other.runs, Runs::Call(_))).find_map(|other| {
                let mut uses = (0..other.steps.len())
                    .filter(|at| other.control().detached(*at) != Some(spawn) && uses(other, *at, &handle));
                let first = uses.next()?;
                let second = uses.find(|second| other.control().leads_to(first, *second) == Some(true))?;
                Some((other, first, second))
            })
        };
        let judge = || {
            needs(entry.alias().is_shared(&handle), Reason::OutOfScope)?;
            unless(asks, Reason::AsksFirst)?;
            unless(ends_the_process(entry, close), Reason::ProcessEnds)?;
            user().ok_or(Reason::NobodyUses)
        };
        let Some((other, first, second)) = entry.settle(&HAZARD.id, &[close], judge()) else { continue };
        let name = entry.path_text(&handle);
        let message = format!(
            "a timer tears `{name}` down without asking whether a call is using it, and that call fails half way"
        );
        found.push(
            Issue::at(entry, close, &[], Reach::InProcess, message)
                .no_surer_than(Confidence::Medium)
                .step(Lane::A, other.position(first, &[second]), format!("uses `{name}`"))
                .step(Lane::X, entry.position(close, &[]), format!("the timer tears `{name}` down"))
                .step(Lane::A, other.position(second, &[first]), format!("uses `{name}` again: it is gone")),
        );
    }
    found
}
