//! Assignments: a local gets a new value, shared memory is written.

use interlock_model::ir::{AccessPath, Op, Root, Value};
use ruff_python_ast::{Expr, Operator, StmtAugAssign};

use super::{super::bind::SymbolKind, calls::Use, context::Lowerer};
use crate::{
    Arg, Shape,
    lower::Binding,
    val::{Val, flag, is_small, merge},
};

impl<'a> Lowerer<'a> {
    /// Gives what an expression came to to a target, whatever that is.
    pub(super) fn assign_to(&mut self, target: &'a Expr, val: Val) {
        match target {
            Expr::Name(it) => self.assign_name(it.id.as_str(), val, None),
            Expr::Tuple(it) => self.unpack(&it.elts, val),
            Expr::List(it) => self.unpack(&it.elts, val),
            Expr::Starred(it) => self.assign_to(&it.value, Val { direct: None, ..val }),
            Expr::Attribute(it) => {
                let place = self.attribute_place(it);
                self.assign_member(&it.value, &place, val);
            }
            Expr::Subscript(it) => {
                let place = self.subscript_place(it);
                self.assign_member(&it.value, &place, val);
            }
            _ => {}
        }
    }

    /// `a, b = pair`.
    fn unpack(&mut self, targets: &'a [Expr], val: Val) {
        for (index, target) in targets.iter().enumerate() {
            let part = self.element(&val, index);
            self.assign_to(target, part);
        }
    }

    pub(super) fn assign_name(&mut self, name: &'a str, val: Val, declared: Option<AccessPath>) {
        if let Some(class) = &mut self.scope.class {
            class.names.insert(name.into());
            let path = class.path.clone().field(name);
            self.class_member(path, name, val, declared);
            return;
        }
        if let Some(symbol) = self.facts.lookup(self.cx.id, name) {
            self.assign_symbol(symbol, val, declared);
        }
    }

    pub(super) fn assign_symbol(&mut self, symbol: u32, val: Val, declared: Option<AccessPath>) {
        let Some(found) = self.facts.symbol(symbol) else { return };
        let (name, owner, kind, shared) = (found.name, found.function, found.kind, found.shared);
        if kind == SymbolKind::Import {
            // `except ImportError: x = None`: what matters is the library.
            return;
        }
        if owner == 0 {
            let path = AccessPath::of(Root::Global(self.global(name)));
            if self.cx.id != 0 || shared {
                self.write(path.clone(), val.values.clone());
            }
            if self.cx.id == 0
                && !shared
                && !matches!(val.shape, Shape::Opaque | Shape::Null)
                && is_small(&val.shape)
            {
                let value = Value(u32::MAX);
                let shape = Some(val.shape.clone());
                self.set(symbol, Binding { value, alias: None, shape });
            }
            self.record(path, declared, val);
        } else if owner != self.cx.id {
            let value = self.capture(symbol, flag::STATE);
            self.write(value.into(), val.values);
        } else if self.facts.is_cell(symbol) {
            let value = self.cell(symbol);
            self.write(value.into(), val.values);
        } else {
            let value = self.bind_local(symbol, val);
            self.cx.types.extend(declared.map(|path| (value, path)));
        }
    }

    /// The value that stands for a variable which functions inside this one see change.
    fn cell(&mut self, symbol: u32) -> Value {
        if let Some(binding) = self.bindings.get(&symbol) {
            return binding.value;
        }
        let name = self.symbol_name(symbol);
        let value = self.step(&name, flag::STATE);
        self.push(Op::New { into: value, lock: None });
        self.set(symbol, Binding::of(value));
        value
    }

    fn assign_member(&mut self, object: &'a Expr, place: &Val, val: Val) {
        let Some(path) = place.path_ref().cloned() else { return };
        if self.is_state(&path) {
            self.write(path.clone(), val.values.clone());
            if matches!(path.root, Root::This | Root::Global(_)) {
                self.record(path, None, val);
            }
            return;
        }
        // An object that was made here depends on what is put into it.
        let Some(symbol) = self.root_symbol(object) else { return };
        let owner = self.facts.symbol(symbol).map(|found| found.function);
        let Some(binding) = self.bindings.get(&symbol).cloned().filter(|_| owner == Some(self.cx.id)) else {
            return;
        };
        if val.values.is_empty() || val.values.as_slice() == [binding.value] {
            if let Shape::Function { .. } = val.shape {
                let member = AccessPath { root: Root::Value(binding.value), fields: path.fields };
                self.record(member, None, val);
            }
            return;
        }
        let name = self.symbol_name(symbol);
        let mut from = vec![binding.value];
        merge(&mut from, &val.values);
        let flags = self.flags(binding.value);
        let value = self.derive(&name, from, binding.value.into(), flags);
        self.set(symbol, Binding { value, ..binding });
    }

    /// The variable at the start of a chain of members.
    fn root_symbol(&self, expression: &Expr) -> Option<u32> {
        let mut expression = expression;
        loop {
            match expression {
                Expr::Attribute(it) => expression = &it.value,
                Expr::Subscript(it) => expression = &it.value,
                Expr::Name(it) => return self.facts.lookup(self.cx.id, it.id.as_str()),
                _ => return None,
            }
        }
    }

    /// `x += 1`.
    pub(super) fn augmented(&mut self, it: &'a StmtAugAssign) -> Val {
        let place = match &*it.target {
            Expr::Attribute(target) => Some((&*target.value, self.attribute_place(target))),
            Expr::Subscript(target) => Some((&*target.value, self.subscript_place(target))),
            _ => None,
        };
        // A set stays the same object, and what others put in or take out meanwhile stays so.
        let path = place.as_ref().and_then(|(_, place)| place.path_ref().cloned());
        if let (Some(path), Some(method)) = (path, in_place(it.op))
            && self.is_set(&path)
        {
            let target = Val::path(path.field(self.name(method)), vec![], 0);
            let right = self.expression(&it.value).into_arg();
            self.stand(it);
            return self.invoke(target, vec![right], false, Use::Value);
        }
        self.stand(it);
        let before = match &place {
            Some((_, place)) => self.read_place(place.clone()),
            None => self.expression(&it.target),
        };
        let right = self.expression(&it.value);
        self.stand(it);
        let counts = matches!(it.op, Operator::Add) && matches!(right.shape, Shape::Number(_));
        let grows = matches!(it.op, Operator::Mult | Operator::Pow | Operator::LShift);
        let mut val = Val::from_values(before.values.clone(), before.flags & !flag::STATE);
        val.depend(&right);
        val.flags |= if grows { flag::GROWS } else { 0 } | if counts { flag::COUNTER } else { 0 };
        match &place {
            Some((object, place)) => self.assign_member(object, place, val.clone()),
            None => self.assign_to(&it.target, val.clone()),
        }
        val
    }

    /// Whether a field of the class around was made as a set.
    fn is_set(&self, place: &AccessPath) -> bool {
        self.module.variables.iter().any(|variable| {
            let Some(Arg { shape: Shape::Call(made), .. }) = &variable.initial else { return false };
            let made = self.module.sites.get(*made as usize).and_then(|site| site.callee.as_ref());
            variable.path == *place
                && variable.owner == self.cx.owner
                && made.is_some_and(|made| *made == AccessPath::global("set"))
        })
    }
}

/// The method by which a set is changed in place that an operator stands for.
const fn in_place(operator: Operator) -> Option<&'static str> {
    match operator {
        Operator::Sub => Some("difference_update"),
        Operator::BitOr => Some("update"),
        Operator::BitAnd => Some("intersection_update"),
        Operator::BitXor => Some("symmetric_difference_update"),
        _ => None,
    }
}
