//! Gates: why a stale read does not matter. The call has claimed the thing since, has checked again, or is the only one that gets this far.

use std::{collections::HashMap, rc::Rc};

use interlock_model::ir::{Aspect, Op, Resource, Value, WriteMode};

use crate::{
    dependences::is_stored,
    view::{At, Entry, Kinds, Overlap, View},
};

/// Whether the call made the thing its own before the race window: by a write right behind the read, or by one that only succeeds if the
/// read is still true and whose outcome decided that the act runs.
pub(crate) fn is_claimed(view: &View<'_>, entry: &Entry<'_>, read: At, act: At) -> bool {
    let detached = entry.control().detached(act).is_some();
    let between = |at: &At| *at > read && *at != act && (*at < act || is_outside(entry, *at, act));
    entry.steps_of(Kinds::WRITE | Kinds::DELETE).filter(between).any(|claim| {
        // Which way control takes is the dearest question, so it is asked last.
        let comes_first = || is_outside(entry, claim, act) || entry.control().leads_to(claim, act).is_some();
        if entry.alias().overlap(claim, act) != Some(Overlap::Sure) || !comes_first() {
            return false;
        }
        match entry.op(claim) {
            Some(Op::Write { mode: WriteMode::Conditional(_) | WriteMode::Exclusive, outcome, .. }) => {
                let decided = |value: &Value| {
                    entry.control().control_dependences(act).iter().any(|check| match entry.op(*check) {
                        Some(Op::Check { on, .. }) => {
                            on.iter().any(|on| entry.flow().depends_on(*on, *value))
                        }
                        _ => false,
                    })
                };
                outcome.as_ref().is_some_and(decided)
            }
            Some(Op::Write { mode: WriteMode::Blind | WriteMode::Atomic, .. })
            | Some(Op::Write { mode: WriteMode::Ensure, to: Resource::Shared(_), .. }) => {
                entry.control().leads_to(read, claim).is_some()
                    && view.reach(entry, read, claim).is_none()
                    && (detached
                        || entry
                            .control()
                            .control_dependences(act)
                            .starts_with(entry.control().control_dependences(claim)))
            }
            _ => false,
        }
    })
}

/// Whether a step is one of the starter of something that runs detached: what runs detached comes after everything that its starter does
/// without waiting.
fn is_outside(entry: &Entry<'_>, at: At, detached: At) -> bool {
    entry.control().detached(detached).is_some_and(|spawn| !entry.control().encloses(spawn, at))
}

/// The questions about memory that an entry asks and answers itself, found once for all its acts.
#[derive(Default)]
pub(crate) struct Gates {
    known: HashMap<At, Gate>,
    /// Which reads let only the first one pass.
    firsts: HashMap<At, bool>,
}

/// What a call does to the thing that it has looked at.
#[derive(Default, Clone)]
struct Gate {
    /// Whether it writes it at all, so that the next one finds it closed.
    closes: bool,
    /// The writes that come before anybody else can look.
    taken: Rc<[At]>,
}

impl Gates {
    fn at(&mut self, entry: &Entry<'_>, read: At) -> Gate {
        self.known.entry(read).or_insert_with(|| Gate::of(entry, read)).clone()
    }

    /// Whether a read of memory lets only the first one pass: the call sets afterwards what it asked for, and has not loaded it
    /// before.
    pub(crate) fn only_first(&mut self, entry: &Entry<'_>, read: At) -> bool {
        if let Some(known) = self.firsts.get(&read) {
            return *known;
        }
        let only = self.at(entry, read).closes && !is_loaded(entry, read);
        self.firsts.insert(read, only);
        only
    }

    /// Whether another question behind a suspension took the place of a read of memory: one about the same thing, or about a flag
    /// that this call sets afterwards, so that it passes only once. The story is reported from there. That the entry is still there says
    /// nothing of the state that was judged before: `if (order.paid) throw …`, and later `if (!orders.get(id)) throw …`.
    pub(crate) fn asked_later(&mut self, entry: &Entry<'_>, read: At, act: At, judged: bool) -> bool {
        let is_weaker = |check: At, later: At| {
            judged && checks_presence(entry, check, later) && entry.alias().overlap(read, later).is_some()
        };
        matches!(entry.resource(act), Some(Resource::Shared(_)))
            && entry.flow().controlling_reads(act).any(|(check, later)| {
                later > read
                    && !is_weaker(check, later)
                    && entry.control().leads_to(read, later) == Some(true)
                    && self.at(entry, later).closes
            })
    }

    /// Whether a flag or a kept promise lets one call of the process at a time come to an act: it was asked, and taken before
    /// anybody else could ask.
    pub(crate) fn single_flight(&mut self, entry: &Entry<'_>, read: At, act: At) -> bool {
        let detached = entry.control().detached(act).is_some();
        let before = |taken: &At| {
            let first = *taken < act || is_outside(entry, *taken, act);
            first && (detached || entry.control().leads_to(*taken, act).is_some())
        };
        entry.flow().controlling_reads(act).any(|(_, gate)| {
            gate != read
                && is_in_memory(entry, gate)
                && entry.alias().overlap(gate, act).is_none()
                && self.at(entry, gate).taken.iter().any(before)
                && !is_opened(entry, gate)
        })
    }
}

