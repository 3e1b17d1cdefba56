//! What cannot matter to any rule is left out: names of things that nobody else sees, and structure around nothing.

use std::collections::{HashMap, HashSet};

use interlock_model::ir::{
    AccessPath, Argument, Block, Callee, Condition, Effect, Exit, Op, Origin, Resource, Root, Term, Value,
    ValueInfo, Via, WriteMode,
};

/// Prunes the body of a function and says how many steps are left. Values in `keep` are the function's parameters and captures.
pub(super) fn prune(body: &mut Block, infos: &[ValueInfo], keep: &[Value]) -> usize {
    let local = Locals::of(body, infos, keep);
    local.localise(body);
    let live = live(body);
    sweep(body, &live);
    size(body)
}

/// Whether nothing in a body matters but what it returns.
pub(super) fn is_silent(body: &Block) -> bool {
    body.iter().all(|effect| match &effect.op {
        Op::Derive { .. }
        | Op::New { .. }
        | Op::Closure { .. }
        | Op::Exit(Exit::Return(_) | Exit::Break | Exit::Continue) => true,
        Op::Check { .. } | Op::Loop { .. } | Op::Try { .. } | Op::Inlined { .. } => {
            effect.op.blocks().all(is_silent)
        }
        // What is unknown, not waited for and given no function computes something.
        Op::Call { callee: Callee::Named(_), awaited: false, arguments, .. } => {
            !arguments.iter().any(|argument| matches!(argument, Argument::Closure { .. }))
        }
        _ => false,
    })
}

/// Which values are sure to belong to this call alone.
struct Locals {
    made: HashSet<Value>,
    names: HashMap<Value, AccessPath>,
    /// What several ways left in one variable.
    joins: HashMap<Value, Vec<Value>>,
}

impl Locals {
    fn of(body: &Block, infos: &[ValueInfo], keep: &[Value]) -> Self {
        let mut local = Self { made: HashSet::new(), names: HashMap::new(), joins: HashMap::new() };
        let mut shown: HashSet<Value> = HashSet::new();
        let mut pending: Vec<&Effect> = body.iter().collect();
        while let Some(effect) = pending.pop() {
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
                    local.names.insert(*into, path.clone());
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
                    local.names.insert(*into, path.clone());
                }
                Op::Write { to: Resource::Shared(_), from, .. } => shown.extend(from),
                op => pending.extend(op.blocks().flatten()),
            }
        }
        for (index, info) in infos.iter().enumerate() {
            if info.origin == Origin::Caller || info.origin == Origin::Session {
                local.made.insert(Value(u32::try_from(index).unwrap_or(u32::MAX)));
            }
        }
        // What was stored somewhere may be seen by others from then on.
        local.made.retain(|value| !shown.contains(value));
        local
    }

    fn is_local(&self, path: &AccessPath) -> bool {
        self.is_local_root(&path.root, 32)
    }

    fn is_local_root(&self, root: &Root, depth: usize) -> bool {
        let Root::Value(value) = root else { return false };
        if depth == 0 {
            return false;
        }
        if self.made.contains(value) || value.0 == u32::MAX {
            return true;
        }
        if let Some(ways) = self.joins.get(value) {
            let others = ways.iter().filter(|way| *way != value);
            return others.into_iter().all(|way| self.is_local_root(&Root::Value(*way), depth / 2));
        }
        match self.names.get(value) {
            Some(other) if other.root != *root => self.is_local_root(&other.root, depth - 1),
            _ => false,
        }
    }

    /// Turns reads and writes of what belongs to this call alone into plain computing.
    fn localise(&self, block: &mut Block) {
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
            Op::Write { to: Resource::Shared(path), outcome: None, from, .. } if self.is_local(path) => {
                let Root::Value(into) = path.root else { return false };
                let from = std::mem::take(from);
                let feeds = !from.is_empty() && into.0 != u32::MAX;
                effect.op = Op::Derive { into, from, term: Term::Unknown };
                feeds
            }
            Op::Delete { of: Resource::Shared(path), outcome: None, .. } if self.is_local(path) => false,
            Op::Check { then, otherwise, .. } => {
                self.localise(then);
                self.localise(otherwise);
                true
            }
            Op::Spawn { body, .. } | Op::Loop { body, .. } | Op::Inlined { body, .. } => {
                self.localise(body);
                true
            }
            Op::Together { branches } => {
                branches.iter_mut().for_each(|branch| self.localise(branch));
                true
            }
            Op::Try { body, catch, finally } => {
                self.localise(body);
                if let Some(catch) = catch {
                    self.localise(&mut catch.body);
                }
                self.localise(finally);
                true
            }
            _ => true,
        });
    }
}

fn is_named_alike(infos: &[ValueInfo], one: Value, other: Value) -> bool {
    let name = |value: Value| {
        infos.get(value.0 as usize).map(|info| info.name.split('.').next().unwrap_or_default())
    };
    name(one) == name(other)
}

