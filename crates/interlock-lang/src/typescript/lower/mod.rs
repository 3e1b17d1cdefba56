//! From a syntax tree to a [`Module`]: functions of effects in evaluation order, whose calls are yet to be looked up.
//!
//! `bind/` finds out what names mean before anything is lowered. Then `items.rs` and `commonjs.rs` read what a file imports and
//! exports, `classes.rs` and `functions.rs` open functions, `statements.rs` and `loops.rs` fill them, `expressions.rs`, `calls.rs`,
//! `promises.rs`, `telling.rs` and `timers.rs` evaluate, `places.rs` and `assign.rs` decide what is shared memory, and `conditions.rs` and
//! `patterns.rs` take tests and destructuring apart. `context.rs` holds the work in progress, `cx.rs` the function of it.

mod bind;
mod context;
mod cx;
mod names;
mod variables;

mod commonjs;
mod items;
mod types;

mod classes;
mod functions;
mod loops;
mod patterns;
mod statements;

mod assign;
mod calls;
mod conditions;
mod expressions;
mod jsx;
mod logging;
mod mutex;
mod places;
mod promises;
mod timers;

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use interlock_model::{
    Span,
    ir::{AccessPath, Note, Role},
};
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use rustc_hash::FxHashMap;

pub(crate) use self::commonjs::required;
use self::{
    bind::bind,
    context::Lowerer,
    cx::{Cx, Head, SpareBuffers, cut_off},
    names::Names,
};
use super::{depth, parse, restore::restore, salvage};
use crate::val;
use crate::{
    Source,
    module::{Lowered, Module, Site, Variable},
};

/// Lowers one file. It never fails: what cannot be read becomes a note.
pub(crate) fn lower(source: &Source<'_>) -> Module {
    let depth = depth::measure(source.text);
    if depth.cuts.is_empty() {
        return lower_shallow(source);
    }
    let text = depth.apply(source.text);
    let mut module = lower_shallow(&Source { path: source.path, text: &text });
    let mut names = Names::new(source.path, source.text);
    for cut in &depth.cuts {
        let span = names.span(cut.range.start, cut.range.end);
        module.notes.push(Note { span, text: "nested too deep; left out".to_owned() });
    }
    module
}

/// Lowers a file in which nothing nests too deep.
fn lower_shallow(source: &Source<'_>) -> Module {
    let allocator = Allocator::default();
    let mut parsed = parse::parse(&allocator, source.path, source.text);
    if parsed.usable {
        restore(&allocator, &mut parsed.program);
        return tree(source, &parsed.program);
    }
    let mut names = Names::new(source.path, source.text);
    let (at, trouble) = parsed.trouble.unwrap_or_default();
    let note = |span: Span, text: String| Note { span, text };
    let salvaged = salvage::salvage(source.path, source.text, |text| {
        let allocator = Allocator::default();
        let parsed = parse::parse(&allocator, source.path, text);
        match parsed.trouble {
            Some((at, _)) if !parsed.usable => Err(at as usize),
            _ => Ok(()),
        }
    });
    let Some(salvaged) = salvaged else {
        let mut module = Module { path: source.path.into(), ..Module::default() };
        let at = names.span(at as usize, at as usize);
        module.notes.push(note(at, format!("cannot be read: {trouble}")));
        return module;
    };
    let source = Source { path: source.path, text: &salvaged.text };
    let allocator = Allocator::default();
    let mut parsed = parse::parse(&allocator, source.path, source.text);
    restore(&allocator, &mut parsed.program);
    let mut module = tree(&source, &parsed.program);
    for lost in salvaged.lost {
        let span = names.span(lost.start, lost.end);
        module.notes.push(note(span, format!("cannot be read and is left out: {trouble}")));
    }
    module
}

/// Lists that have grown with other files, empty by now: the next file on the same thread need not make them grow again.
#[derive(Default)]
struct Spare {
    rooms: Vec<SpareBuffers>,
    sites: Vec<Site>,
    variables: Vec<Variable>,
}

/// So many functions are inside each other in most files.
const ROOMS: usize = 16;

thread_local! {
    static SPARE: RefCell<Spare> = RefCell::default();
}

/// Lowers a syntax tree.
fn tree<'a>(source: &Source<'_>, program: &Program<'a>) -> Module {
    let Spare { mut rooms, sites, variables } = SPARE.take();
    let facts = bind(program);
    let (symbols, functions) = (facts.symbols.len(), facts.functions.len());
    let mut done = Vec::with_capacity(functions);
    done.resize_with(functions, || None);
    let mut lowerer = Lowerer {
        text: program.source_text,
        releasers: vec![],
        lock_maps: vec![],
        semaphores: vec![],
        has_lock_files: mutex::has_lock_files(program.source_text),
        facts,
        names: Names::new(source.path, source.text),
        module: Module { path: source.path.into(), sites, variables, ..Module::default() },
        done,
        bindings: vec![None; symbols],
        changes: vec![],
        paths: vec![],
        shapes: vec![],
        enums: FxHashMap::default(),
        settlers: vec![],
        cx: Cx::new(0, "module".into(), None, AccessPath::this(), rooms.pop().unwrap_or_default()),
        spare: rooms,
        at: Span::default(),
        bound: None,
        handed: None,
    };
    lowerer.fix_globals();
    lowerer.statements(&program.body);
    let span = lowerer.span(program.span);
    let nothing = Cx::new(u32::MAX, "".into(), None, AccessPath::this(), SpareBuffers::default());
    lowerer.finish(Head { span, ..Head::default() }, nothing);
    let Lowerer { mut module, done, spare: mut rooms, .. } = lowerer;
    module.functions = done
        .into_iter()
        .enumerate()
        .map(|(id, function)| function.unwrap_or_else(|| unreached(id)))
        .collect();
    module.imports = cut_off(&mut module.imports, 0);
    module.exports = cut_off(&mut module.exports, 0);
    module.classes = cut_off(&mut module.classes, 0);
    let (mut sites, mut variables) = (module.sites, module.variables);
    module.sites = cut_off(&mut sites, 0);
    module.variables = cut_off(&mut variables, 0);
    rooms.truncate(ROOMS);
    SPARE.set(Spare { rooms, sites, variables });
    if let Some(first) = module.functions.first_mut() {
        first.function.role = Role::StartUp;
    }
    module
}

/// A function that lowering did not come to, because the one around it was cut.
fn unreached(id: usize) -> Lowered {
    let id = u32::try_from(id).unwrap_or(u32::MAX);
    Cx::new(id, "unreached".into(), None, AccessPath::this(), SpareBuffers::default())
        .finish(Head::default())
        .0
}
