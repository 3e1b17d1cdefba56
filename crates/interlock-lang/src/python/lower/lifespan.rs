//! What a server keeps for as long as it runs: a context manager that it is handed gives it out, and tools find it as
//! `lifespan_context`.
//!
//! ```py
//! @asynccontextmanager
//! async def lifespan(server):
//!     yield {"store": Store()}
//!
//! mcp = FastMCP("notes", lifespan=lifespan)
//!
//! @mcp.tool()
//! async def add(text: str, ctx: Context):
//!     ctx.request_context.lifespan_context["store"].add(text)
//! ```

use interlock_model::ir::{AccessPath, Root, Term};
use ruff_python_ast::{Expr, ExprAttribute, ExprCall};

use super::{calls::Handed, context::Lowerer};
use crate::{
    Arg, Shape,
    module::{KEPT_BY_SERVER, Variable, split_global},
    val::{Val, flag},
};

impl<'a> Lowerer<'a> {
    /// `FastMCP("notes", lifespan=lifespan)`: what that function hands out is what the tools find. Which server a tool belongs to is known
    /// when all files are.
    pub(super) fn note_lifespan(&mut self, call: &'a ExprCall) {
        let name = match &*call.func {
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            _ => return,
        };
        if !name.contains("MCP") && !name.ends_with("Server") {
            return;
        }
        let mut keywords = call.arguments.keywords.iter();
        let lifespan = keywords.find(|it| it.arg.as_ref().is_some_and(|arg| arg.as_str() == "lifespan"));
        let Some(lifespan) = lifespan.map(|keyword| &keyword.value) else { return };
        if !matches!(lifespan, Expr::Name(_) | Expr::Attribute(_)) {
            return;
        }
        let target = self.function_place(lifespan);
        let function = match &target.shape {
            Shape::Function { function, .. } => Some(function.0),
            _ => None,
        };
        self.stand(call);
        let site = self.site(target.path_ref().cloned(), false, Handed::default(), function);
        let own = split_global(KEPT_BY_SERVER).map_or(KEPT_BY_SERVER, |(_, own)| own);
        let path = AccessPath::of(Root::Global(format!("{}::{own}", self.module.path).into()));
        let initial = Some(Arg { term: Term::Unknown, values: vec![], shape: Shape::Call(site) });
        let within = self.cx.id;
        self.module.variables.push(Variable { path, owner: None, declared: None, initial, within });
    }

    /// `ctx.request_context.lifespan_context`: the same for all calls.
    pub(super) fn state_of_server(&mut self, it: &'a ExprAttribute) -> Val {
        if matches!(&*it.value, Expr::Call(_)) {
            self.expression(&it.value);
        }
        Val::path(AccessPath::global(KEPT_BY_SERVER), vec![], flag::STATE)
    }

    /// What a lifespan hands out is what it gives, though nobody enters it as a call would.
    pub(super) fn note_state_of_server(&mut self, val: &Val) {
        if self.cx.name.contains("lifespan") {
            self.cx.returned.push(val.clone().into_arg());
        }
    }
}
