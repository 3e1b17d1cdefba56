//! Loops that start-up leaves running: they run beside calls although no call started them.
//!
//! ```text
//! def sweep():
//!     while True:
//!         for key in list(jobs):
//!             if jobs[key].done: del jobs[key]    # races with a tool that changes `jobs[key]`
//!         time.sleep(1)
//! threading.Thread(target=sweep).start()          # at start-up, and nobody waits for its end
//! ```
//!
//! A loop of which there is one in a process is no race with itself: it needs a tool that changes the same thing. What a timer or an event starts
//! is an entry point of its own ([`Runs::Event`]), and what a call starts belongs to the call.

use interlock_model::ir::{Bound, Field, Op, Resource, Root, Start, Term, WriteMode};

use super::{Entry, Kinds, Names, Objects, Pattern, Runs, View, entry::At};

/// A thing by the name that it has in the whole program.
#[derive(Debug)]
pub(super) enum Thing {
    Memory(Names, Vec<Field>),
    File(Pattern),
    Key(Pattern),
    Table(Term),
}

impl Entry<'_> {
    /// The spawn of a loop without an end that start-up leaves running, where a step is inside one. A loop that never pauses waits for somebody, such as
    /// the one that reads requests.
    #[must_use]
    pub(crate) fn background_loop(&self, at: At) -> Option<At> {
        if *self.runs != Runs::StartUp {
            return None;
        }
        let spawn = self.control().detached(at)?;
        let endless = |op: &Op| matches!(op, Op::Loop { bound: Bound::Unlimited, .. });
        let by_itself = matches!(self.op(spawn), Some(Op::Spawn { start: Start::Now, .. }));
        let around = self.control().around(at, endless)?;
        let pauses = |step: At| matches!(self.op(step), Some(Op::Sleep { .. }));
        (by_itself && self.control().encloses(spawn, around) && self.control().inside(around).any(pauses))
            .then_some(spawn)
    }
}

impl View<'_> {
    /// Whether a tool changes the thing that a step of another entry is on.
    pub(crate) fn is_changed_by_calls(&self, entry: &Entry<'_>, at: At) -> bool {
        let Some(thing) = thing(self.objects(), entry, at) else { return false };
        self.changed_by_calls().iter().any(|changed| changed.meets(&thing))
    }

    /// The things that tools replace: files, keys, tables and variables.
    pub(super) fn find_changed(&self) -> Vec<Thing> {
        let tools = self.entries_with(Kinds::CHANGES).filter(|other| other.is_tool());
        let changed = tools.flat_map(|tool| {
            let acts = tool.steps_of(Kinds::CHANGES).filter(move |act| replaces(tool, *act));
            acts.filter_map(move |act| thing(self.objects(), tool, act))
        });
        changed.collect()
    }
}

impl Thing {
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory(one, first), Self::Memory(other, second)) => {
                one.are_of_one(other) && first.iter().zip(second).all(|(one, other)| is_same_step(one, other))
            }
            (Self::File(one), Self::File(other)) | (Self::Key(one), Self::Key(other)) => {
                !one.is_open() && one.fits(other)
            }
            (Self::Table(one), Self::Table(other)) => one == other,
            _ => false,
        }
    }
}

fn is_same_step(one: &Field, other: &Field) -> bool {
    match (one, other) {
        (Field::Name(one), Field::Name(other)) => one == other,
        (Field::At(Term::Literal(one)), Field::At(Term::Literal(other))) => one == other,
        (Field::At(_), Field::At(_)) => true,
        _ => false,
    }
}

/// Whether a change takes the place of what was there, so that whoever has read it before is out of date.
fn replaces(entry: &Entry<'_>, act: At) -> bool {
    match entry.op(act) {
        Some(Op::Write { mode, .. }) => {
            matches!(mode, WriteMode::Blind | WriteMode::Conditional(_) | WriteMode::Atomic)
        }
        Some(Op::Delete { .. } | Op::Rename { .. }) => true,
        _ => false,
    }
}

fn thing(objects: &Objects, entry: &Entry<'_>, at: At) -> Option<Thing> {
    match entry.resource(at)? {
        Resource::Shared(path) => {
            let location = objects.location(entry, at)?;
            let is_named = |field: &&Field| matches!(field, Field::Name(_));
            let inside = path.fields.iter().skip_while(is_named).cloned().collect();
            let lasts = matches!(path.root, Root::Global(_) | Root::This) || entry.alias().is_shared(path);
            (lasts || *entry.runs == Runs::StartUp).then_some(Thing::Memory(location.names, inside))
        }
        Resource::File(path) => Some(Thing::File(entry.alias().pattern(path))),
        Resource::Key(key) => Some(Thing::Key(entry.alias().pattern(key))),
        Resource::Row { table, .. } => match entry.alias().resolve(table) {
            name @ Term::Literal(_) => Some(Thing::Table(name)),
            _ => None,
        },
        _ => None,
    }
}
