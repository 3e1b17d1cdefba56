//! `if`, `switch` and `select`: one of several ways.

use interlock_model::{
    Span,
    ir::{Aspect, Block, Condition, Name, Op, Resource, Term, Value},
};

use super::{
    super::ast::{Case, If, Kind, Place, Stmt, StmtKind, Switch},
    Lowerer,
    conditions::Test,
};
use crate::{
    lower::{Binding, leaves},
    val::{Val, merge},
};

/// More ways than this of one decision are not told apart: each is a level of nesting.
const MOST_WAYS: usize = 100;

/// The steps of a way, and what variables stand for at its end.
type Way = (Block, Vec<(u32, Binding)>);

impl<'a> Lowerer<'a> {
    pub(super) fn if_statement(&mut self, it: &'a If<'a>) {
        if let Some(initial) = &it.initial {
            self.statement(initial);
        }
        self.stand(it.condition.at);
        let at = self.at;
        let test = self.condition(&it.condition);
        let one = self.way(|this| this.statements(&it.then));
        let two = self.way(|this| {
            if let Some(otherwise) = &it.otherwise {
                this.statement(otherwise);
            }
        });
        self.decide(at, test, one, two);
    }

    fn way(&mut self, inner: impl FnOnce(&mut Self)) -> Way {
        let mark = self.mark();
        let opened = self.open(true);
        inner(self);
        let block = self.close(opened);
        let changed = self.undo(mark);
        (block, changed)
    }

    /// Goes one of two ways, and on from where they end.
    fn decide(&mut self, at: Span, test: Test, (then, one): Way, (otherwise, two): Way) {
        let one = (!leaves(&then)).then_some(one);
        let two = (!leaves(&otherwise)).then_some(two);
        if !then.is_empty() || !otherwise.is_empty() {
            self.push_at(at, test.check(then, otherwise));
        }
        self.join(one, two);
    }

    pub(super) fn switch(&mut self, at: Place, it: &'a Switch<'a>) {
        if let Some(initial) = &it.initial {
            self.statement(initial);
        }
        let subject = it.value.as_ref().map(|value| self.expression(value));
        self.stand(at);
        let on = match &subject {
            Some(subject) => self.judged(subject),
            None => vec![],
        };
        // The default is the way of a no to all others, wherever it stands.
        let cases: Vec<&'a Case<'a>> = it.cases.iter().filter(|case| !case.is_default).collect();
        let default = it.cases.iter().find(|case| case.is_default);
        self.cases(&cases, default, (subject.as_ref(), &on), MOST_WAYS);
    }

    fn cases(
        &mut self,
        cases: &[&'a Case<'a>],
        default: Option<&'a Case<'a>>,
        (subject, on): (Option<&Val>, &[Value]),
        left: usize,
    ) {
        let Some(((case, rest), left)) = cases.split_first().zip(left.checked_sub(1)) else {
            if let Some(case) = default {
                self.case_body(case, subject);
            }
            return;
        };
        self.stand(case.at);
        let at = self.at;
        let test = self.case_test(case, subject.is_some(), on);
        let one = self.way(|this| this.case_body(case, subject));
        let two = self.way(|this| this.cases(rest, default, (subject, on), left));
        self.decide(at, test, one, two);
    }

    fn case_body(&mut self, case: &'a Case<'a>, subject: Option<&Val>) {
        // Each case of a type switch has the thing by a name of its own, and knows more of it.
        if let (Some(symbol), Some(subject)) = (self.facts.meant(case.at.0), subject) {
            let val = Val { direct: None, ..subject.clone() };
            let val = match case.types.as_slice() {
                [only] => self.asserted(val, only),
                _ => val,
            };
            self.bind_local(symbol, val);
        }
        // A `break` ends the switch, and not a loop around it; behind it nothing follows.
        let end = match case.body.last().map(|last| &last.kind) {
            Some(StmtKind::Break) => case.body.len() - 1,
            _ => case.body.len(),
        };
        self.statements(case.body.get(..end).unwrap_or_default());
    }

    fn case_test(&mut self, case: &'a Case<'a>, has_subject: bool, on: &[Value]) -> Test {
        if let ([only], false) = (case.values.as_slice(), has_subject) {
            return self.condition(only);
        }
        let mut test = Test { on: on.to_vec(), ..Test::default() };
        let mut texts: Vec<Name> = vec![];
        for value in &case.values {
            let val = self.expression(value);
            if let (Kind::Text(_) | Kind::Name(_), Term::Literal(text)) = (&value.kind, &val.term) {
                texts.push(text.clone());
            }
            // Of several constants none would be found by its name.
            let val = if case.values.len() == 1 { self.constant(val) } else { val };
            merge(&mut test.on, &val.values);
        }
        match texts.len() {
            0 | 1 => test.equal = texts.pop(),
            _ => test.texts = texts,
        }
        test
    }

    /// `select`: whichever comes first.
    pub(super) fn select(&mut self, cases: &'a [Case<'a>]) {
        let waiting: Vec<&'a Case<'a>> = cases.iter().filter(|case| !case.is_default).collect();
        let default = cases.iter().find(|case| case.is_default);
        self.selected(&waiting, default, MOST_WAYS);
    }

    fn selected(&mut self, cases: &[&'a Case<'a>], default: Option<&'a Case<'a>>, left: usize) {
        let Some(((case, rest), left)) = cases.split_first().zip(left.checked_sub(1)) else {
            if let Some(case) = default {
                self.case_body(case, None);
            }
            return;
        };
        let run = |this: &mut Self| {
            if let Some(waits) = &case.waits {
                this.statement(waits);
            }
            this.case_body(case, None);
        };
        if rest.is_empty() && default.is_none() {
            return run(self);
        }
        self.stand(case.at);
        let at = self.at;
        let test = if default.is_some() { self.is_closed(case) } else { Test::default() };
        let one = self.way(run);
        let two = self.way(|this| this.selected(rest, default, left));
        self.decide(at, test, one, two);
    }

    /// `case <-s.done:` beside a `default` asks whether the channel is closed.
    fn is_closed(&mut self, case: &'a Case<'a>) -> Test {
        let Some(Stmt { kind: StmtKind::Expr(waits), .. }) = &case.waits else { return Test::default() };
        let Kind::Unary("<-", channel) = &waits.kind else { return Test::default() };
        if self.permits.contains_key(&waits.at.0) {
            return Test::default();
        }
        if !matches!(channel.kind, Kind::Name(_) | Kind::Selector(..)) {
            return Test::default();
        }
        let place = self.place(channel);
        let Some(path) = place.path_ref().cloned().filter(|path| self.is_state(path)) else {
            return Test::default();
        };
        let into = self.step(&"closed".into(), 0);
        let (of, aspect, demands) = (Resource::Flag(path), Aspect::Content, Condition::default());
        self.push(Op::Read { into, of, aspect, locking: false, unique: false, demands, via: None });
        Test { on: vec![into], ..Test::default() }
    }
}
