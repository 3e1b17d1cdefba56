//! Promises: `await`, chains of `then`, `catch` and `finally`, `Promise.all`, and promises made by hand.

use interlock_model::ir::{Bound, Callee, Catch, Op, Start, Term};
use oxc_ast::ast::{
    Argument, ArrayExpressionElement, AwaitExpression, CallExpression, Expression, NewExpression,
};
use oxc_span::GetSpan;

use super::{
    bind::{meaning_of, symbol_of},
    calls::Use,
    context::{Lowerer, flag},
    val::Val,
};
use crate::{Arg, Shape};

impl<'a> Lowerer<'a> {
    pub(super) fn awaited(&mut self, it: &AwaitExpression<'a>) -> Val {
        let val = self.expression_for(&it.argument, Use::Awaited);
        self.stand(it.span);
        self.push(Op::Suspend);
        val
    }

    /// `x.then(…)`, `x.catch(…)`, `x.finally(…)`, `Promise.all(…)` and its like.
    pub(super) fn promise_call(&mut self, call: &CallExpression<'a>, wanted: Use) -> Option<Val> {
        let Expression::StaticMemberExpression(member) = &call.callee else { return None };
        let name = member.property.name.as_str();
        if let Expression::Identifier(id) = &member.object
            && id.name == "Promise"
            && meaning_of(&id.reference_id).is_none()
        {
            return self.promise_static(name, call, wanted);
        }
        let first = call.arguments.first().and_then(Argument::as_expression)?;
        let callable = match first.get_inner_expression() {
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => true,
            Expression::Identifier(_) | Expression::StaticMemberExpression(_) => {
                name != "catch" || !is_literal(first)
            }
            Expression::NullLiteral(_) => name == "then",
            _ => false,
        };
        if !callable || !matches!(name, "then" | "catch" | "finally") {
            return None;
        }
        Some(self.chain(name, &member.object, call, wanted))
    }

    fn chain(&mut self, name: &str, object: &Expression<'a>, call: &CallExpression<'a>, wanted: Use) -> Val {
        let waits = wanted.waits();
        // What runs on by itself does so behind whatever its caller does meanwhile.
        let (block, val) = self.nested(|this| this.chain_steps(name, object, call));
        if waits {
            self.cx.block.extend(block);
            return val;
        }
        self.stand(call.span);
        if !block.is_empty() {
            self.push(Op::Spawn { start: Start::Now, body: block });
        }
        Val { direct: None, ..Val::from_values(val.values, flag::STATE) }
    }

    fn chain_steps(&mut self, name: &str, object: &Expression<'a>, call: &CallExpression<'a>) -> Val {
        let handler = |index: usize| call.arguments.get(index).and_then(Argument::as_expression);
        let has_try = name != "then" || handler(1).is_some();
        if has_try {
            self.cx.tries += 1;
        }
        let (body, val) = self.nested(|this| {
            let val = this.expression_for(object, Use::Awaited);
            this.stand(call.span);
            this.push(Op::Suspend);
            match handler(0) {
                Some(callback) if name == "then" && !matches!(callback, Expression::NullLiteral(_)) => {
                    let settled = Val { direct: None, ..val };
                    // What stands there is called with this only, so its parameter is another name of the module.
                    let is_module = settled.flags & flag::MODULE != 0 && settled.path_ref().is_some();
                    let is_written = matches!(
                        callback.get_inner_expression(),
                        Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
                    );
                    this.handed = (is_module && is_written).then(|| settled.clone());
                    this.call_back(callback, vec![settled.into_arg()], Use::Awaited)
                }
                _ => val,
            }
        });
        if has_try {
            self.cx.tries -= 1;
        }
        self.stand(call.span);
        let at = self.at;
        if !has_try {
            self.cx.block.extend(body);
            return val;
        }
        let (catch, finally) = match name {
            "finally" => {
                let (finally, _) = self.branch(|this| match handler(0) {
                    Some(callback) => this.call_back(callback, vec![], Use::Awaited),
                    None => Val::nothing(),
                });
                (None, finally)
            }
            _ => {
                let callback = handler(usize::from(name == "then"));
                let error_name = self.names.get("error");
                let error = self.step(&error_name, 0);
                let (body, _) = self.branch(|this| match callback {
                    Some(callback) => {
                        this.call_back(callback, vec![Val::of(error, 0).into_arg()], Use::Awaited)
                    }
                    None => Val::nothing(),
                });
                (Some(Catch { error: Some(error), body }), vec![])
            }
        };
        self.push_at(at, Op::Try { body, catch, finally });
        val
    }

