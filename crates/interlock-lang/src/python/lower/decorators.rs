//! Decorators: what announces a function to clients is a call that is handed the function, what wraps it makes another function of it.

use interlock_model::ir::{Name, Root};
use ruff_python_ast::{Arguments, Decorator, Expr, ExprCall, Stmt};

use super::{
    super::{bind::SymbolKind, tables},
    calls::{Handed, Use},
    context::Lowerer,
};
use crate::{
    Shape,
    module::{Imported, split_global},
    val::Val,
};

impl<'a> Lowerer<'a> {
    /// Whether one of the decorators is a function of the program that makes another function of what it is handed.
    pub(super) fn wraps(&mut self, decorators: &'a [Decorator]) -> bool {
        decorators.iter().any(|decorator| {
            let (callee, _) = split_decorator(&decorator.expression);
            self.is_wrapper(&decorator.expression) && !self.is_kept_by_object(callee)
        })
    }

    /// Goes through the decorators from the function outwards, and says what its name stands for in the end.
    pub(super) fn decorated(&mut self, decorators: &'a [Decorator], function: Val) -> Val {
        let mut val = function;
        for decorator in decorators.iter().rev() {
            let (callee, arguments) = split_decorator(&decorator.expression);
            if self.is_registration(callee) {
                self.register(callee, arguments, val.clone(), decorator);
            } else if self.adds_route(callee, arguments) {
                // Its framework calls it; who else names it gets it as it is.
                self.register(callee, arguments, val.clone(), decorator);
            } else if self.is_wrapper(&decorator.expression) {
                let target = match arguments {
                    Some(_) => self.expression(&decorator.expression),
                    None => self.callee(callee),
                };
                self.stand(decorator);
                let made = self.invoke(target, vec![val.clone().into_arg()], false, Use::Value);
                // What keeps functions hands them back as they are.
                if !self.is_kept_by_object(callee) {
                    val = made;
                }
            }
        }
        val
    }

    /// `mcp.tool(…)(function)`, `mcp.tool(function)` where that is written as a call.
    pub(super) fn registration(&mut self, call: &'a ExprCall) -> Option<Val> {
        let Expr::Call(inner) = &*call.func else { return None };
        if !self.is_registration(&inner.func) {
            return None;
        }
        let [function] = &*call.arguments.args else { return None };
        let function = self.expression(function);
        self.register(&inner.func, Some(&inner.arguments), function.clone(), call);
        Some(Val { direct: None, ..function })
    }

    /// A registration is a call of what registers: the function first, then what the decorator was handed.
    fn register(
        &mut self,
        callee: &'a Expr,
        arguments: Option<&'a Arguments>,
        function: Val,
        at: &impl ruff_text_size::Ranged,
    ) {
        let target = self.path_above(callee).or_else(|| self.place(callee).path_ref().cloned());
        let mut handed = arguments.map_or_else(Handed::default, |arguments| self.arguments(arguments));
        handed.arguments.insert(0, function.into_arg());
        self.stand(at);
        self.site(target, false, handed, None);
        if let Some(site) = self.module.sites.last_mut() {
            site.decorates = true;
        }
    }

    /// Whether a decorator is a function of the program: one of this file, or of a file that is imported from beside it.
    fn is_wrapper(&mut self, decorator: &'a Expr) -> bool {
        let (callee, arguments) = split_decorator(decorator);
        if self.is_registration(callee) || self.adds_route(callee, arguments) {
            return false;
        }
        let root = root_of(callee);
        let Some(symbol) = root.and_then(|root| self.facts.lookup(self.cx.id, root)) else { return false };
        let kind = self.facts.symbol(symbol).map(|found| found.kind);
        match kind {
            Some(SymbolKind::Function(_)) => matches!(callee, Expr::Name(_)),
            Some(SymbolKind::Import) => root.is_some_and(|root| self.is_of_tree(root)),
            _ => self.is_kept_by_object(callee),
        }
    }

    /// Whether a decorator is a method of the class around: `@self.tool("add")`, where that class is no library's server.
    fn is_own_method(&self, callee: &Expr) -> bool {
        let Expr::Attribute(method) = callee else { return false };
        let Expr::Name(object) = &*method.value else { return false };
        let symbol = self.facts.lookup(self.cx.id, object.id.as_str());
        let symbol = symbol.and_then(|symbol| self.facts.symbol(symbol));
        if !symbol.is_some_and(|symbol| symbol.kind == SymbolKind::This) {
            return false;
        }
        let Some(class) = self.around.last() else { return false };
        let has_bases = class.arguments.as_ref().is_some_and(|arguments| !arguments.args.is_empty());
        let is_it = |statement: &Stmt| matches!(statement, Stmt::FunctionDef(own) if own.name == method.attr);
        !has_bases && class.body.iter().any(is_it)
    }

