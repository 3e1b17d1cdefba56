//! What an expression is called, which columns it looks at, and what it demands of a row.

use interlock_model::ir::{Comparator, Name, Root, Term, Value};
use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, ObjectName, Query,
    UnaryOperator, Value as Literal,
};

use super::{
    Parameters,
    parse::{FROM_END, Text},
};
use crate::knowledge::{
    place::last_name,
    statement::{Demand, unique},
};

/// What the names and placeholders of a text stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'r> {
    pub(super) text: &'r Text,
    pub(super) parameters: &'r Parameters<'r>,
}

/// A demand, and the table or alias that its column was qualified with.
pub(super) type Qualified = (Option<String>, Demand);

/// What an expression is made of.
#[derive(Debug, Default)]
pub(super) struct Made<'e> {
    pub(super) columns: Vec<(Option<String>, Name)>,
    pub(super) values: Vec<Value>,
    pub(super) queries: Vec<&'e Query>,
    pub(super) functions: Vec<&'e Function>,
    /// Whether a placeholder or a hole is in it.
    pub(super) given: bool,
}

impl<'r> Reader<'r> {
    /// The name of a table; the last part where it is qualified.
    pub(super) fn table(&self, name: &ObjectName) -> Term {
        let plain = last_part(name);
        match self.text.hole(&plain) {
            Some(Term::Path(path)) => last_name(&path).map_or(Term::Path(path), Term::Literal),
            Some(term) => term,
            None => Term::Literal(plain.as_str().into()),
        }
    }

    /// A column by its name; `None` for a hole that names none.
    pub(super) fn column_name(&self, plain: &str) -> Option<Name> {
        match self.text.hole(plain) {
            Some(Term::Path(path)) if !path.fields.is_empty() => last_name(&path),
            Some(_) => None,
            None => Some(plain.into()),
        }
    }

    /// The column that an expression is, through casts and functions of it alone.
    fn column(&self, expr: &Expr) -> Option<(Option<String>, Name)> {
        match expr {
            Expr::Identifier(name) if self.text.hole(&name.value).is_none() => {
                Some((None, name.value.as_str().into()))
            }
            Expr::CompoundIdentifier(parts) => {
                let last = parts.last()?;
                let qualifier = parts.iter().rev().nth(1).map(|part| part.value.clone());
                Some((qualifier, self.column_name(&last.value)?))
            }
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => self.column(inner),
            Expr::Function(function) => match arguments(function).as_slice() {
                [one] => self.column(one),
                _ => None,
            },
            _ => None,
        }
    }

