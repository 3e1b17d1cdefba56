//! Functions, methods and function literals: each becomes a function of its own.

use interlock_model::ir::{AccessPath, Backoff, Name, Origin, Root, Term, Value};

use super::{
    super::ast::{File, Function, Type, Variables},
    Lowerer,
    assign::tells,
    types::{is_reference, is_timer},
};
use crate::{
    lower::{Binding, Cx, Head},
    module::{Class, Variable},
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    /// Lowers the file: its variables at start-up, then its functions.
    pub(super) fn file(&mut self, file: &'a File<'a>, length: usize) {
        self.declare(file);
        for variables in &file.variables {
            self.package_variables(variables);
        }
        let end = u32::try_from(length).unwrap_or(u32::MAX);
        for function in &file.functions {
            self.declaration(function, file.package == "main");
        }
        let span = self.span((0, end));
        self.finish(Head { span, starts_up: true, ..Head::default() }, Cx::new(u32::MAX, "".into()));
    }

    fn package_variables(&mut self, it: &'a Variables<'a>) {
        let declared = it.type_.as_ref().and_then(|type_| self.type_path(type_));
        let vals: Vec<Val> = it.values.iter().map(|value| self.expression(value)).collect();
        self.stand(it.at);
        let whole = if vals.len() == 1 && it.names.len() > 1 { vals.first().cloned() } else { None };
        let beside = it.names.last().is_some_and(|name| tells(name.text));
        for (number, name) in it.names.iter().enumerate() {
            if name.text == "_" {
                continue;
            }
            let path = AccessPath::of(Root::Global(self.global(name.text)));
            let val = match &whole {
                Some(whole) => self.result(whole, number, it.names.len(), beside),
                None => vals.get(number).cloned().unwrap_or_else(Val::nothing),
            };
            let declared = declared.clone().or_else(|| self.made_type(&val));
            if let Some(Type::Map(inner) | Type::List(inner)) = &it.type_
                && let Some(inner) = self.type_path(inner)
            {
                let path = path.clone().at(Term::Unknown);
                let (owner, within) = (None, self.cx.id);
                self.work.module.variables.push(Variable {
                    path,
                    owner,
                    declared: Some(inner),
                    initial: None,
                    within,
                });
            }
            self.record(path, declared, val);
        }
    }

    fn declaration(&mut self, it: &'a Function<'a>, of_main: bool) {
        let Some(id) = self.facts.function_at(it.at.0) else { return };
        let own = self.name(it.name);
        let (name, owner, bound): (Name, _, _) = match &it.receiver {
            Some(receiver) => {
                let owner = self.global(receiver.type_);
                (format!("{}.{own}", receiver.type_).into(), Some(owner), None)
            }
            None => {
                let path = AccessPath::of(Root::Global(self.global(it.name)));
                (own.clone(), None, Some(path))
            }
        };
        if let Some(owner) = &owner {
            self.add_method(owner, own, id);
        }
        let starts_up = it.receiver.is_none() && (it.name == "init" || it.name == "main" && of_main);
        let copies = it.receiver.as_ref().is_some_and(|receiver| !receiver.pointer);
        let before = std::mem::replace(&mut self.copies, copies);
        self.lower(it, id, name, owner, bound.filter(|_| it.name != "init"), starts_up);
        self.copies = before;
    }

    /// The files of a package add to the types that any of them declares.
    fn add_method(&mut self, class: &Name, method: Name, id: u32) {
        let known = self.work.module.classes.iter_mut().find(|known| known.name == *class);
        if let Some(known) = known {
            known.methods.push((method, id));
            return;
        }
        self.work.module.classes.push(Class {
            name: class.clone(),
            bases: vec![],
            implements: vec![],
            methods: vec![(method, id)],
            getters: vec![],
            fields: vec![],
        });
    }

    pub(super) fn literal_function(&mut self, it: &'a Function<'a>) -> Val {
        let Some(id) = self.facts.function_at(it.at.0) else { return Val::nothing() };
        let name = format!("{}.func", self.cx.name).into();
        let owner = self.cx.owner.clone();
        self.lower(it, id, name, owner, None, false);
        let captures = self.captures_of(id);
        Val::function(id, captures)
    }

    /// What a function takes along from here.
    fn captures_of(&mut self, function: u32) -> Vec<Term> {
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
                // It is used before it was met: by a function that calls itself.
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

    fn lower(
        &mut self,
        it: &'a Function<'a>,
        id: u32,
        name: Name,
        owner: Option<Name>,
        bound: Option<AccessPath>,
        starts_up: bool,
    ) {
        let captured = self.facts.captures(id).to_vec();
        let mut cx = Cx::new(id, name);
        cx.owner = owner;
        let outer = std::mem::replace(&mut self.cx, cx);
        let (mark, at) = (self.mark(), self.at);
        let captures: Vec<Value> =
            captured.into_iter().map(|symbol| self.capture(symbol, flag::STATE)).collect();
        let parameters = self.parameters(it);
        let results = self.named_results(it);
        let results = std::mem::replace(&mut self.results, results);
        self.statements(&it.body);
        self.results = results;
        let returns = self.returned_type(it);
        let side_by_side = self.returned_types(it);
        let span = self.span(it.at);
        let parent = self.facts.functions.get(id as usize).and_then(|facts| facts.parent);
        self.finish(
            Head {
                span,
                captures,
                parameters,
                parent,
                returns,
                side_by_side,
                gathers: None,
                bound,
                starts_up,
            },
            outer,
        );
        self.undo(mark);
        self.at = at;
    }

    fn parameters(&mut self, it: &'a Function<'a>) -> Vec<Value> {
        let mut values = vec![];
        for parameter in &it.parameters {
            let text = parameter.name.map_or("_", |name| name.text);
            let name = self.name(text);
            let state = if is_reference(&parameter.type_) { flag::STATE } else { 0 };
            let value = self.value(name, Origin::Argument, state);
            if let Some(path) = self.type_path(&parameter.type_) {
                self.cx.types.push((value, path));
            }
            values.push(value);
            let symbol = parameter.name.and_then(|name| self.facts.meant(name.at.0));
            if let Some(symbol) = symbol {
                if is_timer(&parameter.type_) {
                    self.timers.insert(symbol, (Backoff::Growing, true));
                }
                self.set(symbol, Binding::of(value));
            }
        }
        values
    }

    fn named_results(&mut self, it: &'a Function<'a>) -> Vec<u32> {
        let mut symbols = vec![];
        for result in &it.results {
            let Some(name) = result.name else { continue };
            let Some(symbol) = self.facts.meant(name.at.0) else { continue };
            let own = self.name(name.text);
            let value = self.step(&own, 0);
            if let Some(path) = self.type_path(&result.type_) {
                self.cx.types.push((value, path));
            }
            self.set(symbol, Binding::of(value));
            symbols.push(symbol);
        }
        symbols
    }

    /// What a function returns that returns one thing, and perhaps an error beside it.
    fn returned_type(&mut self, it: &'a Function<'a>) -> Option<AccessPath> {
        match it.results.as_slice() {
            [only] => self.type_path(&only.type_),
            [first, last] if is_beside(&last.type_) => self.type_path(&first.type_),
            _ => None,
        }
    }

    /// What a function returns that returns several things: an interface is only told by what is declared.
    fn returned_types(&mut self, it: &'a Function<'a>) -> Vec<(u32, AccessPath)> {
        if it.results.len() < 2 {
            return vec![];
        }
        let types = (0..).zip(&it.results);
        types.filter_map(|(place, result)| Some((place, self.type_path(&result.type_)?))).collect()
    }

    /// The type of something that was written out here.
    pub(super) fn made_type(&self, val: &Val) -> Option<AccessPath> {
        let value = val.only_value()?;
        self.cx.types.iter().rev().find(|(typed, _)| *typed == value).map(|(_, path)| path.clone())
    }

    /// One of the results of a call. Where only an error or the like stands beside it, the first is what the call gives.
    pub(super) fn result(&mut self, whole: &Val, number: usize, of: usize, beside: bool) -> Val {
        if number + 1 == of && beside {
            return Val::from_values(whole.values.clone(), 0);
        }
        if number == 0 && of == 2 && beside {
            return whole.clone();
        }
        self.element(whole, number)
    }
}

/// Whether a result only says whether there is another: an error, a yes or no, a function that gives it back.
pub(super) fn is_beside(type_: &Type<'_>) -> bool {
    match type_ {
        Type::Named(None, name) => matches!(name.text, "error" | "bool"),
        Type::Function => true,
        _ => false,
    }
}
