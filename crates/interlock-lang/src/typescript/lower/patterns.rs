//! Declarations and destructuring.

use interlock_model::ir::{AccessPath, Field, Name, Op, Root, Term};
use oxc_ast::ast::{BindingPattern, Expression, VariableDeclaration};
use oxc_span::GetSpan;

use super::{
    bind::symbol_of,
    calls::Use,
    context::{Lowerer, flag},
    expressions::one_of,
    val::{Val, is_small, merge},
};
use crate::{Arg, Shape};

impl<'a> Lowerer<'a> {
    pub(super) fn variables(&mut self, variables: &VariableDeclaration<'a>) {
        if variables.declare {
            return;
        }
        for declarator in &variables.declarations {
            self.stand(declarator.span);
            let declared =
                declarator.type_annotation.as_ref().and_then(|it| self.type_path(&it.type_annotation));
            if let BindingPattern::BindingIdentifier(id) = &declarator.id {
                let Some(symbol) = symbol_of(&id.symbol_id) else { continue };
                self.variable(symbol, declarator.init.as_ref(), declared, variables.kind.is_var());
                continue;
            }
            let Some(init) = &declarator.init else { continue };
            if self.required_pattern(&declarator.id, init) {
                continue;
            }
            let val = self.expression(init);
            self.stand(declarator.span);
            self.pattern(&declarator.id, val, true);
        }
    }

