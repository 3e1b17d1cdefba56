//! What a load does that a second one does again: nothing, something that comes to the same, or more.
//!
//! ```text
//! connection = await connect();                     // more: opens something, and one of two is leaked
//! session = new Session(); await session.start();   // starting: an object that somebody has to end, and one of two is dropped alive
//! config = await readFile("config.json");           // the same: both get it, and nothing is lost
//! await mkdir(folder, { recursive: true });         // nothing
//! ```
//!
//! It does not ask whether the load races; that is `rule.rs`.

use interlock_model::ir::{
    AccessPath, Callee, Change, Fresh, FunctionId, Op, Origin, Resource, Root, Term, Value, WriteMode,
};

use crate::{
    check_act::CheckAct,
    lexicon::Topic,
    view::{At, Entry},
    words,
};

/// How deep an object is looked into for what is kept in it.
const HOLDS: usize = 3;

/// What a load does that a second one does again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    /// It makes sure that something is there: a folder.
    None,
    /// It reads or works something out, or puts the same in the same place: who does that twice has waited, and lost nothing.
    Reading,
    /// It sets an object going that has a way to end it, and one of two is dropped while it lives.
    Starting,
    /// It opens or starts something of which one is then dropped, or does what counts each time.
    More,
}

/// What the load costs that lies between a read and what is kept.
pub(super) fn cost(pair: &CheckAct<'_, '_>) -> Cost {
    let between = pair.read + 1..pair.act;
    let ways_on = between.filter(|at| pair.entry.control().leads_to(pair.read, *at).is_some());
    let costs: Vec<Cost> = ways_on.filter_map(|at| of_step(pair, at)).collect();
    if brings_its_own(pair) {
        return Cost::More;
    }
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
        // What is added or counted is there twice; what is put in the same place is there once.
        Op::Write { mode: WriteMode::Append | WriteMode::Exclusive | WriteMode::Atomic, .. } => {
            Some(Cost::More)
        }
        Op::Write { .. } | Op::Delete { .. } | Op::Rename { .. } => Some(Cost::Reading),
        Op::Spawn { .. } | Op::External { change: Change::Effect, .. } => Some(Cost::More),
        Op::External { .. } => Some(Cost::Reading),
        // What is opened only for the load is closed behind it.
        Op::Open { handle } => Some(if is_kept(pair, &handle.root) { Cost::More } else { Cost::Reading }),
        Op::Call { callee, into, receiver, .. } => {
            let begins = match callee {
                Callee::Named(name) => begins_something(entry, name) || makes_object(name),
                Callee::Function(function) => begins_something(entry, &entry.function_name(*function)),
                Callee::Value(value) => begins_something(entry, entry.name_of(*value)),
                Callee::Closure { .. } | Callee::Pending(_) => false,
            };
            let stays = || {
                into.is_some_and(|made| is_kept(pair, &Root::Value(made)))
                    || receiver.as_ref().is_some_and(|object| is_kept(pair, &object.root))
            };
            Some(if begins && stays() { Cost::More } else { Cost::Reading })
        }
        Op::Inlined { function, receiver: Some(object), .. } => {
            let starts = is_kept_object(pair, &object.root) && starts_object(entry, *function);
            starts.then_some(Cost::Starting)
        }
        _ => None,
    }
}

/// Whether an object is what is kept, or a part of that, and not just anything where a flag is set.
fn is_kept_object(pair: &CheckAct<'_, '_>, object: &Root) -> bool {
    let is_flag = matches!(pair.entry.op(pair.act), Some(Op::Write { from, .. }) if from.is_empty());
    !is_flag && matches!(object, Root::Value(_)) && is_kept(pair, object)
}

