//! Writes down the step that an entry says.

use interlock_model::ir::{
    AccessPath, Aspect, Backoff, Body, Change, Comparator, Condition, Fresh, Name, Op, Resource, Root, Term,
    Value, WriteMode,
};

use crate::{Arg, Kind, Outcome, Shape};

use super::{
    apply, command, files,
    format::{AspectText, ChangeText, Do, Entry, Mode},
    guard,
    place::Place,
    rows,
    scene::Scene,
    service,
};

pub(super) fn act(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) {
    match entry.r#do {
        Do::Nothing => {}
        Do::ReadFile
        | Do::WriteFile
        | Do::DeleteFile
        | Do::RenameFile
        | Do::CopyFile
        | Do::FreshFile
        | Do::ReplaceFile
        | Do::RewriteFile => {
            files::file(scene, entry, body);
        }
        Do::ReadKey | Do::WriteKey | Do::DeleteKey => files::key(scene, entry, body),
        Do::ReadMemory | Do::WriteMemory | Do::DeleteMemory => files::memory(scene, entry, body),
        Do::WriteWriter if files::is_handle(scene, entry.at.as_ref()) => {
            files::write_file(scene, entry, body);
        }
        Do::WriteWriter => {
            let kind = find(scene, entry.at.as_ref()).and_then(|arg| scene.kind_of(&arg));
            let handle = path_at(scene, entry.at.as_ref());
            if let Some(handle) = handle.filter(|_| kind.is_some_and(|kind| kind.name.ends_with("Conn"))) {
                write(scene, entry, Resource::Stream(handle), WriteMode::Append, body);
            }
        }
        Do::WriteStream => {
            let handle = path_at(scene, entry.at.as_ref());
            if let Some(handle) = handle.or_else(|| scene.receiver.cloned()) {
                write(scene, entry, Resource::Stream(handle), WriteMode::Append, body);
            }
            if matches!(entry.change, Some(ChangeText::Command)) {
                outcome.program = told_program(scene, entry);
            }
        }
        Do::Sql => rows::sql(scene, entry, body),
        Do::Find
        | Do::FindId
        | Do::Update
        | Do::UpdateId
        | Do::Replace
        | Do::Insert
        | Do::Remove
        | Do::RemoveId => rows::rows(scene, entry, body),
        Do::Save | Do::Destroy => rows::save(scene, entry, body),
        Do::Acquire | Do::Release | Do::Guard | Do::Call => guard::lock(scene, entry, outcome, body),
        Do::Begin | Do::Commit | Do::Rollback | Do::Transaction | Do::Batch => {
            guard::transaction(scene, entry, outcome, body);
        }
        Do::External => external(scene, entry, outcome, body),
        Do::Request => service::request(scene, entry, outcome, body),
        Do::HandOver => {
            let handed = find(scene, entry.at.as_ref()).and_then(|arg| scene.kind_of(&arg));
            // A statement goes over the connection that it is handed to.
            let handed = handed.map(|kind| Kind { via: kind.via.clone().or_else(|| scene.via()), ..kind });
            let method = entry.call.as_deref();
            // A command object is an argument of the client that sends it; a function like `setDoc(ref)` takes its first argument as the receiver.
            let handed_at = || path_at(scene, entry.at.as_ref()).unwrap_or_else(|| AccessPath::global(""));
            let receiver = if method.is_some() { Some(handed_at()) } else { scene.receiver.cloned() };
            let sent = match (handed, receiver) {
                (Some(kind), Some(receiver)) => apply::sent(scene, &kind, &receiver, method, body),
                _ => None,
            };
            match sent {
                Some(sent) => {
                    outcome.kind = sent.kind;
                    outcome.parameters.extend(sent.parameters);
                    outcome.guessed |= sent.guessed;
                    outcome.answer |= sent.answer;
                    outcome.open_request |= sent.open_request;
                    scene.take_into();
                }
                // What is no object may be a text.
                None if entry.parameters.is_some() => rows::sql(scene, entry, body),
                // What is handed over says what the request is, and it comes from elsewhere.
                None => outcome.open_request |= entry.change.is_some(),
            }
        }
        Do::Open | Do::Close | Do::CountIn | Do::CountOut | Do::Drain => handle(scene, entry, body),
        Do::Sleep => {
            let delay = find(scene, entry.at.as_ref());
            let fixed = delay.as_ref().is_none_or(|delay| matches!(delay.shape, Shape::Number(_)));
            let jitter = delay.is_some_and(|delay| is_random(&delay.term));
            let backoff = if fixed { Backoff::Fixed } else { Backoff::Growing };
            body.push(Op::Sleep { backoff, jitter });
        }
    }
}

