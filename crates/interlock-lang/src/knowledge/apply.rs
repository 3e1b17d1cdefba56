//! Finds what a call does.

use interlock_model::ir::{
    AccessPath, Argument, Backoff, Body, Bound, Catch, Exit, Field, LockKind, Op, Origin, Root, Term, Value,
};

use crate::{Arg, Call, Kind, Made, Outcome, Shape, Target};

use super::{
    Knowledge, Library, act, chain,
    format::{Do, Entry, Retried},
    load::ANY,
    object::Object,
    path,
    place::last_step,
    scene::Scene,
};

/// How far members of members are followed.
const DEEPEST: usize = 8;

pub(super) fn apply(knowledge: &Knowledge, call: &Call<'_>, body: &mut Body<'_>) -> Option<Outcome> {
    match call.target {
        Target::Export { library, path } => export(knowledge, knowledge.library(library)?, path, call, body),
        Target::Method { kind, receiver, name } => method(knowledge, kind, receiver, name, call, body, 0),
        Target::Other { receiver, name } => {
            let guessed = receiver.and_then(|receiver| guess(knowledge, receiver, name, body));
            let guessed = guessed.and_then(|(guessed, receiver, name)| match guessed {
                Guessed::Kind(kind) => method(knowledge, &kind, &receiver, &name, call, body, 0),
                Guessed::Library(library) => {
                    let outcome = export(knowledge, knowledge.library(library)?, &name, call, body)?;
                    Some(Outcome { guessed: true, ..outcome })
                }
            });
            guessed.or_else(|| {
                let entries = knowledge.unknown.get(name)?;
                let nothing = Kind::named("").guessed();
                let object = receiver.map(|receiver| (&nothing, receiver));
                let scene = Scene::new(knowledge, call, name, object);
                let entry = entries.iter().find(|entry| applies(entry, &scene))?;
                Some(run(&scene, entry, false, body))
            })
        }
    }
}

/// What goes by a name.
enum Guessed<'k> {
    /// An object.
    Kind(Kind),
    /// The exports of a library, handed over as an object: `deps.fs`.
    Library(&'k str),
}

/// What an object probably is by a name on the way to it, and the method as seen from there: `this.stripe.refunds.create`.
fn guess<'k>(
    knowledge: &'k Knowledge,
    receiver: &AccessPath,
    name: &str,
    body: &Body<'_>,
) -> Option<(Guessed<'k>, AccessPath, String)> {
    // What goes by a name is known where it is a variable; what is handed over under that name may be only a part of it, such as a
    // transaction.
    let of = |fields: &[Field]| match (fields, &receiver.root) {
        ([], Root::Value(value)) => body.name_of(*value).map(str::to_owned),
        _ => last_step(&receiver.root, fields).map(str::to_owned),
    };
    let mut fields = receiver.fields.as_slice();
    for _ in 0..DEEPEST {
        let handed = || match (fields, &receiver.root) {
            ([], Root::Value(value)) => body.name_of(*value),
            _ => None,
        };
        let before = || fields.split_last().and_then(|(_, fields)| of(fields));
        let guessed = match last_step(&receiver.root, fields) {
            Some(last) => {
                let kind = knowledge.probably(last).or_else(|| knowledge.bound(last, before));
                let kind = kind.map(|kind| Guessed::Kind(Kind::named(kind).guessed()));
                kind.or_else(|| knowledge.probable_library(last).map(Guessed::Library))
            }
            None => {
                let name = handed()?;
                let kind =
                    knowledge.probable_parameter(name).map(|kind| Guessed::Kind(Kind::named(kind).guessed()));
                kind.or_else(|| knowledge.probable_library(name).map(Guessed::Library))
            }
        };
        if let Some(guessed) = guessed {
            let object = AccessPath { root: receiver.root.clone(), fields: fields.into() };
            let mut method = String::new();
            for field in receiver.fields.iter().skip(fields.len()) {
                if let Field::Name(name) = field {
                    method.extend([&**name, "."]);
                }
            }
            return Some((guessed, object, method + name));
        }
        let (Field::Name(_), before) = fields.split_last()? else { return None };
        fields = before;
    }
    None
}

