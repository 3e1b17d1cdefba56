//! The tables that statements make, with their columns and keys.

use interlock_model::ir::{Name, Table, Term};
use sqlparser::ast::{
    AlterTableOperation, BinaryOperator, ColumnOption, Expr, IndexColumn, ObjectName, Statement as Tree,
    TableConstraint,
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
        // One for some of the rows only says nothing of the others: who looks for one of those has to say that it is, `deleted_at IS NULL`.
        Tree::CreateIndex(index) if index.unique => {
            let mut key = columns(&index.columns)?;
            if let Some(predicate) = &index.predicate {
                demanded(predicate, &mut key)?;
            }
            Some(named(&index.table_name, vec![], vec![key]))
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

/// Adds the columns of which a condition says what they hold; none if it is more than that.
fn demanded(condition: &Expr, key: &mut Vec<Name>) -> Option<()> {
    let column = match condition {
        Expr::Nested(inner) => return demanded(inner, key),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            demanded(left, key)?;
            return demanded(right, key);
        }
        // Who looks for a row by a value has no empty one in mind.
        Expr::IsNotNull(inner) => match &**inner {
            Expr::Identifier(name) if key.iter().any(|column| **column == *name.value) => return Some(()),
            _ => return None,
        },
        Expr::IsNull(inner) => inner,
        Expr::BinaryOp { left, op: BinaryOperator::Eq, .. } => left,
        _ => return None,
    };
    let Expr::Identifier(name) = &**column else { return None };
    if !key.iter().any(|known| **known == *name.value) {
        key.push(name.value.as_str().into());
    }
    Some(())
}

/// The columns of a key; none if it is of something that is computed from them.
fn columns(key: &[IndexColumn]) -> Option<Vec<Name>> {
    let name = |column: &IndexColumn| match &column.column.expr {
        Expr::Identifier(name) => Some(Name::from(name.value.as_str())),
        _ => None,
    };
    key.iter().map(name).collect()
}
