//! Assignments: a local gets a new value, shared memory is written.

use interlock_model::ir::{AccessPath, Field, LockKind, Op, Root, Term, Value};

use super::{
    super::{
        ast::{Expr, Kind, Place, Type, Variables},
        tables,
    },
    Lowerer,
    types::{is_lock, is_reference},
};
use crate::{
    Arg, Shape,
    lower::Binding,
    val::{Val, flag, merge},
};

/// How many members of a struct are known that were set behind it.
const MOST_MEMBERS: usize = 64;

impl<'a> Lowerer<'a> {
    /// `a, b = x, y` and `a, b := x, y`: all of the right is evaluated first.
    pub(super) fn assign_all(&mut self, at: Place, left: &'a [Expr<'a>], right: &'a [Expr<'a>]) {
        if let ([_, _], [Expr { kind: Kind::Index(object, index), at: place }]) = (left, right) {
            // `value, ok := m[key]`: one look.
            let val = self.index(*place, object, index);
            return self.take_apart(at, left, val);
        }
        if left.len() > 1 && right.len() == 1 {
            if let Some(right) = right.first() {
                let val = self.expression(right);
                self.take_apart(at, left, val);
            }
            return;
        }
        if let ([left], [right]) = (left, right) {
            self.remember_writer(left, right);
            self.remember_timer(left, right);
        }
        for (target, from) in left.iter().zip(right) {
            self.note_copy(target, from);
        }
        let vals: Vec<Val> = right.iter().map(|it| self.expression(it)).collect();
        let appended = match right {
            [Expr { kind: Kind::Call(call), .. }] if matches!(call.callee.kind, Kind::Name("append")) => {
                std::mem::take(&mut self.appended)
            }
            _ => vec![],
        };
        self.stand(at);
        for (target, val) in left.iter().zip(vals) {
            if !appended.is_empty() {
                self.entered(target, &appended);
            }
            self.assign_to(target, val);
            if !appended.is_empty() && matches!(target.kind, Kind::Name(_)) {
                let list = self.place(target).only_value();
                if let Some(list) = list {
                    let tail = appended.iter().cloned().map(Val::into_arg).collect();
                    self.tails.insert((self.work.cx.id, list), tail);
                }
            }
        }
    }

    /// `cp := s.info`, `cp := *s`: the variable has a copy of its own.
    fn note_copy(&mut self, target: &'a Expr<'a>, from: &'a Expr<'a>) {
        let Kind::Name(_) = target.kind else { return };
        let Some(symbol) = self.facts.meant(target.at.0) else { return };
        let copies = match &from.kind {
            Kind::Selector(_, field) => self.values.contains(field),
            Kind::Unary("*", _) => true,
            Kind::Call(call) => match &call.callee.kind {
                Kind::Name(name) | Kind::Selector(_, name) => self.copying.contains(name),
                _ => false,
            },
            _ => false,
        };
        if copies {
            self.copied_locals.insert(symbol);
        } else {
            self.copied_locals.remove(&symbol);
        }
    }

    /// `r.tools = append(r.tools, tool)`: what a list that others see has in it, besides what it was made with.
    fn entered(&mut self, target: &'a Expr<'a>, appended: &[Val]) {
        let path = match &target.kind {
            Kind::Selector(object, field) => {
                let opened = self.open(false);
                let place = self.selector_place(object, field);
                self.close(opened);
                place.path_ref().cloned()
            }
            Kind::Name(name) if self.facts.meant(target.at.0).is_none() => {
                Some(AccessPath::of(Root::Global(self.global(name))))
            }
            _ => None,
        };
        let Some(path) = path.filter(|path| matches!(path.root, Root::This | Root::Global(_))) else {
            return;
        };
        for val in appended {
            let declared = self.made_type(val);
            self.record(path.clone().at(Term::Unknown), declared, val.clone());
        }
    }

    fn take_apart(&mut self, at: Place, left: &'a [Expr<'a>], val: Val) {
        self.stand(at);
        let beside = match left.last().map(|last| &last.kind) {
            Some(Kind::Name(name)) => tells(name),
            _ => false,
        };
        // What the call made becomes the first variable's own, and is taken last.
        for (number, target) in left.iter().enumerate().rev() {
            let part = self.result(&val, number, left.len(), beside);
            let direct = part.direct.filter(|_| number == 0);
            self.assign_to(target, Val { direct, ..part });
        }
    }

    /// Gives what an expression came to to a target, whatever that is.
    pub(super) fn assign_to(&mut self, target: &'a Expr<'a>, val: Val) {
        match &target.kind {
            Kind::Name("_") => {}
            Kind::Name(name) => self.assign_name(target.at, name, val),
            Kind::Selector(object, field) => {
                let place = self.selector_place(object, field);
                self.assign_member(object, &place, val);
            }
            Kind::Index(object, index) => {
                let place = self.index_place(object, index);
                self.assign_member(object, &place, val);
            }
            Kind::Unary("*", inner) => {
                let place = self.place(inner);
                self.assign_member(inner, &place, val);
            }
            _ => {}
        }
    }

    fn assign_name(&mut self, at: Place, name: &'a str, val: Val) {
        let Some(symbol) = self.facts.meant(at.0) else {
            let path = AccessPath::of(Root::Global(self.global(name)));
            if self.cx.id != 0 {
                self.write(path.clone(), val.values.clone());
            }
            let declared = self.made_type(&val);
            return self.record(path, declared, val);
        };
        let Some(found) = self.facts.symbol(symbol) else { return };
        let (owner, receiver) = (found.function, found.receiver);
        if receiver {
            return;
        }
        if owner != self.cx.id {
            let value = self.capture(symbol, flag::STATE);
            self.write(value.into(), val.values);
        } else if self.facts.is_cell(symbol) {
            let value = self.cell(symbol);
            self.write(value.into(), val.values);
        } else {
            self.bind_local(symbol, val);
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

    fn assign_member(&mut self, object: &'a Expr<'a>, place: &Val, val: Val) {
        let Some(path) = place.path_ref().cloned() else { return };
        // A method of a copy changes the copy, and nobody sees it.
        let own_copy = match object.kind {
            Kind::Name(_) => {
                self.facts.meant(object.at.0).is_some_and(|symbol| self.copied_locals.contains(&symbol))
            }
            _ => false,
        };
        let copied = own_copy || self.copies && path.root == Root::This && path.fields.len() == 1;
        if self.is_state(&path) && !copied {
            self.write(path.clone(), val.values.clone());
            if matches!(path.root, Root::This | Root::Global(_)) {
                let declared = self.made_type(&val);
                self.record(path, declared, val);
            }
            return;
        }
        // An object that was made here depends on what is put into it.
        let Some(symbol) = self.root_symbol(object) else { return };
        let owner = self.facts.symbol(symbol).map(|found| found.function);
        let Some(binding) = self.bindings.get(&symbol).cloned().filter(|_| owner == Some(self.cx.id)) else {
            return;
        };
        self.field_of_made(binding.value, &path, &val);
        let shape = with_member(binding.shape.clone(), &path, &val);
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
        self.keep_type(binding.value, value);
        self.set(symbol, Binding { value, shape, ..binding });
    }

    /// `params.SetIdempotencyKey(key)`: a method that is called like that gives the member its value.
    pub(super) fn set_by_method(&mut self, callee: &'a Expr<'a>, arguments: &[Arg]) {
        let (Kind::Selector(object, method), [arg]) = (&callee.kind, arguments) else { return };
        let Some(member) = method.strip_prefix("Set").filter(|name| name.starts_with(char::is_uppercase))
        else {
            return;
        };
        let Kind::Name(_) = object.kind else { return };
        let Some(symbol) = self.facts.meant(object.at.0).filter(|symbol| !self.facts.is_cell(*symbol)) else {
            return;
        };
        let own = self.facts.symbol(symbol).is_some_and(|found| found.function == self.cx.id);
        let Some(binding) = self.bindings.get(&symbol).cloned().filter(|_| own) else { return };
        let path = AccessPath::from(binding.value).field(member);
        let val = Val {
            term: arg.term.clone(),
            shape: arg.shape.clone(),
            ..Val::from_values(arg.values.clone(), 0)
        };
        let shape = with_member(binding.shape.clone(), &path, &val);
        if shape != binding.shape {
            self.set(symbol, Binding { shape, ..binding });
        }
    }

    /// `s := &Server{…}; s.handlers["add"] = s.add`: what a field of a type is, as a maker of it says that goes on with what it made.
    fn field_of_made(&mut self, made: Value, path: &AccessPath, val: &Val) {
        let says = matches!(val.shape, Shape::Function { .. }) || val.path_ref().is_some();
        let type_ =
            self.cx.types.iter().rev().find(|(typed, _)| *typed == made).map(|(_, path)| path.clone());
        if let Some(mut field) = type_.filter(|_| says && !path.fields.is_empty()) {
            field.fields.extend(path.fields.iter().cloned());
            self.record(field, None, val.clone());
        }
    }

    pub(super) fn keep_type(&mut self, from: Value, to: Value) {
        let known =
            self.cx.types.iter().rev().find(|(typed, _)| *typed == from).map(|(_, path)| path.clone());
        self.cx.types.extend(known.map(|path| (to, path)));
    }

    /// The variable at the start of a chain of members.
    fn root_symbol(&self, expression: &Expr<'a>) -> Option<u32> {
        let mut expression = expression;
        loop {
            match &expression.kind {
                Kind::Selector(inner, _) | Kind::Index(inner, _) | Kind::Unary(_, inner) => {
                    expression = inner
                }
                Kind::Name(_) => return self.facts.meant(expression.at.0),
                _ => return None,
            }
        }
    }

    /// `x += 1`.
    pub(super) fn augmented(&mut self, at: Place, target: &'a Expr<'a>, operator: &str, right: &'a Expr<'a>) {
        let place = match &target.kind {
            Kind::Selector(object, field) => Some((&**object, self.selector_place(object, field))),
            Kind::Index(object, index) => Some((&**object, self.index_place(object, index))),
            Kind::Unary("*", inner) => Some((&**inner, self.place(inner))),
            _ => None,
        };
        self.stand(at);
        let before = match &place {
            Some((_, place)) => self.read_place(place.clone()),
            None => self.expression(target),
        };
        let right = self.expression(right);
        self.stand(at);
        let counts = matches!(operator, "+=") && matches!(right.shape, Shape::Number(_));
        let grows = matches!(operator, "*=" | "<<=");
        let mut val = Val::from_values(before.values.clone(), before.flags & !flag::STATE);
        val.depend(&right);
        val.flags |= if grows { flag::GROWS } else { 0 } | if counts { flag::COUNTER } else { 0 };
        match &place {
            Some((object, place)) => self.assign_member(object, place, val),
            None => self.assign_to(target, val),
        }
    }

    /// `var x T = y` in a function.
    pub(super) fn local_variables(&mut self, it: &'a Variables<'a>) {
        let vals: Vec<Val> = it.values.iter().map(|value| self.expression(value)).collect();
        self.stand(it.at);
        let whole = if vals.len() == 1 && it.names.len() > 1 { vals.first().cloned() } else { None };
        let beside = it.names.last().is_some_and(|name| tells(name.text));
        for (number, name) in it.names.iter().enumerate() {
            let Some(symbol) = self.facts.meant(name.at.0) else { continue };
            let val = match &whole {
                Some(whole) => Some(self.result(whole, number, it.names.len(), beside)),
                None => vals.get(number).cloned(),
            };
            if self.facts.is_cell(symbol) {
                let value = self.cell(symbol);
                if let Some(val) = val {
                    self.write(value.into(), val.values);
                }
                self.declared_as(value, it);
                continue;
            }
            let value = match val {
                Some(val) => {
                    self.bind_local(symbol, Val { direct: val.direct.filter(|_| whole.is_none()), ..val })
                }
                None => {
                    // Nobody else sees it yet.
                    let own = self.name(name.text);
                    let value = self.step(&own, 0);
                    let is_lock = it.type_.as_ref().is_some_and(is_lock);
                    self.push(Op::New { into: value, lock: is_lock.then_some(LockKind::Mutex) });
                    // What is appended to it is seen.
                    let shape = matches!(it.type_, Some(Type::List(_))).then(|| Shape::List(vec![]));
                    self.set(symbol, Binding { shape, ..Binding::of(value) });
                    value
                }
            };
            self.declared_as(value, it);
        }
    }

    fn declared_as(&mut self, value: Value, it: &'a Variables<'a>) {
        let Some(type_) = &it.type_ else { return };
        if it.values.is_empty() || !is_reference(type_) {
            let path = self.type_path(type_);
            self.cx.types.extend(path.map(|path| (value, path)));
        }
    }
}

/// What a struct was made as, with a member that was set behind it.
fn with_member(shape: Option<Shape>, path: &AccessPath, val: &Val) -> Option<Shape> {
    let [Field::Name(name)] = path.fields.as_slice() else { return shape };
    let Some(Shape::Object(mut members)) = shape else { return shape };
    members.retain(|(key, _)| key != name);
    if members.len() < MOST_MEMBERS {
        // What is in it is left out, so that a struct that is put into itself does not grow.
        let shape = match &val.shape {
            Shape::Object(_) | Shape::List(_) | Shape::Choice(_) => Shape::Opaque,
            other => other.clone(),
        };
        members.push((name.clone(), Val { shape, ..val.clone() }.into_arg()));
    }
    Some(Shape::Object(members))
}

/// Whether a name is that of a result that only says how a call went.
pub(super) fn tells(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "_" || name.ends_with("err") || tables().lexicon().outcomes.contains(&*name)
}
