//! Functions, methods and lambdas: each becomes a function of its own.

use interlock_model::ir::{AccessPath, Name, Origin, Root, Value};
use ruff_python_ast::{Expr, ExprLambda, Parameters, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use super::{
    super::bind::SymbolKind,
    classes::has_decorator,
    context::{Lowerer, Scope},
    retried::Retried,
};
use crate::{
    Arg,
    lower::{Binding, Cx, Head},
    val::{Val, flag},
};

/// A function as it stands in the source.
pub(super) struct Written<'a> {
    pub(super) id: u32,
    pub(super) name: Name,
    pub(super) range: TextRange,
    pub(super) parameters: Option<&'a Parameters>,
    pub(super) body: Body<'a>,
    pub(super) returns: Option<AccessPath>,
    pub(super) asynchronous: bool,
    /// Whether it is a context manager written as a generator.
    pub(super) manages: bool,
    pub(super) owner: Option<Name>,
    pub(super) this: AccessPath,
    pub(super) bound: Option<AccessPath>,
    /// Whether a decorator calls it again until it succeeds.
    pub(super) retried: Option<Retried>,
    /// The decorator that puts it into a transaction.
    pub(super) transaction: Option<&'a Expr>,
}

/// What it does.
pub(super) enum Body<'a> {
    Statements(&'a [Stmt]),
    Expression(&'a Expr),
}

impl<'a> Lowerer<'a> {
    pub(super) fn lambda(&mut self, it: &'a ExprLambda) -> Val {
        let Some(id) = self.facts.function_at(u32::from(it.range.start())) else { return Val::nothing() };
        self.defaults(it.parameters.as_deref());
        self.lower(Written {
            id,
            name: format!("{}.lambda", self.cx.name).into(),
            range: it.range,
            parameters: it.parameters.as_deref(),
            body: Body::Expression(&it.body),
            returns: None,
            asynchronous: false,
            manages: false,
            owner: self.cx.owner.clone(),
            this: self.scope.this.clone(),
            bound: None,
            retried: None,
            transaction: None,
        });
        let captures = self.captures_of(id);
        Val::function(id, captures)
    }

    /// A function that is no method.
    pub(super) fn function_definition(&mut self, it: &'a StmtFunctionDef) {
        let Some(id) = self.facts.function_at(u32::from(it.name.range().start())) else { return };
        let name = self.name(it.name.as_str());
        let wraps = self.wraps(&it.decorator_list);
        let symbol = self.facts.lookup(self.cx.id, it.name.as_str());
        let global =
            symbol.and_then(|symbol| self.facts.symbol(symbol)).is_some_and(|found| found.function == 0);
        let path = AccessPath::of(Root::Global(self.global(it.name.as_str())));
        let bound = (global && !wraps).then(|| path.clone());
        self.definition(it, id, name, None, (self.cx.owner.clone(), self.scope.this.clone()), bound);
        let captures = self.captures_of(id);
        let function = Val::function(id, captures);
        let wrapped = self.decorated(&it.decorator_list, function);
        let held = symbol.is_some_and(|symbol| self.facts.held(symbol).is_some());
        match symbol {
            Some(symbol) if wraps || !held => {
                if let Some(found) = self.facts.symbols.get_mut(symbol as usize)
                    && held
                {
                    found.kind = SymbolKind::Variable;
                }
                self.stand(it);
                self.assign_symbol(symbol, wrapped, None);
            }
            _ => {}
        }
    }

    pub(super) fn definition(
        &mut self,
        it: &'a StmtFunctionDef,
        id: u32,
        name: Name,
        returns: Option<AccessPath>,
        (owner, this): (Option<Name>, AccessPath),
        bound: Option<AccessPath>,
    ) {
        self.defaults(Some(&it.parameters));
        let retried = self.retried(&it.decorator_list);
        let transaction = self.transaction_around(&it.decorator_list);
        let returns = returns.or_else(|| it.returns.as_ref().and_then(|it| self.type_path(it)));
        self.lower(Written {
            id,
            name,
            range: it.range,
            parameters: Some(&it.parameters),
            body: Body::Statements(&it.body),
            returns,
            // To enter it is to run it, whoever waits for that.
            asynchronous: it.is_async && !is_manager(it),
            manages: is_manager(it),
            owner,
            this,
            bound,
            retried,
            transaction,
        });
    }

    /// What parameters are by default is evaluated once, where the function is defined.
    fn defaults(&mut self, parameters: Option<&'a Parameters>) {
        for parameter in parameters.into_iter().flat_map(Parameters::iter) {
            if let Some(default) = parameter.default()
                && !default.is_literal_expr()
            {
                self.expression(default);
            }
        }
    }

    pub(super) fn lower(&mut self, written: Written<'a>) {
        let id = written.id;
        let captured = self.facts.captures(id).to_vec();
        let mut cx = Cx::new(id, written.name);
        cx.owner = written.owner;
        cx.asynchronous = written.asynchronous;
        let scope = Scope { manages: written.manages, ..Scope::new(written.this) };
        let outer = self.begin_function(cx, scope);
        let (mark, at) = (self.mark(), self.at);
        let captures: Vec<Value> =
            captured.into_iter().map(|symbol| self.capture(symbol, flag::STATE)).collect();
        let (parameters, gathers) = self.parameters(written.parameters);
        match written.body {
            Body::Statements(body) if let Some(decorator) = written.transaction => {
                self.in_transaction(decorator, |this| this.statements(body));
            }
            Body::Statements(body) => match written.retried {
                Some(how) => self.try_again(how, body),
                None => self.statements(body),
            },
            Body::Expression(expression) => {
                let val = self.expression(expression);
                self.stand(expression);
                self.return_value(val);
            }
        }
        let span = self.span(written.range);
        let parent = self.facts.functions.get(id as usize).and_then(|facts| facts.parent);
        let head = Head {
            span,
            captures,
            parameters,
            parent,
            returns: written.returns,
            gathers,
            bound: written.bound,
            ..Head::default()
        };
        self.end_function(head, outer);
        self.undo(mark);
        self.at = at;
    }

    /// The parameters, and which of them takes whatever is handed over behind the ones before it.
    fn parameters(&mut self, parameters: Option<&'a Parameters>) -> (Vec<Value>, Option<u32>) {
        let (mut values, mut gathers) = (vec![], None);
        let gathering = parameters.and_then(|parameters| parameters.vararg.as_deref());
        let gathering = gathering.map(|parameter| parameter.name.as_str());
        for parameter in parameters.into_iter().flat_map(Parameters::iter) {
            let text = parameter.name().as_str();
            let Some(symbol) = self.facts.lookup(self.cx.id, text) else { continue };
            if self.facts.symbol(symbol).is_some_and(|found| found.kind == SymbolKind::This) {
                continue;
            }
            let name = self.name(text);
            let value = self.value(name, Origin::Argument, flag::STATE);
            if let Some(path) = parameter.annotation().and_then(|it| self.type_path(it)) {
                self.cx.types.push((value, path));
            }
            self.set(symbol, Binding::of(value));
            if let Some(default) = parameter.default().and_then(|default| self.fixed_default(default)) {
                self.cx.locals.push((value, default));
            }
            if gathering == Some(text) {
                gathers = u32::try_from(values.len()).ok();
            }
            values.push(value);
        }
        (values, gathers)
    }

    /// What a parameter is by default, where that is the same whoever defines the function: a literal, or a name of the module.
    fn fixed_default(&mut self, default: &'a Expr) -> Option<Arg> {
        match default {
            Expr::StringLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_) => Some(self.expression(default).into_arg()),
            Expr::Name(name) => {
                let place = self.name_place(name.id.as_str());
                let path = place.path_ref().filter(|path| matches!(path.root, Root::Global(_)))?.clone();
                Some(Arg::opaque(path.into(), vec![]))
            }
            _ => None,
        }
    }
}

/// Whether a function is made a context manager: what it hands out is there from the beginning of a `with` to its end. What opens and
/// closes a server around all of its calls is no such thing to them.
fn is_manager(it: &StmtFunctionDef) -> bool {
    let decorated =
        ["contextmanager", "asynccontextmanager"].iter().any(|name| has_decorator(&it.decorator_list, name));
    decorated && !it.name.as_str().contains("lifespan")
}
