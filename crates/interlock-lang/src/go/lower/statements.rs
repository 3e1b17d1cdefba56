//! Statements.

use interlock_model::ir::{Exit, Op, Term, Value};

use super::{
    super::ast::{Expr, Kind, Place, Stmt, StmtKind},
    Lowerer,
    calls::Use,
};
use crate::{
    Arg, Shape,
    lower::leaves,
    val::{Val, merge},
};

impl<'a> Lowerer<'a> {
    pub(super) fn statements(&mut self, statements: &'a [Stmt<'a>]) {
        for (number, statement) in statements.iter().enumerate() {
            if self.full() {
                break;
            }
            if let StmtKind::Defer(call) = &statement.kind {
                let rest = statements.get(number + 1..).unwrap_or_default();
                return self.deferred(statement.at, call, rest);
            }
            self.statement(statement);
        }
    }

    /// What is deferred runs behind all that follows, however that ends.
    fn deferred(&mut self, at: Place, call: &'a Expr<'a>, rest: &'a [Stmt<'a>]) {
        if matches!(&call.kind, Kind::Call(it) if self.is_lock_of_copy(&it.callee)) {
            return self.statements(rest);
        }
        self.stand(at);
        let span = self.at;
        // What the call is handed is evaluated now.
        let prepared = self.prepared(call);
        let mark = self.mark();
        let opened = self.open(false);
        self.statements(rest);
        let body = self.close(opened);
        let tried = self.undo(mark);
        let left = leaves(&body);
        let opened = self.open(false);
        self.join((!left).then_some(tried), None);
        self.at = span;
        match prepared {
            Some((target, arguments)) => {
                self.invoke(target, arguments, false, Use::Nothing);
            }
            None => {
                self.expression_for(call, Use::Nothing);
            }
        }
        let finally = self.close(opened);
        self.push_at(span, Op::Try { body, catch: None, finally });
    }

    /// A call whose function and arguments are known, and that has yet to run. `None` for what only the language can do.
    fn prepared(&mut self, expression: &'a Expr<'a>) -> Option<(Val, Vec<Arg>)> {
        let Kind::Call(call) = &expression.kind else { return None };
        let known = match &call.callee.kind {
            Kind::Name(name) => {
                self.facts.meant(call.callee.at.0).is_some() || !super::super::is_builtin(name)
            }
            Kind::Convert(..) => false,
            _ => true,
        };
        if !known {
            return None;
        }
        let target = self.callee(&call.callee);
        let arguments = call.arguments.iter().map(|it| self.expression(it).into_arg()).collect();
        self.stand(expression.at);
        Some((target, arguments))
    }

    pub(super) fn statement(&mut self, statement: &'a Stmt<'a>) {
        match &statement.kind {
            StmtKind::Expr(it) => match &it.kind {
                Kind::Unary("<-", channel) if self.permits.contains_key(&it.at.0) => {
                    self.permit(it.at, channel);
                }
                Kind::Unary("<-", channel) => {
                    self.expression_for(it, Use::Nothing);
                    self.waits_for_sign(it.at, channel);
                }
                _ => {
                    self.expression_for(it, Use::Nothing);
                }
            },
            StmtKind::Define(left, right) => self.assign_all(statement.at, left, right),
            StmtKind::Assign(left, "=", right) => self.assign_all(statement.at, left, right),
            StmtKind::Assign(left, operator, right) => {
                if let ([target], [right]) = (left.as_slice(), right.as_slice()) {
                    self.augmented(statement.at, target, operator, right);
                }
            }
            StmtKind::Variables(it) => self.local_variables(it),
            StmtKind::Block(it) | StmtKind::Several(it) => self.statements(it),
            StmtKind::If(it) => self.if_statement(it),
            StmtKind::For(it) => self.for_statement(statement.at, it),
            StmtKind::Switch(it) => self.switch(statement.at, it),
            StmtKind::Select(cases) => self.select(cases),
            StmtKind::Go(call) => {
                if let Some((target, arguments)) = self.prepared(call) {
                    self.spawn(statement.at, target, arguments);
                }
            }
            // One that stands alone, in a case.
            StmtKind::Defer(_) => self.statements(std::slice::from_ref(statement)),
            StmtKind::Return(it) => self.return_statement(statement.at, it),
            StmtKind::Send(channel, value) => self.send(statement.at, channel, value),
            StmtKind::Break => {
                self.stand(statement.at);
                self.leave_turn(true);
                self.push(Op::Exit(Exit::Break));
            }
            StmtKind::Continue => {
                self.stand(statement.at);
                self.leave_turn(false);
                self.push(Op::Exit(Exit::Continue));
            }
            StmtKind::Other => {}
        }
    }

    fn return_statement(&mut self, at: Place, results: &'a [Expr<'a>]) {
        if results.is_empty() {
            let named = self.results.clone();
            let values =
                named.iter().filter_map(|symbol| self.bindings.get(symbol)).map(|it| it.value).collect();
            self.stand(at);
            self.push(Op::Exit(Exit::Return(values)));
            return;
        }
        let mut vals: Vec<Val> = results.iter().map(|it| self.expression(it)).collect();
        self.stand(at);
        let beside = |it: &Expr<'_>, val: &Val| match &it.kind {
            Kind::Nil | Kind::Bool(_) => true,
            Kind::Name(name) => super::assign::tells(name),
            _ => matches!(val.shape, Shape::Text(_)),
        };
        let alone = match (results, vals.as_slice()) {
            ([_], _) => true,
            ([_, last], [_, val]) => beside(last, val) || is_error(last),
            _ => false,
        };
        if alone {
            let rest = vals.split_off(1);
            let mut val = vals.pop().unwrap_or_else(Val::nothing);
            let more: Vec<Value> = rest.iter().flat_map(|val| val.values.iter().copied()).collect();
            if val.is_null() {
                merge(&mut val.values, &more);
            }
            return self.return_value(val);
        }
        let mut values = vec![];
        let mut items = vec![];
        for val in vals {
            // A function that is returned is a value of this one.
            if let Shape::Function { function, captures } = &val.shape {
                let into = self.step(&"function".into(), 0);
                self.push(Op::Closure { into, function: *function, captures: captures.clone() });
                merge(&mut values, &[into]);
            }
            merge(&mut values, &val.values);
            items.push(val.into_arg());
        }
        self.work.cx.returned.push(Arg {
            term: Term::Unknown,
            values: values.clone(),
            shape: Shape::List(items),
        });
        self.push(Op::Exit(Exit::Return(values)));
    }

    fn return_value(&mut self, val: Val) {
        let mut values = val.values;
        match val.shape {
            Shape::Function { function, captures } => {
                self.work.cx.returned.push(Arg {
                    shape: Shape::Function { function, captures: captures.clone() },
                    ..Arg::opaque(val.term.clone(), vec![])
                });
                let into = self.step(&"function".into(), 0);
                self.push(Op::Closure { into, function, captures });
                values = vec![into];
            }
            Shape::Object(_) | Shape::List(_) | Shape::Call(_) => {
                let arg = Arg { term: val.term, values: values.clone(), shape: val.shape };
                self.work.cx.returned.push(arg);
            }
            _ => {
                // What is returned by another name than its own is given one.
                let together = values.len() <= 1 || matches!(val.term, Term::Join(_));
                if val.direct.is_none() && together && val.term != Term::Unknown {
                    let plain = values.first().is_some_and(|value| val.term == (*value).into());
                    if !plain {
                        values = vec![self.derive(&"returned".into(), values, val.term, 0)];
                    }
                }
            }
        }
        self.push(Op::Exit(Exit::Return(values)));
    }
}

/// Whether an expression makes an error: `fmt.Errorf(…)`, `errors.New(…)`, `ErrNotFound`.
fn is_error(expression: &Expr<'_>) -> bool {
    match &expression.kind {
        Kind::Call(call) => match &call.callee.kind {
            Kind::Selector(package, name) => {
                matches!(package.kind, Kind::Name("errors")) || name.contains("Err")
            }
            Kind::Name(name) => name.contains("Err"),
            _ => false,
        },
        Kind::Name(name) | Kind::Selector(_, name) => name.starts_with("Err") || name.starts_with("err"),
        Kind::Unary("&", inner) => match &inner.kind {
            Kind::Composite(super::super::ast::Type::Named(_, name), _) => name.text.contains("Err"),
            _ => false,
        },
        _ => false,
    }
}
