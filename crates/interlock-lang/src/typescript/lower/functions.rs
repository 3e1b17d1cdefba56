//! Functions, methods and closures: each becomes a function of its own.

use interlock_model::ir::{AccessPath, Name, Op, Origin, Root, Value};
use oxc_ast::ast::{
    ArrowFunctionBody, BindingPattern, Expression, FormalParameters, Function, FunctionBody, TSTypeAnnotation,
};

use super::{
    bind::{number_of, symbol_of},
    calls::Use,
    context::{Lowerer, flag},
    cx::{Cx, Head},
    val::Val,
};
use crate::{Shape, module::split_global};

/// A function as it stands in the source.
pub(super) struct Written<'t, 'a> {
    pub(super) id: u32,
    pub(super) name: Name,
    pub(super) span: oxc_span::Span,
    pub(super) parameters: &'t FormalParameters<'a>,
    pub(super) body: Body<'t, 'a>,
    pub(super) returns: Option<&'t TSTypeAnnotation<'a>>,
    pub(super) asynchronous: bool,
    pub(super) generator: bool,
    pub(super) owner: Option<Name>,
    pub(super) this: AccessPath,
    pub(super) bound: Option<AccessPath>,
}

/// What it does.
#[derive(Clone, Copy)]
pub(super) enum Body<'t, 'a> {
    Statements(&'t FunctionBody<'a>),
    Expression(&'t Expression<'a>),
}

impl<'a> Lowerer<'a> {
    /// A function that stands here as an expression; `name` is what it is bound to.
    pub(super) fn function_expression(&mut self, expression: &Expression<'a>, name: Option<Name>) -> Val {
        let bound = self.bound.take();
        let outer = self.cx.name.clone();
        let name = name.or_else(|| bound.as_ref().and_then(last_name));
        match expression.get_inner_expression() {
            Expression::ArrowFunctionExpression(it) => {
                let Some(id) = number_of(&it.scope_id) else { return Val::nothing() };
                let body = match &it.body {
                    ArrowFunctionBody::FunctionBody(body) => Body::Statements(body),
                    other => match other.as_expression() {
                        Some(expression) => Body::Expression(expression),
                        None => return Val::nothing(),
                    },
                };
                let name = name.unwrap_or_else(|| self.names.joined(&[&outer, ".closure"]));
                self.lower(Written {
                    id,
                    name,
                    span: it.span,
                    parameters: &it.params,
                    body,
                    returns: it.return_type.as_deref(),
                    asynchronous: it.r#async,
                    generator: false,
                    // An arrow function has the receiver of the function around it.
                    owner: self.cx.owner.clone(),
                    this: self.cx.this.clone(),
                    bound,
                });
                let captures = self.captures_of(id);
                Val::function(id, captures)
            }
            Expression::FunctionExpression(it) => {
                let Some(id) = number_of(&it.scope_id) else { return Val::nothing() };
                let own = it.id.as_ref().map(|id| self.names.of(id.name));
                let name = name.or(own).unwrap_or_else(|| self.names.joined(&[&outer, ".closure"]));
                let owner = bound.as_ref().and_then(object_of);
                self.function(it, id, name, owner, AccessPath::this(), bound);
                let captures = self.captures_of(id);
                Val::function(id, captures)
            }
            _ => Val::nothing(),
        }
    }

    pub(super) fn function_declaration(&mut self, function: &Function<'a>) {
        let Some(id) = number_of(&function.scope_id) else { return };
        let symbol = function.id.as_ref().and_then(|id| symbol_of(&id.symbol_id));
        let global = symbol.filter(|symbol| self.facts.symbol(*symbol).is_some_and(|found| found.global));
        let bound = global.map(|symbol| self.global(symbol));
        let name = match &function.id {
            Some(id) => self.names.of(id.name),
            None => self.names.get("default"),
        };
        self.function(function, id, name, None, AccessPath::this(), bound);
    }

    pub(super) fn function(
        &mut self,
        function: &Function<'a>,
        id: u32,
        name: Name,
        owner: Option<Name>,
        this: AccessPath,
        bound: Option<AccessPath>,
    ) {
        let Some(body) = &function.body else { return };
        self.lower(Written {
            id,
            name,
            span: function.span,
            parameters: &function.params,
            body: Body::Statements(body),
            returns: function.return_type.as_deref(),
            asynchronous: function.r#async,
            generator: function.generator,
            owner,
            this,
            bound,
        });
    }

    pub(super) fn lower(&mut self, written: Written<'_, 'a>) {
        self.lower_with(written, |_, _| {});
    }

    /// Lowers a function; `first` adds what runs before its body, given its parameters.
    pub(super) fn lower_with(&mut self, written: Written<'_, 'a>, first: impl FnOnce(&mut Self, &[Value])) {
        let id = written.id;
        let returns = written.returns.and_then(|it| self.type_path(&it.type_annotation));
        let captured = self.facts.captures(id).to_vec();
        let changes: Vec<u8> = captured.iter().map(|symbol| self.changes_of(*symbol)).collect();
        let mut cx = self.open(id, written.name, written.owner, written.this);
        cx.asynchronous = written.asynchronous;
        cx.generator = written.generator;
        let outer = std::mem::replace(&mut self.cx, cx);
        let (mark, at, bound) = (self.changes.len(), self.at, self.bound.take());
        let captures: Vec<Value> = captured.into_iter().map(|symbol| self.capture(symbol)).collect();
        for (value, flags) in captures.iter().zip(changes) {
            self.add_flags(*value, flags);
        }
        let parameters = self.parameters(written.parameters);
        let first_parameter = written.parameters.items.first();
        let settler = first_parameter.and_then(|it| it.pattern.get_binding_identifier());
        self.cx.settles = settler
            .and_then(|id| symbol_of(&id.symbol_id))
            .is_some_and(|symbol| self.settlers.contains(&symbol));
        first(self, &parameters);
        match written.body {
            Body::Statements(body) => self.body(body),
            Body::Expression(expression) => self.arrow_result(expression),
        }
        let span = self.span(written.span);
        let parent = self.facts.functions.get(id as usize).and_then(|facts| facts.parent);
        let head = Head { span, captures, parameters, parent, returns, bound: written.bound };
        self.finish(head, outer);
        self.changes.truncate(mark);
        (self.at, self.bound) = (at, bound);
    }

