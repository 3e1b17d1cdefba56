//! Modules put together: imports followed, calls looked up, libraries' calls turned into what they do.
//!
//! 1. `names` leads every name to its declaration, with what the language says of where imports lead.
//! 2. `flat` numbers everything through and writes the led names down; `named` puts arguments in the order of the parameters.
//! 3. [`tools`] finds the handlers.
//! 4. The [evaluator](crate::eval) answers what the things are that calls name.
//! 5. `rewrite` replaces the calls of each function, several functions side by side. A file each knows one kind of call: the program's own functions
//!    (`calls`), properties that run code (`getters`), maps and lists (`collections`), entries of what a library keeps (`kept`), requests that a helper makes for its caller (`requests`), wrappers
//!    that hand their arguments on to a library (`forward`, `handed`), clients of unknown services, by the names of their methods (`remote`). `tables`
//!    collects the tables that the sources declare. `waits` removes suspensions at which nobody else can run.
//! 6. `members` notes what functions put together, hand over and give back, for whoever takes it apart.

pub(crate) mod names;
mod visit;

mod constants;
pub(crate) mod flat;
mod getters;
mod interfaces;
mod kept;
mod named;

mod calls;
mod collections;
mod decorated;
pub(crate) mod forward;
mod handed;
mod members;
mod passed;
pub(crate) mod remote;
mod requests;
mod rewrite;
mod threaded;
mod waits;

mod drizzle;
mod knex;
pub(crate) mod tables;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Doubt, Doubtful, Field, Function, FunctionId, Limit, Limited, Name, Note, Op, Program,
        Resource, Role, Root, Unresolved, WriteMode,
    },
};
use rayon::{
    iter::{IndexedParallelIterator, ParallelIterator},
    slice::ParallelSliceMut,
};
use rustc_hash::FxHashMap;

use self::{flat::number, names::Names};
use crate::{
    Arg, Frontend, Handlers, Layout, Shape,
    eval::{AbstractValue, Evaluator, Index, World},
    knowledge::Knowledge,
    module::{Module, Variable},
    tables::Collection,
    tools,
};

/// How many functions one thread takes at once.
const SIDE_BY_SIDE: usize = 64;

/// How a front end begins the note about what it cannot parse.
const UNREADABLE: &str = "cannot be read";

/// More notes than this are only counted.
const MOST_NOTES: usize = 50;

/// Puts the modules of a tree together. `settings` are path and text.
pub(crate) fn link(
    language: &dyn Frontend,
    mut modules: Vec<Module>,
    settings: &[(String, String)],
    knowledge: &Knowledge,
) -> Program {
    let Layout { imports, packages, schemas, broken, handlers } = language.layout(&modules, settings);
    let semantics = language.semantics();
    let broken = broken.iter().map(note_broken);
    let names = Names::new(&mut modules, imports, semantics.default_export.unwrap_or_default());
    let (mut flat, mut functions) = flat::flatten(modules, &names);
    functions.iter_mut().for_each(|function| semantics.describe(function));
    named::settle(&mut flat, &functions);
    constants::settle(&flat, &mut functions);
    let packages = packages.iter().map(String::as_str).collect();
    let namespaces = names.namespaces();
    let tools::Applied {
        servers,
        notes: unregistered,
        unresolved: nameless,
        routes,
        out_of_sight,
        called_by_tree,
        in_threads,
    } = tools::apply(&mut flat, &mut functions, packages, (&names, &namespaces), knowledge, semantics);
    let mut notes = std::mem::take(&mut flat.notes);
    notes.extend(threads(&handlers, &flat.files, &mut functions, &called_by_tree));
    threaded::mark(&mut functions, &in_threads);
    notes.extend(unregistered.into_iter().chain(broken).chain(lost(&names)));
    let doubts = doubts(&notes, &names);
    let hand_made = std::mem::take(&mut flat.hand_made);
    let passed = {
        let index = Index::of(&flat, &functions, knowledge.tables().builtin());
        passed::statements(&Evaluator::new(&World::new(&flat, &index, &namespaces, knowledge, semantics)))
    };
    passed::put(&mut flat, passed);

    let index = Index::of(&flat, &functions, knowledge.tables().builtin());
    let libraries = names.libraries();
    let engine = knowledge.engine_of(&libraries);
    let keeps_entries = libraries.iter().any(|library| knowledge.may_keep_entries(library));
    let world =
        || World::new(&flat, &index, &namespaces, knowledge, semantics).with_libraries(engine, keeps_entries);
    let tables = tables::of(&Evaluator::new(&world()), &schemas);
    let world = world().with_keys(tables::keys(&tables));
    threaded::mark(&mut functions, &threaded::started(&Evaluator::new(&world)));
    let bare_maps = if semantics.bare_maps { bare_maps(&world, &functions) } else { HashSet::default() };
    let made = members::made(&flat, &functions);
    let (mut unresolved, settled_requests) = rewrite_all(&world, &mut functions);
    unresolved.extend(nameless);
    if semantics.coroutines {
        waits::settle(&mut functions);
    }
    for (id, (function, about)) in functions.iter_mut().zip(&flat.about).enumerate() {
        if number(id) == about.module && function.role == Role::Helper {
            function.role = Role::StartUp;
        }
    }
    for function in commands(&world) {
        if let Some(function) = functions.get_mut(function.0 as usize)
            && function.role == Role::Helper
        {
            function.role = Role::StartUp;
        }
    }
    let limited = limited(&Evaluator::new(&world));
    let returned = members::returned(&flat, &functions);
    let gathers = flat.about.iter().enumerate();
    let gathers = gathers.filter_map(|(id, about)| Some((FunctionId(number(id)), about.gathers?))).collect();
    let optional = optional(&index);
    Program {
        files: flat.files.clone(),
        functions,
        servers,
        tables,
        limited,
        hand_made,
        bare_maps,
        called_often: HashSet::default(),
        notes: bounded(notes),
        unresolved,
        out_of_sight,
        routes,
        doubts,
        settled_requests,
        returned,
        made,
        gathers,
        optional,
        words: BTreeMap::new(),
    }
}