fn export(
    knowledge: &Knowledge,
    library: &Library,
    path: &str,
    call: &Call<'_>,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    if let Some((inside, rest)) = path.split_once('.') {
        if let Some(other) = library.inside.get(inside) {
            return export(knowledge, knowledge.library(other)?, rest, call, body);
        }
        // A ready-made object: `chromium.launch`.
        if library.entries(knowledge, path).is_none()
            && let Some(kind) = library.types.get(inside)
        {
            let receiver = AccessPath::global(inside);
            return method(knowledge, &Kind::named(kind), &receiver, rest, call, body, 0);
        }
    }
    let synchronous = library.sync.as_deref().and_then(|end| path.strip_suffix(end));
    let (entries, callbacks) = match library.entries(knowledge, path) {
        Some(entries) => (entries, library.callbacks),
        None => match synchronous.and_then(|path| library.entries(knowledge, path)) {
            Some(entries) => (entries, false),
            None => return common(knowledge, library, path, call, body),
        },
    };
    let scene = Scene::new(knowledge, call, path.rsplit('.').next().unwrap_or(path), None);
    Some(case(&scene, entries, callbacks, body))
}

/// A call of an export of which nothing is said but what all of them have in common.
fn common(
    knowledge: &Knowledge,
    library: &Library,
    path: &str,
    call: &Call<'_>,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let scene = Scene::new(knowledge, call, path, None);
    let entry = library.common(knowledge)?.iter().find(|entry| applies(entry, &scene))?;
    Some(run(&scene, entry, library.callbacks, body))
}

fn method(
    knowledge: &Knowledge,
    kind: &Kind,
    receiver: &AccessPath,
    name: &str,
    call: &Call<'_>,
    body: &mut Body<'_>,
    depth: usize,
) -> Option<Outcome> {
    let object = knowledge.object(&kind.name)?;
    let own = if call.construct && name.is_empty() { "new" } else { name };
    let scene = Scene::new(knowledge, call, own, Some((kind, receiver)));
    if let Some(entries) = object.method(own) {
        if object.is_lazy() && !call.awaited && !call.construct {
            return Some(put_off(&scene, kind.name.as_ref(), body));
        }
        return Some(case(&scene, entries, object.takes_callbacks(), body));
    }
    if object.clause(own).is_some() || object.ends_with(own) {
        return Some(clause(&scene, &object, body));
    }
    let inner = own.split_once('.').and_then(|(first, rest)| {
        let member = knowledge.member(kind, receiver, first).filter(|_| depth < DEEPEST)?;
        let inside = receiver.clone().field(first);
        method(knowledge, &member, &inside, rest, call, body, depth + 1)
    });
    let common = || object.method(ANY)?.iter().find(|entry| applies(entry, &scene));
    inner.or_else(|| common().map(|entry| run(&scene, entry, object.takes_callbacks(), body)))
}

/// What it does to send a command that was made before, or to hand a thing to the function that is called like its method:
/// `setDoc(note, text)` for `note.set(text)`.
pub(super) fn sent(
    scene: &Scene<'_>,
    kind: &Kind,
    receiver: &AccessPath,
    name: Option<&str>,
    body: &mut Body<'_>,
) -> Option<Outcome> {
    let Some(name) = name else {
        return method(scene.knowledge, kind, receiver, "send", scene.call, body, 0);
    };
    let arguments = scene.call.arguments.get(1..).unwrap_or_default();
    let call = Call { arguments, ..scene.call.clone() };
    let outcome = method(scene.knowledge, kind, receiver, name, &call, body, 0)?;
    let behind = |(at, nth, kind): (usize, usize, Kind)| (at + 1, nth, kind);
    Some(Outcome { parameters: outcome.parameters.into_iter().map(behind).collect(), ..outcome })
}