    /// Calls a function that is handed over: one that is written here, or one by name.
    pub(super) fn call_back(&mut self, callback: &Expression<'a>, arguments: Vec<Arg>, wanted: Use) -> Val {
        let target = self.handed_function(callback);
        self.call_handed(callback, target, arguments, wanted)
    }

    /// A function that is handed over.
    fn handed_function(&mut self, callback: &Expression<'a>) -> Val {
        match callback.get_inner_expression() {
            Expression::Identifier(id) => self.identifier_place(id),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_) => {
                self.function_expression(callback, None)
            }
            other => self.place(other),
        }
    }

    fn call_handed(
        &mut self,
        callback: &Expression<'a>,
        target: Val,
        arguments: Vec<Arg>,
        wanted: Use,
    ) -> Val {
        self.stand(callback.span());
        if self.is_settler(callback) {
            return Val::nothing();
        }
        self.invoke(target, arguments, false, wanted)
    }

    fn promise_static(&mut self, name: &str, call: &CallExpression<'a>, wanted: Use) -> Option<Val> {
        let first = call.arguments.first().and_then(Argument::as_expression);
        match name {
            "all" | "allSettled" | "race" | "any" => {
                let first = first?;
                let (branches, val) = self.side_by_side(first);
                self.stand(call.span);
                if !branches.is_empty() {
                    if wanted.waits() {
                        self.push(Op::Together { branches });
                    } else {
                        for body in branches {
                            self.push(Op::Spawn { start: Start::Now, body });
                        }
                    }
                }
                Some(val)
            }
            "resolve" => Some(match first {
                Some(first) => self.expression_for(first, wanted),
                None => Val::nothing(),
            }),
            "reject" => {
                if let Some(first) = first {
                    self.expression(first);
                }
                self.stand(call.span);
                if wanted.waits() {
                    self.push(Op::Exit(interlock_model::ir::Exit::Throw));
                }
                Some(Val::nothing())
            }
            _ => None,
        }
    }

    /// The elements of a list of promises, each by itself.
    fn side_by_side(&mut self, list: &Expression<'a>) -> (Vec<interlock_model::ir::Block>, Val) {
        match list.get_inner_expression() {
            Expression::ArrayExpression(array) => {
                let mut branches = vec![];
                let mut all = Val::nothing();
                let mut items = vec![];
                let mut modules = !array.elements.is_empty();
                for element in &array.elements {
                    let (block, val) = match element {
                        ArrayExpressionElement::SpreadElement(spread) => {
                            let (blocks, val) = self.side_by_side(&spread.argument);
                            branches.extend(blocks);
                            (vec![], val)
                        }
                        other => match other.as_expression() {
                            Some(it) => self.nested(|this| this.expression_for(it, Use::Awaited)),
                            None => continue,
                        },
                    };
                    if !block.is_empty() {
                        branches.push(block);
                    }
                    modules &= val.flags & flag::MODULE != 0;
                    all.depend(&val);
                    items.push(Arg { shape: Shape::Opaque, ..val.into_arg() });
                }
                all.shape = Shape::List(items);
                all.flags |= if modules { flag::MODULE } else { 0 };
                (branches, all)
            }
            Expression::CallExpression(call) => match self.mapped(call) {
                Some((block, val)) => (vec![block], val),
                None => (vec![], self.expression(list)),
            },
            _ => (vec![], self.expression(list)),
        }
    }

    /// `xs.map(async (x) => …)`: once for each, side by side.
    fn mapped(&mut self, call: &CallExpression<'a>) -> Option<(interlock_model::ir::Block, Val)> {
        let Expression::StaticMemberExpression(member) = &call.callee else { return None };
        let callback = call.arguments.first().and_then(Argument::as_expression)?;
        let inline = matches!(
            callback.get_inner_expression(),
            Expression::ArrowFunctionExpression(_)
                | Expression::FunctionExpression(_)
                | Expression::Identifier(_)
        );
        if member.property.name != "map" || !inline {
            return None;
        }
        let list = self.expression(&member.object);
        let name = self.names.get("item");
        let item = self.step(&name, list.flags);
        if list.path_ref().is_some()
            || matches!(list.shape, Shape::List(_) | Shape::Call(_) | Shape::Choice(_))
        {
            self.cx.items.push((item, Val { direct: None, ..list.clone() }.into_arg()));
        }
        self.stand(call.span);
        let target = self.handed_function(callback);
        // What comes of it is what a list gives that is gone over; that each of them is waited for says no more.
        let map = self.names.get("map");
        let made = list
            .path_ref()
            .cloned()
            .map(|path| self.site(Some(path.field(map)), false, vec![target.clone().into_arg()], None));
        let (body, result) = self.branch(|this| {
            if !list.values.is_empty() {
                let from = list.values.clone();
                this.push(Op::Derive { into: item, from, term: Term::Unknown });
            }
            this.call_handed(callback, target, vec![Val::of(item, 0).into_arg()], Use::Awaited)
        });
        let span = self.span(call.span);
        let mut val = Val::from_values(list.values, flag::STATE);
        val.depend(&Val { direct: None, ..result });
        val.shape = made.map_or(Shape::Opaque, Shape::Call);
        let each = Op::Loop { bound: Bound::Each, item: Some(item), body };
        Some((vec![interlock_model::ir::Effect { span, op: each }], val))
    }

    /// `new Promise((resolve, reject) => …)` runs the function at once.
    pub(super) fn new_promise(&mut self, new: &NewExpression<'a>, _wanted: Use) -> Option<Val> {
        let Expression::Identifier(id) = &new.callee else { return None };
        if id.name != "Promise" || meaning_of(&id.reference_id).is_some() {
            return None;
        }
        let executor = new.arguments.first().and_then(Argument::as_expression)?;
        let parameters = match executor.get_inner_expression() {
            Expression::ArrowFunctionExpression(it) => &it.params,
            Expression::FunctionExpression(it) => &it.params,
            _ => return None,
        };
        for parameter in &parameters.items {
            if let Some(id) = parameter.pattern.get_binding_identifier() {
                self.settlers.extend(symbol_of(&id.symbol_id));
            }
        }
        let target = self.function_expression(executor, None);
        let Shape::Function { function, captures } = target.shape else { return None };
        self.stand(new.span);
        let [promise, settled] = ["promise", "settled"].map(|name| self.names.get(name));
        // What the promise leads to is said by whoever calls the first parameter, from whatever callback: to call what was made here is
        // to say what it is.
        let mut arguments = vec![interlock_model::ir::Argument::Term(Term::Unknown); parameters.items.len()];
        let slot = arguments.first_mut().map(|resolve| {
            let slot = self.step(&settled, 0);
            self.push(Op::New { into: slot, lock: None });
            *resolve = slot.into();
            slot
        });
        let into = self.step(&promise, 0);
        self.push(Op::Call {
            into: Some(into),
            callee: Callee::Closure { function, captures },
            receiver: None,
            arguments,
            awaited: true,
        });
        let into = match slot {
            Some(slot) => self.derive(&promise, vec![into, slot], Term::Unknown, 0),
            None => into,
        };
        Some(Val { direct: Some(into), ..Val::of(into, 0) })
    }
}

fn is_literal(expression: &Expression<'_>) -> bool {
    expression.is_literal()
}
