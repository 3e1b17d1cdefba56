//! Loops, and what `match` takes apart.

use interlock_model::ir::{Bound, Effect, Exit, Name, Op, Term, Value};
use ruff_python_ast::{Expr, Pattern, StmtFor, StmtWhile};

use super::{context::Lowerer, expressions::start};
use crate::{
    Shape,
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    pub(super) fn while_loop(&mut self, it: &'a StmtWhile) {
        self.stand(it);
        self.turns(start(it), None, |this| {
            let test = this.condition(&it.test);
            let bound = if test.counted { Bound::Limited } else { Bound::Unlimited };
            let tested = test.always != Some(true) && !test.on.is_empty();
            if tested {
                this.stand(&*it.test);
                let out = vec![Effect { span: this.at, op: Op::Exit(Exit::Break) }];
                this.push(test.check(vec![], out));
            }
            this.statements(&it.body);
            (bound, tested)
        });
        self.statements(&it.orelse);
    }

    pub(super) fn for_loop(&mut self, it: &'a StmtFor) {
        let counts = is_range(&it.iter);
        let whole = self.all_of(&it.iter);
        self.stand(it);
        let name = self.name(item_name(&it.target));
        let counter = if counts { flag::COUNTER } else { 0 };
        let item = self.step(&name, whole.flags & flag::STATE | counter);
        if !matches!(whole.shape, Shape::Opaque | Shape::Null) || whole.path_ref().is_some() {
            self.cx.items.push((item, whole.clone().into_arg()));
        }
        self.turns(start(it), Some(item), |this| {
            if it.is_async {
                this.push(Op::Suspend);
            }
            // Which entry it is is not known, but whose.
            let term = whole.entry();
            this.push(Op::Derive { into: item, from: whole.values.clone(), term });
            let flags = whole.flags & flag::STATE | counter;
            this.assign_to(&it.target, Val { direct: Some(item), ..Val::of(item, flags) });
            this.statements(&it.body);
            // `for attempt in range(3)` is a loop that gives up.
            (if counts { Bound::Limited } else { Bound::Each }, false)
        });
        self.statements(&it.orelse);
    }

    /// A loop around something. `body` says what bounds it, and whether a test at the head is the way out.
    fn turns(&mut self, place: u32, item: Option<Value>, body: impl FnOnce(&mut Self) -> (Bound, bool)) {
        let own = |symbol: &u32| {
            let here = self.facts.symbol(*symbol).is_some_and(|found| found.function == self.cx.id);
            here && self.cx.id != 0 && !self.facts.is_cell(*symbol)
        };
        let assigned: Vec<u32> = self.facts.assigned_in(place).iter().copied().filter(own).collect();
        let before = self.scope.entered;
        let turn = self.begin_turn(&assigned, item);
        let (bound, tested) = body(self);
        self.scope.entered = before;
        self.end_turn(turn, bound, tested);
    }

    /// The texts that a pattern asks for, one of which it has to be: `case "one" | "two"`.
    pub(super) fn literals_of(&mut self, pattern: &'a Pattern) -> Vec<Name> {
        let Pattern::MatchOr(it) = pattern else { return vec![] };
        let texts = it.patterns.iter().map(|pattern| self.literal_of(pattern));
        texts.collect::<Option<Vec<Name>>>().unwrap_or_default()
    }

    /// The text that a pattern asks for.
    pub(super) fn literal_of(&mut self, pattern: &'a Pattern) -> Option<Name> {
        match pattern {
            Pattern::MatchValue(it) => match self.expression(&it.value).term {
                Term::Literal(text) => Some(text),
                _ => self.constant(&it.value),
            },
            Pattern::MatchAs(it) => self.literal_of(it.pattern.as_deref()?),
            _ => None,
        }
    }

    /// The names that a pattern binds depend on what is matched.
    pub(super) fn bind_pattern(&mut self, pattern: &'a Pattern, subject: &Val) {
        let part = || Val::from_values(subject.values.clone(), subject.flags);
        match pattern {
            Pattern::MatchAs(it) => {
                if let Some(inner) = &it.pattern {
                    self.bind_pattern(inner, subject);
                }
                if let Some(name) = &it.name {
                    self.assign_name(name.as_str(), Val { direct: None, ..subject.clone() }, None);
                }
            }
            Pattern::MatchStar(it) => {
                if let Some(name) = &it.name {
                    self.assign_name(name.as_str(), part(), None);
                }
            }
            Pattern::MatchSequence(it) => {
                it.patterns.iter().for_each(|inner| self.bind_pattern(inner, &part()));
            }
            Pattern::MatchMapping(it) => {
                it.patterns.iter().for_each(|inner| self.bind_pattern(inner, &part()));
                if let Some(name) = &it.rest {
                    self.assign_name(name.as_str(), part(), None);
                }
            }
            Pattern::MatchClass(it) => {
                it.arguments.patterns.iter().for_each(|inner| self.bind_pattern(inner, &part()));
                it.arguments.keywords.iter().for_each(|inner| self.bind_pattern(&inner.pattern, &part()));
            }
            Pattern::MatchOr(it) => it.patterns.iter().for_each(|inner| self.bind_pattern(inner, subject)),
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
        }
    }
}

/// What the items of a loop are called.
pub(super) fn item_name(target: &Expr) -> &str {
    match target {
        Expr::Name(it) => it.id.as_str(),
        _ => "item",
    }
}

/// `range(…)`: a number that is counted up.
fn is_range(iter: &Expr) -> bool {
    let Expr::Call(call) = iter else { return false };
    matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "range")
}
