//! State that a process loads once and then writes back whole: what another process of the same server has written since is lost.

use std::collections::{HashMap, HashSet};

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{AccessPath, Aspect, Field, Op, Resource, Root, Term, WriteMode},
};

use crate::{
    Issue,
    claim::Gates,
    feed::{fed_by, is_loaded_once},
    keys::key_of,
    view::{At, Entry, Kinds, Runs, View},
};

/// Where a process keeps in memory what it has loaded from a file.
struct Load {
    place: Place,
    span: Span,
}

/// A variable or field that lives as long as the process.
struct Place {
    /// Its name in the whole program, which no other place has.
    whole: String,
    /// What the source calls it.
    name: String,
}

/// Calls that write a file from what their process has loaded at its start. A server on standard streams runs once per client.
pub(super) fn kept(view: &View<'_>) -> Vec<Issue> {
    let handlers = view.called_per_client();
    if handlers.is_empty() {
        return vec![];
    }
    let objects = Objects::of(view);
    // By the name of the file, as it is in the whole program.
    let mut loads: HashMap<String, Vec<Load>> = HashMap::new();
    // Who loads again when something happens knows that others write.
    let mut again: HashSet<String> = HashSet::new();
    for entry in view.entries_with(Kinds::WRITE).filter(|entry| entry.has(Kinds::READ)) {
        let mut gates = Gates::default();
        for (store, read) in stores(entry) {
            let (Some(place), Some(file)) =
                (place_of(entry, store, &objects), file_of(entry, read, &objects))
            else {
                continue;
            };
            let once = *entry.runs == Runs::StartUp || is_loaded_once(entry, read, &mut gates);
            if once {
                loads.entry(file).or_default().push(Load { place, span: entry.span(read) });
            } else {
                again.insert(place.whole);
            }
        }
    }
    for loads in loads.values_mut() {
        loads.retain(|load| !again.contains(&load.place.whole));
    }
    if loads.values().all(Vec::is_empty) {
        return vec![];
    }
    let mut found: Vec<(&Load, Issue)> = vec![];
    let is_tool = |entry: &&Entry<'_>| entry.is_tool() && handlers.contains(&entry.function);
    for entry in view.entries_with(Kinds::WRITE).filter(is_tool) {
        let puts = |op: &Op| matches!(op, Op::Write { mode: WriteMode::Blind, .. } | Op::Rename { .. });
        for act in entry.all(Kinds::WRITE | Kinds::RENAME, puts) {
            let Some(loads) = file_of(entry, act, &objects).and_then(|file| loads.get(&file)) else {
                continue;
            };
            let changed = |load| Some((load, changed_before(entry, act, load, &objects)?));
            let Some((load, change)) = loads.iter().find_map(changed) else { continue };
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
fn stores(entry: &Entry<'_>) -> Vec<(At, At)> {
    let mut found = vec![];
    for store in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. })) {
        let reads = |from: &At| {
            matches!(entry.op(*from), Some(Op::Read { of: Resource::File(_), aspect: Aspect::Content, .. }))
        };
        found.extend(entry.fed_by(store).iter().copied().filter(reads).map(|read| (store, read)));
    }
    found
}

/// The variable or field that a step puts something into, as a whole or in part.
fn place_of(entry: &Entry<'_>, at: At, objects: &Objects) -> Option<Place> {
    let Some(Resource::Shared(path)) = entry.resource(at) else { return None };
    let named = path.fields.iter().take_while(|field| matches!(field, Field::Name(_))).count();
    let mut whole = path.clone();
    whole.fields = path.fields.iter().take(named).cloned().collect();
    Some(Place { whole: objects.text(entry, &whole), name: entry.path_text(&whole) })
}

/// The file that a step touches, if it is the same one for every call and every process.
fn file_of(entry: &Entry<'_>, at: At, objects: &Objects) -> Option<String> {
    let Some(Resource::File(term)) = entry.resource(at) else { return None };
    is_fixed(entry, term).then(|| in_program(entry, term, objects))
}

fn in_program(entry: &Entry<'_>, term: &Term, objects: &Objects) -> String {
    match term {
        Term::Path(path) => objects.text(entry, path),
        Term::Join(parts) => parts.iter().map(|part| in_program(entry, part, objects)).collect(),
        other => entry.text(other),
    }
}

/// Where start-up keeps the objects that it makes, by their class: whoever handles calls in one of them calls it `this`.
struct Objects(HashMap<String, Option<String>>);

