//! What a load does that a second one does again: nothing, reading, or more.
//!
//! Reported:
//! ```text
//! connection = await connect();                     // more: opens something, and one of two is leaked
//! ```
//! Not reported:
//! ```text
//! config = await readFile("config.json");           // reading: reported as unsure
//! await mkdir(folder, { recursive: true });         // nothing: not told
//! ```
//!
//! It does not ask whether the load races; that is `rule.rs`.

use interlock_model::ir::{Callee, Change, Op, Resource, WriteMode};

use crate::{
    check_act::CheckAct,
    lexicon::Topic,
    view::{At, Entry},
    words,
};

/// What a load does that a second one does again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    /// It makes sure that something is there: a folder.
    None,
    /// It reads.
    Reading,
    /// It opens, changes or starts something, or does what nobody can tell.
    More,
}

/// What the load costs that lies between a read and what is kept.
pub(super) fn cost(pair: &CheckAct<'_, '_>) -> Cost {
    let between = pair.read + 1..pair.act;
    let ways_on = between.filter(|at| pair.entry.control().leads_to(pair.read, *at).is_some());
    let costs: Vec<Cost> = ways_on.filter_map(|at| of_step(pair, at)).collect();
    // Where nothing is done but wait, somebody else does the work, and mostly once: a module that is imported, a promise.
    costs.into_iter().max().unwrap_or(Cost::Reading)
}

fn of_step(pair: &CheckAct<'_, '_>, at: At) -> Option<Cost> {
    let entry = pair.entry;
    let in_memory = || matches!(entry.resource(at), Some(Resource::Shared(_) | Resource::Flag(_)));
    match entry.op(at)? {
        // What is noted in memory is noted twice: a listener in a list.
        Op::Write { .. } if in_memory() => Some(Cost::Reading),
        Op::Read { .. } | Op::Delete { .. } if in_memory() => None,
        Op::Read { .. } => Some(Cost::Reading),
        Op::Write { mode: WriteMode::Ensure, .. } => Some(Cost::None),
        Op::Write { .. } | Op::Delete { .. } | Op::Rename { .. } | Op::Open { .. } | Op::Spawn { .. } => {
            Some(Cost::More)
        }
        Op::External { change, .. } => Some(if *change == Change::None { Cost::Reading } else { Cost::More }),
        Op::Call { callee, awaited: true, .. } => {
            let reads = match callee {
                Callee::Named(name) => is_called_reading(entry, name),
                Callee::Function(function) => is_called_reading(entry, &entry.function_name(*function)),
                Callee::Value(value) => is_called_reading(entry, entry.name_of(*value)),
                Callee::Closure { .. } | Callee::Pending(_) => false,
            };
            Some(if reads { Cost::Reading } else { Cost::More })
        }
        // An object of a library may be a connection.
        Op::Call { callee: Callee::Named(name), .. } if makes_object(name) => Some(Cost::More),
        Op::Call { .. } => Some(Cost::Reading),
        _ => None,
    }
}

/// Whether a function is called like a class, other than one of errors.
fn makes_object(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.starts_with(|first: char| first.is_ascii_uppercase()) && !last.ends_with("Error")
}

fn is_called_reading(entry: &Entry<'_>, name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    words(last).first().is_some_and(|first| entry.lexicon().has(Topic::Reads, first))
}
