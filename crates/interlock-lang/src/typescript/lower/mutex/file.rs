//! Lock files: made so that only one can make them, and removed in the end.

use interlock_model::ir::{AccessPath, Hold, Lock, Op, Term};
use memchr::memmem;
use oxc_ast::ast::{Argument, CallExpression, Expression, ObjectPropertyKind, Statement};
use oxc_span::{GetSpan, Span};

use super::places::argument;
use crate::typescript::lower::context::Lowerer;

/// A lock file.
#[derive(Debug, Clone)]
pub(in crate::typescript::lower) struct LockFile {
    /// The call that makes it.
    made: Span,
    /// The calls that remove it.
    removed: Vec<Span>,
    /// The statement from which on it is held, where it is tried for in a loop that ends without it only by giving up.
    held_from: Option<Span>,
    /// The lock, once the call that makes it was come by.
    lock: Option<Lock>,
}

/// How far into statements is looked.
const DEEPEST: usize = 12;

/// A call that makes or removes a file: how its path is written.
struct Seen<'t> {
    made: Vec<(&'t str, Span)>,
    removed: Vec<(&'t str, Span)>,
    /// The same, wherever it stands.
    removed_anywhere: Vec<(&'t str, Span)>,
    /// The paths of what is moved elsewhere or published under another name.
    moved: Vec<&'t str>,
}

impl LockFile {
    /// What one of two functions does to it.
    const fn half(made: Span, removed: Vec<Span>) -> Self {
        Self { made, removed, held_from: None, lock: None }
    }
}

/// Whether something is called after a lock.
fn is_lock(name: &str) -> bool {
    name.to_ascii_lowercase().contains("lock")
}

impl<'a> Lowerer<'a> {
    pub(super) fn lock_files(&self, statements: &[Statement<'a>]) -> Vec<LockFile> {
        let text = self.text;
        if !self.has_lock_files {
            return vec![];
        }
        let mut seen = Seen { made: vec![], removed: vec![], removed_anywhere: vec![], moved: vec![] };
        look(statements, text, &mut seen, false, 0);
        // What becomes another file is a draft of that, which only must not meet another one.
        let Seen { made, moved, .. } = &mut seen;
        made.retain(|(path, _)| !moved.contains(path));
        let mut files = vec![];
        // One function takes the lock and another gives it back; both say that they are about a lock.
        if is_lock(self.cx.name.rsplit('.').next().unwrap_or_default()) {
            let has = |of: &[(&str, Span)], path: &str| of.iter().any(|(other, _)| *other == path);
            let taken =
                seen.made.iter().filter(|(path, _)| is_lock(path) && !has(&seen.removed_anywhere, path));
            // One that answers whether it has the lock may come back without it.
            if !answers(statements, 0) {
                files.extend(taken.map(|(_, made)| LockFile::half(*made, vec![])));
            }
            let given =
                seen.removed_anywhere.iter().filter(|(path, _)| is_lock(path) && !has(&seen.made, path));
            files.extend(given.map(|(_, removed)| LockFile::half(Span::default(), vec![*removed])));
        }
        for (path, made) in &seen.made {
            let removed: Vec<Span> =
                seen.removed.iter().filter(|(other, _)| other == path).map(|(_, span)| *span).collect();
            if !removed.is_empty() {
                let held_from = tried_for(statements, *made, &removed, 0);
                files.push(LockFile { made: *made, removed, held_from, lock: None });
            }
        }
        files
    }

    /// Around a call that makes or removes a lock file the lock is taken or given back. Said before the call itself is lowered.
    pub(in crate::typescript::lower) fn lock_file_removed(&mut self, call: &CallExpression<'a>) {
        let removes = self
            .cx
            .plan
            .as_deref()
            .is_some_and(|plan| plan.files.iter().any(|file| file.removed.contains(&call.span)));
        if removes && let Some(lock) = self.file_lock(call) {
            self.stand(call.span);
            self.push(Op::Release { lock });
        }
    }

    /// The same behind it.
    pub(in crate::typescript::lower) fn lock_file_made(&mut self, call: &CallExpression<'a>) {
        let made = |plan: &super::Plan| plan.files.iter().position(|file| file.made == call.span);
        let Some(number) = self.cx.plan.as_deref().and_then(made) else { return };
        let Some(lock) = self.file_lock(call) else { return };
        let plan = self.cx.plan.as_deref_mut();
        let file = plan.and_then(|plan| plan.files.get_mut(number));
        if let Some(file) = file.filter(|file| file.held_from.is_some()) {
            file.lock = Some(lock);
            return;
        }
        self.stand(call.span);
        self.push(Op::Acquire { lock, hold: Hold::Exclusive, outcome: None });
    }

    /// In front of a statement that is only come to with the lock.
    pub(super) fn lock_file_held(&mut self, statement: Span) {
        let held = |file: &&LockFile| file.held_from == Some(statement);
        let plan = self.cx.plan.as_deref();
        let Some(lock) = plan.and_then(|plan| plan.files.iter().find(held)?.lock.clone()) else { return };
        self.stand(statement);
        self.push(Op::Acquire { lock, hold: Hold::Exclusive, outcome: None });
    }

    fn file_lock(&mut self, call: &CallExpression<'a>) -> Option<Lock> {
        let path = argument(call, 0)?;
        // The path is evaluated by the call; here only its name counts.
        let (_, val) = self.nested(|this| this.place(path));
        let object: AccessPath = match val.term {
            Term::Path(path) => path,
            Term::Literal(text) => AccessPath::global(text),
            _ => return None,
        };
        Some(Lock::cross_process(object))
    }
}

/// The `try` whose `finally` removes what a loop before it has made, if the loop cannot be left in peace without it.
fn tried_for(statements: &[Statement<'_>], made: Span, removed: &[Span], depth: usize) -> Option<Span> {
    if depth > DEEPEST {
        return None;
    }
    let holds = |statement: &Statement<'_>| statement.span().contains_inclusive(made);
    let position = statements.iter().position(holds)?;
    let (first, rest) = statements.get(position..)?.split_first()?;
    let ends = |statement: &Statement<'_>| match statement {
        Statement::TryStatement(it) => it
            .finalizer
            .as_ref()
            .is_some_and(|block| removed.iter().all(|removed| block.span.contains_inclusive(*removed))),
        _ => false,
    };
    let inner = match first {
        Statement::WhileStatement(_) | Statement::ForStatement(_) | Statement::DoWhileStatement(_) => {
            let end = rest.iter().position(ends)?;
            let gives_up = rest.iter().take(end).any(|statement| match statement {
                Statement::IfStatement(it) => gives_up(&it.consequent, 0),
                _ => false,
            });
            let stays = match first {
                Statement::WhileStatement(it) => {
                    matches!(&it.test, Expression::BooleanLiteral(it) if it.value)
                }
                Statement::ForStatement(it) => it.test.is_none(),
                _ => false,
            };
            return (gives_up || stays || gives_up_inside(first))
                .then(|| rest.get(end).map(GetSpan::span))?;
        }
        Statement::BlockStatement(it) => &it.body,
        Statement::TryStatement(it) => &it.block.body,
        Statement::IfStatement(it) => std::slice::from_ref(&it.consequent),
        _ => return None,
    };
    tried_for(inner, made, removed, depth + 1)
}

/// Whether a function returns something.
fn answers(statements: &[Statement<'_>], depth: usize) -> bool {
    let inside = |statement: &Statement<'_>| answers(std::slice::from_ref(statement), depth + 1);
    depth <= DEEPEST
        && statements.iter().any(|statement| match statement {
            Statement::ReturnStatement(it) => it.argument.is_some(),
            Statement::BlockStatement(it) => answers(&it.body, depth + 1),
            Statement::IfStatement(it) => inside(&it.consequent) || it.alternate.as_ref().is_some_and(inside),
            Statement::WhileStatement(it) => inside(&it.body),
            Statement::ForStatement(it) => inside(&it.body),
            Statement::DoWhileStatement(it) => inside(&it.body),
            Statement::TryStatement(it) => {
                let blocks =
                    [Some(&it.block), it.handler.as_ref().map(|catch| &catch.body), it.finalizer.as_ref()];
                blocks.into_iter().flatten().any(|block| answers(&block.body, depth + 1))
            }
            _ => false,
        })
}

/// Whether a statement leaves the function.
fn gives_up(statement: &Statement<'_>, depth: usize) -> bool {
    match statement {
        Statement::ThrowStatement(_) | Statement::ReturnStatement(_) => true,
        Statement::BlockStatement(it) if depth < DEEPEST => {
            it.body.iter().any(|inner| gives_up(inner, depth + 1))
        }
        _ => false,
    }
}

/// Whether a loop throws when it has tried too often: `if (attempt === last) throw error`.
fn gives_up_inside(statement: &Statement<'_>) -> bool {
    fn throws(statement: &Statement<'_>, conditional: bool, depth: usize) -> bool {
        if depth > DEEPEST {
            return false;
        }
        let any = |body: &[Statement<'_>], conditional| {
            body.iter().any(|inner| throws(inner, conditional, depth + 1))
        };
        match statement {
            Statement::ThrowStatement(_) => conditional,
            Statement::BlockStatement(it) => any(&it.body, conditional),
            Statement::IfStatement(it) => counts(&it.test) && throws(&it.consequent, true, depth + 1),
            Statement::TryStatement(it) => {
                any(&it.block.body, false)
                    || it.handler.as_ref().is_some_and(|catch| any(&catch.body.body, false))
            }
            Statement::WhileStatement(it) => throws(&it.body, false, depth + 1),
            Statement::ForStatement(it) => throws(&it.body, false, depth + 1),
            Statement::DoWhileStatement(it) => throws(&it.body, false, depth + 1),
            _ => false,
        }
    }
    /// A test of how often or how long it was tried, which another failure than a taken lock does not pass.
    fn counts(test: &Expression<'_>) -> bool {
        match test.get_inner_expression() {
            Expression::BinaryExpression(it) => {
                let text = matches!(it.right, Expression::StringLiteral(_));
                it.operator.is_compare() || (it.operator.is_equality() && !text)
            }
            Expression::LogicalExpression(it) => counts(&it.left) || counts(&it.right),
            _ => false,
        }
    }
    throws(statement, false, 0)
}

/// Whether a file has the words that a lock file needs. Most have not, and their functions are not looked through.
pub(in crate::typescript::lower) fn has_lock_files(text: &str) -> bool {
    let has =
        |words: &[&str]| words.iter().any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some());
    has(&["finally"]) && has(&["wx", "O_EXCL", "mkdir"]) && has(&["unlink", "rm(", "rmSync", "rmdir"])
}

fn look<'t>(statements: &[Statement<'_>], text: &'t str, seen: &mut Seen<'t>, ending: bool, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    for statement in statements {
        match statement {
            Statement::BlockStatement(it) => look(&it.body, text, seen, ending, depth + 1),
            Statement::ExpressionStatement(it) => look_at(&it.expression, text, seen, ending),
            Statement::VariableDeclaration(it) => {
                for init in it.declarations.iter().filter_map(|declarator| declarator.init.as_ref()) {
                    look_at(init, text, seen, ending);
                }
            }
            Statement::IfStatement(it) => {
                look(std::slice::from_ref(&it.consequent), text, seen, ending, depth + 1);
            }
            Statement::WhileStatement(it) => {
                look(std::slice::from_ref(&it.body), text, seen, ending, depth + 1)
            }
            Statement::ForStatement(it) => {
                look(std::slice::from_ref(&it.body), text, seen, ending, depth + 1)
            }
            Statement::TryStatement(it) => {
                look(&it.block.body, text, seen, ending, depth + 1);
                let finalizer = it.finalizer.iter().flat_map(|block| block.body.iter());
                for statement in finalizer {
                    look(std::slice::from_ref(statement), text, seen, true, depth + 1);
                }
            }
            _ => {}
        }
    }
}

fn look_at<'t>(expression: &Expression<'_>, text: &'t str, seen: &mut Seen<'t>, ending: bool) {
    let expression = match expression.get_inner_expression() {
        Expression::AwaitExpression(it) => it.argument.get_inner_expression(),
        Expression::AssignmentExpression(it) => return look_at(&it.right, text, seen, ending),
        other => other,
    };
    let Expression::CallExpression(call) = expression else { return };
    let name = match &call.callee {
        Expression::Identifier(id) => id.name.as_str(),
        Expression::StaticMemberExpression(member) => match member.property.name.as_str() {
            // `unlink(path).catch(() => {})`.
            "catch" | "then" | "finally" => return look_at(&member.object, text, seen, ending),
            name => name,
        },
        _ => return,
    };
    let Some(first) = argument(call, 0) else { return };
    // `closeSync(openSync(path, "wx"))`.
    if matches!(name, "close" | "closeSync") {
        return look_at(first, text, seen, ending);
    }
    let path = first.span();
    let path = text.get(path.start as usize..path.end as usize).unwrap_or_default();
    match name {
        "open" | "openSync" | "writeFile" | "writeFileSync" if call.arguments.iter().any(is_exclusive) => {
            seen.made.push((path, call.span));
        }
        "rename" | "renameSync" | "link" | "linkSync" => seen.moved.push(path),
        "mkdir" | "mkdirSync" if call.arguments.len() == 1 => seen.made.push((path, call.span)),
        "unlink" | "unlinkSync" | "rm" | "rmSync" | "rmdir" | "rmdirSync" => {
            seen.removed_anywhere.push((path, call.span));
            if ending {
                seen.removed.push((path, call.span));
            }
        }
        _ => {}
    }
}

/// `"wx"`, `{ flag: "wx" }`, `O_CREAT | O_EXCL`.
fn is_exclusive(argument: &Argument<'_>) -> bool {
    let text = |expression: &Expression<'_>| matches!(expression, Expression::StringLiteral(it) if it.value.contains('x'));
    match argument.as_expression() {
        Some(Expression::ObjectExpression(it)) => it.properties.iter().any(|property| match property {
            ObjectPropertyKind::ObjectProperty(it) => {
                it.key.is_specific_static_name("flag") && text(&it.value)
            }
            ObjectPropertyKind::SpreadProperty(_) => false,
        }),
        Some(Expression::BinaryExpression(it)) => has_excl(&it.left) || has_excl(&it.right),
        Some(expression) => {
            text(expression) && matches!(expression, Expression::StringLiteral(it) if it.value.len() <= 3)
        }
        None => false,
    }
}

fn has_excl(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::BinaryExpression(it) => has_excl(&it.left) || has_excl(&it.right),
        Expression::Identifier(id) => id.name == "O_EXCL",
        Expression::StaticMemberExpression(member) => member.property.name == "O_EXCL",
        _ => false,
    }
}
