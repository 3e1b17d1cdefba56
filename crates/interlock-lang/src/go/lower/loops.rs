//! `for`.

use interlock_model::ir::{Bound, Effect, Exit, Op};

use super::{
    super::ast::{Expr, For, Kind, Place, Stmt, StmtKind},
    Lowerer,
};
use crate::{
    Shape,
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    pub(super) fn for_statement(&mut self, at: Place, it: &'a For<'a>) {
        self.turns.push(at.0);
        self.turns_of(at, it);
        self.turns.pop();
    }

    fn turns_of(&mut self, at: Place, it: &'a For<'a>) {
        match it {
            For::Clause { initial, condition, update, body } => {
                if let Some(initial) = initial {
                    self.statement(initial);
                }
                self.stand(at);
                let assigned = self.assigned_in(at.0);
                if let Some(update) = update {
                    self.count(update);
                }
                let turn = self.begin_turn(&assigned, None);
                let mut bound = if update.is_some() { Bound::Limited } else { Bound::Unlimited };
                if let Some(condition) = condition {
                    let test = self.condition(condition);
                    if test.counted {
                        bound = Bound::Limited;
                    }
                    if test.always != Some(true) && !test.on.is_empty() {
                        self.stand(condition.at);
                        let out = vec![Effect { span: self.at, op: Op::Exit(Exit::Break) }];
                        self.push(test.check(vec![], out));
                    }
                } else {
                    bound = Bound::Unlimited;
                }
                self.statements(body);
                if let Some(update) = update {
                    self.statement(update);
                }
                self.end_turn(turn, bound, false);
            }
            For::Range { left, over, body, .. } => self.range(at, left, over, body),
        }
    }

    fn range(&mut self, at: Place, left: &'a [Expr<'a>], over: &'a Expr<'a>, body: &'a [Stmt<'a>]) {
        if self.is_time(over) {
            return self.ticks(at, left, over, body);
        }
        let mut whole = self.expression(over);
        self.stand(at);
        if let Kind::Selector(_, field) = &over.kind
            && self.copied.contains(field)
        {
            // Each turn has a copy of the entry: what is set there is seen by nobody.
            whole = Val::from_values(whole.values, whole.flags & !flag::STATE);
        }
        let named = left.last().and_then(|it| match it.kind {
            Kind::Name(name) if name != "_" => Some(name),
            _ => None,
        });
        let name = self.name(named.unwrap_or("item"));
        let counter = if matches!(whole.shape, Shape::Number(_)) { flag::COUNTER } else { 0 };
        let item = self.step(&name, whole.flags & flag::STATE | counter);
        if !matches!(whole.shape, Shape::Opaque | Shape::Null) || whole.path_ref().is_some() {
            self.work.cx.items.push((item, whole.clone().into_arg()));
        }
        let assigned = self.assigned_in(at.0);
        let turn = self.begin_turn(&assigned, Some(item));
        // Which entry it is is not known, but whose.
        let term = whole.entry();
        self.push(Op::Derive { into: item, from: whole.values.clone(), term });
        let symbols = left.iter().filter_map(|it| self.facts.meant(it.at.0)).collect::<Vec<_>>();
        self.ranged.extend(symbols);
        let flags = whole.flags & flag::STATE | counter;
        match left {
            // `for i := range 3`, `for key := range m`.
            [only] => {
                let val = Val { direct: None, ..Val::from_values(vec![item], counter) };
                self.assign_to(only, val);
            }
            [key, value] => {
                let val = Val { direct: None, ..Val::from_values(vec![item], 0) };
                self.assign_to(key, val);
                self.assign_to(value, Val { direct: Some(item), ..Val::of(item, flags) });
            }
            _ => {}
        }
        self.statements(body);
        self.end_turn(turn, if counter != 0 { Bound::Limited } else { Bound::Each }, false);
    }

    /// `for range ticker.C`: such a channel is never closed, so this goes on until something inside leaves it.
    fn ticks(&mut self, at: Place, left: &'a [Expr<'a>], over: &'a Expr<'a>, body: &'a [Stmt<'a>]) {
        self.stand(at);
        let assigned = self.assigned_in(at.0);
        let turn = self.begin_turn(&assigned, None);
        self.waits_for_time(over.at, over);
        if let [now] = left {
            self.assign_to(now, Val::nothing());
        }
        self.statements(body);
        self.end_turn(turn, Bound::Unlimited, false);
    }

    /// The variables of this function that a loop assigns.
    fn assigned_in(&self, place: u32) -> Vec<u32> {
        let own = |symbol: &u32| {
            self.facts.symbol(*symbol).is_some_and(|found| found.function == self.cx.id && !found.receiver)
                && !self.facts.is_cell(*symbol)
        };
        self.facts.assigned_in(place).iter().copied().filter(own).collect()
    }

    /// `for attempt := 0; attempt < 5; attempt++`: what is counted.
    fn count(&mut self, update: &'a Stmt<'a>) {
        let StmtKind::Assign(targets, "+=" | "-=", _) = &update.kind else { return };
        let [Expr { kind: Kind::Name(_), at }] = targets.as_slice() else { return };
        let binding = self.facts.meant(at.0).and_then(|symbol| self.bindings.get(&symbol));
        if let Some(value) = binding.map(|binding| binding.value) {
            self.add_flags(value, flag::COUNTER);
        }
    }
}