    /// A function that is about to be lowered.
    pub(super) fn open(&mut self, id: u32, name: Name, owner: Option<Name>, this: AccessPath) -> Cx {
        Cx::new(id, name, owner, this, self.spare.pop().unwrap_or_default())
    }

    /// Puts the function that is being lowered away, and goes on with another.
    pub(super) fn finish(&mut self, head: Head, next: Cx) {
        let cx = std::mem::replace(&mut self.cx, next);
        let id = cx.id;
        let (lowered, room) = cx.finish(head);
        self.spare.push(room);
        if let Some(slot) = self.done.get_mut(id as usize) {
            *slot = Some(lowered);
        }
    }

    fn body(&mut self, body: &FunctionBody<'a>) {
        self.plan(body);
        if let Some((slot, takes)) = self.cx.whole.take() {
            return self.whole_lock(body, &slot, takes);
        }
        self.statements(&body.statements);
    }

    fn arrow_result(&mut self, expression: &Expression<'a>) {
        let val = self.expression_for(expression, Use::Returned);
        self.stand(oxc_span::GetSpan::span(expression));
        self.return_value(val);
    }

    /// The parameters, each a value; patterns and defaults are taken apart behind them.
    fn parameters(&mut self, parameters: &FormalParameters<'a>) -> Vec<Value> {
        let mut module = self.handed.take();
        let mut values = Vec::with_capacity(parameters.items.len());
        for parameter in &parameters.items {
            let name = match parameter.pattern.get_identifier_name() {
                Some(name) => self.names.of(name),
                None => self.names.get("param"),
            };
            let value = self.value(name, Origin::Argument, flag::STATE);
            let declared = parameter.type_annotation.as_ref();
            if let Some(path) = declared.and_then(|it| self.type_path(&it.type_annotation)) {
                self.cx.types.push((value, path));
            }
            values.push(value);
        }
        let rest = parameters.rest.as_ref().map(|rest| {
            let name = match rest.rest.argument.get_identifier_name() {
                Some(name) => self.names.of(name),
                None => self.names.get("rest"),
            };
            self.value(name, Origin::Argument, flag::STATE)
        });
        for (parameter, value) in parameters.items.iter().zip(&values) {
            let value = *value;
            self.stand(parameter.span);
            let mut val = Val::of(value, flag::STATE);
            if let Some(initializer) = &parameter.initializer {
                let at = self.at;
                let (block, default) = self.branch(|this| this.expression(initializer));
                if !block.is_empty() {
                    let check = Op::Check {
                        on: vec![value],
                        equal: None,
                        asks: vec![],
                        then: vec![],
                        otherwise: block,
                    };
                    self.push_at(at, check);
                }
                val.depend(&default);
                // Where no caller says otherwise it is what it is by default.
                let is_known = match &default.shape {
                    Shape::Object(members) => !members.is_empty(),
                    Shape::List(items) => !items.is_empty(),
                    Shape::Call(_) | Shape::Text(_) | Shape::Function { .. } | Shape::Choice(_) => true,
                    Shape::Opaque => {
                        default.path_ref().is_some_and(|path| matches!(path.root, Root::Global(_)))
                    }
                    _ => false,
                };
                if is_known && parameter.pattern.get_identifier_name().is_some() {
                    self.cx.locals.push((value, default.into_arg()));
                }
            }
            match module.take() {
                Some(module) => self.pattern(&parameter.pattern, module, true),
                None => self.parameter(&parameter.pattern, val, value),
            }
        }
        if let (Some(value), Some(rest)) = (rest, &parameters.rest) {
            self.parameter(&rest.rest.argument, Val::of(value, flag::STATE), value);
            values.push(value);
        }
        values
    }

    fn parameter(&mut self, pattern: &BindingPattern<'a>, val: Val, value: Value) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                if let Some(symbol) = symbol_of(&id.symbol_id) {
                    self.set_value(symbol, value);
                }
            }
            pattern => self.pattern(pattern, val, true),
        }
    }
}

fn last_name(path: &AccessPath) -> Option<Name> {
    match path.fields.last() {
        Some(interlock_model::ir::Field::Name(name)) => Some(name.clone()),
        Some(interlock_model::ir::Field::At(_)) => None,
        None => match &path.root {
            Root::Global(name) => {
                let (_, last) = split_global(name)?;
                Some(last.strip_prefix("exports.").unwrap_or(last).into())
            }
            _ => None,
        },
    }
}

/// The global object whose method is bound to a path: what `this` is inside.
fn object_of(path: &AccessPath) -> Option<Name> {
    match (&path.root, path.fields.as_slice()) {
        (Root::Global(name), [_, ..]) => Some(name.clone()),
        _ => None,
    }
}
