//! Annotations as hints of what something is.

use interlock_model::ir::AccessPath;
use ruff_python_ast::{Expr, Operator};

use super::context::Lowerer;
use crate::lower::is_identifier;

impl<'a> Lowerer<'a> {
    /// The class that an annotation names: that of `Store`, `store.Store`, `Store | None`, `Optional[Store]`, `Annotated[Store, …]`.
    pub(super) fn type_path(&mut self, annotation: &'a Expr) -> Option<AccessPath> {
        match annotation {
            // Whatever it is says nothing of what it is.
            Expr::Name(it) if matches!(it.id.as_str(), "Any" | "object") => None,
            Expr::Attribute(it) if it.attr.as_str() == "Any" => None,
            Expr::Name(_) | Expr::Attribute(_) => {
                // What a name is found by is no step of the program here.
                let (_, val) = self.nested(|this| this.place(annotation));
                val.path_ref().cloned()
            }
            Expr::StringLiteral(it) => {
                let name = it.value.to_str();
                let name = name.split(['[', '|', ' ']).next().unwrap_or(name);
                is_identifier(name).then(|| self.name_place(name).path_ref().cloned()).flatten()
            }
            Expr::BinOp(it) if it.op == Operator::BitOr => {
                let one = if it.left.is_none_literal_expr() { None } else { self.type_path(&it.left) };
                one.or_else(|| self.type_path(&it.right))
            }
            Expr::Subscript(it) => {
                let name = match &*it.value {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(member) => member.attr.as_str(),
                    _ => return None,
                };
                let first = match &*it.slice {
                    Expr::Tuple(parts) => parts.elts.first()?,
                    other => other,
                };
                match name {
                    "Optional" | "Annotated" | "Awaitable" | "Final" | "ClassVar" | "Union" | "Coroutine" => {
                        self.type_path(first)
                    }
                    "type" | "Type" => None,
                    _ => self.type_path(&it.value),
                }
            }
            _ => None,
        }
    }
}
