//! Loops and `switch`.

use interlock_model::ir::{Block, Bound, Effect, Exit, Op, Term, Value};
use oxc_ast::ast::{
    DoWhileStatement, Expression, ForInStatement, ForOfStatement, ForStatement, ForStatementInit,
    ForStatementLeft, Statement, SwitchCase, SwitchStatement, WhileStatement,
};
use oxc_span::GetSpan;

use super::{
    bind::loop_of,
    calls::Use,
    conditions::Test,
    context::{Binding, Lowerer, flag},
    statements::leaves,
    timers::{asks_the_clock, sleep},
    val::Val,
};

/// So many cases a `case` without a `break` runs into.
const MOST_FALLEN_THROUGH: usize = 8;

/// As many values of variables are noted where turns are left.
const MOST_LEFT: usize = 64;

/// A variable that a loop assigns: what stood for it before, and what stands for it at the head of each turn.
struct Carried {
    symbol: u32,
    before: Binding,
    head: Value,
}

/// What the variables of a loop stood for where a turn was left early.
#[derive(Debug, Default)]
pub(super) struct Left {
    symbols: Vec<u32>,
    /// By `continue`: the next turn sees it.
    continued: Vec<(u32, Value)>,
    /// By `break`: what follows the loop sees it.
    broken: Vec<(u32, Value)>,
}

impl<'a> Lowerer<'a> {
    /// Notes what the variables of the innermost loop stand for where it is left, or where its next turn begins.
    pub(super) fn leave_turn(&mut self, for_good: bool) {
        let Some(mut left) = self.cx.left.pop() else { return };
        for symbol in &left.symbols {
            let Some(binding) = self.binding(*symbol) else { continue };
            let ways = if for_good { &mut left.broken } else { &mut left.continued };
            if ways.len() < MOST_LEFT && !ways.contains(&(*symbol, binding.value)) {
                ways.push((*symbol, binding.value));
            }
        }
        self.cx.left.push(left);
    }

    pub(super) fn while_loop(&mut self, it: &WhileStatement<'a>) {
        if does_nothing(&it.body) && asks_the_clock(&it.test) {
            // Whoever spins until it is late enough sleeps, and keeps everybody else awake.
            let until = self.expression(&it.test);
            self.stand(it.span);
            self.push(sleep(until.flags));
            return;
        }
        self.stand(it.span);
        let at = self.at;
        self.turns(loop_of(&it.node_id), at, None, |this| {
            let bound = this.go_on_while(Some(&it.test));
            this.statement(&it.body);
            bound
        });
    }

    pub(super) fn do_loop(&mut self, it: &DoWhileStatement<'a>) {
        self.stand(it.span);
        let at = self.at;
        self.turns(loop_of(&it.node_id), at, None, |this| {
            this.statement(&it.body);
            this.go_on_while(Some(&it.test))
        });
    }

    pub(super) fn for_loop(&mut self, it: &ForStatement<'a>) {
        match &it.init {
            Some(ForStatementInit::VariableDeclaration(variables)) => self.variables(variables),
            Some(init) => {
                if let Some(expression) = init.as_expression() {
                    self.expression_for(expression, Use::Nothing);
                }
            }
            None => {}
        }
        self.stand(it.span);
        let at = self.at;
        self.turns(loop_of(&it.node_id), at, None, |this| {
            let bound = this.go_on_while(it.test.as_ref());
            this.statement(&it.body);
            if let Some(update) = &it.update {
                this.expression_for(update, Use::Nothing);
            }
            bound
        });
    }

    /// The test of a loop. One that depends on something the loop counts has an end.
    fn go_on_while(&mut self, test: Option<&Expression<'a>>) -> Bound {
        let Some(expression) = test else { return Bound::Unlimited };
        let test = self.condition(expression);
        let bound = if test.counted { Bound::Limited } else { Bound::Unlimited };
        if test.always != Some(true) && !test.on.is_empty() {
            self.leave_unless(test, expression.span());
        }
        bound
    }

    fn leave_unless(&mut self, test: Test, span: oxc_span::Span) {
        self.stand(span);
        let out = vec![Effect { span: self.at, op: Op::Exit(Exit::Break) }];
        let check = test.check(vec![], out);
        self.push(check);
    }

