//! What belongs to one call alone: reading and writing it is plain computing.

use interlock_model::ir::{
    AccessPath, Block, Effect, Field, Lock, Name, Op, Origin, Resource, Root, Term, Value,
};
use rustc_hash::FxHashMap;

use super::{
    bind::Info,
    later::{Done, Later},
    marks::Marks,
    prune::backwards,
};

/// Which values are sure to belong to this call alone.
pub(super) struct Locals {
    /// What this call has made, and shown to nobody.
    made: Marks,
    /// For each value that is another name for a place: the value that the place hangs off, [`ELSEWHERE`] if it hangs off none.
    names: Vec<u32>,
    /// What several ways left in one variable.
    joins: FxHashMap<Value, Vec<Value>>,
    /// What was put into the members of something, where that was done once.
    members: FxHashMap<(Value, Name), Option<Value>>,
    /// Whether a connection, process or listener starts to exist here.
    pub(super) opens: bool,
}

/// There is no such name, or its place belongs to somebody else.
const ELSEWHERE: u32 = u32::MAX;

impl Locals {
    /// Looks through the body of a function. Values in `keep` are its parameters and captures.
    pub(super) fn of<'p>(body: &Block, infos: &[Info<'p>], keep: &[Value], done: &impl Done<'p>) -> Self {
        let mut local = Self {
            made: Marks::new(infos.len()),
            names: vec![ELSEWHERE; infos.len()],
            joins: FxHashMap::default(),
            members: FxHashMap::default(),
            opens: false,
        };
        let mut shown: Vec<Value> = vec![];
        backwards(body, &mut |effect| {
            match &effect.op {
                Op::New { into, .. } => {
                    local.made.insert(*into);
                }
                // What comes from outside the memory of the process is a copy.
                Op::Read {
                    into, of: Resource::File(_) | Resource::Row { .. } | Resource::Key(_), ..
                } => {
                    local.made.insert(*into);
                }
                // So is what says whether a statement took effect.
                Op::External { into: Some(into), .. }
                | Op::Write {
                    outcome: Some(into),
                    to: Resource::File(_) | Resource::Row { .. } | Resource::Key(_),
                    ..
                }
                | Op::Delete {
                    outcome: Some(into),
                    of: Resource::File(_) | Resource::Row { .. } | Resource::Key(_),
                    ..
                } => {
                    local.made.insert(*into);
                }
                Op::Derive { into, term: Term::Path(path), .. } => {
                    local.name(*into, path);
                }
                Op::Derive { into, term: Term::Unknown, from }
                    if from.len() > 1 && from.iter().all(|value| is_named_alike(infos, *value, *into)) =>
                {
                    local.joins.insert(*into, from.clone());
                }
                // Put together from others in a way that is not looked into: a new thing.
                Op::Derive { into, term: Term::Unknown | Term::Literal(_) | Term::Join(_), from }
                    if from.len() != 1 || !keep.contains(into) =>
                {
                    local.made.insert(*into);
                }
                Op::Read { into, of: Resource::Shared(path), .. } => {
                    local.name(*into, path);
                }
                Op::Write { to: Resource::Shared(path), from, .. } => {
                    local.put(path, from);
                    shown.extend(from);
                }
                Op::Open { .. } => local.opens = true,
                op => {
                    let later = Later::of(op).and_then(|later| done.done(later.function));
                    local.opens |= later.is_some_and(|summary| summary.held.opens);
                }
            }
        });
        for (index, info) in infos.iter().enumerate() {
            if info.origin == Origin::Caller || info.origin == Origin::Session {
                local.made.insert(Value(u32::try_from(index).unwrap_or(u32::MAX)));
            }
        }
        // What was stored somewhere may be seen by others from then on.
        shown.into_iter().for_each(|value| local.made.remove(value));
        local
    }

    /// Remembers what becomes a member of something.
    fn put(&mut self, path: &AccessPath, from: &[Value]) {
        let (Root::Value(object), [Field::Name(member)]) = (&path.root, path.fields.as_slice()) else {
            return;
        };
        let only = match from {
            [only] => Some(*only),
            _ => None,
        };
        let known = self.members.entry((*object, member.clone())).or_insert(only);
        if *known != only {
            *known = None;
        }
    }

    /// A lock that is a member of what this call has made is the lock that was put there: `async with Guarded(lock)`.
    fn put_there(&self, lock: &mut Lock) {
        let Root::Value(object) = lock.object.root else { return };
        let Some((Field::Name(member), rest)) = lock.object.fields.split_first() else { return };
        if let Some(Some(put)) = self.members.get(&(object, member.clone())).filter(|_| self.made.has(object))
        {
            lock.object = AccessPath { root: Root::Value(*put), fields: rest.into() };
        }
    }

    fn name(&mut self, value: Value, path: &AccessPath) {
        if let Some(known) = self.names.get_mut(value.0 as usize) {
            *known = match path.root {
                Root::Value(other) => other.0,
                Root::This | Root::Global(_) => ELSEWHERE,
            };
        }
    }

    fn is_local(&self, path: &AccessPath) -> bool {
        match path.root {
            Root::Value(value) => self.is_local_value(value, 32),
            Root::This | Root::Global(_) => false,
        }
    }

    fn is_local_value(&self, value: Value, depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        if self.made.has(value) || value.0 == u32::MAX {
            return true;
        }
        if let Some(ways) = self.joins.get(&value) {
            let mut others = ways.iter().filter(|way| **way != value);
            return others.all(|way| self.is_local_value(*way, depth / 2));
        }
        match self.names.get(value.0 as usize) {
            Some(other) if *other != ELSEWHERE && *other != value.0 => {
                self.is_local_value(Value(*other), depth - 1)
            }
            _ => false,
        }
    }

    /// Turns reads and writes of what belongs to this call alone into plain computing.
    pub(super) fn localise(&self, block: &mut Block) {
        self.localise_at(block, Beside::Nothing);
    }

    fn localise_at(&self, block: &mut Block, beside: Beside) {
        if beside == Beside::Itself {
            self.keep_changes(block);
        }
        block.retain_mut(|effect| match &mut effect.op {
            Op::Read { into, of: Resource::Shared(path), .. } if self.is_local(path) => {
                let from = match path.root {
                    Root::Value(value) if value.0 != u32::MAX => vec![value],
                    _ => vec![],
                };
                effect.op = Op::Derive { into: *into, from, term: Term::Path(path.clone()) };
                true
            }
            // What is put into something becomes a part of it.
            Op::Write { to: Resource::Shared(path), outcome: None, from, .. }
                if self.is_local(path) && beside != Beside::Itself =>
            {
                let Root::Value(into) = path.root else { return false };
                let from = std::mem::take(from);
                let feeds = !from.is_empty() && into.0 != u32::MAX;
                effect.op = Op::Derive { into, from, term: Term::Unknown };
                feeds
            }
            Op::Delete { of: Resource::Shared(path), outcome: None, .. } if self.is_local(path) => {
                beside == Beside::Itself
            }
            Op::Acquire { lock, .. } | Op::Release { lock } => {
                self.put_there(lock);
                true
            }
            Op::Loop { body, .. } => {
                self.localise_at(body, beside.max(Beside::Turns));
                true
            }
            Op::Spawn { body, .. } => {
                let spawned = if beside == Beside::Nothing { beside } else { Beside::Itself };
                self.localise_at(body, spawned);
                true
            }
            op => {
                op.blocks_mut().for_each(|inner| self.localise_at(inner, beside));
                true
            }
        });
    }

    /// What is changed by something that runs beside itself, a goroutine for each turn of a loop, belongs to the call and is shared all the
    /// same: the change stays a step, behind what it computes.
    fn keep_changes(&self, block: &mut Block) {
        let mut at = 0;
        while let Some(effect) = block.get(at) {
            let computes = match &effect.op {
                Op::Write { to: Resource::Shared(path), outcome: None, from, .. }
                    if self.is_local(path) && !from.is_empty() =>
                {
                    match path.root {
                        Root::Value(into) if into.0 != u32::MAX => {
                            Some(Op::Derive { into, from: from.clone(), term: Term::Unknown })
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            let known = |op: &Op| {
                at.checked_sub(1).and_then(|before| block.get(before)).is_some_and(|it| it.op == *op)
            };
            if let Some(op) = computes.filter(|op| !known(op)) {
                let span = effect.span;
                block.insert(at, Effect { span, op });
                at += 1;
            }
            at += 1;
        }
    }
}

/// What runs beside the steps of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    /// Nothing that is known.
    Nothing,
    /// Nothing yet: it is repeated.
    Turns,
    /// The same steps, of another turn of a loop.
    Itself,
}

fn is_named_alike(infos: &[Info<'_>], one: Value, other: Value) -> bool {
    let name = |value: Value| {
        infos.get(value.0 as usize).map(|info| info.known.name.split('.').next().unwrap_or_default())
    };
    name(one) == name(other)
}
