//! What a refusal says of how a call should have been: values, extensions, the form of a path, a tool that comes first.
//!
//! ```text
//! Invalid status "alpha beta one". Must be one of: open, done        → status: open
//! Unsupported file type .txt, supported: .xlsx, .csv                 → {scratch}/a.xlsx
//! Path must be relative to the vault                                 → a.txt
//! No project yet. Call `init_project` first.                         → init_project, then the call
//! ```

use interlock_hazards::words;
use interlock_model::PlannedCall;
use serde_json::Value;

use crate::{
    files::seeds,
    plan::{
        arguments::{Named, Role, Sampler, Want, making_table, things},
        listing::Listing,
    },
};

/// So many ways to correct a call are tried.
const MOST: usize = 4;
/// Longer words are no values.
const LONGEST: usize = 40;
/// Words behind which values are listed.
const LISTS: &[&str] = &[
    "one of",
    "must be",
    "should be",
    "expected",
    "allowed",
    "valid values",
    "valid options",
    "supported",
    "options",
    "choose from",
    "available",
    "either",
];
/// Words in a refusal of a path that shall not begin at the root.
const RELATIVE: &[&str] = &["relative", "absolute path", "traversal", "outside", "escapes"];

/// Other wishes for the arguments of a call that was refused in these words, the likeliest first.
pub(super) fn corrected(sampler: &Sampler, want: &Want, call: &PlannedCall, refusal: &str) -> Vec<Want> {
    let mut wants = Vec::new();
    for extension in extensions(refusal) {
        wants.push(Want { extension: Some(extension), ..want.clone() });
    }
    let lower = refusal.to_lowercase();
    if RELATIVE.iter().any(|word| lower.contains(word)) {
        wants.push(Want { relative: true, ..want.clone() });
    }
    let several = by_argument(sampler, call, refusal);
    for at in 0..several.iter().map(|(_, values)| values.len()).max().unwrap_or(0) {
        let mut given = want.given.clone();
        for (argument, values) in &several {
            given.extend(
                values.get(at).or(values.last()).map(|value| (argument.clone(), Value::from(value.as_str()))),
            );
        }
        wants.push(Want { given, ..want.clone() });
    }
    let values = listed(refusal).into_iter().chain(of_kind(&lower));
    if let Some(argument) = blamed(sampler, call, refusal).filter(|_| several.is_empty()) {
        for value in values {
            let mut given = want.given.clone();
            given.insert(argument.clone(), Value::from(value));
            wants.push(Want { given, ..want.clone() });
        }
    }
    wants.truncate(MOST);
    wants
}

/// The values that a refusal lists for each of several arguments: as JSON, an entry for each (zod), or in sentences that begin with their names
/// (pydantic). Empty where sentences speak of less than two: then the argument is told by other means as well.
fn by_argument(sampler: &Sampler, call: &PlannedCall, refusal: &str) -> Vec<(String, Vec<String>)> {
    let properties = sampler.tool().input_schema.get("properties").and_then(Value::as_object);
    let names: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let entries = in_entries(&names, refusal);
    let fewest = if entries.is_some() { 1 } else { 2 };
    let parts = entries.unwrap_or_else(|| in_sentences(&names, refusal));
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (name, mut values) in parts {
        let argument = Named::new(name).joined;
        // What was refused is repeated by many.
        let given = call.arguments.get(name).and_then(Value::as_str);
        values.retain(|value| Some(value.as_str()) != given);
        values.truncate(MOST);
        if !values.is_empty() && found.iter().all(|(known, _)| *known != argument) {
            found.push((argument, values));
        }
    }
    if found.len() >= fewest { found } else { Vec::new() }
}

/// The entries of a list in JSON of what is wrong: each has the path of an argument, and values or a sentence that lists them.
fn in_entries<'n>(names: &[&'n str], refusal: &str) -> Option<Vec<(&'n str, Vec<String>)>> {
    let (from, to) = (refusal.find('[')?, refusal.rfind(']')?);
    let entries: Vec<Value> = serde_json::from_str(refusal.get(from..=to)?).ok()?;
    let told = |entry: &Value| {
        let path = entry.get("path")?.as_array()?.iter().rev().find_map(Value::as_str)?;
        let name = names.iter().find(|name| **name == path)?;
        let values = ["options", "values"].iter().find_map(|field| entry.get(*field)?.as_array());
        let values: Vec<String> =
            values.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let message = entry.get("message").and_then(Value::as_str).unwrap_or_default();
        Some((*name, if values.is_empty() { listed(message) } else { values }))
    };
    Some(entries.iter().filter_map(told).collect())
}