    /// Whether a decorator is the method of an object that this module makes of a class of the program: `@registry.register("add")`.
    fn is_kept_by_object(&mut self, callee: &'a Expr) -> bool {
        if self.is_own_method(callee) {
            return true;
        }
        let Expr::Attribute(method) = callee else { return false };
        let Expr::Name(object) = &*method.value else { return false };
        let is_variable = self
            .facts
            .lookup(self.cx.id, object.id.as_str())
            .and_then(|symbol| self.facts.symbol(symbol))
            .is_some_and(|symbol| symbol.kind == SymbolKind::Variable && symbol.function == 0);
        if !is_variable {
            return false;
        }
        let Some(path) = self.name_place(object.id.as_str()).path_ref().cloned() else { return false };
        let made =
            self.module.variables.iter().filter(|variable| variable.path == path).filter_map(|variable| {
                match variable.initial.as_ref()?.shape {
                    Shape::Call(number) => self.module.sites.get(number as usize)?.callee.as_ref(),
                    _ => None,
                }
            });
        let classes: Vec<Name> = made
            .filter(|callee| callee.fields.is_empty())
            .filter_map(|callee| match &callee.root {
                Root::Global(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        classes.iter().any(|name| {
            self.module.classes.iter().any(|class| class.name == *name)
                || split_global(name).is_some_and(|(_, own)| self.is_of_tree(own))
        })
    }

    /// Whether a decorator is called like what adds a route to a web server, and is handed a path: `@app.post("/notes")`. Whose method it is
    /// becomes known when all files are.
    fn adds_route(&mut self, callee: &'a Expr, arguments: Option<&Arguments>) -> bool {
        let Expr::Attribute(method) = callee else { return false };
        if !tables().sdk().route.decorators.contains(method.attr.as_str()) || self.is_kept_by_object(callee) {
            return false;
        }
        let path = arguments.and_then(|arguments| arguments.args.first());
        let is_imported = root_of(callee).is_some_and(|root| self.is_of_tree(root));
        match path {
            Some(Expr::StringLiteral(path)) => {
                let path = path.value.to_str();
                path.is_empty() || path.starts_with('/') || method.attr.as_str() == "middleware"
            }
            Some(_) => !is_imported,
            None => false,
        }
    }

    /// Whether what is called goes by the name of something that registers. A function of the tree that does is followed instead.
    pub(super) fn is_registration(&self, callee: &Expr) -> bool {
        let sdk = tables().sdk();
        match callee {
            Expr::Attribute(it) => sdk.call.contains_key(it.attr.as_str()) && !self.is_own_method(callee),
            Expr::Name(it) => {
                let name = it.id.as_str();
                let symbol = self.facts.lookup(self.cx.id, name).and_then(|symbol| self.facts.symbol(symbol));
                sdk.decorator.contains_key(name)
                    && symbol.is_some_and(|symbol| symbol.kind == SymbolKind::Import)
                    && !self.is_of_tree(name)
            }
            _ => false,
        }
    }

    /// Whether what is called was imported, and not from the tree.
    pub(super) fn is_of_library(&self, callee: &Expr) -> bool {
        let Some(root) = root_of(callee) else { return false };
        let symbol = self.facts.lookup(self.cx.id, root).and_then(|symbol| self.facts.symbol(symbol));
        symbol.is_some_and(|symbol| symbol.kind == SymbolKind::Import) && !self.is_of_tree(root)
    }

    /// Whether a name is imported from a file of the same tree, as far as its path says it.
    fn is_of_tree(&self, local: &str) -> bool {
        let Some(import) = self.module.imports.iter().find(|import| *import.local == *local) else {
            return false;
        };
        let top: Name = import.from.split('.').next().unwrap_or_default().into();
        let of_package = || self.module.path.split('/').any(|folder| *folder == *top);
        (import.from.starts_with('.') || of_package()) && matches!(import.what, Imported::Name(_))
    }
}

/// What is called, and with what: `@tool` and `@tool(…)`.
fn split_decorator(decorator: &Expr) -> (&Expr, Option<&Arguments>) {
    match decorator {
        Expr::Call(call) => (&call.func, Some(&call.arguments)),
        other => (other, None),
    }
}

fn root_of(callee: &Expr) -> Option<&str> {
    match callee {
        Expr::Name(it) => Some(it.id.as_str()),
        Expr::Attribute(it) => root_of(&it.value),
        _ => None,
    }
}