fn applies(entry: &Entry, scene: &Scene<'_>) -> bool {
    let is_request = || {
        // A call that is not awaited only starts a request, and one that takes a callback does more than a request.
        scene.call.awaited
            && !scene.call.arguments.iter().any(|arg| matches!(arg.shape, Shape::Function { .. }))
    };
    (entry.r#do != Do::Request || is_request())
        && entry.when.iter().all(|(place, test)| test.holds(place, scene))
}

/// The first entry that is about the call. A known function that is called in no known way does nothing that is known.
fn case(scene: &Scene<'_>, entries: &[Entry], callbacks: bool, body: &mut Body<'_>) -> Outcome {
    match entries.iter().find(|entry| applies(entry, scene)) {
        Some(entry) => run(scene, entry, callbacks, body),
        None => {
            define(scene, None, body);
            Outcome::default()
        }
    }
}

fn run(scene: &Scene<'_>, entry: &Entry, callbacks: bool, body: &mut Body<'_>) -> Outcome {
    let mut outcome = Outcome { guessed: scene.is_guessed(), ..Outcome::default() };
    // A node-style callback gets the result instead of the caller.
    let callback = callbacks.then(|| scene.call.arguments.len().checked_sub(1)).flatten().filter(|last| {
        let is_run = entry.run.as_ref().is_some();
        !is_run && matches!(scene.call.arguments.get(*last), Some(Arg { shape: Shape::Function { .. }, .. }))
    });
    let handed: Option<Value> = callback.map(|_| body.declare("result", Origin::Step));
    if handed.is_some() {
        scene.set_into(handed);
    }
    let mut steps = |body: &mut Body<'_>| {
        for step in std::iter::once(entry).chain(&entry.also) {
            act::act(scene, step, &mut outcome, body);
        }
    };
    match entry.retried {
        Retried::Never => steps(body),
        how => retried(how, body, steps),
    }
    let itself = entry.result.as_deref() == Some("self");
    let stranger = itself && scene.kind.is_some_and(|kind| kind.name.is_empty());
    if let Some(result) = entry.result.as_ref().filter(|_| !stranger) {
        outcome.kind = Some(result_kind(scene, entry, result));
    }
    let object = outcome.kind.as_ref().and_then(|kind| scene.knowledge.object(&kind.name));
    let starts_statement = object.as_ref().is_some_and(Object::is_statement);
    let waits = scene.call.awaited && !object.as_ref().is_some_and(Object::runs_at_its_end);
    if let (Some(kind), true, true) = (outcome.kind.clone(), starts_statement, waits && !scene.call.construct)
        && entry.r#do == Do::Nothing
    {
        outcome.kind = chain::run(scene, &kind, body);
    }
    let lock = object.as_ref().and_then(Object::lock_kind);
    let transparent = object.as_ref().is_some_and(Object::transparent);
    let connects =
        entry.result.as_deref() != Some("self") && object.as_ref().is_some_and(Object::is_connection);
    let new = (scene.call.construct && !transparent)
        || starts_statement
        || connects
        || (lock.is_some() && entry.r#do == Do::Nothing);
    if let (true, [], Some(receiver)) = (itself && !new, scene.call.arguments, scene.receiver)
        && entry.r#do == Do::Nothing
        && let Some(into) = scene.take_into()
    {
        // `with connect() as connection`: the same thing by another name.
        let from = scene.values_in(&receiver.clone().into());
        body.push(Op::Derive { into, from, term: Term::Path(receiver.clone()) });
    }
    define(scene, new.then_some(lock), body);
    if let (Some(last), Some(result)) = (callback, handed)
        && let Some(function) = scene.call.arguments.get(last)
    {
        let error = body.declare("error", Origin::Step);
        body.push(Op::Derive { into: error, from: vec![result], term: Term::Unknown });
        body.push(Op::Suspend);
        scene.call_back(body, function, vec![Argument::from(error), Argument::from(result)], None);
        if let Some(kind) = outcome.kind.take() {
            outcome.parameters.push((last, 1, kind));
        }
    }
    outcome
}

/// Steps that are tried again when they fail, a few times and later each time, as libraries do.
fn retried(how: Retried, body: &mut Body<'_>, steps: impl FnOnce(&mut Body<'_>)) {
    body.repeat(Bound::Limited, |body| {
        let tried = body.nested(|body| {
            steps(body);
            body.push(Op::Suspend);
            if how == Retried::Returned {
                // Whether it has failed is asked of what it gave back.
                let then = body.nested(|body| body.push(Op::Exit(Exit::Break)));
                body.push(Op::Check { on: vec![], equal: None, asks: vec![], then, otherwise: vec![] });
            } else {
                body.push(Op::Exit(Exit::Break));
            }
        });
        let catch = Some(Catch { error: None, body: vec![] });
        body.push(Op::Try { body: tried, catch, finally: vec![] });
        body.push(Op::Sleep { backoff: Backoff::Growing, jitter: true });
        body.push(Op::Suspend);
    });
}

