//! A release that stands at the end of what a lock protects moves into a `finally`.
//!
//! Changed is a list of statements that takes a lock, works, and gives it back, all on one level. Ways out in between that release
//! by themselves lose their release, because the `finally` does it. What is declared under the lock and used after it must stay in
//! sight, so only a closing `return` may use it, and comes along.

use oxc_ast::{
    AstKind,
    ast::{BindingIdentifier, BindingPattern, CallExpression, Expression, Function, Statement},
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::{
    expression::{awaited_call, called, is_plain, last_name, leaves, occurrences},
    file::File,
    search::{CallSite, statements, within},
};
use crate::Edit;

/// What takes a lock.
const TAKES: &[&str] = &["acquire", "lock", "take", "enter", "wait", "acquireLock", "lockSync"];

/// What gives one back.
const GIVES: &[&str] = &["release", "unlock", "leave", "signal", "releaseLock", "unlockSync"];

pub(super) fn change(file: &File<'_, '_>, found: &CallSite<'_>) -> Option<Vec<Edit>> {
    if !last_name(&found.call.callee).is_some_and(|name| TAKES.contains(&name)) {
        return None;
    }
    let level = found.around.iter().rposition(|kind| statements(*kind).is_some())?;
    let list = found.around.get(level).copied().and_then(statements)?;
    let index = list.iter().position(|statement| within(found.call.span, statement.span()))?;
    let (before, rest) = list.split_at_checked(index + 1)?;
    let taken = Taken::by(file, before.last()?, found.call)?;
    let end = rest.iter().position(|statement| taken.is_released_by(file, statement))?;
    let (work, rest) = rest.split_at_checked(end)?;
    let (release, behind) = rest.split_first()?;
    let carried = match Behind::of(file, before, work, behind) {
        Behind::Apart => None,
        Behind::Return(statement) => Some(statement),
        Behind::Entangled => return None,
    };
    let early = early_releases(file, work, &taken)?;
    if taken.is_handed_on(file, work, early.len()) {
        return None;
    }
    if work.is_empty()
        || taken.is_mentioned(file, behind)
        || matches!(found.around.get(level), Some(AstKind::Program(_)))
    {
        return None;
    }
    edits(file, before.last()?, release, carried, &early)
}

/// How a lock that was taken is named.
enum Taken<'f> {
    /// The function or the handle that gives it back: `const release = await mutex.acquire()`.
    Handle(String),
    /// The lock itself: `await mutex.acquire()`.
    Lock(&'f str),
}

impl<'f> Taken<'f> {
    fn by(file: &File<'f, '_>, statement: &Statement<'_>, call: &CallExpression<'_>) -> Option<Self> {
        match statement {
            Statement::VariableDeclaration(declaration) if declaration.kind.is_const() => {
                let [declarator] = declaration.declarations.as_slice() else { return None };
                let BindingPattern::BindingIdentifier(name) = &declarator.id else { return None };
                let (taking, _) = awaited_call(declarator.init.as_ref()?)?;
                (taking.span == call.span).then(|| Self::Handle(name.name.to_string()))
            }
            Statement::ExpressionStatement(_) => {
                let taking = called(statement)?;
                let Expression::StaticMemberExpression(member) = &taking.callee else { return None };
                let named = taking.span == call.span && is_plain(&member.object);
                named.then(|| Self::Lock(file.slice(member.object.span())))
            }
            _ => None,
        }
    }

    /// Whether a statement does nothing but give it back.
    fn is_released_by(&self, file: &File<'_, '_>, statement: &Statement<'_>) -> bool {
        called(statement).is_some_and(|call| self.is_released_in(file, call))
    }

    fn is_released_in(&self, file: &File<'_, '_>, call: &CallExpression<'_>) -> bool {
        match (&call.callee, self) {
            (Expression::Identifier(name), Self::Handle(handle)) => name.name == handle.as_str(),
            (Expression::StaticMemberExpression(member), _) => {
                let object = file.slice(member.object.span());
                let ours = match self {
                    Self::Handle(handle) => object == handle,
                    Self::Lock(lock) => object == *lock,
                };
                ours && GIVES.contains(&member.property.name.as_str())
            }
            _ => false,
        }
    }

    /// Whether more is done with a handle under the lock than to release it so many times.
    fn is_handed_on(&self, file: &File<'_, '_>, work: &[Statement<'_>], releases: usize) -> bool {
        let Self::Handle(handle) = self else { return false };
        let mentions = work.iter().map(|statement| occurrences(file.slice(statement.span()), handle).count());
        mentions.sum::<usize>() != releases
    }

    /// Whether it is used again after the release.
    fn is_mentioned(&self, file: &File<'_, '_>, behind: &[Statement<'_>]) -> bool {
        let name = match self {
            Self::Handle(handle) => handle.as_str(),
            Self::Lock(lock) => lock,
        };
        behind.iter().any(|statement| occurrences(file.slice(statement.span()), name).next().is_some())
    }
}

/// What stands behind the release, as far as it has to do with what is declared before it.
enum Behind<'s, 'a> {
    /// It uses nothing of it.
    Apart,
    /// A closing return uses it, and moves into the `try`.
    Return(&'s Statement<'a>),
    /// Something else uses it.
    Entangled,
}

impl<'s, 'a> Behind<'s, 'a> {
    fn of(
        file: &File<'_, '_>,
        before: &[Statement<'a>],
        work: &[Statement<'a>],
        behind: &'s [Statement<'a>],
    ) -> Self {
        let mut names = Declared::default();
        for statement in work {
            match statement {
                Statement::VariableDeclaration(_)
                | Statement::ClassDeclaration(_)
                | Statement::FunctionDeclaration(_) => names.visit_statement(statement),
                _ => {}
            }
        }
        let uses = |statement: &Statement<'_>| {
            names.0.iter().any(|name| occurrences(file.slice(statement.span()), name).next().is_some())
        };
        match behind {
            // A function may be used before it is declared.
            _ if before.iter().any(uses) => Self::Entangled,
            behind if !behind.iter().any(uses) => Self::Apart,
            // What it waits for would now be waited for under the lock.
            [only @ Statement::ReturnStatement(_)]
                if occurrences(file.slice(only.span()), "await").next().is_none() =>
            {
                Self::Return(only)
            }
            _ => Self::Entangled,
        }
    }
}

/// The names that statements declare for those around them.
#[derive(Default)]
struct Declared(Vec<String>);

impl<'a> Visit<'a> for Declared {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.0.push(it.name.to_string());
    }

    fn visit_expression(&mut self, _: &Expression<'a>) {}

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
        self.0.extend(it.id.as_ref().map(|name| name.name.to_string()));
    }
}

/// The releases on early ways out, which the `finally` makes superfluous. `None` if one stands where that is not plain.
fn early_releases(file: &File<'_, '_>, work: &[Statement<'_>], taken: &Taken<'_>) -> Option<Vec<Span>> {
    let mut search = Early { file, taken, found: Vec::new(), all: 0 };
    for statement in work {
        search.visit_statement(statement);
    }
    (search.all == search.found.len()).then_some(search.found)
}

struct Early<'s, 'f, 'a> {
    file: &'s File<'f, 'a>,
    taken: &'s Taken<'f>,
    /// Those that stand directly before a return or a throw.
    found: Vec<Span>,
    /// Every call that releases.
    all: usize,
}

impl<'a> Visit<'a> for Early<'_, '_, '_> {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.all += usize::from(self.taken.is_released_in(self.file, it));
        walk::walk_call_expression(self, it);
    }

    fn enter_node(&mut self, kind: AstKind<'a>) {
        let AstKind::BlockStatement(block) = kind else { return };
        for (one, next) in block.body.iter().zip(block.body.iter().skip(1)) {
            let exit =
                matches!(next, Statement::ReturnStatement(_) | Statement::ThrowStatement(_)) && leaves(next);
            if exit && self.taken.is_released_by(self.file, one) {
                self.found.push(one.span());
            }
        }
    }
}

