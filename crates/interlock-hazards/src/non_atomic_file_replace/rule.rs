//! A torn read of a file: it is emptied and filled in place, or through a temporary name that two calls share.
//!
//! Reported:
//! ```text
//! await writeFile(STATE, JSON.stringify(state));    // reported here: readFile(STATE) elsewhere gets half of it
//! ```
//! Not reported:
//! ```text
//! const temporary = `${STATE}.${randomUUID()}`;
//! await writeFile(temporary, JSON.stringify(state));
//! await rename(temporary, STATE);                   // whoever reads gets the old one or the new one
//! ```
//!
//! A file that nobody here reads back is left alone. That two calls overwrite each other's content is `lost-update`; a folder
//! that is there for the time of one call is in `scratch.rs`.

use std::{cell::OnceCell, collections::HashMap};

use interlock_model::{
    Confidence, Lane, Reach, Span,
    ir::{AccessPath, Aspect, Field, Fresh, Op, Origin, Resource, Root, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    gates::{Gates, is_made_because_missing},
    keys::key_of,
    lexicon::Topic,
    view::{At, Entry, Kinds, Names, Pattern, Piece, Runs, View},
};

use super::{HAZARD, scratch::scratch};

/// Finds `non-atomic-file-replace`.
pub(super) fn rule(view: &View<'_>) -> Vec<Issue> {
    let reads = Reads::of(view);
    let mut found = vec![];
    // Before calls are accepted nobody reads.
    for entry in view.entries_with(Kinds::WRITE).filter(|entry| *entry.runs != Runs::StartUp) {
        let mut reported: Vec<At> = vec![];
        for at in entry.all(Kinds::WRITE, |op| {
            matches!(op, Op::Write { to: Resource::File(_), mode: WriteMode::Blind, .. })
        }) {
            // Opening a file for writing empties it, and what is written to it then is the same story.
            let goes_on = |first: &At| {
                let only_opens = matches!(entry.op(*first), Some(Op::Write { from, .. }) if from.is_empty());
                only_opens
                    && entry.resource(*first) == entry.resource(at)
                    && entry.control().leads_to(*first, at).is_some()
            };
            let judged = unless(reported.iter().any(goes_on), Reason::ReportedElsewhere)
                .and_then(|()| judge(view, entry, at, &reads));
            if let Some(issue) = entry.settle(&HAZARD.id, &[at], judged) {
                reported.push(at);
                found.push(issue);
            }
        }
    }
    for entry in view.entries_with(Kinds::RENAME).filter(|entry| *entry.runs != Runs::StartUp) {
        for rename in entry.all(Kinds::RENAME, |op| matches!(op, Op::Rename { from: Resource::File(_), .. }))
        {
            let judged = moved_in(entry, rename, &reads);
            found.extend(entry.settle(&HAZARD.id, &[rename], judged));
        }
    }
    found.extend(scratch(view));
    found
}

/// A file that was filled by somebody who is not seen, in the system's temporary folder, and is then moved in the place of another.
fn moved_in(entry: &Entry<'_>, rename: At, reads: &Reads<'_, '_>) -> Result<Issue, Reason> {
    let (Some(Op::Rename { from: Resource::File(temp), .. }), Some(Resource::File(target))) =
        (entry.op(rename), entry.resource(rename))
    else {
        return Err(Reason::OutOfScope);
    };
    let is_elsewhere = |name: &Term| entry.alias().pattern(name).0.contains(&Piece::TempDir);
    needs(is_elsewhere(temp) && !is_elsewhere(target), Reason::OutOfScope)?;
    let writes = |op: &Op| matches!(op, Op::Write { to: Resource::File(_), mode: WriteMode::Blind, .. });
    let is_seen = entry.all(Kinds::WRITE, writes).any(|at| renamed_later(entry, at) == Some(rename));
    unless(is_seen, Reason::ReportedElsewhere)?;
    let (_, confidence) = read_back(entry, rename, target, reads).ok_or(Reason::NobodyReads)?;
    Ok(out_of_the_temporary_folder(entry, rename, rename, target, confidence))
}

/// The files that entries read as state.
struct Reads<'v, 'e> {
    view: &'v View<'e>,
    /// By what they are called, in the order of entries.
    by_name: HashMap<Pattern, Vec<Reader<'v, 'e>>>,
    /// By what they are called in the whole program, once somebody asks.
    in_program: OnceCell<Vec<(Names, Span)>>,
}

/// A step that reads a file.
#[derive(Clone, Copy)]
struct Reader<'v, 'e> {
    entry: &'v Entry<'e>,
    at: At,
    /// Whether it is a tool's, and its caller has chosen the file: it is not one of a few that stand in the source.
    is_callers: bool,
}

impl<'v, 'e> Reads<'v, 'e> {
    fn of(view: &'v View<'e>) -> Self {
        let mut by_name: HashMap<Pattern, Vec<Reader<'_, '_>>> = HashMap::new();
        for entry in view.entries_with(Kinds::READ) {
            for at in reads(entry) {
                let Some(Resource::File(path)) = entry.resource(at) else { continue };
                let fixed = || match path {
                    Term::Path(path) => match path.root {
                        Root::Value(value) => entry.flow().is_own_flag(value),
                        _ => false,
                    },
                    _ => false,
                };
                let is_callers = is_called(entry) && !fixed();
                let readers = by_name.entry(entry.alias().file_pattern(path)).or_default();
                readers.push(Reader { entry, at, is_callers });
            }
        }
        Self { view, by_name, in_program: OnceCell::new() }
    }

    /// Whether whoever reads a file lets that fail, one of them writes it anew where it is no good, and nobody writes it from what it said
    /// before: what is wrong in it is worked out once more.
    fn heals_itself(&self, writer: &Entry<'_>, path: &Term) -> bool {
        let pattern = writer.alias().file_pattern(path);
        let Some(readers) = self.by_name.get(&pattern).filter(|_| pattern.fits(&pattern)) else {
            return false;
        };
        let mut is_made_anew = false;
        for Reader { entry, at, .. } in readers {
            if !entry.control().is_caught(*at) {
                return false;
            }
            let is_it = |write: &At| match entry.resource(*write) {
                Some(Resource::File(path)) => entry.alias().file_pattern(path) == pattern,
                _ => false,
            };
            for write in entry.steps_of(Kinds::WRITE).filter(is_it) {
                if entry.flow().data_dependences(write).contains(at) {
                    return false;
                }
                is_made_anew |= entry.flow().controlling_reads(write).any(|(_, read)| read == *at);
            }
        }
        is_made_anew
    }

    /// Who else reads a file of that name, in the same program; from the same source file rather than from another.
    fn reader(&self, writer: &Entry<'_>, written: Span, pattern: &Pattern, callers: bool) -> Option<Span> {
        let found = self.by_name.get(pattern)?.iter().filter(|reader| {
            (reader.is_callers || !callers) && self.view.are_of_one_program(writer, reader.entry)
        });
        let mut first = None;
        for span in found.map(|reader| reader.entry.position(reader.at, &[])) {
            if span.file == written.file {
                return Some(span);
            }
            first = first.or(Some(span));
        }
        first
    }

    /// Where the file of a step is read by whoever knows it under another name: as a field of the object that start-up made.
    fn elsewhere(&self, entry: &Entry<'_>, at: At) -> Option<Span> {
        let file = self.view.objects().file(entry, at)?;
        let reads = self.in_program.get_or_init(|| {
            let all =
                self.view.entries_with(Kinds::READ).flat_map(|entry| reads(entry).map(move |at| (entry, at)));
            let named = |(entry, at): (&Entry<'_>, At)| {
                Some((self.view.objects().file(entry, at)?, entry.position(at, &[])))
            };
            all.filter_map(named).collect()
        });
        reads.iter().find(|(read, _)| read.are_of_one(&file)).map(|(_, span)| *span)
    }
}

/// The steps at which an entry reads files as state. Who copies one takes it as it is.
fn reads(entry: &Entry<'_>) -> impl Iterator<Item = At> {
    let copies = |read: At| {
        let span = entry.span(read);
        (read + 1..entry.steps.len())
            .take_while(|at| entry.span(*at) == span)
            .any(|at| matches!(entry.op(at), Some(Op::Write { to: Resource::File(_), .. })))
    };
    let of_file = |op: &Op| matches!(op, Op::Read { of: Resource::File(_), aspect: Aspect::Content, .. });
    entry.all(Kinds::READ, of_file).filter(move |read| !copies(*read))
}

/// Whether what an entry is given is what a caller has chosen. What a part of a tool is given was perhaps made up on the way.
fn is_called(entry: &Entry<'_>) -> bool {
    matches!(entry.runs, Runs::Call(_))
}

fn judge(view: &View<'_>, entry: &Entry<'_>, at: At, reads: &Reads<'_, '_>) -> Result<Issue, Reason> {
    let Some(Resource::File(path)) = entry.resource(at) else { return Err(Reason::OutOfScope) };
    if let Some(rename) = renamed_later(entry, at).filter(|rename| is_temporary(entry, at, *rename)) {
        return through_a_temporary_file(view, entry, at, rename, reads);
    }
    let (reader, confidence) = read_back(entry, at, path, reads).ok_or(Reason::NobodyReads)?;
    let confidence = match reads.heals_itself(entry, path) {
        true if is_called_a_cache(entry, at, path) => Confidence::Low,
        true => confidence.min(Confidence::Medium),
        false => confidence,
    };
    unless(is_made_because_missing(entry, at), Reason::MadeBecauseMissing)?;
    unless(is_of_its_own(entry, path), Reason::NameOfItsOwn)?;
    unless(is_in_own_folder(entry, at, path), Reason::NameOfItsOwn)?;
    // What is the same whoever comes is torn only until all of it is there for the first time.
    let confidence = if is_constant(entry, at) { confidence.min(Confidence::Medium) } else { confidence };
    let name = entry.quoted(path);
    let location = entry.position(at, &[]);
    let message = format!(
        "the file {name} is emptied and then filled, so whoever reads it meanwhile gets half of it, and a crash leaves it so"
    );
    let issue = Issue::at(entry, at, &[], reach(view, entry, at), message)
        .no_surer_than(confidence)
        .step(Lane::A, location, format!("empties {name} and begins to write"))
        .step(Lane::B, reader, format!("reads {name}: nothing, or the first half"))
        .step(Lane::X, location, "a crash here leaves it like that for good");
    Ok(with_key(entry, at, issue))
}

/// Whether a file, or the function that writes it, is called after what is kept only not to be asked for again.
fn is_called_a_cache(entry: &Entry<'_>, at: At, path: &Term) -> bool {
    let is_cache = |name: &str| entry.lexicon().has_word_of(Topic::Cache, name);
    is_cache(&entry.text(path)) || is_cache(&entry.function_name(entry.function_of(at)))
}

/// Whether the name is another one each time, so that nothing is replaced: a backup that carries the time.
fn is_of_its_own(entry: &Entry<'_>, path: &Term) -> bool {
    entry.alias().is_another_each_time(path) || is_handed_on(entry, path)
}

/// Whether a file is in a folder that this call has made, and would have failed to make if somebody else had.
fn is_in_own_folder(entry: &Entry<'_>, at: At, path: &Term) -> bool {
    let whole = entry.alias().spell(path);
    let makes = |op: &Op| matches!(op, Op::Write { to: Resource::File(_), mode: WriteMode::Exclusive, .. });
    let is_inside = |made: At| match entry.resource(made) {
        Some(Resource::File(folder)) => {
            let folder = entry.alias().spell(folder);
            let (whole, folder) = (parts(&whole), parts(&folder));
            whole.len() > folder.len() && whole.starts_with(&folder)
        }
        _ => false,
    };
    let before = entry.all(Kinds::WRITE, makes).take_while(|made| *made < at);
    before.filter(|made| is_inside(*made)).any(|made| entry.control().leads_to(made, at).is_some())
}

/// Whether what is written is the same whoever comes and whenever: nothing of a caller's is in it, and nothing that was found out.
fn is_constant(entry: &Entry<'_>, at: At) -> bool {
    let Some(Op::Write { from, .. }) = entry.op(at) else { return false };
    let is_given = |value: &Value| entry.flow().origin(*value).is_some_and(|origin| origin != Origin::Step);
    let is_fixed = |source: &At| match entry.resource(*source) {
        Some(Resource::Shared(path)) => entry.is_never_set(path),
        _ => false,
    };
    !from.is_empty()
        && !entry.flow().backward_slice(from).iter().any(is_given)
        && entry.flow().sources_of(from).iter().all(is_fixed)
}

/// Whether a name was made up by somebody who hands it on with more, and calls it one there: `made.path`.
fn is_handed_on(entry: &Entry<'_>, path: &Term) -> bool {
    let is_member = |path: &AccessPath| match (&path.root, path.fields.as_slice()) {
        (Root::Value(made), [Field::Name(name)]) => {
            entry.lexicon().has_inside(Topic::FileName, name)
                && entry.flow().is_made_of_fresh(&[*made], Fresh::Random)
        }
        _ => false,
    };
    match path {
        Term::Join(parts) => parts.iter().any(|part| is_handed_on(entry, part)),
        Term::Path(path @ AccessPath { root: Root::Value(value), fields }) => {
            if fields.is_empty() {
                entry.alias().field_path(*value).is_some_and(is_member)
            } else {
                is_member(path)
            }
        }
        _ => false,
    }
}

/// Where some entry reads the file of a step under a name that this one can have, and how sure that is.
fn read_back(entry: &Entry<'_>, at: At, path: &Term, known: &Reads<'_, '_>) -> Option<(Span, Confidence)> {
    let same_value = |at: &At| match entry.resource(*at) {
        Some(Resource::File(other)) => other.names_the_same_as(path),
        _ => false,
    };
    // A read behind the write in the same call sees the whole file, unless another call is writing it at that moment.
    let control = entry.control();
    let looks_back = |read: &At| control.comes_before(at, *read) && !control.comes_before(*read, at);
    let own: Vec<At> = reads(entry).filter(same_value).collect();
    if let Some(read) = own.iter().find(|read| !looks_back(read)) {
        return Some((entry.position(*read, &[]), Confidence::High));
    }
    let elsewhere = || known.elsewhere(entry, at).map(|reader| (reader, Confidence::Medium));
    let back = || own.first().map(|read| (entry.position(*read, &[]), Confidence::Medium));
    read_as(entry, at, path, known).or_else(elsewhere).or_else(back)
}

fn read_as(entry: &Entry<'_>, at: At, path: &Term, known: &Reads<'_, '_>) -> Option<(Span, Confidence)> {
    let pattern = entry.alias().file_pattern(path);
    if !pattern.fits(&pattern) {
        return None;
    }
    let written = entry.position(at, &[]);
    if !pattern.is_open() {
        // Two objects may have a field of one name.
        let sure =
            if let [Piece::Base(_)] = pattern.0.as_slice() { Confidence::Medium } else { Confidence::High };
        return known.reader(entry, written, &pattern, false).map(|reader| (reader, sure));
    }
    // What two tools let their callers choose may be the same file; elsewhere every caller has its own in mind.
    let reader = is_called(entry).then(|| known.reader(entry, written, &pattern, true)).flatten()?;
    Some((reader, Confidence::Medium))
}

/// The rename that puts what was written in its place.
fn renamed_later(entry: &Entry<'_>, at: At) -> Option<At> {
    let written = entry.resource(at)?;
    entry.all(Kinds::RENAME, |op| matches!(op, Op::Rename { from: Resource::File(_), .. })).find(|rename| {
        let Some(Op::Rename { from, .. }) = entry.op(*rename) else { return false };
        entry.alias().resolve_resource(from) == *written && entry.control().leads_to(at, *rename).is_some()
    })
}

/// Whether a file that is moved was only written for that: it is called after the one that it becomes, or says so. A file of the
/// caller's that gets another name is none.
fn is_temporary(entry: &Entry<'_>, at: At, rename: At) -> bool {
    let (Some(Resource::File(temp)), Some(Resource::File(target))) =
        (entry.resource(at), entry.resource(rename))
    else {
        return false;
    };
    let made_up = |piece: &Piece| matches!(piece, Piece::Fresh(_) | Piece::TempDir | Piece::Unknown);
    // What the other is called after stands at the end of its name: both may well be in one folder.
    let (temp_parts, target_parts) = (parts(temp), parts(target));
    let named = target_parts.iter().rev().find(|part| matches!(part, Term::Path(_)));
    named.is_none_or(|part| temp_parts.contains(part))
        || entry.alias().pattern(temp).0.iter().any(made_up)
        || entry.lexicon().has_inside(Topic::Temporary, &entry.text(temp))
}

/// What a name is put together from.
fn parts(name: &Term) -> Vec<&Term> {
    match name {
        Term::Join(inner) => inner.iter().flat_map(parts).collect(),
        part => vec![part],
    }
}

fn through_a_temporary_file(
    view: &View<'_>,
    entry: &Entry<'_>,
    at: At,
    rename: At,
    reads: &Reads<'_, '_>,
) -> Result<Issue, Reason> {
    let (Some(Resource::File(temp)), Some(Resource::File(target))) =
        (entry.resource(at), entry.resource(rename))
    else {
        return Err(Reason::OutOfScope);
    };
    let (_, confidence) = read_back(entry, rename, target, reads).ok_or(Reason::NobodyReads)?;
    let pieces = entry.alias().pattern(temp).0;
    let counts = is_counted(entry, temp);
    let has = |fresh: Fresh| pieces.contains(&Piece::Fresh(fresh)) || (fresh == Fresh::Counter && counts);
    let name = entry.quoted(target);
    let story = [at, rename];
    let (write, replace) = (entry.position(at, &story), entry.position(rename, &story));
    if pieces.contains(&Piece::TempDir) {
        return Ok(out_of_the_temporary_folder(entry, at, rename, target, confidence));
    }
    // A piece of what chance gave is as good: `Math.random().toString(36).slice(2)`.
    let by_chance = || entry.flow().is_made_of_fresh(&entry.flow().values_in(temp), Fresh::Random);
    let own = has(Fresh::Random)
        || by_chance()
        || (has(Fresh::ProcessId) && has(Fresh::Counter))
        || pieces.contains(&Piece::Unknown);
    unless(own, Reason::NameOfItsOwn)?;
    let reach = if has(Fresh::Counter) {
        // A counter tells the calls of one process apart, but two processes count alike.
        view.runs_per_client().then_some(Reach::CrossProcess).ok_or(Reason::NameOfItsOwn)?
    } else {
        let reach = view.interference(entry, at, rename)?;
        match (has(Fresh::ProcessId), reach) {
            (true, Reach::CrossProcess) => return Err(Reason::NameOfItsOwn),
            (true, _) => Reach::InProcess,
            (false, reach) => reach,
        }
    };
    // A flag that lets one call of the process at a time come this far leaves other processes.
    let alone = Gates::default().single_flight(entry, at, rename);
    let reach = match (reach, alone) {
        (Reach::InProcess, true) => return Err(Reason::SingleFlight),
        (Reach::Both, true) => Reach::CrossProcess,
        (reach, _) => reach,
    };
    let varies = match (has(Fresh::ProcessId), has(Fresh::Time), has(Fresh::Counter)) {
        (_, _, true) => "counts in each process alike",
        (_, true, _) => "is the same for two calls of one instant",
        (true, _, _) => "is the same for all calls of the process",
        _ => "is always the same",
    };
    let message = format!(
        "the temporary name {} {varies}, so two calls write into one file and the first rename publishes what the second has written so far",
        entry.quoted(temp)
    );
    let sure = if has(Fresh::Time) || alone { Confidence::Medium } else { Confidence::High };
    let issue = Issue::at(entry, at, &story, reach, message)
        .no_surer_than(sure)
        .no_surer_than(confidence)
        .step(Lane::A, write, "writes the temporary file")
        .step(Lane::B, write, "empties the same temporary file and begins to write")
        .step(Lane::A, replace, format!("renames it to {name}: B's unfinished half is published"))
        .step(Lane::B, replace, "finds its temporary file gone");
    Ok(with_key(entry, rename, issue))
}

fn out_of_the_temporary_folder(
    entry: &Entry<'_>,
    at: At,
    rename: At,
    target: &Term,
    confidence: Confidence,
) -> Issue {
    let (name, story) = (entry.quoted(target), [at, rename]);
    let (write, replace) = (entry.position(at, &story), entry.position(rename, &story));
    let message = format!(
        "{name} is replaced by a move out of the system's temporary folder, which fails or copies piece by piece where that is another file system"
    );
    let issue = Issue::at(entry, rename, &story, Reach::Both, message)
        .no_surer_than(confidence)
        .step(Lane::A, write, "writes in the temporary folder")
        .step(Lane::A, replace, format!("moves it to {name}: across file systems this is no single step"))
        .step(Lane::B, replace, format!("reads {name} half written, or not at all"));
    with_key(entry, rename, issue)
}

/// Whether a name has a part that this call counts up: read from a place that it also writes.
fn is_counted(entry: &Entry<'_>, name: &Term) -> bool {
    let parts = entry.flow().sources_of(&entry.flow().values_in(name));
    let counts = |read: &At| {
        matches!(entry.resource(*read), Some(Resource::Shared(_)))
            && entry.steps_of(Kinds::WRITE).any(|write| entry.alias().overlap(*read, write).is_some())
    };
    parts.iter().any(counts)
}

/// Who can see it half done: in one process only somebody who runs while it is waited for and does not ask for the same lock.
fn reach(view: &View<'_>, entry: &Entry<'_>, at: At) -> Reach {
    let inside = (entry.control().is_awaited(at) || entry.control().lets_others_in(at))
        && entry.locks().mutexes(at).is_empty();
    match (inside, view.runs_per_client()) {
        (true, true) => Reach::Both,
        (true, false) => Reach::InProcess,
        (false, _) => Reach::CrossProcess,
    }
}

fn with_key(entry: &Entry<'_>, at: At, mut issue: Issue) -> Issue {
    issue.keys = entry.resource(at).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    issue
}