/// The reads before an act whose answer was asked about before it.
pub(crate) fn asked_before(entry: &Entry<'_>, act: At) -> Vec<At> {
    let checks = entry.steps_of(Kinds::CHECK).take_while(|check| *check < act);
    let asked = checks.flat_map(|check| entry.flow().checked_reads(check).filter(move |read| *read < check));
    let mut reads: Vec<At> = asked.filter(|read| matches!(entry.op(*read), Some(Op::Read { .. }))).collect();
    reads.sort_unstable();
    reads.dedup();
    reads
}

/// Whether the call has itself opened a gate before it asks, and always does: then it finds it open, whoever else is inside.
fn is_opened(entry: &Entry<'_>, gate: At) -> bool {
    let Some(Resource::Shared(asked)) = entry.resource(gate) else { return false };
    let opens = |at: At| {
        matches!(entry.resource(at), Some(Resource::Shared(set)) if set.fields.len() == asked.fields.len())
            && entry.alias().overlap(at, gate) == Some(Overlap::Sure)
            && entry.control().leads_to(at, gate).is_some()
            && entry
                .control()
                .control_dependences(at)
                .iter()
                .all(|check| entry.control().control_dependences(gate).contains(check))
    };
    entry.steps_of(Kinds::WRITE | Kinds::DELETE).take_while(|at| *at < gate).any(opens)
}

impl Gate {
    fn of(entry: &Entry<'_>, read: At) -> Self {
        if !is_in_memory(entry, read) {
            return Self::default();
        }
        let writes = entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }));
        let same: Vec<(At, bool)> = writes
            .filter(|write| entry.alias().overlap(read, *write) == Some(Overlap::Sure))
            .filter_map(|write| Some((write, entry.control().leads_to(read, write)?)))
            .collect();
        // Who puts a key into a set that is there already changes nothing, and who has asked before knows that it is not.
        let blind = |at: &At| {
            matches!(entry.op(*at), Some(Op::Write { mode: WriteMode::Blind | WriteMode::Ensure, .. }))
        };
        // Counting on from what was seen, then or once more, lets more than one in; so does changing a part of it.
        let counts_on = |at: At, from: At| {
            from == read
                || is_in_memory(entry, from) && entry.alias().overlap(from, at) == Some(Overlap::Sure)
        };
        let shuts = |at: &At| {
            let fields = |at: At| match entry.resource(at) {
                Some(Resource::Shared(path)) => path.fields.len(),
                _ => 0,
            };
            fields(*at) == fields(read)
                && !entry.flow().data_dependences(*at).iter().any(|from| counts_on(*at, *from))
        };
        let at_once = same.iter().filter(|(_, suspends)| !suspends).map(|(at, _)| *at);
        let taken = at_once.filter(blind).filter(shuts).collect();
        Self { closes: !same.is_empty(), taken }
    }
}

/// Whether the call has loaded what it looks at in memory before.
fn is_loaded(entry: &Entry<'_>, read: At) -> bool {
    let Some(Resource::Shared(location)) = entry.resource(read) else { return false };
    let loads = |store: At| {
        entry.alias().sets(store, location)
            && entry.flow().data_dependences(store).iter().any(|from| is_stored(entry, *from))
            && entry.control().leads_to(store, read).is_some()
    };
    let writes = entry.all(Kinds::WRITE, |op| matches!(op, Op::Write { to: Resource::Shared(_), .. }));
    writes.take_while(|store| *store < read).any(loads)
}

/// Whether a check asks of what a read saw only whether it is there.
pub(crate) fn checks_presence(entry: &Entry<'_>, check: At, read: At) -> bool {
    match (entry.op(check), entry.op(read)) {
        (_, Some(Op::Read { aspect: Aspect::Existence, .. })) => true,
        (Some(Op::Check { on, equal: None, .. }), Some(Op::Read { into, .. })) => on.as_slice() == [*into],
        _ => false,
    }
}

/// Whether a step looks at something in memory.
fn is_in_memory(entry: &Entry<'_>, read: At) -> bool {
    matches!(entry.op(read), Some(Op::Read { of: Resource::Shared(_), .. }))
}

/// Whether a write only makes what a read before it did not find: nothing is lost then, and the read is judged elsewhere.
pub(crate) fn is_made_because_missing(entry: &Entry<'_>, at: At) -> bool {
    // A write computed from the content of the same file replaces that content; it is no first version.
    let says = |read: &At| matches!(entry.op(*read), Some(Op::Read { aspect: Aspect::Content, .. }));
    if entry
        .flow()
        .data_dependences(at)
        .iter()
        .any(|read| says(read) && entry.alias().overlap(*read, at).is_some())
    {
        return false;
    }
    entry.flow().controlling_reads(at).any(|(check, source)| {
        // `exists && !isFile` is untrue of what is there as well.
        let says_nothing =
            || entry.control().answer(check, at) == Some(false) && entry.control().is_conjunction(check);
        let asks =
            matches!(entry.op(source), Some(Op::Read { aspect: Aspect::Existence | Aspect::Metadata, .. }));
        let found_leads_here = || {
            entry
                .control()
                .branch(check, true)
                .into_iter()
                .any(|step| step == at || entry.control().leads_to(step, at).is_some())
        };
        asks && entry.alias().overlap(source, at).is_some() && !found_leads_here() && !says_nothing()
    })
}

/// Whether a read is at something in memory that the same call writes later: a gate that the next one finds closed.
pub(crate) fn passes_once(entry: &Entry<'_>, read: At) -> bool {
    Gate::of(entry, read).closes
}
