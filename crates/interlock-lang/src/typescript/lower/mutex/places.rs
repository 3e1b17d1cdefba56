//! Places in the source that can hold a lock, compared by what they name.

use interlock_model::ir::{AccessPath, Lock, Name, Root, Term};
use oxc_ast::ast::{Argument, CallExpression, Expression};
use oxc_syntax::operator::LogicalOperator;

use crate::typescript::lower::{bind::meaning_of, context::Lowerer, places::private};

/// A variable or a field, apart from any function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::typescript::lower) struct Place {
    /// The variable at its start; `None` for `this`.
    pub(in crate::typescript::lower) root: Option<u32>,
    pub(super) fields: Vec<Name>,
}

/// The key of one lock of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Place(Place),
    Literal(Name),
    /// Something else, known by how it is written.
    Text(Name),
}

impl Key {
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Self::Place(place) => Some(place),
            _ => None,
        }
    }
}

/// Where a lock is kept: in a variable or field, or in a map by key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::typescript::lower) struct Slot {
    pub(super) place: Place,
    pub(super) key: Option<Key>,
}

/// The place that an expression names.
pub(super) fn place(expression: &Expression<'_>) -> Option<Place> {
    match expression.get_inner_expression() {
        Expression::ThisExpression(_) => Some(Place { root: None, fields: vec![] }),
        Expression::Identifier(id) => {
            Some(Place { root: Some(meaning_of(&id.reference_id)?), fields: vec![] })
        }
        Expression::StaticMemberExpression(member) => {
            let mut object = place(&member.object)?;
            object.fields.push(member.property.name.as_str().into());
            Some(object)
        }
        Expression::PrivateFieldExpression(member) => {
            let mut object = place(&member.object)?;
            object.fields.push(private(member.field.name.as_str()));
            Some(object)
        }
        _ => None,
    }
}

/// Without what only fills in for a missing value: `(x ?? Promise.resolve())`.
pub(super) fn without_default<'t, 'a>(expression: &'t Expression<'a>) -> &'t Expression<'a> {
    match expression.get_inner_expression() {
        Expression::LogicalExpression(it) if it.operator != LogicalOperator::And => without_default(&it.left),
        inner => inner,
    }
}

/// A method call: the object, the method and the arguments.
pub(super) fn method<'t, 'a>(
    expression: &'t Expression<'a>,
) -> Option<(&'t Expression<'a>, &'a str, &'t CallExpression<'a>)> {
    let call = match expression.get_inner_expression() {
        Expression::CallExpression(call) => call,
        Expression::ChainExpression(chain) => match &chain.expression {
            oxc_ast::ast::ChainElement::CallExpression(call) => call,
            _ => return None,
        },
        _ => return None,
    };
    match &call.callee {
        Expression::StaticMemberExpression(member) => {
            Some((&member.object, member.property.name.as_str(), call))
        }
        _ => None,
    }
}

pub(super) fn argument<'t, 'a>(call: &'t CallExpression<'a>, index: usize) -> Option<&'t Expression<'a>> {
    call.arguments.get(index).and_then(Argument::as_expression)
}

impl<'a> Lowerer<'a> {
    /// The slot that an expression reads: `this.tail`, `tails.get(key)`, `tails[key]`.
    pub(super) fn slot_read(&self, expression: &Expression<'a>) -> Option<Slot> {
        let expression = without_default(expression);
        if let Some((object, "get", call)) = method(expression) {
            let key = self.slot_key(argument(call, 0)?);
            return Some(Slot { place: place(object)?, key: Some(key) });
        }
        self.slot_named(expression)
    }

    /// The slot that an expression names: `this.tail`, `tails[key]`.
    pub(super) fn slot_named(&self, expression: &Expression<'a>) -> Option<Slot> {
        if let Expression::ComputedMemberExpression(member) = expression.get_inner_expression() {
            let key = self.slot_key(&member.expression);
            return Some(Slot { place: place(&member.object)?, key: Some(key) });
        }
        let place = place(expression)?;
        // A local of this function alone is no lock.
        let outside = match place.root {
            None => !place.fields.is_empty(),
            Some(symbol) => self.facts.symbol(symbol).is_some_and(|found| {
                found.global || found.function != self.cx.id || !place.fields.is_empty()
            }),
        };
        outside.then_some(Slot { place, key: None })
    }

    pub(super) fn slot_key(&self, expression: &Expression<'a>) -> Key {
        if let Expression::StringLiteral(text) = expression.get_inner_expression() {
            return Key::Literal(text.value.as_str().into());
        }
        match place(expression) {
            Some(place) => Key::Place(place),
            None => {
                let span = oxc_span::GetSpan::span(expression);
                let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
                Key::Text(text.into())
            }
        }
    }

    /// A place as a path of the function that is being lowered.
    pub(super) fn place_path(&mut self, place: &Place) -> AccessPath {
        let mut path = match place.root {
            None => self.cx.this.clone(),
            Some(symbol) => match self.symbol_place(symbol).term {
                Term::Path(path) => path,
                _ => AccessPath::of(Root::Global("?".into())),
            },
        };
        for field in &place.fields {
            path = path.field(field.clone());
        }
        path
    }

    /// The lock in a slot, as the function that is being lowered names it.
    pub(super) fn lock_of(&mut self, slot: &Slot) -> Lock {
        let lock = Lock::in_process(self.place_path(&slot.place));
        match &slot.key {
            None => lock,
            Some(Key::Literal(text)) => lock.keyed(Term::Literal(text.clone())),
            Some(Key::Place(place)) => {
                let known = place.root.is_none_or(|symbol| {
                    self.facts.symbol(symbol).is_some_and(|found| {
                        found.global
                            || found.function == self.cx.id
                            || self.facts.captures(self.cx.id).contains(&symbol)
                            || self.cx.made.as_ref().is_some_and(|made| made.contains(&symbol))
                    })
                });
                let key = if known { Term::Path(self.place_path(place)) } else { Term::Unknown };
                lock.keyed(key)
            }
            // What is written the same is the same within one function.
            Some(Key::Text(text)) => {
                let name: Name = format!("({text})").into();
                lock.keyed(Term::Literal(name))
            }
        }
    }
}
