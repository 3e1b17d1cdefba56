//! Statements.

use interlock_model::ir::{Catch, Effect, Exit, Field, Op, Term};
use oxc_ast::ast::{
    Declaration, Expression, IfStatement, Statement, TSType, TryStatement, VariableDeclaration,
};
use oxc_span::GetSpan;

use super::{
    bind::symbol_of,
    calls::Use,
    context::{Lowerer, flag},
    val::Val,
};
use crate::Shape;

impl<'a> Lowerer<'a> {
    /// A block. Functions that it declares are lowered behind the rest, when what they use is known.
    pub(super) fn statements(&mut self, statements: &[Statement<'a>]) {
        let mut rest = statements;
        while let Some((first, others)) = rest.split_first() {
            rest = others;
            if self.full() {
                break;
            }
            if let Some(taken) = self.using(first, others).or_else(|| self.leaving_if(first, others)) {
                rest = taken;
                continue;
            }
            self.statement(first);
        }
        for statement in statements {
            let declaration = match statement {
                Statement::ExportDeclaration(export) => Some(&export.declaration),
                other => other.as_declaration(),
            };
            if let Some(Declaration::FunctionDeclaration(function)) = declaration {
                self.function_declaration(function);
            }
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement<'a>) {
        if !self.planned_statement(statement) {
            self.plain_statement(statement);
        }
    }

    /// A statement as it is written.
    pub(super) fn plain_statement(&mut self, statement: &Statement<'a>) {
        match statement {
            Statement::BlockStatement(it) => self.statements(&it.body),
            Statement::ExpressionStatement(it) => {
                self.expression_for(&it.expression, Use::Nothing);
            }
            Statement::ReturnStatement(it) => self.return_statement(it.argument.as_ref(), it.span),
            Statement::ThrowStatement(it) => self.throw(&it.argument, it.span),
            Statement::BreakStatement(it) => {
                if !self.cx.in_switch || it.label.is_some() {
                    self.stand(it.span);
                    self.leave_turn(true);
                    self.push(Op::Exit(Exit::Break));
                }
            }
            Statement::ContinueStatement(it) => {
                self.stand(it.span);
                self.leave_turn(false);
                self.push(Op::Exit(Exit::Continue));
            }
            Statement::IfStatement(it) => self.if_statement(it),
            Statement::WhileStatement(it) => self.while_loop(it),
            Statement::DoWhileStatement(it) => self.do_loop(it),
            Statement::ForStatement(it) => self.for_loop(it),
            Statement::ForInStatement(it) => self.for_in(it),
            Statement::ForOfStatement(it) => self.for_of(it),
            Statement::LabeledStatement(it) => self.statement(&it.body),
            Statement::WithStatement(it) => {
                self.expression(&it.object);
                self.statement(&it.body);
            }
            Statement::SwitchStatement(it) => self.switch(it),
            Statement::TryStatement(it) => self.try_statement(it),
            Statement::DebuggerStatement(_) | Statement::EmptyStatement(_) => {}
            _ => match statement.as_declaration() {
                Some(declaration) => self.declaration(declaration),
                None => self.module_item(statement),
            },
        }
    }

    /// What is thrown one way or the other is decided like anything else: `throw code === "23505" ? new Taken() : error`.
    fn throw(&mut self, thrown: &Expression<'a>, span: oxc_span::Span) {
        if let Expression::ConditionalExpression(it) = thrown {
            let test = self.condition(&it.test);
            let (at, mark) = (self.at, self.changes.len());
            let (then, ()) = self.branch(|this| this.throw(&it.consequent, span));
            self.undo(mark);
            let (otherwise, ()) = self.branch(|this| this.throw(&it.alternate, span));
            self.undo(mark);
            return self.push_at(at, test.check(then, otherwise));
        }
        self.expression(thrown);
        self.stand(span);
        self.push(Op::Exit(Exit::Throw));
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(it) => self.variables(it),
            Declaration::ClassDeclaration(it) => {
                let symbol = it.id.as_ref().and_then(|id| symbol_of(&id.symbol_id));
                self.class(it, symbol);
            }
            Declaration::TSEnumDeclaration(it) => self.enumeration(it),
            Declaration::TSNamespaceDeclaration(it) => self.namespace(it),
            Declaration::TSImportEqualsDeclaration(it) => self.import_equals(it),
            Declaration::TSInterfaceDeclaration(it) => self.declared_members(&it.id, &it.body.body),
            Declaration::TSTypeAliasDeclaration(it) => {
                if let TSType::TSTypeLiteral(literal) = &it.type_annotation {
                    self.declared_members(&it.id, &literal.members);
                }
            }
            // Functions are lowered behind their block; types leave no steps.
            _ => {}
        }
    }

    pub(super) fn return_statement(&mut self, argument: Option<&Expression<'a>>, span: oxc_span::Span) {
        let planned = self.planned_return(argument);
        let val = match (planned, argument) {
            (Some(planned), _) => planned,
            (None, Some(argument)) => self.expression_for(argument, Use::Returned),
            (None, None) => Val::nothing(),
        };
        self.stand(span);
        self.return_value(val);
    }

    pub(super) fn return_value(&mut self, val: Val) {
        let mut values = val.values;
        match val.shape {
            Shape::Function { function, captures } => {
                self.cx.returned.push(crate::Arg {
                    shape: Shape::Function { function, captures: captures.clone() },
                    ..crate::Arg::opaque(val.term.clone(), vec![])
                });
                let name = self.names.get("function");
                let into = self.step(&name, 0);
                self.push(Op::Closure { into, function, captures });
                values = vec![into];
            }
            Shape::Object(_) | Shape::List(_) | Shape::Call(_) => {
                self.cx.returned.push(crate::Arg {
                    term: val.term,
                    values: values.clone(),
                    shape: val.shape,
                });
            }
            shape => {
                if matches!(shape, Shape::Choice(_)) {
                    let term = val.term.clone();
                    self.cx.returned.push(crate::Arg { term, values: values.clone(), shape });
                }
                // What is returned by another name than its own is given one.
                // So is what is looked up: `return handlers[name]`.
                let together = values.len() <= 1
                    || match &val.term {
                        Term::Join(_) => true,
                        Term::Path(path) => path.fields.iter().any(|field| matches!(field, Field::At(_))),
                        _ => false,
                    };
                if val.direct.is_none() && together && val.term != Term::Unknown {
                    let plain = values.first().is_some_and(|value| val.term == (*value).into());
                    if !plain {
                        let name = self.names.get("returned");
                        values = vec![self.derive(&name, values, val.term, 0)];
                    }
                }
            }
        }
        self.push(Op::Exit(Exit::Return(values)));
    }

    fn if_statement(&mut self, it: &IfStatement<'a>) {
        let test = self.condition(&it.test);
        self.stand(it.span);
        let at = self.span(it.test.span());
        let mark = self.changes.len();
        let (then, ()) = self.branch(|this| this.statement(&it.consequent));
        let one = self.undo(mark);
        let (otherwise, ()) = self.branch(|this| {
            if let Some(alternate) = &it.alternate {
                this.statement(alternate);
            }
        });
        let two = self.undo(mark);
        let one = (!leaves(&then)).then_some(one);
        let two = (!leaves(&otherwise)).then_some(two);
        if !then.is_empty() || !otherwise.is_empty() {
            self.push_at(at, test.check(then, otherwise));
        }
        self.join(one, two);
    }

    /// `if (test) { …; break; }` inside a `switch`: what follows happens only the other way.
    fn leaving_if<'t>(
        &mut self,
        first: &'t Statement<'a>,
        others: &'t [Statement<'a>],
    ) -> Option<&'t [Statement<'a>]> {
        let Statement::IfStatement(it) = first else { return None };
        if !self.cx.in_switch || others.is_empty() || it.alternate.is_some() || !ends_in_break(&it.consequent)
        {
            return None;
        }
        let test = self.condition(&it.test);
        let at = self.span(it.test.span());
        let mark = self.changes.len();
        let (then, ()) = self.branch(|this| this.statement(&it.consequent));
        let one = self.undo(mark);
        let (otherwise, ()) = self.branch(|this| this.statements(others));
        let two = self.undo(mark);
        let two = (!leaves(&otherwise)).then_some(two);
        self.push_at(at, test.check(then, otherwise));
        self.join(Some(one), two);
        others.get(others.len()..)
    }

    fn try_statement(&mut self, it: &TryStatement<'a>) {
        self.stand(it.span);
        let at = self.at;
        let mark = self.changes.len();
        self.cx.tries += 1;
        let (body, ()) = self.nested(|this| this.statements(&it.block.body));
        self.cx.tries -= 1;
        let tried = self.undo(mark);
        let (catch, caught) = match &it.handler {
            None => (None, None),
            Some(handler) => {
                let error_name = self.names.get("error");
                let error = self.step(&error_name, 0);
                if it.finalizer.is_some() {
                    self.cx.tries += 1;
                }
                let (body, ()) = self.branch(|this| {
                    // The failure may have come before or after each assignment.
                    this.join(Some(tried.clone()), Some(vec![]));
                    if let Some(parameter) = &handler.param {
                        this.stand(handler.span);
                        this.pattern(
                            &parameter.pattern,
                            Val { direct: Some(error), ..Val::of(error, 0) },
                            true,
                        );
                    }
                    this.statements(&handler.body.body);
                });
                if it.finalizer.is_some() {
                    self.cx.tries -= 1;
                }
                let changed = self.undo(mark);
                let caught = (!leaves(&body)).then_some(changed);
                (Some(Catch { error: Some(error), body }), Some(caught))
            }
        };
        let tried = (!leaves(&body)).then_some(tried);
        // The variables that come out are joined in front of `finally`, which sees them all.
        let (finally, ()) = self.nested(|this| {
            match caught {
                None => this.join(tried, None),
                Some(caught) => this.join(tried, caught),
            }
            if let Some(finalizer) = &it.finalizer {
                this.statements(&finalizer.body);
            }
        });
        if it.finalizer.is_some() {
            self.push_at(at, Op::Try { body, catch, finally });
        } else {
            self.push_at(at, Op::Try { body, catch, finally: vec![] });
            // Without a `finally` only the joins are in there, and they belong behind.
            self.cx.block.extend(finally);
        }
    }

    /// `using file = open();`: the rest of the block, then the disposal, in every case.
    fn using<'t>(
        &mut self,
        first: &'t Statement<'a>,
        others: &'t [Statement<'a>],
    ) -> Option<&'t [Statement<'a>]> {
        let Statement::VariableDeclaration(variables) = first else { return None };
        if !variables.kind.is_using() {
            return None;
        }
        self.variables(variables);
        self.stand(variables.span);
        let at = self.at;
        self.cx.tries += 1;
        let (body, ()) = self.nested(|this| this.statements(others));
        self.cx.tries -= 1;
        let (finally, ()) = self.nested(|this| this.dispose(variables));
        self.push_at(at, Op::Try { body, catch: None, finally });
        others.get(others.len()..)
    }

    fn dispose(&mut self, variables: &VariableDeclaration<'a>) {
        let waits = variables.kind.is_await();
        for declarator in variables.declarations.iter().rev() {
            let symbol = declarator.id.get_binding_identifier().and_then(|id| symbol_of(&id.symbol_id));
            let Some(symbol) = symbol else { continue };
            let object = self.symbol_place(symbol);
            let Some(path) = object.path_ref().cloned() else { continue };
            let method = self.names.get(if waits { "asyncDispose" } else { "dispose" });
            let target = Val::path(path.field(method), object.values, flag::STATE);
            self.stand(declarator.span);
            self.invoke(target, vec![], false, if waits { Use::Awaited } else { Use::Nothing });
            if waits {
                self.push(Op::Suspend);
            }
        }
    }
}

/// Whether a block never comes to its end.
pub(super) fn leaves(block: &[Effect]) -> bool {
    match block.last().map(|effect| &effect.op) {
        Some(Op::Exit(_)) => true,
        Some(Op::Check { then, otherwise, .. }) => leaves(then) && leaves(otherwise),
        Some(Op::Try { body, catch, finally }) => {
            leaves(finally) || (leaves(body) && catch.as_ref().is_none_or(|catch| leaves(&catch.body)))
        }
        _ => false,
    }
}

fn ends_in_break(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::BreakStatement(it) => it.label.is_none(),
        Statement::BlockStatement(block) => block.body.last().is_some_and(ends_in_break),
        _ => false,
    }
}
