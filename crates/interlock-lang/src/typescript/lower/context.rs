//! The work in progress: the function that is being lowered, its values, and what the variables stand for at this point.

use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Block, Effect, Field, FunctionId, Name, Note, Op, Origin, Root, Term, Value, ValueInfo,
    },
};
use rustc_hash::FxHashMap;

use super::{
    bind::Facts,
    cx::{Cx, SpareBuffers, cut_off},
    mutex::{Place, Releaser},
    names::Names,
    val::Val,
};
pub(super) use crate::val::flag;
use crate::{
    Shape,
    module::{Lowered, Module, is_qualified},
};

/// A function with more steps than this is cut: nobody writes one, and a generated one is no handler.
const MOST_EFFECTS: usize = 20_000;

/// What a variable stands for at this point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binding {
    pub(super) value: Value,
    /// Index into [`Lowerer::paths`]: the shared place that it is another name of.
    pub(super) alias: Option<u32>,
    /// Index into [`Lowerer::shapes`]: what it was made as.
    pub(super) shape: Option<u32>,
}

/// Lowers one file.
pub(super) struct Lowerer<'a> {
    pub(super) text: &'a str,
    pub(super) facts: Facts<'a>,
    pub(super) names: Names<'a>,
    pub(super) module: Module,
    pub(super) done: Vec<Option<Lowered>>,
    /// What the variables of the open functions stand for, by symbol.
    pub(super) bindings: Vec<Option<Binding>>,
    /// What they stood for before, so that a branch can be undone.
    pub(super) changes: Vec<(u32, Option<Binding>)>,
    pub(super) paths: Vec<AccessPath>,
    pub(super) shapes: Vec<Shape>,
    pub(super) enums: FxHashMap<(u32, Name), Term>,
    /// The parameters that settle a promise: the symbols of `resolve` in `new Promise((resolve, reject) => …)`.
    pub(super) settlers: Vec<u32>,
    /// What gives a lock back that the module builds itself, and the maps that hold such locks.
    pub(super) releasers: Vec<Releaser>,
    pub(super) lock_maps: Vec<Place>,
    pub(super) semaphores: Vec<Place>,
    pub(super) has_lock_files: bool,
    pub(super) cx: Cx,
    /// Lists of functions that are done.
    pub(super) spare: Vec<SpareBuffers>,
    /// The span of the step that is being lowered.
    pub(super) at: Span,
    /// The path by which a function that is about to be evaluated will be called.
    pub(super) bound: Option<AccessPath>,
    /// The module that a function which is about to be evaluated is handed: `import("./x").then((x) => …)`.
    pub(super) handed: Option<Val>,
}

impl<'a> Lowerer<'a> {
    pub(super) fn span(&mut self, span: oxc_span::Span) -> Span {
        let line = self.names.line(span.start);
        let end_line = self.names.line(span.end.saturating_sub(1).max(span.start));
        Span { file: FileId(0), start: span.start, end: span.end, line, end_line }
    }

    /// The following steps stand here.
    pub(super) fn stand(&mut self, span: oxc_span::Span) {
        self.at = self.span(span);
    }

    pub(super) fn push(&mut self, op: Op) {
        self.cx.effects += 1;
        if self.cx.effects > MOST_EFFECTS {
            if self.cx.effects == MOST_EFFECTS + 1 {
                let text =
                    format!("{} has more than {MOST_EFFECTS} steps; the rest is left out", self.cx.name);
                self.module.notes.push(Note { span: self.at, text });
            }
            return;
        }
        self.cx.block.push(Effect { span: self.at, op });
    }

    pub(super) fn push_at(&mut self, span: Span, op: Op) {
        let before = std::mem::replace(&mut self.at, span);
        self.push(op);
        self.at = before;
    }

    /// Whether the function is too long already.
    pub(super) fn full(&self) -> bool {
        self.cx.effects > MOST_EFFECTS
    }

