//! Locks and transactions: taken and given back by hand, or held round a function that is called back.

use interlock_model::ir::{
    AccessPath, Argument, Body, Catch, Effect, Exit, Finish, Hold, Lease, Lock, LockKind, Op, Origin, Scope,
    Term, Transaction, Via,
};

use crate::{Arg, Call, Kind, Outcome, Shape, Target};

use super::{
    act::{find, path_at},
    apply, chain,
    format::{Do, Entry, Holders, LeaseText},
    isolation,
    object::Object,
    rows::run_sql,
    scene::{Scene, argument_of, text_of},
    sql::Said,
};

/// As many statements of a list as are looked at.
const LONGEST_BATCH: usize = 64;

/// What prepared statements call being run.
const RUN: &str = "run";

pub(super) fn lock(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) {
    match entry.r#do {
        Do::Call => {
            if let Some(function) = find(scene, entry.run.as_ref()) {
                let arguments = hand(scene, entry, outcome, body);
                scene.call_back(body, &function, arguments, scene.take_into());
            }
            return;
        }
        Do::Release => {
            if let Some(lock) = lock_of(scene, entry) {
                body.push(Op::Release { lock });
            }
            return;
        }
        _ => {}
    }
    let Some(lock) = lock_of(scene, entry) else { return };
    let hold = if entry.shared { Hold::Shared } else { Hold::Exclusive };
    if entry.r#do == Do::Acquire {
        let outcome = if entry.tried { scene.take_into() } else { None };
        body.push(Op::Acquire { lock, hold, outcome });
        return;
    }
    body.push(Op::Acquire { lock: lock.clone(), hold, outcome: None });
    let function = find(scene, entry.run.as_ref());
    let into = scene.take_into();
    let arguments = hand(scene, entry, outcome, body);
    let held = body.nested(|body| {
        if let Some(function) = &function {
            scene.call_back(body, function, arguments, into);
        }
    });
    let finally = body.nested(|body| body.push(Op::Release { lock }));
    body.push(Op::Try { body: held, catch: None, finally });
}

/// The lock that an entry speaks of.
fn lock_of(scene: &Scene<'_>, entry: &Entry) -> Option<Lock> {
    let object = match &entry.object {
        Some(place) => match find(scene, Some(place))? {
            // A lock without an object is one by its name alone.
            Arg { term: Term::Literal(name), .. } => AccessPath::global(name),
            Arg { term: Term::Path(path), .. } => path,
            _ => return None,
        },
        None => scene.receiver?.clone(),
    };
    let named = |place| find(scene, Some(place)).map_or(Term::Unknown, |arg| scene.name_of(&arg));
    let key = entry.key.as_ref().map(named);
    let own = scene.object().and_then(|object| object.lock_kind());
    let kind = entry.holders.map(Holders::kind).or(own).unwrap_or(LockKind::Mutex);
    let scope = if entry.processes { Scope::CrossProcess } else { Scope::InProcess };
    let lease = entry.lease.map(|lease| Lease { renewed: lease == LeaseText::Renewed, fenced: false });
    Some(Lock { object, key, kind, scope, lease })
}

/// What a function that is called back is handed, and what that is.
fn hand(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) -> Vec<Argument> {
    let at = position(scene, entry);
    let give = |(nth, kind): (usize, &String)| {
        let given = body.declare("given", Origin::Step);
        body.push(Op::New { into: given, lock: None });
        if let Some(at) = at {
            let subject = scene.kind.and_then(|kind| kind.subject.clone());
            let guessed = scene.is_guessed();
            let kind = Kind { name: kind.as_str().into(), subject, via: None, made: vec![], guessed };
            outcome.parameters.push((at, nth, kind));
        }
        Argument::from(given)
    };
    let mut arguments: Vec<Argument> = entry.gives.iter().enumerate().map(give).collect();
    // `limit(update, id)` hands on what stands behind the function.
    if entry.r#do == Do::Guard && arguments.is_empty() {
        let behind = at.and_then(|at| scene.call.arguments.get(at + 1..)).unwrap_or_default();
        arguments.extend(behind.iter().map(argument_of));
    }
    arguments
}

