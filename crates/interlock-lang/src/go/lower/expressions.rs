//! Expressions in evaluation order: effects are pushed, and what comes out is described.

use interlock_model::ir::{Fresh, Op, Term};

use super::{
    super::ast::{Expr, Kind, Type},
    Lowerer,
    calls::Use,
    types::is_reference,
};
use crate::{
    Shape,
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    /// An expression whose result is used.
    pub(super) fn expression(&mut self, expression: &'a Expr<'a>) -> Val {
        self.expression_for(expression, Use::Value)
    }

    /// An expression, by what becomes of it.
    pub(super) fn expression_for(&mut self, expression: &'a Expr<'a>, wanted: Use) -> Val {
        if self.full() {
            return Val::nothing();
        }
        let at = expression.at;
        match &expression.kind {
            Kind::Name(name) => self.identifier(at, name),
            Kind::Text(text) => Val::literal(text.as_str().into()),
            Kind::Number(Some(number)) => Val {
                term: Term::Literal(number.to_string().into()),
                shape: Shape::Number(*number),
                ..Val::nothing()
            },
            Kind::Number(None) => Val::nothing(),
            Kind::Bool(value) => Val { shape: Shape::Bool(*value), ..Val::nothing() },
            Kind::Nil => Val { shape: Shape::Null, ..Val::nothing() },
            Kind::Selector(object, field) => self.selector(at, object, field),
            Kind::Index(object, index) => self.index(at, object, index),
            Kind::Slice(object, ends) => {
                let mut val = self.expression(object);
                for end in ends {
                    let end = self.expression(end);
                    val.depend(&end);
                }
                Val { direct: None, shape: Shape::Opaque, ..val }
            }
            Kind::Call(call) => self.call(at, call, wanted),
            Kind::Unary(operator, inner) => {
                if *operator == "<-"
                    && let Some(val) = self.waits_for_time(at, inner)
                {
                    return val;
                }
                let val = self.expression(inner);
                match *operator {
                    "&" | "*" => val,
                    // What comes out of a channel is somebody else's no longer.
                    "<-" => Val::from_values(val.values, 0),
                    _ => Val { direct: None, ..Val::from_values(val.values, val.flags & !flag::STATE) },
                }
            }
            Kind::Binary(first, rest) => self.binary(first, rest),
            Kind::Function(function) => self.literal_function(function),
            Kind::Composite(type_, elements) => self.composite(at, type_, elements),
            Kind::Assert(inner, type_) => {
                let val = self.expression(inner);
                self.asserted(val, type_)
            }
            // `[]byte(text)` is the text by another type.
            Kind::Convert(_, Some(inner)) => self.expression(inner),
            Kind::Convert(_, None) => Val::nothing(),
            Kind::Other(inner) => {
                let mut val = Val::nothing();
                for it in inner {
                    let it = self.expression(it);
                    val.depend(&it);
                }
                val
            }
        }
    }

    /// `x.(T)`: the same thing, of which more is known.
    pub(super) fn asserted(&mut self, val: Val, type_: &'a Type<'a>) -> Val {
        let Some(path) = self.type_path(type_) else { return val };
        let state = if is_reference(type_) { flag::STATE } else { 0 };
        let plain = val.only_value();
        let value = match plain {
            Some(value) if val.direct.is_some() => value,
            _ => self.derive(&"asserted".into(), val.values.clone(), val.term.clone(), val.flags | state),
        };
        self.work.cx.types.push((value, path));
        Val { direct: Some(value), flags: val.flags | state, ..Val::of(value, val.flags | state) }
    }

    fn binary(&mut self, first: &'a Expr<'a>, rest: &'a [(&'a str, Expr<'a>)]) -> Val {
        if rest.iter().any(|(operator, _)| is_test(operator)) {
            let test = self.tests(first, rest);
            return Val::from_values(test.on, 0);
        }
        let mut left = self.expression(first);
        for (operator, right) in rest {
            let right = self.expression(right);
            left = self.combine(left, operator, right);
        }
        left
    }

    fn combine(&mut self, left: Val, operator: &str, right: Val) -> Val {
        let mut val = Val::from_values(vec![], 0);
        val.depend(&left);
        val.depend(&right);
        match operator {
            "+" => {
                let text = |val: &Val| matches!(val.shape, Shape::Text(_));
                if text(&left) || text(&right) {
                    let mut parts = vec![];
                    for side in [left, right] {
                        match (side.shape, &side.term) {
                            (Shape::Text(inner), Term::Literal(_) | Term::Join(_) | Term::Unknown) => {
                                parts.extend(inner);
                            }
                            (shape, _) => parts.push(self.part(Val { shape, ..side })),
                        }
                    }
                    joined(&mut val, parts);
                }
            }
            "|" => {
                // Flags of `os.OpenFile`: all names are kept.
                let flags = |term: &Term| matches!(term, Term::Path(_) | Term::Join(_));
                if flags(&left.term) && flags(&right.term) {
                    let mut parts = vec![];
                    for side in [left.term, right.term] {
                        match side {
                            Term::Join(inner) => parts.extend(inner),
                            other => parts.push(other),
                        }
                    }
                    val.term = Term::Join(parts);
                }
            }
            "<<" if !val.values.is_empty() || val.flags & flag::COUNTER != 0 => val.flags |= flag::GROWS,
            "*" if val.flags & flag::COUNTER != 0 => val.flags |= flag::GROWS,
            _ => {}
        }
        val
    }

    /// A part of a text.
    pub(super) fn part(&mut self, val: Val) -> Term {
        match val.term {
            Term::Unknown if val.values.is_empty() => Term::Unknown,
            Term::Unknown => {
                let into = self.step(&"part".into(), val.flags);
                self.push(Op::Derive { into, from: val.values, term: Term::Unknown });
                into.into()
            }
            term => term,
        }
    }
}

/// Whether an operator compares or combines what is true.
pub(super) fn is_test(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||")
}

/// A text of parts.
pub(super) fn joined(val: &mut Val, parts: Vec<Term>) {
    val.term = match parts.as_slice() {
        [only @ Term::Literal(_)] => only.clone(),
        // A hole that is not understood makes the whole text one that is not understood.
        parts if parts.contains(&Term::Unknown) => Term::Unknown,
        parts => Term::Join(parts.to_vec()),
    };
    if parts.iter().any(|part| matches!(part, Term::Fresh(Fresh::Random))) {
        val.flags |= flag::CHANCE;
    }
    val.shape = Shape::Text(parts);
}