/// Parts of a refusal that begin with the name of an argument, up to the next name.
fn in_sentences<'n>(names: &[&'n str], refusal: &str) -> Vec<(&'n str, Vec<String>)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let is_whole = |at: usize, name: &str| {
        let before = refusal.get(..at).and_then(|text| text.chars().next_back());
        let behind = refusal.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    };
    let mut places: Vec<(usize, &str)> = names
        .iter()
        .flat_map(|name| refusal.match_indices(name).map(|(at, _)| (at, *name)))
        .filter(|(at, name)| is_whole(*at, name))
        .collect();
    places.sort_unstable();
    places.dedup_by_key(|(_, name)| *name);
    let ends = places.iter().skip(1).map(|(at, _)| *at).chain([refusal.len()]);
    let parts = places.iter().zip(ends).filter_map(|((at, name), end)| Some((*name, refusal.get(*at..end)?)));
    parts.map(|(name, part)| (name, listed(part))).collect()
}

/// Words of a refusal of a text that is not of a kind, and texts of that kind.
const TEXTS: &[(&[&str], &[&str])] = &[
    (&["isoformat", "iso 8601", "iso8601", "datetime", "timestamp"], &["2030-01-01T12:00:00+00:00"]),
    (&["date"], &["2030-01-01", "2030-01-01T12:00:00+00:00"]),
    (&["cron"], &["0 12 * * *"]),
    (&["uuid"], &["00000000-0000-4000-8000-000000000001"]),
    (&["timezone", "time zone"], &["UTC"]),
    (&["hex color", "color"], &["#ff0000"]),
    (&["valid json", "json.parse", "in json"], &["{}"]),
];

/// Texts of the kind that a refusal in lower case misses.
fn of_kind(refusal: &str) -> impl Iterator<Item = String> {
    let kind = TEXTS.iter().find(|(words, _)| words.iter().any(|word| refusal.contains(word)));
    kind.into_iter().flat_map(|(_, texts)| texts.iter().map(|text| (*text).to_owned()))
}

/// Words of a tool that works on files of a kind, and how such files end.
const KINDS: &[(&[&str], &str)] = &[
    (&["xlsx", "excel", "workbook", "spreadsheet"], "xlsx"),
    (&["docx"], "docx"),
    (&["pptx", "powerpoint"], "pptx"),
    (&["sqlite"], "db"),
    (&["csv"], "csv"),
    (&["yaml", "yml"], "yaml"),
    (&["markdown"], "md"),
    (&["json"], "json"),
];

/// The ending of the files that a tool works on, where its name or what is said of its paths names their kind.
pub(super) fn kind_of_files(tool: &Listing) -> Option<String> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let of_paths = properties.into_iter().flatten().filter(|(name, _)| Named::new(name).role == Role::Path);
    let mut said = words(&tool.name);
    for (name, schema) in of_paths {
        said.extend(words(name));
        // Names of formats are written in many cases, `SQLite`, `CSV`, which say nothing of where a word ends.
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        said.extend(description.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned));
    }
    let is_named = |kind: &&(&[&str], &str)| kind.0.iter().any(|word| said.iter().any(|own| own == word));
    KINDS.iter().find(is_named).map(|(_, ending)| (*ending).to_owned())
}

/// Words in the refusal of a call that speaks of a file which is not there.
const MISSING: &[&str] = &[
    "no such file",
    "not found",
    "does not exist",
    "doesn't exist",
    "enoent",
    "not exist",
    "no file",
    "missing file",
];

