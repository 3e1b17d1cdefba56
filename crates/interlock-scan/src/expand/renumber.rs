//! The values of a pruned function without the gaps that pruning has left.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Condition, Exit, Field, Lock, Op, Resource, Root, Term, Value, Via,
    WriteMode,
};

use super::bind::Info;

/// New numbers for those values that still appear.
pub(super) struct Renumber<'i, 'p> {
    old: &'i [Info<'p>],
    /// The new number of each old value, and one; 0 for those that have not appeared.
    numbers: Vec<u32>,
    /// What is known of those that have appeared.
    pub(super) infos: Vec<Info<'p>>,
}

impl<'i, 'p> Renumber<'i, 'p> {
    pub(super) fn new(old: &'i [Info<'p>]) -> Self {
        Self { old, numbers: vec![0; old.len()], infos: vec![] }
    }

    /// Gives a value its new number. What is no value of the function stays what it is.
    pub(super) fn value(&mut self, value: &mut Value) {
        let index = value.0 as usize;
        let (Some(number), Some(info)) = (self.numbers.get_mut(index), self.old.get(index)) else { return };
        if *number == 0 {
            self.infos.push(*info);
            *number = u32::try_from(self.infos.len()).unwrap_or(u32::MAX);
        }
        *value = Value(number.saturating_sub(1));
    }

    fn values<'v>(&mut self, values: impl IntoIterator<Item = &'v mut Value>) {
        values.into_iter().for_each(|value| self.value(value));
    }

    /// A block, which will not grow any more.
    pub(super) fn block(&mut self, block: &mut Block) {
        block.shrink_to_fit();
        block.iter_mut().for_each(|effect| self.op(&mut effect.op));
    }

    fn op(&mut self, op: &mut Op) {
        match op {
            Op::Read { into, of, demands, via, .. } => {
                self.value(into);
                self.resource(of);
                self.condition(demands);
                self.via(via.as_deref_mut());
            }
            Op::Write { to, from, mode, outcome, via } => {
                self.resource(to);
                self.values(from);
                if let WriteMode::Conditional(condition) = mode {
                    self.condition(condition);
                }
                self.values(outcome);
                self.via(via.as_deref_mut());
            }
            Op::Delete { of, when, outcome, via } => {
                self.resource(of);
                when.iter_mut().for_each(|when| self.condition(when));
                self.values(outcome);
                self.via(via.as_deref_mut());
            }
            Op::Rename { from, to } => {
                self.resource(from);
                self.resource(to);
            }
            Op::Derive { into, from, term } => {
                self.value(into);
                self.values(from);
                self.term(term);
            }
            Op::Closure { into, captures, .. } => {
                self.value(into);
                self.terms(captures);
            }
            Op::New { into, .. } => self.value(into),
            Op::Check { on, then, otherwise, .. } => {
                self.values(on);
                self.block(then);
                self.block(otherwise);
            }
            Op::Suspend | Op::Sleep { .. } => {}
            Op::Spawn { body, .. } => self.block(body),
            Op::Inlined { receiver, body, .. } => {
                receiver.iter_mut().for_each(|path| self.path(path));
                self.block(body);
            }
            Op::Together { branches } => branches.iter_mut().for_each(|branch| self.block(branch)),
            Op::Acquire { lock, outcome, .. } => {
                self.lock(lock);
                self.values(outcome);
            }
            Op::Release { lock } => self.lock(lock),
            Op::Begin { transaction } => self.via(Some(&mut transaction.via)),
            Op::End { via, .. } => self.via(Some(via)),
            Op::Open { handle: path }
            | Op::Close { handle: path }
            | Op::CountIn { group: path }
            | Op::CountOut { group: path }
            | Op::Drain { group: path } => self.path(path),
            Op::External { into, service, from, idempotency, over, .. } => {
                self.values(into);
                self.values(from);
                self.term(service);
                self.terms(idempotency);
                over.iter_mut().for_each(|over| self.path(over));
            }
            Op::Call { into, callee, receiver, arguments, .. } => {
                self.values(into);
                match callee {
                    Callee::Value(value) => self.value(value),
                    Callee::Closure { captures, .. } => self.terms(captures),
                    Callee::Function(_) | Callee::Named(_) | Callee::Pending(_) => {}
                }
                receiver.iter_mut().for_each(|path| self.path(path));
                for argument in arguments {
                    match argument {
                        Argument::Term(term) => self.term(term),
                        Argument::Closure { captures, .. } => self.terms(captures),
                    }
                }
            }
            Op::Loop { item, body, .. } => {
                self.values(item);
                self.block(body);
            }
            Op::Try { body, catch, finally } => {
                self.block(body);
                if let Some(catch) = catch {
                    self.values(&mut catch.error);
                    self.block(&mut catch.body);
                }
                self.block(finally);
            }
            Op::Exit(Exit::Return(values)) => self.values(values),
            Op::Exit(Exit::Throw | Exit::Break | Exit::Continue) => {}
        }
    }

    fn path(&mut self, path: &mut AccessPath) {
        if let Root::Value(value) = &mut path.root {
            self.value(value);
        }
        // Steps are shared between copies of a path, and stay so where no value is in them.
        let has_value = |field: &Field| match field {
            Field::At(term) => !matches!(term, Term::Literal(_) | Term::Any | Term::Unknown),
            Field::Name(_) => false,
        };
        if path.fields.iter().any(has_value) {
            for field in &mut path.fields {
                if let Field::At(term) = field {
                    self.term(term);
                }
            }
        }
    }

    fn term(&mut self, term: &mut Term) {
        match term {
            Term::Path(path) => self.path(path),
            Term::Join(parts) => self.terms(parts),
            Term::Parent(path) => self.term(path),
            Term::Literal(_) | Term::Fresh(_) | Term::TempDir | Term::Any | Term::Unknown => {}
        }
    }

    fn terms<'t>(&mut self, terms: impl IntoIterator<Item = &'t mut Term>) {
        terms.into_iter().for_each(|term| self.term(term));
    }

    fn resource(&mut self, resource: &mut Resource) {
        match resource {
            Resource::File(term) | Resource::Key(term) => self.term(term),
            Resource::Row { table, key, .. } => self.terms([&mut **table, &mut **key]),
            Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => self.path(path),
        }
    }

    fn condition(&mut self, condition: &mut Condition) {
        self.terms(condition.0.iter_mut().map(|comparison| &mut comparison.with));
    }

    fn via(&mut self, via: Option<&mut Via>) {
        if let Some(Via::Client(path) | Via::Pool(path)) = via {
            self.path(path);
        }
    }

    fn lock(&mut self, lock: &mut Lock) {
        self.path(&mut lock.object);
        self.terms(&mut lock.key);
    }
}
