//! Expressions in evaluation order: effects are pushed, and what comes out is described.

use interlock_model::ir::{AccessPath, Fresh, Name, Op, Root, Term};
use ruff_python_ast::{
    BoolOp, Expr, ExprBinOp, ExprBoolOp, ExprDict, ExprIf, ExprUnaryOp, FStringPart,
    InterpolatedStringElement, InterpolatedStringElements, Number, Operator, UnaryOp,
};
use ruff_text_size::Ranged;

use super::{calls::Use, context::Lowerer};
use crate::{
    Arg, Shape,
    call::COMPUTED_KEY,
    val::{Val, flag, merge},
};

impl<'a> Lowerer<'a> {
    /// An expression whose result is used and not waited for.
    pub(super) fn expression(&mut self, expression: &'a Expr) -> Val {
        self.expression_for(expression, Use::Value)
    }

    /// An expression, by what becomes of it.
    pub(super) fn expression_for(&mut self, expression: &'a Expr, wanted: Use) -> Val {
        match expression {
            Expr::BooleanLiteral(it) => Val { shape: Shape::Bool(it.value), ..Val::nothing() },
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => Val { shape: Shape::Null, ..Val::nothing() },
            Expr::NumberLiteral(it) => number(&it.value),
            Expr::StringLiteral(it) => Val::literal(self.name(it.value.to_str())),
            Expr::BytesLiteral(_) => Val::literal("".into()),
            Expr::FString(it) => self.formatted(it.value.iter()),
            Expr::TString(_) => Val::nothing(),
            Expr::Name(it) => self.identifier(it),
            Expr::Attribute(it) => self.attribute(it),
            Expr::Subscript(it) => self.subscript(it),
            Expr::List(it) => self.list(&it.elts),
            Expr::Tuple(it) => self.list(&it.elts),
            Expr::Set(it) => {
                let items = self.list(&it.elts);
                self.stand(it);
                self.made("set", items)
            }
            Expr::Dict(it) => self.dict(it),
            Expr::Lambda(it) => self.lambda(it),
            Expr::Named(it) => {
                let val = self.expression(&it.value);
                self.stand(it);
                self.assign_to(&it.target, val.clone());
                Val { direct: None, ..val }
            }
            Expr::Await(it) => self.awaited(it),
            Expr::UnaryOp(it) => self.unary(it),
            Expr::BinOp(it) => self.binary(it),
            Expr::BoolOp(it) => self.logical(it, wanted),
            Expr::Compare(it) => self.compare(it),
            Expr::If(it) => self.conditional(it, wanted),
            Expr::Call(it) => self.call(it, wanted),
            Expr::ListComp(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::SetComp(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::Generator(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::DictComp(it) => {
                let parts: Vec<&'a Expr> = it.key.as_deref().into_iter().chain([&*it.value]).collect();
                self.comprehension(&it.generators, &parts)
            }
            Expr::Starred(it) => {
                let val = self.all_of(&it.value);
                spread(val)
            }
            Expr::Yield(it) => {
                let val = it.value.as_ref().map_or_else(Val::nothing, |value| self.expression(value));
                self.stand(it);
                if self.scope.manages {
                    // Who says `with` has it from here on. What comes behind is what the end of the `with` does.
                    self.scope.entered = true;
                    self.return_value(val);
                    return Val::nothing();
                }
                self.note_state_of_server(&val);
                self.handed_out(val)
            }
            Expr::YieldFrom(it) => {
                let val = self.all_of(&it.value);
                self.stand(it);
                self.handed_out(val)
            }
            Expr::Slice(it) => {
                let mut val = Val::nothing();
                for part in [&it.lower, &it.upper, &it.step].into_iter().flatten() {
                    let part = self.expression(part);
                    val.depend(&part);
                }
                val
            }
            Expr::IpyEscapeCommand(_) => Val::nothing(),
        }
    }

    /// What a generator hands out; whoever takes it may let others run before it goes on.
    fn handed_out(&mut self, val: Val) -> Val {
        if self.cx.asynchronous {
            self.push(Op::Suspend);
        }
        Val { direct: None, shape: Shape::Opaque, ..val }
    }

    fn formatted(&mut self, parts: impl Iterator<Item = &'a FStringPart>) -> Val {
        let (mut val, mut terms) = (Val::nothing(), vec![]);
        for part in parts {
            match part {
                FStringPart::Literal(text) if text.value.is_empty() => {}
                FStringPart::Literal(text) => terms.push(Term::Literal(self.name(&text.value))),
                FStringPart::FString(formatted) => self.elements(&formatted.elements, &mut val, &mut terms),
            }
        }
        if terms.is_empty() {
            terms.push(Term::Literal("".into()));
        }
        joined(&mut val, terms);
        val
    }

    fn elements(&mut self, elements: &'a InterpolatedStringElements, val: &mut Val, terms: &mut Vec<Term>) {
        for element in elements {
            match element {
                InterpolatedStringElement::Literal(text) => {
                    if !text.value.is_empty() {
                        terms.push(Term::Literal(self.name(&text.value)));
                    }
                }
                InterpolatedStringElement::Interpolation(hole) => {
                    let hole = self.expression(&hole.expression);
                    val.depend(&hole);
                    terms.push(self.part(hole));
                }
            }
        }
    }

    /// A part of a text. What has no name gets one, so that it can be told from other parts.
    pub(super) fn part(&mut self, val: Val) -> Term {
        if val.term == Term::Unknown && !val.values.is_empty() {
            return self.bind(val, &"part".into()).into();
        }
        val.term
    }

    pub(super) fn list(&mut self, elements: &'a [Expr]) -> Val {
        let mut val = Val::nothing();
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let item = self.expression(element);
            val.depend(&item);
            items.push(item.into_arg());
        }
        val.shape = Shape::List(items);
        val
    }

    fn dict(&mut self, it: &'a ExprDict) -> Val {
        let mut val = Val::nothing();
        let mut members: Vec<(Name, Arg)> = Vec::with_capacity(it.items.len());
        for item in &it.items {
            let name = match &item.key {
                None => "...".into(),
                Some(key) => {
                    let key = self.expression(key);
                    merge(&mut val.values, &key.values);
                    match key.term {
                        Term::Literal(text) => text,
                        // A constant says how the member is called.
                        Term::Path(AccessPath { root: Root::Global(_), .. }) => {
                            members.push((COMPUTED_KEY.into(), key.into_arg()));
                            "".into()
                        }
                        _ => "".into(),
                    }
                }
            };
            let member = self.kept_in(&item.value);
            val.depend(&member);
            members.push((name, member.into_arg()));
        }
        val.shape = Shape::Object(members);
        val
    }

    fn unary(&mut self, it: &'a ExprUnaryOp) -> Val {
        let inner = self.expression(&it.operand);
        match (it.op, &inner.shape) {
            (UnaryOp::USub, Shape::Number(number)) => Val {
                term: Term::Literal(format!("-{number}").into()),
                shape: Shape::Number(number.saturating_neg()),
                ..Val::nothing()
            },
            (UnaryOp::Not, Shape::Bool(value)) => {
                Val { shape: Shape::Bool(!value), ..Val::from_values(inner.values, 0) }
            }
            _ => Val::from_values(inner.values, inner.flags & !flag::STATE),
        }
    }

    fn binary(&mut self, binary: &'a ExprBinOp) -> Val {
        let mut operands = [&*binary.left, &*binary.right].into_iter();
        if operands.any(|operand| self.is_column(operand) || self.is_column_by_name(operand)) {
            return self.said_to_a_database("col", &[&binary.left, &binary.right], binary);
        }
        // A long chain leans to the left; it is walked without recursion.
        let mut chain = vec![binary];
        let mut first = &*binary.left;
        while let Expr::BinOp(inner) = first {
            chain.push(inner);
            first = &inner.left;
        }
        let mut left = self.expression(first);
        for binary in chain.into_iter().rev() {
            let right = self.expression(&binary.right);
            left = self.combine(left, right, binary);
        }
        left
    }

    fn combine(&mut self, left: Val, right: Val, binary: &'a ExprBinOp) -> Val {
        let is_number = |val: &Val| matches!(val.shape, Shape::Number(_));
        if binary.op == Operator::Div && !is_number(&left) && !is_number(&right) {
            // `folder / "name"`: a path; of numbers nobody asks for a file.
            self.stand(binary);
            return self.operation("Path.joinpath", vec![left, right]);
        }
        let mut val = Val::from_values(vec![], 0);
        val.depend(&left);
        val.depend(&right);
        match binary.op {
            Operator::Add => {
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
                } else if let Some(items) = both_lists(left, right) {
                    val.shape = Shape::List(items);
                }
            }
            Operator::BitOr => {
                // Flags of `os.open`: both names are kept.
                if let (Term::Path(_), Term::Path(_) | Term::Join(_)) | (Term::Join(_), Term::Path(_)) =
                    (&left.term, &right.term)
                {
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
            Operator::Pow | Operator::LShift if !val.values.is_empty() || val.flags & flag::COUNTER != 0 => {
                val.flags |= flag::GROWS;
            }
            Operator::Mult if val.flags & flag::COUNTER != 0 => val.flags |= flag::GROWS,
            _ => {}
        }
        val
    }

    /// `a or b`, `a and b`: what stands behind is evaluated one way only.
    fn logical(&mut self, it: &'a ExprBoolOp, wanted: Use) -> Val {
        let mut values = it.values.iter();
        let Some(first) = values.next() else { return Val::nothing() };
        let mut left = self.expression_for(first, wanted.of_part());
        for next in values {
            self.stand(next);
            let at = self.at;
            let mark = self.mark();
            let (block, right) = self.branch(|this| this.expression_for(next, wanted));
            let changed = self.undo(mark);
            if !block.is_empty() || !changed.is_empty() {
                let on = self.judged(&left);
                let (then, otherwise) = if it.op == BoolOp::And { (block, vec![]) } else { (vec![], block) };
                self.push_at(at, Op::Check { on, equal: None, asks: vec![], then, otherwise });
                self.join(Some(changed), Some(vec![]));
            }
            if left.is_null() {
                left = right;
                continue;
            }
            if it.op == BoolOp::Or && is_own_name(next) {
                left = self.either(left, right);
                continue;
            }
            let mut val = Val::from_values(left.values.clone(), left.flags | right.flags);
            val.depend(&right);
            // What is there unless nothing is: its members are found where it was found.
            if it.op == BoolOp::Or && left.path_ref().is_some() && left.flags & flag::STATE != 0 {
                val.term = left.term;
            }
            val.shape = made(left.shape, right.shape);
            left = val;
        }
        left
    }

    fn conditional(&mut self, it: &'a ExprIf, wanted: Use) -> Val {
        let test = self.condition(&it.test);
        self.stand(it);
        let at = self.at;
        let mark = self.mark();
        let (then, one) = self.branch(|this| this.expression_for(&it.body, wanted));
        let first = self.undo(mark);
        let (otherwise, two) = self.branch(|this| this.expression_for(&it.orelse, wanted));
        let second = self.undo(mark);
        let decides = !then.is_empty() || !otherwise.is_empty();
        let on = test.on.clone();
        if decides {
            self.push_at(at, test.check(then, otherwise));
        }
        self.join(Some(first), Some(second));
        if !decides && is_own_name(&it.orelse) {
            return self.either(one, two);
        }
        let mut val = Val::from_values(one.values.clone(), one.flags | two.flags);
        val.depend(&two);
        if !decides {
            merge(&mut val.values, &on);
        }
        val.shape = made(one.shape, two.shape);
        val
    }

    /// One of two names, where the second is that of a function: `name or work.__name__`. Who announces functions asks which of them it is.
    fn either(&mut self, one: Val, other: Val) -> Val {
        let mut both = Val::from_values(one.values.clone(), one.flags | other.flags);
        both.depend(&other);
        let (values, flags) = (both.values.clone(), both.flags);
        let value = self.derive(&"name".into(), values, Term::Unknown, flags);
        both.shape = Shape::Choice([one.into_arg(), other.into_arg()].into());
        self.cx.locals.push((value, both.into_arg()));
        Val::of(value, flags)
    }

    /// An operation of the language that a table says the meaning of, as a call.
    pub(super) fn operation(&mut self, name: &'static str, operands: Vec<Val>) -> Val {
        let target = Val::path(AccessPath::global(name), vec![], 0);
        let arguments = operands.into_iter().map(Val::into_arg).collect();
        self.invoke(target, arguments, false, Use::Value)
    }

    /// A collection that is written here.
    fn made(&mut self, name: &'static str, items: Val) -> Val {
        let target = Val::path(AccessPath::global(name), vec![], 0);
        self.invoke(target, vec![items.into_arg()], true, Use::Value)
    }

    /// What the language offers under a name, or what a file offers all of whose names were taken.
    pub(super) fn outside_name(&mut self, name: &'a str) -> Val {
        if name == "__file__" {
            let global = self.global(name);
            self.fixed.insert(global.clone());
            return Val::path(AccessPath::global(global), vec![], 0);
        }
        if let Some(path) = self.starred(name) {
            return Val::path(path, vec![], flag::STATE);
        }
        let name = self.name(name);
        Val::path(AccessPath::global(name), vec![], 0)
    }
}

fn number(value: &Number) -> Val {
    match value {
        Number::Int(int) => match int.as_i64() {
            Some(number) => Val {
                term: Term::Literal(number.to_string().into()),
                shape: Shape::Number(number),
                ..Val::nothing()
            },
            None => Val::literal("".into()),
        },
        Number::Float(number) => Val { term: Term::Literal(number.to_string().into()), ..Val::nothing() },
        Number::Complex { .. } => Val::nothing(),
    }
}

/// What one of two is, as far as a call says it that makes one of them: `kept or Client()` is a client either way.
fn made(one: Shape, two: Shape) -> Shape {
    match (one, two) {
        (Shape::Opaque | Shape::Null, made @ Shape::Call(_)) => made,
        (made @ Shape::Call(_), Shape::Opaque | Shape::Null | Shape::Call(_)) => made,
        _ => Shape::Opaque,
    }
}

/// `work.__name__`.
fn is_own_name(expression: &Expr) -> bool {
    matches!(expression, Expr::Attribute(it) if it.attr.as_str() == "__name__")
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

/// Where an expression begins.
pub(super) fn start(expression: &impl Ranged) -> u32 {
    u32::from(expression.range().start())
}

/// Something that stands in a list for all that is in it.
fn spread(val: Val) -> Val {
    let inside = Val { shape: Shape::Opaque, ..val.clone() }.into_arg();
    Val { shape: Shape::Choice(vec![inside]), ..val }
}

/// What is in two lists, one behind the other, where one of them is written out: `columns(task) + (task.id,)`.
fn both_lists(left: Val, right: Val) -> Option<Vec<Arg>> {
    if !matches!(left.shape, Shape::List(_)) && !matches!(right.shape, Shape::List(_)) {
        return None;
    }
    let items = |val: Val| match val.shape {
        Shape::List(items) => items,
        _ => vec![Arg { term: Term::Unknown, ..spread(val).into_arg() }],
    };
    Some([items(left), items(right)].concat())
}
