//! What the names of a file mean, found out before anything is lowered: which variable an identifier is, which variables are
//! assigned again, which functions take which variables along, and what a loop assigns.
//!
//! The answers are kept in the cells that the syntax tree has for them, so that lowering finds them without a search: a binding holds
//! the number of its [`Symbol`], a reference the number of the symbol it means, a function the number of its [`FunctionFacts`], a class
//! that of its [`ClassFacts`], and a loop that of its [`LoopFacts`].

mod captures;
mod declare;
mod decorators;
mod expressions;
mod scope;
mod statements;

pub(super) use self::decorators::announced;
use oxc_str::{Ident, IdentHashMap};
use oxc_syntax::{node::NodeId, reference::ReferenceId, scope::ScopeId, symbol::SymbolId};
use rustc_hash::FxHashSet;

/// A variable, function, class, parameter, import or type.
#[derive(Debug)]
pub(super) struct Symbol<'a> {
    pub(super) name: Ident<'a>,
    pub(super) kind: SymbolKind,
    /// The function whose variable it is.
    pub(super) function: u32,
    /// Whether it lives as long as the module.
    pub(super) global: bool,
    /// Whether it stands for a whole module: `import * as x`, `x = require(…)`.
    pub(super) whole: bool,
    /// Whether it is assigned other than where it is declared.
    pub(super) reassigned: bool,
    /// Whether it only ever counts, and only in its own function: what a function inside takes along is the number of that turn.
    pub(super) counts: bool,
    /// Whether a function inside its own uses it.
    pub(super) captured: bool,
    /// How often it is named, and how often of that it is waited for.
    pub(super) named: u32,
    pub(super) awaited: u32,
    /// The function that it is declared as.
    pub(super) holds: Option<u32>,
    /// The namespace that it stands in.
    pub(super) namespace: Option<u32>,
}

/// What declares a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolKind {
    /// `import`, of a file of this tree.
    Import,
    /// `import`, of a package.
    Library,
    /// `import`, of a package whose calls only describe data.
    Schema,
    Function,
    Class,
    Const,
    Variable,
    Parameter,
    Enum,
    Namespace,
    Type,
}

/// A function before it is lowered.
#[derive(Debug, Default)]
pub(super) struct FunctionFacts {
    pub(super) parent: Option<u32>,
    /// The symbols of functions around it that it or a function inside it uses.
    pub(super) free: Vec<u32>,
    /// What it takes along: `free` with functions replaced by what they take along.
    pub(super) captures: Vec<u32>,
}

/// A class before it is lowered.
#[derive(Debug)]
pub(super) struct ClassFacts {
    /// The function that is its constructor, written or not.
    pub(super) constructor: u32,
}

/// What a loop assigns of its function's variables.
#[derive(Debug, Default)]
pub(super) struct LoopFacts {
    pub(super) assigned: Vec<u32>,
    /// Which of them it counts: `i++`, `delay *= 2`.
    pub(super) counted: Vec<u32>,
    function: u32,
}

/// Everything that was found out.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    pub(super) symbols: Vec<Symbol<'a>>,
    pub(super) functions: Vec<FunctionFacts>,
    pub(super) classes: Vec<ClassFacts>,
    pub(super) loops: Vec<LoopFacts>,
    /// The symbols of the module by name.
    pub(super) globals: IdentHashMap<'a, u32>,
}

/// The work in progress.
#[derive(Default)]
struct Binder<'a> {
    facts: Facts<'a>,
    /// What each name means here.
    names: IdentHashMap<'a, u32>,
    /// What it meant outside the scopes that are open, innermost last.
    hidden: Vec<(Ident<'a>, Option<u32>)>,
    /// The function that is being read.
    function: u32,
    /// Whether declarations become globals: the module's own scope, or a namespace in it.
    at_top: bool,
    namespace: Option<u32>,
    /// The loops around this place.
    open_loops: Vec<u32>,
    seen_free: FxHashSet<(u32, u32)>,
}

/// Finds out what the names of a file mean.
pub(super) fn bind<'a>(program: &oxc_ast::ast::Program<'a>) -> Facts<'a> {
    let mut binder = Binder { at_top: true, ..Binder::default() };
    // About as many as most files declare, so that the lists seldom grow.
    let symbols = program.source_text.len() / 64;
    binder.facts.symbols.reserve(symbols);
    binder.hidden.reserve(symbols);
    binder.names.reserve(symbols);
    binder.facts.functions.push(FunctionFacts::default());
    binder.declare_all(&program.body);
    binder.facts.globals = binder.names.clone();
    binder.statements(&program.body);
    binder.settle_captures();
    binder.facts
}

pub(super) fn symbol_of(id: &std::cell::Cell<Option<SymbolId>>) -> Option<u32> {
    id.get().and_then(|id| u32::try_from(id.index()).ok())
}

pub(super) fn meaning_of(id: &std::cell::Cell<Option<ReferenceId>>) -> Option<u32> {
    id.get().and_then(|id| u32::try_from(id.index()).ok())
}

pub(super) fn number_of(id: &std::cell::Cell<Option<ScopeId>>) -> Option<u32> {
    id.get().and_then(|id| u32::try_from(id.index()).ok())
}

pub(super) fn loop_of(id: &std::cell::Cell<NodeId>) -> u32 {
    u32::try_from(id.get().index()).unwrap_or(u32::MAX)
}

impl<'a> Facts<'a> {
    pub(super) fn symbol(&self, symbol: u32) -> Option<&Symbol<'a>> {
        self.symbols.get(symbol as usize)
    }

    pub(super) fn captures(&self, function: u32) -> &[u32] {
        self.functions.get(function as usize).map_or(&[], |facts| &facts.captures)
    }

    /// The function that a symbol means for good.
    pub(super) fn held(&self, symbol: u32) -> Option<u32> {
        self.symbol(symbol).filter(|symbol| !symbol.reassigned).and_then(|symbol| symbol.holds)
    }

    /// Whether a variable of a function does nothing but hold what is waited for later, in the same function.
    pub(super) fn is_promise(&self, symbol: u32) -> bool {
        let only_awaited = |symbol: &&Symbol<'_>| symbol.awaited > 0 && symbol.awaited == symbol.named;
        let found = self.symbol(symbol).filter(only_awaited);
        found.is_some_and(|symbol| !symbol.captured && !symbol.reassigned && !symbol.global)
    }

    /// Whether a variable of a function is memory that several functions see change.
    pub(super) fn is_cell(&self, symbol: u32) -> bool {
        self.symbol(symbol)
            .is_some_and(|symbol| symbol.captured && symbol.reassigned && !symbol.counts && !symbol.global)
    }
}
