//! Who decides on tables, keys and files in the whole program, so that one can tell whether half of a change matters to anybody.

use std::{borrow::Cow, collections::BTreeSet};

use interlock_model::ir::{Op, Resource, Term, WriteMode};

use crate::view::{At, Entry, Kinds, Pattern, Piece, View};

/// What the whole program does to tables, keys and files: whether anybody decides on them.
pub(super) struct Readers {
    /// Tables whose rows somebody judges, changes or deletes.
    decided: BTreeSet<String>,
    /// Files that somebody reads.
    read: BTreeSet<Pattern>,
    keys: BTreeSet<Pattern>,
}

impl Readers {
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut readers = Self { decided: BTreeSet::new(), read: BTreeSet::new(), keys: BTreeSet::new() };
        for entry in view.entries_with(Kinds::TOUCHES) {
            readers.judged(entry);
            for at in entry.steps_of(Kinds::TOUCHES) {
                match (entry.op(at), entry.resource(at)) {
                    (Some(Op::Write { mode, .. }), resource) => {
                        let changes = !matches!(
                            mode,
                            WriteMode::Exclusive | WriteMode::Append | WriteMode::Ensure | WriteMode::Expiry
                        );
                        if changes
                            && let Some(table) = resource.and_then(|resource| table_of(entry, resource))
                        {
                            readers.decided.insert(table);
                        }
                    }
                    (Some(Op::Delete { .. }), Some(resource)) => {
                        readers.decided.extend(table_of(entry, resource))
                    }
                    (Some(Op::Read { .. }), Some(Resource::File(path))) => {
                        readers.read.insert(entry.alias().file_pattern(path));
                    }
                    (Some(Op::Read { .. }), Some(Resource::Key(key))) => {
                        readers.keys.insert(by_member(entry.alias().pattern(key)));
                    }
                    _ => {}
                }
            }
        }
        readers
    }

    /// What is checked or written decides, so the tables that it was read from are decided on.
    fn judged(&mut self, entry: &Entry<'_>) {
        let mut rows: BTreeSet<At> = entry
            .steps_of(Kinds::READ)
            .filter(|read| matches!(entry.resource(*read), Some(Resource::Row { .. })))
            .collect();
        for at in entry.steps_of(Kinds::CHECK | Kinds::WRITE) {
            // Each is noted once, and most entries have none.
            if rows.is_empty() {
                return;
            }
            let sources = match entry.op(at) {
                Some(Op::Check { .. }) => Cow::Borrowed(entry.flow().condition_sources(at)),
                _ => entry.flow().data_dependences(at),
            };
            for source in sources.iter().filter(|source| rows.remove(source)) {
                self.decided.extend(entry.resource(*source).and_then(|row| table_of(entry, row)));
            }
        }
    }

    /// Whether somebody looks at what a change leaves behind, so that half of it matters.
    pub(super) fn matters(&self, entry: &Entry<'_>, at: At) -> bool {
        match entry.resource(at) {
            Some(resource @ Resource::Row { .. }) => {
                table_of(entry, resource).is_some_and(|table| self.decided.contains(&table))
            }
            Some(Resource::File(path)) => {
                let pattern = entry.alias().file_pattern(path);
                pattern.fits(&pattern) && self.read.contains(&pattern)
            }
            Some(Resource::Key(key)) => match entry.op(at) {
                Some(Op::Write { mode: WriteMode::Append | WriteMode::Ensure, .. }) => {
                    let pattern = entry.alias().pattern(key);
                    pattern.fits(&pattern) && self.keys.contains(&by_member(pattern))
                        || is_moved_to(entry, at, key)
                }
                _ => true,
            },
            _ => false,
        }
    }
}

/// Whether what is put into a key was taken out of another one of the same form before, and only goes there if it was in that:
/// halfway it is in neither, and whoever is to take it out of the second will ask for it there.
fn is_moved_to(entry: &Entry<'_>, at: At, key: &Term) -> bool {
    let form = |key: &Term| by_member(entry.alias().pattern(key));
    let ours = form(key);
    if ours.is_open() || !ours.fits(&ours) {
        return false;
    }
    entry.flow().controlling_reads(at).any(|(_, taken)| {
        let takes =
            matches!(entry.op(taken), Some(Op::Write { mode: WriteMode::Atomic, .. } | Op::Delete { .. }));
        takes && matches!(entry.resource(taken), Some(Resource::Key(other)) if form(other) == ours)
    })
}

/// What an object keeps is called after the object by one and after itself by another: `this.prefix`, `sessions.prefix`.
fn by_member(mut pattern: Pattern) -> Pattern {
    for piece in &mut pattern.0 {
        if let Piece::Location(path) = piece
            && let Some((_, member)) = path.rsplit_once('.')
        {
            *path = member.to_owned();
        }
    }
    pattern
}

fn table_of(entry: &Entry<'_>, resource: &Resource) -> Option<String> {
    match resource {
        Resource::Row { table, .. } if **table != Term::Unknown => Some(entry.text(table).to_lowercase()),
        _ => None,
    }
}