    fn variable(
        &mut self,
        symbol: u32,
        init: Option<&Expression<'a>>,
        declared: Option<AccessPath>,
        hoisted: bool,
    ) {
        let Some(found) = self.facts.symbol(symbol) else { return };
        let global = found.global;
        let Some(init) = init else {
            if hoisted && self.binding(symbol).is_some() {
                return;
            }
            if global {
                if declared.is_some() {
                    let path = self.global(symbol);
                    self.record(path, declared, Val::nothing());
                }
            } else if self.facts.is_cell(symbol) {
                self.cell(symbol);
            } else {
                let value = self.bind_local(symbol, Val { shape: Shape::Null, ..Val::nothing() });
                self.cx.types.extend(declared.map(|path| (value, path)));
            }
            return;
        };
        if global && self.required_variable(symbol, init) {
            return;
        }
        let name = self.symbol_name(symbol);
        let inner = init.get_inner_expression();
        let is_function =
            matches!(inner, Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_));
        if global && (is_function || matches!(inner, Expression::ObjectExpression(_))) {
            self.bound = Some(self.global(symbol));
        }
        if let Expression::ClassExpression(class) = inner {
            self.class(class, Some(symbol));
            return;
        }
        let val = if is_function {
            self.function_expression(init, Some(name))
        } else if self.facts.is_promise(symbol) && matches!(inner, Expression::CallExpression(_)) {
            // What is begun here and only waited for later has its value and its failure there. That it runs beside what lies
            // between is left out: no other call sees that.
            self.expression_for(init, Use::Awaited)
        } else {
            self.expression(init)
        };
        self.bound = None;
        self.stand(init.span());
        if is_function && self.facts.held(symbol).is_some() {
            if global {
                let path = self.global(symbol);
                self.record(path, declared, val);
            }
            return;
        }
        if global {
            self.global_variable(symbol, declared, val);
        } else if self.facts.is_cell(symbol) {
            let value = self.cell(symbol);
            if !val.values.is_empty() {
                self.write(value.into(), val.values);
            }
            self.cx.types.extend(declared.map(|path| (value, path)));
        } else {
            let value = self.bind_local(symbol, val);
            self.cx.types.extend(declared.map(|path| (value, path)));
        }
    }

    /// A variable of the module is known by its path; what it was made as is remembered.
    fn global_variable(&mut self, symbol: u32, declared: Option<AccessPath>, val: Val) {
        let path = self.global(symbol);
        let direct = val.direct;
        if let Some(value) = direct {
            let name = self.symbol_name(symbol);
            self.rename(value, name);
        }
        if !matches!(val.shape, Shape::Opaque | Shape::Null) && is_small(&val.shape) {
            let shape = self.keep_shape(val.shape.clone());
            let value = direct.unwrap_or(interlock_model::ir::Value(u32::MAX));
            self.set(symbol, super::context::Binding { value, alias: None, shape });
        }
        self.record(path, declared, val);
    }

    /// Names what a pattern takes out of something. `declares` where the names are new.
    pub(super) fn pattern(&mut self, pattern: &BindingPattern<'a>, val: Val, declares: bool) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                let Some(symbol) = symbol_of(&id.symbol_id) else { return };
                let global = self.facts.symbol(symbol).is_some_and(|found| found.global);
                if global && declares {
                    self.global_variable(symbol, None, val);
                } else {
                    self.assign_symbol(symbol, val);
                }
            }
            BindingPattern::ObjectPattern(object) => {
                let val = self.with_path(val);
                let mut taken = vec![];
                for property in &object.properties {
                    let mut values = vec![];
                    let name = self.property_name(&property.key, property.computed, &mut values);
                    taken.push(name.clone());
                    let field = if name.is_empty() { Field::At(Term::Unknown) } else { Field::Name(name) };
                    let mut part = self.part_of(&val, field);
                    merge(&mut part.values, &values);
                    self.pattern(&property.value, part, declares);
                }
                if let Some(rest) = &object.rest {
                    let rest_val = rest_of(val, taken);
                    self.pattern(&rest.argument, rest_val, declares);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                for (index, element) in array.elements.iter().enumerate() {
                    let Some(element) = element else { continue };
                    let part = self.element(&val, index);
                    self.pattern(element, part, declares);
                }
                if let Some(rest) = &array.rest {
                    let rest_val = Val::from_values(val.values, val.flags);
                    self.pattern(&rest.argument, rest_val, declares);
                }
            }
            BindingPattern::AssignmentPattern(default) => {
                let mut val = val;
                let at = self.span(default.span);
                let (block, right) = self.branch(|this| this.expression(&default.right));
                if !block.is_empty() {
                    let on = val.values.clone();
                    self.push_at(
                        at,
                        Op::Check { on, equal: None, asks: vec![], then: vec![], otherwise: block },
                    );
                }
                if val.shape == Shape::Opaque && val.path_ref().is_some() {
                    val.shape = one_of(Val { shape: Shape::Opaque, ..val.clone() }, right.clone());
                }
                if !right.values.is_empty() {
                    val.depend(&right);
                    val.direct = None;
                    val.term = Term::Unknown;
                }
                self.pattern(&default.left, val, declares);
            }
        }
    }

    /// The same with a name, if it has none and something will be taken out of it.
    fn with_path(&mut self, val: Val) -> Val {
        if val.path_ref().is_some() || matches!(val.shape, Shape::Object(_)) {
            val
        } else {
            self.as_path(val)
        }
    }

    /// A member of something, as a pattern takes it.
    pub(super) fn part_of(&mut self, val: &Val, field: Field) -> Val {
        if let (Shape::Object(members), Field::Name(name)) = (&val.shape, &field)
            && let Some((_, arg)) = members.iter().rev().find(|(key, _)| key == name)
        {
            return Val { flags: val.flags, ..Val::from_arg(arg.clone()) };
        }
        // The name by which members are reached; the value itself is what the part depends on.
        let Some(path) = val.place.as_deref().or(val.path_ref()) else {
            return Val::from_values(val.values.clone(), val.flags);
        };
        let mut path = path.clone();
        path.fields.push(field);
        let state = self.is_state(&path);
        let outside = match path.root {
            Root::This | Root::Global(_) => true,
            Root::Value(value) => self
                .cx
                .values
                .get(value.0 as usize)
                .is_some_and(|info| info.origin == interlock_model::ir::Origin::Capture),
        };
        if state && outside {
            return self.read_place(Val::path(path, vec![], flag::STATE));
        }
        Val::path(path, val.values.clone(), val.flags)
    }

    /// An element of a list, as a pattern takes it.
    pub(super) fn element(&mut self, val: &Val, index: usize) -> Val {
        if let Shape::List(items) = &val.shape
            && let Some(item) = items.get(index)
        {
            return Val { flags: val.flags, ..Val::from_arg(item.clone()) };
        }
        match val.path_ref() {
            Some(_) => self.part_of(val, Field::At(Term::Literal(format!("{index}").into()))),
            None => Val::from_values(val.values.clone(), val.flags),
        }
    }
}

/// What is left of an object when members were taken out of it: an object of its own, with all others in it.
fn rest_of(val: Val, taken: Vec<Name>) -> Val {
    let (values, flags) = (val.values.clone(), val.flags);
    let gone = Arg { term: Term::Unknown, values: vec![], shape: Shape::Null };
    let without = taken.into_iter().filter(|name| !name.is_empty()).map(|name| (name, gone.clone()));
    let members = std::iter::once(("...".into(), val.into_arg())).chain(without).collect();
    Val { shape: Shape::Object(members), ..Val::from_values(values, flags) }
}
