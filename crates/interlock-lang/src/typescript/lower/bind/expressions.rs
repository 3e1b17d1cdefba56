//! Expressions, patterns and parameters.

use oxc_ast::ast::{
    Argument, ArrayExpressionElement, ArrowFunctionBody, AssignmentTarget, AssignmentTargetMaybeDefault,
    AssignmentTargetProperty, BindingPattern, CallExpression, ChainElement, Expression, FormalParameters,
    JSXAttributeItem, JSXAttributeValue, JSXChild, JSXElement, JSXElementName, JSXExpressionContainer,
    JSXMemberExpressionObject, MemberExpression, ObjectPropertyKind, SimpleAssignmentTarget,
};

use super::{Binder, SymbolKind};

impl<'a> Binder<'a> {
    pub(super) fn maybe(&mut self, expression: Option<&Expression<'a>>) {
        if let Some(expression) = expression {
            self.expression(expression);
        }
    }

    /// The number of a function that stands here as an expression.
    pub(super) fn function_of(&mut self, expression: &Expression<'a>) -> Option<u32> {
        match expression.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => Some(self.function_number(&arrow.scope_id)),
            Expression::FunctionExpression(function) => Some(self.function_number(&function.scope_id)),
            _ => None,
        }
    }

    pub(super) fn expression(&mut self, expression: &Expression<'a>) {
        match expression {
            Expression::Identifier(id) => {
                self.reference(id);
            }
            Expression::ArrayExpression(it) => {
                for element in &it.elements {
                    match element {
                        ArrayExpressionElement::SpreadElement(spread) => self.expression(&spread.argument),
                        other => self.maybe(other.as_expression()),
                    }
                }
            }
            Expression::ObjectExpression(it) => {
                for property in &it.properties {
                    match property {
                        ObjectPropertyKind::ObjectProperty(property) => {
                            if property.computed {
                                self.maybe(property.key.as_expression());
                            }
                            self.expression(&property.value);
                        }
                        ObjectPropertyKind::SpreadProperty(spread) => self.expression(&spread.argument),
                    }
                }
            }
            Expression::ArrowFunctionExpression(it) => {
                let number = self.function_number(&it.scope_id);
                self.inside(number, |this| {
                    this.parameters(&it.params);
                    match &it.body {
                        ArrowFunctionBody::FunctionBody(body) => {
                            this.declare_all(&body.statements);
                            this.statements(&body.statements);
                        }
                        other => this.maybe(other.as_expression()),
                    }
                });
            }
            Expression::FunctionExpression(it) => self.function(it),
            Expression::ClassExpression(it) => self.class(it, None),
            Expression::AssignmentExpression(it) => {
                let counted = if it.operator.is_assign() {
                    it.left.get_identifier_name().is_some_and(|name| counts_on(&it.right, name))
                } else {
                    !it.operator.is_logical()
                };
                self.target(&it.left, counted);
                self.expression(&it.right);
            }
            Expression::UpdateExpression(it) => self.simple_target(&it.argument, true),
            Expression::AwaitExpression(it) => {
                self.expression(&it.argument);
                self.wait_for(&it.argument);
            }
            Expression::UnaryExpression(it) => self.expression(&it.argument),
            Expression::BinaryExpression(it) => {
                self.expression(&it.left);
                self.expression(&it.right);
            }
            Expression::LogicalExpression(it) => {
                self.expression(&it.left);
                self.expression(&it.right);
            }
            Expression::ConditionalExpression(it) => {
                self.expression(&it.test);
                self.expression(&it.consequent);
                self.expression(&it.alternate);
            }
            Expression::CallExpression(it) => {
                self.expression(&it.callee);
                self.arguments(&it.arguments);
                promises_of(it).for_each(|promise| self.wait_for(promise));
            }
            Expression::NewExpression(it) => {
                self.expression(&it.callee);
                self.arguments(&it.arguments);
            }
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(call) => {
                    self.expression(&call.callee);
                    self.arguments(&call.arguments);
                }
                ChainElement::TSNonNullExpression(it) => self.expression(&it.expression),
                other => {
                    if let Some(member) = other.as_member_expression() {
                        self.member(member);
                    }
                }
            },
            Expression::ImportExpression(it) => self.expression(&it.source),
            Expression::ParenthesizedExpression(it) => self.expression(&it.expression),
            Expression::SequenceExpression(it) => it.expressions.iter().for_each(|it| self.expression(it)),
            Expression::TaggedTemplateExpression(it) => {
                self.expression(&it.tag);
                it.quasi.expressions.iter().for_each(|it| self.expression(it));
            }
            Expression::TemplateLiteral(it) => it.expressions.iter().for_each(|it| self.expression(it)),
            Expression::YieldExpression(it) => self.maybe(it.argument.as_ref()),
            Expression::PrivateInExpression(it) => self.expression(&it.right),
            Expression::JSXElement(it) => self.jsx(it),
            Expression::JSXFragment(it) => self.jsx_children(&it.children),
            Expression::TSAsExpression(it) => self.expression(&it.expression),
            Expression::TSSatisfiesExpression(it) => self.expression(&it.expression),
            Expression::TSTypeAssertion(it) => self.expression(&it.expression),
            Expression::TSNonNullExpression(it) => self.expression(&it.expression),
            Expression::TSInstantiationExpression(it) => self.expression(&it.expression),
            Expression::V8IntrinsicExpression(it) => self.arguments(&it.arguments),
            _ => {
                if let Some(member) = expression.as_member_expression() {
                    self.member(member);
                }
            }
        }
    }

    fn member(&mut self, member: &MemberExpression<'a>) {
        self.expression(member.object());
        if let MemberExpression::ComputedMemberExpression(computed) = member {
            self.expression(&computed.expression);
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument<'a>]) {
        for argument in arguments {
            match argument {
                Argument::SpreadElement(spread) => self.expression(&spread.argument),
                other => self.maybe(other.as_expression()),
            }
        }
    }

    pub(super) fn parameters(&mut self, parameters: &FormalParameters<'a>) {
        for parameter in &parameters.items {
            self.declare_pattern(&parameter.pattern, SymbolKind::Parameter);
        }
        if let Some(rest) = &parameters.rest {
            self.declare_pattern(&rest.rest.argument, SymbolKind::Parameter);
        }
        for parameter in &parameters.items {
            self.defaults(&parameter.pattern);
            self.maybe(parameter.initializer.as_deref());
        }
    }

    /// The default values inside a pattern.
    pub(super) fn defaults(&mut self, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::BindingIdentifier(_) => {}
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    if property.computed {
                        self.maybe(property.key.as_expression());
                    }
                    self.defaults(&property.value);
                }
            }
            BindingPattern::ArrayPattern(array) => {
                array.elements.iter().flatten().for_each(|element| self.defaults(element));
            }
            BindingPattern::AssignmentPattern(default) => {
                self.defaults(&default.left);
                self.expression(&default.right);
            }
        }
    }

    /// What is assigned to.
    pub(super) fn target(&mut self, target: &AssignmentTarget<'a>, counted: bool) {
        match target {
            AssignmentTarget::ArrayAssignmentTarget(array) => {
                array.elements.iter().flatten().for_each(|element| self.target_or_default(element));
                if let Some(rest) = &array.rest {
                    self.target(&rest.target, false);
                }
            }
            AssignmentTarget::ObjectAssignmentTarget(object) => {
                for property in &object.properties {
                    match property {
                        AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(it) => {
                            self.assign(&it.binding, false);
                            self.maybe(it.init.as_ref());
                        }
                        AssignmentTargetProperty::AssignmentTargetPropertyProperty(it) => {
                            if it.computed {
                                self.maybe(it.name.as_expression());
                            }
                            self.target_or_default(&it.binding);
                        }
                    }
                }
                if let Some(rest) = &object.rest {
                    self.target(&rest.target, false);
                }
            }
            other => {
                if let Some(simple) = other.as_simple_assignment_target() {
                    self.simple_target(simple, counted);
                }
            }
        }
    }

    fn target_or_default(&mut self, target: &AssignmentTargetMaybeDefault<'a>) {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(it) => {
                self.target(&it.binding, false);
                self.expression(&it.init);
            }
            other => {
                if let Some(target) = other.as_assignment_target() {
                    self.target(target, false);
                }
            }
        }
    }

    fn simple_target(&mut self, target: &SimpleAssignmentTarget<'a>, counted: bool) {
        match target {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(id) => self.assign(id, counted),
            other => {
                if let Some(member) = other.as_member_expression() {
                    self.member(member);
                } else if let Some(inner) = other.get_expression() {
                    match inner.get_inner_expression() {
                        Expression::Identifier(id) => self.assign(id, counted),
                        inner => self.expression(inner),
                    }
                }
            }
        }
    }

    fn jsx(&mut self, element: &JSXElement<'a>) {
        match &element.opening_element.name {
            JSXElementName::IdentifierReference(id) => {
                self.reference(id);
            }
            JSXElementName::MemberExpression(member) => {
                let mut object = &member.object;
                while let JSXMemberExpressionObject::MemberExpression(inner) = object {
                    object = &inner.object;
                }
                if let JSXMemberExpressionObject::IdentifierReference(id) = object {
                    self.reference(id);
                }
            }
            _ => {}
        }
        for attribute in &element.opening_element.attributes {
            match attribute {
                JSXAttributeItem::Attribute(attribute) => match &attribute.value {
                    Some(JSXAttributeValue::ExpressionContainer(container)) => self.jsx_container(container),
                    Some(JSXAttributeValue::Element(element)) => self.jsx(element),
                    Some(JSXAttributeValue::Fragment(fragment)) => self.jsx_children(&fragment.children),
                    _ => {}
                },
                JSXAttributeItem::SpreadAttribute(spread) => self.expression(&spread.argument),
            }
        }
        self.jsx_children(&element.children);
    }

    fn jsx_children(&mut self, children: &[JSXChild<'a>]) {
        for child in children {
            match child {
                JSXChild::Element(element) => self.jsx(element),
                JSXChild::Fragment(fragment) => self.jsx_children(&fragment.children),
                JSXChild::ExpressionContainer(container) => self.jsx_container(container),
                JSXChild::Spread(spread) => self.expression(&spread.expression),
                JSXChild::Text(_) => {}
            }
        }
    }

    fn jsx_container(&mut self, container: &JSXExpressionContainer<'a>) {
        self.maybe(container.expression.as_expression());
    }
}