    /// The column that a hole is: `${users.id}`.
    fn column_in_hole(&self, expr: &Expr) -> Option<(Option<String>, Name)> {
        match expr {
            Expr::Identifier(name) => match self.text.hole(&name.value)? {
                Term::Path(path) if matches!(path.root, Root::Global(_)) && !path.fields.is_empty() => {
                    Some((None, last_name(&path)?))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What an expression is called, and the values that it depends on.
    pub(super) fn operand(&self, expr: &Expr) -> (Term, Vec<Value>) {
        match expr {
            Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => self.operand(inner),
            Expr::Identifier(name) => match self.text.hole(&name.value) {
                Some(term) => {
                    let values = values_in(&term);
                    (term, values)
                }
                None => (Term::Unknown, vec![]),
            },
            Expr::Value(literal) => self.literal(&literal.value),
            Expr::Function(function) if only_changes_form(function) => match arguments(function).as_slice() {
                [one] => self.operand(one),
                _ => (Term::Unknown, vec![]),
            },
            _ => {
                let mut made = Made::default();
                self.take_apart(expr, &mut made);
                (Term::Unknown, unique(made.values))
            }
        }
    }

    fn literal(&self, literal: &Literal) -> (Term, Vec<Value>) {
        match literal {
            Literal::Placeholder(mark) => self.parameter(mark),
            Literal::Number(number, _) => (Term::Literal(number.as_str().into()), vec![]),
            Literal::Boolean(truth) => (Term::Literal(truth.to_string().into()), vec![]),
            Literal::Null => (Term::Literal("null".into()), vec![]),
            Literal::SingleQuotedString(text) | Literal::DoubleQuotedString(text) => {
                match self.text.hole(text) {
                    Some(term) => {
                        let values = values_in(&term);
                        (term, values)
                    }
                    None => (Term::Literal(text.as_str().into()), vec![]),
                }
            }
            _ => (Term::Unknown, vec![]),
        }
    }

    fn parameter(&self, mark: &str) -> (Term, Vec<Value>) {
        let name = mark.trim_start_matches(['$', ':', '@', '?']);
        let list = &self.parameters.list;
        let position = match name.strip_prefix(FROM_END) {
            Some(from_end) => from_end.parse::<usize>().ok().and_then(|at| list.len().checked_sub(at)),
            None => name.parse::<usize>().ok().and_then(|at| at.checked_sub(1)),
        };
        let by_position = position.and_then(|at| list.get(at)).copied();
        let by_name = || {
            let named = self.parameters.named?;
            let exact = [name, mark].into_iter().find_map(|name| named.member(name));
            exact.or_else(|| named.member_like(name))
        };
        if let Some(arg) = by_position.or_else(by_name) {
            return (crate::knowledge::scene::term_of(arg), arg.values.clone());
        }
        // The list as a whole is known: `query(sql, params)`.
        match self.parameters.opaque {
            Some(all) => match (&all.term, name.parse::<usize>()) {
                (Term::Path(path), Ok(at)) => {
                    let index = Term::Literal(at.saturating_sub(1).to_string().into());
                    (Term::Path(path.clone().at(index)), all.values.clone())
                }
                (Term::Path(path), Err(_)) => (Term::Path(path.clone().field(name)), all.values.clone()),
                _ => (Term::Unknown, all.values.clone()),
            },
            None => (Term::Unknown, vec![]),
        }
    }

    /// What a condition demands of a row: all of these. What is more than a comparison of a column is one that compares in some
    /// other way.
    pub(super) fn demands(&self, expr: &Expr, found: &mut Vec<Qualified>) {
        let other = |found: &mut Vec<Qualified>| {
            let mut made = Made::default();
            self.take_apart(expr, &mut made);
            let (qualifier, column) = made.columns.into_iter().next().unwrap_or((None, "?".into()));
            found.push((qualifier, Demand { column, how: Comparator::Other, with: Term::Unknown }));
        };
        let null = |inner: &Expr, how, found: &mut Vec<Qualified>| match self.column(inner) {
            Some((qualifier, column)) => {
                found.push((qualifier, Demand { column, how, with: Term::Literal("null".into()) }));
            }
            None => other(found),
        };
        match expr {
            Expr::Nested(inner) => self.demands(inner, found),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                self.demands(left, found);
                self.demands(right, found);
            }
            Expr::BinaryOp { left, op: BinaryOperator::Eq, right } if pairs(left, right).is_some() => {
                for (left, right) in pairs(left, right).into_iter().flatten() {
                    self.comparison(left, Comparator::Equal, right, expr, found);
                }
            }
            // Either column is that one value: which rows it is about is known as little, but by what they are chosen.
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                let mut either = vec![];
                self.demands(left, &mut either);
                self.demands(right, &mut either);
                match either.split_first() {
                    Some(((qualifier, first), others))
                        if first.with != Term::Unknown
                            && !others.is_empty()
                            && others.iter().all(|(_, other)| other.with == first.with) =>
                    {
                        let demand = Demand { how: Comparator::Other, ..first.clone() };
                        found.push((qualifier.clone(), demand));
                    }
                    _ => other(found),
                }
            }
            Expr::BinaryOp { left, op, right } => match comparator(op) {
                Some(how) => self.comparison(left, how, right, expr, found),
                None => other(found),
            },
            Expr::IsNull(inner) => null(inner, Comparator::Equal, found),
            Expr::IsNotNull(inner) => null(inner, Comparator::Different, found),
            Expr::IsNotDistinctFrom(left, right) => {
                self.comparison(left, Comparator::Equal, right, expr, found);
            }
            Expr::InList { expr: inner, list, negated: false } => match (self.column(inner), list.as_slice())
            {
                (Some((qualifier, column)), [one]) => {
                    let with = self.operand(one).0;
                    found.push((qualifier, Demand { column, how: Comparator::Equal, with }));
                }
                _ => other(found),
            },
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => match self.column(expr) {
                Some((qualifier, column)) => {
                    let with = Term::Literal("true".into());
                    found.push((qualifier, Demand { column, how: Comparator::Equal, with }));
                }
                None => other(found),
            },
            Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => match self.column(inner) {
                Some((qualifier, column)) => {
                    let with = Term::Literal("true".into());
                    found.push((qualifier, Demand { column, how: Comparator::Different, with }));
                }
                None => other(found),
            },
            // `WHERE 1 = 1`, `WHERE true`
            Expr::Value(_) => {}
            _ => other(found),
        }
    }

    fn comparison(
        &self,
        left: &Expr,
        how: Comparator,
        right: &Expr,
        whole: &Expr,
        found: &mut Vec<Qualified>,
    ) {
        let (one, two) = (self.column(left), self.column(right));
        let hole = |expr: &Expr| self.column_in_hole(expr);
        let (column, how, with) = match (one, two) {
            // Two columns: how tables belong together, and no demand on a row by itself.
            (Some(_), Some(_)) => return,
            (Some(column), None) => (column, how, right),
            (None, Some(column)) => (column, flipped(how), left),
            (None, None) => match (hole(left), hole(right)) {
                (Some(column), _) => (column, how, right),
                (None, Some(column)) => (column, flipped(how), left),
                (None, None) => {
                    let mut made = Made::default();
                    self.take_apart(whole, &mut made);
                    let Some((qualifier, column)) = made.columns.into_iter().next() else { return };
                    let how = Comparator::Other;
                    found.push((qualifier, Demand { column, how, with: Term::Unknown }));
                    return;
                }
            },
        };
        let (qualifier, column) = column;
        found.push((qualifier, Demand { column, how, with: self.operand(with).0 }));
    }

    /// What an expression is made of, wherever in it that stands.
    pub(super) fn take_apart<'e>(&self, expr: &'e Expr, made: &mut Made<'e>) {
        match expr {
            Expr::Identifier(name) if self.text.hole(&name.value).is_none() => {
                made.columns.push((None, name.value.as_str().into()));
            }
            Expr::CompoundIdentifier(_) => made.columns.extend(self.column(expr)),
            Expr::Identifier(_) | Expr::Value(_) => {
                let (_, values) = self.operand(expr);
                let is_given = match expr {
                    Expr::Value(literal) => matches!(literal.value, Literal::Placeholder(_)),
                    _ => true,
                };
                match self.column_in_hole(expr) {
                    Some(column) => made.columns.push(column),
                    None => made.given |= is_given,
                }
                made.values.extend(values);
            }
            Expr::Nested(inner)
            | Expr::Cast { expr: inner, .. }
            | Expr::UnaryOp { expr: inner, .. }
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::Ceil { expr: inner, .. }
            | Expr::Floor { expr: inner, .. }
            | Expr::Extract { expr: inner, .. } => self.take_apart(inner, made),
            Expr::BinaryOp { left, right, .. }
            | Expr::AnyOp { left, right, .. }
            | Expr::AllOp { left, right, .. }
            | Expr::IsDistinctFrom(left, right)
            | Expr::IsNotDistinctFrom(left, right) => {
                self.take_apart(left, made);
                self.take_apart(right, made);
            }
            Expr::Like { expr: left, pattern: right, .. }
            | Expr::ILike { expr: left, pattern: right, .. } => {
                self.take_apart(left, made);
                self.take_apart(right, made);
            }
            Expr::Between { expr, low, high, .. } => {
                [expr, low, high].into_iter().for_each(|inner| self.take_apart(inner, made));
            }
            Expr::InList { expr, list, .. } => {
                self.take_apart(expr, made);
                list.iter().for_each(|inner| self.take_apart(inner, made));
            }
            Expr::InSubquery { expr, subquery, .. } => {
                self.take_apart(expr, made);
                made.queries.push(subquery);
            }
            Expr::Exists { subquery, .. } | Expr::Subquery(subquery) => made.queries.push(subquery),
            Expr::Tuple(items) => items.iter().for_each(|inner| self.take_apart(inner, made)),
            Expr::Case { operand, conditions, else_result, .. } => {
                let cases = conditions.iter().flat_map(|when| [&when.condition, &when.result]);
                let ends = [operand, else_result].into_iter().flatten().map(AsRef::as_ref);
                cases.chain(ends).for_each(|inner| self.take_apart(inner, made));
            }
            Expr::Function(function) => {
                made.functions.push(function);
                for inner in arguments(function) {
                    self.take_apart(inner, made);
                }
            }
            Expr::JsonAccess { value, .. } | Expr::CompoundFieldAccess { root: value, .. } => {
                self.take_apart(value, made);
            }
            _ => {}
        }
    }
}

/// The plain arguments of a function.
pub(super) fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else { return vec![] };
    let plain = |arg| match arg {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr))
        | &FunctionArg::Named { arg: FunctionArgExpr::Expr(ref expr), .. } => Some(expr),
        _ => None,
    };
    list.args.iter().filter_map(plain).collect()
}

