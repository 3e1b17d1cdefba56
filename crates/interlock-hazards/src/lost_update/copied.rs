//! Lost update between processes: an entry of what a process has loaded from many files at its start is changed in a copy, and the copy is
//! written to the file of that entry.
//!
//! Reported:
//! ```text
//! for path in vault.glob("*.md"): notes[path.stem] = parse(path)        # at start-up, once per client of a stdio server
//! note = notes[id]                                                      # reported here
//! note.path.write_text(render(note.meta, note.body + text))             # what another process has written since is gone
//! ```
//! Not reported:
//! ```text
//! note = parse(notes[id].path)                                          # read again by the call that writes
//! note.path.write_text(render(note.meta, note.body + text))
//! ```
//!
//! Only servers that run once per client. That two calls of one process overtake each other is in `cached.rs`; one file for all that is kept, in
//! `kept.rs`.

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{Aspect, Op, Resource, Term},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    dependences::data_dependences,
    gates::Gates,
    keys::key_of,
    view::{At, Entry, Kinds, Location, Objects, Runs, View},
};

use super::{
    HAZARD,
    cached::{named_files, taken_from},
    kept::stores,
};

/// Where a process keeps what it has loaded from files, and where it loads it.
struct Load {
    location: Location,
    span: Span,
}

/// Files that are written from a changed copy of what the process has loaded from them at its start.
pub(super) fn copied(view: &View<'_>) -> Vec<Issue> {
    let handlers = view.called_per_client();
    if handlers.is_empty() {
        return vec![];
    }
    let objects = view.objects();
    let mut loads: Vec<Load> = vec![];
    for entry in view.entries_with(Kinds::READ).filter(|entry| *entry.runs == Runs::StartUp) {
        for (store, read) in stores(entry) {
            // One file that is loaded at the start says which others there are, and has nothing of what is in them.
            let is_one_of_many = !entry.control().loops(read).is_empty();
            if let Some(location) = objects.location(entry, store).filter(|_| is_one_of_many) {
                loads.push(Load { location, span: entry.span(read) });
            }
        }
    }
    // Who loads again when something happens knows that others write.
    for entry in view.entries_with(Kinds::READ).filter(|entry| *entry.runs == Runs::Event) {
        let again: Vec<Location> =
            stores(entry).into_iter().filter_map(|(store, _)| objects.location(entry, store)).collect();
        loads.retain(|load| !again.iter().any(|again| again.names.are_of_one(&load.location.names)));
    }
    if loads.is_empty() {
        return vec![];
    }
    let is_tool = |entry: &&Entry<'_>| entry.is_tool() && handlers.contains(&entry.function);
    let tools = view.entries_with(Kinds::WRITE | Kinds::RENAME).filter(is_tool);
    tools.flat_map(|entry| of_entry(entry, objects, &loads)).collect()
}

fn of_entry(entry: &Entry<'_>, objects: &Objects, loads: &[Load]) -> Vec<Issue> {
    let mut gates = Gates::default();
    let mut issues = vec![];
    for (act, path) in named_files(entry) {
        let sources = data_dependences(entry, act, &mut gates);
        let found = sources.iter().filter(|read| has_name_of(entry, **read, path)).find_map(|read| {
            taken_from(entry, *read)?;
            let location = objects.location(entry, *read)?;
            let load = loads.iter().find(|load| location.names.depth_in(&load.location.names).is_some())?;
            Some((*read, load))
        });
        let Some((read, load)) = found else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judge(entry, read, act, load)));
    }
    issues
}

/// Whether what was taken out of memory has the name of a file in it.
fn has_name_of(entry: &Entry<'_>, read: At, path: &Term) -> bool {
    let (Some(Op::Read { into, .. }), Some(location)) = (entry.op(read), taken_from(entry, read)) else {
        return false;
    };
    let is_inside = |path: &Term| matches!(path, Term::Path(path) if path.begins_with(location) && path.fields.len() > location.fields.len());
    is_inside(path)
        || entry
            .flow()
            .values_in(path)
            .iter()
            .any(|name| name == into || entry.flow().depends_on(*name, *into))
}

fn judge(entry: &Entry<'_>, read: At, act: At, load: &Load) -> Result<Issue, Reason> {
    needs(entry.control().leads_to(read, act).is_some(), Reason::NotAfter)?;
    // A call that looks into any file before may have read this one again, under a name that is put together otherwise.
    let looks = |at: &At| {
        *at < act
            && matches!(
                entry.op(*at),
                Some(Op::Read { of: Resource::File(_), aspect: Aspect::Content | Aspect::Metadata, .. })
            )
    };
    unless(entry.steps_of(Kinds::READ).any(|at| looks(&at)), Reason::LoadedEachTime)?;
    unless(entry.control().is_recovery(act), Reason::OnlyInRecovery)?;
    let (thing, kept) = (entry.thing(act), entry.thing(read));
    let message = format!(
        "{thing} is written from a changed copy of {kept}, which this process has loaded when it began, so what another process of the same server \
         has written there since is lost"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let mut issue = Issue::at(entry, read, &[act], Reach::CrossProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, load.span, format!("has loaded {kept} when it began"))
        .step(Lane::B, load.span, format!("has loaded {kept} as well, in a process of its own"))
        .step(Lane::A, done, format!("writes {thing}"))
        .step(Lane::B, seen, format!("takes its own {kept} out of memory"))
        .step(Lane::B, done, format!("writes {thing} from there: A's change is gone"));
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}