    pub(super) fn for_of(&mut self, it: &ForOfStatement<'a>) {
        let whole = self.all_of(&it.right);
        self.stand(it.span);
        let at = self.at;
        self.each(loop_of(&it.node_id), at, &it.left, whole, &it.body, it.r#await);
    }

    pub(super) fn for_in(&mut self, it: &ForInStatement<'a>) {
        let whole = self.expression(&it.right);
        self.stand(it.span);
        let at = self.at;
        let keys = Val::from_values(whole.values, 0);
        self.each(loop_of(&it.node_id), at, &it.left, keys, &it.body, false);
    }

    fn each(
        &mut self,
        number: u32,
        at: interlock_model::Span,
        left: &ForStatementLeft<'a>,
        whole: Val,
        body: &Statement<'a>,
        waits: bool,
    ) {
        let name = match left {
            ForStatementLeft::VariableDeclaration(variables) => variables
                .declarations
                .first()
                .and_then(|declarator| declarator.id.get_identifier_name())
                .map_or("item", |name| name.as_str()),
            _ => "item",
        };
        let name = self.names.get(name);
        let item = self.step(&name, whole.flags & flag::STATE);
        if !matches!(whole.shape, crate::Shape::Opaque | crate::Shape::Null) || whole.path_ref().is_some() {
            self.cx.items.push((item, whole.clone().into_arg()));
        }
        self.turns(number, at, Some(item), |this| {
            if waits {
                this.push(Op::Suspend);
            }
            // Which entry it is is not known, but whose.
            let term = whole.entry();
            this.push(Op::Derive { into: item, from: whole.values.clone(), term });
            let val = Val { direct: Some(item), ..Val::of(item, whole.flags & flag::STATE) };
            match left {
                ForStatementLeft::VariableDeclaration(variables) => {
                    if let Some(declarator) = variables.declarations.first() {
                        this.pattern(&declarator.id, val, true);
                    }
                }
                other => {
                    if let Some(target) = other.as_assignment_target() {
                        this.assign_pattern(target, val);
                    }
                }
            }
            this.statement(body);
            Bound::Each
        });
    }

    /// A loop around something. What the loop assigns is, at the head of each turn, either what it was before or what the turn
    /// before left.
    fn turns(
        &mut self,
        number: u32,
        at: interlock_model::Span,
        item: Option<Value>,
        body: impl FnOnce(&mut Self) -> Bound,
    ) {
        let mark = self.changes.len();
        let in_switch = std::mem::replace(&mut self.cx.in_switch, false);
        let (mut block, (carried, bound)) = self.branch(|this| {
            let carried = this.carry(number);
            let symbols = carried.iter().map(|carried| carried.symbol).collect();
            this.cx.left.push(Left { symbols, ..Left::default() });
            let bound = body(this);
            (carried, bound)
        });
        let left = self.cx.left.pop().unwrap_or_default();
        self.cx.in_switch = in_switch;
        let mut after = vec![];
        for (index, carried) in carried.iter().enumerate() {
            let end = self.binding(carried.symbol).map_or(carried.head, |binding| binding.value);
            let of_it = |ways: &[(u32, Value)]| -> Vec<Value> {
                ways.iter().filter(|(symbol, _)| *symbol == carried.symbol).map(|(_, value)| *value).collect()
            };
            if let Some(Effect { op: Op::Derive { from, .. }, .. }) = block.get_mut(index) {
                for end in of_it(&left.continued).into_iter().chain([end]) {
                    if end != carried.head && !from.contains(&end) {
                        from.push(end);
                    }
                }
            }
            let mut ends = vec![carried.before.value, end];
            for end in of_it(&left.broken) {
                if end != carried.head && !ends.contains(&end) {
                    ends.push(end);
                }
            }
            after.push((carried.symbol, ends));
        }
        self.undo(mark);
        let bound = if bound == Bound::Unlimited && self.gives_up(&block) { Bound::Limited } else { bound };
        self.push_at(at, Op::Loop { bound, item, body: block });
        for (symbol, ends) in after {
            let name = self.symbol_name(symbol);
            let flags = ends.iter().fold(0, |flags, end| flags | self.flags(*end)) & !flag::COUNTER;
            let value = self.derive(&name, ends, Term::Unknown, flags);
            self.set_value(symbol, value);
        }
    }

    fn carry(&mut self, number: u32) -> Vec<Carried> {
        let Some(facts) = self.facts.loops.get(number as usize) else { return vec![] };
        let (assigned, counted) = (facts.assigned.clone(), facts.counted.clone());
        let mut carried = vec![];
        for symbol in assigned {
            if self.facts.is_cell(symbol) || self.facts.symbol(symbol).is_none_or(|found| found.global) {
                continue;
            }
            let Some(before) = self.binding(symbol) else { continue };
            let name = self.symbol_name(symbol);
            let counts = if counted.contains(&symbol) { flag::COUNTER } else { 0 };
            let head =
                self.derive(&name, vec![before.value], Term::Unknown, self.flags(before.value) | counts);
            self.set_value(symbol, head);
            carried.push(Carried { symbol, before, head });
        }
        carried
    }

    /// Whether a loop without a limit of its own ends because it counts its turns: `if (++attempt > 5) throw …`.
    fn gives_up(&self, block: &Block) -> bool {
        block.iter().any(|effect| match &effect.op {
            Op::Check { on, then, otherwise, .. } => {
                let counts = on.iter().any(|value| self.flags(*value) & flag::COUNTER != 0);
                (counts && (leaves(then) || leaves(otherwise)))
                    || self.gives_up(then)
                    || self.gives_up(otherwise)
            }
            Op::Try { body, catch, finally } => {
                self.gives_up(body)
                    || catch.as_ref().is_some_and(|catch| self.gives_up(&catch.body))
                    || self.gives_up(finally)
            }
            _ => false,
        })
    }

    pub(super) fn switch(&mut self, it: &SwitchStatement<'a>) {
        let subject = self.expression(&it.discriminant);
        let on = self.judged(&subject);
        let in_switch = std::mem::replace(&mut self.cx.in_switch, true);
        let default = it.cases.iter().position(SwitchCase::is_default_case);
        self.cases(it, 0, default, &on);
        self.cx.in_switch = in_switch;
        // Functions that a case declares.
        for case in &it.cases {
            for statement in &case.consequent {
                if let Statement::FunctionDeclaration(function) = statement {
                    self.function_declaration(function);
                }
            }
        }
    }

    /// The cases from one on, as one check inside the other; the default is what is left in the end.
    fn cases(&mut self, it: &SwitchStatement<'a>, from: usize, default: Option<usize>, on: &[Value]) {
        let mut chain = vec![];
        let mark = self.changes.len();
        let mut ends = vec![];
        for (index, case) in it.cases.iter().enumerate().skip(from) {
            let Some(label) = &case.test else { continue };
            if self.full() {
                break;
            }
            let label_val = self.expression(label);
            let mut test_on = on.to_vec();
            super::val::merge(&mut test_on, &label_val.values);
            let equal = match &label_val.term {
                Term::Literal(text) => Some(text.clone()),
                _ => None,
            };
            let at = self.span(case.span);
            let (then, ()) = self.branch(|this| this.case_body(it, index));
            let end = self.undo(mark);
            if !leaves(&then) {
                ends.push(end);
            }
            chain.push((at, test_on, equal, then));
        }
        let (mut rest, ()) = self.branch(|this| {
            if let Some(default) = default {
                this.case_body(it, default);
            }
        });
        let end = self.undo(mark);
        if !leaves(&rest) {
            ends.push(end);
        }
        for (at, on, equal, then) in chain.into_iter().rev() {
            if then.is_empty() && rest.is_empty() {
                continue;
            }
            rest =
                vec![Effect { span: at, op: Op::Check { on, equal, asks: vec![], then, otherwise: rest } }];
        }
        self.cx.block.extend(rest);
        let mut ends = ends.into_iter();
        if let Some(first) = ends.next() {
            self.join(Some(first), None);
            for end in ends {
                // What the others left is joined one by one.
                let now: Vec<_> = end
                    .iter()
                    .filter_map(|(symbol, _)| self.binding(*symbol).map(|binding| (*symbol, binding)))
                    .collect();
                self.join(Some(end), Some(now));
            }
        }
    }

    /// What runs from a case on, up to its `break`.
    fn case_body(&mut self, it: &SwitchStatement<'a>, index: usize) {
        for case in it.cases.iter().skip(index).take(MOST_FALLEN_THROUGH) {
            self.statements(&case.consequent);
            let stops = case.consequent.last().is_some_and(stops);
            if stops || leaves(self.cx.block.get(self.cx.start..).unwrap_or_default()) {
                return;
            }
        }
    }
}

/// Whether a statement ends a case.
fn stops(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::BreakStatement(_)
        | Statement::ReturnStatement(_)
        | Statement::ThrowStatement(_)
        | Statement::ContinueStatement(_) => true,
        Statement::BlockStatement(block) => block.body.last().is_some_and(stops),
        _ => false,
    }
}

/// Whether a statement is empty.
fn does_nothing(it: &Statement<'_>) -> bool {
    match it {
        Statement::EmptyStatement(_) => true,
        Statement::BlockStatement(block) => block.body.iter().all(does_nothing),
        _ => false,
    }
}
