//! Columns: what is written with the members of a model is not computed here but said to a database, `Account.balance >= amount`.

use interlock_model::ir::{AccessPath, Term};
use ruff_python_ast::{Arguments, Expr, ExprAttribute};

use super::{super::bind::SymbolKind, calls::Use, context::Lowerer};
use crate::{
    Arg, Shape,
    module::{Import, Imported},
    val::{Val, merge},
};

/// The libraries whose models have columns.
const LIBRARIES: [&str; 4] = ["sqlalchemy", "sqlmodel", "peewee", "flask_sqlalchemy"];

/// Modules of a program that have its models, by a part of their name: `from .models import Task`.
const MODELS: [&str; 7] = ["models", "model", "entities", "orm", "tables", "db", "database"];

impl<'a> Lowerer<'a> {
    /// Whether an expression names a column: a member of a class, where a library for tables is at hand.
    pub(super) fn is_column(&self, expression: &Expr) -> bool {
        let Expr::Attribute(it) = expression else { return false };
        let class = match &*it.value {
            Expr::Name(class) => class,
            Expr::Attribute(class) => return self.is_column_of_module(class, it.attr.as_str()),
            _ => return false,
        };
        let name = class.id.as_str();
        let symbol = self.facts.lookup(self.cx.id, name).and_then(|symbol| self.facts.symbol(symbol));
        let is_class = symbol.is_some_and(|symbol| match symbol.kind {
            SymbolKind::Class => self.has_library_for_tables(),
            // `Status.DONE` is a constant, wherever it comes from.
            SymbolKind::Import => {
                let is_column = !it.attr.as_str().starts_with(|first: char| first.is_ascii_uppercase());
                name.starts_with(|first: char| first.is_ascii_uppercase())
                    && (self.has_library_for_tables() || is_column && self.imports_model(name))
            }
            _ => false,
        });
        is_class && self.knows_tables()
    }

    /// `models.Task.id`.
    fn is_column_of_module(&self, class: &ExprAttribute, member: &str) -> bool {
        let Expr::Name(module) = &*class.value else { return false };
        let starts_upper = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
        let mut imports = self.module.imports.iter();
        starts_upper(class.attr.as_str())
            && !starts_upper(member)
            && imports.any(|import| *import.local == *module.id.as_str() && is_model_module(import))
            && self.knows_tables()
    }

    /// `F("balance")`.
    pub(super) fn is_column_by_name(&mut self, expression: &'a Expr) -> bool {
        let Expr::Call(call) = expression else { return false };
        let (library, name) = self.library_call(&call.func);
        name == "F" && (library.starts_with("django") || library.starts_with("tortoise"))
    }

    /// Notes that a member of something local is assigned: where that is a row, this column is written with the next commit.
    pub(super) fn changed(&mut self, target: &'a Expr, val: Val) {
        let Expr::Attribute(it) = target else { return };
        self.changed_member(&it.value, it.attr.as_str(), val);
    }

    /// The same for a member of which the name is computed: `setattr(row, name, value)`.
    pub(super) fn changed_member(&mut self, object: &'a Expr, column: &'a str, val: Val) {
        let Expr::Name(object) = object else { return };
        let name = object.id.as_str();
        let symbol = self.facts.lookup(self.cx.id, name).and_then(|symbol| self.facts.symbol(symbol));
        let is_local = symbol.is_some_and(|symbol| {
            symbol.function == self.cx.id
                && self.cx.id != 0
                && matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Parameter)
        });
        if !is_local || !self.knows_tables() {
            return;
        }
        let (column, arg) = (self.name(column), val.into_arg());
        match self.scope.changed.iter_mut().find(|(changed, _)| *changed == name) {
            Some((_, columns)) => columns.push((column, arg)),
            None => self.scope.changed.push((name, vec![(column, arg)])),
        }
    }

    /// What was changed is written now: the columns that were assigned, and no others.
    pub(super) fn write_what_changed(&mut self) {
        for (name, columns) in std::mem::take(&mut self.scope.changed) {
            let object = self.name_place(name);
            let Some(path) = object.path_ref().cloned() else { continue };
            let mut values = vec![];
            columns.iter().for_each(|(_, column)| merge(&mut values, &column.values));
            let columns = Arg { term: Term::Unknown, values, shape: Shape::Object(columns) };
            let target = Val::path(path.field("__save__"), object.values, 0);
            self.invoke(target, vec![columns], false, Use::Nothing);
        }
    }

    /// What was changed and is handed over now may be written by whoever gets it.
    pub(super) fn hand_over_what_changed(&mut self, arguments: &'a Arguments) {
        let mut names = arguments.args.iter().chain(arguments.keywords.iter().map(|keyword| &keyword.value));
        let is_changed = |name: &str| self.scope.changed.iter().any(|(changed, _)| *changed == name);
        if names.any(|it| matches!(it, Expr::Name(name) if is_changed(name.id.as_str()))) {
            self.write_what_changed();
        }
    }

    /// Whether the file uses a library for tables, or the models of its program and a session for them.
    pub(super) fn knows_tables(&self) -> bool {
        let is_model = |import: &Import| is_model_module(import) || self.imports_model(&import.local);
        self.has_library_for_tables() || self.has_session && self.module.imports.iter().any(is_model)
    }

    /// Whether a name is a class that comes from where a program has its models.
    fn imports_model(&self, name: &str) -> bool {
        let import = self.module.imports.iter().find(|import| *import.local == *name);
        let is_model = |import: &Import| {
            let mut parts = import.from.split('.').filter(|part| !part.is_empty());
            import.from.split('.').next() != Some("django")
                && matches!(import.what, Imported::Name(_))
                && parts.any(|part| MODELS.contains(&part))
        };
        name.starts_with(|first: char| first.is_ascii_uppercase()) && import.is_some_and(is_model)
    }

    /// Whether the file imports a library for tables.
    fn has_library_for_tables(&self) -> bool {
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

/// Whether a module is imported in which a program has its models: `from . import models`.
fn is_model_module(import: &Import) -> bool {
    let last = import.local.rsplit('.').next().unwrap_or_default();
    MODELS.contains(&last) && import.from.split('.').next() != Some("django")
}
