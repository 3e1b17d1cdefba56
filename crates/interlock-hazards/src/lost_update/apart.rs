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
#[derive(Debug, PartialEq)]
enum Known {
    /// A lock file.
    File(Pattern),
    /// A variable of a module.
    Variable(String),
}

/// Files that are read and written back under one lock, and written by others under another.
pub(super) fn apart(view: &View<'_>) -> Vec<Issue> {
    let runs = |entry: &&Entry<'_>| *entry.runs != Runs::StartUp;
    let changing = || view.entries_with(Kinds::ACQUIRE).filter(runs);
    let guarded: Vec<Guarded<'_, '_>> = changing().flat_map(changes).collect();
    // Of one lock alone nobody holds another.
    let all = guarded.iter().flat_map(|change| &change.locks);
    if !all.clone().any(|lock| all.clone().any(|other| lock.is_surely_not(other))) {
        return vec![];
    }
    let racing = changing().filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry, &guarded)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>, guarded: &[Guarded<'_, '_>]) -> Vec<Issue> {
    let mut gates = Gates::default();
    let mut issues = vec![];
    for own in guarded.iter().filter(|change| std::ptr::eq(change.entry, entry)) {
        let is_apart = |other: &&Guarded<'_, '_>| {
            other.file.fits(&own.file)
                && own.locks.iter().all(|lock| other.locks.iter().all(|held| lock.is_surely_not(held)))
                && view.are_of_one_program(entry, other.entry)
        };
        let Some(other) = guarded.iter().find(is_apart) else { continue };
        let reads = data_dependences(entry, own.act, &mut gates);
        let read = reads.into_iter().filter(|read| {
            entry.alias().overlap(*read, own.act) == Some(Overlap::Sure)
                && matches!(entry.op(*read), Some(Op::Read { .. }))
        });
        let Some(read) = read.max() else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[read, own.act], judge(entry, read, own, other)));
    }
    issues
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
    is_written_out(&file).then_some(Known::File(file))
}

/// Whether nobody chooses anything in a name.
fn is_written_out(name: &Pattern) -> bool {
    !name.is_open()
        && name.0.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Location(_) | Piece::TempDir))
}

impl Known {
    /// Whether two locks are certainly two: what one begins with, the other begins with as well, so that what comes behind it tells.
    fn is_surely_not(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => {
                let base = |pattern: &Pattern| {
                    pattern.0.first().filter(|piece| !matches!(piece, Piece::Text(_))).cloned()
                };
                one != other && base(one) == base(other)
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
