//! Statements for tools that are told SQL: one that makes a table, one that adds a row to it, one that only looks.

use interlock_hazards::words;
use interlock_model::PlannedCall;
use serde_json::{Map, Value};

use crate::plan::listing::Listing;

/// Last words of arguments that may be SQL, where something says so.
const STATEMENTS: &[&str] = &["query", "statement", "command", "queries"];
/// Words that say so.
const DIALECTS: &[&str] = &["sql", "sqlite", "duckdb", "postgres", "postgresql", "mysql", "libsql"];
/// How the statement begins that adds a row, up to the table's name.
const ADDS: &str = "INSERT INTO ";

/// A statement for an argument, if it is SQL.
pub(super) fn statement(
    tool: &Listing,
    name: &str,
    schema: &Map<String, Value>,
    thing: char,
    said: &str,
) -> Option<String> {
    let own = words(name);
    let last = own.last()?;
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut told = lower_words(description);
    let is_told = told.iter().any(|word| DIALECTS.contains(&word.as_str()))
        || lower_words(&tool.description)
            .iter()
            .chain(&words(&tool.name))
            .any(|word| DIALECTS.contains(&word.as_str()));
    let is_sql = own.iter().any(|word| word == "sql") || (STATEMENTS.contains(&last.as_str()) && is_told);
    if !is_sql {
        return None;
    }
    let tool_words = words(&tool.name);
    let has = |word: &str| tool_words.iter().any(|own| own == word);
    told.extend(lower_words(&tool.description));
    let says = |word: &str| told.iter().any(|own| own == word);
    Some(if has("create") && has("table") {
        table(thing)
    } else if tool.looks_like_reader() || (says("select") && !says("insert")) {
        // There is a view of this name in SQLite and in DuckDB.
        "SELECT name FROM sqlite_master ORDER BY name".to_owned()
    } else {
        format!("{ADDS}item_{thing} (id, note) VALUES ('{thing}', '{said}')")
    })
}

fn table(thing: char) -> String {
    format!("CREATE TABLE item_{thing} (id TEXT, note TEXT)")
}

/// The call of the same tool that makes the table which a call misses.
pub(crate) fn making_table(call: &PlannedCall) -> Option<PlannedCall> {
    let mut arguments = call.arguments.as_object()?.clone();
    let (name, statement) = arguments.iter().find_map(|(name, value)| {
        let rest = value.as_str()?.strip_prefix(ADDS)?.strip_prefix("item_")?;
        Some((name.clone(), table(rest.chars().next()?)))
    })?;
    arguments.insert(name, Value::from(statement));
    Some(PlannedCall { arguments: Value::Object(arguments), ..call.clone() })
}

fn lower_words(text: &str) -> Vec<String> {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(tool: &str, said: &str, argument: &str, description: &str) -> Option<String> {
        let tool = Listing { name: tool.into(), description: said.into(), ..Listing::default() };
        let schema = json!({"type": "string", "description": description});
        statement(&tool, argument, schema.as_object()?, 'a', "one")
    }

    #[test]
    fn who_is_told_sql_gets_a_statement_that_does_what_the_tool_does() {
        let made = "CREATE TABLE item_a (id TEXT, note TEXT)";
        let added = "INSERT INTO item_a (id, note) VALUES ('a', 'one')";
        let looked = "SELECT name FROM sqlite_master ORDER BY name";
        assert_eq!(of("create_table", "", "query", "CREATE TABLE SQL statement").as_deref(), Some(made));
        assert_eq!(of("write_query", "", "query", "The SQL query to execute").as_deref(), Some(added));
        assert_eq!(of("execute", "Runs a statement on SQLite", "statement", "").as_deref(), Some(added));
        assert_eq!(of("run", "", "sql", "").as_deref(), Some(added));
        assert_eq!(of("read_query", "", "query", "SELECT SQL query").as_deref(), Some(looked));
        assert_eq!(of("run_select", "only SELECT is allowed", "sql", "").as_deref(), Some(looked));
    }

    #[test]
    fn who_is_told_something_else_does_not() {
        assert_eq!(of("search", "", "query", "what to look for"), None);
        assert_eq!(of("add_note", "Keeps notes in SQLite", "text", "SQL or prose"), None);
        assert_eq!(of("run_command", "", "command", "a shell command"), None);
        assert_eq!(of("save", "", "statement", "of the account"), None);
    }

    #[test]
    fn the_table_that_a_row_misses_is_made_by_the_same_tool() {
        let adds = PlannedCall::new(
            "execute",
            json!({"sql": "INSERT INTO item_b (id, note) VALUES ('b', 'one')", "db": "x"}),
        );
        let makes = PlannedCall::new(
            "execute",
            json!({"sql": "CREATE TABLE item_b (id TEXT, note TEXT)", "db": "x"}),
        );
        assert_eq!(making_table(&adds), Some(makes.clone()));
        assert_eq!(making_table(&makes), None);
        assert_eq!(making_table(&PlannedCall::new("list", json!({}))), None);
    }
}
