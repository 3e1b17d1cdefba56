//! What lowering a file has in hand in whatever language it is written: the function in progress, what its variables stand for, and
//! how ways that part come together again.

mod memory;
mod turns;

use interlock_model::{
    FileId, Span,
    ir::{
        AccessPath, Block, Effect, Field, Function, Interleaving, Name, Note, Op, Origin, Role, Root, Term,
        Value, ValueInfo,
    },
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Arg, Shape,
    lines::Lines,
    module::{Lowered, Module, is_qualified},
    val::{Val, flag},
};

/// A function with more steps than this is generated.
const MOST_EFFECTS: usize = 20_000;

/// What a variable stands for at some point.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    pub(crate) value: Value,
    /// The place that it is another name of.
    pub(crate) alias: Option<AccessPath>,
    /// What it was made as.
    pub(crate) shape: Option<Shape>,
}

impl Binding {
    pub(crate) const fn of(value: Value) -> Self {
        Self { value, alias: None, shape: None }
    }
}

/// The function that is being lowered.
#[derive(Debug)]
pub(crate) struct Cx {
    pub(crate) id: u32,
    pub(crate) name: Name,
    pub(crate) owner: Option<Name>,
    pub(crate) asynchronous: bool,
    pub(crate) values: Vec<ValueInfo>,
    pub(crate) flags: Vec<u8>,
    pub(crate) block: Block,
    /// Where the innermost block starts.
    start: usize,
    pub(crate) captured: FxHashMap<u32, Value>,
    pub(crate) types: Vec<(Value, AccessPath)>,
    pub(crate) locals: Vec<(Value, Arg)>,
    pub(crate) items: Vec<(Value, Arg)>,
    pub(crate) returned: Vec<Arg>,
    effects: usize,
    /// How many conditions and loops are around this place.
    conditions: u32,
    /// The loops around here, with what their variables stood for where a turn was left.
    left: Vec<turns::Left>,
}

/// What a function has besides its steps.
#[derive(Debug, Default)]
pub(crate) struct Head {
    pub(crate) span: Span,
    pub(crate) captures: Vec<Value>,
    pub(crate) parameters: Vec<Value>,
    pub(crate) parent: Option<u32>,
    pub(crate) returns: Option<AccessPath>,
    pub(crate) side_by_side: Vec<(u32, AccessPath)>,
    pub(crate) gathers: Option<u32>,
    pub(crate) bound: Option<AccessPath>,
    pub(crate) starts_up: bool,
}

impl Cx {
    pub(crate) fn new(id: u32, name: Name) -> Self {
        Self {
            id,
            name,
            owner: None,
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
            left: vec![],
        }
    }

    pub(crate) fn finish(self, head: Head) -> Lowered {
        let function = Function {
            name: self.name,
            span: head.span,
            role: if head.starts_up { Role::StartUp } else { Role::Helper },
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
            side_by_side: head.side_by_side,
            gathers: head.gathers,
            bound: head.bound,
            locals: self.locals,
            items: self.items,
            returned: self.returned,
        }
    }
}

/// The work on one file.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) lines: Lines,
    pub(crate) module: Module,
    done: Vec<Option<Lowered>>,
    /// Functions that are made up besides those that are written: their numbers go on behind them.
    made: Vec<Lowered>,
    pub(crate) bindings: FxHashMap<u32, Binding>,
    /// What they stood for before, so that a branch can be undone.
    changes: Vec<(u32, Option<Binding>)>,
    pub(crate) cx: Cx,
    /// The span of the step that is being lowered.
    pub(crate) at: Span,
    /// The names of the variables, by number.
    pub(crate) symbols: Vec<Name>,
    /// The globals whose members are no state: libraries, functions, types.
    pub(crate) fixed: FxHashSet<Name>,
}

impl Work {
    pub(crate) fn new(text: &str, module: Module, functions: usize, symbols: Vec<Name>) -> Self {
        let mut done = Vec::with_capacity(functions);
        done.resize_with(functions, || None);
        Self {
            lines: Lines::new(text),
            module,
            done,
            made: vec![],
            bindings: FxHashMap::default(),
            changes: vec![],
            cx: Cx::new(0, "module".into()),
            at: Span::default(),
            symbols,
            fixed: FxHashSet::default(),
        }
    }