/// The parameters that are nothing where nothing is handed over for them: `on_progress=None`.
fn optional(index: &Index<'_>) -> HashMap<FunctionId, Vec<u32>> {
    let is_nothing = |default: &Option<&Arg>| default.is_some_and(|arg| matches!(arg.shape, Shape::Null));
    let of = |defaults: &[Option<&Arg>]| {
        (0..).zip(defaults).filter(|(_, default)| is_nothing(default)).map(|(number, _)| number).collect()
    };
    let all = index.defaults.iter().map(|(function, defaults)| (*function, of(defaults)));
    all.filter(|(_, numbers): &(_, Vec<u32>)| !numbers.is_empty()).collect()
}

/// The functions that are what a program does at start-up, by the arguments that it is given: `&cobra.Command{RunE: serve}`.
fn commands(world: &World<'_>) -> Vec<FunctionId> {
    let eval = Evaluator::new(world);
    let known = &eval.knowledge.tables().sdk().command;
    let mut found = vec![];
    for (id, about) in eval.flat.about.iter().enumerate().filter(|_| !known.types.is_empty()) {
        for (value, arg) in &about.locals {
            let Shape::Object(members) = &arg.shape else { continue };
            let declared = about.types.iter().find(|(typed, _)| typed == value);
            let is_command = declared.is_some_and(|(_, path)| match &path.root {
                Root::Global(name) if path.fields.is_empty() => known.types.contains(&**name),
                Root::Global(name) => match path.fields.as_slice() {
                    [Field::Name(field)] => {
                        let library = name.trim_end_matches(['*', ':']);
                        known.types.contains(&format!("{library}::{field}"))
                    }
                    _ => false,
                },
                _ => false,
            });
            for (_, work) in members.iter().filter(|(name, _)| is_command && known.members.contains(&**name))
            {
                if let AbstractValue::Function(function, _) = eval.arg(FunctionId(number(id)), work) {
                    found.push(function);
                }
            }
        }
    }
    found
}

/// The steps that change maps of the language itself. Those of libraries are not among the steps yet.
fn bare_maps(world: &World<'_>, functions: &[Function]) -> HashSet<Span> {
    let eval = Evaluator::new(world);
    let mut found = HashSet::default();
    for (id, function) in functions.iter().enumerate() {
        for effect in function.effects() {
            let path = match &effect.op {
                Op::Write { to: Resource::Shared(path), mode: WriteMode::Blind, .. }
                | Op::Delete { of: Resource::Shared(path), .. } => path,
                _ => continue,
            };
            let Some((_, map)) = path.fields.split_last() else { continue };
            let map = AccessPath { root: path.root.clone(), fields: map.into() };
            let meaning = eval.path(FunctionId(number(id)), &map);
            if matches!(meaning, AbstractValue::Collection(Collection::Map)) {
                found.insert(effect.span);
            }
        }
    }
    found
}

