//! Modules put together: imports followed, calls looked up, libraries' calls turned into what they do.
//!
//! 1. `names` leads every name to its declaration, with what the language says of where imports lead.
//! 2. `flat` numbers everything through and writes the led names down.
//! 3. `index` notes what is written where, in one walk.
//! 4. `meaning` answers, on demand, what something is: `values` of a function, `places` of the program, `classes`; `alias` says what is
//!    another name of what, and `target` what a call reaches.
//! 5. `rewrite` replaces each call: `calls` of the program's own functions, `library` functions, `collections`, statements that
//!    helpers `forward` to a library; `tables` are what the sources declare as such.

mod shapes;

pub(crate) mod names;
mod visit;

pub(crate) mod flat;

mod index;

mod builtins;
mod meaning;
mod memo;

mod classes;
mod places;
mod values;

mod alias;
mod target;

mod library;

mod calls;
mod collections;
mod forward;
mod rewrite;

mod drizzle;
mod tables;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use interlock_model::{
    FileId, Span,
    ir::{AccessPath, FunctionId, Limit, Limited, Note, Program, Role, Root},
};
use rustc_hash::FxHashMap;

use self::{
    flat::number,
    index::Index,
    meaning::{Meaning, Meanings},
    names::Names,
};
use crate::{
    Frontend, Layout,
    knowledge::Knowledge,
    module::{Module, Variable},
    tables::Collection,
    tools,
};

/// More notes than this are only counted.
const MOST_NOTES: usize = 50;

/// Puts the modules of a tree together. `settings` are path and text.
pub(crate) fn link(
    language: &dyn Frontend,
    mut modules: Vec<Module>,
    settings: &[(String, String)],
    knowledge: &Knowledge,
) -> Program {
    let Layout { imports, packages, schemas, broken } = language.layout(&modules, settings);
    let semantics = language.semantics();
    let broken = broken.iter().map(note_broken);
    let names = Names::new(&mut modules, imports, semantics.default_export.unwrap_or_default());
    let (mut flat, mut functions) = flat::flatten(modules, &names);
    functions.iter_mut().for_each(|function| semantics.describe(function));
    let packages = packages.iter().map(String::as_str).collect();
    let tools::Applied { servers, notes: unregistered } =
        tools::apply(&mut flat, &mut functions, packages, &names, knowledge, semantics);
    let mut notes = std::mem::take(&mut flat.notes);
    notes.extend(unregistered.into_iter().chain(broken).chain(lost(&names)));
    let hand_made = std::mem::take(&mut flat.hand_made);

    let index = Index::of(&flat, &functions, knowledge.tables().builtin());
    let meanings = Meanings::new(&flat, &index, &names, knowledge, semantics);
    let tables = tables::of(&meanings, &schemas);
    let _ = meanings.keys.set(tables::keys(&tables));
    for (id, function) in functions.iter_mut().enumerate() {
        rewrite::rewrite(&meanings, FunctionId(number(id)), function);
    }
    for (id, (function, about)) in functions.iter_mut().zip(&flat.about).enumerate() {
        if number(id) == about.module && function.role == Role::Helper {
            function.role = Role::StartUp;
        }
    }
    let limited = limited(&meanings);
    let unresolved = meanings.unresolved.take();
    Program {
        files: flat.files.clone(),
        functions,
        servers,
        tables,
        limited,
        hand_made,
        called_often: HashSet::default(),
        notes: bounded(notes),
        unresolved,
        words: BTreeMap::new(),
    }
}

/// Says of a setting that it could not be read. It is no file of the program, so the text says which it is.
fn note_broken((path, why): &(String, String)) -> Note {
    let text = format!("{path} could not be read, so what it says about imports is not known: {why}");
    Note { span: Span::on_line(FileId(0), 1), text }
}

/// The imports that lead nowhere: what they would have brought is not known.
fn lost(names: &Names) -> impl Iterator<Item = Note> {
    names.lost().into_iter().map(|(module, specifier)| {
        let span = Span::on_line(FileId(number(module)), 1);
        Note { span, text: format!("the import of \"{specifier}\" leads to no file of the tree") }
    })
}

/// At most so many notes, and a count of the others.
fn bounded(mut notes: Vec<Note>) -> Vec<Note> {
    let more = notes.len().saturating_sub(MOST_NOTES);
    notes.truncate(MOST_NOTES);
    if more > 0 {
        let text = format!("{more} more things were not understood");
        notes.push(Note { span: Span::on_line(FileId(0), 1), text });
    }
    notes
}

/// The maps and lists that do not grow with every key. A field of a class is found under each global object of it as well.
fn limited<'f>(meanings: &Meanings<'f>) -> Vec<Limited> {
    let variables: &'f [Variable] = &meanings.flat.variables;
    let meaning = |variable: &'f Variable| match &variable.initial {
        Some(initial) => meanings.arg(FunctionId(variable.within), initial),
        None => Meaning::Unknown,
    };
    let mut objects: FxHashMap<&str, Vec<&AccessPath>> = FxHashMap::default();
    for variable in variables.iter().filter(|variable| matches!(variable.path.root, Root::Global(_))) {
        if let Meaning::Instance(class) = meaning(variable)
            && let Some(class) = meanings.flat.classes.get(class)
        {
            objects.entry(&class.name).or_default().push(&variable.path);
        }
    }
    let mut found: Vec<Limited> = vec![];
    for variable in variables {
        let by = match meaning(variable) {
            Meaning::Collection(Collection::Weak) => Limit::Weakness,
            Meaning::Collection(Collection::Limited) => Limit::Capacity,
            _ => continue,
        };
        let owner = variable.owner.as_ref().filter(|_| variable.path.root == Root::This);
        let elsewhere = owner.and_then(|owner| objects.get(&**owner)).into_iter().flatten().map(|object| {
            let mut path = (*object).clone();
            path.fields.extend(variable.path.fields.iter().cloned());
            path
        });
        for path in std::iter::once(variable.path.clone()).chain(elsewhere) {
            let limited = Limited { path, by };
            if !found.contains(&limited) {
                found.push(limited);
            }
        }
    }
    found
}