/// Whether a function's result still names what its argument names.
fn only_changes_form(function: &Function) -> bool {
    matches!(last_part(&function.name).to_ascii_lowercase().as_str(), "lower" | "upper" | "trim" | "uuid")
}

/// The sides of `(a, b) = (1, 2)`, one by one.
fn pairs<'e>(left: &'e Expr, right: &'e Expr) -> Option<Vec<(&'e Expr, &'e Expr)>> {
    match (left, right) {
        (Expr::Tuple(left), Expr::Tuple(right)) if left.len() == right.len() => {
            Some(left.iter().zip(right).collect())
        }
        _ => None,
    }
}

/// The last part of a qualified name.
pub(super) fn last_part(name: &ObjectName) -> String {
    name.0.last().and_then(|part| part.as_ident()).map(|part| part.value.clone()).unwrap_or_default()
}

/// The values that a term starts from.
pub(super) fn values_in(term: &Term) -> Vec<Value> {
    match term {
        Term::Path(path) => match path.root {
            Root::Value(value) => vec![value],
            _ => vec![],
        },
        Term::Join(parts) => unique(parts.iter().flat_map(values_in).collect()),
        Term::Parent(path) => values_in(path),
        _ => vec![],
    }
}

fn comparator(op: &BinaryOperator) -> Option<Comparator> {
    match op {
        BinaryOperator::Eq | BinaryOperator::Spaceship => Some(Comparator::Equal),
        BinaryOperator::NotEq => Some(Comparator::Different),
        BinaryOperator::Lt | BinaryOperator::LtEq => Some(Comparator::AtMost),
        BinaryOperator::Gt | BinaryOperator::GtEq => Some(Comparator::AtLeast),
        _ => None,
    }
}

fn flipped(how: Comparator) -> Comparator {
    match how {
        Comparator::AtMost => Comparator::AtLeast,
        Comparator::AtLeast => Comparator::AtMost,
        how => how,
    }
}
