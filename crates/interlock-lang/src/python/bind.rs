//! What names mean, found out before anything is lowered: Python decides by all of a function's assignments, wherever they stand.
//!
//! Functions are numbered in the order in which they begin; the module's own code is the first. A class is no scope for the methods in
//! it, so its names are left to `lower/classes.rs`. What a comprehension binds belongs to the function around it.

use ruff_python_ast::{
    Expr, ExprContext, ExprLambda, Parameters, Pattern, Stmt, StmtClassDef, StmtFunctionDef,
    visitor::{self, Visitor},
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolKind {
    Variable,
    Parameter,
    /// The first parameter of a method.
    This,
    /// A function that nothing else is assigned to.
    Function(u32),
    Class,
    Import,
}

/// A name of a function or of the module.
#[derive(Debug)]
pub(super) struct Symbol<'a> {
    pub(super) name: &'a str,
    /// The function whose name it is.
    pub(super) function: u32,
    pub(super) kind: SymbolKind,
    /// Whether a function inside, or any function for a name of the module, assigns to it.
    pub(super) shared: bool,
    /// Whether it only stands for the package that a module lies in: `import app.tools`.
    package: bool,
    /// How often it is assigned.
    assigned: u32,
}

/// A function.
#[derive(Debug, Default)]
pub(super) struct FunctionFacts<'a> {
    pub(super) parent: Option<u32>,
    names: FxHashMap<&'a str, u32>,
    /// The names that it says are those of the module, or of a function around it.
    outer: FxHashMap<&'a str, bool>,
    /// What it takes along from the functions around it.
    pub(super) captures: Vec<u32>,
    pub(super) generator: bool,
    /// The functions that it names and that take something along themselves.
    named: Vec<u32>,
}

/// What all names of a file mean.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    pub(super) symbols: Vec<Symbol<'a>>,
    pub(super) functions: Vec<FunctionFacts<'a>>,
    /// Functions by where their name, or the word `lambda`, stands.
    by_place: FxHashMap<u32, u32>,
    /// What loops assign, by where they stand.
    loops: FxHashMap<u32, Vec<u32>>,
    /// The names of the module that stand for a text, and the members of its classes that do.
    texts: FxHashMap<&'a str, &'a str>,
    members: FxHashMap<(&'a str, &'a str), &'a str>,
}

impl<'a> Facts<'a> {
    pub(super) fn symbol(&self, symbol: u32) -> Option<&Symbol<'a>> {
        self.symbols.get(symbol as usize)
    }

    /// The text that a name of the module stands for, if it stands for nothing else.
    pub(super) fn constant(&self, name: &str) -> Option<&'a str> {
        self.texts.get(name).copied()
    }

    /// The same of a member of a class: `Tools.ADD`.
    pub(super) fn member(&self, class: &str, name: &str) -> Option<&'a str> {
        self.members.get(&(class, name)).copied()
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

    /// What a name means in a function: its own, one of a function around it, or the module's.
    pub(super) fn lookup(&self, function: u32, name: &str) -> Option<u32> {
        let facts = self.functions.get(function as usize)?;
        if let Some(symbol) = facts.names.get(name) {
            return Some(*symbol);
        }
        if facts.outer.get(name) == Some(&true) {
            return self.functions.first()?.names.get(name).copied();
        }
        self.lookup(facts.parent?, name)
    }

    /// Whether a variable is memory that functions inside the one that it belongs to see change.
    pub(super) fn is_cell(&self, symbol: u32) -> bool {
        self.symbol(symbol).is_some_and(|found| found.function != 0 && found.shared)
    }

    /// The function that a name stands for, if it stands for nothing else.
    pub(super) fn held(&self, symbol: u32) -> Option<u32> {
        match self.symbol(symbol)?.kind {
            SymbolKind::Function(function) => Some(function),
            _ => None,
        }
    }
}

/// Finds out what the names of a file mean.
pub(super) fn bind(body: &[Stmt]) -> Facts<'_> {
    let mut declare = Declare { facts: Facts::default(), at: 0, loops: vec![], in_class: false };
    declare.facts.functions.push(FunctionFacts::default());
    declare.visit_body(body);
    let mut facts = declare.facts;
    for symbol in &mut facts.symbols {
        if symbol.assigned > 1 && matches!(symbol.kind, SymbolKind::Function(_) | SymbolKind::Class) {
            symbol.kind = SymbolKind::Variable;
        }
    }
    facts.read_texts(body);
    let mut refer = Refer { facts, at: 0 };
    refer.visit_body(body);
    refer.facts.close();
    refer.facts
}