/// What the result is.
fn result_kind(scene: &Scene<'_>, entry: &Entry, result: &str) -> Kind {
    let own = scene.kind;
    let made = Made { by: scene.name.into(), arguments: scene.call.arguments.to_vec() };
    let name = match (result, own) {
        ("self", Some(kind)) => kind.name.clone(),
        _ => result.into(),
    };
    let subject = match (&entry.subject, &entry.table) {
        _ if entry.under.is_some() => path::below(scene, entry),
        (Some(place), _) => {
            place.find(scene).map(|arg| match scene.kind_of(&arg).and_then(|kind| kind.subject) {
                Some(subject) => subject,
                None => scene.name_of(&arg),
            })
        }
        (None, Some(place)) => place.find(scene).map(|arg| scene.table_named_by(&arg)),
        (None, None) => own.and_then(|kind| kind.subject.clone()),
    };
    // What is put together keeps what was said before.
    let mut all = match own {
        Some(kind) if entry.keeps || continues(scene, &name) => kind.made.clone(),
        _ => vec![],
    };
    all.push(made);
    Kind { name, subject, via: scene.via(), made: all, guessed: scene.is_guessed() }
}

fn continues(scene: &Scene<'_>, result: &str) -> bool {
    scene.object().is_some_and(|object| object.is_statement())
        && scene.knowledge.object(result).is_some_and(|object| object.is_statement())
}

/// A call of a lazy object that nobody waits for yet.
fn put_off(scene: &Scene<'_>, name: &str, body: &mut Body<'_>) -> Outcome {
    let subject = scene.kind.and_then(|kind| kind.subject.clone());
    let made = vec![Made { by: scene.name.into(), arguments: scene.call.arguments.to_vec() }];
    let kind = Kind { name: name.into(), subject, via: scene.via(), made, guessed: scene.is_guessed() };
    define(scene, Some(None), body);
    Outcome { kind: Some(kind), guessed: scene.is_guessed(), ..Outcome::default() }
}

/// One more call on a statement that is put together.
fn clause(scene: &Scene<'_>, object: &Object<'_>, body: &mut Body<'_>) -> Outcome {
    let Some(own) = scene.kind else { return Outcome::default() };
    let mut kind = own.clone();
    kind.made.push(Made { by: scene.name.into(), arguments: scene.call.arguments.to_vec() });
    if kind.via.is_none() {
        kind.via = scene.via();
    }
    let waits = scene.call.awaited && !object.runs_at_its_end();
    let kind =
        if waits || object.ends_with(scene.name) { chain::run(scene, &kind, body) } else { Some(kind) };
    define(scene, Some(None), body);
    Outcome { kind, guessed: scene.is_guessed(), ..Outcome::default() }
}

/// Gives the result a beginning where no step has: something new, perhaps a lock, or something that comes from the object and the
/// arguments.
fn define(scene: &Scene<'_>, new: Option<Option<LockKind>>, body: &mut Body<'_>) {
    let Some(into) = scene.take_into() else { return };
    if let Some(lock) = new {
        body.push(Op::New { into, lock });
        return;
    }
    let mut from: Vec<Value> = vec![];
    if let Some(AccessPath { root: Root::Value(value), .. }) = scene.receiver {
        from.push(*value);
    }
    from.extend(scene.call.arguments.iter().flat_map(|arg| arg.values.iter().copied()));
    body.push(Op::Derive { into, from: super::statement::unique(from), term: Term::Unknown });
}
