//! One side of a comparison as lines of JSON, marked where the other side differs.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    clean,
    proof::{delta::Delta, markup, value},
};

/// A value that is not wider than this stays on one line.
const SHORT: usize = 56;

/// More lines that are the same are folded.
const FOLD: usize = 5;

/// More lines in a row that are the same are folded together.
const RUN: usize = 8;

/// More lines than this are counted; what is folded counts apart, so that it never hides a difference behind it.
const ROWS: usize = 400;
const FOLDED: usize = 200;

/// A line is cut at so many columns.
const WIDEST: usize = 2_000;

/// Which side is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Observed,
    Legal,
}

/// What a line is to the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Same,
    /// The other side has something else.
    Changed,
    /// The other side has nothing.
    Here,
    /// Only the other side has it.
    Gone,
}

/// One line.
pub(super) struct Row {
    state: State,
    indent: usize,
    text: String,
    /// Lines that are shown on demand.
    folded: Vec<Row>,
}

impl Row {
    fn new(state: State, indent: usize, text: String) -> Self {
        Self { state, indent, text, folded: Vec::new() }
    }

    /// A line of our own words.
    pub(super) fn quiet(text: &str) -> Self {
        Self::new(State::Same, 0, text.to_owned())
    }
}

/// The lines of one side.
pub(super) fn rows(delta: &Delta, side: Side) -> Vec<Row> {
    let mut out = Vec::new();
    walk(&mut out, delta, side, 0, "");
    out
}

fn walk(out: &mut Vec<Row>, delta: &Delta, side: Side, indent: usize, key: &str) {
    match delta {
        Delta::Same(same) => unchanged(out, same, indent, key),
        Delta::Object(entries) => {
            out.push(Row::new(State::Same, indent, format!("{key}{{")));
            let entries =
                entries.iter().map(|(name, delta)| (format!("{}: ", Value::from(name.as_str())), delta));
            children(out, entries, |out, key, delta| walk(out, delta, side, indent + 1, &key), indent + 1);
            out.push(Row::new(State::Same, indent, "}".to_owned()));
        }
        Delta::List(items) => {
            out.push(Row::new(State::Same, indent, format!("{key}[")));
            let items = items.iter().map(|(_, delta)| ((), delta));
            children(out, items, |out, (), delta| walk(out, delta, side, indent + 1, ""), indent + 1);
            out.push(Row::new(State::Same, indent, "]".to_owned()));
        }
        Delta::Text(inner) => walk(out, inner, side, indent, &format!("{key}text of ")),
        Delta::Lines(lines) => {
            out.push(Row::new(State::Same, indent, format!("{key}text of several lines")));
            let lines = lines.iter().map(|(_, delta)| ((), delta));
            let line = |out: &mut Vec<Row>, (), delta: &Delta| {
                if let Some((state, line)) = sided(delta, side) {
                    out.push(Row::new(state, indent + 1, line.as_str().unwrap_or_default().to_owned()));
                }
            };
            children(out, lines, line, indent + 1);
        }
        leaf => {
            // What is not there is shown as it would stand there, so that the sides can be laid beside each other.
            if let Some((state, value)) = sided(leaf, side) {
                plain(out, value, state, indent, key);
            }
        }
    }
}