impl<'a> Facts<'a> {
    /// Notes the names and members that stand for a text.
    fn read_texts(&mut self, body: &'a [Stmt]) {
        let once = |facts: &Self, name: &str| {
            let symbol = facts.functions.first().and_then(|module| module.names.get(name));
            symbol.and_then(|symbol| facts.symbol(*symbol)).is_some_and(|symbol| symbol.assigned <= 1)
        };
        for statement in body {
            if let Some((name, text)) = text_of(statement).filter(|(name, _)| once(self, name)) {
                self.texts.insert(name, text);
            }
            if let Stmt::ClassDef(class) = statement {
                let texts = class.body.iter().filter_map(text_of);
                let class = class.name.as_str();
                self.members.extend(texts.map(|(name, text)| ((class, name), text)));
            }
        }
    }

    /// Whoever names a function that takes something along takes that along as well.
    fn close(&mut self) {
        let mut pending: Vec<u32> = (0..u32::try_from(self.functions.len()).unwrap_or(0)).collect();
        let mut fuel = self.functions.len().saturating_mul(8);
        while let Some(function) = pending.pop() {
            fuel = match fuel.checked_sub(1) {
                Some(fuel) => fuel,
                None => return,
            };
            let Some(facts) = self.functions.get(function as usize) else { continue };
            let wanted: Vec<u32> =
                facts.named.iter().flat_map(|named| self.captures(*named)).copied().collect();
            let mut changed = false;
            for symbol in wanted {
                changed |= self.capture(function, symbol);
            }
            if changed {
                let users = |(_, facts): &(usize, &FunctionFacts<'_>)| facts.named.contains(&function);
                let users = self.functions.iter().enumerate().filter(users);
                pending.extend(users.filter_map(|(id, _)| u32::try_from(id).ok()));
            }
        }
    }

    /// Has a function and those around it take a name along, up to the one whose it is.
    fn capture(&mut self, function: u32, symbol: u32) -> bool {
        let Some(owner) = self.symbol(symbol).map(|symbol| symbol.function) else { return false };
        let (mut at, mut changed) = (function, false);
        while at != owner && at != 0 {
            let Some(facts) = self.functions.get_mut(at as usize) else { break };
            if !facts.captures.contains(&symbol) {
                facts.captures.push(symbol);
                changed = true;
            }
            let Some(parent) = facts.parent else { break };
            at = parent;
        }
        changed
    }
}

/// The name and the text of a statement that gives a name to a text.
fn text_of(statement: &Stmt) -> Option<(&str, &str)> {
    let (target, value) = match statement {
        Stmt::Assign(it) => match it.targets.as_slice() {
            [target] => (target, &*it.value),
            _ => return None,
        },
        Stmt::AnnAssign(it) => (&*it.target, it.value.as_deref()?),
        _ => return None,
    };
    match (target, value) {
        (Expr::Name(name), Expr::StringLiteral(text)) => Some((name.id.as_str(), text.value.to_str())),
        _ => None,
    }
}

/// Collects what each function assigns.
struct Declare<'a> {
    facts: Facts<'a>,
    at: u32,
    /// The loops around here.
    loops: Vec<u32>,
    in_class: bool,
}

impl<'a> Declare<'a> {
    fn declare(&mut self, name: &'a str, kind: SymbolKind) {
        if self.in_class {
            return;
        }
        let Some(facts) = self.facts.functions.get(self.at as usize) else { return };
        let outer = facts.outer.get(name).copied();
        let number = u32::try_from(self.facts.symbols.len()).unwrap_or(u32::MAX);
        let owner = if outer == Some(true) { 0 } else { self.at };
        if outer == Some(false) {
            // It is a name of a function around this one, which has been met before.
            if let Some(symbol) = facts.parent.and_then(|parent| self.facts.lookup(parent, name)) {
                self.assigned(symbol, true);
            }
            return;
        }
        let Some(facts) = self.facts.functions.get_mut(owner as usize) else { return };
        let symbol = *facts.names.entry(name).or_insert(number);
        if symbol == number {
            self.facts.symbols.push(Symbol {
                name,
                function: owner,
                kind,
                shared: false,
                package: false,
                assigned: 0,
            });
        } else if let Some(known) = self.facts.symbols.get_mut(symbol as usize)
            && kind == SymbolKind::Variable
            && known.kind == SymbolKind::Import
        {
            if known.package {
                // `import app.tools`, and then `app = FastAPI()`: nobody says `app` for the package any more.
                known.kind = SymbolKind::Variable;
            } else {
                // `try: import x` and `except ImportError: x = None`: what matters is the library.
                known.assigned = 0;
            }
        }
        self.assigned(symbol, outer == Some(true));
    }

