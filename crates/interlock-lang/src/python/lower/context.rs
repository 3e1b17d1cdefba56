//! The work in progress: the function that is being lowered, its values, and what the variables stand for at this point.

use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Block, Effect, Field, Function, Interleaving, Name, Note, Op, Origin, Role, Root, Term,
        Value, ValueInfo,
    },
};
use ruff_python_ast::StmtClassDef;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::bind::{Facts, SymbolKind};
use crate::{
    Arg, Shape,
    lines::Lines,
    module::{Lowered, Module, is_qualified},
    val::{Val, flag},
};

/// A function with more steps than this is cut: nobody writes one, and a generated one is no handler.
const MOST_EFFECTS: usize = 20_000;

/// What a variable stands for at this point.
#[derive(Debug, Clone)]
pub(super) struct Binding {
    pub(super) value: Value,
    /// The shared place that it is another name of.
    pub(super) alias: Option<AccessPath>,
    /// What it was made as.
    pub(super) shape: Option<Shape>,
}

impl Binding {
    pub(super) fn of(value: Value) -> Self {
        Self { value, alias: None, shape: None }
    }
}

/// The function that is being lowered.
#[derive(Debug)]
pub(super) struct Cx<'a> {
    pub(super) id: u32,
    pub(super) name: Name,
    pub(super) owner: Option<Name>,
    /// What the first parameter of a method leads to.
    pub(super) this: AccessPath,
    pub(super) asynchronous: bool,
    pub(super) values: Vec<ValueInfo>,
    pub(super) flags: Vec<u8>,
    pub(super) block: Block,
    /// Where the innermost block starts.
    pub(super) start: usize,
    pub(super) captured: FxHashMap<u32, Value>,
    pub(super) types: Vec<(Value, AccessPath)>,
    pub(super) locals: Vec<(Value, Arg)>,
    pub(super) items: Vec<(Value, Arg)>,
    pub(super) returned: Vec<Arg>,
    pub(super) effects: usize,
    /// How many conditions and loops are around this place.
    pub(super) conditions: u32,
    /// The names that the class body being lowered has bound so far.
    pub(super) class: Option<ClassScope>,
    /// The local names of which members were assigned, what to, and that were not written since.
    pub(super) changed: Vec<(&'a str, Vec<(Name, Arg)>)>,
    /// Whether the function is a context manager written as a generator, and whether it has come to where it hands out what it is for.
    pub(super) manages: bool,
    pub(super) entered: bool,
    /// The loops around here, with what their variables stood for where a turn was left.
    pub(super) left: Vec<super::loops::Left>,
}

/// The class whose body is being lowered.
#[derive(Debug, Clone)]
pub(super) struct ClassScope {
    pub(super) path: AccessPath,
    pub(super) names: FxHashSet<Name>,
}

/// What a function has besides its steps.
#[derive(Default)]
pub(super) struct Head {
    pub(super) span: Span,
    pub(super) captures: Vec<Value>,
    pub(super) parameters: Vec<Value>,
    pub(super) parent: Option<u32>,
    pub(super) returns: Option<AccessPath>,
    pub(super) bound: Option<AccessPath>,
}

impl Cx<'_> {
    pub(super) fn new(id: u32, name: Name) -> Self {
        Self {
            id,
            name,
            owner: None,
            this: AccessPath::this(),
            asynchronous: false,
            values: vec![],
            flags: vec![],
            block: vec![],
            start: 0,
            captured: FxHashMap::default(),
            types: vec![],
            locals: vec![],
            items: vec![],
            returned: vec![],
            effects: 0,
            conditions: 0,
            class: None,
            changed: vec![],
            manages: false,
            entered: false,
            left: vec![],
        }
    }

    pub(super) fn finish(self, head: Head) -> Lowered {
        let function = Function {
            name: self.name,
            span: head.span,
            role: Role::Helper,
            owner: self.owner,
            interleaving: Interleaving::AtSuspension,
            asynchronous: self.asynchronous,
            unwinds: true,
            captures: head.captures,
            parameters: head.parameters,
            values: self.values,
            body: self.block,
        };
        Lowered {
            function,
            parent: head.parent,
            types: self.types,
            returns: head.returns,
            bound: head.bound,
            locals: self.locals,
            items: self.items,
            returned: self.returned,
        }
    }
}

/// Lowers one file.
pub(super) struct Lowerer<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) lines: Lines,
    pub(super) names: FxHashMap<&'a str, Name>,
    /// The globals of this file, by their name in it.
    pub(super) globals: FxHashMap<&'a str, Name>,
    /// The globals whose members are no state: libraries, functions, classes.
    pub(super) fixed: FxHashSet<Name>,
    pub(super) module: Module,
    pub(super) done: Vec<Option<Lowered>>,
    pub(super) bindings: FxHashMap<u32, Binding>,
    /// What they stood for before, so that a branch can be undone.
    pub(super) changes: Vec<(u32, Option<Binding>)>,
    pub(super) cx: Cx<'a>,
    /// The span of the step that is being lowered.
    pub(super) at: Span,
    /// The functions of this file that run in a thread of their own.
    pub(super) threaded: Vec<u32>,
    /// The classes around what is being lowered.
    pub(super) around: Vec<&'a StmtClassDef>,
    /// Functions that are made up besides those that are written: their number goes on behind them.
    pub(super) made: Vec<Lowered>,
}

