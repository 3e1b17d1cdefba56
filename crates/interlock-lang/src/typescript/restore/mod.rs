//! What compilers write for older engines and other kinds of modules, turned back into what was written before anything is read.
//!
//! Nobody writes these by hand, so only JavaScript is looked through, and of that what has a word in it that compilers use.

mod fields;
mod imports;
mod nullish;
mod steps;

use memchr::memmem;
use oxc_allocator::Allocator;
use oxc_ast::{
    ast::{ArrowFunctionBody, ArrowFunctionExpression, CallExpression, Expression, Function, Program},
    builder::AstBuilder,
};
use oxc_ast_visit::{VisitJsMut, walk_js_mut};
use oxc_syntax::scope::ScopeFlags;

use self::steps::{Steps, hand_over};

/// Words that stand in what a compiler wrote.
const MARKS: [&str; 8] = [
    "(0,",
    "!== void 0 ?",
    "Promise.resolve(",
    "__awaiter(",
    "__async(",
    "enerator(",
    "__publicField(",
    "_define",
];

/// Turns back what a compiler wrote.
pub(crate) fn restore<'a>(allocator: &'a Allocator, program: &mut Program<'a>) {
    let text = program.source_text.as_bytes();
    if program.source_type.is_javascript()
        && MARKS.iter().any(|mark| memmem::find(text, mark.as_bytes()).is_some())
    {
        Restorer { builder: AstBuilder::new(allocator), waits: false }.visit_program(program);
    }
}

struct Restorer<'a> {
    builder: AstBuilder<'a>,
    /// Whether `yield` waits here.
    waits: bool,
}

impl<'a> VisitJsMut<'a> for Restorer<'a> {
    fn visit_function(&mut self, it: &mut Function<'a>, flags: ScopeFlags) {
        let steps = it.body.as_mut().and_then(|body| self.returned(body));
        let waits = steps.is_some();
        if let Some(Steps { parameters, body }) = steps {
            it.r#async = true;
            hand_over(&mut it.params, parameters);
            it.body = Some(body);
        }
        self.inside(waits, |this| walk_js_mut::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &mut ArrowFunctionExpression<'a>) {
        let steps = match &mut it.body {
            ArrowFunctionBody::FunctionBody(body) => self.returned(body),
            ArrowFunctionBody::CallExpression(call) => self.steps(call),
            _ => None,
        };
        let waits = steps.is_some();
        if let Some(Steps { parameters, body }) = steps {
            it.r#async = true;
            hand_over(&mut it.params, parameters);
            it.body = ArrowFunctionBody::FunctionBody(body);
        }
        self.inside(waits, |this| walk_js_mut::walk_arrow_function_expression(this, it));
    }

    fn visit_expression(&mut self, it: &mut Expression<'a>) {
        let written = match it {
            Expression::YieldExpression(wait) if self.waits && !wait.delegate => {
                let (span, argument) = (wait.span, wait.argument.take());
                let argument = argument.unwrap_or_else(|| Expression::new_void_0(span, &self.builder));
                Some(Expression::new_await_expression(span, argument, &self.builder))
            }
            Expression::CallExpression(call) => {
                self.called_at_once(call).or_else(|| self.field(call)).or_else(|| self.import(call))
            }
            Expression::ConditionalExpression(choice) => self.nullish(choice),
            _ => None,
        };
        if let Some(written) = written {
            *it = written;
        }
        walk_js_mut::walk_expression(self, it);
    }

    /// `(0, module.name)(…)` is written so that the call has no receiver.
    fn visit_call_expression(&mut self, it: &mut CallExpression<'a>) {
        if let Expression::SequenceExpression(sequence) = &mut it.callee
            && matches!(sequence.expressions.as_slice(), [Expression::NumericLiteral(_), _])
            && let Some(last) = sequence.expressions.pop()
        {
            it.callee = last;
        }
        walk_js_mut::walk_call_expression(self, it);
    }
}

impl Restorer<'_> {
    /// Looks into a function in which `yield` waits or does not.
    fn inside(&mut self, waits: bool, look: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.waits, waits);
        look(self);
        self.waits = outside;
    }
}
