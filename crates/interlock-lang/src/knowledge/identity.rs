//! Which columns of a filter say which row is meant, and which are a condition on it.
//!
//! `WHERE id = $1 AND version = $2` means the row `$1`, provided that its version is `$2`. Statements are often all there is, so names
//! are what the columns are chosen by; where they say nothing, a declared key does.

use interlock_model::ir::{Comparator, Comparison, Condition, Fresh, Name, Term};

use super::statement::Demand;

/// The row, and the condition on it. `written` are the columns that the statement changes: those cannot say which row it is.
/// `declared` are the demands that are a key of the table.
pub(super) fn split(
    table: &Term,
    demands: &[Demand],
    written: &[&Name],
    declared: &[&Demand],
) -> (Term, Condition) {
    let equal: Vec<&Demand> = demands
        .iter()
        .filter(|demand| demand.how == Comparator::Equal && !written.contains(&&demand.column))
        .collect();
    let mut keys = identifying(table, &equal);
    if keys.is_empty()
        && let [only] = equal.as_slice()
        && !matches!(only.with, Term::Literal(_))
    {
        keys = vec![*only];
    }
    if keys.is_empty() && !declared.iter().any(|demand| written.contains(&&demand.column)) {
        keys = declared.to_vec();
    }
    let is_key = |demand: &Demand| keys.iter().any(|key| std::ptr::eq(*key, demand));
    // `id IN (…)` names rows too, only more of them.
    let names_rows = |demand: &Demand| demand.how == Comparator::Other && is_name(&demand.column);
    let rest = demands.iter().filter(|demand| !is_key(demand) && !names_rows(demand)).map(|demand| {
        Comparison { column: demand.column.clone(), how: demand.how, with: demand.with.clone() }
    });
    let condition = Condition(rest.collect());
    (term_of(keys), condition)
}

/// The row that an insert makes: by what the caller names it, else a new one.
pub(super) fn of_new(table: &Term, given: &[Demand]) -> Term {
    let named: Vec<&Demand> =
        given.iter().filter(|demand| !matches!(demand.with, Term::Fresh(_) | Term::Unknown)).collect();
    let keys = identifying(table, &named);
    if keys.is_empty() { Term::Fresh(Fresh::Random) } else { term_of(keys) }
}

/// The row that all of these name together.
pub(super) fn by_all(given: &[Demand]) -> Term {
    if given.is_empty() { Term::Unknown } else { term_of(given.iter().collect()) }
}

fn term_of(mut keys: Vec<&Demand>) -> Term {
    // By name, so that two statements that name the columns in another order mean the same row.
    keys.sort_by(|one, two| one.column.cmp(&two.column));
    match keys.as_slice() {
        [] => Term::Any,
        [one] => one.with.clone(),
        many => {
            let parts = many.iter().flat_map(|key| [Term::Literal("/".into()), key.with.clone()]);
            Term::Join(parts.skip(1).collect())
        }
    }
}

/// The columns that name a row: its own id if there is one; else all that look like names, without those that say whose it is if
/// there are others.
fn identifying<'d>(table: &Term, equal: &[&'d Demand]) -> Vec<&'d Demand> {
    let own = |demand: &&&Demand| is_own_id(&demand.column, table);
    if let Some(own) = equal.iter().find(own) {
        return vec![own];
    }
    let named: Vec<&Demand> = equal.iter().filter(|demand| is_name(&demand.column)).copied().collect();
    let others: Vec<&Demand> = named.iter().filter(|demand| !is_owner(&demand.column)).copied().collect();
    if others.is_empty() { named } else { others }
}

/// Whether a column is called like one that says which row of a table is meant.
pub(super) fn may_name(table: &Term, column: &str) -> bool {
    is_own_id(column, table) || is_name(column)
}

fn plain(column: &str) -> String {
    column.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

fn is_own_id(column: &str, table: &Term) -> bool {
    let column = plain(column);
    if matches!(column.as_str(), "id" | "uuid" | "pk" | "rowid") {
        return true;
    }
    let Term::Literal(table) = table else { return false };
    let table = plain(table);
    let stem = column.strip_suffix("id").or_else(|| column.strip_suffix("uuid"));
    stem.is_some_and(|stem| {
        !stem.is_empty()
            && (table == stem || table.strip_prefix(stem).is_some_and(|end| end == "s" || end == "es"))
    })
}

fn is_name(column: &str) -> bool {
    let column = plain(column);
    ["id", "key", "name", "slug", "email", "uuid", "path", "token", "code", "uri", "url"]
        .iter()
        .any(|end| column.ends_with(end))
}

fn is_owner(column: &str) -> bool {
    let column = plain(column);
    let stem = column.strip_suffix("id").unwrap_or(&column);
    matches!(
        stem,
        "owner"
            | "user"
            | "account"
            | "tenant"
            | "org"
            | "organization"
            | "author"
            | "customer"
            | "workspace"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &str, equal: &[&str], key: &str, rest: &[&str]) {
        let demands: Vec<Demand> = equal
            .iter()
            .map(|column| Demand {
                column: (*column).into(),
                how: Comparator::Equal,
                with: interlock_model::ir::AccessPath::global(*column).into(),
            })
            .collect();
        let (found, condition) = split(&table.into(), &demands, &[], &[]);
        let found = match &found {
            Term::Any => "*".to_owned(),
            Term::Path(path) => super::super::place::last_name(path).unwrap().to_string(),
            Term::Join(parts) => parts
                .iter()
                .map(|part| match part {
                    Term::Path(path) => super::super::place::last_name(path).unwrap().to_string(),
                    _ => "/".into(),
                })
                .collect(),
            other => format!("{other:?}"),
        };
        let columns: Vec<&str> = condition.0.iter().map(|demand| &*demand.column).collect();
        assert_eq!((found.as_str(), columns.as_slice()), (key, rest), "{table} {equal:?}");
    }

    #[test]
    fn the_key_is_the_row_s_own_id_and_the_rest_is_a_condition() {
        check("documents", &["id", "version"], "id", &["version"]);
        check("documents", &["version", "document_id"], "document_id", &["version"]);
        check("files", &["id", "owner_id"], "id", &["owner_id"]);
        check("boxes", &["owner_id", "box_id"], "box_id", &["owner_id"]);
    }

    #[test]
    fn several_names_are_one_key_in_whatever_order() {
        check("stock", &["product_id", "shelf_id"], "product_id/shelf_id", &[]);
        check("stock", &["shelf_id", "product_id"], "product_id/shelf_id", &[]);
        check("items", &["user_id", "slug"], "slug", &["user_id"]);
        check("carts", &["user_id"], "user_id", &[]);
    }

    #[test]
    fn the_only_equality_is_the_key() {
        check("limits", &["caller"], "caller", &[]);
        check("limits", &["caller", "window"], "*", &["caller", "window"]);
        check("limits", &[], "*", &[]);
    }
}
