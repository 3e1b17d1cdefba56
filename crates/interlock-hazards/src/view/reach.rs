//! The whole program as rules see it, and interference: who can come into the race window between two steps of a call.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use interlock_model::{
    Reach,
    ir::{FunctionId, Lock, Op, Program, Resource, Scope, Term, Transport, Value},
};

use crate::{Lexicon, Reason, candidates, check_act::Pair};

use super::{
    Expanded, Facts, Kinds, Objects, RaceWindow,
    background::Thing,
    beside,
    entry::{At, Entry},
};

/// Everything that a rule may look at.
#[derive(Debug)]
pub struct View<'e> {
    /// The program as the front ends lowered it.
    pub program: &'e Program,
    /// Every entry point.
    pub entries: Vec<Entry<'e>>,
    /// What kinds of steps each of them has, side by side: most rules pass most entries by.
    kinds: Vec<Kinds>,
    /// What several rules ask for of each entry, found once.
    check_act_pairs: Vec<OnceLock<Vec<Pair>>>,
    /// Whether the server may run more than once on the same files and databases.
    per_client: bool,
    /// For each function, the entries that get to it.
    entered: OnceLock<HashMap<FunctionId, Vec<usize>>>,
    /// The objects of the whole program, once somebody asks.
    objects: OnceLock<Objects>,
    /// The things that tools replace. Found once a rule asks about a loop that start-up leaves running.
    changed: OnceLock<Vec<Thing>>,
}

impl<'e> View<'e> {
    /// What rules see of a program.
    #[must_use]
    pub fn new(program: &'e Program, expanded: &'e [Expanded]) -> Self {
        let facts = Arc::new(Facts::of(program));
        Self::of(program, expanded.iter().map(|expanded| Entry::new(program, &facts, expanded)).collect())
    }

    /// The same, of entries that are laid out already.
    #[must_use]
    pub fn of(program: &'e Program, mut entries: Vec<Entry<'e>>) -> Self {
        beside::mark(program, &mut entries);
        let check_act_pairs = entries.iter().map(|_| OnceLock::new()).collect();
        let mut transports = program.servers.iter().map(|server| server.transport);
        let per_client = program.servers.is_empty() || transports.any(|one| one == Transport::Stdio);
        let kinds = entries.iter().map(Entry::kinds).collect();
        Self {
            program,
            entries,
            kinds,
            check_act_pairs,
            per_client,
            entered: OnceLock::new(),
            objects: OnceLock::new(),
            changed: OnceLock::new(),
        }
    }

    /// The entries that have a step of one of some kinds.
    pub fn entries_with(&self, kinds: Kinds) -> impl Iterator<Item = &Entry<'e>> {
        let has = move |(_, known): &(&Entry<'e>, &Kinds)| known.meets(kinds);
        self.entries.iter().zip(&self.kinds).filter(has).map(|(entry, _)| entry)
    }

    /// Finds out ahead what several rules ask of one entry. Who has threads can so have them share the work.
    pub fn prepare(&self, entry: usize) {
        self.pairs_of(entry);
    }

    /// The check-act pairs of one entry.
    pub(crate) fn pairs_of(&self, index: usize) -> &[Pair] {
        let (Some(known), Some(entry)) = (self.check_act_pairs.get(index), self.entries.get(index)) else {
            return &[];
        };
        known.get_or_init(|| candidates::of_entry(self, index, entry))
    }

    /// What places are called in the whole program.
    pub(crate) fn objects(&self) -> &Objects {
        self.objects.get_or_init(|| Objects::of(self.program))
    }

    /// The things that tools replace.
    pub(super) fn changed_by_calls(&self) -> &[Thing] {
        self.changed.get_or_init(|| self.find_changed())
    }

    /// What names say.
    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.entries.first().map_or_else(|| Lexicon::built_in(), Entry::lexicon)
    }

    /// The entries that get to a function.
    pub(crate) fn entries_of(&self, function: FunctionId) -> impl Iterator<Item = &Entry<'e>> {
        let entered = self.entered.get_or_init(|| {
            let mut entered: HashMap<FunctionId, Vec<usize>> = HashMap::new();
            for (index, entry) in self.entries.iter().enumerate() {
                for function in entry.functions() {
                    let known = entered.entry(function).or_default();
                    if known.last() != Some(&index) {
                        known.push(index);
                    }
                }
            }
            entered
        });
        entered.get(&function).into_iter().flatten().filter_map(|index| self.entries.get(*index))
    }
}

