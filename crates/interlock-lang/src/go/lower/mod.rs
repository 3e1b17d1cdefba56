//! From the syntax of a file to its [`Module`]: functions of effects in evaluation order, whose calls are yet to be looked up.
//!
//! `types.rs` reads declarations, `functions.rs` opens functions, `statements.rs`, `ways.rs` and `loops.rs` fill them, `expressions.rs`,
//! `literals.rs` and `calls.rs` evaluate, `channels.rs` sends and receives, `builtins.rs` knows what the language itself offers, `places.rs` and `assign.rs` decide what is
//! shared memory.

mod assign;
mod builtins;
mod calls;
mod channels;
mod conditions;
mod expressions;
mod functions;
mod literals;
mod loops;
mod places;
mod statements;
mod types;
mod ways;

#[cfg(test)]
mod tests;

use std::ops::{Deref, DerefMut};

use interlock_model::{
    Span,
    ir::{Backoff, Name, Note, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    ast::File,
    bind::{Facts, bind},
    parse,
    permits::{Permit, permits},
};
use crate::{Arg, Source, lines::Lines, lower::Work, module::Module, val::Val};

/// Lowers one file. It never fails: what cannot be read becomes a note.
pub(super) fn lower(source: &Source<'_>) -> Module {
    let read = parse::parse(source.text);
    let mut lines = Lines::new(source.text);
    let notes: Vec<Note> = read
        .trouble
        .into_iter()
        .map(|(at, text)| {
            let line = lines.line(at);
            Note { span: Span { start: at, end: at, line, end_line: line, ..Span::default() }, text }
        })
        .collect();
    let mut module = file(source, &read.file);
    module.notes.extend(notes);
    module
}

/// What the globals of a package are called after. It cannot be taken for the path of a library.
fn namespace(path: &str) -> Name {
    match path.rsplit_once('/') {
        Some((folder, _)) => format!("./{folder}").into(),
        None => "./".into(),
    }
}

fn file(source: &Source<'_>, file: &File<'_>) -> Module {
    let facts = bind(file);
    let permits = permits(file, &facts);
    let module =
        Module { path: source.path.into(), namespace: Some(namespace(source.path)), ..Module::default() };
    let symbols = facts.symbols.iter().map(|symbol| symbol.name.into()).collect();
    let work = Work::new(source.text, module, facts.functions.len(), symbols);
    let mut lowerer = Lowerer {
        work,
        facts,
        permits,
        names: FxHashMap::default(),
        globals: FxHashMap::default(),
        imports: FxHashMap::default(),
        declared: FxHashSet::default(),
        copies: false,
        results: vec![],
        copied: types::copied_entries(file),
        values: types::fields_by_value(file),
        uncopied: types::uncopied_fields(file),
        copying: types::copying_functions(file),
        copied_locals: FxHashSet::default(),
        ranged: FxHashSet::default(),
        turns: vec![],
        writes_to: FxHashMap::default(),
        timers: FxHashMap::default(),
        timer_fields: types::timer_fields(file),
        appended: vec![],
        tails: FxHashMap::default(),
    };
    lowerer.file(file, source.text.len());
    lowerer.work.finish_module()
}

/// Lowers one file.
struct Lowerer<'a> {
    work: Work,
    facts: Facts<'a>,
    /// Sends and receives that take a lock or give it back, by where they stand.
    permits: FxHashMap<u32, Permit>,
    names: FxHashMap<&'a str, Name>,
    /// The globals of this package that the file names, by their name in it.
    globals: FxHashMap<&'a str, Name>,
    /// The paths of what the file imports, by their name in it.
    imports: FxHashMap<&'a str, &'a str>,
    /// What the file declares for the whole package.
    declared: FxHashSet<&'a str>,
    /// Whether the receiver of the method is a copy.
    copies: bool,
    /// The named results of the function.
    results: Vec<u32>,
    /// Fields whose entries are structs and no pointers to them, so that a loop over them works on copies.
    copied: FxHashSet<&'a str>,
    /// Fields that hold a struct and no pointer to one, so that a variable which is set to them has a copy.
    values: FxHashSet<&'a str>,
    /// Of those, locks.
    uncopied: FxHashSet<&'a str>,
    /// Functions that give back a copy of a struct with a lock in it.
    copying: FxHashSet<&'a str>,
    /// Locals that hold a copy of a struct: their own members are nobody else's.
    copied_locals: FxHashSet<u32>,
    /// Variables of loops that go through something.
    ranged: FxHashSet<u32>,
    /// The loops around what is lowered, by where they stand.
    turns: Vec<u32>,
    /// What locals write to that were made for that: an encoder, and the buffer that it fills.
    writes_to: FxHashMap<u32, u32>,
    /// For how long timers are set that locals have: whether another time each turn, and whether by chance.
    timers: FxHashMap<u32, (Backoff, bool)>,
    /// Fields that hold a timer or a ticker.
    timer_fields: FxHashSet<&'a str>,
    /// What the last `append` has put behind its list.
    appended: Vec<Val>,
    /// What was appended last to what became a value of a function: the key behind the columns, `args = append(args, id)`.
    tails: FxHashMap<(u32, Value), Vec<Arg>>,
}

impl Deref for Lowerer<'_> {
    type Target = Work;

    fn deref(&self) -> &Work {
        &self.work
    }
}

impl DerefMut for Lowerer<'_> {
    fn deref_mut(&mut self) -> &mut Work {
        &mut self.work
    }
}

impl<'a> Lowerer<'a> {
    fn name(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    /// A name of the package, or of an import, as a global.
    fn global(&mut self, name: &'a str) -> Name {
        let space = self.work.module.namespace.as_deref().unwrap_or_default();
        self.globals.entry(name).or_insert_with(|| format!("{space}::{name}").into()).clone()
    }
}