/// A connection of its own.
fn connection(body: &mut Body<'_>) -> Argument {
    let given = body.declare("connection", Origin::Step);
    body.push(Op::New { into: given, lock: None });
    Argument::from(given)
}

/// Which argument the function is that is called back.
fn position(scene: &Scene<'_>, entry: &Entry) -> Option<usize> {
    let function = find(scene, entry.run.as_ref())?;
    scene.call.arguments.iter().position(|arg| *arg == function)
}

pub(super) fn transaction(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) {
    match entry.r#do {
        Do::Begin => {
            // The transaction goes over what the call gives where statements go over that, and else over the object.
            let given = entry.result.as_deref().and_then(|result| scene.knowledge.object(result));
            let via = match (given.filter(Object::is_connection), scene.receiver) {
                (None, Some(receiver)) => scene.via().unwrap_or_else(|| Via::Client(receiver.clone())),
                _ => {
                    let into = scene.result(body, "transaction");
                    body.push(Op::New { into, lock: None });
                    Via::Client(into.into())
                }
            };
            body.push(Op::Begin { transaction: Transaction { via, isolation: isolation_of(scene, entry) } });
        }
        Do::Commit | Do::Rollback => {
            let Some(receiver) = scene.receiver else { return };
            // An end that names what it is about ends what goes over that alone.
            let own = path_at(scene, entry.at.as_ref()).map(Via::Client);
            let via = own.or_else(|| scene.via()).unwrap_or_else(|| Via::Client(receiver.clone()));
            let finish = if entry.r#do == Do::Commit { Finish::Commit } else { Finish::Rollback };
            body.push(Op::End { via, finish });
        }
        _ => around(scene, entry, outcome, body),
    }
}

/// A transaction round a function, or round a list of statements.
fn around(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) {
    let function = find(scene, entry.run.as_ref());
    let batched = entry.r#do == Do::Batch;
    let unknown = scene.kind.is_some_and(|kind| kind.name.is_empty()) && !batched;
    let mut arguments = match batched {
        true => vec![connection(body)],
        // Nobody knows what it goes over, but that it is handed on.
        false if unknown => {
            let (Via::Client(path) | Via::Pool(path)) = Via::unknown();
            vec![Argument::Term(Term::Path(path))]
        }
        false => hand(scene, entry, outcome, body),
    };
    // The connection is what the function is handed; else the object's own.
    let handed = arguments.first().and_then(|first| match first {
        Argument::Term(Term::Path(path)) => Some(Via::Client(path.clone())),
        _ => None,
    });
    let own = || Some(scene.via().unwrap_or(Via::Client(scene.receiver?.clone())));
    let Some(via) = handed.or_else(own) else { return };
    if arguments.is_empty() && position(scene, entry).is_none() {
        arguments = scene.call.arguments.iter().map(argument_of).collect();
    }
    let isolation = isolation_of(scene, entry);
    let into = scene.take_into();
    let mut steps = body.nested(|body| match &function {
        Some(list) if batched => batch(scene, list, &via, body),
        Some(function) => scene.call_back(body, function, arguments, into),
        None => {}
    });
    // Of something that nothing is known of, a list in which no statement is found is none of them.
    if batched && steps.is_empty() && scene.kind.is_none() {
        scene.set_into(into);
        return;
    }
    body.push(Op::Begin { transaction: Transaction { via: via.clone(), isolation } });
    steps.extend(body.nested(|body| body.push(Op::End { via: via.clone(), finish: Finish::Commit })));
    let catch = body.nested(|body| {
        body.push(Op::End { via: via.clone(), finish: Finish::Rollback });
        body.push(Op::Exit(Exit::Throw));
    });
    body.push(Op::Try { body: steps, catch: Some(Catch { error: None, body: catch }), finally: vec![] });
    if batched {
        scene.set_into(into);
    }
}