/// Whether an expression computes on from a variable: `delay * 2`, `Math.min(delay * 2, most)`.
fn counts_on(expression: &Expression<'_>, name: &str) -> bool {
    let is_it = |it: &Expression<'_>| matches!(it.get_inner_expression(), Expression::Identifier(id) if id.name == name);
    match expression.get_inner_expression() {
        Expression::BinaryExpression(it) => {
            it.operator.is_arithmetic()
                && [&it.left, &it.right].into_iter().any(|it| is_it(it) || counts_on(it, name))
        }
        Expression::CallExpression(call) => {
            let of_math = matches!(&call.callee, Expression::StaticMemberExpression(member)
                if matches!(&member.object, Expression::Identifier(id) if id.name == "Math"));
            of_math
                && call.arguments.iter().filter_map(|arg| arg.as_expression()).any(|arg| counts_on(arg, name))
        }
        _ => false,
    }
}

/// What a call of `Promise.all` and its like waits for, where that is written there; whoever waits for the call waits for all of it.
fn promises_of<'m, 'a>(call: &'m CallExpression<'a>) -> impl Iterator<Item = &'m Expression<'a>> {
    let waits = match &call.callee {
        Expression::StaticMemberExpression(member) => {
            matches!(&member.object, Expression::Identifier(id) if id.name == "Promise")
        }
        _ => false,
    };
    let list = call.arguments.first().filter(|_| waits).and_then(Argument::as_expression);
    let elements = match list.map(Expression::get_inner_expression) {
        Some(Expression::ArrayExpression(array)) => array.elements.as_slice(),
        _ => &[],
    };
    elements.iter().filter_map(ArrayExpressionElement::as_expression)
}