/// The lines of what lies inside a value. A long run of what is the same is folded.
fn children<'d, K>(
    out: &mut Vec<Row>,
    items: impl Iterator<Item = (K, &'d Delta)>,
    show: impl Fn(&mut Vec<Row>, K, &'d Delta),
    indent: usize,
) {
    let mut run = Vec::new();
    for (key, delta) in items {
        if delta.is_same() {
            show(&mut run, key, delta);
        } else {
            fold(out, &mut run, indent);
            show(out, key, delta);
        }
    }
    fold(out, &mut run, indent);
}

/// Puts a run of lines that are the same behind the others.
fn fold(out: &mut Vec<Row>, run: &mut Vec<Row>, indent: usize) {
    if run.len() <= RUN {
        out.append(run);
        return;
    }
    let lines: Vec<Row> =
        run.drain(..).flat_map(|row| if row.folded.is_empty() { vec![row] } else { row.folded }).collect();
    let mut row = Row::new(State::Same, indent, format!("… {} lines, the same", lines.len()));
    row.folded = lines;
    out.push(row);
}

/// What one side shows of a place where nothing is compared further.
fn sided(delta: &Delta, side: Side) -> Option<(State, &Value)> {
    match (delta, side) {
        (Delta::Same(same), _) => Some((State::Same, same)),
        (Delta::Changed { observed, .. }, Side::Observed) => Some((State::Changed, observed)),
        (Delta::Changed { legal, .. }, Side::Legal) => Some((State::Changed, legal)),
        (Delta::Missing(value), Side::Legal) | (Delta::Extra(value), Side::Observed) => {
            Some((State::Here, value))
        }
        (Delta::Missing(value), Side::Observed) | (Delta::Extra(value), Side::Legal) => {
            Some((State::Gone, value))
        }
        _ => None,
    }
}

/// What both sides have: on one line if it is short, folded if it is long.
fn unchanged(out: &mut Vec<Row>, value: &Value, indent: usize, key: &str) {
    let mut lines = Vec::new();
    plain(&mut lines, value, State::Same, indent, key);
    if lines.len() <= FOLD {
        out.append(&mut lines);
        return;
    }
    let open = if value.is_array() { "[ … ]" } else { "{ … }" };
    let mut row = Row::new(State::Same, indent, format!("{key}{open} {} lines, the same", lines.len()));
    row.folded = lines;
    out.push(row);
}

/// A value, over several lines if it is wide, all in one state.
fn plain(out: &mut Vec<Row>, value: &Value, state: State, indent: usize, key: &str) {
    let compact = value::compact(value);
    let narrow = clean::width(&compact) + clean::width(key) <= SHORT;
    match value {
        Value::Array(items) if !narrow => {
            out.push(Row::new(state, indent, format!("{key}[")));
            for item in items {
                plain(out, item, state, indent + 1, "");
            }
            out.push(Row::new(state, indent, "]".to_owned()));
        }
        Value::Object(object) if !narrow => {
            out.push(Row::new(state, indent, format!("{key}{{")));
            for (name, item) in value::entries(object) {
                plain(out, item, state, indent + 1, &format!("{}: ", Value::from(name.as_str())));
            }
            out.push(Row::new(state, indent, "}".to_owned()));
        }
        _ => out.push(Row::new(state, indent, format!("{key}{compact}"))),
    }
}

/// The lines as markup.
pub(super) fn html(out: &mut String, rows: &[Row]) {
    out.push_str(r#"<div class="json">"#);
    let mut before = State::Same;
    for row in rows.iter().take(ROWS) {
        if row.folded.is_empty() {
            single(out, row, before);
        } else {
            let text = markup::short(&row.text, WIDEST);
            let _ = write!(out, r#"<details><summary class="l" {}>{text}</summary>"#, depth(row));
            for inner in row.folded.iter().take(FOLDED) {
                single(out, inner, State::Same);
            }
            more(out, row.folded.len(), FOLDED);
            out.push_str("</details>");
        }
        before = row.state;
    }
    more(out, rows.len(), ROWS);
    out.push_str("</div>");
}

/// Says how many lines are not shown.
fn more(out: &mut String, lines: usize, shown: usize) {
    if let Some(more @ 1..) = lines.checked_sub(shown) {
        let _ = write!(out, r#"<div class="l more">… {more} more lines; the JSON report has them</div>"#);
    }
}

fn single(out: &mut String, row: &Row, before: State) {
    let (class, sign, tag, said) = match row.state {
        State::Same => ("", "", "span", ""),
        State::Changed => (" changed", "≠", "mark", "different"),
        State::Here => (" here", "+", "ins", "only here"),
        State::Gone => (" gone", "−", "del", "missing"),
    };
    let _ = write!(out, r#"<div class="l{class}" {}>"#, depth(row));
    if row.state != State::Same {
        let _ = write!(out, r#"<span class="sign" aria-hidden="true">{sign}</span>"#);
    }
    // Once for lines that belong together.
    if row.state != State::Same && row.state != before {
        let _ = write!(out, r#"<span class="tag">{said}</span>"#);
    }
    let _ = write!(out, "<{tag}>{}</{tag}></div>", markup::short(&row.text, WIDEST));
}

/// How far a line is set in, within reason.
fn depth(row: &Row) -> String {
    format!(r#"style="--d:{}""#, row.indent.min(30))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;
    use crate::proof::delta;

    fn check(observed: &Value, legal: &Value, expect: Expect) {
        let mut out = String::new();
        let delta = delta::between(observed, legal);
        for (name, side) in [("observed", Side::Observed), ("legal", Side::Legal)] {
            out.push_str(&format!("{name}\n"));
            for row in rows(&delta, side) {
                let sign = match row.state {
                    State::Same => ' ',
                    State::Changed => '≠',
                    State::Here => '+',
                    State::Gone => '−',
                };
                out.push_str(format!("{sign} {}{}", "  ".repeat(row.indent), row.text).trim_end());
                out.push('\n');
            }
        }
        expect.assert_eq(&out);
    }

    #[test]
    fn each_side_shows_what_it_has_and_what_it_lacks() {
        let long: Vec<String> = (0..9).map(|number| format!("the entry with number {number}")).collect();
        check(
            &json!({"entities": ["ada"], "balance": 5, "log": long}),
            &json!({"entities": ["ada", {"name": "bob", "note": "x".repeat(60)}], "balance": 7, "log": long}),
            expect![[r#"
                observed
                  {
                ≠   "balance": 5
                    "entities": [
                      "ada"
                −     {
                −       "name": "bob"
                −       "note": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                −     }
                    ]
                    "log": [ … ] 11 lines, the same
                  }
                legal
                  {
                ≠   "balance": 7
                    "entities": [
                      "ada"
                +     {
                +       "name": "bob"
                +       "note": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                +     }
                    ]
                    "log": [ … ] 11 lines, the same
                  }
            "#]],
        );
    }

    #[test]
    fn text_is_shown_line_by_line_and_json_inside_a_text_as_json() {
        check(
            &json!("a\nb\n"),
            &json!("a\nc\nd\n"),
            expect![[r#"
            observed
              text of several lines
                a
            +   b
            −   c
            −   d

            legal
              text of several lines
                a
            −   b
            +   c
            +   d

        "#]],
        );
        check(
            &json!({"text": "[1]"}),
            &json!({"text": "[1, 2]"}),
            expect![[r#"
            observed
              {
                "text": text of [
                  1
            −     2
                ]
              }
            legal
              {
                "text": text of [
                  1
            +     2
                ]
              }
        "#]],
        );
    }

    #[test]
    fn a_long_run_of_what_is_the_same_is_folded() {
        let list = |count: u64| Value::Array((0..count).map(|number| json!(number)).collect());
        check(
            &list(40),
            &list(41),
            expect![[r#"
            observed
              [
                … 40 lines, the same
            −   40
              ]
            legal
              [
                … 40 lines, the same
            +   40
              ]
        "#]],
        );
    }

    #[test]
    fn more_lines_than_anybody_reads_are_counted() {
        let many = Value::Array((0..5_000).map(|number| json!(number)).collect());
        let mut out = String::new();
        html(&mut out, &rows(&delta::between(&many, &json!([])), Side::Observed));
        assert!(out.contains("4602 more lines"), "{}", out.len());
        let other = Value::Array((1..5_000).map(|number| json!(number)).chain([json!("last")]).collect());
        let mut out = String::new();
        html(&mut out, &rows(&delta::between(&many, &other), Side::Legal));
        assert!(out.contains("4799 more lines") && out.contains("last"), "{}", out.len());
    }
}
