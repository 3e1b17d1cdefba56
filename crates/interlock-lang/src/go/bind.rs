//! What names mean, found out before anything is lowered: which declaration each local is, and what function literals take along.
//!
//! Functions are numbered in the order in which they begin; the package's own code, its variables, is the first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Case, Expr, File, For, Function, Kind, Name, Stmt, StmtKind, Switch, Type};

/// A local.
#[derive(Debug)]
pub(super) struct Symbol<'a> {
    pub(super) name: &'a str,
    /// The function whose local it is.
    pub(super) function: u32,
    /// Whether it is the receiver of a method.
    pub(super) receiver: bool,
    /// Whether a function inside assigns to it.
    pub(super) shared: bool,
}

/// A function.
#[derive(Debug, Default)]
pub(super) struct FunctionFacts {
    pub(super) parent: Option<u32>,
    /// What it takes along from the functions around it.
    pub(super) captures: Vec<u32>,
}

/// What all names of a file mean.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    pub(super) symbols: Vec<Symbol<'a>>,
    pub(super) functions: Vec<FunctionFacts>,
    /// The locals that names mean, by where they stand.
    meant: FxHashMap<u32, u32>,
    /// Functions by where they begin.
    by_place: FxHashMap<u32, u32>,
    /// What loops assign, by where they stand.
    loops: FxHashMap<u32, Vec<u32>>,
    /// The package's variables that functions of this file assign to.
    pub(super) assigned: FxHashSet<&'a str>,
}

impl<'a> Facts<'a> {
    /// The local that the name at a place means.
    pub(super) fn meant(&self, place: u32) -> Option<u32> {
        self.meant.get(&place).copied()
    }

    pub(super) fn symbol(&self, symbol: u32) -> Option<&Symbol<'a>> {
        self.symbols.get(symbol as usize)
    }

    /// The number of the function that begins at a place.
    pub(super) fn function_at(&self, place: u32) -> Option<u32> {
        self.by_place.get(&place).copied()
    }

    pub(super) fn captures(&self, function: u32) -> &[u32] {
        self.functions.get(function as usize).map_or(&[], |facts| &facts.captures)
    }

    /// What the loop that begins at a place assigns.
    pub(super) fn assigned_in(&self, place: u32) -> &[u32] {
        self.loops.get(&place).map_or(&[], Vec::as_slice)
    }

    /// Whether a variable is memory that functions inside the one that it belongs to change.
    pub(super) fn is_cell(&self, symbol: u32) -> bool {
        self.symbol(symbol).is_some_and(|found| found.shared)
    }
}

/// Finds out what the names of a file mean.
pub(super) fn bind<'a>(file: &File<'a>) -> Facts<'a> {
    let mut bind = Bind { facts: Facts::default(), at: 0, scopes: vec![], loops: vec![] };
    bind.facts.functions.push(FunctionFacts::default());
    for variables in &file.variables {
        variables.values.iter().for_each(|value| bind.expression(value));
    }
    for function in &file.functions {
        bind.function(function);
    }
    bind.facts
}

struct Bind<'a> {
    facts: Facts<'a>,
    at: u32,
    /// The scopes around here, the innermost last.
    scopes: Vec<FxHashMap<&'a str, u32>>,
    /// The loops of this function around here.
    loops: Vec<u32>,
}