/// The statements of a list, one after another on the transaction's connection.
fn batch(scene: &Scene<'_>, list: &Arg, via: &Via, body: &mut Body<'_>) {
    let Shape::List(items) = &list.shape else { return };
    for item in items.iter().take(LONGEST_BATCH) {
        let steps = body.nested(|body| match scene.kind_of(item) {
            Some(kind) => put_off(scene, &kind, body),
            None => {
                let given = ["args", "values", "params"].iter().find_map(|name| item.member(name));
                run_sql(scene, item, given, body);
            }
        });
        for Effect { op, .. } in steps {
            body.push(on(op, via));
        }
    }
}

/// Runs now what was called before and not waited for.
fn put_off(scene: &Scene<'_>, kind: &Kind, body: &mut Body<'_>) {
    let Some(object) = scene.knowledge.object(&kind.name) else { return };
    if object.is_statement() {
        if let Some((statement, via)) = chain::statement(scene, kind) {
            statement.emit(scene.call.surroundings, body, None, via);
        }
        return;
    }
    let receiver = AccessPath::global("");
    let plain = Kind { made: vec![], ..kind.clone() };
    let (kind, name, arguments): (&Kind, &str, &[Arg]) = match kind.made.last() {
        // A statement that was prepared knows its text and what it was given.
        Some(_) if object.method(RUN).is_some() => (kind, RUN, &[]),
        Some(made) => (&plain, &made.by, &made.arguments),
        None => return,
    };
    let call = Call {
        target: Target::Method { kind, receiver: &receiver, name },
        arguments,
        into: None,
        awaited: true,
        construct: false,
        ..*scene.call
    };
    apply::apply(scene.knowledge, &call, body);
}

/// The same step on another connection.
fn on(op: Op, via: &Via) -> Op {
    let via = Some(Box::new(via.clone()));
    match op {
        Op::Read { into, of, aspect, locking, unique, demands, .. } => {
            Op::Read { into, of, aspect, locking, unique, demands, via }
        }
        Op::Write { to, from, mode, outcome, .. } => Op::Write { to, from, mode, outcome, via },
        Op::Delete { of, when, outcome, .. } => Op::Delete { of, when, outcome, via },
        op => op,
    }
}

fn isolation_of(scene: &Scene<'_>, entry: &Entry) -> interlock_model::ir::Isolation {
    let engine = scene.engine();
    let level = find(scene, entry.isolation.as_ref());
    let named = level.and_then(|level| text_of(&level).or_else(|| super::filter::column_of(&level)));
    named.map_or_else(|| isolation::default_of(engine), |name| isolation::named(&name, engine))
}

/// What a text says about transactions and locks.
pub(super) fn said(scene: &Scene<'_>, said: Said, body: &mut Body<'_>) {
    let via = scene.via().or_else(|| Some(Via::Client(scene.receiver?.clone())));
    let named = |name: &'static str, key: Term| Lock::cross_process(AccessPath::global(name)).keyed(key);
    match said {
        Said::Begin(isolation) => {
            if let Some(via) = via {
                body.push(Op::Begin { transaction: Transaction { via, isolation } });
            }
        }
        Said::Commit | Said::Rollback => {
            let finish = if matches!(said, Said::Commit) { Finish::Commit } else { Finish::Rollback };
            if let Some(via) = via {
                body.push(Op::End { via, finish });
            }
        }
        Said::Lock { name, key, tried } => {
            let outcome = if tried { scene.take_into() } else { None };
            body.push(Op::Acquire { lock: named(name, key), hold: Hold::Exclusive, outcome });
        }
        Said::Unlock { name, key } => body.push(Op::Release { lock: named(name, key) }),
        Said::Statement(_) => {}
    }
}
