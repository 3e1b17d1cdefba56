//! Expressions in evaluation order: effects are pushed, and what comes out is described.

use interlock_model::ir::{AccessPath, Name, Op, Resource, Root, Term};
use oxc_ast::ast::{
    ArrayExpression, ArrayExpressionElement, BinaryExpression, ChainElement, ConditionalExpression,
    Expression, LogicalExpression, ObjectExpression, ObjectPropertyKind, PropertyKey, TemplateElement,
    TemplateLiteral, UnaryExpression,
};
use oxc_span::GetSpan;
use oxc_syntax::operator::{BinaryOperator, LogicalOperator, UnaryOperator};

use super::{
    calls::Use,
    context::{Lowerer, flag},
    places::private,
    val::{Val, is_small, merge},
};
use crate::{Shape, call::COMPUTED_KEY};

impl<'a> Lowerer<'a> {
    /// An expression whose result is used and not waited for.
    pub(super) fn expression(&mut self, expression: &Expression<'a>) -> Val {
        self.expression_for(expression, Use::Value)
    }

    /// An expression, by what becomes of it.
    pub(super) fn expression_for(&mut self, expression: &Expression<'a>, wanted: Use) -> Val {
        match expression {
            Expression::BooleanLiteral(it) => Val { shape: Shape::Bool(it.value), ..Val::nothing() },
            Expression::NullLiteral(_) => Val { shape: Shape::Null, ..Val::nothing() },
            Expression::NumericLiteral(it) => self.number(it.value, it.raw.map(|raw| raw.as_str())),
            Expression::StringLiteral(it) => Val::literal(self.names.get(it.value.as_str())),
            Expression::TemplateLiteral(it) => self.template_value(it),
            // It has no state that anybody asks for: to those that call its methods it is like text.
            Expression::RegExpLiteral(_) => Val { shape: Shape::Text(vec![Term::Unknown]), ..Val::nothing() },
            Expression::Identifier(it) => self.identifier(it),
            Expression::ThisExpression(_) | Expression::Super(_) => self.place(expression),
            Expression::ArrayExpression(it) => self.array(it),
            Expression::ObjectExpression(it) => self.object(it),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                self.function_expression(expression, None)
            }
            Expression::ClassExpression(it) => self.class_expression(it),
            Expression::AssignmentExpression(it) => self.assignment(it),
            Expression::UpdateExpression(it) => self.update(it),
            Expression::AwaitExpression(it) => self.awaited(it),
            Expression::UnaryExpression(it) => self.unary(it),
            Expression::BinaryExpression(it) => self.binary(it),
            Expression::LogicalExpression(it) => self.logical(it, wanted),
            Expression::ConditionalExpression(it) => self.conditional(it, wanted),
            Expression::CallExpression(it) => self.call(it, wanted),
            Expression::NewExpression(it) => self.construct(it, wanted),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(call) => self.call(call, wanted),
                ChainElement::TSNonNullExpression(it) => self.expression_for(&it.expression, wanted),
                other => match other.as_member_expression() {
                    Some(member) => self.member(member),
                    None => Val::nothing(),
                },
            },
            Expression::ImportExpression(it) => self.dynamic_import(&it.source),
            Expression::ParenthesizedExpression(it) => self.expression_for(&it.expression, wanted),
            Expression::SequenceExpression(it) => {
                let Some((last, before)) = it.expressions.split_last() else { return Val::nothing() };
                for expression in before {
                    self.expression_for(expression, Use::Nothing);
                }
                self.expression_for(last, wanted)
            }
            Expression::TaggedTemplateExpression(it) => self.tagged(it, wanted),
            Expression::YieldExpression(it) => {
                let val = it.argument.as_ref().map(|argument| self.expression(argument));
                if self.cx.asynchronous {
                    self.stand(it.span);
                    self.push(Op::Suspend);
                }
                let mut yielded = val.unwrap_or_else(Val::nothing);
                yielded.direct = None;
                yielded
            }
            Expression::PrivateInExpression(it) => self.expression(&it.right),
            Expression::ImportMeta(_) => {
                let name = self.names.get("import.meta");
                Val::path(AccessPath::global(name), vec![], 0)
            }
            Expression::JSXElement(_) | Expression::JSXFragment(_) => self.jsx(expression),
            Expression::TSAsExpression(it) => self.expression_for(&it.expression, wanted),
            Expression::TSSatisfiesExpression(it) => self.expression_for(&it.expression, wanted),
            Expression::TSTypeAssertion(it) => self.expression_for(&it.expression, wanted),
            Expression::TSNonNullExpression(it) => self.expression_for(&it.expression, wanted),
            Expression::TSInstantiationExpression(it) => self.expression_for(&it.expression, wanted),
            _ => match expression.as_member_expression() {
                Some(member) => self.member(member),
                None => Val::nothing(),
            },
        }
    }

    fn number(&mut self, value: f64, raw: Option<&'a str>) -> Val {
        let whole = value.trunc();
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        let shape =
            if whole == value && value.abs() < 9e15 { Shape::Number(value as i64) } else { Shape::Opaque };
        let text = match (&shape, raw) {
            (_, Some(raw)) if is_plain(raw) => self.names.get(raw),
            (Shape::Number(number), _) => format!("{number}").into(),
            (_, raw) => raw.unwrap_or("").into(),
        };
        Val { term: Term::Literal(text), shape, ..Val::nothing() }
    }

    pub(super) fn template_value(&mut self, template: &TemplateLiteral<'a>) -> Val {
        let text_of = |quasi: &TemplateElement<'a>| quasi.value.cooked.map_or("", |text| text.as_str());
        let texts = template.quasis.iter().filter(|quasi| !text_of(quasi).is_empty()).count();
        let mut parts = Vec::with_capacity((texts + template.expressions.len()).max(1));
        let mut val = Val::nothing();
        let mut written: Vec<(usize, Shape)> = vec![];
        let mut holes = template.expressions.iter();
        for quasi in &template.quasis {
            let text = text_of(quasi);
            if !text.is_empty() {
                parts.push(Term::Literal(self.names.get(text)));
            }
            if let Some(hole) = holes.next() {
                let hole = self.expression(hole);
                val.depend(&hole);
                if is_written_out(&hole) {
                    written.push((parts.len(), hole.shape.clone()));
                }
                parts.push(self.part(hole));
            }
        }
        if parts.is_empty() {
            parts.push(Term::Literal("".into()));
        }
        joined(&mut val, parts);
        spell_out(&mut val.shape, written);
        val
    }

    /// A part of a text. What has no name gets one, so that it can be told from other parts.
    fn part(&mut self, val: Val) -> Term {
        if val.term == Term::Unknown && !val.values.is_empty() {
            let name = self.names.get("part");
            return self.bind(val, &name).into();
        }
        val.term
    }

    /// Puts more behind a text.
    pub(super) fn continue_text(&mut self, parts: &mut Vec<Term>, more: Val) {
        match (more.shape, &more.term) {
            (Shape::Text(inner), Term::Literal(_) | Term::Join(_) | Term::Unknown) => parts.extend(inner),
            (shape, _) => parts.push(self.part(Val { shape, ..more })),
        }
    }

    fn array(&mut self, array: &ArrayExpression<'a>) -> Val {
        let mut val = Val::nothing();
        let mut modules = !array.elements.is_empty();
        let mut items = Vec::with_capacity(array.elements.len());
        for element in &array.elements {
            let item = match element {
                ArrayExpressionElement::SpreadElement(spread) => {
                    let mut spread = self.all_of(&spread.argument);
                    spread.shape = Shape::Opaque;
                    spread
                }
                ArrayExpressionElement::Elision(_) => continue,
                other => match other.as_expression() {
                    Some(expression) => self.expression(expression),
                    None => continue,
                },
            };
            modules &= item.flags & flag::MODULE != 0;
            val.depend(&item);
            items.push(item.into_arg());
        }
        val.shape = Shape::List(items);
        // What holds nothing but modules is kept as a module is.
        val.flags |= if modules { flag::MODULE } else { 0 };
        val
    }

    pub(super) fn object(&mut self, object: &ObjectExpression<'a>) -> Val {
        let mut val = Val::nothing();
        let mut modules = !object.properties.is_empty();
        let mut members = Vec::with_capacity(object.properties.len());
        let base = self.bound.take();
        for property in &object.properties {
            match property {
                ObjectPropertyKind::ObjectProperty(property) => {
                    let (name, key) = self.property_key(&property.key, property.computed, &mut val.values);
                    // A constant says how the member is called.
                    if let (true, Term::Path(AccessPath { root: Root::Global(_), .. })) =
                        (name.is_empty(), &key.term)
                    {
                        members.push((self.names.get(COMPUTED_KEY), key.into_arg()));
                    }
                    let own = Some(name.clone()).filter(|name| !name.is_empty());
                    let member = match property.value.get_inner_expression() {
                        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                            self.bound = base.clone().zip(own.clone()).map(|(path, name)| path.field(name));
                            self.function_expression(&property.value, own)
                        }
                        Expression::ObjectExpression(inner) => {
                            self.bound = base.clone().zip(own).map(|(path, name)| path.field(name));
                            self.object(inner)
                        }
                        _ => self.expression(&property.value),
                    };
                    modules &= member.flags & flag::MODULE != 0;
                    val.depend(&member);
                    members.push((name, member.into_arg()));
                }
                ObjectPropertyKind::SpreadProperty(spread) => {
                    let spread = self.all_of(&spread.argument);
                    modules &= spread.flags & flag::MODULE != 0;
                    val.depend(&spread);
                    members.push((self.names.get("..."), spread.into_arg()));
                }
            }
        }
        val.shape = Shape::Object(members);
        val.flags |= if modules { flag::MODULE } else { 0 };
        val
    }

    /// The name of a property; a computed one that is no literal has the empty name.
    pub(super) fn property_name(
        &mut self,
        key: &PropertyKey<'a>,
        computed: bool,
        values: &mut Vec<interlock_model::ir::Value>,
    ) -> Name {
        self.property_key(key, computed, values).0
    }

    /// The same, and what a computed one is computed from.
    fn property_key(
        &mut self,
        key: &PropertyKey<'a>,
        computed: bool,
        values: &mut Vec<interlock_model::ir::Value>,
    ) -> (Name, Val) {
        let name = match key {
            PropertyKey::StaticIdentifier(id) => self.names.of(id.name),
            PropertyKey::PrivateIdentifier(id) => private(id.name.as_str()),
            PropertyKey::StringLiteral(text) => self.names.get(text.value.as_str()),
            PropertyKey::NumericLiteral(it) => format!("{}", it.value).into(),
            other => {
                let Some(expression) = other.as_expression().filter(|_| computed) else {
                    return ("".into(), Val::nothing());
                };
                let key = self.expression(expression);
                merge(values, &key.values);
                return match key.term {
                    Term::Literal(text) => (text, Val::nothing()),
                    _ => ("".into(), key),
                };
            }
        };
        (name, Val::nothing())
    }

    fn unary(&mut self, unary: &UnaryExpression<'a>) -> Val {
        match unary.operator {
            UnaryOperator::Delete => {
                let place = self.place(&unary.argument);
                self.stand(unary.span);
                if let Some(path) = place.path_ref().filter(|path| self.is_state(path)) {
                    let of = Resource::Shared(path.clone());
                    self.push(Op::Delete { of, when: None, outcome: None, via: None });
                }
                Val::nothing()
            }
            UnaryOperator::Void => {
                self.expression_for(&unary.argument, Use::Nothing);
                Val { shape: Shape::Null, ..Val::nothing() }
            }
            UnaryOperator::UnaryNegation => {
                let inner = self.expression(&unary.argument);
                match inner.shape {
                    Shape::Number(number) => Val {
                        term: Term::Literal(format!("-{number}").into()),
                        shape: Shape::Number(number.saturating_neg()),
                        ..Val::nothing()
                    },
                    _ => Val::from_values(inner.values, inner.flags & !flag::STATE),
                }
            }
            UnaryOperator::LogicalNot => {
                let inner = self.expression(&unary.argument);
                let shape = match inner.shape {
                    Shape::Bool(value) => Shape::Bool(!value),
                    // `!0` is how compilers write `true`.
                    Shape::Number(number) => Shape::Bool(number == 0),
                    _ => Shape::Opaque,
                };
                Val { shape, ..Val::from_values(inner.values, 0) }
            }
            _ => {
                let inner = self.expression(&unary.argument);
                Val::from_values(inner.values, inner.flags & !flag::STATE)
            }
        }
    }

    fn binary(&mut self, binary: &BinaryExpression<'a>) -> Val {
        if binary.operator == BinaryOperator::In {
            return self.is_in(binary);
        }
        // A long chain leans to the left; it is walked without recursion.
        let mut chain = vec![binary];
        let mut first = &binary.left;
        while let Expression::BinaryExpression(inner) = first
            && inner.operator != BinaryOperator::In
        {
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

    fn combine(&mut self, left: Val, right: Val, binary: &BinaryExpression<'a>) -> Val {
        let mut val = Val::from_values(vec![], 0);
        val.depend(&left);
        val.depend(&right);
        match binary.operator {
            BinaryOperator::Addition => {
                let text = |val: &Val| matches!(val.shape, Shape::Text(_));
                if text(&left) || text(&right) {
                    let mut parts = vec![];
                    self.continue_text(&mut parts, left);
                    self.continue_text(&mut parts, right);
                    joined(&mut val, parts);
                }
            }
            BinaryOperator::BitwiseOR => {
                // Flags of `open`: both names are kept.
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
            BinaryOperator::Exponential | BinaryOperator::ShiftLeft if !val.values.is_empty() => {
                val.flags |= flag::GROWS;
            }
            BinaryOperator::Multiplication if val.flags & flag::COUNTER != 0 => val.flags |= flag::GROWS,
            _ => {}
        }
        val
    }

    fn logical(&mut self, logical: &LogicalExpression<'a>, wanted: Use) -> Val {
        if logical.operator != LogicalOperator::Coalesce && (wanted == Use::Nothing || is_test(&logical.left))
        {
            return self.decided(logical, wanted);
        }
        // `a && b && c` leans to the left like any chain.
        let left = self.expression_for(&logical.left, wanted.of_part());
        self.stand(logical.right.span());
        let at = self.at;
        let mark = self.changes.len();
        let (block, right) = self.branch(|this| this.expression_for(&logical.right, wanted));
        let changed = self.undo(mark);
        if !block.is_empty() || !changed.is_empty() {
            let on = self.judged(&left);
            let (then, otherwise) = match logical.operator {
                LogicalOperator::And => (block, vec![]),
                LogicalOperator::Or | LogicalOperator::Coalesce => (vec![], block),
            };
            self.push_at(at, Op::Check { on, equal: None, asks: vec![], then, otherwise });
            self.join(Some(changed), Some(vec![]));
        }
        let mut val = Val::from_values(left.values.clone(), left.flags);
        if left.is_null() {
            return right;
        }
        val.depend(&right);
        val.flags |= right.flags;
        // What is there unless nothing is: its members are found where it was found.
        let or_else = logical.operator != LogicalOperator::And;
        let several = if or_else { chosen(&left, &right) } else { None };
        if or_else && left.path_ref().is_some() && left.flags & flag::STATE != 0 {
            val.term = left.term.clone();
        }
        val.shape = match several {
            Some(several) => several,
            None if or_else => one_of(left, right),
            None => made(left.shape, right.shape),
        };
        val
    }

    /// `!a && (a = b)`, `a === "x" && b()`: a decision, like that of an `if`.
    fn decided(&mut self, logical: &LogicalExpression<'a>, wanted: Use) -> Val {
        let test = self.condition(&logical.left);
        self.stand(logical.right.span());
        let at = self.at;
        let mark = self.changes.len();
        let (block, right) = self.branch(|this| this.expression_for(&logical.right, wanted));
        let changed = self.undo(mark);
        let mut val = Val::from_values(test.on.clone(), 0);
        if !block.is_empty() || !changed.is_empty() {
            let (then, otherwise) =
                if logical.operator == LogicalOperator::And { (block, vec![]) } else { (vec![], block) };
            self.push_at(at, test.check(then, otherwise));
            self.join(Some(changed), Some(vec![]));
        }
        val.depend(&right);
        val.flags |= right.flags;
        val
    }

    fn conditional(&mut self, conditional: &ConditionalExpression<'a>, wanted: Use) -> Val {
        let test = self.condition(&conditional.test);
        self.stand(conditional.span);
        let at = self.at;
        let mark = self.changes.len();
        let (then, one) = self.branch(|this| this.expression_for(&conditional.consequent, wanted));
        let first = self.undo(mark);
        let (otherwise, two) = self.branch(|this| this.expression_for(&conditional.alternate, wanted));
        let second = self.undo(mark);
        let decides = !then.is_empty() || !otherwise.is_empty();
        let on = test.on.clone();
        if decides {
            self.push_at(at, test.check(then, otherwise));
        }
        self.join(Some(first), Some(second));
        let mut val = Val::from_values(one.values.clone(), one.flags | two.flags);
        val.depend(&two);
        if !decides {
            merge(&mut val.values, &on);
        }
        val.shape = chosen(&one, &two).unwrap_or_else(|| one_of(one, two));
        val
    }

    /// The values that a judgement is about. A member that was not read is given a name first, so that a rule sees which it was.
    pub(super) fn judged(&mut self, val: &Val) -> Vec<interlock_model::ir::Value> {
        if let Some(path) = val.path_ref().filter(|path| !path.fields.is_empty()) {
            let read = val.direct.is_some();
            if !read && matches!(path.root, Root::Value(_)) {
                let name = match path.fields.last() {
                    Some(interlock_model::ir::Field::Name(name)) => name.clone(),
                    _ => self.names.get("entry"),
                };
                let alias = val.values.len() == 1 && !is_rooted_in(path, val.values.first().copied());
                if !alias {
                    return vec![self.derive(&name, val.values.clone(), val.term.clone(), 0)];
                }
            }
        }
        val.values.clone()
    }
}

/// Whether an expression is a yes or a no.
fn is_test(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::UnaryExpression(it) => it.operator == UnaryOperator::LogicalNot,
        Expression::BinaryExpression(it) => it.operator.is_equality() || it.operator.is_compare(),
        Expression::LogicalExpression(it) => {
            it.operator != LogicalOperator::Coalesce && is_test(&it.left) && is_test(&it.right)
        }
        _ => false,
    }
}

fn is_rooted_in(path: &AccessPath, value: Option<interlock_model::ir::Value>) -> bool {
    matches!((&path.root, value), (Root::Value(root), Some(value)) if *root == value)
}

/// Both of two of which one is chosen, where both are functions, results of calls or things that have a name in the tree.
fn chosen(one: &Val, two: &Val) -> Option<Shape> {
    let is_named = |val: &Val| {
        let is_global = |path: &AccessPath| matches!(path.root, Root::Global(_));
        val.shape == Shape::Opaque && val.path_ref().is_some_and(is_global)
    };
    let is_code = |val: &Val| matches!(val.shape, Shape::Function { .. } | Shape::Choice(_));
    let both_made = matches!((&one.shape, &two.shape), (Shape::Call(_), Shape::Call(_)));
    let may_be_code = |val: &Val| is_code(val) || is_named(val) || matches!(val.shape, Shape::Call(_));
    let both_named = is_named(one) && is_named(two);
    let any_code = (is_code(one) || is_code(two)) && may_be_code(one) && may_be_code(two);
    if !both_made && !both_named && !any_code {
        return None;
    }
    let mut ways = vec![];
    for val in [one, two] {
        match &val.shape {
            Shape::Choice(more) => ways.extend(more.iter().cloned()),
            _ => ways.push(val.clone().into_arg()),
        }
    }
    let choice = Shape::Choice(ways);
    is_small(&choice).then_some(choice)
}

/// What one of two is: what a call makes, or else each of them where one says what it is.
pub(super) fn one_of(one: Val, two: Val) -> Shape {
    let says = |val: &Val| match &val.shape {
        Shape::Object(members) => !members.is_empty(),
        Shape::List(items) => !items.is_empty(),
        Shape::Text(parts) => matches!(parts.as_slice(), [Term::Literal(_)]),
        Shape::Function { .. } | Shape::Choice(_) => true,
        _ => false,
    };
    let is_nothing = |val: &Val| match &val.shape {
        Shape::Opaque => val.term == Term::Unknown,
        shape => *shape == Shape::Null,
    };
    if !says(&one) && !says(&two) {
        return made(one.shape, two.shape);
    }
    let mut ways = vec![];
    for val in [one, two].into_iter().filter(|val| !is_nothing(val)) {
        match val.shape {
            Shape::Choice(more) => ways.extend(more),
            _ => ways.push(val.into_arg()),
        }
    }
    let choice = Shape::Choice(ways);
    if is_small(&choice) { choice } else { Shape::Opaque }
}

/// What one of two is, as far as a call says it that makes one of them: `kept ?? new Client()` is a client either way.
fn made(one: Shape, two: Shape) -> Shape {
    match (one, two) {
        (Shape::Opaque | Shape::Null, made @ Shape::Call(_)) => made,
        (made @ Shape::Call(_), Shape::Opaque | Shape::Null | Shape::Call(_)) => made,
        _ => Shape::Opaque,
    }
}

/// A text of parts.
fn joined(val: &mut Val, parts: Vec<Term>) {
    val.term = match parts.as_slice() {
        [only @ Term::Literal(_)] => only.clone(),
        // A hole that is not understood makes the whole text one that is not understood.
        parts if parts.contains(&Term::Unknown) => Term::Unknown,
        parts => Term::Join(parts.to_vec()),
    };
    val.shape = Shape::Text(parts);
}

/// Whether the text of a local stands in the source: `const open = "AND status = 'open'"`. That of a global keeps its name, which is the
/// same in all files.
fn is_written_out(val: &Val) -> bool {
    matches!(&val.term, Term::Path(path) if path.fields.is_empty() && matches!(path.root, Root::Value(_)))
        && matches!(&val.shape, Shape::Text(parts) if parts.iter().all(|part| matches!(part, Term::Literal(_))))
}

/// Puts texts that stand elsewhere in the source into the holes of a text. Its name still has the variables.
fn spell_out(shape: &mut Shape, written: Vec<(usize, Shape)>) {
    let Shape::Text(parts) = shape else { return };
    for (hole, text) in written.into_iter().rev() {
        if let (Shape::Text(text), true) = (text, hole < parts.len()) {
            parts.splice(hole..=hole, text);
        }
    }
}

/// Whether a number is written as we would write it: digits, none too many.
fn is_plain(raw: &str) -> bool {
    raw.len() <= 15 && raw.bytes().all(|byte| byte.is_ascii_digit()) && (raw == "0" || !raw.starts_with('0'))
}
