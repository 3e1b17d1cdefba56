//! JSX: what is inside runs, and that is all.

use oxc_ast::ast::{
    Expression, JSXAttributeItem, JSXAttributeValue, JSXChild, JSXElement, JSXExpressionContainer,
};

use super::{context::Lowerer, val::Val};

impl<'a> Lowerer<'a> {
    pub(super) fn jsx(&mut self, expression: &Expression<'a>) -> Val {
        let mut val = Val::nothing();
        match expression {
            Expression::JSXElement(element) => self.jsx_element(element, &mut val),
            Expression::JSXFragment(fragment) => self.jsx_children(&fragment.children, &mut val),
            _ => {}
        }
        val
    }

    fn jsx_element(&mut self, element: &JSXElement<'a>, val: &mut Val) {
        for attribute in &element.opening_element.attributes {
            match attribute {
                JSXAttributeItem::Attribute(attribute) => match &attribute.value {
                    Some(JSXAttributeValue::ExpressionContainer(it)) => self.jsx_container(it, val),
                    Some(JSXAttributeValue::Element(it)) => self.jsx_element(it, val),
                    Some(JSXAttributeValue::Fragment(it)) => self.jsx_children(&it.children, val),
                    _ => {}
                },
                JSXAttributeItem::SpreadAttribute(spread) => {
                    let spread = self.expression(&spread.argument);
                    val.depend(&spread);
                }
            }
        }
        self.jsx_children(&element.children, val);
    }

    fn jsx_children(&mut self, children: &[JSXChild<'a>], val: &mut Val) {
        for child in children {
            match child {
                JSXChild::Element(it) => self.jsx_element(it, val),
                JSXChild::Fragment(it) => self.jsx_children(&it.children, val),
                JSXChild::ExpressionContainer(it) => self.jsx_container(it, val),
                JSXChild::Spread(it) => {
                    let spread = self.expression(&it.expression);
                    val.depend(&spread);
                }
                JSXChild::Text(_) => {}
            }
        }
    }

    fn jsx_container(&mut self, container: &JSXExpressionContainer<'a>, val: &mut Val) {
        if let Some(expression) = container.expression.as_expression() {
            let inner = self.expression(expression);
            val.depend(&inner);
        }
    }
}