    fn assigned(&mut self, symbol: u32, from_elsewhere: bool) {
        if let Some(known) = self.facts.symbols.get_mut(symbol as usize) {
            known.assigned += 1;
            known.shared |= from_elsewhere;
        }
        for place in &self.loops {
            let assigned = self.facts.loops.entry(*place).or_default();
            if !assigned.contains(&symbol) {
                assigned.push(symbol);
            }
        }
    }

    fn target(&mut self, target: &'a Expr) {
        match target {
            Expr::Name(name) => self.declare(name.id.as_str(), SymbolKind::Variable),
            Expr::Tuple(it) => it.elts.iter().for_each(|element| self.target(element)),
            Expr::List(it) => it.elts.iter().for_each(|element| self.target(element)),
            Expr::Starred(it) => self.target(&it.value),
            _ => {}
        }
    }

    /// A function: its number is taken, its names are collected, then the walk goes on around it.
    fn function(
        &mut self,
        place: u32,
        parameters: Option<&'a Parameters>,
        is_method: bool,
        body: impl FnOnce(&mut Self),
    ) -> u32 {
        let id = u32::try_from(self.facts.functions.len()).unwrap_or(u32::MAX);
        self.facts.by_place.insert(place, id);
        self.facts.functions.push(FunctionFacts { parent: Some(self.at), ..FunctionFacts::default() });
        let outer = std::mem::replace(&mut self.at, id);
        let loops = std::mem::take(&mut self.loops);
        let in_class = std::mem::replace(&mut self.in_class, false);
        for (number, parameter) in parameters.into_iter().flat_map(Parameters::iter).enumerate() {
            let is_this = is_method && number == 0 && !parameter.is_variadic();
            let kind = if is_this { SymbolKind::This } else { SymbolKind::Parameter };
            self.declare(parameter.name().as_str(), kind);
        }
        body(self);
        self.at = outer;
        self.loops = loops;
        self.in_class = in_class;
        id
    }

    fn defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters.iter() {
            if let Some(default) = parameter.default() {
                self.visit_expr(default);
            }
        }
    }

    fn definition(&mut self, it: &'a StmtFunctionDef) {
        it.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        self.defaults(&it.parameters);
        let place = u32::from(it.name.range().start());
        let is_method = self.in_class && !is_static(it);
        let id = self.function(place, Some(&it.parameters), is_method, |this| {
            // What it says of names holds for all of it.
            this.outer_names(&it.body);
            this.visit_body(&it.body);
        });
        self.declare(it.name.as_str(), SymbolKind::Function(id));
    }

    fn lambda(&mut self, it: &'a ExprLambda) {
        if let Some(parameters) = &it.parameters {
            self.defaults(parameters);
        }
        let place = u32::from(it.range.start());
        self.function(place, it.parameters.as_deref(), false, |this| this.visit_expr(&it.body));
    }

    fn class(&mut self, it: &'a StmtClassDef) {
        self.declare(it.name.as_str(), SymbolKind::Class);
        it.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        if let Some(arguments) = &it.arguments {
            self.visit_arguments(arguments);
        }
        let in_class = std::mem::replace(&mut self.in_class, true);
        self.visit_body(&it.body);
        self.in_class = in_class;
    }

    fn outer_names(&mut self, body: &'a [Stmt]) {
        let mut names = OuterNames::default();
        names.visit_body(body);
        if let Some(facts) = self.facts.functions.get_mut(self.at as usize) {
            facts.outer.extend(names.0);
        }
    }

    fn looped(&mut self, place: u32, inside: impl FnOnce(&mut Self)) {
        self.loops.push(place);
        inside(self);
        self.loops.pop();
    }

    fn import(&mut self, stmt: &'a Stmt) {
        let names = match stmt {
            Stmt::Import(it) => &it.names,
            Stmt::ImportFrom(it) => &it.names,
            _ => return,
        };
        for alias in names {
            let local = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            let top = local.split('.').next().unwrap_or(local);
            if local != "*" {
                self.declare(top, SymbolKind::Import);
                let symbol = self
                    .facts
                    .lookup(self.at, top)
                    .and_then(|symbol| self.facts.symbols.get_mut(symbol as usize));
                if let Some(known) = symbol.filter(|known| known.assigned == 1) {
                    known.package = top != local;
                }
            }
        }
    }
}