impl<'a> Bind<'a> {
    fn declare(&mut self, name: Name<'a>, receiver: bool) {
        if name.text == "_" {
            return;
        }
        let number = u32::try_from(self.facts.symbols.len()).unwrap_or(u32::MAX);
        self.facts.symbols.push(Symbol { name: name.text, function: self.at, receiver, shared: false });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.text, number);
        }
        self.facts.meant.insert(name.at.0, number);
    }

    fn lookup(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    /// A name is used.
    fn uses(&mut self, at: u32, name: &'a str, assigns: bool) {
        let Some(symbol) = self.lookup(name) else {
            if assigns && self.at != 0 {
                self.facts.assigned.insert(name);
            }
            return;
        };
        self.facts.meant.insert(at, symbol);
        let Some(found) = self.facts.symbol(symbol) else { return };
        // The receiver is the same object in all functions inside.
        if found.receiver {
            return;
        }
        let owner = found.function;
        if assigns {
            for place in &self.loops {
                let assigned = self.facts.loops.entry(*place).or_default();
                if !assigned.contains(&symbol) {
                    assigned.push(symbol);
                }
            }
        }
        if owner == self.at {
            return;
        }
        if assigns && let Some(found) = self.facts.symbols.get_mut(symbol as usize) {
            found.shared = true;
        }
        let mut function = self.at;
        while function != owner && function != 0 {
            let Some(facts) = self.facts.functions.get_mut(function as usize) else { break };
            if !facts.captures.contains(&symbol) {
                facts.captures.push(symbol);
            }
            let Some(parent) = facts.parent else { break };
            function = parent;
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        let id = u32::try_from(self.facts.functions.len()).unwrap_or(u32::MAX);
        self.facts.by_place.insert(function.at.0, id);
        self.facts.functions.push(FunctionFacts { parent: Some(self.at), captures: vec![] });
        let outer = std::mem::replace(&mut self.at, id);
        let loops = std::mem::take(&mut self.loops);
        self.scopes.push(FxHashMap::default());
        if let Some(name) = function.receiver.as_ref().and_then(|receiver| receiver.name) {
            self.declare(name, true);
        }
        for parameter in function.parameters.iter().chain(&function.results) {
            if let Some(name) = parameter.name {
                self.declare(name, false);
            }
        }
        self.statements(&function.body);
        self.scopes.pop();
        self.at = outer;
        self.loops = loops;
    }

    fn statements(&mut self, statements: &[Stmt<'a>]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn scoped(&mut self, inner: impl FnOnce(&mut Self)) {
        self.scopes.push(FxHashMap::default());
        inner(self);
        self.scopes.pop();
    }

    fn statement(&mut self, statement: &Stmt<'a>) {
        match &statement.kind {
            StmtKind::Expr(it) | StmtKind::Go(it) | StmtKind::Defer(it) => self.expression(it),
            StmtKind::Define(left, right) => {
                right.iter().for_each(|it| self.expression(it));
                self.define(left);
            }
            StmtKind::Assign(left, _, right) => {
                right.iter().for_each(|it| self.expression(it));
                left.iter().for_each(|it| self.target(it));
            }
            StmtKind::Variables(it) => {
                it.values.iter().for_each(|it| self.expression(it));
                it.names.iter().for_each(|name| self.declare(*name, false));
            }
            StmtKind::Block(it) => self.scoped(|this| this.statements(it)),
            StmtKind::Several(it) => self.statements(it),
            StmtKind::If(it) => self.scoped(|this| {
                it.initial.iter().for_each(|it| this.statement(it));
                this.expression(&it.condition);
                this.scoped(|this| this.statements(&it.then));
                it.otherwise.iter().for_each(|it| this.statement(it));
            }),
            StmtKind::For(it) => {
                let place = statement.at.0;
                self.scoped(|this| this.for_statement(place, it));
            }
            StmtKind::Switch(it) => self.scoped(|this| this.switch(it)),
            StmtKind::Select(cases) => cases.iter().for_each(|case| self.case(case, None)),
            StmtKind::Return(it) => it.iter().for_each(|it| self.expression(it)),
            StmtKind::Send(channel, value) => {
                self.expression(channel);
                self.expression(value);
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Other => {}
        }
    }

    /// `a, b := …`: those that this very scope has already are assigned.
    fn define(&mut self, left: &[Expr<'a>]) {
        for it in left {
            let Kind::Name(name) = it.kind else { continue };
            let known = self.scopes.last().is_some_and(|scope| scope.contains_key(name));
            if known {
                self.uses(it.at.0, name, true);
            } else {
                self.declare(Name { at: it.at, text: name }, false);
            }
        }
    }

    /// Something is put into a local: a loop that does has changed it after each turn.
    fn fills(&mut self, target: &Expr<'a>) {
        let Kind::Name(name) = target.kind else { return };
        let own = |symbol: &u32| self.facts.symbol(*symbol).is_some_and(|found| found.function == self.at);
        let Some(symbol) = self.lookup(name).filter(own) else { return };
        for place in &self.loops {
            let assigned = self.facts.loops.entry(*place).or_default();
            if !assigned.contains(&symbol) {
                assigned.push(symbol);
            }
        }
    }

    fn target(&mut self, target: &Expr<'a>) {
        match &target.kind {
            Kind::Name(name) => self.uses(target.at.0, name, true),
            _ => self.expression(target),
        }
    }

    fn for_statement(&mut self, place: u32, it: &For<'a>) {
        match it {
            For::Clause { initial, condition, update, body } => {
                initial.iter().for_each(|it| self.statement(it));
                self.loops.push(place);
                condition.iter().for_each(|it| self.expression(it));
                update.iter().for_each(|it| self.statement(it));
                self.scoped(|this| this.statements(body));
                self.loops.pop();
            }
            For::Range { left, defines, over, body } => {
                self.expression(over);
                self.loops.push(place);
                if *defines {
                    self.define(left);
                } else {
                    left.iter().for_each(|it| self.target(it));
                }
                self.scoped(|this| this.statements(body));
                self.loops.pop();
            }
        }
    }

    fn switch(&mut self, it: &Switch<'a>) {
        it.initial.iter().for_each(|it| self.statement(it));
        it.value.iter().for_each(|it| self.expression(it));
        it.cases.iter().for_each(|case| self.case(case, it.alias));
    }

    fn case(&mut self, case: &Case<'a>, alias: Option<Name<'a>>) {
        self.scoped(|this| {
            if let Some(alias) = alias {
                // Each case has one of its own, which stands where the case does.
                this.declare(Name { at: case.at, text: alias.text }, false);
            }
            case.values.iter().for_each(|it| this.expression(it));
            case.waits.iter().for_each(|it| this.statement(it));
            this.statements(&case.body);
        });
    }

    fn expression(&mut self, expression: &Expr<'a>) {
        match &expression.kind {
            Kind::Name(name) => self.uses(expression.at.0, name, false),
            Kind::Selector(inner, _) | Kind::Unary(_, inner) | Kind::Assert(inner, _) => {
                self.expression(inner)
            }
            Kind::Convert(_, inner) => inner.iter().for_each(|it| self.expression(it)),
            Kind::Index(object, index) => {
                self.expression(object);
                self.expression(index);
            }
            Kind::Slice(object, ends) => {
                self.expression(object);
                ends.iter().for_each(|it| self.expression(it));
            }
            Kind::Call(call) => {
                self.expression(&call.callee);
                call.arguments.iter().for_each(|it| self.expression(it));
                if let Kind::Selector(object, method) = &call.callee.kind
                    && super::tables().builtin().gathers.contains(*method)
                {
                    self.fills(object);
                }
                for argument in &call.arguments {
                    if let Kind::Unary("&", inner) = &argument.kind {
                        self.fills(inner);
                    }
                }
            }
            Kind::Binary(first, rest) => {
                self.expression(first);
                rest.iter().for_each(|(_, it)| self.expression(it));
            }
            Kind::Function(function) => self.function(function),
            Kind::Composite(type_, elements) => {
                // The name of a field is no variable.
                let keyed = matches!(type_, Type::Map(_) | Type::List(_));
                for element in elements {
                    if let Some(key) = element.key.as_ref().filter(|_| keyed) {
                        self.expression(key);
                    }
                    self.expression(&element.value);
                }
            }
            Kind::Other(inner) => inner.iter().for_each(|it| self.expression(it)),
            Kind::Text(_) | Kind::Number(_) | Kind::Bool(_) | Kind::Nil => {}
        }
    }
}
