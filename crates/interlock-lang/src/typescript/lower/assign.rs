//! Assignments: a local gets a new value, shared memory is written.

use interlock_model::ir::{AccessPath, Field, Name, Op, Resource, Root, Term, Value, WriteMode};
use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, Expression, IdentifierReference, MemberExpression,
    SimpleAssignmentTarget, UpdateExpression,
};
use oxc_span::GetSpan;
use oxc_syntax::operator::{AssignmentOperator, UpdateOperator};

use super::{
    bind::{SymbolKind, meaning_of},
    calls::Use,
    context::{Binding, Lowerer, flag},
    places::{is_count, is_short},
    val::{Val, is_small, merge},
};
use crate::{Shape, module::Variable};

/// Where something is assigned to.
pub(super) enum Target<'t, 'a> {
    Variable(&'t IdentifierReference<'a>),
    Member(&'t MemberExpression<'a>, Val),
}

impl<'a> Lowerer<'a> {
    pub(super) fn assignment(&mut self, it: &AssignmentExpression<'a>) -> Val {
        if let Some(val) = self.exports_assignment(it) {
            return val;
        }
        if self.is_planned(&it.right) {
            return self.expression_for(&it.right, Use::Returned);
        }
        let Some(simple) = it.left.as_simple_assignment_target() else {
            let val = self.expression(&it.right);
            self.assign_pattern(&it.left, val.clone());
            return Val { direct: None, ..val };
        };
        let Some(target) = self.target(simple) else { return self.expression(&it.right) };
        match it.operator {
            AssignmentOperator::Assign => {
                self.expect_binding(&target, &it.right);
                let val = self.expression(&it.right);
                self.bound = None;
                self.stand(it.span);
                self.assign(&target, val.clone());
                Val { direct: None, ..val }
            }
            operator if operator.is_logical() => self.assign_if(operator, &target, it),
            operator => {
                let before = self.current(&target);
                let right = self.expression(&it.right);
                self.stand(it.span);
                let mut val = Val::from_values(before.values.clone(), before.flags & !flag::STATE);
                val.depend(&right);
                let grows = matches!(
                    operator,
                    AssignmentOperator::Multiplication
                        | AssignmentOperator::Exponential
                        | AssignmentOperator::ShiftLeft
                );
                if grows {
                    val.flags |= flag::GROWS;
                }
                // Text that goes on: how it begins stays known.
                if operator == AssignmentOperator::Addition
                    && let Shape::Text(mut parts) = before.shape
                {
                    self.continue_text(&mut parts, right);
                    val.shape = Shape::Text(parts);
                }
                self.assign(&target, val.clone());
                val
            }
        }
    }

    /// `x ??= y`: assigned one way only.
    fn assign_if(
        &mut self,
        operator: AssignmentOperator,
        target: &Target<'_, 'a>,
        it: &AssignmentExpression<'a>,
    ) -> Val {
        let before = self.current(target);
        let on = self.judged(&before);
        let at = self.span(it.span);
        let mark = self.changes.len();
        let (block, right) = self.branch(|this| {
            let right = this.expression_for(&it.right, Use::Value);
            this.stand(it.span);
            this.assign(target, right.clone());
            right
        });
        let changed = self.undo(mark);
        let (then, otherwise) =
            if operator == AssignmentOperator::LogicalAnd { (block, vec![]) } else { (vec![], block) };
        self.push_at(at, Op::Check { on, equal: None, asks: vec![], then, otherwise });
        self.join(Some(changed), Some(vec![]));
        let mut val = Val { direct: None, ..before };
        val.depend(&right);
        val
    }

    pub(super) fn update(&mut self, it: &UpdateExpression<'a>) -> Val {
        let Some(target) = self.target(&it.argument) else { return Val::nothing() };
        let before = self.current(&target);
        self.stand(it.span);
        let flags = before.flags & !flag::STATE;
        let counts = if it.operator == UpdateOperator::Increment { flag::COUNTER } else { 0 };
        let val = Val::from_values(before.values.clone(), flags | counts);
        self.assign(&target, val.clone());
        Val { direct: None, ..if it.prefix { val } else { Val { term: Term::Unknown, ..before } } }
    }

