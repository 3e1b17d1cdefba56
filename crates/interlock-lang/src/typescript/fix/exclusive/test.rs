//! Tests whether a file exists, in the ways in which they are usually written.

use oxc_ast::ast::{
    ArrowFunctionBody, BindingPattern, CallExpression, Expression, IfStatement, Statement, TryStatement,
    UnaryOperator, VariableDeclarationKind,
};
use oxc_span::{GetSpan, Span};

use super::super::{
    expression::{arguments, awaited_call, called, last_name, leaves, occurrences},
    file::File,
    search::{CallSite, is_function, statements},
};

/// A test for a file.
#[derive(Clone, Copy)]
pub(super) struct Test<'f> {
    /// The path, as it is written.
    pub(super) path: &'f str,
    /// Whether yes means that it exists.
    pub(super) says_exists: bool,
    /// Where the test ends, if its answer was kept in a variable first.
    kept: Option<u32>,
}

/// Tests whose answers are kept in constants: `const taken = await exists(path)`.
pub(super) struct Tests<'f>(Vec<(String, Test<'f>)>);

impl<'f> Tests<'f> {
    /// Those that stand before a call in the lists around it.
    pub(super) fn of(file: &File<'f, '_>, found: &CallSite<'_>) -> Self {
        let lists = found.around.iter().rev().take_while(|kind| !is_function(**kind));
        let mut tests = Self(Vec::new());
        for statement in lists.filter_map(|kind| statements(*kind)).flatten() {
            let Statement::VariableDeclaration(declaration) = statement else { continue };
            if declaration.kind != VariableDeclarationKind::Const
                || declaration.span.end > found.call.span.start
            {
                continue;
            }
            for declarator in &declaration.declarations {
                if let (BindingPattern::BindingIdentifier(name), Some(init)) =
                    (&declarator.id, &declarator.init)
                    && let Some(test) = tested(file, init, &Self(Vec::new()))
                {
                    let test = Test { kept: Some(declaration.span.end), ..test };
                    tests.0.push((name.name.to_string(), test));
                }
            }
        }
        tests
    }
}

impl Test<'_> {
    /// Whether the path is not used between the test and the place where its answer is looked at.
    pub(super) fn untouched(&self, file: &File<'_, '_>, looked_at: Span, path: &str) -> bool {
        self.kept.is_none_or(|end| occurrences(file.between(end, looked_at.start), path).next().is_none())
    }
}

/// What an expression tests, if it is a test for a file and nothing else.
pub(super) fn tested<'f>(
    file: &File<'f, '_>,
    expression: &Expression<'_>,
    tests: &Tests<'f>,
) -> Option<Test<'f>> {
    match expression {
        Expression::UnaryExpression(not) if not.operator == UnaryOperator::LogicalNot => {
            match &not.argument {
                // One negation is enough for everybody.
                Expression::UnaryExpression(_) => None,
                inner => {
                    let test = tested(file, inner, tests)?;
                    Some(Test { says_exists: !test.says_exists, ..test })
                }
            }
        }
        Expression::Identifier(name) => {
            let mut known = tests.0.iter().filter(|(known, _)| *known == name.name.as_str());
            known.next().map(|(_, test)| *test)
        }
        expression => {
            let (call, _) = awaited_call(expression)?;
            asked(file, call).or_else(|| settled(file, call))
        }
    }
}

/// `existsSync(path)`, `await pathExists(path)`.
fn asked<'f>(file: &File<'f, '_>, call: &CallExpression<'_>) -> Option<Test<'f>> {
    let name = last_name(&call.callee)?.to_lowercase();
    let [path] = arguments(call)?[..] else { return None };
    let asks = name.ends_with("exists") || name.ends_with("existssync");
    asks.then(|| Test { path: file.slice(path.span()), says_exists: true, kept: None })
}

/// `access(path).then(() => true, () => false)`, `access(path).then(() => true).catch(() => false)`.
fn settled<'f>(file: &File<'f, '_>, call: &CallExpression<'_>) -> Option<Test<'f>> {
    let (inner, answers) = chained(call)?;
    let (access, yes, no) = match (answers.as_slice(), last_name(&call.callee)?) {
        ([yes, no], "then") => (inner, *yes, *no),
        ([no], "catch") => {
            let (access, answers) = chained(inner)?;
            let ([yes], Some("then")) = (answers.as_slice(), last_name(&inner.callee)) else { return None };
            (access, *yes, *no)
        }
        _ => return None,
    };
    let path = accessed(file, access)?;
    (yes != no).then_some(Test { path, says_exists: yes, kept: None })
}

/// The promise that a method is called on, and the truth values that its callbacks give.
fn chained<'e, 'a>(call: &'e CallExpression<'a>) -> Option<(&'e CallExpression<'a>, Vec<bool>)> {
    let Expression::StaticMemberExpression(member) = &call.callee else { return None };
    let Expression::CallExpression(inner) = &member.object else { return None };
    let answers: Option<Vec<bool>> = arguments(call)?.into_iter().map(answer).collect();
    Some((inner, answers?))
}

/// The truth value that a callback gives whatever it is told.
fn answer(callback: &Expression<'_>) -> Option<bool> {
    let Expression::ArrowFunctionExpression(arrow) = callback else { return None };
    match &arrow.body {
        ArrowFunctionBody::BooleanLiteral(value) => Some(value.value),
        _ => None,
    }
}

/// The path of an `access` that asks for nothing but existence.
pub(super) fn accessed<'f>(file: &File<'f, '_>, call: &CallExpression<'_>) -> Option<&'f str> {
    let ("access" | "accessSync") = last_name(&call.callee)? else { return None };
    match arguments(call)?[..] {
        [path] => Some(file.slice(path.span())),
        [path, mode] => (last_name(mode) == Some("F_OK")).then(|| file.slice(path.span())),
        _ => None,
    }
}

/// Whether a statement leaves where the file exists, and goes on where it does not.
pub(super) fn turns_back(
    file: &File<'_, '_>,
    statement: &Statement<'_>,
    path: &str,
    tests: &Tests<'_>,
) -> bool {
    match statement {
        Statement::IfStatement(branch) => leaves_if_there(file, branch, path, tests),
        Statement::TryStatement(attempt) => leaves_after_access(file, attempt, path),
        _ => false,
    }
}

fn leaves_if_there(file: &File<'_, '_>, branch: &IfStatement<'_>, path: &str, tests: &Tests<'_>) -> bool {
    let IfStatement { test, consequent, alternate: None, .. } = branch else { return false };
    leaves(consequent)
        && tested(file, test, tests).is_some_and(|found| {
            found.says_exists && found.path == path && found.untouched(file, test.span(), path)
        })
}

/// `try { await access(path); return … } catch {}`. What is thrown there comes into its own `catch`, which must tell it apart.
fn leaves_after_access(file: &File<'_, '_>, attempt: &TryStatement<'_>, path: &str) -> bool {
    let (Some(catch), None) = (&attempt.handler, &attempt.finalizer) else { return false };
    let [first, .., last] = attempt.block.body.as_slice() else { return false };
    let handler = file.slice(catch.body.span());
    let left = match last {
        Statement::ReturnStatement(_) => true,
        Statement::ThrowStatement(_) => handler.contains("ENOENT") && handler.contains("throw"),
        _ => false,
    };
    let goes_on = !catch.body.body.last().is_some_and(leaves);
    left && goes_on
        && occurrences(handler, path).next().is_none()
        && called(first).and_then(|call| accessed(file, call)) == Some(path)
}
