//! Columns: what is written with the members of a model is not computed here but said to a database, `Account.balance >= amount`.

use interlock_model::ir::AccessPath;
use ruff_python_ast::Expr;

use super::{super::bind::SymbolKind, calls::Use, context::Lowerer};
use crate::val::Val;

/// The libraries whose models have columns.
const LIBRARIES: [&str; 3] = ["sqlalchemy", "sqlmodel", "peewee"];

impl<'a> Lowerer<'a> {
    /// Whether an expression names a column: a member of a class, where a library for tables is at hand.
    pub(super) fn is_column(&self, expression: &Expr) -> bool {
        let Expr::Attribute(it) = expression else { return false };
        let Expr::Name(class) = &*it.value else { return false };
        let name = class.id.as_str();
        let symbol = self.facts.lookup(self.cx.id, name).and_then(|symbol| self.facts.symbol(symbol));
        let is_class = symbol.is_some_and(|symbol| match symbol.kind {
            SymbolKind::Class => true,
            SymbolKind::Import => name.starts_with(|first: char| first.is_ascii_uppercase()),
            _ => false,
        });
        is_class && self.knows_tables()
    }

    /// `F("balance")`.
    pub(super) fn is_column_by_name(&mut self, expression: &'a Expr) -> bool {
        let Expr::Call(call) = expression else { return false };
        let (library, name) = self.library_call(&call.func);
        name == "F" && (library.starts_with("django") || library.starts_with("tortoise"))
    }

    /// Notes that a member of something local is assigned: where that is a row, it is written with the next commit.
    pub(super) fn changed(&mut self, target: &'a Expr) {
        let Expr::Attribute(it) = target else { return };
        let Expr::Name(object) = &*it.value else { return };
        let name = object.id.as_str();
        let symbol = self.facts.lookup(self.cx.id, name).and_then(|symbol| self.facts.symbol(symbol));
        let is_local = symbol.is_some_and(|symbol| {
            symbol.function == self.cx.id
                && self.cx.id != 0
                && matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Parameter)
        });
        if is_local && self.knows_tables() && !self.cx.changed.contains(&name) {
            self.cx.changed.push(name);
        }
    }

    /// What was changed is written now.
    pub(super) fn write_what_changed(&mut self) {
        for name in std::mem::take(&mut self.cx.changed) {
            let object = self.name_place(name);
            let Some(path) = object.path_ref().cloned() else { continue };
            let target = Val::path(path.field("__save__"), object.values, 0);
            self.invoke(target, vec![], false, Use::Nothing);
        }
    }

    /// Whether the file uses a library for tables.
    pub(super) fn knows_tables(&self) -> bool {
        let top = |from: &str| from.split('.').next().is_some_and(|top| LIBRARIES.contains(&top));
        self.module.imports.iter().any(|import| top(&import.from))
    }

    /// What is said to the database: a call of something that only says it.
    pub(super) fn said_to_a_database(
        &mut self,
        how: &'static str,
        parts: &[&'a Expr],
        at: &impl ruff_text_size::Ranged,
    ) -> Val {
        let mut arguments = vec![];
        for part in parts {
            let part = if self.is_column(part) { self.place(part) } else { self.expression(part) };
            arguments.push(part.into_arg());
        }
        self.stand(at);
        let target = Val::path(AccessPath::global(format!("sqlalchemy::{how}")), vec![], 0);
        self.invoke(target, arguments, false, Use::Value)
    }
}
