//! Expressions.

use tree_sitter::Node;

use super::{
    super::ast::{Call, Element, Expr, Kind, Type},
    Reader, named, place,
};

impl<'a> Reader<'a> {
    /// The expressions of a list, or the one that stands in its place.
    pub(super) fn expressions(&mut self, node: Node<'_>, depth: u32) -> Vec<Expr<'a>> {
        match node.kind() {
            "expression_list" => {
                named(node).into_iter().map(|node| self.expression(node, depth + 1)).collect()
            }
            _ => vec![self.expression(node, depth)],
        }
    }

    pub(super) fn of_field(&mut self, node: Node<'_>, field: &str, depth: u32) -> Option<Expr<'a>> {
        let inner = node.child_by_field_name(field)?;
        Some(self.expression(inner, depth))
    }

    pub(super) fn boxed(&mut self, node: Node<'_>, field: &str, depth: u32) -> Box<Expr<'a>> {
        let inner = self.of_field(node, field, depth);
        Box::new(inner.unwrap_or(Expr { at: place(node), kind: Kind::Other(vec![]) }))
    }

    pub(super) fn expression(&mut self, node: Node<'_>, depth: u32) -> Expr<'a> {
        let at = place(node);
        if self.too_deep(node, depth) {
            return Expr { at, kind: Kind::Other(vec![]) };
        }
        let next = depth + 1;
        let kind = match node.kind() {
            "identifier" | "field_identifier" | "package_identifier" | "iota" => Kind::Name(self.text(node)),
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            "nil" => Kind::Nil,
            "interpreted_string_literal" => Kind::Text(unescaped(self.text(node))),
            "raw_string_literal" => Kind::Text(self.text(node).trim_matches('`').to_owned()),
            "int_literal" => Kind::Number(self.text(node).replace('_', "").parse().ok()),
            "float_literal" | "rune_literal" | "imaginary_literal" => Kind::Number(None),
            "parenthesized_expression" => match named(node).first() {
                Some(inner) => return self.expression(*inner, next),
                None => Kind::Other(vec![]),
            },
            "literal_element" => match named(node).first() {
                Some(inner) => return self.expression(*inner, next),
                None => Kind::Other(vec![]),
            },
            "selector_expression" => {
                let field = node.child_by_field_name("field").map_or("", |field| self.text(field));
                Kind::Selector(self.boxed(node, "operand", next), field)
            }
            "index_expression" => {
                let object = self.boxed(node, "operand", next);
                Kind::Index(object, self.boxed(node, "index", next))
            }
            "slice_expression" => {
                let object = self.boxed(node, "operand", next);
                let ends = ["start", "end", "capacity"];
                Kind::Slice(object, ends.iter().filter_map(|end| self.of_field(node, end, next)).collect())
            }
            "call_expression" => self.call(node, next),
            "unary_expression" => {
                let operator = node.child_by_field_name("operator").map_or("", |it| self.text(it));
                Kind::Unary(operator, self.boxed(node, "operand", next))
            }
            "binary_expression" => self.binary(node, next),
            "func_literal" => Kind::Function(Box::new(self.function(node, next))),
            "composite_literal" => {
                let type_ = match node.child_by_field_name("type") {
                    Some(type_) => self.type_(type_, next),
                    None => Type::Other,
                };
                self.composite(node.child_by_field_name("body"), type_, next)
            }
            "type_assertion_expression" => {
                let object = self.boxed(node, "operand", next);
                let type_ = node.child_by_field_name("type");
                Kind::Assert(object, type_.map_or(Type::Other, |type_| self.type_(type_, next)))
            }
            "type_conversion_expression" => {
                let type_ = node.child_by_field_name("type");
                let type_ = type_.map_or(Type::Other, |type_| self.type_(type_, next));
                Kind::Convert(type_, Some(self.boxed(node, "operand", next)))
            }
            "type_instantiation_expression" => match node.child_by_field_name("type") {
                Some(type_) => Kind::Convert(self.type_(type_, next), None),
                None => Kind::Other(vec![]),
            },
            "variadic_argument" => match named(node).first() {
                Some(inner) => return self.expression(*inner, next),
                None => Kind::Other(vec![]),
            },
            kind if kind.ends_with("_type") || kind == "type_identifier" => {
                Kind::Convert(self.type_(node, next), None)
            }
            _ => Kind::Other(named(node).into_iter().map(|node| self.expression(node, next)).collect()),
        };
        Expr { at, kind }
    }

    pub(super) fn call(&mut self, node: Node<'_>, depth: u32) -> Kind<'a> {
        let callee = *self.boxed(node, "function", depth);
        let mut arguments = vec![];
        let mut spread = false;
        for argument in node.child_by_field_name("arguments").map(named).into_iter().flatten() {
            spread = argument.kind() == "variadic_argument";
            arguments.push(self.expression(argument, depth));
        }
        Kind::Call(Box::new(Call { callee, arguments, spread }))
    }

    /// A chain of operators is as long as it is written, and not as deep.
    pub(super) fn binary(&mut self, node: Node<'_>, depth: u32) -> Kind<'a> {
        let mut chain = vec![];
        let mut first = node;
        while first.kind() == "binary_expression" {
            chain.push(first);
            match first.child_by_field_name("left") {
                Some(left) => first = left,
                None => break,
            }
        }
        let first = self.expression(first, depth);
        let mut rest = vec![];
        for node in chain.into_iter().rev() {
            let operator = node.child_by_field_name("operator").map_or("", |it| self.text(it));
            rest.push((operator, *self.boxed(node, "right", depth)));
        }
        Kind::Binary(Box::new(first), rest)
    }

    pub(super) fn composite(&mut self, body: Option<Node<'_>>, type_: Type<'a>, depth: u32) -> Kind<'a> {
        let inner = match &type_ {
            Type::Map(value) => unpointed(value),
            Type::List(element) => unpointed(element),
            _ => Type::Other,
        };
        let mut elements = vec![];
        for node in body.map(named).into_iter().flatten() {
            let (key, value) = match node.kind() {
                "keyed_element" => (node.child_by_field_name("key"), node.child_by_field_name("value")),
                _ => (None, Some(node)),
            };
            let Some(value) = value else { continue };
            let key = key.map(|key| self.expression(key, depth + 1));
            let literal = named(value).into_iter().next().filter(|node| node.kind() == "literal_value");
            let value = match literal {
                // `[]T{{…}, {…}}`
                Some(literal) if !self.too_deep(literal, depth) => {
                    let kind = self.composite(Some(literal), inner.clone(), depth + 1);
                    Expr { at: place(literal), kind }
                }
                _ => self.expression(value, depth + 1),
            };
            elements.push(Element { key, value });
        }
        Kind::Composite(type_, elements)
    }
}

/// The type that a pointer leads to.
fn unpointed<'a>(type_: &Type<'a>) -> Type<'a> {
    match type_ {
        Type::Pointer(inner) => (**inner).clone(),
        other => other.clone(),
    }
}

/// The text of a string in double quotes.
fn unescaped(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(other) => text.push(other),
            None => {}
        }
    }
    text
}
