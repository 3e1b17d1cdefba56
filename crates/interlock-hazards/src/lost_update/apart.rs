//! Lost update under a lock: a file is read, changed and written back under one lock, and another call writes it under another one, so that both
//! hold a lock and neither keeps the other out.
//!
//! Reported:
//! ```text
//! withFileLock("agents.json", async () => {         // one tool
//!   const agents = await load("agents.json");       // reported here
//!   await save("agents.json", [...agents, agent]);
//! });
//! withFileLock("state", async () => { … await save("agents.json", others); });       // another tool
//! ```
//! Not reported:
//! ```text
//! withFileLock("state", …)                          // in both
//! withFileLock(lockOf(file), …)                     // of which nothing says that the two are not one
//! ```
//!
//! Only locks whose names are written out: two of which nothing is known may be one. A write without any lock is reported where it stands.

use std::collections::BTreeMap;

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Field, Lock, Op, Resource, Root, Scope, Term, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::{needs, unless},
    dependences::data_dependences,
    gates::Gates,
    keys::key_of,
    view::{At, Entry, Kinds, Overlap, Pattern, Piece, Runs, View},
};

use super::HAZARD;

/// A change of a file under locks.
struct Guarded<'v, 'e> {
    entry: &'v Entry<'e>,
    act: At,
    file: Pattern,
    locks: Vec<Known>,
}

/// A lock by the name that it has in the whole program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// A lock file: the variables that its path begins with, its folders, and its file name up to the first dot. Endings such as `.lock` are left out,
    /// because helpers add, replace or double them.
    File(Vec<Piece>, Vec<String>, String),
    /// A variable of a module.
    Variable(String),
}

/// So many sets of locks around one file are compared with each other.
const MOST_SETS: usize = 32;

/// Files that are read and written back under one lock, and written by others under another.
pub(super) fn apart(view: &View<'_>) -> Vec<Issue> {
    let runs = |entry: &&Entry<'_>| *entry.runs != Runs::StartUp;
    let guarded: Vec<Vec<Guarded<'_, '_>>> =
        view.entries_with(Kinds::ACQUIRE).filter(runs).map(changes).filter(|own| !own.is_empty()).collect();
    // Of those who hold the same locks around the same file one stands for all.
    let mut held: BTreeMap<&Pattern, BTreeMap<&[Known], &Guarded<'_, '_>>> = BTreeMap::new();
    for change in guarded.iter().flatten() {
        let sets = held.entry(&change.file).or_default();
        if sets.len() < MOST_SETS {
            sets.entry(&change.locks).or_insert(change);
        }
    }
    let mut issues = vec![];
    for own in guarded.iter().filter(|own| own.iter().any(|change| change.entry.runs_beside_itself())) {
        let mut gates = Gates::default();
        for change in own {
            let others = held.get(&change.file).into_iter().flat_map(BTreeMap::values);
            let mut others = others.filter(|other| other.is_apart_from(change));
            let other = others.find(|other| view.are_of_one_program(change.entry, other.entry));
            issues.extend(other.and_then(|other| of_change(change, other, &mut gates)));
        }
    }
    issues
}

impl Guarded<'_, '_> {
    fn is_apart_from(&self, other: &Self) -> bool {
        self.file.fits(&other.file)
            && self.locks.iter().all(|lock| other.locks.iter().all(|held| lock.is_surely_not(held)))
    }
}

fn of_change(own: &Guarded<'_, '_>, other: &Guarded<'_, '_>, gates: &mut Gates) -> Option<Issue> {
    let entry = own.entry;
    let reads = data_dependences(entry, own.act, gates);
    let read = reads.into_iter().filter(|read| {
        entry.alias().overlap(*read, own.act) == Some(Overlap::Sure)
            && matches!(entry.op(*read), Some(Op::Read { .. }))
    });
    let read = read.max()?;
    entry.settle(&HAZARD.id, &[read, own.act], judge(entry, read, own, other))
}

/// The changes of files by names that can be compared, each with the locks that are held at it.
fn changes<'v, 'e>(entry: &'v Entry<'e>) -> Vec<Guarded<'v, 'e>> {
    let replaced = entry.steps_of(Kinds::CHANGES).filter(|act| match entry.op(*act) {
        Some(Op::Write { mode, .. }) => *mode == WriteMode::Blind,
        other => matches!(other, Some(Op::Delete { .. } | Op::Rename { .. })),
    });
    let guarded = replaced.filter_map(|act| {
        let Some(Resource::File(path)) = entry.resource(act) else { return None };
        let locks = entry.locks().mutexes(act);
        let locks: Option<Vec<Known>> = locks.iter().map(|lock| known(entry, lock)).collect();
        let locks = locks.filter(|locks| !locks.is_empty())?;
        let file = entry.alias().file_pattern(path);
        is_written_out(&file).then_some(Guarded { entry, act, file, locks })
    });
    guarded.collect()
}