/// Rewrites all functions, and says which of their calls lead nowhere, and which leave nothing open of a request. What a call reaches does not depend on who asked before, so threads
/// take functions as they come.
fn rewrite_all(world: &World<'_>, functions: &mut [Function]) -> (Vec<Unresolved>, HashSet<Span>) {
    let rewrite = |(part, functions): (usize, &mut [Function])| {
        let eval = Evaluator::new(world);
        for (id, function) in (part * SIDE_BY_SIDE..).zip(functions) {
            rewrite::rewrite(&eval, FunctionId(number(id)), function);
        }
        (eval.unresolved.take(), eval.settled_requests.take())
    };
    let parts: Vec<(Vec<Unresolved>, Vec<Span>)> =
        functions.par_chunks_mut(SIDE_BY_SIDE).enumerate().map(rewrite).collect();
    let (unresolved, settled): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    (unresolved.into_iter().flatten().collect(), settled.into_iter().flatten().collect())
}

/// Says of handlers that are not asynchronous how they run, and what is to be said about that.
fn threads(
    handlers: &[Handlers],
    files: &[Name],
    functions: &mut [Function],
    called_by_tree: &[FunctionId],
) -> Vec<Note> {
    let mut told: Vec<(&str, Note)> = vec![];
    let is_handler = |(id, function): &(usize, &mut Function)| {
        !function.asynchronous
            && matches!(function.role, Role::Handler(_))
            && !called_by_tree.contains(&FunctionId(number(*id)))
    };
    for (_, function) in functions.iter_mut().enumerate().filter(is_handler) {
        let Some(path) = files.get(function.span.file.0 as usize) else { continue };
        let inside = |it: &&Handlers| {
            it.folder.is_empty() || path.strip_prefix(&*it.folder).is_some_and(|rest| rest.starts_with('/'))
        };
        let Some(known) = handlers.iter().filter(inside).max_by_key(|it| it.folder.len()) else { continue };
        function.interleaving = known.interleaving;
        if let Some(remark) = &known.remark
            && !told.iter().any(|(folder, _)| *folder == known.folder)
        {
            told.push((&known.folder, Note { span: function.span, text: remark.clone() }));
        }
    }
    told.into_iter().map(|(_, note)| note).collect()
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

/// The files that do not parse, and those that import several others of which none is there.
fn doubts(notes: &[Note], names: &Names) -> Vec<Doubt> {
    let unread = notes.iter().filter(|note| note.text.starts_with(UNREADABLE));
    let damaged = unread.map(|note| Doubt { span: note.span, why: Doubtful::DamagedFile });
    let stranded = names.stranded().into_iter().map(|module| {
        let span = Span::on_line(FileId(number(module)), 1);
        Doubt { span, why: Doubtful::StrandedFile }
    });
    let mut doubts: Vec<Doubt> = damaged.chain(stranded).collect();
    doubts.sort_by_key(|doubt| doubt.span.file);
    doubts.dedup_by_key(|doubt| doubt.span.file);
    doubts
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
fn limited<'f>(eval: &Evaluator<'_, 'f>) -> Vec<Limited> {
    let variables: &'f [Variable] = &eval.flat.variables;
    let meaning = |variable: &'f Variable| match &variable.initial {
        Some(initial) => eval.arg(FunctionId(variable.within), initial),
        None => AbstractValue::Unknown,
    };
    let mut objects: FxHashMap<&str, Vec<&AccessPath>> = FxHashMap::default();
    for variable in variables.iter().filter(|variable| matches!(variable.path.root, Root::Global(_))) {
        if let AbstractValue::Instance(class, _) = meaning(variable)
            && let Some(class) = eval.flat.classes.get(class)
        {
            objects.entry(&class.name).or_default().push(&variable.path);
        }
    }
    let mut found: Vec<Limited> = vec![];
    for variable in variables {
        let by = match meaning(variable) {
            AbstractValue::Collection(Collection::Weak) => Limit::Weakness,
            AbstractValue::Collection(Collection::Limited) => Limit::Capacity,
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
