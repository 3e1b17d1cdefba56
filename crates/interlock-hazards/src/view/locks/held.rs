//! Lock sets: the locks and transactions that hold at a step on every path that leads there.

use interlock_model::ir::{AccessPath, Lock, LockKind, Op, Scope, Term};

use crate::view::{At, Locks};

impl<'v, 'e> Locks<'v, 'e> {
    /// The acquisitions that hold at a step on every way that leads there.
    #[must_use]
    pub fn held(self, at: At) -> &'v [At] {
        self.0.control().fact_list(|here| here.held, at)
    }

    /// The transactions that are open at a step on every way that leads there.
    #[must_use]
    pub fn open(self, at: At) -> &'v [At] {
        self.0.control().fact_list(|here| here.open, at)
    }

    /// The locks that keep others out at a step, under resolved names.
    #[must_use]
    pub fn mutexes(self, at: At) -> Vec<Lock> {
        let lock = |held: &At| match self.0.op(*held) {
            Some(Op::Acquire { lock, .. }) => Some(self.resolve(lock)),
            _ => None,
        };
        let real = |lock: &Lock| lock.kind == LockKind::Mutex && !self.0.alias().is_made_here(&lock.object);
        let alone = |held: &&At| !self.is_shared_hold(**held);
        self.held(at).iter().filter(alone).filter_map(lock).filter(real).collect()
    }
}

impl<'v, 'e> Locks<'v, 'e> {
    /// The file that the one lock across processes held at a step is for: whoever locks a file and writes one means that file.
    pub(in crate::view) fn guarded_file(self, at: At) -> Option<Term> {
        let mut keys = self.held(at).iter().filter_map(|acquired| match self.0.op(*acquired) {
            Some(Op::Acquire { lock, .. }) if lock.scope == Scope::CrossProcess => lock.key.as_ref(),
            _ => None,
        });
        let key = keys.next()?;
        keys.next().is_none().then(|| self.0.alias().resolve(key))
    }

    /// A lock under resolved names.
    #[must_use]
    pub fn resolve(self, lock: &Lock) -> Lock {
        Lock {
            object: self.0.alias().resolve_path(&lock.object),
            key: lock.key.as_ref().map(|key| self.0.alias().resolve(key)),
            ..lock.clone()
        }
    }
}

impl<'v, 'e> Locks<'v, 'e> {
    /// Whether two locks under resolved names are sure to be one. A lock file is one by its path, wherever that was put together.
    #[must_use]
    pub fn are_one(self, one: &Lock, other: &Lock) -> bool {
        let same_path = || {
            one.scope == other.scope
                && self.path_of(one).is_some_and(|path| {
                    self.path_of(other).is_some_and(|other| path.names_the_same_as(&other))
                })
        };
        one.is_the_same_as(other) || same_path()
    }

    /// The path of a lock file, where it was put together of parts.
    pub(in crate::view) fn path_of(self, lock: &Lock) -> Option<Term> {
        let is_name = lock.key.is_none() && lock.scope == Scope::CrossProcess;
        let path = is_name.then(|| self.0.alias().resolve(&Term::Path(lock.object.clone())))?;
        matches!(path, Term::Join(_) | Term::Literal(_)).then_some(path)
    }

    /// Whether a lock, by its resolved name, is built like one that the tree builds itself.
    #[must_use]
    pub fn is_hand_made(self, lock: &AccessPath) -> bool {
        self.has_fields(&self.0.facts.hand_made, lock)
    }

    /// Whether a lock, by its resolved name, is built like one that keeps nobody out.
    pub(in crate::view) fn is_worthless(self, lock: &AccessPath) -> bool {
        self.has_fields(&self.0.facts.worthless, lock)
    }

    fn has_fields(self, locations: &crate::view::facts::Locations, path: &AccessPath) -> bool {
        locations.fields.contains(&path.fields)
            || (0..path.fields.len())
                .filter_map(|at| path.fields.get(at..))
                .any(|tail| locations.tails.contains(tail))
            || locations.others.iter().any(|other| self.0.alias().resolve_path(other).fields == path.fields)
    }

    /// Whether a map or list, by its resolved name, does not grow with every key.
    #[must_use]
    pub fn is_limited(self, path: &AccessPath) -> bool {
        let limited = &self.0.facts.limited;
        limited.fixed.contains(path)
            || limited.others.iter().any(|other| self.0.alias().resolve_path(other) == *path)
    }
}
