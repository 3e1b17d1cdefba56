//! Lost update through a cache: an entry of what the process keeps in memory is changed in a copy, the copy is written to the file of the
//! entry, and only then is the memory brought up to date.
//!
//! Reported:
//! ```text
//! const task = index.byId.get(id);                  // reported here: both calls get the same state
//! await writeFile(task.path, render({ ...task, status }));
//! index = await scan(ROOT);                         // by then the other has made its own from the old one
//! ```
//! Not reported:
//! ```text
//! index.byId.set(id, next);                         // before anybody else has a turn
//! await writeFile(next.path, render(next));
//! ```
//!
//! Only where the name of the file comes from the entry or from its key, and where the same call renews what it has taken the entry from.
//! What is put back into memory from a copy is `stale-read-across-await`.

use interlock_model::{
    Confidence, Lane, Reach,
    ir::{AccessPath, Aspect, Op, Resource, Term, Value, WriteMode},
};

use crate::{
    Issue, Reason,
    decision::unless,
    dependences::{data_dependences, is_stored},
    gates::Gates,
    keys::key_of,
    view::{At, Entry, Kinds, View},
};

use super::HAZARD;

/// The writes of what was made of an entry in memory that is renewed only later.
pub(super) fn cached(view: &View<'_>) -> Vec<Issue> {
    let racing = view.entries_with(Kinds::WRITE).filter(|entry| entry.runs_beside_itself());
    racing.flat_map(|entry| of_entry(view, entry)).collect()
}

fn of_entry(view: &View<'_>, entry: &Entry<'_>) -> Vec<Issue> {
    let renewals: Vec<At> = entry
        .all(Kinds::WRITE, |op| {
            matches!(op, Op::Write { to: Resource::Shared(_), mode: WriteMode::Blind, .. })
        })
        .collect();
    if renewals.is_empty() {
        return vec![];
    }
    let mut gates = Gates::default();
    let mut issues = vec![];
    for (act, path) in named_files(entry) {
        let sources = data_dependences(entry, act, &mut gates);
        // What is read from the file itself is for `rule.rs` to tell.
        if sources.iter().any(|read| is_stored(entry, *read) && entry.alias().overlap(*read, act).is_some()) {
            continue;
        }
        let is_its_own = |read: &&At| names_file(entry, **read, path);
        let found = sources.iter().filter(is_its_own).find_map(|read| {
            let location = taken_from(entry, *read)?;
            let renewed = renewals.iter().copied().find(|renewal| {
                *renewal > act
                    && entry.alias().sets(*renewal, location)
                    && entry.control().leads_to(act, *renewal).is_some()
            })?;
            Some((*read, renewed))
        });
        let Some((read, renewed)) = found else { continue };
        issues.extend(entry.settle(&HAZARD.id, &[read, act], judge(view, entry, (read, act, renewed))));
    }
    issues
}

/// The steps that put something in place of a whole file.
pub(super) fn replaced_files(entry: &Entry<'_>) -> impl Iterator<Item = At> {
    let puts = |op: &Op| {
        matches!(
            op,
            Op::Write { to: Resource::File(_), mode: WriteMode::Blind, .. }
                | Op::Rename { to: Resource::File(_), .. }
        )
    };
    entry.all(Kinds::WRITE | Kinds::RENAME, puts)
}

/// Those whose file another call may know by the same name.
pub(super) fn named_files<'v>(entry: &'v Entry<'_>) -> impl Iterator<Item = (At, &'v Term)> {
    replaced_files(entry).filter_map(move |act| match entry.resource(act) {
        Some(Resource::File(path)) if !entry.alias().is_another_each_time(path) => Some((act, path)),
        _ => None,
    })
}

/// Where in memory a read has taken something from that other calls see as well.
pub(super) fn taken_from<'v>(entry: &'v Entry<'_>, read: At) -> Option<&'v AccessPath> {
    match (entry.op(read), entry.resource(read)) {
        (Some(Op::Read { aspect: Aspect::Content, .. }), Some(Resource::Shared(location)))
            if entry.alias().is_shared(location) =>
        {
            Some(location)
        }
        _ => None,
    }
}

/// Whether the name of a file comes from what was taken out of memory, or from the key it was taken by.
fn names_file(entry: &Entry<'_>, read: At, path: &Term) -> bool {
    let (Some(Op::Read { into, .. }), Some(location)) = (entry.op(read), taken_from(entry, read)) else {
        return false;
    };
    let mut own = vec![*into];
    for field in &location.fields {
        if let interlock_model::ir::Field::At(key) = field {
            own.extend(entry.flow().values_in(key));
        }
    }
    let named = entry.flow().values_in(path);
    let comes_from = |name: &Value| own.iter().any(|own| own == name || entry.flow().depends_on(*name, *own));
    named.iter().any(comes_from)
}

fn judge(view: &View<'_>, entry: &Entry<'_>, (read, act, renewed): (At, At, At)) -> Result<Issue, Reason> {
    // Who changes it in place, before anybody else has a turn, has no copy.
    let changes = |at: At| {
        read < at
            && at < act
            && matches!(entry.resource(at), Some(Resource::Shared(_)))
            && entry.alias().overlap(read, at).is_some()
    };
    unless(entry.steps_of(Kinds::CHANGES).any(changes), Reason::ReplacesCurrent)?;
    // Where the cache entry itself is written back from the stale copy, the lost update of the cache is reported instead.
    unless(entry.flow().data_dependences(renewed).contains(&read), Reason::ReportedElsewhere)?;
    view.interference(entry, read, renewed)?;
    let (thing, kept) = (entry.thing(act), entry.thing(read));
    let message = format!(
        "{thing} is written from a changed copy of {kept}, which the process keeps and renews only afterwards, so of two calls at once one change \
         is lost although both are answered with success"
    );
    let (seen, done) = (entry.position(read, &[act]), entry.position(act, &[read]));
    let mut issue = Issue::at(entry, read, &[act], Reach::InProcess, message)
        .no_surer_than(Confidence::Medium)
        .step(Lane::A, seen, format!("takes {kept} out of memory"))
        .step(Lane::B, seen, format!("takes {kept} out of memory"))
        .step(Lane::A, done, format!("writes {thing}"))
        .step(Lane::B, done, format!("writes {thing}: A's change is gone"));
    issue.keys = entry.resource(act).and_then(|resource| key_of(entry, resource)).into_iter().collect();
    Ok(issue)
}