fn known(entry: &Entry<'_>, lock: &Lock) -> Option<Known> {
    let named = match &lock.key {
        Some(key) if lock.scope == Scope::CrossProcess => key.clone(),
        None => entry.alias().resolve(&lock.object.clone().into()),
        _ => return None,
    };
    if let Term::Path(path @ AccessPath { root: Root::Global(_), fields }) = &named {
        let is_plain = fields.iter().all(|field| matches!(field, Field::Name(_)));
        return is_plain.then(|| Known::Variable(entry.alias().location_text(path)));
    }
    let file = entry.alias().file_pattern(&named);
    if is_written_out(&file) { lock_file(&file) } else { None }
}

/// A lock file by what its path comes to: `./a.lock`, `data/../a.lock` and `a.lock` are one.
fn lock_file(path: &Pattern) -> Option<Known> {
    let begins = path.0.iter().take_while(|piece| !matches!(piece, Piece::Text(_))).cloned().collect();
    let mut text = String::new();
    for piece in path.0.iter().skip_while(|piece| !matches!(piece, Piece::Text(_))) {
        match piece {
            Piece::Text(part) => text.push_str(part),
            // A constant in the middle stands for itself, whatever signs its own name has.
            Piece::Location(name) => {
                text.extend(name.chars().map(|c| if "/\\.".contains(c) { '_' } else { c }))
            }
            _ => return None,
        }
    }
    let mut steps: Vec<&str> = vec![];
    for step in text.split(['/', '\\']) {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => {
                steps.pop();
            }
            step => steps.push(step),
        }
    }
    let (last, folders) = steps.split_last()?;
    let stem = last.trim_start_matches('.').split('.').next().unwrap_or(last);
    Some(Known::File(begins, folders.iter().map(ToString::to_string).collect(), stem.to_lowercase()))
}

/// Whether nobody chooses anything in a name.
fn is_written_out(name: &Pattern) -> bool {
    !name.is_open()
        && name.0.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Location(_) | Piece::TempDir))
}

impl Known {
    /// Whether two locks are certainly two: variables of different names, or paths that begin with the same variables and have other folders or another
    /// file name. Paths that begin with different variables may still lead to one file.
    fn is_surely_not(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(base, folders, stem), Self::File(other, others, name)) => {
                base == other && (folders, stem) != (others, name)
            }
            (Self::Variable(one), Self::Variable(other)) => one != other,
            _ => false,
        }
    }
}

fn judge(
    entry: &Entry<'_>,
    read: At,
    own: &Guarded<'_, '_>,
    other: &Guarded<'_, '_>,
) -> Result<Issue, Reason> {
    let act = own.act;
    let window = entry.locks().race_window(read, act).ok_or(Reason::NotAfter)?;
    needs(window.is_locked(), Reason::ReportedElsewhere)?;
    unless(entry.control().is_recovery(act), Reason::OnlyInRecovery)?;
    let name = |entry: &Entry<'_>, act: At| {
        let lock = entry.locks().mutexes(act).into_iter().next_back()?;
        Some(match &lock.key {
            Some(key) => entry.quoted(key),
            None => entry.quoted(&entry.alias().resolve(&Term::Path(lock.object))),
        })
    };
    let lock = name(entry, act).ok_or(Reason::OutOfScope)?;
    let held = name(other.entry, other.act).ok_or(Reason::OutOfScope)?;
    let thing = entry.thing(act);
    let message = format!(
        "{thing} is read, changed and written back under the lock {lock}, and another call writes it under {held}, so neither keeps the other out \
         and one change is lost although both are answered with success"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let foreign = other.entry.position(other.act, &[]);
    let across = window.is_locked_across_processes();
    let reach = if across { Reach::Both } else { Reach::InProcess };
    let mut issue = Issue::at(entry, read, &[act], reach, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("reads {thing} under {lock}"))
        .step(Lane::B, foreign, format!("writes it under {held}"))
        .step(Lane::A, done, format!("writes {thing} back: B's change is gone"));
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}