/// The values that something other than computing uses, and everything they were computed from.
fn live(body: &Block) -> HashSet<Value> {
    let mut live: HashSet<Value> = HashSet::new();
    let mut inputs: HashMap<Value, Vec<Value>> = HashMap::new();
    let mut pending: Vec<&Effect> = body.iter().collect();
    let mut used: Vec<Value> = vec![];
    while let Some(effect) = pending.pop() {
        match &effect.op {
            Op::Derive { into, from, term } => {
                let known = inputs.entry(*into).or_default();
                known.extend(from);
                term.mention(known);
            }
            // What a function takes along lives as long as somebody may call it.
            Op::Closure { into, captures, .. } => {
                let known = inputs.entry(*into).or_default();
                captures.iter().for_each(|term| term.mention(known));
            }
            op => {
                uses(op, &mut used);
                pending.extend(op.blocks().flatten());
            }
        }
    }
    while let Some(value) = used.pop() {
        if live.insert(value) {
            used.extend(inputs.get(&value).into_iter().flatten());
        }
    }
    live
}

fn uses(op: &Op, used: &mut Vec<Value>) {
    match op {
        Op::Read { into, of, via, .. } => {
            used.push(*into);
            in_resource(of, used);
            in_via(via.as_ref(), used);
        }
        Op::Write { to, from, mode, outcome, via } => {
            in_resource(to, used);
            used.extend(from.iter().chain(outcome));
            if let WriteMode::Conditional(condition) = mode {
                in_condition(condition, used);
            }
            in_via(via.as_ref(), used);
        }
        Op::Delete { of, when, outcome, via } => {
            in_resource(of, used);
            used.extend(outcome);
            if let Some(condition) = when {
                in_condition(condition, used);
            }
            in_via(via.as_ref(), used);
        }
        Op::Rename { from, to } => {
            in_resource(from, used);
            in_resource(to, used);
        }
        Op::Check { on, .. } => used.extend(on),
        Op::Acquire { lock, .. } | Op::Release { lock } => {
            lock.object.mention(used);
            if let Some(key) = &lock.key {
                key.mention(used);
            }
        }
        Op::Begin { transaction } => in_via(Some(&transaction.via), used),
        Op::End { via, .. } => in_via(Some(via), used),
        Op::Open { handle: path }
        | Op::Close { handle: path }
        | Op::CountIn { group: path }
        | Op::CountOut { group: path }
        | Op::Drain { group: path } => path.mention(used),
        Op::External { service, idempotency, over, .. } => {
            service.mention(used);
            if let Some(key) = idempotency {
                key.mention(used);
            }
            if let Some(over) = over {
                over.mention(used);
            }
        }
        Op::Call { callee, receiver, arguments, .. } => {
            match callee {
                Callee::Value(value) => used.push(*value),
                Callee::Closure { captures, .. } => captures.iter().for_each(|term| term.mention(used)),
                _ => {}
            }
            if let Some(path) = receiver {
                path.mention(used);
            }
            for argument in arguments {
                match argument {
                    Argument::Term(term) => term.mention(used),
                    Argument::Closure { captures, .. } => {
                        captures.iter().for_each(|term| term.mention(used));
                    }
                }
            }
        }
        Op::Exit(Exit::Return(values)) => used.extend(values),
        _ => {}
    }
}

fn in_resource(resource: &Resource, used: &mut Vec<Value>) {
    match resource {
        Resource::File(term) | Resource::Key(term) => term.mention(used),
        Resource::Row { table, key, .. } => {
            table.mention(used);
            key.mention(used);
        }
        Resource::Shared(path) | Resource::Flag(path) | Resource::Stream(path) => path.mention(used),
    }
}

fn in_condition(condition: &Condition, used: &mut Vec<Value>) {
    condition.0.iter().for_each(|comparison| comparison.with.mention(used));
}

fn in_via(via: Option<&Via>, used: &mut Vec<Value>) {
    if let Some(Via::Client(path) | Via::Pool(path)) = via {
        path.mention(used);
    }
}

/// Drops what is not live and what has become empty.
fn sweep(block: &mut Block, live: &HashSet<Value>) {
    block.retain_mut(|effect| match &mut effect.op {
        Op::Derive { into, .. } | Op::New { into, .. } | Op::Closure { into, .. } => live.contains(into),
        Op::Check { then, otherwise, .. } => {
            sweep(then, live);
            sweep(otherwise, live);
            !then.is_empty() || !otherwise.is_empty()
        }
        Op::Spawn { body, .. } | Op::Loop { body, .. } | Op::Inlined { body, .. } => {
            sweep(body, live);
            !body.is_empty()
        }
        Op::Together { branches } => {
            branches.iter_mut().for_each(|branch| sweep(branch, live));
            branches.retain(|branch| !branch.is_empty());
            !branches.is_empty()
        }
        Op::Try { body, catch, finally } => {
            sweep(body, live);
            if let Some(catch) = catch {
                sweep(&mut catch.body, live);
            }
            sweep(finally, live);
            !body.is_empty() || !finally.is_empty()
        }
        _ => true,
    });
}

fn size(body: &Block) -> usize {
    body.iter().map(|effect| 1 + effect.op.blocks().map(size).sum::<usize>()).sum()
}
