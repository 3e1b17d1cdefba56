//! Names that a file is only given where nothing has them yet: the check decides under which name the file is written, not whether it is.
//!
//! ```text
//! while (D / name).exists():          // both find `note_1.md` free
//!     count += 1
//!     name = f"note_{count}.md"
//! (D / name).write_text(text)         // and both write it
//! ```
//!
//! A name that carries chance or the time is nobody else's, and is left out here.

use interlock_model::ir::{AccessPath, Aspect, Effect, Exit, Fresh, Op, Resource, Root, Term, Value};

use crate::view::{At, Entry, Kinds};

/// The checks by which the name that an act goes by was found to be free, each with the read that asked.
pub(crate) fn chosen_names(entry: &Entry<'_>, act: At) -> Vec<(At, At)> {
    let Some(Resource::File(name)) = entry.resource(act) else { return vec![] };
    let named = entry.flow().values_in(name);
    if named.is_empty() {
        return vec![];
    }
    let asks = |op: &Op| matches!(op, Op::Read { aspect: Aspect::Existence, of: Resource::File(_), .. });
    let reads = entry.all(Kinds::READ, asks).take_while(|read| *read < act);
    let reads: Vec<At> = reads
        .filter(|read| entry.alias().overlap(*read, act).is_some() || is_one_of_its_names(entry, *read, act))
        .filter(|read| !is_nobody_elses(entry, *read))
        .collect();
    let Some(first) = reads.first() else { return vec![] };
    let checks = entry.steps_of(Kinds::CHECK).filter(|check| first < check && *check < act);
    let asked = checks.flat_map(|check| entry.flow().checked_reads(check).map(move |read| (check, read)));
    // A check that decides over nothing but a name is left out of the steps: what is left of it is the value that has one name or the other.
    let chosen = reads.iter().filter(|read| is_one_of_its_names(entry, **read, act)).filter_map(|read| {
        let site = named.iter().find_map(|name| entry.flow().definition_site(*name))?;
        (*read < site && site < act).then_some((site, *read))
    });
    let chosen: Vec<(At, At)> = chosen.collect();
    asked
        .filter(|(check, read)| read < check && reads.binary_search(read).is_ok())
        .filter(|(check, _)| ends_search(entry, *check, act, name) || renames(entry, *check, &named))
        .chain(chosen)
        .collect()
}

/// Whether a read asks for a name that carries chance or the time.
fn is_nobody_elses(entry: &Entry<'_>, read: At) -> bool {
    let Some(Resource::File(name)) = entry.resource(read) else { return false };
    let named = entry.flow().values_in(name);
    let is_fresh = |fresh: Fresh| entry.flow().is_made_of_fresh(&named, fresh);
    is_fresh(Fresh::Random) || is_fresh(Fresh::Time)
}

/// Whether what a read asks for is one of the names that the act may go by: `if exists(target): target = other`.
pub(crate) fn is_one_of_its_names(entry: &Entry<'_>, read: At, act: At) -> bool {
    let (
        Some(Op::Read { aspect: Aspect::Existence, .. }),
        Some(Resource::File(asked)),
        Some(Resource::File(Term::Path(AccessPath { root: Root::Value(name), fields }))),
    ) = (entry.op(read), entry.resource(read), entry.resource(act))
    else {
        return false;
    };
    let is_asked = |way: &Value| entry.alias().resolve(&(*way).into()) == *asked;
    fields.is_empty()
        && entry.flow().inputs(*name).len() > 1
        && entry.flow().inputs(*name).iter().any(is_asked)
}

/// Whether a check ends a loop that tries one name after another, and the act behind it goes by the last one.
fn ends_search(entry: &Entry<'_>, check: At, act: At, name: &Term) -> bool {
    let Some(head) = entry.control().loops(check).last().copied() else { return false };
    let Some(Op::Check { then, otherwise, .. }) = entry.op(check) else { return false };
    let breaks = [then, otherwise]
        .into_iter()
        .any(|way| matches!(way.last(), Some(Effect { op: Op::Exit(Exit::Break), .. })));
    let tried = |value: &Value| {
        let carried = |value: &Value| entry.flow().is_carried(*value);
        carried(value) || entry.flow().backward_slice(&[*value]).iter().any(carried)
    };
    breaks && !entry.control().encloses(head, act) && entry.flow().values_in(name).iter().any(tried)
}

/// Whether another name is made up where a check finds that the first is taken.
fn renames(entry: &Entry<'_>, check: At, named: &[Value]) -> bool {
    let made_there = |value: &Value| {
        entry.flow().definition_site(*value).is_some_and(|site| {
            entry.control().encloses(check, site) && entry.control().answer(check, site) == Some(true)
        })
    };
    named.iter().any(|name| entry.flow().inputs(*name).iter().any(made_there))
}