/// Whether a function sets the object going whose method it is, and the class of that has another one to end it.
fn starts_object(entry: &Entry<'_>, function: FunctionId) -> bool {
    let lexicon = entry.lexicon();
    let verb = |name: &str| name.rsplit('.').next().map(words).and_then(|words| words.into_iter().next());
    let Some(method) = entry.program.function(function) else { return false };
    let starts = |verb: String| lexicon.has(Topic::Begins, &verb) || verb.starts_with("init");
    let ends = |verb: String| lexicon.has(Topic::Ends, &verb) || lexicon.has(Topic::Closes, &verb);
    let Some(class) = &method.owner else { return false };
    method.asynchronous
        && verb(&method.name).is_some_and(starts)
        && entry
            .program
            .functions
            .iter()
            .any(|other| other.owner.as_ref() == Some(class) && verb(&other.name).is_some_and(ends))
}

/// Whether what is kept is not what the key leads to but something of this call's own: what its caller gave, or an id that was drawn for it.
/// Of two calls one has then said to its caller that it is there, and it is gone.
fn brings_its_own(pair: &CheckAct<'_, '_>) -> bool {
    let entry = pair.entry;
    let (Some(Op::Write { from, .. }), Some(Resource::Shared(place))) = (entry.op(pair.act), pair.resource())
    else {
        return false;
    };
    let key = entry.flow().things(&Term::Path(place.clone()).mentioned());
    let is_given =
        |value: Value| matches!(entry.flow().origin(value), Some(Origin::Argument | Origin::Arguments));
    let mut pending: Vec<(Value, usize)> = from.iter().map(|value| (*value, HOLDS)).collect();
    while let Some((value, depth)) = pending.pop() {
        let name = entry.alias().resolve(&value.into());
        let is_own = match &name {
            Term::Fresh(fresh) => *fresh == Fresh::Random,
            Term::Path(AccessPath { root: Root::Value(root), .. }) => {
                entry.flow().is_drawn(*root) || is_given(*root) && !key.contains(&name)
            }
            _ => false,
        };
        if is_own {
            return true;
        }
        let is_worked_out = entry.flow().is_of_library(value) || !entry.flow().sources(value).is_empty();
        if depth > 0 && !is_worked_out {
            pending.extend(entry.flow().inputs(value).iter().map(|input| (*input, depth - 1)));
        }
    }
    false
}

/// Whether something is what is kept, or a part of that. Where only a flag is set, all that was made stays.
fn is_kept(pair: &CheckAct<'_, '_>, made: &Root) -> bool {
    let (Some(Op::Write { from, .. }), Root::Value(made)) = (pair.entry.op(pair.act), made) else {
        return true;
    };
    from.is_empty() || from.iter().any(|value| holds(pair.entry, *value, *made, HOLDS))
}

/// Whether a value is another one or an object that has it inside. What somebody answered who was asked through it is neither.
fn holds(entry: &Entry<'_>, value: Value, made: Value, depth: usize) -> bool {
    if value == made || entry.alias().resolve_path(&value.into()).root == Root::Value(made) {
        return true;
    }
    depth > 0
        && !entry.flow().is_of_library(value)
        && entry.flow().sources(value).is_empty()
        && entry.flow().inputs(value).iter().any(|input| holds(entry, *input, made, depth - 1))
}

/// Whether a function is called like a class, other than one of errors.
fn makes_object(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    last.starts_with(|first: char| first.is_ascii_uppercase()) && !last.ends_with("Error")
}

/// Whether a function is called after something that is there twice when it is done twice: a connection, a process, an account. What
/// is only worked out goes by such names as well: `embeddings.create`.
fn begins_something(entry: &Entry<'_>, name: &str) -> bool {
    let lexicon = entry.lexicon();
    let mut parts = name.rsplit('.');
    let verb = parts.next().map(words).and_then(|words| words.into_iter().next());
    let computes = parts.any(|part| lexicon.has(Topic::Computes, &part.to_ascii_lowercase()));
    !computes
        && verb.is_some_and(|verb| lexicon.has(Topic::Begins, &verb) || lexicon.has(Topic::DoesOnce, &verb))
}