/// The list, set anew: only indentation, the releases and the words around them change.
fn edits(
    file: &File<'_, '_>,
    taking: &Statement<'_>,
    release: &Statement<'_>,
    carried: Option<&Statement<'_>>,
    early: &[Span],
) -> Option<Vec<Edit>> {
    let newline = file.layout.newline;
    let base = file.indent(taking.span().start).to_owned();
    let unit = file.unit();
    let first = taking.span().end;
    let released = release.span();
    // The release must stand on lines of its own, or cutting it out would take something along.
    let line_start = line_start(file, released.start)?;
    let line_end = line_end(file, released.end)?;
    let dropped: Vec<(u32, u32)> = early.iter().map(|span| own_line(file, *span)).collect::<Option<_>>()?;
    let mut edits = vec![Edit::insert(first, format!("{newline}{base}try {{"))];
    for start in file.line_starts(first, line_start) {
        if !dropped.iter().any(|(from, to)| (*from..*to).contains(&start)) {
            edits.push(Edit::insert(start, unit));
        }
    }
    edits.extend(dropped.into_iter().map(|(start, end)| Edit::replace(start, end, "")));
    let text = file.slice(release.span());
    let ending = format!("{base}}} finally {{{newline}{base}{unit}{text}{newline}{base}}}{newline}");
    match carried {
        None => edits.push(Edit::replace(line_start, line_end, ending)),
        Some(statement) => {
            edits.push(Edit::replace(line_start, line_end, ""));
            let (start, end) = own_line(file, statement.span())?;
            let moved = file.deeper(statement.span());
            // Blank lines between the release and the return stay where they are.
            edits.push(Edit::replace(start, end, format!("{base}{unit}{moved}{newline}{ending}")));
        }
    }
    Some(edits)
}

/// The lines that a statement has for itself, from the beginning of the first to the beginning of the next one.
fn own_line(file: &File<'_, '_>, span: Span) -> Option<(u32, u32)> {
    Some((line_start(file, span.start)?, line_end(file, span.end)?))
}

/// Where the line begins, if only white space stands before the place.
fn line_start(file: &File<'_, '_>, at: u32) -> Option<u32> {
    let start = at - u32::try_from(file.indent(at).len()).ok()?;
    (start == 0 || file.between(start - 1, start) == "\n").then_some(start)
}

/// Where the next line begins, if only white space stands behind the place.
fn line_end(file: &File<'_, '_>, at: u32) -> Option<u32> {
    let rest = file.text.get(at as usize..)?;
    let (blank, _) = rest.split_once('\n')?;
    blank.trim().is_empty().then_some(at + u32::try_from(blank.len()).ok()? + 1)
}
