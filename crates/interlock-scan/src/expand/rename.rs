//! A copy of steps in the values of another function.

use interlock_model::ir::{
    AccessPath, Argument, Callee, Comparison, Condition, Exit, Field, Fields, Lock, Op, Resource, Root, Term,
    Transaction, Value, Via, WriteMode,
};

use super::later::NOBODY;

/// How the values and the receiver of one function are called in another.
pub(super) struct Rename<'r> {
    /// What the first values are called.
    pub(super) ports: &'r [Value],
    /// What is added to the number of every other value, beyond the largest number if it becomes less.
    pub(super) offset: u32,
    /// What `this` is; `None` where it stays what it is.
    pub(super) this: Option<&'r AccessPath>,
    /// Who knows what the members of what was given back are, where they are called by that.
    pub(super) apart: Option<&'r dyn Apart>,
}

/// Who knows what the members of a value are.
pub(super) trait Apart {
    /// What a member is that a path leads to.
    fn member(&self, path: &AccessPath) -> Option<AccessPath>;
}

impl Rename<'_> {
    pub(super) fn value(&self, value: Value) -> Value {
        match self.ports.get(value.0 as usize) {
            Some(port) => *port,
            None if value == NOBODY => NOBODY,
            None => Value(value.0.wrapping_add(self.offset)),
        }
    }

    pub(super) fn values(&self, values: &[Value]) -> Vec<Value> {
        values.iter().map(|value| self.value(*value)).collect()
    }

    pub(super) fn maybe(&self, value: Option<Value>) -> Option<Value> {
        value.map(|value| self.value(value))
    }

    pub(super) fn path(&self, path: &AccessPath) -> AccessPath {
        let renamed = self.renamed(path);
        self.apart.and_then(|values| values.member(&renamed)).unwrap_or(renamed)
    }

    fn renamed(&self, path: &AccessPath) -> AccessPath {
        let fields = self.fields(&path.fields);
        match (&path.root, self.this) {
            (Root::This, Some(this)) if fields.is_empty() => this.clone(),
            (Root::This, Some(this)) if this.fields.is_empty() => {
                AccessPath { root: this.root.clone(), fields }
            }
            (Root::This, Some(this)) => AccessPath {
                root: this.root.clone(),
                fields: this.fields.iter().chain(&fields).cloned().collect(),
            },
            (Root::Value(value), _) => AccessPath { root: Root::Value(self.value(*value)), fields },
            (root, _) => AccessPath { root: root.clone(), fields },
        }
    }

    /// Steps in which nothing is called otherwise are shared.
    fn fields(&self, fields: &Fields) -> Fields {
        if !fields.iter().any(|field| matches!(field, Field::At(term) if is_renamed(term))) {
            return fields.clone();
        }
        let renamed = |field: &Field| match field {
            Field::At(term) => Field::At(self.term(term)),
            Field::Name(name) => Field::Name(name.clone()),
        };
        fields.iter().map(renamed).collect()
    }

    pub(super) fn term(&self, term: &Term) -> Term {
        match term {
            Term::Path(path) => Term::Path(self.path(path)),
            Term::Join(parts) => Term::Join(parts.iter().map(|part| self.term(part)).collect()),
            Term::Parent(path) => Term::Parent(Box::new(self.term(path))),
            other => other.clone(),
        }
    }

    fn resource(&self, resource: &Resource) -> Resource {
        match resource {
            Resource::File(path) => Resource::File(self.term(path)),
            Resource::Row { table, key, columns } => {
                Resource::rows(self.term(table), self.term(key), columns.clone())
            }
            Resource::Shared(path) => Resource::Shared(self.path(path)),
            Resource::Key(key) => Resource::Key(self.term(key)),
            Resource::Flag(path) => Resource::Flag(self.path(path)),
            Resource::Stream(path) => Resource::Stream(self.path(path)),
        }
    }

    /// A resource that is changed: what is put into a member of what was given back is put there, and not in place of what it was.
    fn changed(&self, resource: &Resource) -> Resource {
        match resource {
            Resource::Shared(path) if self.apart.is_some_and(|_| path.fields.len() == 1) => {
                Resource::Shared(self.renamed(path))
            }
            other => self.resource(other),
        }
    }

    fn via(&self, via: &Via) -> Via {
        match via {
            Via::Client(path) => Via::Client(self.path(path)),
            Via::Pool(path) => Via::Pool(self.path(path)),
        }
    }

    fn condition(&self, condition: &Condition) -> Condition {
        let renamed = |one: &Comparison| Comparison { with: self.term(&one.with), ..one.clone() };
        Condition(condition.0.iter().map(renamed).collect())
    }

    fn mode(&self, mode: &WriteMode) -> WriteMode {
        match mode {
            WriteMode::Conditional(condition) => WriteMode::Conditional(self.condition(condition)),
            other => other.clone(),
        }
    }

    fn lock(&self, lock: &Lock) -> Lock {
        let key = lock.key.as_ref().map(|key| self.term(key));
        Lock { object: self.path(&lock.object), key, ..lock.clone() }
    }

    pub(super) fn terms(&self, terms: &[Term]) -> Vec<Term> {
        terms.iter().map(|term| self.term(term)).collect()
    }

    pub(super) fn argument(&self, argument: &Argument) -> Argument {
        match argument {
            Argument::Term(term) => Argument::Term(self.term(term)),
            Argument::Closure { function, captures } => {
                Argument::Closure { function: *function, captures: self.terms(captures) }
            }
        }
    }

    pub(super) fn callee(&self, callee: &Callee) -> Callee {
        match callee {
            Callee::Value(value) => Callee::Value(self.value(*value)),
            Callee::Closure { function, captures } => {
                Callee::Closure { function: *function, captures: self.terms(captures) }
            }
            other => other.clone(),
        }
    }

    /// A step. One with blocks inside stays what it is: whoever copies it goes into them.
    pub(super) fn op(&self, op: &Op) -> Op {
        let via = |via: &Option<Box<Via>>| via.as_ref().map(|via| Box::new(self.via(via)));
        match op {
            Op::Read { into, of, aspect, locking, unique, demands, via: way } => Op::Read {
                into: self.value(*into),
                of: self.resource(of),
                aspect: *aspect,
                locking: *locking,
                unique: *unique,
                demands: self.condition(demands),
                via: via(way),
            },
            Op::Write { to, from, mode, outcome, via: way } => Op::Write {
                to: self.changed(to),
                from: self.values(from),
                mode: self.mode(mode),
                outcome: self.maybe(*outcome),
                via: via(way),
            },
            Op::Delete { of, when, outcome, via: way } => Op::Delete {
                of: self.changed(of),
                when: when.as_ref().map(|when| self.condition(when)),
                outcome: self.maybe(*outcome),
                via: via(way),
            },
            Op::Rename { from, to } => Op::Rename { from: self.resource(from), to: self.resource(to) },
            Op::Derive { into, from, term: given } => {
                let mut from = self.values(from);
                let term = self.term(given);
                // What `this` or a whole was says nothing of a value until it is one.
                if let Term::Path(AccessPath { root: Root::Value(root), .. }) = &term
                    && (self.apart.is_some()
                        || matches!(given, Term::Path(AccessPath { root: Root::This, .. })))
                    && *root != NOBODY
                    && !from.contains(root)
                {
                    from.push(*root);
                }
                Op::Derive { into: self.value(*into), from, term }
            }
            Op::Closure { into, function, captures } => {
                Op::Closure { into: self.value(*into), function: *function, captures: self.terms(captures) }
            }
            Op::New { into, lock } => Op::New { into: self.value(*into), lock: *lock },
            Op::Suspend => Op::Suspend,
            Op::Sleep { backoff, jitter } => Op::Sleep { backoff: *backoff, jitter: *jitter },
            Op::Acquire { lock, hold, outcome } => {
                Op::Acquire { lock: self.lock(lock), hold: *hold, outcome: self.maybe(*outcome) }
            }
            Op::Release { lock } => Op::Release { lock: self.lock(lock) },
            Op::Begin { transaction } => Op::Begin {
                transaction: Transaction {
                    via: self.via(&transaction.via),
                    isolation: transaction.isolation,
                },
            },
            Op::End { via, finish } => Op::End { via: self.via(via), finish: *finish },
            Op::Open { handle } => Op::Open { handle: self.path(handle) },
            Op::Close { handle } => Op::Close { handle: self.path(handle) },
            Op::CountIn { group } => Op::CountIn { group: self.path(group) },
            Op::CountOut { group } => Op::CountOut { group: self.path(group) },
            Op::Drain { group } => Op::Drain { group: self.path(group) },
            Op::External { into, service, change, from, idempotency, over } => Op::External {
                into: self.maybe(*into),
                service: self.term(service),
                change: *change,
                from: self.values(from),
                idempotency: idempotency.as_ref().map(|key| self.term(key)),
                over: over.as_ref().map(|over| self.path(over)),
            },
            Op::Call { into, callee, receiver, arguments, awaited } => Op::Call {
                into: self.maybe(*into),
                callee: self.callee(callee),
                receiver: receiver.as_ref().map(|path| self.path(path)),
                arguments: arguments.iter().map(|argument| self.argument(argument)).collect(),
                awaited: *awaited,
            },
            Op::Exit(Exit::Return(values)) => Op::Exit(Exit::Return(self.values(values))),
            Op::Exit(exit) => Op::Exit(exit.clone()),
            block @ (Op::Check { .. }
            | Op::Spawn { .. }
            | Op::Together { .. }
            | Op::Inlined { .. }
            | Op::Loop { .. }
            | Op::Try { .. }) => block.clone(),
        }
    }
}

/// Whether a term may be called otherwise in another function.
fn is_renamed(term: &Term) -> bool {
    matches!(term, Term::Path(_) | Term::Join(_) | Term::Parent(_))
}
