//! Scopes, references and assignments.

use oxc_ast::ast::{BindingIdentifier, BindingPattern, Expression, IdentifierReference};
use oxc_str::Ident;
use oxc_syntax::{node::NodeId, reference::ReferenceId, scope::ScopeId, symbol::SymbolId};

use super::{Binder, ClassFacts, FunctionFacts, LoopFacts, Symbol, SymbolKind};

impl<'a> Binder<'a> {
    /// Runs something in a scope of its own.
    pub(super) fn scope(&mut self, inner: impl FnOnce(&mut Self)) {
        let (mark, at_top) = (self.hidden.len(), std::mem::replace(&mut self.at_top, false));
        inner(self);
        self.at_top = at_top;
        for (name, before) in self.hidden.drain(mark..).rev() {
            match before {
                Some(symbol) => self.names.insert(name, symbol),
                None => self.names.remove(&name),
            };
        }
    }

    /// Runs something as the inside of a function.
    pub(super) fn inside(&mut self, function: u32, inner: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.function, function);
        let loops = std::mem::take(&mut self.open_loops);
        self.scope(inner);
        self.open_loops = loops;
        self.function = outer;
    }

    /// Runs something as the inside of a loop, and leaves the loop's number in its node.
    pub(super) fn inside_loop(&mut self, node: &std::cell::Cell<NodeId>, inner: impl FnOnce(&mut Self)) {
        let number = self.facts.loops.len();
        self.facts.loops.push(LoopFacts { function: self.function, ..LoopFacts::default() });
        node.set(NodeId::from_usize(number));
        self.open_loops.push(u32::try_from(number).unwrap_or(u32::MAX));
        inner(self);
        self.open_loops.pop();
    }

    pub(super) fn add_function(&mut self) -> u32 {
        self.facts.functions.push(FunctionFacts { parent: Some(self.function), ..FunctionFacts::default() });
        u32::try_from(self.facts.functions.len() - 1).unwrap_or(u32::MAX)
    }

    /// The number of a function, given out at its first sight.
    pub(super) fn function_number(&mut self, cell: &std::cell::Cell<Option<ScopeId>>) -> u32 {
        if let Some(number) = super::number_of(cell) {
            return number;
        }
        let number = self.add_function();
        cell.set(Some(ScopeId::from_usize(number as usize)));
        number
    }

    /// The number of a class, with a constructor of its own.
    pub(super) fn add_class(&mut self, cell: &std::cell::Cell<Option<ScopeId>>) -> u32 {
        let constructor = self.add_function();
        cell.set(Some(ScopeId::from_usize(self.facts.classes.len())));
        self.facts.classes.push(ClassFacts { constructor });
        constructor
    }

    pub(super) fn declare(&mut self, id: &BindingIdentifier<'a>, kind: SymbolKind) -> u32 {
        let symbol = self.declare_name(id.name, kind);
        id.symbol_id.set(Some(SymbolId::from_usize(symbol as usize)));
        symbol
    }

    pub(super) fn declare_name(&mut self, name: Ident<'a>, kind: SymbolKind) -> u32 {
        let number = u32::try_from(self.facts.symbols.len()).unwrap_or(u32::MAX);
        self.facts.symbols.push(Symbol {
            name,
            kind,
            function: self.function,
            global: self.at_top,
            whole: false,
            reassigned: false,
            counts: false,
            captured: false,
            named: 0,
            awaited: 0,
            holds: None,
            namespace: self.namespace,
        });
        let before = self.names.insert(name, number);
        self.hidden.push((name, before));
        number
    }

    /// A second name, known from here to the end of the scope, of a class that a variable is made as.
    pub(super) fn call_also(&mut self, id: &BindingIdentifier<'a>, variable: u32) {
        if let Some(symbol) = self.facts.symbols.get_mut(variable as usize) {
            symbol.kind = SymbolKind::Class;
        }
        id.symbol_id.set(Some(SymbolId::from_usize(variable as usize)));
        let before = self.names.insert(id.name, variable);
        self.hidden.push((id.name, before));
    }

    pub(super) fn declare_pattern(&mut self, pattern: &BindingPattern<'a>, kind: SymbolKind) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                self.declare(id, kind);
            }
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    self.declare_pattern(&property.value, kind);
                }
                if let Some(rest) = &object.rest {
                    self.declare_pattern(&rest.argument, kind);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                for element in array.elements.iter().flatten() {
                    self.declare_pattern(element, kind);
                }
                if let Some(rest) = &array.rest {
                    self.declare_pattern(&rest.argument, kind);
                }
            }
            BindingPattern::AssignmentPattern(default) => self.declare_pattern(&default.left, kind),
        }
    }

    /// A name is used.
    pub(super) fn reference(&mut self, id: &IdentifierReference<'a>) -> Option<u32> {
        let symbol = *self.names.get(&id.name)?;
        id.reference_id.set(Some(ReferenceId::from_usize(symbol as usize)));
        let found = self.facts.symbols.get_mut(symbol as usize)?;
        found.named += 1;
        if !found.global && found.function != self.function {
            found.captured = true;
            let owner = found.function;
            self.capture(symbol, owner);
        }
        Some(symbol)
    }

    /// What a variable holds is waited for: `await reading`.
    pub(super) fn wait_for(&mut self, expression: &Expression<'a>) {
        if let Expression::Identifier(id) = expression.get_inner_expression()
            && let Some(symbol) = super::meaning_of(&id.reference_id)
            && let Some(found) = self.facts.symbols.get_mut(symbol as usize)
        {
            found.awaited += 1;
        }
    }

    /// Every function between here and the owner has to hand it on.
    fn capture(&mut self, symbol: u32, owner: u32) {
        let mut function = self.function;
        while function != owner && self.seen_free.insert((function, symbol)) {
            let Some(facts) = self.facts.functions.get_mut(function as usize) else { return };
            facts.free.push(symbol);
            let Some(parent) = facts.parent else { return };
            function = parent;
        }
    }

    /// A name is assigned; `counted` if its new value comes from its old one.
    pub(super) fn assign(&mut self, id: &IdentifierReference<'a>, counted: bool) {
        let Some(symbol) = self.reference(id) else { return };
        let function = self.function;
        if let Some(found) = self.facts.symbols.get_mut(symbol as usize) {
            let first = !std::mem::replace(&mut found.reassigned, true);
            found.counts = counted && found.function == function && (first || found.counts);
        }
        self.assigned_in_loops(symbol, counted);
    }

    /// The loops around a place assign a symbol of their function.
    pub(super) fn assigned_in_loops(&mut self, symbol: u32, counted: bool) {
        for number in &self.open_loops {
            let Some(facts) = self.facts.loops.get_mut(*number as usize) else { continue };
            if facts.function == self.function && !facts.assigned.contains(&symbol) {
                facts.assigned.push(symbol);
            }
            if counted && !facts.counted.contains(&symbol) {
                facts.counted.push(symbol);
            }
        }
    }
}
