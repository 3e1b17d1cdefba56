//! The calls that a finding is about, each with what stands around it.

use interlock_model::Span;
use oxc_ast::{
    AstKind,
    ast::{CallExpression, Program, Statement},
};
use oxc_ast_visit::Visit;

/// A step may begin at the statement around its call: `const handle = await `.
const BEFORE: u32 = 80;

/// It may end behind it: `);`.
const BEHIND: u32 = 4;

/// A call and the nodes around it, outermost first; the call is not among them.
pub(super) struct CallSite<'a> {
    pub(super) call: &'a CallExpression<'a>,
    pub(super) around: Vec<AstKind<'a>>,
}

/// The calls at some spans, in the order of the text.
pub(super) fn calls<'a>(program: &Program<'a>, spans: &[Span]) -> Vec<CallSite<'a>> {
    let mut finder = Finder { spans, around: Vec::new(), found: Vec::new() };
    finder.visit_program(program);
    finder.found
}

struct Finder<'a, 's> {
    spans: &'s [Span],
    around: Vec<AstKind<'a>>,
    found: Vec<CallSite<'a>>,
}

impl<'a> Visit<'a> for Finder<'a, '_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        if let AstKind::CallExpression(call) = kind
            && self.spans.iter().any(|span| is_at(call, span))
        {
            self.found.push(CallSite { call, around: self.around.clone() });
        }
        self.around.push(kind);
    }

    fn leave_node(&mut self, _: AstKind<'a>) {
        self.around.pop();
    }
}

fn is_at(call: &CallExpression<'_>, span: &Span) -> bool {
    let starts = span.start <= call.span.start && call.span.start - span.start <= BEFORE;
    let ends = call.span.end <= span.end && span.end - call.span.end <= BEHIND;
    starts && ends
}

impl<'a> CallSite<'a> {
    /// The node that many levels out; 0 is the direct parent.
    pub(super) fn parent(&self, level: usize) -> Option<AstKind<'a>> {
        self.around.iter().rev().nth(level).copied()
    }
}

/// The statements that a node lists, if it lists any.
pub(super) fn statements<'a>(kind: AstKind<'a>) -> Option<&'a [Statement<'a>]> {
    match kind {
        AstKind::Program(program) => Some(&program.body),
        AstKind::FunctionBody(body) => Some(&body.statements),
        AstKind::BlockStatement(block) => Some(&block.body),
        AstKind::SwitchCase(case) => Some(&case.consequent),
        _ => None,
    }
}

/// Whether a node is a function or a class, beyond which other rules hold.
pub(super) fn is_function(kind: AstKind<'_>) -> bool {
    matches!(kind, AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) | AstKind::StaticBlock(_))
}

/// Whether a node repeats what is in it.
pub(super) fn is_loop(kind: AstKind<'_>) -> bool {
    matches!(
        kind,
        AstKind::ForStatement(_)
            | AstKind::ForInStatement(_)
            | AstKind::ForOfStatement(_)
            | AstKind::WhileStatement(_)
            | AstKind::DoWhileStatement(_)
    )
}

/// Whether one stretch lies inside another.
pub(super) fn within(inner: oxc_span::Span, outer: oxc_span::Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
