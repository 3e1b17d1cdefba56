//! Lock files: made so that only one can make them, and removed in the end.

use interlock_model::ir::{AccessPath, Hold, Lock, Op, Term};
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
}

/// How far into statements is looked.
const DEEPEST: usize = 12;

/// A call that makes or removes a file: how its path is written.
struct Seen<'t> {
    made: Vec<(&'t str, Span)>,
    removed: Vec<(&'t str, Span)>,
}

impl<'a> Lowerer<'a> {
    pub(super) fn lock_files(&self, statements: &[Statement<'a>]) -> Vec<LockFile> {
        let text = self.text;
        if !self.has_lock_files {
            return vec![];
        }
        let mut seen = Seen { made: vec![], removed: vec![] };
        look(statements, text, &mut seen, false, 0);
        let mut files = vec![];
        for (path, made) in &seen.made {
            let removed: Vec<Span> =
                seen.removed.iter().filter(|(other, _)| other == path).map(|(_, span)| *span).collect();
            if !removed.is_empty() {
                files.push(LockFile { made: *made, removed });
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
        let makes =
            self.cx.plan.as_deref().is_some_and(|plan| plan.files.iter().any(|file| file.made == call.span));
        if makes && let Some(lock) = self.file_lock(call) {
            self.stand(call.span);
            self.push(Op::Acquire { lock, hold: Hold::Exclusive, outcome: None });
        }
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

/// Whether a file has the words that a lock file needs. Most have not, and their functions are not looked through.
pub(in crate::typescript::lower) fn has_lock_files(text: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
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
    let Some(path) = argument(call, 0).map(GetSpan::span) else { return };
    let path = text.get(path.start as usize..path.end as usize).unwrap_or_default();
    match name {
        "open" | "openSync" | "writeFile" | "writeFileSync" if call.arguments.iter().any(is_exclusive) => {
            seen.made.push((path, call.span));
        }
        "mkdir" | "mkdirSync" if call.arguments.len() == 1 => seen.made.push((path, call.span)),
        "unlink" | "unlinkSync" | "rm" | "rmSync" | "rmdir" | "rmdirSync" if ending => {
            seen.removed.push((path, call.span));
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
