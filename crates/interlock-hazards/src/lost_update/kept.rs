//! Lost update between processes: state that a process loads once and then writes back whole.
//!
//! Reported:
//! ```text
//! const todos = load(FILE);                         // at start-up, once per client of a stdio server
//! server.tool("add", async ({ text }) => {
//!   todos.push(text);
//!   await save(FILE, todos);                        // reported: another process has written since
//! });
//! ```
//! Not reported:
//! ```text
//! server.tool("add", async ({ text }) => {
//!   const todos = load(FILE);                       // loaded in each call: told by `rule.rs`, if at all
//!   await save(FILE, [...todos, text]);
//! });
//! ```
//!
//! Only servers that run once per client are looked at, and only files that go by one name in the whole program.

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{Aspect, Field, Op, Resource, WriteMode},
};

use crate::{
    Issue, Outcome, Reason,
    dependences::{data_dependences, is_loaded_once},
    gates::Gates,
    keys::key_of,
    view::{At, Entry, Kinds, Location, Names, Objects, Runs, View},
};

use super::HAZARD;

/// Where a process keeps in memory what it has loaded from a file.
struct Load {
    location: Location,
    /// Whether it is kept under a key, beside others from other files.
    is_one_of_many: bool,
    span: Span,
}

/// Calls that write a file from what their process has loaded at its start. A server on standard streams runs once per client.
pub(super) fn kept(view: &View<'_>) -> Vec<Issue> {
    let handlers = view.called_per_client();
    if handlers.is_empty() {
        return vec![];
    }
    let objects = view.objects();
    let mut loads: Vec<(Names, Load)> = vec![];
    // Who loads again when something happens knows that others write.
    let mut again: Vec<(Names, Location)> = vec![];
    for entry in view.entries_with(Kinds::READ) {
        let mut gates = Gates::default();
        for (store, read) in stores(entry) {
            let (Some(location), Some(file)) = (objects.location(entry, store), objects.file(entry, read))
            else {
                continue;
            };
            let once = *entry.runs == Runs::StartUp || is_loaded_once(entry, read, &mut gates);
            if once {
                // What one of many files says is put under the key of that one.
                let is_one_of_many = entry.control().loops(store).is_empty() && has_key(entry, store);
                loads.push((file, Load { location, is_one_of_many, span: entry.span(read) }));
            } else if *entry.runs != Runs::Unreached {
                again.push((file, location));
            }
        }
    }
    loads.retain(|(file, load)| {
        let is_same = |(from, location): &(Names, Location)| {
            from.are_of_one(file)
                && location
                    .names
                    .depth_in(&load.location.names)
                    .is_some_and(|depth| depth <= load.location.unsaid())
        };
        let is_loaded_again = again.iter().any(is_same);
        if is_loaded_again {
            view.settle_at(&HAZARD.id, load.span, Err::<(), _>(Reason::LoadedEachTime));
        }
        !is_loaded_again
    });
    if loads.is_empty() {
        return vec![];
    }
    let mut found: Vec<(&Load, Issue)> = vec![];
    let is_tool = |entry: &&Entry<'_>| entry.is_tool() && handlers.contains(&entry.function);
    for entry in view.entries_with(Kinds::WRITE).filter(is_tool) {
        let puts = |op: &Op| matches!(op, Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. });
        let mut gates = Gates::default();
        for act in entry.all(Kinds::WRITE | Kinds::RENAME, puts) {
            let Some(file) = objects.file(entry, act) else { continue };
            // What is written comes from the same steps, whichever load is asked about.
            let mut written_from: Option<Vec<At>> = None;
            let mut changed = |(from, load)| {
                let is_same = file.are_of_one(from);
                if !is_same {
                    return None;
                }
                let written_from =
                    written_from.get_or_insert_with(|| data_dependences(entry, act, &mut gates).to_vec());
                changed_before(entry, (act, written_from.as_slice()), load, objects, &mut gates)
                    .map(|change| (load, change))
            };
            let Some((load, change)) = loads.iter().map(|(from, load)| (from, load)).find_map(&mut changed)
            else {
                continue;
            };
            entry.decide(Some(&HAZARD.id), &[change, act], Outcome::Reported);
            // Whoever writes it, what is wrong is that it was loaded once: one story for all.
            match found.iter_mut().find(|(known, _)| std::ptr::eq(*known, load)) {
                Some((_, issue)) => issue.tools.extend(entry.tools()),
                None => found.push((load, issue(entry, change, act, load))),
            }
        }
    }
    let mut issues: Vec<Issue> = found.into_iter().map(|(_, issue)| issue).collect();
    for issue in &mut issues {
        issue.tools.sort_unstable();
        issue.tools.dedup();
    }
    issues
}