    fn target<'t>(&mut self, target: &'t SimpleAssignmentTarget<'a>) -> Option<Target<'t, 'a>> {
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => Some(Target::Variable(id)),
            other => match other.as_member_expression() {
                Some(member) => self.member_target(member),
                None => match other.get_expression()?.get_inner_expression() {
                    Expression::Identifier(id) => Some(Target::Variable(id)),
                    inner => self.member_target(inner.as_member_expression()?),
                },
            },
        }
    }

    fn member_target<'t>(&mut self, member: &'t MemberExpression<'a>) -> Option<Target<'t, 'a>> {
        let place = self.member_place(member);
        Some(Target::Member(member, place))
    }

    /// What is there before the assignment.
    fn current(&mut self, target: &Target<'_, 'a>) -> Val {
        match target {
            Target::Variable(id) => self.identifier(id),
            Target::Member(member, place) => {
                self.stand(member.span());
                self.read_place(place.clone())
            }
        }
    }

    pub(super) fn assign(&mut self, target: &Target<'_, 'a>, val: Val) {
        match target {
            Target::Variable(id) => match meaning_of(&id.reference_id) {
                Some(symbol) => self.assign_symbol(symbol, val),
                None => {
                    let path = AccessPath::global(self.names.of(id.name));
                    self.write(path, val.values);
                }
            },
            Target::Member(member, place) => self.assign_member(member, place, val),
        }
    }

    pub(super) fn assign_symbol(&mut self, symbol: u32, val: Val) {
        let Some(found) = self.facts.symbol(symbol) else { return };
        let (global, owner) = (found.global, found.function);
        if global {
            let path = self.global(symbol);
            self.keep(path.clone(), &val);
            self.record(path, None, val);
        } else if owner != self.cx.id {
            let value = self.capture(symbol);
            self.keep(value.into(), &val);
        } else if self.facts.is_cell(symbol) {
            let value = self.cell(symbol);
            self.keep(value.into(), &val);
        } else {
            self.bind_local(symbol, val);
        }
    }

    /// The value that stands for a variable which functions inside this one see change.
    pub(super) fn cell(&mut self, symbol: u32) -> Value {
        if let Some(binding) = self.binding(symbol) {
            return binding.value;
        }
        let name = self.symbol_name(symbol);
        let value = self.step(&name, flag::STATE);
        self.push(Op::New { into: value, lock: None });
        self.set_value(symbol, value);
        value
    }

    /// A local takes a value.
    pub(super) fn bind_local(&mut self, symbol: u32, val: Val) -> Value {
        let name = self.symbol_name(symbol);
        let alias = match val.place.as_deref().or(val.path_ref()) {
            Some(path) if is_short(path) && (val.flags & flag::STATE != 0 || is_global(path)) => {
                self.keep_path(path.clone())
            }
            _ => None,
        };
        let made_of_something = !matches!(val.shape, Shape::Opaque | Shape::Null);
        let kept = made_of_something && is_small(&val.shape);
        let shape = if kept { self.keep_shape(val.shape.clone()) } else { None };
        let value = if structured(&val.shape) {
            let value = self.structured_value(&name, &val);
            self.cx.locals.push((value, val.into_arg()));
            value
        } else if matches!(&val.shape, Shape::Text(parts) if parts.as_slice() == [Term::Unknown]) {
            // A pattern: nothing but its shape tells what it is.
            let shape = val.shape.clone();
            let value = self.own_value(&name, val);
            self.cx.locals.push((value, crate::Arg { term: value.into(), values: vec![value], shape }));
            value
        } else {
            self.own_value(&name, val)
        };
        // A call that made the value is no other name for it.
        let alias = alias.filter(|alias| self.paths.get(*alias as usize) != Some(&AccessPath::from(value)));
        self.set(symbol, Binding { value, alias, shape });
        value
    }

    /// A value that is the variable's own.
    fn own_value(&mut self, name: &Name, val: Val) -> Value {
        match val.direct {
            Some(direct) => self.take_over(direct, name, val.flags),
            None => self.derive(name, val.values, val.term, val.flags),
        }
    }

    /// Something that is written on the spot, as if a variable had taken it.
    pub(super) fn local(&mut self, name: &Name, val: Val) -> Val {
        let value = self.structured_value(name, &val);
        self.cx.locals.push((value, val.into_arg()));
        Val::of(value, 0)
    }

    /// The same for something that others may want to look inside.
    fn structured_value(&mut self, name: &Name, val: &Val) -> Value {
        if let Some(direct) = val.direct {
            return self.take_over(direct, name, val.flags);
        }
        match &val.shape {
            Shape::Object(_) | Shape::List(_) => {
                let made = self.step(name, 0);
                self.push(Op::New { into: made, lock: None });
                if val.values.is_empty() {
                    return made;
                }
                let mut from = vec![made];
                merge(&mut from, &val.values);
                self.derive(name, from, made.into(), 0)
            }
            Shape::Function { function, captures } => {
                let into = self.step(name, 0);
                self.push(Op::Closure { into, function: *function, captures: captures.clone() });
                into
            }
            _ => self.derive(name, val.values.clone(), val.term.clone(), val.flags),
        }
    }

    /// The value that the last step of an expression made becomes the variable's own.
    fn take_over(&mut self, direct: Value, name: &Name, flags: u8) -> Value {
        // That something is a number of things is only known by its name, and says what it is compared for.
        if !self.cx.values.get(direct.0 as usize).is_some_and(|info| is_count(&info.name)) {
            self.rename(direct, name.clone());
        }
        self.add_flags(direct, flags & !flag::STATE);
        direct
    }

    /// Shared memory is written.
    pub(super) fn write(&mut self, path: AccessPath, from: Vec<Value>) {
        let to = Resource::Shared(path);
        self.push(Op::Write { to, from, mode: WriteMode::Blind, outcome: None, via: None });
    }

    /// Shared memory takes what an expression came to. A module is loaded once by the runtime, however often it is imported, so
    /// whoever keeps one leaves what everybody else would.
    fn keep(&mut self, path: AccessPath, val: &Val) {
        let module = val.flags & flag::MODULE != 0;
        let mode = if module { WriteMode::Ensure } else { WriteMode::Blind };
        let (to, from) = (Resource::Shared(path), val.values.clone());
        self.push(Op::Write { to, from, mode, outcome: None, via: None });
    }

    fn assign_member(&mut self, member: &MemberExpression<'a>, place: &Val, val: Val) {
        let Some(path) = place.path_ref().cloned() else { return };
        if self.is_state(&path) {
            self.keep(path.clone(), &val);
            if matches!(path.root, Root::This | Root::Global(_)) {
                self.record(path, None, val);
            }
            return;
        }
        // An object that was made here depends on what is put into it.
        let Some(symbol) = root_symbol(member.object()) else { return };
        let owner = self.facts.symbol(symbol).map(|found| found.function);
        if let Some(binding) = self.binding(symbol).filter(|_| owner == Some(self.cx.id)) {
            if let Shape::Function { .. } = val.shape {
                let member = AccessPath { root: Root::Value(binding.value), fields: path.fields.clone() };
                self.record(member, None, val);
                return;
            }
            if val.values.is_empty() || val.values.as_slice() == [binding.value] {
                return;
            }
            let name = self.symbol_name(symbol);
            let mut from = vec![binding.value];
            merge(&mut from, &val.values);
            let flags = self.flags(binding.value);
            let value = self.derive(&name, from, binding.value.into(), flags);
            self.set(symbol, Binding { value, ..binding });
        }
    }

    /// Remembers what was assigned to something that outlives the function.
    pub(super) fn record(&mut self, path: AccessPath, declared: Option<AccessPath>, val: Val) {
        let says_something = !matches!(val.shape, Shape::Opaque | Shape::Null) || val.path_ref().is_some();
        if !says_something && declared.is_none() && val.term == Term::Unknown {
            return;
        }
        let owner = matches!(path.root, Root::This).then(|| self.cx.owner.clone()).flatten();
        let initial = Some(val.into_arg());
        self.module.variables.push(Variable { path, owner, declared, initial, within: self.cx.id });
    }

    /// A function or an object of functions that is about to be evaluated will be called by this path.
    fn expect_binding(&mut self, target: &Target<'_, 'a>, right: &Expression<'a>) {
        let has_functions = matches!(
            right.get_inner_expression(),
            Expression::ArrowFunctionExpression(_)
                | Expression::FunctionExpression(_)
                | Expression::ObjectExpression(_)
        );
        if !has_functions {
            return;
        }
        self.bound = match target {
            Target::Variable(id) => {
                let symbol = meaning_of(&id.reference_id);
                let global = symbol.filter(|symbol| {
                    self.facts
                        .symbol(*symbol)
                        .is_some_and(|found| found.global && found.kind != SymbolKind::Type)
                });
                global.map(|symbol| self.global(symbol))
            }
            Target::Member(_, place) => {
                place.path_ref().filter(|path| matches!(path.root, Root::This | Root::Global(_))).cloned()
            }
        };
    }

    /// `[a, b] = …`, `({ a, b } = …)`.
    pub(super) fn assign_pattern(&mut self, target: &AssignmentTarget<'a>, val: Val) {
        use oxc_ast::ast::AssignmentTargetProperty as Property;
        match target {
            AssignmentTarget::ArrayAssignmentTarget(array) => {
                for (index, element) in array.elements.iter().enumerate() {
                    let Some(element) = element else { continue };
                    let part = self.element(&val, index);
                    self.assign_or_default(element, part);
                }
                if let Some(rest) = &array.rest {
                    self.assign_pattern(&rest.target, Val { direct: None, ..val });
                }
            }
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                for property in &object.properties {
                    match property {
                        Property::AssignmentTargetPropertyIdentifier(it) => {
                            let name = self.names.of(it.binding.name);
                            let mut part = self.part_of(&val, Field::Name(name));
                            if let Some(default) = &it.init {
                                let default = self.expression(default);
                                part.depend(&default);
                            }
                            if let Some(symbol) = meaning_of(&it.binding.reference_id) {
                                self.assign_symbol(symbol, part);
                            }
                        }
                        Property::AssignmentTargetPropertyProperty(it) => {
                            let mut values = vec![];
                            let name = self.property_name(&it.name, it.computed, &mut values);
                            let part = self.part_of(&val, Field::Name(name));
                            self.assign_or_default(&it.binding, part);
                        }
                    }
                }
                if let Some(rest) = &object.rest {
                    self.assign_pattern(&rest.target, Val { direct: None, ..val });
                }
            }
            other => {
                let simple = other.as_simple_assignment_target();
                if let Some(target) = simple.and_then(|simple| self.target(simple)) {
                    self.assign(&target, Val { direct: None, ..val });
                }
            }
        }
    }

    fn assign_or_default(&mut self, target: &oxc_ast::ast::AssignmentTargetMaybeDefault<'a>, mut val: Val) {
        use oxc_ast::ast::AssignmentTargetMaybeDefault as Maybe;
        match target {
            Maybe::AssignmentTargetWithDefault(it) => {
                let default = self.expression(&it.init);
                val.depend(&default);
                self.assign_pattern(&it.binding, val);
            }
            other => {
                if let Some(target) = other.as_assignment_target() {
                    self.assign_pattern(target, val);
                }
            }
        }
    }
}

fn is_global(path: &AccessPath) -> bool {
    matches!(path.root, Root::Global(_))
}

/// The variable at the start of a chain of members.
fn root_symbol(expression: &Expression<'_>) -> Option<u32> {
    let mut expression = expression.get_inner_expression();
    while let Some(member) = expression.as_member_expression() {
        expression = member.object().get_inner_expression();
    }
    match expression {
        Expression::Identifier(id) => meaning_of(&id.reference_id),
        _ => None,
    }
}

/// Whether others may want to look inside.
fn structured(shape: &Shape) -> bool {
    matches!(
        shape,
        Shape::Object(_) | Shape::List(_) | Shape::Function { .. } | Shape::Call(_) | Shape::Choice(_)
    )
}