impl<'a> Visitor<'a> for Declare<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => return self.definition(it),
            Stmt::ClassDef(it) => return self.class(it),
            Stmt::Import(_) | Stmt::ImportFrom(_) => return self.import(stmt),
            Stmt::Assign(it) => it.targets.iter().for_each(|target| self.target(target)),
            Stmt::AugAssign(it) => self.target(&it.target),
            Stmt::AnnAssign(it) => self.target(&it.target),
            Stmt::For(it) => {
                return self.looped(u32::from(it.range.start()), |this| {
                    this.target(&it.target);
                    visitor::walk_stmt(this, stmt);
                });
            }
            Stmt::While(it) => {
                return self.looped(u32::from(it.range.start()), |this| visitor::walk_stmt(this, stmt));
            }
            Stmt::With(it) => {
                let targets = it.items.iter().filter_map(|item| item.optional_vars.as_deref());
                targets.for_each(|target| self.target(target));
            }
            Stmt::Try(it) => {
                for handler in &it.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    if let Some(name) = &handler.name {
                        self.declare(name.as_str(), SymbolKind::Variable);
                    }
                }
            }
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(it) => return self.lambda(it),
            Expr::Named(it) => self.target(&it.target),
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                if let Some(facts) = self.facts.functions.get_mut(self.at as usize) {
                    facts.generator = true;
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_comprehension(&mut self, comprehension: &'a ruff_python_ast::Comprehension) {
        self.target(&comprehension.target);
        visitor::walk_comprehension(self, comprehension);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(it) => it.name.as_ref(),
            Pattern::MatchStar(it) => it.name.as_ref(),
            Pattern::MatchMapping(it) => it.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.declare(name.as_str(), SymbolKind::Variable);
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}
}

/// Whether a method has no receiver.
pub(super) fn is_static(it: &StmtFunctionDef) -> bool {
    it.decorator_list.iter().any(
        |decorator| matches!(&decorator.expression, Expr::Name(name) if name.id.as_str() == "staticmethod"),
    )
}

/// `global` and `nonlocal` of one function.
#[derive(Default)]
struct OuterNames<'a>(Vec<(&'a str, bool)>);

impl<'a> Visitor<'a> for OuterNames<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Global(it) => self.0.extend(it.names.iter().map(|name| (name.as_str(), true))),
            Stmt::Nonlocal(it) => self.0.extend(it.names.iter().map(|name| (name.as_str(), false))),
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// Finds out what each function takes along.
struct Refer<'a> {
    facts: Facts<'a>,
    at: u32,
}

impl<'a> Refer<'a> {
    fn inside(&mut self, place: u32, body: impl FnOnce(&mut Self)) {
        let Some(id) = self.facts.function_at(place) else { return };
        let outer = std::mem::replace(&mut self.at, id);
        body(self);
        self.at = outer;
    }

    fn refer(&mut self, name: &str) {
        let Some(symbol) = self.facts.lookup(self.at, name) else { return };
        let Some(found) = self.facts.symbol(symbol) else { return };
        // Imports and classes are known by their names everywhere, and the receiver of a method is the receiver of what is inside it.
        let by_name = matches!(found.kind, SymbolKind::Import | SymbolKind::Class | SymbolKind::This);
        if found.function == 0 || by_name {
            return;
        }
        // A function is written where it is named; only what it takes along itself is needed.
        if let SymbolKind::Function(function) = found.kind {
            if let Some(facts) = self.facts.functions.get_mut(self.at as usize) {
                facts.named.push(function);
            }
            return;
        }
        if found.function != self.at {
            self.facts.capture(self.at, symbol);
        }
    }
}

impl<'a> Visitor<'a> for Refer<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let Stmt::FunctionDef(it) = stmt else { return visitor::walk_stmt(self, stmt) };
        it.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        for default in it.parameters.iter().filter_map(|parameter| parameter.default()) {
            self.visit_expr(default);
        }
        self.inside(u32::from(it.name.range().start()), |this| this.visit_body(&it.body));
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Lambda(it) => {
                let parameters = it.parameters.iter().flat_map(|parameters| parameters.iter());
                for default in parameters.filter_map(|parameter| parameter.default()) {
                    self.visit_expr(default);
                }
                self.inside(u32::from(it.range.start()), |this| this.visit_expr(&it.body));
            }
            Expr::Name(name) => {
                if matches!(name.ctx, ExprContext::Load | ExprContext::Store | ExprContext::Del) {
                    self.refer(name.id.as_str());
                }
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}
}
