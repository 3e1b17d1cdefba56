//! Text that is no TOML: what its author has most likely meant.

use std::ops::Range;

use super::super::problem::Source;

/// What is wrong at a place where the parser says this.
pub(super) fn told(source: Source<'_>, at: &Range<usize>, said: &str) -> String {
    let line = line_at(source.text, at.start);
    if let Some(written) = without_quotes(line) {
        return format!("a text stands in quotes: write `{written}`");
    }
    if let Some(name) = one_of_several(source.text, line) {
        return format!("there may be several: write `[[{name}]]`, with two brackets");
    }
    said.to_owned()
}

fn line_at(text: &str, at: usize) -> &str {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(text.len(), |end| before.len() + end);
    text.get(start..end).unwrap_or_default()
}

/// `name = files`, with the quotes that it lacks.
fn without_quotes(line: &str) -> Option<String> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.split(" #").next().unwrap_or_default().trim());
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_key = !key.is_empty() && key.chars().all(is_bare);
    let begins = value.chars().next()?;
    let is_plain = !value.contains(['"', '\'', '\\']) && !value.chars().any(char::is_control);
    // What begins with these is a list, a table or a text whose end is missing: there the parser knows more.
    let is_text = is_plain && !matches!(begins, '[' | '{' | '#');
    let is_other = matches!(value, "true" | "false") || value.parse::<f64>().is_ok();
    (is_key && is_text && !is_other).then(|| format!("{key} = \"{value}\""))
}

/// The name of a table that stands there once, where the file also has a list of the same name.
fn one_of_several<'t>(text: &str, line: &'t str) -> Option<&'t str> {
    let name = line.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let is_list = !name.starts_with('[') && text.contains(&format!("[[{name}]]"));
    is_list.then_some(name)
}
