//! The statements of a function, looked through for the moves that locks are made of.

use oxc_ast::ast::{
    ArrowFunctionBody, BindingPattern, Expression, FunctionBody, Statement, VariableDeclarator,
};
use oxc_span::{GetSpan, Span};
use oxc_syntax::operator::BinaryOperator;

use super::{
    forms::{derived_from, gate, hangs_on, never_fails, parameters_of, timer_body, without_rescue},
    places::{Place, Slot, argument, method, place, without_default},
};
use crate::typescript::lower::{
    bind::{meaning_of, symbol_of},
    context::Lowerer,
};

/// A chain `object.then(callback, …)`.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// The call of `then`.
    pub(super) span: Span,
    /// What waits: the slot that holds the tail.
    pub(super) slot: Slot,
    /// The variable that the chain is kept in.
    pub(super) kept: Option<u32>,
    /// Whether it also runs after a failure of the one before.
    pub(super) in_spite: bool,
}

/// What is put into a slot.
#[derive(Debug, Clone)]
pub(super) enum Stored {
    /// A promise that `release` settles.
    Gate { release: u32 },
    /// A variable.
    Variable(u32),
    /// What hangs on a variable or on a chain written right there; whether a failure stops there, and on what it hangs.
    Derived { of: Option<u32>, swallows: bool },
}

/// Something put into a slot.
#[derive(Debug, Clone)]
pub(super) struct Put {
    pub(super) statement: Span,
    pub(super) slot: Slot,
    pub(super) stored: Stored,
    /// How many loops on the same slot's emptiness stand before it.
    pub(super) order: usize,
}

/// An entry taken out of a map.
#[derive(Debug, Clone)]
pub(super) struct Removed {
    pub(super) span: Span,
    pub(super) slot: Slot,
    /// The variable that the entry was compared with, and where.
    pub(super) compared: Option<(u32, Span)>,
    /// Whether some other condition stands around it.
    pub(super) guarded: bool,
    /// Whether a timer does it.
    pub(super) by_timer: bool,
}

/// What was seen, in order.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// `const previous = this.tail`.
    pub(super) previous: Vec<(u32, Slot, Span)>,
    /// `const gate = new Promise((r) => (release = r))`: the promise and what settles it.
    pub(super) gates: Vec<(u32, u32, Span)>,
    pub(super) chains: Vec<Chain>,
    pub(super) puts: Vec<Put>,
    /// `const tail = run.catch(() => {})`.
    pub(super) derived: Vec<Derived>,
    /// `await previous`: the variable, the statement and its order.
    pub(super) awaits: Vec<(u32, Span, usize)>,
    /// `await this.tail`, or `if (locks.has(k)) await locks.get(k)`: the slot, whether it is asked again after each wait, the
    /// statement and its order.
    pub(super) waits: Vec<(Slot, bool, Span, usize)>,
    pub(super) removed: Vec<Removed>,
    /// Resolvers that are queued: `queue.push(resolve)`.
    pub(super) queued: Vec<(Place, Span)>,
    /// `queue.shift()`.
    pub(super) dequeued: Vec<Place>,
    /// Parameters that settle a promise, and variables that hold what was dequeued.
    resolvers: Vec<u32>,
    taken: Vec<(u32, Place)>,
    /// `this.locked = true`, `this.active++`: the place, what it is set to, and where.
    pub(super) flags: Vec<(Place, Flag, Span)>,
    order: usize,
}

/// A variable that hangs on another.
#[derive(Debug, Clone)]
pub(super) struct Derived {
    pub(super) symbol: u32,
    pub(super) of: u32,
    /// Whether a failure stops there.
    pub(super) swallows: bool,
    pub(super) span: Span,
}

/// What a flag is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    True,
    False,
    Up,
    Down,
}

/// How far into nested statements and callbacks is looked.
const DEEPEST: usize = 12;

/// Around what a statement stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    depth: usize,
    compared: Option<(u32, Span)>,
    guarded: bool,
    by_timer: bool,
}