impl Objects {
    fn of(view: &View<'_>) -> Self {
        let mut kept: HashMap<String, Option<String>> = HashMap::new();
        for entry in view.entries_with(Kinds::WRITE).filter(|entry| *entry.runs == Runs::StartUp) {
            for at in entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. })) {
                let Some(Resource::Shared(path)) = entry.resource(at) else { continue };
                if !matches!(path.root, Root::Global(_)) || !path.fields.is_empty() {
                    continue;
                }
                for made in entry.called_at(at) {
                    let name = entry.function_name(made);
                    let Some(class) = name.strip_suffix(".constructor") else { continue };
                    // Of several objects of a class nobody knows which one it is.
                    let place = entry.place_text(path);
                    let known = kept.entry(class.to_owned()).or_insert_with(|| Some(place.clone()));
                    if known.as_ref() != Some(&place) {
                        *known = None;
                    }
                }
            }
        }
        Self(kept)
    }

    /// What a place is called in the whole program.
    fn text(&self, entry: &Entry<'_>, path: &AccessPath) -> String {
        match path.root {
            Root::Value(_) => entry.path_text(path),
            Root::Global(_) => entry.place_text(path),
            Root::This => {
                let (name, own) = (entry.function_name(entry.function), entry.place_text(path));
                let class = name.split('.').next().unwrap_or_default();
                match self.0.get(class) {
                    Some(Some(object)) => own.replacen("this", object, 1),
                    _ => own,
                }
            }
        }
    }
}

fn is_fixed(entry: &Entry<'_>, term: &Term) -> bool {
    match term {
        Term::Literal(_) => true,
        Term::Path(path) => match &path.root {
            Root::Global(_) | Root::This => true,
            Root::Value(_) => entry.is_shared(path),
        },
        Term::Join(parts) => parts.iter().all(|part| is_fixed(entry, part)),
        _ => false,
    }
}

/// Where a call has changed what is kept at a place, before a step that writes all of it.
fn changed_before(entry: &Entry<'_>, act: At, load: &Load, objects: &Objects) -> Option<At> {
    let place = load.place.whole.as_str();
    let mut gates = Gates::default();
    let mut comes_from_it =
        |at: At| fed_by(entry, at, &mut gates).iter().any(|from| is_at(entry, *from, place, objects));
    if !comes_from_it(act) {
        return None;
    }
    // What is put in place of all that was there was not meant to keep any of it.
    let mut keeps_the_rest = |change: At| match entry.op(change) {
        Some(Op::Write { mode: WriteMode::Blind, .. }) => {
            is_part(entry, change, place, objects) || comes_from_it(change)
        }
        Some(Op::Write { .. } | Op::Delete { .. }) => true,
        _ => false,
    };
    let mut changes = entry.steps_of(Kinds::WRITE | Kinds::DELETE).filter(|change| *change < act);
    changes.find(|change| {
        is_at(entry, *change, place, objects)
            && keeps_the_rest(*change)
            && entry.leads_to(*change, act).is_some()
    })
}

/// Whether a step touches what is kept at a place, or something in it.
fn is_at(entry: &Entry<'_>, at: At, place: &str, objects: &Objects) -> bool {
    let inside = |touched: Place| match touched.whole.strip_prefix(place) {
        Some(rest) => rest.is_empty() || rest.starts_with('.'),
        None => false,
    };
    place_of(entry, at, objects).is_some_and(inside)
}

/// Whether a step touches only a part of it.
fn is_part(entry: &Entry<'_>, at: At, place: &str, objects: &Objects) -> bool {
    let by_key = matches!(entry.resource(at), Some(Resource::Shared(path)) if {
        path.fields.iter().any(|field| matches!(field, Field::At(_)))
    });
    by_key || place_of(entry, at, objects).is_some_and(|touched| touched.whole != place)
}

fn issue(entry: &Entry<'_>, change: At, act: At, load: &Load) -> Issue {
    let thing = entry.thing(act);
    let place = &load.place.name;
    let message = format!(
        "{thing} was loaded into `{place}` once and is written back from there as a whole, so what another process of the same server has \
         written since is lost"
    );
    let (changed, written) = (entry.place(change, &[act]), entry.place(act, &[change]));
    let mut issue = Issue::at(entry, act, &[change], Reach::CrossProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, load.span, format!("has loaded {thing} into `{place}` when it began"))
        .step(Lane::B, load.span, format!("has loaded {thing} as well, in a process of its own"))
        .step(Lane::A, written, format!("writes {thing}"))
        .step(Lane::B, changed, format!("changes its own `{place}`"))
        .step(Lane::B, written, format!("writes {thing} from there: A's change is gone"));
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}
