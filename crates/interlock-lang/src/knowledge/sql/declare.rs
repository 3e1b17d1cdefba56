//! The tables that statements make, with their columns and keys.

use interlock_model::ir::{Name, Table, Term};
use sqlparser::ast::{
    AlterTableOperation, ColumnOption, Expr, IndexColumn, ObjectName, Statement as Tree, TableConstraint,
};

use super::{
    expression::last_part,
    parse::{self, Text},
};

/// The tables that a text speaks of as their maker does. One that only adds a key to a table names no columns.
#[must_use]
pub fn tables_of(sql: &str) -> Vec<Table> {
    let parsed = |sql: &str| parse::parse(&Text::of(&[Term::Literal(Name::from(sql))])?, None);
    let statements = parsed(sql).unwrap_or_else(|| {
        // A trigger or an extension's table among them is no reason not to know the others.
        sql.split(';').filter(|piece| !piece.trim().is_empty()).filter_map(parsed).flatten().collect()
    });
    statements.iter().filter_map(table).collect()
}

fn table(statement: &Tree) -> Option<Table> {
    let named = |name: &ObjectName, columns: Vec<Name>, keys: Vec<Vec<Name>>| Table {
        name: last_part(name).into(),
        columns,
        keys,
    };
    match statement {
        Tree::CreateTable(table) => {
            let alone = table.columns.iter().filter(|column| {
                let options = column.options.iter().map(|option| &option.option);
                options
                    .into_iter()
                    .any(|it| matches!(it, ColumnOption::PrimaryKey(_) | ColumnOption::Unique(_)))
            });
            let name = |column: &sqlparser::ast::ColumnDef| Name::from(column.name.value.as_str());
            let mut keys: Vec<Vec<Name>> = alone.map(|column| vec![name(column)]).collect();
            keys.extend(table.constraints.iter().filter_map(key));
            Some(named(&table.name, table.columns.iter().map(name).collect(), keys))
        }
        // One for some of the rows only says nothing of the others.
        Tree::CreateIndex(index) if index.unique && index.predicate.is_none() => {
            Some(named(&index.table_name, vec![], vec![columns(&index.columns)?]))
        }
        Tree::AlterTable(table) => {
            let added = table.operations.iter().filter_map(|operation| match operation {
                AlterTableOperation::AddConstraint { constraint, .. } => key(constraint),
                _ => None,
            });
            let keys: Vec<Vec<Name>> = added.collect();
            (!keys.is_empty()).then(|| named(&table.name, vec![], keys))
        }
        _ => None,
    }
}

fn key(constraint: &TableConstraint) -> Option<Vec<Name>> {
    match constraint {
        TableConstraint::PrimaryKey(key) => columns(&key.columns),
        TableConstraint::Unique(key) => columns(&key.columns),
        _ => None,
    }
}

/// The columns of a key; none if it is of something that is computed from them.
fn columns(key: &[IndexColumn]) -> Option<Vec<Name>> {
    let name = |column: &IndexColumn| match &column.column.expr {
        Expr::Identifier(name) => Some(Name::from(name.value.as_str())),
        _ => None,
    };
    key.iter().map(name).collect()
}
