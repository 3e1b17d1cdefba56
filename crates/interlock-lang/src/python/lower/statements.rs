//! Statements.

use interlock_model::ir::{Asked, Block, Catch, Effect, Exit, Op, Resource, Term};
use ruff_python_ast::{ElifElseClause, ExceptHandler, Expr, Stmt, StmtIf, StmtMatch, StmtTry};

use super::{calls::Use, conditions::Test, context::Lowerer};
use crate::{
    Arg, Shape,
    lower::{Binding, leaves},
    val::Val,
};

/// More ways than this of one decision are not told apart: each is a level of nesting.
const MOST_WAYS: usize = 200;

impl<'a> Lowerer<'a> {
    pub(super) fn statements(&mut self, statements: &'a [Stmt]) {
        for statement in statements {
            // What a context manager does behind what it hands out belongs to the end of the `with`.
            if self.full() || self.scope.entered {
                break;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(it) => self.function_definition(it),
            Stmt::ClassDef(it) => self.class(it),
            Stmt::Return(it) => {
                let val = it.value.as_ref().map_or_else(Val::nothing, |value| self.expression(value));
                self.stand(it);
                self.return_value(val);
            }
            Stmt::Delete(it) => {
                for target in &it.targets {
                    self.delete(target);
                }
            }
            Stmt::Assign(it) => {
                let val = self.expression(&it.value);
                self.stand(it);
                for (number, target) in it.targets.iter().enumerate() {
                    let direct = val.direct.filter(|_| number == 0);
                    self.assign_to(target, Val { direct, ..val.clone() });
                    self.changed(target, val.clone());
                }
            }
            Stmt::AugAssign(it) => {
                let val = self.augmented(it);
                self.changed(&it.target, val);
            }
            Stmt::AnnAssign(it) => {
                let declared = self.type_path(&it.annotation);
                let val = match &it.value {
                    Some(value) => self.expression(value),
                    None => Val::nothing(),
                };
                self.stand(it);
                self.annotated(&it.target, val, declared, it.value.is_some());
            }
            Stmt::For(it) => self.for_loop(it),
            Stmt::While(it) => self.while_loop(it),
            Stmt::If(it) => self.if_statement(it),
            Stmt::With(it) => self.with(it, 0),
            Stmt::Match(it) => self.match_statement(it),
            Stmt::Raise(it) => {
                for part in [&it.exc, &it.cause].into_iter().flatten() {
                    if let Expr::Call(call) = &**part {
                        // An error is made for its message; nobody shares it.
                        for argument in &call.arguments.args {
                            self.expression(argument);
                        }
                    }
                }
                self.stand(it);
                self.push(Op::Exit(Exit::Throw));
            }
            Stmt::Try(it) => self.try_statement(it),
            Stmt::Assert(it) => {
                let test = self.condition(&it.test);
                self.stand(it);
                let out = vec![Effect { span: self.at, op: Op::Exit(Exit::Throw) }];
                self.push(test.check(vec![], out));
            }
            Stmt::Import(it) => self.import(it),
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::Expr(it) => match executed_by(&it.value) {
                Some(cursor) => {
                    let found = self.expression_for(&it.value, Use::Value);
                    self.holds(cursor, &found);
                }
                None => {
                    self.expression_for(&it.value, Use::Nothing);
                }
            },
            Stmt::Break(it) => {
                self.stand(it);
                self.leave_turn(true);
                self.push(Op::Exit(Exit::Break));
            }
            Stmt::Continue(it) => {
                self.stand(it);
                self.leave_turn(false);
                self.push(Op::Exit(Exit::Continue));
            }
            Stmt::TypeAlias(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    /// A cursor has what it was told to find, until somebody fetches it: `cursor.execute(query)`, and then `cursor.fetchone()`.
    fn holds(&mut self, cursor: &'a str, found: &Val) {
        let Some(symbol) = self.facts.lookup(self.cx.id, cursor) else { return };
        let own = self.facts.symbol(symbol).is_some_and(|found| found.function == self.cx.id);
        let made = self.bindings.get(&symbol).filter(|_| own && self.cx.id != 0).and_then(|binding| {
            let Some(Shape::Call(site)) = binding.shape else { return None };
            self.module.sites.get(site as usize)?.callee.as_ref()
        });
        let is_cursor = made.is_some_and(|made| &*self.last_name(made) == "cursor") || cursor.contains("cur");
        // What runs a statement and is no cursor gives the rows itself, and stays what it is.
        if let (true, true, [value]) = (own && self.cx.id != 0, is_cursor, found.values.as_slice()) {
            self.set(symbol, Binding { value: *value, alias: None, shape: Some(found.shape.clone()) });
        }
    }

    /// `x: Store = Store()`.
    fn annotated(
        &mut self,
        target: &'a Expr,
        val: Val,
        declared: Option<interlock_model::ir::AccessPath>,
        assigns: bool,
    ) {
        match target {
            Expr::Name(it) if assigns || declared.is_some() => {
                let name = it.id.as_str();
                let bare = !assigns && self.scope.class.is_none();
                let local = self.facts.lookup(self.cx.id, name).and_then(|symbol| self.facts.symbol(symbol));
                if bare && local.is_some_and(|found| found.function != 0) {
                    return;
                }
                self.assign_name(name, val, declared);
            }
            Expr::Attribute(it) => {
                let place = self.attribute_place(it);
                if let Some(path) = place.path_ref().cloned() {
                    if self.is_state(&path) && assigns {
                        self.write(path.clone(), val.values.clone());
                    }
                    self.record(path, declared, val);
                }
            }
            other if assigns => self.assign_to(other, val),
            _ => {}
        }
    }

    fn delete(&mut self, target: &'a Expr) {
        if let Expr::Tuple(it) = target {
            return it.elts.iter().for_each(|target| self.delete(target));
        }
        let place = self.place(target);
        self.stand(target);
        if let Some(path) = place.path_ref().filter(|path| !path.fields.is_empty() && self.is_state(path)) {
            let of = Resource::Shared(path.clone());
            self.push(Op::Delete { of, when: None, outcome: None, via: None });
        }
    }

    pub(super) fn return_value(&mut self, val: Val) {
        let mut values = val.values;
        match val.shape {
            Shape::Function { function, captures } => {
                self.cx.returned.push(Arg {
                    shape: Shape::Function { function, captures: captures.clone() },
                    ..Arg::opaque(val.term.clone(), vec![])
                });
                let into = self.step(&"function".into(), 0);
                self.push(Op::Closure { into, function, captures });
                values = vec![into];
            }
            Shape::Object(_) | Shape::List(_) | Shape::Call(_) => {
                self.cx.returned.push(Arg { term: val.term, values: values.clone(), shape: val.shape });
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

    fn if_statement(&mut self, it: &'a StmtIf) {
        if is_for_types(&it.test) {
            // What only type checkers see is there for its names.
            return self.statements(&it.body);
        }
        self.ways(&it.test, &it.body, &it.elif_else_clauses, MOST_WAYS);
    }

    fn ways(&mut self, test: &'a Expr, body: &'a [Stmt], rest: &'a [ElifElseClause], left: usize) {
        self.stand(test);
        let at = self.at;
        let test = self.condition(test);
        let mark = self.mark();
        let (then, ()) = self.branch(|this| this.statements(body));
        let one = self.undo(mark);
        let (otherwise, ()) = self.branch(|this| {
            let Some((first, rest)) = rest.split_first() else { return };
            match &first.test {
                Some(test) if left > 0 => this.ways(test, &first.body, rest, left - 1),
                _ => this.statements(&first.body),
            }
        });
        let two = self.undo(mark);
        self.decide(at, test, (then, one), (otherwise, two));
    }

    /// Goes one of two ways, and on from where they end.
    pub(super) fn decide(
        &mut self,
        at: interlock_model::Span,
        test: Test,
        (then, one): (Block, Vec<(u32, Binding)>),
        (otherwise, two): (Block, Vec<(u32, Binding)>),
    ) {
        let one = (!leaves(&then)).then_some(one);
        let two = (!leaves(&otherwise)).then_some(two);
        if !then.is_empty() || !otherwise.is_empty() {
            self.push_at(at, test.check(then, otherwise));
        }
        self.join(one, two);
    }

    fn match_statement(&mut self, it: &'a StmtMatch) {
        let subject = self.expression(&it.subject);
        let on = self.judged(&subject);
        self.cases(it, &subject, &on, 0);
    }

    fn cases(&mut self, it: &'a StmtMatch, subject: &Val, on: &[interlock_model::ir::Value], from: usize) {
        let Some(case) = it.cases.get(from).filter(|_| from < MOST_WAYS) else { return };
        self.stand(case);
        let at = self.at;
        let equal = self.literal_of(&case.pattern);
        let texts = self.literals_of(&case.pattern);
        let mark = self.mark();
        let (then, ()) = self.branch(|this| {
            this.bind_pattern(&case.pattern, subject);
            match &case.guard {
                Some(guard) => {
                    let test = this.condition(guard);
                    let (body, ()) = this.branch(|this| this.statements(&case.body));
                    this.push(test.check(body, vec![]));
                }
                None => this.statements(&case.body),
            }
        });
        let one = self.undo(mark);
        if case.guard.is_none() && case.pattern.is_irrefutable() {
            self.cx.block.extend(then);
            self.join(Some(one), None);
            return;
        }
        let (otherwise, ()) = self.branch(|this| this.cases(it, subject, on, from + 1));
        let two = self.undo(mark);
        let (one, two) = ((!leaves(&then)).then_some(one), (!leaves(&otherwise)).then_some(two));
        let asked = (!texts.is_empty()).then(|| Asked { on: on.to_vec(), texts, enough: true });
        let asks = asked.into_iter().collect();
        self.push_at(at, Op::Check { on: on.to_vec(), equal, asks, then, otherwise });
        self.join(one, two);
    }

    fn try_statement(&mut self, it: &'a StmtTry) {
        self.stand(it);
        let at = self.at;
        let mark = self.mark();
        let before = std::mem::take(&mut self.scope.entered);
        let (body, ()) = self.nested(|this| {
            this.statements(&it.body);
            this.statements(&it.orelse);
        });
        let tried = self.undo(mark);
        if self.scope.entered {
            // What is handed out inside is there until whoever has it is done.
            self.cx.block.extend(body);
            return self.join(Some(tried), None);
        }
        self.scope.entered = before;
        let (catch, caught) = if it.handlers.is_empty() {
            (None, None)
        } else {
            let error = self.step(&"error".into(), 0);
            let (body, ()) = self.branch(|this| {
                // The failure may have come before or after each assignment.
                this.join(Some(tried.clone()), Some(vec![]));
                this.handlers(&it.handlers, error);
            });
            let changed = self.undo(mark);
            let caught = (!leaves(&body)).then_some(changed);
            (Some(Catch { error: Some(error), body }), Some(caught))
        };
        let tried = (!leaves(&body)).then_some(tried);
        // The variables that come out are joined in front of `finally`, which sees them all.
        let (finally, ()) = self.nested(|this| {
            match caught {
                None => this.join(tried, None),
                Some(caught) => this.join(tried, caught),
            }
            this.statements(&it.finalbody);
        });
        if it.finalbody.is_empty() {
            self.push_at(at, Op::Try { body, catch, finally: vec![] });
            // Without a `finally` only the joins are in there, and they belong behind.
            self.cx.block.extend(finally);
        } else {
            self.push_at(at, Op::Try { body, catch, finally });
        }
    }

    /// The handlers, one or the other by what went wrong.
    fn handlers(&mut self, handlers: &'a [ExceptHandler], error: interlock_model::ir::Value) {
        let Some((ExceptHandler::ExceptHandler(first), rest)) = handlers.split_first() else { return };
        let run = |this: &mut Self| {
            if let Some(name) = &first.name {
                this.stand(first);
                let val = Val { direct: Some(error), ..Val::of(error, 0) };
                this.assign_name(name.as_str(), val, None);
            }
            this.statements(&first.body);
        };
        if rest.is_empty() && !first.type_.as_deref().is_some_and(is_conflict) {
            return run(self);
        }
        self.stand(first);
        let at = self.at;
        let mark = self.mark();
        let (then, ()) = self.branch(run);
        let one = self.undo(mark);
        let (otherwise, ()) = self.branch(|this| {
            if rest.is_empty() {
                // What is caught is only that somebody else was first; all else goes on.
                this.push(Op::Exit(Exit::Throw));
            }
            this.handlers(rest, error);
        });
        let two = self.undo(mark);
        let test = Test { on: vec![error], ..Test::default() };
        self.decide(at, test, (then, one), (otherwise, two));
    }
}

/// Whether a type of error says that a row was there already: `except sqlite3.IntegrityError`.
fn is_conflict(kind: &Expr) -> bool {
    let says = |name: &str| CONFLICTS.iter().any(|part| name.contains(part));
    match kind {
        Expr::Name(it) => says(it.id.as_str()),
        Expr::Attribute(it) => says(it.attr.as_str()),
        Expr::Tuple(it) => !it.elts.is_empty() && it.elts.iter().all(is_conflict),
        _ => false,
    }
}

/// Parts of the names that drivers and mappers give to a unique key's refusal.
const CONFLICTS: &[&str] =
    &["IntegrityError", "UniqueViolation", "DuplicateKey", "DuplicateError", "AlreadyExists"];

/// `if TYPE_CHECKING`.
fn is_for_types(test: &Expr) -> bool {
    match test {
        Expr::Name(it) => it.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(it) => it.attr.as_str() == "TYPE_CHECKING",
        _ => false,
    }
}

/// The name of what is told to run a statement whose result nobody takes.
fn executed_by(expression: &Expr) -> Option<&str> {
    let call = match expression {
        Expr::Await(it) => it.value.as_call_expr()?,
        Expr::Call(it) => it,
        _ => return None,
    };
    let Expr::Attribute(method) = &*call.func else { return None };
    match &*method.value {
        Expr::Name(cursor) if method.attr.as_str() == "execute" => Some(cursor.id.as_str()),
        _ => None,
    }
}
