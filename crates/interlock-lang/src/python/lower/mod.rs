//! From a syntax tree to a [`Module`]: functions of effects in evaluation order, whose calls are yet to be looked up.
//!
//! `imports.rs` reads what a file takes and offers, `classes.rs`, `functions.rs` and `decorators.rs` open functions, `statements.rs`,
//! `loops.rs` and `contexts.rs` fill them, `expressions.rs`, `comprehensions.rs`, `calls.rs` and `tasks.rs` evaluate, `places.rs` and
//! `assign.rs` decide what is shared memory, `conditions.rs` takes tests apart. `context.rs` holds the work in progress.

mod context;

mod imports;
mod types;

mod classes;
mod contexts;
mod decorators;
mod functions;
mod loops;
mod statements;

mod assign;
mod calls;
mod columns;
mod comprehensions;
mod conditions;
mod expressions;
mod lifespan;
mod places;
mod retried;
mod tasks;

#[cfg(test)]
mod tests;

use interlock_model::{
    Span,
    ir::{AccessPath, Interleaving, Note},
};
use ruff_python_ast::Stmt;
use rustc_hash::FxHashMap;

use self::context::{Lowerer, Scope};
use super::{bind::bind, depth, parse};
use crate::{
    Source,
    lines::Lines,
    lower::{Cx, Head, Work},
    module::Module,
};

/// Lowers one file. It never fails: what cannot be read becomes a note.
pub(super) fn lower(source: &Source<'_>) -> Module {
    let mut lines = Lines::new(source.text);
    let mut note = |at: usize, text: String| {
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let line = lines.line(at);
        Note { span: Span { start: at, end: at, line, end_line: line, ..Span::default() }, text }
    };
    let (text, cuts) = depth::bounded(source.text);
    let parsed = parse::parse(&text);
    let mut notes: Vec<Note> =
        cuts.into_iter().map(|at| note(at, "nested too deep; left out".to_owned())).collect();
    if let Some((at, trouble)) = parsed.trouble() {
        notes.push(note(at, format!("cannot be read and is left out: {trouble}")));
    }
    let mut module = tree(source.path, &text, parsed.body());
    module.notes.extend(notes);
    module
}

/// Lowers a syntax tree.
fn tree(path: &str, text: &str, body: &[Stmt]) -> Module {
    let facts = bind(body);
    let symbols = facts.symbols.iter().map(|symbol| symbol.name.into()).collect();
    let module = Module { path: path.into(), ..Module::default() };
    let mut lowerer = Lowerer {
        work: Work::new(text, module, facts.functions.len(), symbols),
        facts,
        names: FxHashMap::default(),
        globals: FxHashMap::default(),
        scope: Scope::new(AccessPath::this()),
        threaded: vec![],
        has_session: ["session", ".commit(", ".query("].iter().any(|word| text.contains(word)),
        around: vec![],
    };
    lowerer.fix_globals();
    lowerer.exports();
    lowerer.statements(body);
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let span = lowerer.work.span((0, end));
    lowerer.finish(Head { span, starts_up: true, ..Head::default() }, Cx::new(u32::MAX, "".into()));
    let Lowerer { work, threaded, .. } = lowerer;
    let mut module = work.finish_module();
    for id in threaded {
        if let Some(lowered) = module.functions.get_mut(id as usize) {
            lowered.function.interleaving = Interleaving::Anywhere;
        }
    }
    module
}
