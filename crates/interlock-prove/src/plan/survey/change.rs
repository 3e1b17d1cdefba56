//! Whether a read-back changed, apart from what changes by itself.

use std::collections::BTreeMap;

use interlock_model::Answer;
use serde_json::Value;

use crate::plan::plain;

/// An answer is not looked at beyond so many values.
const MOST: usize = 5_000;

/// Whether `after` differs from `before` in something that is the same in `before` and `earlier`.
pub(super) fn changed(earlier: &Answer, before: &Answer, after: &Answer) -> bool {
    let (earlier, before, after) = (leaves(earlier), leaves(before), leaves(after));
    // Where each answer has places of its own, a new one is no news.
    let is_steady = earlier.keys().eq(before.keys());
    let steady =
        |path: &String| earlier.get(path) == before.get(path) && (is_steady || before.contains_key(path));
    let paths = before.keys().chain(after.keys());
    let mut steady_paths = paths.filter(|path| steady(path));
    steady_paths.any(|path| before.get(path) != after.get(path))
}

/// Whether two answers say the same.
pub(super) fn same(one: &Answer, other: &Answer) -> bool {
    leaves(one) == leaves(other)
}

/// Whether something changed from a first answer to a second on two instances alike, whatever else is different every time.
pub(super) fn same_change(here: [&Answer; 2], elsewhere: [&Answer; 2]) -> bool {
    let [first, second] = here.map(leaves);
    let [other_first, other_second] = elsewhere.map(leaves);
    first.keys().chain(second.keys()).any(|path| {
        let (was, is) = (first.get(path), second.get(path));
        was != is && was == other_first.get(path) && is == other_second.get(path)
    })
}

/// What is where in an answer, without numbers and times: two fresh instances may differ in those, and in nothing else.
pub(super) fn outline(answer: &Answer) -> BTreeMap<String, String> {
    let shape = |value: Value| match value {
        Value::String(text) => text.chars().filter(|c| !c.is_ascii_digit()).collect(),
        Value::Number(_) => String::new(),
        other => other.to_string(),
    };
    leaves(answer).into_iter().map(|(path, value)| (path, shape(value))).collect()
}

/// The values of an answer, by where they stand.
fn leaves(answer: &Answer) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    match answer {
        Answer::Result { value, .. } => walk(&plain(value), String::new(), 0, &mut found),
        Answer::Error { value, .. } => walk(&plain(value), "error".into(), 0, &mut found),
        Answer::Missing { .. } => {
            found.insert("missing".into(), Value::Null);
        }
    }
    found
}

fn walk(value: &Value, path: String, depth: usize, found: &mut BTreeMap<String, Value>) {
    if found.len() >= MOST || depth > 64 {
        return;
    }
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (name, value) in entries {
                walk(value, format!("{path}/{name}"), depth + 1, found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            // One more entry is a change even where entries vary.
            found.insert(format!("{path}#"), Value::from(items.len()));
            for (at, value) in items.iter().enumerate() {
                walk(value, format!("{path}/{at}"), depth + 1, found);
            }
        }
        leaf => {
            found.insert(path, leaf.clone());
        }
    }
}

/// The words of a refusal, for people.
pub(super) fn said(value: &Value) -> String {
    let texts = value.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut text: String = texts.filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join(" ");
    // Of fields the one that says why.
    if let Value::Object(fields) = plain(value)
        && let Some(why) =
            ["message", "error", "reason", "detail"].iter().find_map(|name| fields.get(*name)?.as_str())
    {
        text = why.to_owned();
    }
    if text.is_empty() {
        text = value
            .get("message")
            .and_then(Value::as_str)
            .map_or_else(|| plain(value).to_string(), str::to_owned);
    }
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MOST_READ).collect()
}

/// So much of a refusal is read: those that list what was wrong with each argument are long.
const MOST_READ: usize = 2_000;
/// So much of it is told.
const MOST_TOLD: usize = 300;

/// As much of a refusal as a person reads.
pub(super) fn shortened(words: &str) -> String {
    words.chars().take(MOST_TOLD).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    fn answer(value: Value) -> Answer {
        Answer::Result { at: Duration::ZERO, value: json!({"structuredContent": value}) }
    }

    #[test]
    fn what_changes_by_itself_is_no_change() {
        let at = |time: u32, count: u32| answer(json!({"time": time, "count": count}));
        assert!(!changed(&at(1, 5), &at(2, 5), &at(3, 5)));
        assert!(changed(&at(1, 5), &at(2, 5), &at(3, 6)));
    }

    #[test]
    fn nor_is_a_key_that_is_another_every_time() {
        let dice = |key: &str, items: usize| answer(json!({ key: vec![key; items], "sides": 6 }));
        assert!(!changed(&dice("a", 1), &dice("b", 3), &dice("c", 2)));
        let sides = answer(json!({ "d": ["d"], "sides": 8 }));
        assert!(
            changed(&dice("a", 1), &dice("b", 3), &sides),
            "what stays by itself and changes by the call"
        );
    }

    #[test]
    fn one_more_entry_is_a_change_even_where_entries_vary() {
        let noisy = |ids: &[u32]| answer(json!({"items": ids}));
        assert!(!changed(&noisy(&[1]), &noisy(&[2]), &noisy(&[3])));
        assert!(changed(&noisy(&[1]), &noisy(&[2]), &noisy(&[3, 4])));
    }

    #[test]
    fn a_number_that_rises_on_both_instances_is_a_change_beside_ids_that_never_agree() {
        let opened = |number: u32, id: &str| answer(json!({"number": number, "id": id}));
        let (a, b, c, d) = (opened(1, "a"), opened(2, "b"), opened(1, "c"), opened(2, "d"));
        assert!(same_change([&a, &b], [&c, &d]));
        let (b, d) = (opened(1, "b"), opened(1, "d"));
        assert!(!same_change([&a, &b], [&c, &d]), "only ids differ");
        let d = opened(9, "d");
        assert!(!same_change([&a, &opened(8, "b")], [&c, &d]), "each instance has a number of its own");
    }

    #[test]
    fn an_error_that_becomes_an_answer_is_a_change() {
        let error = Answer::Error { at: Duration::ZERO, value: json!("there is none") };
        assert!(changed(&error, &error, &answer(json!({"a": 1}))));
    }
}
