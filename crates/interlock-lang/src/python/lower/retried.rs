//! Functions that a decorator calls again until they succeed: `@retry(stop=stop_after_attempt(3))`.

use std::{collections::BTreeMap, sync::LazyLock};

use interlock_model::ir::{Backoff, Bound, Catch, Effect, Exit, Op};
use ruff_python_ast::{Arguments, Decorator, Expr, Stmt};
use ruff_text_size::TextRange;
use serde::Deserialize;

use super::context::Lowerer;
use crate::lower::leaves;

/// What a library's decorators are called, and what their arguments say. The head of `retries.toml` explains it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Library {
    decorators: Vec<String>,
    bounds: Vec<String>,
    pause: Option<String>,
    growing: Vec<String>,
    drawn: Vec<String>,
    always: bool,
}

const TEXT: &str = include_str!("../retries.toml");

/// The table, read once. That it can be read is tested.
fn libraries() -> &'static BTreeMap<String, Library> {
    static LIBRARIES: LazyLock<BTreeMap<String, Library>> =
        LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());
    &LIBRARIES
}

/// How a function is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retried {
    /// The decorator.
    range: TextRange,
    bounded: bool,
    /// Whether the pause between two tries grows, and whether it differs from caller to caller; `None` without a pause.
    pause: Option<(bool, bool)>,
}

impl<'a> Lowerer<'a> {
    /// Whether a decorator calls the function again, and how.
    pub(super) fn retried(&mut self, decorators: &'a [Decorator]) -> Option<Retried> {
        decorators.iter().find_map(|decorator| {
            let (callee, arguments) = match &decorator.expression {
                Expr::Call(call) => (&*call.func, Some(&call.arguments)),
                other => (other, None),
            };
            let (module, name) = self.library_call(callee);
            let library = libraries().get(&module)?;
            let calls = library.decorators.iter().any(|decorator| decorator == name);
            calls.then(|| library.read(decorator.range, arguments))
        })
    }

    /// The statements of such a function: they are tried, and whatever fails comes round again.
    pub(super) fn try_again(&mut self, how: Retried, body: &'a [Stmt]) {
        self.stand(&how.range);
        let at = self.at;
        let (mut tried, ()) = self.nested(|this| this.statements(body));
        if !leaves(&tried) {
            tried.push(Effect { span: at, op: Op::Exit(Exit::Break) });
        }
        let pause = how.pause.map(|(grows, drawn)| {
            let backoff = if grows { Backoff::Growing } else { Backoff::Fixed };
            Effect { span: at, op: Op::Sleep { backoff, jitter: drawn } }
        });
        let catch = Some(Catch { error: None, body: pause.into_iter().collect() });
        let attempt = Effect { span: at, op: Op::Try { body: tried, catch, finally: vec![] } };
        let bound = if how.bounded { Bound::Limited } else { Bound::Unlimited };
        self.push_at(at, Op::Loop { bound, item: None, body: vec![attempt] });
    }
}

impl Library {
    fn read(&self, range: TextRange, arguments: Option<&Arguments>) -> Retried {
        if self.always {
            return Retried { range, bounded: true, pause: Some((true, true)) };
        }
        let named = |name: &str| arguments.and_then(|it| it.find_keyword(name)).map(|keyword| &keyword.value);
        let place = |name: &str| name.parse().ok().and_then(|place: usize| arguments?.args.get(place));
        let pause = self.pause.as_deref().and_then(|name| Some((name, named(name).or_else(|| place(name))?)));
        let says = |words: &[String]| {
            pause.is_some_and(|(name, given)| words.iter().any(|word| word == name) || mentions(given, words))
        };
        Retried {
            range,
            bounded: self.bounds.is_empty() || self.bounds.iter().any(|bound| named(bound).is_some()),
            pause: pause.map(|_| (says(&self.growing), says(&self.drawn))),
        }
    }
}

/// Whether an expression calls or names one of some words: `wait_fixed(3) + wait_random(0, 2)`.
fn mentions(expression: &Expr, words: &[String]) -> bool {
    match expression {
        Expr::Name(it) => words.iter().any(|word| word == it.id.as_str()),
        Expr::Attribute(it) => words.iter().any(|word| word == it.attr.as_str()),
        Expr::Call(it) => mentions(&it.func, words),
        Expr::BinOp(it) => mentions(&it.left, words) || mentions(&it.right, words),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read() {
        let read: BTreeMap<String, Library> = toml::from_str(TEXT).unwrap();
        assert!(read.values().all(|library| !library.decorators.is_empty()));
    }
}