pub(super) fn find(scene: &Scene<'_>, place: Option<&Place>) -> Option<Arg> {
    Some(place?.find(scene)?.into_owned())
}

pub(super) fn path_at(scene: &Scene<'_>, place: Option<&Place>) -> Option<AccessPath> {
    match find(scene, place)?.term {
        Term::Path(path) => Some(path),
        // A global of the language: `'process.stdout`.
        Term::Literal(text) => {
            let (root, fields) = text.split_once('.').unwrap_or((&text, ""));
            let fields = fields.split('.').filter(|field| !field.is_empty());
            Some(fields.fold(AccessPath::global(root), |path, field| path.field(field)))
        }
        _ => None,
    }
}

fn is_random(term: &Term) -> bool {
    match term {
        Term::Fresh(Fresh::Random) => true,
        Term::Join(parts) => parts.iter().any(is_random),
        _ => false,
    }
}

pub(super) fn mode(mode: Mode) -> WriteMode {
    match mode {
        Mode::Blind => WriteMode::Blind,
        Mode::Exclusive => WriteMode::Exclusive,
        Mode::Ensure => WriteMode::Ensure,
        Mode::Append => WriteMode::Append,
        Mode::Pieces => WriteMode::Pieces,
        Mode::Atomic => WriteMode::Atomic,
        Mode::Expiry => WriteMode::Expiry,
    }
}

pub(super) fn aspect(entry: &Entry) -> Aspect {
    match entry.aspect {
        None | Some(AspectText::Content) => Aspect::Content,
        Some(AspectText::Existence) => Aspect::Existence,
        Some(AspectText::Metadata) => Aspect::Metadata,
        Some(AspectText::Target) => Aspect::Target,
        Some(AspectText::Total) => Aspect::Total,
    }
}

pub(super) fn from(scene: &Scene<'_>, entry: &Entry) -> Vec<Value> {
    find(scene, entry.from.as_ref()).map(|arg| arg.values).unwrap_or_default()
}

pub(super) fn write(
    scene: &Scene<'_>,
    entry: &Entry,
    to: Resource,
    otherwise: WriteMode,
    body: &mut Body<'_>,
) {
    let unchanged = entry.unchanged.as_ref().and_then(|(field, place)| {
        let with = find(scene, Some(place))?;
        Some(Condition::on(field, Comparator::Equal, scene.name_of(&with)))
    });
    let mode = match unchanged {
        Some(condition) => WriteMode::Conditional(condition),
        None => entry.mode.map_or(otherwise, mode),
    };
    let (from, outcome, via) = (from(scene, entry), scene.take_into(), scene.boxed_via());
    body.push(Op::Write { to, from, mode, outcome, via });
}

fn external(scene: &Scene<'_>, entry: &Entry, outcome: &mut Outcome, body: &mut Body<'_>) {
    let service = find(scene, entry.service.as_ref()).map_or(Term::Unknown, |arg| scene.name_of(&arg));
    let named = || find(scene, entry.at.as_ref()).and_then(|arg| named(scene, &arg));
    let service =
        match (service, find(scene, entry.filter.as_ref()).and_then(|arg| which(&arg)).or_else(named)) {
            (Term::Literal(service), Some(which)) => {
                Term::Join([vec![Term::Literal([&*service, "/"].concat().into())], which].concat())
            }
            (service, _) => service,
        };
    let idempotency = find(scene, entry.key.as_ref()).map(|arg| scene.name_of(&arg));
    let change = match (entry.change, &entry.method) {
        (None, Some(method)) => of_method(method.find(scene).as_deref()),
        (Some(ChangeText::None), _) => Change::None,
        (Some(ChangeText::Effect), _) => Change::Effect,
        (Some(ChangeText::Settled), _) => Change::Settled,
        (Some(ChangeText::Command), _) => command::change(&service, scene.call.arguments),
        (None, None) | (Some(ChangeText::Unknown), _) => Change::Unknown,
    };
    let method_open = || entry.method.as_ref().is_some_and(|method| is_open(scene, method));
    // Without its address, what puts something in place is never held against the request that asked for it.
    let address_open = || change == Change::Settled && entry.service.is_some() && service == Term::Unknown;
    outcome.open_request |= entry.change.is_none() && method_open() || address_open();
    if matches!(entry.change, Some(ChangeText::Command)) {
        outcome.program = command::unseen(&service, scene.call.arguments);
    }
    let over = path_at(scene, entry.object.as_ref());
    // What is put in place of what is there may have been made of that.
    let may_put = matches!(change, Change::Settled | Change::Unknown);
    // Or it was put together before, and is only sent here.
    let before = find(scene, entry.from.as_ref());
    let sent = scene.call.arguments.iter().chain(&before).filter(|_| may_put);
    let from = super::statement::unique(sent.flat_map(|arg| arg.values.iter().copied()).collect());
    body.push(Op::External { into: scene.take_into(), service, change, from, idempotency, over });
}

