//! `with`: what is entered is left in every case, so it is a call before, and a call in a `finally`.

use interlock_model::ir::{Catch, Op};
use ruff_python_ast::{Decorator, Expr, ExprCall, StmtWith, WithItem};

use super::{calls::Use, context::Lowerer};
use crate::{
    lower::leaves,
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    /// The items of a `with` from one on, each around those behind it, and the body inside all of them.
    pub(super) fn with(&mut self, it: &'a StmtWith, from: usize) {
        let Some(item) = it.items.get(from) else { return self.statements(&it.body) };
        self.stand(item);
        let at = self.at;
        if let Some(expected) = self.suppressed(item) {
            let mark = self.mark();
            let (body, ()) = self.nested(|this| this.with(it, from + 1));
            let tried = self.undo(mark);
            let tried = (!leaves(&body)).then_some(tried);
            let catch = Some(Catch { error: None, body: vec![] });
            self.push_at(expected, Op::Try { body, catch, finally: vec![] });
            return self.join(tried, Some(vec![]));
        }
        if is_open(&item.context_expr) {
            // A file is closed behind it, and that is all.
            let file = self.expression(&item.context_expr);
            self.take(item, file);
            return self.with(it, from + 1);
        }
        if is_stack(&item.context_expr) {
            return self.with_stack(it, from);
        }
        let context = self.place(&item.context_expr);
        let mut context = self.as_path(context);
        context.direct = None;
        self.at = at;
        let entered =
            self.step_through(&context, if it.is_async { "__aenter__" } else { "__enter__" }, it.is_async);
        self.take(item, entered);
        let mark = self.mark();
        let before = std::mem::take(&mut self.scope.entered);
        let (body, ()) = self.nested(|this| {
            this.with(it, from + 1);
            this.write_what_changed();
        });
        let changed = self.undo(mark);
        let left = leaves(&body);
        if self.scope.entered {
            // What is handed out inside is held for as long as that is.
            self.cx.block.extend(body);
            return self.join((!left).then_some(changed), None);
        }
        self.scope.entered = before;
        let (finally, ()) = self.nested(|this| {
            this.at = at;
            if !it.is_async {
                this.leave(item);
            }
            this.step_through(&context, if it.is_async { "__aexit__" } else { "__exit__" }, it.is_async);
        });
        self.push_at(at, Op::Try { body, catch: None, finally });
        self.join((!left).then_some(changed), None);
    }

    /// `with ExitStack() as stack`: what is entered through it is left at its end, the last first.
    fn with_stack(&mut self, it: &'a StmtWith, from: usize) {
        let Some(item) = it.items.get(from) else { return };
        let at = self.at;
        let stack = self.place(&item.context_expr);
        let mut stack = self.as_path(stack);
        stack.direct = None;
        self.at = at;
        let (enter, exit) = if it.is_async { ("__aenter__", "__aexit__") } else { ("__enter__", "__exit__") };
        let entered = self.step_through(&stack, enter, it.is_async);
        self.take(item, entered);
        let mark = self.mark();
        let around = std::mem::take(&mut self.scope.stacked);
        let (body, ()) = self.nested(|this| {
            this.with(it, from + 1);
            this.write_what_changed();
        });
        let changed = self.undo(mark);
        let left = leaves(&body);
        let stacked = std::mem::replace(&mut self.scope.stacked, around);
        let (finally, ()) = self.nested(|this| {
            this.at = at;
            for (context, waits) in stacked.iter().rev() {
                this.step_through(context, if *waits { "__aexit__" } else { "__exit__" }, *waits);
            }
            if !it.is_async {
                this.leave(item);
            }
            this.step_through(&stack, exit, it.is_async);
        });
        self.push_at(at, Op::Try { body, catch: None, finally });
        self.join((!left).then_some(changed), None);
    }

    /// `stack.enter_context(lock)`: it is entered here, and left where the stack is.
    pub(super) fn stack_call(&mut self, call: &'a ExprCall) -> Option<Val> {
        let (Expr::Attribute(method), [entered]) = (&*call.func, &*call.arguments.args) else { return None };
        let waits = match method.attr.as_str() {
            "enter_context" => false,
            "enter_async_context" => true,
            _ => return None,
        };
        if is_open(entered) {
            return Some(self.expression(entered));
        }
        let context = self.place(entered);
        let mut context = self.as_path(context);
        context.direct = None;
        self.stand(call);
        let val = self.step_through(&context, if waits { "__aenter__" } else { "__enter__" }, waits);
        self.scope.stacked.push((context, waits));
        Some(val)
    }

    /// `@transaction.atomic` at a function: its body is in the transaction that the decorator opens.
    pub(super) fn in_transaction(&mut self, decorator: &'a Expr, body: impl FnOnce(&mut Self)) {
        self.stand(decorator);
        let at = self.at;
        let opened = match decorator {
            Expr::Call(_) => self.expression(decorator),
            plain => {
                let target = self.callee(plain);
                self.invoke(target, vec![], false, Use::Value)
            }
        };
        let mut context = self.as_path(opened);
        context.direct = None;
        self.step_through(&context, "__enter__", false);
        let mark = self.mark();
        let (body, ()) = self.nested(body);
        let changed = self.undo(mark);
        let left = leaves(&body);
        let (finally, ()) = self.nested(|this| {
            this.at = at;
            this.step_through(&context, "__exit__", false);
        });
        self.push_at(at, Op::Try { body, catch: None, finally });
        self.join((!left).then_some(changed), None);
    }

    /// The decorator that puts a function into a transaction: of Django or Tortoise, or a method of a database of peewee.
    pub(super) fn transaction_around(&mut self, decorators: &'a [Decorator]) -> Option<&'a Expr> {
        for decorator in decorators {
            let (callee, is_called) = match &decorator.expression {
                Expr::Call(call) => (&*call.func, true),
                plain => (plain, false),
            };
            let (library, name) = self.library_call(callee);
            let top = library.split('.').next().unwrap_or_default();
            let is_method = is_called && top.is_empty() && matches!(callee, Expr::Attribute(_));
            if name == "atomic" && (matches!(top, "django" | "tortoise") || is_method && self.knows_tables())
            {
                return Some(&decorator.expression);
            }
        }
        None
    }

    fn step_through(&mut self, context: &Val, method: &'static str, waits: bool) -> Val {
        let Some(path) = context.path_ref().cloned() else { return Val::nothing() };
        let target = Val::path(path.field(method), context.values.clone(), flag::STATE);
        let wanted = match (waits, method.ends_with("enter__")) {
            (true, _) => Use::Awaited,
            (false, true) => Use::Value,
            (false, false) => Use::Nothing,
        };
        let val = self.invoke(target, vec![], false, wanted);
        if waits {
            self.push(Op::Suspend);
        }
        val
    }

    /// What was entered is left: a transaction that was opened on it by itself is ended by whoever has handed it out.
    fn leave(&mut self, item: &'a WithItem) {
        let Some(Expr::Name(name)) = item.optional_vars.as_deref() else { return };
        let object = self.name_place(name.id.as_str());
        let Some(path) = object.path_ref().cloned() else { return };
        let target = Val::path(path.field("__left__"), object.values, 0);
        self.invoke(target, vec![], false, Use::Nothing);
    }

    /// `as x`.
    fn take(&mut self, item: &'a WithItem, val: Val) {
        if let Some(target) = &item.optional_vars {
            self.assign_to(target, val);
        }
    }

    /// `with suppress(KeyError)`: what goes wrong inside is over.
    fn suppressed(&mut self, item: &'a WithItem) -> Option<interlock_model::Span> {
        let Expr::Call(call) = &item.context_expr else { return None };
        let (module, name) = self.library_call(&call.func);
        (module == "contextlib" && name == "suppress").then_some(self.at)
    }
}

/// `ExitStack()`, `contextlib.AsyncExitStack()`.
fn is_stack(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else { return false };
    let name = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(member) => member.attr.as_str(),
        _ => return false,
    };
    matches!(name, "ExitStack" | "AsyncExitStack")
}

/// `open(…)`, of the language.
fn is_open(expression: &Expr) -> bool {
    let Expr::Call(call) = expression else { return false };
    matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "open")
}