    /// The steps of something in a block of their own.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        let outer = std::mem::replace(&mut self.cx.start, self.cx.block.len());
        let at = self.at;
        let result = inner(self);
        self.at = at;
        let start = std::mem::replace(&mut self.cx.start, outer);
        (cut_off(&mut self.cx.block, start), result)
    }

    /// The same behind a condition.
    pub(super) fn branch<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (Block, T) {
        self.cx.conditions += 1;
        let result = self.nested(inner);
        self.cx.conditions -= 1;
        result
    }

    pub(super) fn value(&mut self, name: Name, origin: Origin, flags: u8) -> Value {
        let value = Value(u32::try_from(self.cx.values.len()).unwrap_or(u32::MAX));
        self.cx.values.push(ValueInfo { name, origin, bounded: false });
        self.cx.flags.push(flags);
        value
    }

    pub(super) fn step(&mut self, name: &Name, flags: u8) -> Value {
        self.value(name.clone(), Origin::Step, flags)
    }

    pub(super) fn flags(&self, value: Value) -> u8 {
        self.cx.flags.get(value.0 as usize).copied().unwrap_or(0)
    }

    pub(super) fn add_flags(&mut self, value: Value, flags: u8) {
        if let Some(known) = self.cx.flags.get_mut(value.0 as usize) {
            *known |= flags;
        }
    }

    pub(super) fn rename(&mut self, value: Value, name: Name) {
        if let Some(info) = self.cx.values.get_mut(value.0 as usize) {
            info.name = name;
        }
    }

    pub(super) fn derive(&mut self, name: &Name, from: Vec<Value>, term: Term, flags: u8) -> Value {
        let into = self.step(name, flags);
        self.push(Op::Derive { into, from, term });
        into
    }

    pub(super) fn symbol_name(&mut self, symbol: u32) -> Name {
        match self.facts.symbol(symbol).map(|symbol| symbol.name) {
            Some(name) => self.names.of(name),
            None => self.names.get("value"),
        }
    }

    /// The path of something that lives as long as the module.
    pub(super) fn global(&mut self, symbol: u32) -> AccessPath {
        let Some(found) = self.facts.symbol(symbol) else { return AccessPath::global("?") };
        let (name, namespace) = (found.name, found.namespace);
        match namespace {
            Some(outer) => {
                let field = self.names.of(name);
                self.global(outer).field(field)
            }
            None => AccessPath::of(Root::Global(self.names.global(name.as_str()))),
        }
    }

    /// What a captured variable is called in the function that is being lowered.
    pub(super) fn capture(&mut self, symbol: u32) -> Value {
        if let Some(value) = self.cx.captured.get(&symbol) {
            return *value;
        }
        let name = self.symbol_name(symbol);
        let value = self.value(name, Origin::Capture, flag::STATE);
        self.cx.captured.insert(symbol, value);
        value
    }

    /// How a variable that a function inside takes along changes from turn to turn.
    pub(super) fn changes_of(&self, symbol: u32) -> u8 {
        let own = self.facts.symbol(symbol).is_some_and(|found| found.function == self.cx.id);
        let value = if own {
            self.binding(symbol).map(|binding| binding.value)
        } else {
            self.cx.captured.get(&symbol).copied()
        };
        value.map_or(0, |value| self.flags(value)) & (flag::COUNTER | flag::GROWS | flag::CHANCE)
    }

    /// What a function takes along from here.
    pub(super) fn captures_of(&mut self, function: u32) -> Vec<Term> {
        let symbols = self.facts.captures(function).to_vec();
        symbols.into_iter().map(|symbol| self.capture_term(symbol)).collect()
    }

    pub(super) fn capture_term(&mut self, symbol: u32) -> Term {
        let owner = self.facts.symbol(symbol).map(|symbol| symbol.function);
        if owner != Some(self.cx.id) {
            let known = self.facts.captures(self.cx.id).contains(&symbol);
            return if known { self.capture(symbol).into() } else { Term::Unknown };
        }
        let binding = match self.binding(symbol) {
            Some(binding) => binding,
            None => {
                // It is used before its declaration was met: a function that is called later.
                let name = self.symbol_name(symbol);
                let value = self.step(&name, flag::STATE);
                self.set_value(symbol, value);
                Binding { value, alias: None, shape: None }
            }
        };
        match binding.alias.and_then(|alias| self.paths.get(alias as usize)) {
            Some(path) if !self.is_state(path) => Term::Path(path.clone()),
            _ => binding.value.into(),
        }
    }

    pub(super) fn function_id(function: u32) -> FunctionId {
        FunctionId(function)
    }

    /// Whether other calls may see what is found at a path.
    pub(super) fn is_state(&self, path: &AccessPath) -> bool {
        match &path.root {
            Root::This => true,
            Root::Global(name) => {
                &**name == "globalThis" || (is_qualified(name) && !self.names.is_fixed(name))
            }
            Root::Value(value) => self.flags(*value) & flag::STATE != 0,
        }
    }

    /// Gives what an expression came to a value of its own.
    pub(super) fn bind(&mut self, val: Val, name: &Name) -> Value {
        if let Some(value) = val.only_value() {
            return value;
        }
        let flags = val.flags;
        self.derive(name, val.values, val.term, flags)
    }

    /// A key as a step of a path.
    pub(super) fn key(&mut self, val: Val) -> Field {
        match &val.term {
            Term::Literal(text) if is_identifier(text) => Field::Name(text.clone()),
            Term::Unknown if val.values.is_empty() => Field::At(Term::Unknown),
            Term::Unknown => {
                let name = self.names.get("key");
                Field::At(self.bind(val, &name).into())
            }
            _ => Field::At(val.term),
        }
    }
}

fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}