/// The program that reads what is written to it, where it outlives the function that writes: it may do anything that it is told. One that
/// is started for this was judged there.
fn told_program(scene: &Scene<'_>, entry: &Entry) -> Option<Name> {
    let path = scene.receiver?;
    let Some(made) = scene.kind.and_then(|kind| kind.made.last()) else { return Some("".into()) };
    if matches!(path.root, Root::Value(_)) && path.fields.is_empty() {
        return None;
    }
    let service = find(scene, entry.service.as_ref()).map_or(Term::Unknown, |arg| scene.name_of(&arg));
    command::unseen(&service, &made.arguments)
}

/// How members are called that say which one is meant, at the end of their names and in small letters.
const NAMES: &[&str] = &["id", "range"];

/// Which one a request is about, by the argument that says so by its place.
fn named(scene: &Scene<'_>, arg: &Arg) -> Option<Vec<Term>> {
    if matches!(arg.shape, Shape::Object(_)) {
        return None;
    }
    match scene.name_of(arg) {
        Term::Unknown => None,
        Term::Join(parts) => Some(parts),
        one => Some(vec![one]),
    }
}

/// Whether a member of what a request is handed says which one it is about.
pub(super) fn says_which(name: &str) -> bool {
    NAMES.iter().any(|end| name.to_lowercase().ends_with(end))
}

/// Which one a request is about, by the members of what it is handed that say so: one address is not that of another.
pub(super) fn which(arg: &Arg) -> Option<Vec<Term>> {
    let Shape::Object(members) = &arg.shape else { return None };
    let mut named: Vec<(&str, Term)> = members
        .iter()
        .filter(|(name, _)| says_which(name))
        .map(|(name, member)| (&**name, super::scene::term_of(member)))
        .collect();
    named.sort_by(|one, other| one.0.cmp(other.0));
    let mut parts: Vec<Term> = vec![];
    for (_, term) in named {
        if !parts.is_empty() {
            parts.push(Term::Literal("/".into()));
        }
        match term {
            Term::Join(inner) => parts.extend(inner),
            one => parts.push(one),
        }
    }
    (!parts.is_empty()).then_some(parts)
}

/// Whether it is not known which method a request has: neither written out nor surely left to be the usual one.
fn is_open(scene: &Scene<'_>, method: &Place) -> bool {
    fn is_written(method: &Arg) -> bool {
        match &method.shape {
            Shape::Choice(ways) => ways.iter().all(is_written),
            _ => method.literal().is_some(),
        }
    }
    match method.find(scene) {
        Some(method) => !is_written(&method),
        None => method.is_hidden(scene),
    }
}

/// What a request of this method does; one that names none only asks.
fn of_method(method: Option<&Arg>) -> Change {
    let Some(method) = method else { return Change::None };
    let is = |names: &[&str]| {
        method.literal().is_some_and(|text| names.iter().any(|name| name.eq_ignore_ascii_case(text)))
    };
    if is(&["GET", "HEAD", "OPTIONS"]) {
        Change::None
    } else if is(&["PUT", "PATCH", "DELETE"]) {
        Change::Settled
    } else {
        Change::Unknown
    }
}

/// A connection, process or listener: the object itself if the entry says so, else the result.
fn handle(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let named = path_at(scene, entry.at.as_ref());
    let handle = match named {
        Some(path) => path,
        None => {
            let into = scene.result(body, "handle");
            body.push(Op::New { into, lock: None });
            into.into()
        }
    };
    body.push(match entry.r#do {
        Do::Open => Op::Open { handle },
        Do::CountIn => Op::CountIn { group: handle },
        Do::CountOut => Op::CountOut { group: handle },
        Do::Drain => Op::Drain { group: handle },
        _ => Op::Close { handle },
    });
}
