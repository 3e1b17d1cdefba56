//! The columns and keys of a table that a migration of Knex makes, in a function that is handed the table:
//! `schema.createTable("users", (table) => { table.string("email").unique(); table.unique(["org", "name"]); })`.

use interlock_model::ir::{FunctionId, Name, Root};

use super::drizzle::{chain_to, method};
use crate::{
    Arg, Shape,
    eval::{Definition, Evaluator},
    module::Site,
};

/// The methods that are handed a table to describe.
const DESCRIBES: [&str; 4] = ["createTable", "createTableIfNotExists", "alterTable", "table"];
/// What a table is told that is no column of it.
const NO_COLUMN: [&str; 14] = [
    "unique",
    "primary",
    "index",
    "foreign",
    "dropColumn",
    "dropColumns",
    "dropUnique",
    "dropPrimary",
    "dropIndex",
    "dropForeign",
    "dropTimestamps",
    "renameColumn",
    "comment",
    "inherits",
];

/// Whether a call hands a named table to a function that may describe it.
pub(super) fn may_describe(site: &Site) -> bool {
    let [name, function, ..] = &*site.arguments else { return false };
    matches!(function.shape, Shape::Function { .. })
        && method(site).is_some_and(|method| DESCRIBES.contains(&method))
        && name.literal().is_some()
}

/// The columns that a function gives a table, and the keys.
pub(super) fn described(eval: &Evaluator<'_, '_>, function: FunctionId) -> (Vec<Name>, Vec<Vec<Name>>) {
    let (mut columns, mut keys) = (vec![], vec![]);
    let inside = eval.flat.sites.iter().enumerate().filter(|(_, site)| site.within == function.0);
    for (number, site) in inside {
        let chain = chain_to(eval, u32::try_from(number).unwrap_or(u32::MAX));
        let Some(first) = chain.last().filter(|first| is_of_table(eval, first)) else { continue };
        let (Some(begins), Some(ends)) = (method(first), method(site)) else { continue };
        let column = first.arguments.first().and_then(Arg::literal);
        if chain.len() > 1 {
            if let ("unique" | "primary", Some(column)) = (ends, column) {
                keys.push(vec![column.clone()]);
            }
            continue;
        }
        match begins {
            "unique" | "primary" => keys.extend(first.arguments.first().and_then(listed)),
            "timestamps" => columns.extend(["created_at".into(), "updated_at".into()]),
            "increments" | "bigIncrements" => {
                let name: Name = column.cloned().unwrap_or_else(|| "id".into());
                columns.push(name.clone());
                keys.push(vec![name]);
            }
            other if !NO_COLUMN.contains(&other) => columns.extend(column.cloned()),
            _ => {}
        }
    }
    (columns, keys)
}

/// Whether a method is called on the table that the function was handed.
fn is_of_table(eval: &Evaluator<'_, '_>, site: &Site) -> bool {
    let Some(callee) = &site.callee else { return false };
    match callee.root {
        Root::Value(value) if callee.fields.len() == 1 => {
            matches!(eval.definition(FunctionId(site.within), value), Some(Definition::Parameter(0)))
        }
        _ => false,
    }
}

/// A column, or several.
fn listed(arg: &Arg) -> Option<Vec<Name>> {
    match &arg.shape {
        Shape::List(columns) => columns.iter().map(|column| column.literal().cloned()).collect(),
        _ => arg.literal().map(|column| vec![column.clone()]),
    }
}