impl<'a> Lowerer<'a> {
    pub(super) fn look(&self, statements: &[Statement<'a>], seen: &mut Seen, around: Around) {
        if around.depth > DEEPEST {
            return;
        }
        for statement in statements {
            seen.order += 1;
            self.look_at(statement, seen, around);
        }
    }

    fn look_at(&self, statement: &Statement<'a>, seen: &mut Seen, around: Around) {
        let inner = Around { depth: around.depth + 1, ..around };
        match statement {
            Statement::BlockStatement(it) => self.look(&it.body, seen, inner),
            Statement::VariableDeclaration(it) => {
                for declarator in &it.declarations {
                    self.look_declared(declarator, it.span, seen, inner);
                }
            }
            Statement::ExpressionStatement(it) => self.look_expression(&it.expression, it.span, seen, inner),
            Statement::ReturnStatement(it) => {
                if let Some(argument) = &it.argument {
                    self.look_expression(argument, it.span, seen, inner);
                }
            }
            Statement::IfStatement(it) => {
                let compared = self.comparison(&it.test);
                // Who leaves after the wait takes nothing: the work was done for it. Who begins anew asks again.
                if let Some(slot) = self.occupied(&it.test)
                    && self.awaits_inside(&it.consequent)
                    && let Some(asked_again) = goes_on(&it.consequent)
                    && waits(&it.consequent)
                {
                    seen.waits.push((slot, asked_again, it.span, seen.order));
                }
                let guarded = around.guarded || compared.is_none();
                let branch = Around { compared: compared.or(around.compared), guarded, ..inner };
                self.look_at(&it.consequent, seen, branch);
                if let Some(alternate) = &it.alternate {
                    self.look_at(alternate, seen, branch);
                }
            }
            Statement::WhileStatement(it) => {
                if let Some(slot) = self.occupied(&it.test)
                    && self.awaits_inside(&it.body)
                {
                    seen.waits.push((slot, true, it.span, seen.order));
                    return;
                }
                self.look_at(&it.body, seen, Around { guarded: true, ..inner });
            }
            Statement::TryStatement(it) => {
                self.look(&it.block.body, seen, inner);
                if let Some(handler) = &it.handler {
                    self.look(&handler.body.body, seen, Around { guarded: true, ..inner });
                }
                if let Some(finalizer) = &it.finalizer {
                    self.look(&finalizer.body, seen, inner);
                }
            }
            _ => {}
        }
    }

    fn look_declared(
        &self,
        declarator: &VariableDeclarator<'a>,
        span: Span,
        seen: &mut Seen,
        around: Around,
    ) {
        let Some(init) = &declarator.init else { return };
        if let BindingPattern::ObjectPattern(pattern) = &declarator.id {
            if let Some((object, "withResolvers", _)) = method(init) {
                if !matches!(object, Expression::Identifier(id) if id.name == "Promise") {
                    return;
                }
                let part = |name: &str| {
                    let property =
                        pattern.properties.iter().find(|it| it.key.is_specific_static_name(name))?;
                    symbol_of(&property.value.get_binding_identifier()?.symbol_id)
                };
                if let (Some(promise), Some(resolve)) = (part("promise"), part("resolve")) {
                    seen.gates.push((promise, resolve, span));
                }
            }
            return;
        }
        let Some(symbol) = declarator.id.get_binding_identifier().and_then(|id| symbol_of(&id.symbol_id))
        else {
            return;
        };
        if let Some(release) = gate(init) {
            seen.gates.push((symbol, release, span));
        } else if let Some(mut chain) = self.chain_in(init, seen) {
            let rest = hangs_on(init);
            if let Expression::Identifier(id) = rest.0.get_inner_expression()
                && let Some(of) = meaning_of(&id.reference_id)
            {
                seen.derived.push(Derived { symbol, of, swallows: rest.1, span });
            }
            chain.kept = Some(symbol);
            seen.chains.push(chain);
        } else if let Some((object, "shift", _)) = method(init) {
            seen.taken.extend(place(object).map(|place| (symbol, place)));
        } else if let Some((of, swallows)) = derived_from(init) {
            seen.derived.push(Derived { symbol, of, swallows, span });
        } else if let Some(slot) = self.slot_read(init) {
            seen.previous.push((symbol, slot, span));
        } else {
            self.look_expression(init, span, seen, around);
        }
    }

    fn look_expression(&self, expression: &Expression<'a>, statement: Span, seen: &mut Seen, around: Around) {
        match expression.get_inner_expression() {
            Expression::AwaitExpression(it) => {
                let inner = without_rescue(&it.argument);
                match inner.get_inner_expression() {
                    Expression::Identifier(id) => {
                        if let Some(symbol) = meaning_of(&id.reference_id) {
                            seen.awaits.push((symbol, statement, seen.order));
                        }
                    }
                    inner => {
                        if let Some(slot) = self.slot_read(inner) {
                            seen.waits.push((slot, false, statement, seen.order));
                        }
                    }
                }
                self.look_expression(&it.argument, statement, seen, around);
            }
            Expression::AssignmentExpression(it) if it.operator.is_assign() => {
                let Some(target) = it.left.as_simple_assignment_target() else { return };
                let target = match target.as_member_expression() {
                    Some(member) => self.member_slot(member),
                    None => target.get_identifier_name().and_then(|_| match &it.left {
                        oxc_ast::ast::AssignmentTarget::AssignmentTargetIdentifier(id) => {
                            let place = Place { root: Some(meaning_of(&id.reference_id)?), fields: vec![] };
                            Some(Slot { place, key: None })
                        }
                        _ => None,
                    }),
                };
                let Some(slot) = target else { return };
                if let Expression::BooleanLiteral(value) = &it.right {
                    if slot.key.is_none() {
                        let flag = if value.value { Flag::True } else { Flag::False };
                        seen.flags.push((slot.place, flag, statement));
                    }
                    return;
                }
                self.look_put(slot, &it.right, statement, seen);
            }
            Expression::UpdateExpression(it) => {
                if let Some(slot) = it.argument.as_member_expression().and_then(|it| self.member_slot(it)) {
                    let up = it.operator == oxc_syntax::operator::UpdateOperator::Increment;
                    seen.flags.push((slot.place, if up { Flag::Up } else { Flag::Down }, statement));
                }
            }
            other => self.look_call(other, statement, seen, around),
        }
    }

    fn look_call(&self, expression: &Expression<'a>, statement: Span, seen: &mut Seen, around: Around) {
        if let Some(body) = timer_body(expression) {
            self.look_callback(body, seen, Around { by_timer: true, depth: around.depth + 1, ..around });
            return;
        }
        if let Expression::NewExpression(new) = expression {
            let executor = new.arguments.first().and_then(oxc_ast::ast::Argument::as_expression);
            if let Some(executor) = executor {
                seen.resolvers.extend(parameters_of(executor));
                self.look_callback(executor, seen, Around { depth: around.depth + 1, ..around });
            }
            return;
        }
        if let Some(place) = self.woken(expression, seen) {
            seen.dequeued.push(place);
            return;
        }
        let Some((object, name, call)) = method(expression) else { return };
        match name {
            "set" => {
                if let (Some(place), Some(key), Some(value)) =
                    (place(object), argument(call, 0), argument(call, 1))
                {
                    let slot = Slot { place, key: Some(self.slot_key(key)) };
                    self.look_put(slot, value, statement, seen);
                }
            }
            "delete" => {
                if let (Some(place), Some(key)) = (place(object), argument(call, 0)) {
                    let slot = Slot { place, key: Some(self.slot_key(key)) };
                    let Around { compared, guarded, by_timer, .. } = around;
                    seen.removed.push(Removed { span: statement, slot, compared, guarded, by_timer });
                }
            }
            "push" => {
                if let (Some(place), Some(Expression::Identifier(id))) = (place(object), argument(call, 0))
                    && meaning_of(&id.reference_id).is_some_and(|symbol| seen.resolvers.contains(&symbol))
                {
                    seen.queued.push((place, call.span));
                }
            }
            "then" | "finally" | "catch" => {
                if let Some(chain) = self.chain_in(expression, seen) {
                    seen.chains.push(chain);
                }
                self.look_call(object.get_inner_expression(), statement, seen, around);
                for callback in call.arguments.iter().filter_map(oxc_ast::ast::Argument::as_expression) {
                    self.look_callback(callback, seen, Around { depth: around.depth + 1, ..around });
                }
            }
            _ => {}
        }
    }

    /// `next()`, `queue.shift()?.()`: the queue whose first is woken.
    fn woken(&self, expression: &Expression<'a>, seen: &Seen) -> Option<Place> {
        let call = match expression {
            Expression::CallExpression(call) => call,
            Expression::ChainExpression(chain) => match &chain.expression {
                oxc_ast::ast::ChainElement::CallExpression(call) => call,
                _ => return None,
            },
            _ => return None,
        };
        if !call.arguments.is_empty() {
            return None;
        }
        match call.callee.get_inner_expression() {
            Expression::Identifier(id) => {
                let symbol = meaning_of(&id.reference_id)?;
                seen.taken.iter().find(|(known, _)| *known == symbol).map(|(_, place)| place.clone())
            }
            inner => match method(inner) {
                Some((object, "shift", _)) => place(object),
                _ => None,
            },
        }
    }

    /// The inside of a function that is handed over.
    fn look_callback(&self, callback: &Expression<'a>, seen: &mut Seen, around: Around) {
        let statements = match callback.get_inner_expression() {
            Expression::ArrowFunctionExpression(it) => match &it.body {
                ArrowFunctionBody::FunctionBody(body) => &body.statements,
                other => {
                    if let Some(expression) = other.as_expression() {
                        self.look_expression(expression, expression.span(), seen, around);
                    }
                    return;
                }
            },
            Expression::FunctionExpression(it) => match &it.body {
                Some(body) => &body.statements,
                None => return,
            },
            _ => return,
        };
        self.look(statements, seen, around);
    }

    fn look_put(&self, slot: Slot, value: &Expression<'a>, statement: Span, seen: &mut Seen) {
        let order = seen.order;
        let stored = if let Some(release) = gate(value) {
            Stored::Gate { release }
        } else if let Expression::Identifier(id) = value.get_inner_expression() {
            match meaning_of(&id.reference_id) {
                Some(symbol) => Stored::Variable(symbol),
                None => return,
            }
        } else {
            let (root, swallows) = hangs_on(value);
            let of = match root.get_inner_expression() {
                Expression::Identifier(id) => meaning_of(&id.reference_id),
                _ => None,
            };
            if let Some(chain) = self.chain_in(value, seen) {
                seen.chains.push(chain);
            } else if of.is_none() {
                return;
            }
            Stored::Derived { of, swallows }
        };
        seen.puts.push(Put { statement, slot, stored, order });
    }

    /// The innermost `x.then(…)` of an expression in which x is a slot, or a variable that was read from one.
    fn chain_in(&self, expression: &Expression<'a>, seen: &Seen) -> Option<Chain> {
        let mut expression = expression.get_inner_expression();
        let mut found = None;
        for _ in 0..DEEPEST {
            let (object, name, call) = method(expression)?;
            if !matches!(name, "then" | "catch" | "finally") {
                return None;
            }
            let inner = without_default(object);
            let rescued = method(inner).is_some_and(|(_, name, _)| name == "catch");
            if name == "then" {
                let two = argument(call, 1).is_some() || argument(call, 0).is_some_and(never_fails);
                found = Some((call.span, two || rescued));
            }
            let slot = match inner {
                Expression::Identifier(id) => {
                    let symbol = meaning_of(&id.reference_id)?;
                    let previous = seen.previous.iter().find(|(known, ..)| *known == symbol);
                    previous.map(|(_, slot, _)| slot.clone()).or_else(|| self.slot_named(inner))
                }
                inner => self.slot_read(inner),
            };
            if let (Some(slot), Some((span, in_spite))) = (slot, found) {
                return Some(Chain { span, slot, kept: None, in_spite });
            }
            expression = inner;
        }
        None
    }

    fn member_slot(&self, member: &oxc_ast::ast::MemberExpression<'a>) -> Option<Slot> {
        use oxc_ast::ast::MemberExpression;
        match member {
            MemberExpression::ComputedMemberExpression(it) => {
                Some(Slot { place: place(&it.object)?, key: Some(self.slot_key(&it.expression)) })
            }
            MemberExpression::StaticMemberExpression(it) => {
                let mut object = place(&it.object)?;
                object.fields.push(it.property.name.as_str().into());
                Some(Slot { place: object, key: None })
            }
            MemberExpression::PrivateFieldExpression(it) => {
                let mut object = place(&it.object)?;
                object.fields.push(crate::typescript::lower::places::private(it.field.name.as_str()));
                Some(Slot { place: object, key: None })
            }
        }
    }

    /// `locks.has(key)`, `this.locked`, `locks.get(key)`: the slot whose being taken is tested.
    fn occupied(&self, test: &Expression<'a>) -> Option<Slot> {
        match test.get_inner_expression() {
            Expression::BinaryExpression(it) => {
                let nothing =
                    it.right.is_null_or_undefined() || matches!(it.right, Expression::BooleanLiteral(_));
                self.occupied(&it.left).filter(|_| nothing)
            }
            inner => match method(inner) {
                Some((object, "has", call)) => {
                    let key = self.slot_key(argument(call, 0)?);
                    Some(Slot { place: place(object)?, key: Some(key) })
                }
                Some((_, "get", _)) => self.slot_read(inner),
                Some(_) => None,
                None => self.slot_named(inner),
            },
        }
    }

    /// `tails.get(key) === tail`: the variable that an entry is compared with.
    fn comparison(&self, test: &Expression<'a>) -> Option<(u32, Span)> {
        let Expression::BinaryExpression(it) = test.get_inner_expression() else { return None };
        if !matches!(it.operator, BinaryOperator::StrictEquality | BinaryOperator::Equality) {
            return None;
        }
        let sides = [(&it.left, &it.right), (&it.right, &it.left)];
        sides.into_iter().find_map(|(entry, variable)| {
            self.slot_read(entry)?;
            match variable.get_inner_expression() {
                Expression::Identifier(id) => Some((meaning_of(&id.reference_id)?, it.span)),
                _ => None,
            }
        })
    }

    fn awaits_inside(&self, statement: &Statement<'a>) -> bool {
        match statement {
            Statement::BlockStatement(it) => it.body.iter().any(|inner| self.awaits_inside(inner)),
            Statement::ExpressionStatement(it) => matches!(it.expression, Expression::AwaitExpression(_)),
            _ => false,
        }
    }

    pub(super) fn look_through(&self, body: &FunctionBody<'a>) -> Seen {
        let mut seen = Seen::default();
        self.look(&body.statements, &mut seen, Around::default());
        seen
    }
}

/// Whether control goes on behind a statement, and whether that is at the head of a loop; `None` if it leaves.
fn goes_on(statement: &Statement<'_>) -> Option<bool> {
    match statement {
        Statement::BlockStatement(it) => it.body.last().map_or(Some(false), goes_on),
        Statement::ReturnStatement(_) | Statement::ThrowStatement(_) | Statement::BreakStatement(_) => None,
        Statement::ContinueStatement(_) => Some(true),
        _ => Some(false),
    }
}

/// Whether something in a statement is waited for that can end when a holder leaves: a promise, or a call that says so. Other calls do
/// some work of their own, such as clearing up what was left behind.
fn waits(statement: &Statement<'_>) -> bool {
    const WAITS: [&str; 12] = [
        "wait", "sleep", "delay", "pause", "race", "all", "then", "catch", "finally", "once", "until", "get",
    ];
    match statement {
        Statement::BlockStatement(it) => it.body.iter().any(waits),
        Statement::ExpressionStatement(it) => match &it.expression {
            Expression::AwaitExpression(it) => match it.argument.get_inner_expression() {
                Expression::CallExpression(call) => {
                    let name = match call.callee.get_inner_expression() {
                        Expression::Identifier(id) => id.name.as_str(),
                        Expression::StaticMemberExpression(member) => member.property.name.as_str(),
                        _ => return true,
                    };
                    let name = name.to_lowercase();
                    WAITS.iter().any(|word| name.contains(word))
                }
                _ => true,
            },
            _ => false,
        },
        _ => false,
    }
}