/// The files that a refusal asks for, as a step of the set-up: a repository, or those that the call names.
pub(super) fn wanted_files(call: &PlannedCall, refusal: &str) -> Option<PlannedCall> {
    let lower = refusal.to_lowercase();
    // Some libraries say nothing but the folder that is none.
    if words(refusal).iter().any(|word| word == "git")
        && (lower.contains("repo") || names_repository(&call.arguments))
        && stays_at_root(&call.arguments)
    {
        return Some(seeds::of_repository());
    }
    if !MISSING.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let named = things(&call.arguments);
    let paths = named.iter().filter(|(named, _)| named.role == Role::Path && !named.is_other);
    let inside = |value: &'_ Value| {
        let text = value.as_str()?;
        let name = text.strip_prefix("{scratch}/").unwrap_or(text);
        let is_one =
            !name.is_empty() && !name.starts_with('/') && !name.contains(['{', '\\']) && !name.contains("..");
        is_one.then(|| name.to_owned())
    };
    let mut names: Vec<String> = paths.filter_map(|(_, value)| inside(value)).collect();
    if names.is_empty() {
        names.extend(named_in(refusal, &call.arguments));
    }
    seeds::of_files(names.iter().map(String::as_str))
}

/// The first path in the server's folder that a refusal names, if it is an argument of the call: `source` is not named like a path, and is one where
/// the server takes it for one.
fn named_in(refusal: &str, arguments: &Value) -> Option<String> {
    let (_, behind) = refusal.split_once("{scratch}/")?;
    let name: String =
        behind.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/')).collect();
    let name = name.trim_end_matches(['.', '/']).to_owned();
    let mut told = arguments.as_object()?.values().filter_map(Value::as_str);
    let is_told = told.any(|told| told.strip_prefix("{scratch}/").unwrap_or(told) == name);
    (is_told && !name.contains("..")).then_some(name)
}

/// Whether an argument is named after a repository.
fn names_repository(arguments: &Value) -> bool {
    let is_one = |name: &String| words(name).iter().any(|word| word == "repo" || word == "repository");
    arguments.as_object().is_some_and(|arguments| arguments.keys().any(is_one))
}

/// Whether no argument names a folder in the server's folder: a repository is laid down in the server's own.
fn stays_at_root(arguments: &Value) -> bool {
    let named = things(arguments);
    let mut folders = named.iter().filter(|(named, _)| named.role == Role::Folder);
    folders.all(|(_, value)| value == "{scratch}" || value == ".")
}

/// The call that makes the table which a refused statement misses.
pub(super) fn wanted_table(call: &PlannedCall, refusal: &str) -> Option<PlannedCall> {
    let lower = refusal.to_lowercase();
    let misses = lower.contains("table")
        && ["no such", "not exist", "not found"].iter().any(|word| lower.contains(word));
    if misses { making_table(call) } else { None }
}

/// Whether a refusal names a tool: as it is written, or as words behind each other.
pub(crate) fn names_tool(refusal: &str, tool: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let exact = refusal.split(|c: char| !is_part(c)).any(|word| word == tool);
    // One word alone is a word of the language: `search`, `init`.
    let name = words(tool);
    exact
        && (name.len() > 1
            || refusal.contains(&format!("`{tool}`"))
            || refusal.contains(&format!("'{tool}'")))
}

/// The values that a refusal lists.
fn listed(refusal: &str) -> Vec<String> {
    let lower = refusal.to_lowercase();
    // Lower case may have other lengths elsewhere than in ASCII; then nothing is cut out.
    if lower.len() != refusal.len() {
        return Vec::new();
    }
    let Some(behind) = LISTS.iter().filter_map(|word| Some(lower.find(word)? + word.len())).max() else {
        return Vec::new();
    };
    let Some(rest) = refusal.get(behind..) else { return Vec::new() };
    let rest = rest.split(['\n', ';']).next().unwrap_or_default();
    // Behind it stands what was given.
    let rest = rest.split(" [type=").next().unwrap_or_default();
    let quoted = quoted(rest);
    if !quoted.is_empty() {
        return quoted;
    }
    let Some((_, list)) = rest.split_once(':') else { return Vec::new() };
    let list = list.split(". ").next().unwrap_or_default();
    let parts =
        list.split([',', '|', '/']).flat_map(|part| part.split(" or ")).flat_map(|part| part.split(" and "));
    let parts: Vec<String> = parts
        .map(|part| part.trim().trim_matches(['.', '[', ']', '(', ')']).trim().to_owned())
        .filter(|part| !part.is_empty() && part.len() <= LONGEST && !part.contains(' '))
        .collect();
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// What stands between quotes.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let Some(quote) = rest.get(at..).and_then(|from| from.chars().next()) else { break };
        let Some(inside) = rest.get(at + quote.len_utf8()..) else { break };
        let Some((value, after)) = inside.split_once(quote) else { break };
        if !value.is_empty() && value.len() <= LONGEST {
            found.push(value.to_owned());
        }
        rest = after;
    }
    found
}

