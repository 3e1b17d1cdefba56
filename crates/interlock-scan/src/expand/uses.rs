//! Which values a step uses.

use interlock_model::ir::{Argument, Callee, Condition, Exit, Op, Resource, Value, Via, WriteMode};

/// Adds the values that a step itself uses, without the blocks inside it.
pub(super) fn uses(op: &Op, used: &mut Vec<Value>) {
    match op {
        Op::Read { of, demands, via, .. } => {
            in_resource(of, used);
            in_condition(demands, used);
            in_via(via.as_deref(), used);
        }
        Op::Write { to, from, mode, outcome, via } => {
            in_resource(to, used);
            used.extend(from.iter().chain(outcome));
            if let WriteMode::Conditional(condition) = mode {
                in_condition(condition, used);
            }
            in_via(via.as_deref(), used);
        }
        Op::Delete { of, when, outcome, via } => {
            in_resource(of, used);
            used.extend(outcome);
            if let Some(condition) = when {
                in_condition(condition, used);
            }
            in_via(via.as_deref(), used);
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
        Op::External { service, from, idempotency, over, .. } => {
            service.mention(used);
            used.extend(from);
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
