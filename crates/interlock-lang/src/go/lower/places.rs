//! Names and members: where something is found, and the reads that finding it takes.

use interlock_model::ir::{AccessPath, Field, Origin, Root, Term, Value};

use super::{
    super::{
        ast::{Expr, Kind, Place},
        is_builtin,
    },
    Lowerer,
};
use crate::{
    Shape,
    lower::Binding,
    val::{Val, flag, is_small, merge},
};

impl<'a> Lowerer<'a> {
    /// What a name stands for, read if it is state.
    pub(super) fn identifier(&mut self, at: Place, name: &'a str) -> Val {
        let val = self.name_place(at, name);
        let reads = match self.facts.meant(at.0) {
            Some(symbol) => self.facts.is_cell(symbol),
            None => self.facts.assigned.contains(name) && self.declared.contains(name),
        };
        match val.path_ref() {
            Some(path) if reads => {
                let path = path.clone();
                let name = self.name(name);
                self.stand(at);
                let mut val = self.read(path.clone(), &name);
                // The variable may hold something else by the time that this is used; its members are found there all the same.
                if let Some(value) = val.direct {
                    val.term = value.into();
                }
                val.place = Some(Box::new(path));
                val
            }
            // A variable that is another name of a whole variable means what that held when it was read.
            Some(path) if path.fields.is_empty() => match val.values.as_slice() {
                [value] if *path != AccessPath::from(*value) => {
                    Val { place: Some(Box::new(path.clone())), term: (*value).into(), ..val }
                }
                _ => val,
            },
            _ => val,
        }
    }

    /// What a name stands for, as the start of a path.
    pub(super) fn name_place(&mut self, at: Place, name: &'a str) -> Val {
        if let Some(symbol) = self.facts.meant(at.0) {
            return self.symbol_place(symbol);
        }
        if is_builtin(name) && !self.declared.contains(name) {
            return Val::path(AccessPath::global(self.name(name)), vec![], 0);
        }
        let path = AccessPath::of(Root::Global(self.global(name)));
        let state = if self.is_state(&path) { flag::STATE } else { 0 };
        Val::path(path, vec![], state)
    }

    fn symbol_place(&mut self, symbol: u32) -> Val {
        let Some(found) = self.facts.symbol(symbol) else { return Val::nothing() };
        if found.receiver {
            return Val::path(AccessPath::this(), vec![], flag::STATE);
        }
        if found.function != self.cx.id {
            let value = self.capture(symbol, flag::STATE);
            return Val::of(value, self.flags(value));
        }
        let Some(binding) = self.bindings.get(&symbol).cloned() else {
            let name = self.symbol_name(symbol);
            let value = self.step(&name, flag::STATE);
            self.set(symbol, Binding::of(value));
            return Val::of(value, flag::STATE);
        };
        let mut val = Val::of(binding.value, self.flags(binding.value));
        // What a variable took from memory is what was there then; where that is, is known from the step that took it.
        if let Some(path) = binding.alias
            && !self.is_state(&path)
        {
            val.term = Term::Path(path);
        }
        if let Some(shape) = binding.shape {
            val.shape = shape;
        }
        val
    }

    /// `x.y`, read if it is state.
    pub(super) fn selector(&mut self, at: Place, object: &'a Expr<'a>, field: &'a str) -> Val {
        // `http.MethodPost` is a text that says what a request does.
        if let (Some(method), Kind::Name(package)) = (field.strip_prefix("Method"), &object.kind)
            && self.imports.get(package) == Some(&"net/http")
        {
            return Val::literal(method.to_ascii_uppercase().into());
        }
        let place = self.selector_place(object, field);
        self.stand(at);
        let val = self.read_place(place);
        self.of_argument(val, field)
    }

    /// A member of a struct that the caller handed over: `args.Body` is a value of its own, as `req.GetString("body", "")` is.
    fn of_argument(&mut self, val: Val, field: &'a str) -> Val {
        let is_argument = |value: &Value| {
            let info = self.cx.values.get(value.0 as usize);
            info.is_some_and(|info| matches!(info.origin, Origin::Argument))
        };
        let plain = match (&val.term, val.values.as_slice()) {
            (Term::Path(AccessPath { root: Root::Value(root), fields }), [only]) => {
                root == only && is_argument(root) && matches!(fields.as_slice(), [Field::Name(_)])
            }
            _ => false,
        };
        if !plain || val.direct.is_some() || val.shape != Shape::Opaque {
            return val;
        }
        let name = self.name(field);
        let value = self.derive(&name, val.values.clone(), val.term.clone(), val.flags);
        Val { values: vec![value], ..val }
    }

    /// `x[y]`, read if it is state.
    pub(super) fn index(&mut self, at: Place, object: &'a Expr<'a>, index: &'a Expr<'a>) -> Val {
        let place = self.index_place(object, index);
        self.stand(at);
        self.read_place(place)
    }

    pub(super) fn selector_place(&mut self, object: &'a Expr<'a>, field: &'a str) -> Val {
        let object = self.place(object);
        let name = self.name(field);
        let known = known_member(&object.shape, &name);
        let mut object = self.as_path(object);
        if let Term::Path(path) = &mut object.term {
            path.fields.push(Field::Name(name));
        }
        object.shape = known.unwrap_or(Shape::Opaque);
        object.direct = None;
        object
    }

    pub(super) fn index_place(&mut self, object: &'a Expr<'a>, index: &'a Expr<'a>) -> Val {
        let object = self.place(object);
        let key = self.expression(index);
        let known = match &key.term {
            Term::Literal(name) => known_member(&object.shape, name),
            _ => None,
        };
        let mut object = self.as_path(object);
        // What decides which entry it is belongs to what it depends on, but the entry is no part of the key.
        merge(&mut object.values, &key.values);
        let field = self.key(key);
        if let Term::Path(path) = &mut object.term {
            path.fields.push(field);
        }
        object.shape = known.unwrap_or(Shape::Opaque);
        object.direct = None;
        object
    }

    /// Where an expression leads, without reading the last step.
    pub(super) fn place(&mut self, expression: &'a Expr<'a>) -> Val {
        match &expression.kind {
            Kind::Name(name) => {
                let cell = self.facts.meant(expression.at.0).is_some_and(|symbol| self.facts.is_cell(symbol));
                if cell { self.identifier(expression.at, name) } else { self.name_place(expression.at, name) }
            }
            Kind::Selector(object, field) => self.selector_place(object, field),
            Kind::Index(object, index) => self.index_place(object, index),
            // A pointer and what it leads to have the same members.
            Kind::Unary("*" | "&", inner) => self.place(inner),
            Kind::Assert(inner, type_) => {
                let val = self.place(inner);
                self.asserted(val, type_)
            }
            _ => self.expression(expression),
        }
    }
}

/// What a member was made as, if that is written in the object and small.
fn known_member(object: &Shape, name: &str) -> Option<Shape> {
    let Shape::Object(members) = object else { return None };
    let (_, arg) = members.iter().rev().find(|(key, _)| &**key == name)?;
    is_small(&arg.shape).then(|| arg.shape.clone())
}
