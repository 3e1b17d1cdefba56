//! Files, and the keys of key-value stores.

use interlock_model::ir::{Aspect, Body, Condition, Fresh, Op, Origin, Resource, Term, WriteMode};

use crate::{Arg, Kind, Shape};

use super::{
    act::{aspect, find, from, mode, write},
    format::{Do, Entry, Mode},
    place::Place,
    scene::Scene,
};

/// A file, and how writes through an open handle of it meet others.
fn file_at(scene: &Scene<'_>, place: Option<&Place>) -> (Term, Option<Mode>) {
    let own = || {
        let mode = scene.object().and_then(|object| object.mode());
        (scene.kind.and_then(|kind| kind.subject.clone()).unwrap_or(Term::Unknown), mode)
    };
    let Some(arg) = find(scene, place) else {
        return if place.is_none() { own() } else { (Term::Unknown, None) };
    };
    match scene.kind_of(&arg) {
        Some(kind) if is_open_file(&kind) => {
            let mode = scene.knowledge.object(&kind.name).and_then(|object| object.mode());
            (kind.subject.unwrap_or_else(|| scene.name_of(&arg)), mode)
        }
        // What was listed of a folder lies in it: `for note in folder.glob("*.md")`.
        Some(Kind { name, subject: Some(folder), .. })
            if scene.knowledge.object(&name).is_some_and(|object| object.is_below()) =>
        {
            (Term::Join(vec![folder, Term::Literal("/".into()), scene.name_of(&arg)]), None)
        }
        _ => (scene.name_of(&arg), None),
    }
}

/// Of all objects only an open file stands for a file; a record that was read leads to one by what is written in it.
fn is_open_file(kind: &Kind) -> bool {
    kind.name.contains("Handle") || kind.name.contains("File")
}

/// Whether an argument is an open file.
pub(super) fn is_handle(scene: &Scene<'_>, place: Option<&Place>) -> bool {
    place.is_some()
        && find(scene, place).and_then(|arg| scene.kind_of(&arg)).is_some_and(|kind| is_open_file(&kind))
}

/// Writes to a file.
pub(super) fn write_file(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let (at, handle_mode) = file_at(scene, entry.at.as_ref());
    let mode = handle_mode.or(entry.mode).map_or(WriteMode::Blind, mode);
    let (to, from, outcome) = (Resource::File(at), from(scene, entry), scene.take_into());
    body.push(Op::Write { to, from, mode, outcome, via: None });
}

pub(super) fn file(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let (at, _) = file_at(scene, entry.at.as_ref());
    let via = None;
    match entry.r#do {
        Do::ReadFile => {
            let into = scene.result(body, "content");
            body.push(Op::look(into, Resource::File(at), aspect(entry), via));
        }
        Do::WriteFile => write_file(scene, entry, body),
        Do::DeleteFile => {
            let outcome = scene.take_into();
            // Who is content that it is gone already removes it only where it is there.
            let when = (entry.mode == Some(Mode::Ensure)).then(Condition::default);
            body.push(Op::Delete { of: Resource::File(at), when, outcome, via });
        }
        Do::RenameFile => {
            let (to, _) = file_at(scene, entry.to.as_ref());
            body.push(Op::Rename { from: Resource::File(at), to: Resource::File(to) });
        }
        Do::FreshFile => {
            // Who does not say where gets it in the system's folder.
            let at = if entry.at.is_none() { Term::TempDir } else { at };
            let into = scene.result(body, "fresh");
            let (from, term) = (scene.values_in(&at), Term::Join(vec![at, Term::Fresh(Fresh::Random)]));
            body.push(Op::Derive { into, from, term });
        }
        Do::CopyFile => {
            let content = body.declare("copied", Origin::Step);
            let of = Resource::File(at);
            body.push(Op::look(content, of, Aspect::Content, None));
            let (to, _) = file_at(scene, entry.to.as_ref());
            let mode = entry.mode.map_or(WriteMode::Blind, mode);
            let (to, outcome) = (Resource::File(to), scene.take_into());
            body.push(Op::Write { to, from: vec![content], mode, outcome, via });
        }
        Do::RewriteFile => {
            let content = body.declare("content", Origin::Step);
            body.push(Op::look(content, Resource::File(at.clone()), Aspect::Content, None));
            let mut written = from(scene, entry);
            written.push(content);
            let mode = entry.mode.map_or(WriteMode::Blind, mode);
            let (to, outcome) = (Resource::File(at), scene.take_into());
            body.push(Op::Write { to, from: written, mode, outcome, via });
        }
        _ => {
            // A name of its own beside the file, bound so that both steps mean the same one.
            let temp = body.declare("temp", Origin::Step);
            let term = Term::Join(vec![at.clone(), Term::Literal(".".into()), Term::Fresh(Fresh::Random)]);
            body.push(Op::Derive { into: temp, from: vec![], term });
            let beside = Resource::File(temp.into());
            let (to, from) = (beside.clone(), from(scene, entry));
            body.push(Op::Write { to, from, mode: WriteMode::Blind, outcome: None, via });
            body.push(Op::Rename { from: beside, to: Resource::File(at) });
        }
    }
}

pub(super) fn key(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let named = find(scene, entry.at.as_ref()).map_or(Term::Unknown, |arg| scene.name_of(&arg));
    let key = match find(scene, entry.key.as_ref()) {
        Some(field) => {
            let listed = match field.shape {
                Shape::Call(site) => scene.call.surroundings.listed(site),
                _ => None,
            };
            let name = name_of_key(scene, listed.as_ref().unwrap_or(&field));
            Term::Join(vec![named, Term::Literal("#".into()), name])
        }
        None => named,
    };
    let of = Resource::Key(key);
    match entry.r#do {
        Do::ReadKey => {
            let into = scene.result(body, "held");
            body.push(Op::look(into, of, aspect(entry), scene.boxed_via()));
        }
        Do::DeleteKey => {
            let outcome = scene.take_into();
            body.push(Op::Delete { of, when: None, outcome, via: scene.boxed_via() });
        }
        _ => write(scene, entry, of, WriteMode::Blind, body),
    }
}

/// What a key is called; one of several parts is written as they follow each other: `["todos", id]`.
fn name_of_key(scene: &Scene<'_>, key: &Arg) -> Term {
    match &key.shape {
        Shape::List(parts) => {
            let between = Term::Literal("/".into());
            let parts = parts.iter().map(|part| scene.name_of(part));
            Term::Join(parts.flat_map(|part| [between.clone(), part]).collect())
        }
        _ => scene.name_of(key),
    }
}

/// Memory that a library keeps: the object itself, or the entry of a key in it.
pub(super) fn memory(scene: &Scene<'_>, entry: &Entry, body: &mut Body<'_>) {
    let Some(object) = scene.receiver.cloned() else { return };
    let path = match find(scene, entry.key.as_ref()) {
        Some(key) => object.at(scene.name_of(&key)),
        None => object,
    };
    let of = Resource::Shared(path);
    match entry.r#do {
        Do::ReadMemory => {
            let into = scene.result(body, "held");
            body.push(Op::look(into, of, aspect(entry), None));
        }
        Do::DeleteMemory => {
            let outcome = scene.take_into();
            body.push(Op::Delete { of, when: None, outcome, via: None });
        }
        _ => write(scene, entry, of, WriteMode::Blind, body),
    }
}
