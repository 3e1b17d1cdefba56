//! The work in progress on a Python file: what every language has in hand ([`Work`]), and what a function of Python has besides.

use std::ops::{Deref, DerefMut};

use interlock_model::{
    Span,
    ir::{AccessPath, Block, Name, Term},
};
use ruff_python_ast::StmtClassDef;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::bind::{Facts, SymbolKind};
use crate::{
    Arg,
    lower::{Binding, Cx, Head, Work},
    val::{Val, flag},
};

/// What the function that is being lowered has in Python alone.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// What the first parameter of a method leads to.
    pub(super) this: AccessPath,
    /// The names that the class body being lowered has bound so far.
    pub(super) class: Option<ClassScope>,
    /// The local names of which members were assigned, what to, and that were not written since.
    pub(super) changed: Vec<(&'a str, Vec<(Name, Arg)>)>,
    /// Whether the function is a context manager written as a generator, and whether it has come to where it hands out what it is for.
    pub(super) manages: bool,
    pub(super) entered: bool,
    /// What was entered through the stack of a `with` around here, and whether that is waited for: it is left where the stack is.
    pub(super) stacked: Vec<(Val, bool)>,
    /// Whether what is handed over now goes to a library, which reads it at once.
    pub(super) hands_to_library: bool,
}

impl Scope<'_> {
    pub(super) const fn new(this: AccessPath) -> Self {
        Self {
            this,
            class: None,
            changed: vec![],
            manages: false,
            entered: false,
            stacked: vec![],
            hands_to_library: false,
        }
    }
}

/// The class whose body is being lowered.
#[derive(Debug, Clone)]
pub(super) struct ClassScope {
    pub(super) path: AccessPath,
    pub(super) names: FxHashSet<Name>,
}

/// Lowers one file.
pub(super) struct Lowerer<'a> {
    pub(super) work: Work,
    pub(super) facts: Facts<'a>,
    pub(super) names: FxHashMap<&'a str, Name>,
    /// The globals of this file, by their name in it.
    pub(super) globals: FxHashMap<&'a str, Name>,
    pub(super) scope: Scope<'a>,
    /// The functions of this file that run in a thread of their own.
    pub(super) threaded: Vec<u32>,
    /// Whether it uses something like the session of a library for tables.
    pub(super) has_session: bool,
    /// The classes around what is being lowered.
    pub(super) around: Vec<&'a StmtClassDef>,
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
    pub(super) fn name(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    pub(super) fn span(&mut self, range: TextRange) -> Span {
        self.work.span((range.start().into(), range.end().into()))
    }

    /// The following steps stand here.
    pub(super) fn stand(&mut self, it: &impl Ranged) {
        self.at = self.span(it.range());
    }

    /// The steps of something in a block of their own.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        self.within(false, inner)
    }

    /// The same behind a condition.
    pub(super) fn branch<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        self.within(true, inner)
    }

    fn within<T>(&mut self, condition: bool, inner: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let before = self.scope.entered;
        let opened = self.open(condition);
        let result = inner(self);
        // What a context manager hands out on one of two ways is not handed out on the other.
        if condition {
            self.scope.entered = before;
        }
        (self.close(opened), result)
    }

    /// Begins a function; [`Lowerer::end_function`] ends it.
    pub(super) fn begin_function(&mut self, cx: Cx, scope: Scope<'a>) -> (Cx, Scope<'a>) {
        (std::mem::replace(&mut self.cx, cx), std::mem::replace(&mut self.scope, scope))
    }

    /// Puts the function that is being lowered away, and goes on with the one around it.
    pub(super) fn end_function(&mut self, head: Head, (cx, scope): (Cx, Scope<'a>)) {
        self.finish(head, cx);
        self.scope = scope;
    }

    /// A name of this file as a global.
    pub(super) fn global(&mut self, name: &'a str) -> Name {
        let path = &self.work.module.path;
        self.globals.entry(name).or_insert_with(|| format!("{path}::{name}").into()).clone()
    }

    /// What a function takes along from here.
    pub(super) fn captures_of(&mut self, function: u32) -> Vec<Term> {
        let symbols = self.facts.captures(function).to_vec();
        symbols.into_iter().map(|symbol| self.capture_term(symbol)).collect()
    }

    fn capture_term(&mut self, symbol: u32) -> Term {
        if self.facts.symbol(symbol).map(|symbol| symbol.function) != Some(self.cx.id) {
            let known = self.facts.captures(self.cx.id).contains(&symbol);
            return if known { self.capture(symbol, flag::STATE).into() } else { Term::Unknown };
        }
        let binding = match self.bindings.get(&symbol) {
            Some(binding) => binding.clone(),
            None => {
                // It is used before its assignment was met: by a function that is called later.
                let name = self.symbol_name(symbol);
                let value = self.step(&name, flag::STATE);
                self.set(symbol, Binding::of(value));
                Binding::of(value)
            }
        };
        match binding.alias {
            Some(path) if !self.is_state(&path) => Term::Path(path),
            _ => binding.value.into(),
        }
    }

    /// Whether a variable is memory that another function may have changed.
    pub(super) fn changes_under_us(&self, symbol: u32) -> bool {
        self.facts.symbol(symbol).is_some_and(|found| {
            found.shared && matches!(found.kind, SymbolKind::Variable | SymbolKind::Parameter)
        })
    }
}