/// What puts into memory what a file says: the step, and the one that read the file.
pub(super) fn stores(entry: &Entry<'_>) -> Vec<(At, At)> {
    let mut found = vec![];
    let reads = |from: &At| {
        matches!(entry.op(*from), Some(Op::Read { of: Resource::File(_), aspect: Aspect::Content, .. }))
    };
    for store in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. })) {
        found.extend(
            entry.flow().data_dependences(store).iter().copied().filter(reads).map(|read| (store, read)),
        );
    }
    // Nobody else sees yet what start-up puts into an object that it makes, and its handlers are given that object.
    if *entry.runs == Runs::StartUp {
        for (store, step) in entry.steps.iter().enumerate() {
            let Op::Derive { from, .. } = &step.effect.op else { continue };
            found.extend(
                entry.flow().sources_of(from).iter().copied().filter(reads).map(|read| (store, read)),
            );
        }
    }
    found
}

/// Whether a step touches something by its key.
fn has_key(entry: &Entry<'_>, at: At) -> bool {
    let by_key = |field: &Field| matches!(field, Field::At(_));
    matches!(entry.resource(at), Some(Resource::Shared(path)) if path.fields.iter().any(by_key))
}

/// Where a call has changed what is kept at a place, before a step that writes all of it.
fn changed_before(
    entry: &Entry<'_>,
    (act, written_from): (At, &[At]),
    load: &Load,
    objects: &Objects,
    gates: &mut Gates,
) -> Option<At> {
    let location = &load.location;
    let depth =
        |at: At| objects.location(entry, at).and_then(|touched| touched.names.depth_in(&location.names));
    let is_at = |at: At| depth(at).is_some();
    // Whether a step touches only a part of it. Of an object it may be any field that was loaded.
    let is_part =
        |at: At| (has_key(entry, at) && !load.is_one_of_many) || depth(at) > Some(location.unsaid());
    let is_taken_along = |at: At| {
        matches!(entry.op(at), Some(Op::Write { from, .. }) if {
            Objects::is_made_of(entry, at, from, &location.names)
        })
    };
    if !is_taken_along(act) && !written_from.iter().any(|from| is_at(*from)) {
        return None;
    }
    let mut comes_from_it =
        |at: At| is_taken_along(at) || data_dependences(entry, at, gates).iter().any(|from| is_at(*from));
    // What is put in place of all that was there was not meant to keep any of it.
    let mut keeps_the_rest = |change: At| match entry.op(change) {
        Some(Op::Write { mode: WriteMode::Blind, .. }) => is_part(change) || comes_from_it(change),
        Some(Op::Write { .. } | Op::Delete { .. }) => true,
        _ => false,
    };
    let mut changes = entry.steps_of(Kinds::WRITE | Kinds::DELETE).filter(|change| *change < act);
    changes.find(|change| {
        is_at(*change) && keeps_the_rest(*change) && entry.control().leads_to(*change, act).is_some()
    })
}

fn issue(entry: &Entry<'_>, change: At, act: At, load: &Load) -> Issue {
    let thing = entry.thing(act);
    let location = &load.location.name;
    let message = format!(
        "{thing} was loaded into `{location}` once and is written back from there as a whole, so what another process of the same server has \
         written since is lost"
    );
    let (changed, written) = (entry.position(change, &[act]), entry.position(act, &[change]));
    let mut issue = Issue::at(entry, act, &[change], Reach::CrossProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, load.span, format!("has loaded {thing} into `{location}` when it began"))
        .step(Lane::B, load.span, format!("has loaded {thing} as well, in a process of its own"))
        .step(Lane::A, written, format!("writes {thing}"))
        .step(Lane::B, changed, format!("changes its own `{location}`"))
        .step(Lane::B, written, format!("writes {thing} from there: A's change is gone"));
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}