impl View<'_> {
    /// Whether the server may run more than once on the same files and databases: one on standard streams runs once per client, and
    /// one of which nothing is known may be of that kind.
    #[must_use]
    pub const fn runs_per_client(&self) -> bool {
        self.per_client
    }

    /// The handlers that are known to be called in a server that runs once per client. Servers of one package share theirs.
    #[must_use]
    pub fn called_per_client(&self) -> HashSet<FunctionId> {
        let servers = self.program.servers.iter().filter(|server| server.transport == Transport::Stdio);
        let mut lists: Vec<&Arc<[FunctionId]>> = servers.map(|server| &server.handlers).collect();
        lists.dedup_by(|one, other| Arc::ptr_eq(one, other));
        lists.into_iter().flat_map(|handlers| handlers.iter().copied()).collect()
    }

    /// Whether two entries may run in one program. Handlers that no server of the tree serves together have nothing to do with each
    /// other: a tree may hold many servers.
    #[must_use]
    pub(crate) fn are_of_one_program(&self, one: &Entry<'_>, other: &Entry<'_>) -> bool {
        let mut servers = self.program.servers.iter();
        let (mut has_one, mut has_other) = (false, false);
        let serves_both = servers.any(|server| {
            let serves = |entry: &Entry<'_>| server.handlers.contains(&entry.function);
            let (first, second) = (serves(one), serves(other));
            has_one |= first;
            has_other |= second;
            first && second
        });
        serves_both || !(has_one && has_other)
    }

    /// Who can change what the first step saw before the second takes effect; `None` if nobody can, or if the second never comes
    /// after the first.
    #[must_use]
    pub fn reach(&self, entry: &Entry<'_>, first: At, second: At) -> Option<Reach> {
        self.interference(entry, first, second).ok()
    }

    /// The same, or why nobody can.
    pub(crate) fn interference(&self, entry: &Entry<'_>, first: At, second: At) -> Result<Reach, Reason> {
        let resource = entry.resource(second).or_else(|| entry.resource(first)).ok_or(Reason::OutOfScope)?;
        // What only this process has is out of reach while the call is not suspended, whichever way it takes.
        let across = crosses_processes(resource) && self.runs_per_client();
        if !across && !entry.control().may_be_suspended(first, second) && !entry.locks().is_waited_for(second)
        {
            return Err(Reason::NoSuspension);
        }
        let window = entry.locks().race_window(first, second).ok_or(Reason::NotAfter)?;
        self.reach_of(entry, &window, resource).ok_or_else(|| window.why_closed())
    }

    /// Who can come into a race window around a resource.
    #[must_use]
    pub fn reach_of(&self, entry: &Entry<'_>, window: &RaceWindow, resource: &Resource) -> Option<Reach> {
        if window.transaction {
            return None;
        }
        let wide_enough = |lock: &&Lock| is_as_wide_as(entry, lock, resource);
        let inside = window.suspends && !window.locks.iter().any(|lock| wide_enough(&lock));
        let across = crosses_processes(resource)
            && self.runs_per_client()
            && !window.locks.iter().filter(wide_enough).any(|lock| lock.scope == Scope::CrossProcess);
        match (inside, across) {
            (true, true) => Some(Reach::Both),
            (true, false) => Some(Reach::InProcess),
            (false, true) => Some(Reach::CrossProcess),
            (false, false) => None,
        }
    }
}

/// Whether other processes share it.
pub(super) fn crosses_processes(resource: &Resource) -> bool {
    matches!(resource, Resource::File(_) | Resource::Row { .. } | Resource::Key(_))
}

/// Whether everybody who touches the resource takes the same lock. A lock with a key that has nothing to do with the resource's name
/// lets two calls with different keys at the same thing.
fn is_as_wide_as(entry: &Entry<'_>, lock: &Lock, resource: &Resource) -> bool {
    let Some(key) = &lock.key else { return true };
    let mut needed = entry.flow().values_in(key);
    needed.retain(|value| varies(entry, *value));
    if needed.is_empty() {
        return true;
    }
    let named: Vec<Value> = match resource {
        Resource::File(term) | Resource::Key(term) => {
            if matches!(term, Term::Unknown) {
                return true;
            }
            entry.flow().values_in(term)
        }
        Resource::Row { key, .. } => {
            if matches!(**key, Term::Unknown) {
                return true;
            }
            entry.flow().values_in(key)
        }
        Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => {
            Term::Path(path.clone()).mentioned()
        }
    };
    // A name that was computed depends on the same things, even where it does not mention them.
    let depends = |value: &Value| {
        named.contains(value)
            || named
                .iter()
                .any(|name| entry.flow().depends_on(*name, *value) || entry.flow().depends_on(*value, *name))
    };
    needed.iter().any(depends)
}

/// Whether something may be another thing in each call. What the call makes of nothing but what is written there is not:
/// `open("notes.lock", "w")`.
fn varies(entry: &Entry<'_>, value: Value) -> bool {
    let is_made_here = |value: &Value| {
        let made = entry.flow().definition_site(*value).and_then(|at| entry.op(at));
        matches!(made, Some(Op::Derive { .. } | Op::New { .. })) && !entry.flow().is_drawn(*value)
    };
    !entry.flow().backward_slice(&[value]).iter().all(is_made_here)
}