impl<'a> Lowerer<'a> {
    pub(super) fn name(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    pub(super) fn span(&mut self, range: TextRange) -> Span {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        let line = self.lines.line(start);
        let end_line = self.lines.line(end.saturating_sub(1).max(start));
        Span { file: FileId(0), start, end, line, end_line }
    }

    /// The following steps stand here.
    pub(super) fn stand(&mut self, it: &impl Ranged) {
        self.at = self.span(it.range());
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
        (self.cx.block.split_off(start.min(self.cx.block.len())), result)
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
            Some(name) => self.name(name),
            None => "value".into(),
        }
    }

    /// A name of this file as a global.
    pub(super) fn global(&mut self, name: &'a str) -> Name {
        let path = &self.module.path;
        self.globals.entry(name).or_insert_with(|| format!("{path}::{name}").into()).clone()
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

    /// What a function takes along from here.
    pub(super) fn captures_of(&mut self, function: u32) -> Vec<Term> {
        let symbols = self.facts.captures(function).to_vec();
        symbols.into_iter().map(|symbol| self.capture_term(symbol)).collect()
    }

    fn capture_term(&mut self, symbol: u32) -> Term {
        if self.facts.symbol(symbol).map(|symbol| symbol.function) != Some(self.cx.id) {
            let known = self.facts.captures(self.cx.id).contains(&symbol);
            return if known { self.capture(symbol).into() } else { Term::Unknown };
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

    /// Whether other calls may see what is found at a path.
    pub(super) fn is_state(&self, path: &AccessPath) -> bool {
        match &path.root {
            Root::This => true,
            Root::Global(name) => is_qualified(name) && !self.fixed.contains(name),
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
            Term::Unknown => Field::At(self.bind(val, &"key".into()).into()),
            _ => Field::At(val.term),
        }
    }

    /// Whether a variable is memory that another function may have changed.
    pub(super) fn changes_under_us(&self, symbol: u32) -> bool {
        self.facts.symbol(symbol).is_some_and(|found| {
            found.shared && matches!(found.kind, SymbolKind::Variable | SymbolKind::Parameter)
        })
    }

    /// Puts the function that is being lowered away, and goes on with another.
    pub(super) fn finish(&mut self, head: Head, next: Cx<'a>) {
        let cx = std::mem::replace(&mut self.cx, next);
        let id = cx.id;
        let lowered = cx.finish(head);
        if let Some(slot) = self.done.get_mut(id as usize) {
            *slot = Some(lowered);
        } else {
            self.made.push(lowered);
        }
    }

    pub(super) fn set(&mut self, symbol: u32, binding: Binding) {
        let before = self.bindings.insert(symbol, binding);
        self.changes.push((symbol, before));
    }

    /// Takes back what was assigned since `mark`, and says what each variable stood for in the end.
    pub(super) fn undo(&mut self, mark: usize) -> Vec<(u32, Binding)> {
        let mut last: Vec<(u32, Binding)> = vec![];
        let mut seen = FxHashSet::default();
        while self.changes.len() > mark {
            let Some((symbol, before)) = self.changes.pop() else { break };
            let now = match before {
                Some(before) => self.bindings.insert(symbol, before),
                None => self.bindings.remove(&symbol),
            };
            if let Some(now) = now
                && seen.insert(symbol)
            {
                last.push((symbol, now));
            }
        }
        last.sort_unstable_by_key(|(symbol, _)| *symbol);
        last
    }

    /// Goes on with what one of two ways left in each variable: `None` for a way that does not come here.
    pub(super) fn join(&mut self, one: Option<Vec<(u32, Binding)>>, two: Option<Vec<(u32, Binding)>>) {
        let (one, two) = match (one, two) {
            (Some(one), Some(two)) => (one, two),
            (Some(only), None) | (None, Some(only)) => {
                for (symbol, binding) in only {
                    self.set(symbol, binding);
                }
                return;
            }
            (None, None) => return,
        };
        let mut symbols: Vec<u32> = one.iter().chain(&two).map(|(symbol, _)| *symbol).collect();
        symbols.sort_unstable();
        symbols.dedup();
        for symbol in symbols {
            let before = self.bindings.get(&symbol).cloned();
            let end = |way: &[(u32, Binding)]| {
                way.iter()
                    .find(|(known, _)| *known == symbol)
                    .map(|(_, binding)| binding.clone())
                    .or(before.clone())
            };
            let (Some(a), Some(b)) = (end(&one), end(&two)) else {
                if let Some(only) = end(&one).or(end(&two)) {
                    self.set(symbol, only);
                }
                continue;
            };
            if a.value == b.value {
                self.set(symbol, a);
                continue;
            }
            let name = self.symbol_name(symbol);
            let flags = self.flags(a.value) | self.flags(b.value);
            // `conn = connect() if … else None`: what was made one way is what it is the other, where that is nothing.
            let shape = match (&a.shape, &b.shape) {
                (Some(made @ Shape::Call(_)), None | Some(Shape::Null)) => Some(made.clone()),
                (None | Some(Shape::Null), Some(made @ Shape::Call(_))) => Some(made.clone()),
                _ => None,
            };
            let value = self.derive(&name, vec![a.value, b.value], Term::Unknown, flags);
            self.set(symbol, Binding { value, alias: None, shape });
        }
    }
}

pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a block never comes to its end.
pub(super) fn leaves(block: &[Effect]) -> bool {
    match block.last().map(|effect| &effect.op) {
        Some(Op::Exit(_)) => true,
        Some(Op::Check { then, otherwise, .. }) => leaves(then) && leaves(otherwise),
        Some(Op::Try { body, catch, finally }) => {
            leaves(finally) || (leaves(body) && catch.as_ref().is_none_or(|catch| leaves(&catch.body)))
        }
        _ => false,
    }
}
