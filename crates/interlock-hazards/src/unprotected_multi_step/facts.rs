//! What the whole program does with tables, keys and files, so that one can tell whether half of a change matters to anybody.

use std::collections::BTreeSet;

use interlock_model::ir::{Op, Resource, Term, Value, WriteMode};

use crate::view::{At, Entry, Pattern, View};

/// What the whole program does to tables, keys and files: whether anybody decides on them.
pub(super) struct Facts {
    /// Tables whose rows somebody judges, changes or deletes.
    decided: BTreeSet<String>,
    /// Files that somebody reads.
    read: BTreeSet<Pattern>,
    keys: BTreeSet<Pattern>,
}

impl Facts {
    pub(super) fn of(view: &View<'_>) -> Self {
        let mut facts = Self { decided: BTreeSet::new(), read: BTreeSet::new(), keys: BTreeSet::new() };
        for entry in &view.entries {
            for at in 0..entry.steps.len() {
                match (entry.op(at), entry.resource(at)) {
                    (Some(Op::Check { on, .. }), _) => facts.judged(entry, on),
                    (Some(Op::Write { mode, from, .. }), resource) => {
                        facts.judged(entry, from);
                        let changes = !matches!(
                            mode,
                            WriteMode::Exclusive | WriteMode::Append | WriteMode::Ensure | WriteMode::Expiry
                        );
                        if changes
                            && let Some(table) = resource.and_then(|resource| table_of(entry, resource))
                        {
                            facts.decided.insert(table);
                        }
                    }
                    (Some(Op::Delete { .. }), Some(resource)) => {
                        facts.decided.extend(table_of(entry, resource))
                    }
                    (Some(Op::Read { .. }), Some(Resource::File(path))) => {
                        facts.read.insert(entry.pattern(path));
                    }
                    (Some(Op::Read { .. }), Some(Resource::Key(key))) => {
                        facts.keys.insert(entry.pattern(key));
                    }
                    _ => {}
                }
            }
        }
        facts
    }

    /// Values decide, so the tables that they were read from are decided on.
    fn judged(&mut self, entry: &Entry<'_>, values: &[Value]) {
        for source in entry.sources_of(values) {
            if let (Some(Op::Read { .. }), Some(resource)) = (entry.op(source), entry.resource(source)) {
                self.decided.extend(table_of(entry, resource));
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
                let pattern = entry.pattern(path);
                pattern.fits(&pattern) && self.read.contains(&pattern)
            }
            Some(Resource::Key(key)) => match entry.op(at) {
                Some(Op::Write { mode: WriteMode::Append | WriteMode::Ensure, .. }) => {
                    let pattern = entry.pattern(key);
                    pattern.fits(&pattern) && self.keys.contains(&pattern)
                }
                _ => true,
            },
            _ => false,
        }
    }
}

fn table_of(entry: &Entry<'_>, resource: &Resource) -> Option<String> {
    match resource {
        Resource::Row { table, .. } if **table != Term::Unknown => Some(entry.text(table).to_lowercase()),
        _ => None,
    }
}