/// The argument that a refusal speaks of: by its name, or by the value that it was given.
fn blamed(sampler: &Sampler, call: &PlannedCall, refusal: &str) -> Option<String> {
    let properties = sampler.tool().input_schema.get("properties")?.as_object()?;
    let said = words(refusal);
    let is_named = |name: &&String| {
        let name = words(name);
        !name.is_empty() && said.windows(name.len()).any(|part| part == name)
    };
    let was_given = |name: &&String| {
        call.arguments.get(name.as_str()).and_then(Value::as_str).is_some_and(|value| {
            value.len() > 2
                && (refusal.contains(&format!("'{value}'")) || refusal.contains(&format!("\"{value}\"")))
        })
    };
    let name = properties.keys().find(was_given).or_else(|| {
        // The longest name says most: `status` stands in `task_status`.
        properties.keys().filter(is_named).max_by_key(|name| name.len())
    });
    name.map(|name| Named::new(name).joined)
}

/// The extensions that a refusal names, without that of our own files.
fn extensions(refusal: &str) -> Vec<String> {
    let lower = refusal.to_lowercase();
    if !["extension", "file type", "format", "support", "must end", "must be a", "only"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for word in lower.split(|c: char| c.is_whitespace() || "'\"`,()[]*".contains(c)) {
        let Some(extension) = word.trim_end_matches(['.', ':', ';']).strip_prefix('.') else { continue };
        let is_one =
            (1..=8).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric());
        if is_one && extension != "txt" && !found.iter().any(|known| known == extension) {
            found.push(extension.to_owned());
        }
    }
    found.truncate(2);
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::plan::arguments::Pool;

    fn check(refusal: &str, expected: Expect) {
        let string = json!({"type": "string"});
        let listing = Listing::read(&json!({
            "name": "change_task",
            "inputSchema": {
                "type": "object",
                "properties": {"path": string, "task_status": string, "text": string},
                "required": ["path", "task_status", "text"],
            },
        }));
        let sampler = Sampler::new(listing.unwrap()).unwrap();
        let arguments = sampler.sample(&Want::default(), &Pool::default()).unwrap();
        let call = PlannedCall::new("change_task", arguments);
        let wants = corrected(&sampler, &Want::default(), &call, refusal);
        let calls = wants.iter().filter_map(|want| sampler.sample(want, &Pool::default()));
        expected.assert_eq(&calls.map(|call| format!("{call}\n")).collect::<String>());
    }

    #[test]
    fn a_file_that_only_the_refusal_calls_a_path_is_laid_down() {
        let call = PlannedCall::new("move_file", json!({"source": "file-a", "destination": "file-b"}));
        let words = "ENOENT: no such file or directory, rename '{scratch}/file-a' -> '{scratch}/file-b'";
        let step = wanted_files(&call, words).unwrap();
        assert_eq!(step.arguments, json!({"write": {"file-a": "alpha beta\n"}}));
        assert_eq!(wanted_files(&call, "ENOENT: no such file, open '{scratch}/data/x.json'"), None);
    }

    #[test]
    fn what_a_refusal_lists_becomes_an_argument() {
        check(
            "Invalid task_status. Must be one of: open, done.",
            expect![[r#"
                {"path":"{scratch}/a.txt","task_status":"open","text":"alpha beta one"}
                {"path":"{scratch}/a.txt","task_status":"done","text":"alpha beta one"}
            "#]],
        );
        check(
            "1 validation error: task_status\n  Input should be 'todo' or 'done' [type=literal_error]",
            expect![[r#"
                {"path":"{scratch}/a.txt","task_status":"todo","text":"alpha beta one"}
                {"path":"{scratch}/a.txt","task_status":"done","text":"alpha beta one"}
            "#]],
        );
        check(
            "Unsupported file type: a.txt. Supported extensions: .xlsx, .csv",
            expect![[r#"
                {"path":"{scratch}/a.xlsx","task_status":"alpha beta one","text":"alpha beta one"}
                {"path":"{scratch}/a.csv","task_status":"alpha beta one","text":"alpha beta one"}
            "#]],
        );
        check(
            "The path must be relative to the vault",
            expect![[r#"
                {"path":"a.txt","task_status":"alpha beta one","text":"alpha beta one"}
            "#]],
        );
        check(
            "Invalid isoformat string: 'alpha beta one'",
            expect![[r#"
                {"path":"{scratch}/a.txt","task_status":"2030-01-01T12:00:00+00:00","text":"alpha beta one"}
            "#]],
        );
        check(
            "2 validation errors for change_task task_status   Input should be 'todo' or 'done' [type=literal_error, input_value='alpha beta one', \
             input_type=str]     For further information visit https://example.org/2/v/literal_error text   Input should be 'x' [type=literal_error]",
            expect![[r#"
                {"path":"{scratch}/a.txt","task_status":"todo","text":"x"}
                {"path":"{scratch}/a.txt","task_status":"done","text":"x"}
            "#]],
        );
        check(
            r#"Invalid arguments for tool change_task: [ { "code": "invalid_enum_value", "options": ["todo", "done"], "path": ["task_status"], "message": "Invalid enum value." }, { "code": "invalid_value", "values": ["x"], "path": ["text"], "message": "Invalid option" } ]"#,
            expect![[r#"
                {"path":"{scratch}/a.txt","task_status":"todo","text":"x"}
                {"path":"{scratch}/a.txt","task_status":"done","text":"x"}
            "#]],
        );
        check("There is no such task", expect![""]);
        check("Must be one of: ", expect![""]);
    }

    #[test]
    fn files_are_laid_down_where_a_refusal_misses_them() {
        let call = PlannedCall::new("edit", json!({"path": "{scratch}/a.md", "text": "one"}));
        let wanted = |refusal: &str| wanted_files(&call, refusal).map(|step| step.arguments.to_string());
        let file = Some(r##"{"write":{"a.md":"# alpha\n\nalpha beta\n"}}"##.to_owned());
        assert_eq!(wanted("Error: ENOENT: no such file or directory, open 'a.md'"), file);
        assert_eq!(wanted("the text was not accepted"), None);
        assert!(wanted("fatal: not a git repository").unwrap().contains(".git/HEAD"));
        let at = |folder: &str| {
            let call = PlannedCall::new("git_status", json!({ "repo_path": folder }));
            wanted_files(&call, &format!("Error executing tool git_status: {folder}"))
        };
        assert!(at("{scratch}").is_some(), "the refusal says nothing but which folder it is");
        assert_eq!(at("{scratch}/a"), None, "a repository is laid down in the server's own folder");
        let outside = PlannedCall::new("edit", json!({"path": "/etc/x.md", "text": "one"}));
        assert_eq!(wanted_files(&outside, "no such file"), None);
    }

    #[test]
    fn what_is_said_of_a_path_names_the_kind_of_its_file() {
        let ending = |name: &str, argument: &str, description: &str| {
            let property = json!({ argument: {"type": "string", "description": description} });
            let tool = json!({"name": name, "inputSchema": {"type": "object", "properties": property}});
            kind_of_files(&Listing::read(&tool).unwrap())
        };
        assert_eq!(ending("add_row", "file_path", "Path of the Excel file").as_deref(), Some("xlsx"));
        assert_eq!(ending("create_workbook", "path", "").as_deref(), Some("xlsx"));
        assert_eq!(ending("query", "db_path", "a SQLite file").as_deref(), Some("db"));
        assert_eq!(ending("write", "path", "where to write"), None);
        assert_eq!(ending("write", "text", "JSON of the note"), None, "no path");
    }

    #[test]
    fn a_workbook_is_laid_down_where_it_is_missed() {
        let call = PlannedCall::new("edit", json!({"path": "{scratch}/a.xlsx"}));
        let wanted = wanted_files(&call, "File does not exist: a.xlsx").unwrap();
        assert_eq!(wanted.arguments, json!({"make": ["a.xlsx"]}));
    }

    #[test]
    fn a_tool_is_named_as_a_whole_and_a_single_word_only_in_quotes() {
        assert!(names_tool("No project yet. Call init_project first.", "init_project"));
        assert!(names_tool("Use `init` before that", "init"));
        assert!(!names_tool("Nothing to search", "search"));
        assert!(!names_tool("reinit_project_all", "init_project"));
    }
}
