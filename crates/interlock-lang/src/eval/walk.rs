//! The walk over the steps of one function: how its values come about, what it returns, which closures are written in it.

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Exit, Field, FunctionId, Op, Resource, Root, Term, Value,
};

use super::index::{CallAt, Definition, Index, REMEMBERED};

/// One function's walk.
pub(super) struct Walk<'i, 'f> {
    pub(super) index: &'i mut Index<'f>,
    pub(super) id: FunctionId,
    /// Where its values begin among those of all functions, and what it returns among what all do.
    pub(super) first: usize,
    pub(super) returned: usize,
    pub(super) acts: bool,
    pub(super) changes: bool,
    pub(super) steps: usize,
    /// How many blocks are around the one that is walked.
    pub(super) depth: usize,
}

impl Walk<'_, '_> {
    pub(super) fn define(&mut self, value: Value, definition: Definition) {
        if let Some(known) = self.index.definitions.get_mut(self.first + value.0 as usize) {
            *known = definition;
        }
    }

    /// The same, unless something is known of it.
    fn define_first(&mut self, value: Value, definition: impl FnOnce() -> Definition) {
        if let Some(known @ Definition::Unknown) =
            self.index.definitions.get_mut(self.first + value.0 as usize)
        {
            *known = definition();
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.steps += block.len();
        for effect in block {
            self.acts |= !is_computed(&effect.op);
            self.changes |= matches!(effect.op, Op::Write { .. } | Op::Delete { .. });
            match &effect.op {
                Op::Call { into, callee, arguments, awaited, .. } => {
                    self.callee(callee);
                    for argument in arguments {
                        if let Argument::Closure { function, captures } = argument {
                            self.captured(*function, captures);
                        }
                    }
                    if let (Some(into), Callee::Closure { function, .. } | Callee::Function(function)) =
                        (into, callee)
                    {
                        self.define(*into, Definition::Returned(*function));
                    }
                    if let Callee::Pending(site) = callee {
                        if let Some(into) = into {
                            self.define(*into, Definition::Call(*site));
                        }
                        if let Some(call) = self.index.calls.get_mut(*site as usize) {
                            *call = CallAt { into: *into, awaited: *awaited };
                        }
                    }
                }
                Op::Read { into, of: Resource::Shared(path), .. } => {
                    self.define(*into, Definition::Path(path.clone()));
                }
                Op::Derive { into, from, term: Term::Path(path) } => {
                    let others: Vec<Value> =
                        from.iter().copied().filter(|value| path.root != Root::Value(*value)).collect();
                    if !others.is_empty() {
                        self.index.otherwise.insert((self.id, *into), others);
                    }
                    self.define(*into, Definition::Path(path.clone()));
                }
                Op::Derive { into, from, term: Term::Unknown } if !from.is_empty() => {
                    let from = from.iter().copied().take(REMEMBERED).collect();
                    self.define(*into, Definition::Either(from));
                }
                Op::Derive { into, term, .. } if !matches!(term, Term::Unknown) => {
                    self.define_first(*into, || Definition::Term(term.clone()));
                }
                Op::Write { to: Resource::Shared(AccessPath { root, fields }), from, .. }
                    if fields.is_empty() =>
                {
                    self.write(root, from);
                }
                Op::Write { to: Resource::Shared(path), .. } => self.set(path, false),
                Op::Delete { of: Resource::Shared(path), .. } => self.set(path, true),
                Op::New { into, .. } => self.define(*into, Definition::New),
                Op::Closure { into, function, captures } => {
                    self.captured(*function, captures);
                    self.define(*into, Definition::Function(*function));
                }
                Op::Exit(Exit::Return(values)) => {
                    if values.is_empty() {
                        self.index.may_return_nothing.insert(self.id);
                    }
                    if self.index.returns.len() < self.returned + REMEMBERED {
                        self.index.returns.extend(values.iter().take(REMEMBERED));
                    } else {
                        self.index.may_return_nothing.insert(self.id);
                    }
                }
                _ => {}
            }
            self.depth += 1;
            effect.op.blocks().for_each(|block| self.block(block));
            self.depth -= 1;
        }
        let returns = |op: &Op| matches!(op, Op::Exit(Exit::Return(_) | Exit::Throw));
        if self.depth == 0 && !block.last().is_some_and(|effect| returns(&effect.op)) {
            self.index.may_return_nothing.insert(self.id);
        }
    }

    /// A field is set, or taken away.
    fn set(&mut self, path: &AccessPath, away: bool) {
        let Some((Field::Name(name), before)) = path.fields.split_last() else { return };
        if path.root == Root::This && before.is_empty() && !away {
            let set = self.index.set_by.entry((self.id, name.clone())).or_default();
            set.times += 1;
            set.always |= self.depth == 0;
            return;
        }
        let known = self.index.set_elsewhere.entry(name.clone()).or_default();
        if known.len() < REMEMBERED {
            let whole = AccessPath { root: path.root.clone(), fields: before.into() };
            known.push((self.id, whole));
        }
    }

    /// A variable is given something.
    fn write(&mut self, root: &Root, from: &[Value]) {
        match root {
            Root::Global(name) => {
                self.index.assigned.insert(name.clone());
            }
            Root::Value(variable) if !from.is_empty() => {
                let first = || Definition::Either(from.iter().copied().take(REMEMBERED).collect());
                self.index.written.entry((self.id, *variable)).or_insert_with(first);
            }
            _ => {}
        }
    }

    fn callee(&mut self, callee: &Callee) {
        if let Callee::Closure { function, captures } = callee {
            self.captured(*function, captures);
        }
    }

    fn captured(&mut self, function: FunctionId, captures: &[Term]) {
        self.index.add_captures(function, self.id, captures);
    }
}

/// Whether a step only computes or decides; what is inside it is asked by itself.
const fn is_computed(op: &Op) -> bool {
    matches!(
        op,
        Op::Derive { .. }
            | Op::New { .. }
            | Op::Closure { .. }
            | Op::Check { .. }
            | Op::Loop { .. }
            | Op::Try { .. }
            | Op::Exit(_)
    )
}