    /// The module, once everything is lowered. A function that lowering did not come to has no steps.
    pub(crate) fn finish_module(self) -> Module {
        let Self { mut module, done, made, .. } = self;
        let unreached = |id: usize| Cx::new(u32::try_from(id).unwrap_or(u32::MAX), "unreached".into());
        let written = done.into_iter().enumerate();
        let written = written.map(|(id, done)| done.unwrap_or_else(|| unreached(id).finish(Head::default())));
        module.functions = written.chain(made).collect();
        module
    }

    pub(crate) fn span(&mut self, (start, end): (u32, u32)) -> Span {
        let line = self.lines.line(start);
        let end_line = self.lines.line(end.saturating_sub(1).max(start));
        Span { file: FileId(0), start, end, line, end_line }
    }

    /// The following steps stand here.
    pub(crate) fn stand(&mut self, at: (u32, u32)) {
        self.at = self.span(at);
    }

    pub(crate) fn push(&mut self, op: Op) {
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

    pub(crate) fn push_at(&mut self, span: Span, op: Op) {
        let before = std::mem::replace(&mut self.at, span);
        self.push(op);
        self.at = before;
    }

    /// Whether the function is too long already.
    pub(crate) const fn full(&self) -> bool {
        self.cx.effects > MOST_EFFECTS
    }

    /// Whether nothing decides whether what stands here runs.
    pub(crate) const fn unconditional(&self) -> bool {
        self.cx.conditions == 0
    }

    /// Begins a block of its own; [`Work::close`] ends it. Where it stands behind a condition, it says so.
    pub(crate) fn open(&mut self, condition: bool) -> Opened {
        self.cx.conditions += u32::from(condition);
        let outer = std::mem::replace(&mut self.cx.start, self.cx.block.len());
        Opened { outer, at: self.at, condition }
    }

    /// The steps since the block was opened.
    pub(crate) fn close(&mut self, opened: Opened) -> Block {
        self.cx.conditions -= u32::from(opened.condition);
        self.at = opened.at;
        let start = std::mem::replace(&mut self.cx.start, opened.outer);
        self.cx.block.split_off(start.min(self.cx.block.len()))
    }

    pub(crate) fn value(&mut self, name: Name, origin: Origin, flags: u8) -> Value {
        let value = Value(u32::try_from(self.cx.values.len()).unwrap_or(u32::MAX));
        self.cx.values.push(ValueInfo { name, origin, bounded: false });
        self.cx.flags.push(flags);
        value
    }

    pub(crate) fn step(&mut self, name: &Name, flags: u8) -> Value {
        self.value(name.clone(), Origin::Step, flags)
    }

    pub(crate) fn flags(&self, value: Value) -> u8 {
        self.cx.flags.get(value.0 as usize).copied().unwrap_or(0)
    }

    pub(crate) fn add_flags(&mut self, value: Value, flags: u8) {
        if let Some(known) = self.cx.flags.get_mut(value.0 as usize) {
            *known |= flags;
        }
    }

    pub(crate) fn rename(&mut self, value: Value, name: Name) {
        if let Some(info) = self.cx.values.get_mut(value.0 as usize) {
            info.name = name;
        }
    }

    pub(crate) fn derive(&mut self, name: &Name, from: Vec<Value>, term: Term, flags: u8) -> Value {
        let into = self.step(name, flags);
        self.push(Op::Derive { into, from, term });
        into
    }

    pub(crate) fn symbol_name(&self, symbol: u32) -> Name {
        self.symbols.get(symbol as usize).cloned().unwrap_or_else(|| "value".into())
    }

    /// What a captured variable is called in the function that is being lowered.
    pub(crate) fn capture(&mut self, symbol: u32, flags: u8) -> Value {
        if let Some(value) = self.cx.captured.get(&symbol) {
            return *value;
        }
        let name = self.symbol_name(symbol);
        let value = self.value(name, Origin::Capture, flags);
        self.cx.captured.insert(symbol, value);
        value
    }

    /// Whether other calls may see what is found at a path.
    pub(crate) fn is_state(&self, path: &AccessPath) -> bool {
        match &path.root {
            Root::This => true,
            Root::Global(name) => is_qualified(name) && !self.fixed.contains(name),
            Root::Value(value) => self.flags(*value) & flag::STATE != 0,
        }
    }

    /// Gives what an expression came to a value of its own.
    pub(crate) fn bind(&mut self, val: Val, name: &Name) -> Value {
        if let Some(value) = val.only_value() {
            return value;
        }
        let flags = val.flags;
        self.derive(name, val.values, val.term, flags)
    }

    /// A key as a step of a path.
    pub(crate) fn key(&mut self, val: Val) -> Field {
        match &val.term {
            Term::Literal(text) if is_identifier(text) => Field::Name(text.clone()),
            Term::Unknown if val.values.is_empty() => Field::At(Term::Unknown),
            Term::Unknown => Field::At(self.bind(val, &"key".into()).into()),
            _ => Field::At(val.term),
        }
    }

    /// Puts the function that is being lowered away, and goes on with another.
    pub(crate) fn finish(&mut self, head: Head, next: Cx) {
        let cx = std::mem::replace(&mut self.cx, next);
        let id = cx.id;
        let lowered = cx.finish(head);
        if let Some(slot) = self.done.get_mut(id as usize) {
            *slot = Some(lowered);
        } else {
            self.made.push(lowered);
        }
    }

    /// The number of a function that is made up here.
    pub(crate) fn next_function(&self) -> u32 {
        u32::try_from(self.done.len() + self.made.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn set(&mut self, symbol: u32, binding: Binding) {
        let before = self.bindings.insert(symbol, binding);
        self.changes.push((symbol, before));
    }

    /// Where assignments are counted from, for [`Work::undo`].
    pub(crate) const fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back what was assigned since `mark`, and says what each variable stood for in the end.
    pub(crate) fn undo(&mut self, mark: usize) -> Vec<(u32, Binding)> {
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

    /// What is one of several things of one declared type is of that type.
    pub(crate) fn keep_common_type(&mut self, of: &[Value], to: Value) {
        let type_of = |value: &Value| self.cx.types.iter().rev().find(|(typed, _)| typed == value);
        let Some((_, path)) = of.first().and_then(type_of) else { return };
        if of.iter().all(|value| type_of(value).is_some_and(|(_, other)| other == path)) {
            let path = path.clone();
            self.cx.types.push((to, path));
        }
    }

    /// Goes on with what one of two ways left in each variable: `None` for a way that does not come here.
    pub(crate) fn join(&mut self, one: Option<Vec<(u32, Binding)>>, two: Option<Vec<(u32, Binding)>>) {
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
            // What was made one way is what it is the other, where that is nothing.
            let shape = match (&a.shape, &b.shape) {
                (Some(made @ Shape::Call(_)), None | Some(Shape::Null)) => Some(made.clone()),
                (None | Some(Shape::Null), Some(made @ Shape::Call(_))) => Some(made.clone()),
                _ => None,
            };
            let value = self.derive(&name, vec![a.value, b.value], Term::Unknown, flags);
            self.keep_common_type(&[a.value, b.value], value);
            self.set(symbol, Binding { value, alias: None, shape });
        }
    }
}

/// A block that was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    outer: usize,
    at: Span,
    condition: bool,
}

pub(crate) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a block never comes to its end.
pub(crate) fn leaves(block: &[Effect]) -> bool {
    match block.last().map(|effect| &effect.op) {
        Some(Op::Exit(_)) => true,
        Some(Op::Check { then, otherwise, .. }) => leaves(then) && leaves(otherwise),
        Some(Op::Try { body, catch, finally }) => {
            leaves(finally) || (leaves(body) && catch.as_ref().is_none_or(|catch| leaves(&catch.body)))
        }
        _ => false,
    }
}
