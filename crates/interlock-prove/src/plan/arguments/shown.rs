//! What a description shows of the JSON that a text shall be: an example, written as people write them.
//!
//! ```text
//! A list of tasks, e.g. [{name: 'a short name', description: '…', dependencies: ['…']}]
//!     → [{"name": "item-a", "description": "alpha beta one"}]
//! ```
//!
//! Of an example only its flat part is taken: lists inside of it may usually be left out, and what they say is somebody's.

use serde_json::{Map, Value};

/// Longer examples are not read.
const LONGEST: usize = 8_000;
/// Nor deeper ones.
const DEEPEST: usize = 12;

/// The first example of an object, or of a list of objects, in a description; one that cannot be read to its end is none.
pub(super) fn example(description: &str) -> Option<Value> {
    let mut starts = description.char_indices().filter(|(_, c)| matches!(c, '[' | '{'));
    starts.find_map(|(at, _)| {
        let text: Vec<char> = description.get(at..)?.chars().take(LONGEST).collect();
        let value = Reader { text: &text, at: 0 }.value(0)?;
        let is_shape = |value: &Value| value.as_object().is_some_and(|fields| !fields.is_empty());
        let is_one =
            is_shape(&value) || value.as_array().is_some_and(|items| items.first().is_some_and(is_shape));
        is_one.then_some(value)
    })
}

/// Reads values as scripts have them: names without quotes, quotes of either kind, a comma too many.
struct Reader<'t> {
    text: &'t [char],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.text.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, wanted: char) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        match self.peek()? {
            '{' => {
                self.skip('{')?;
                let mut fields = Map::new();
                while self.skip('}').is_none() {
                    let name = self.word()?;
                    self.skip(':')?;
                    fields.insert(name, self.value(depth + 1)?);
                    if self.skip(',').is_none() && self.peek()? != '}' {
                        return None;
                    }
                }
                Some(Value::Object(fields))
            }
            '[' => {
                self.skip('[')?;
                let mut items = Vec::new();
                while self.skip(']').is_none() {
                    // What follows is more of the same.
                    if self.peek()? == '.' || self.peek()? == '…' {
                        self.at += 1;
                        continue;
                    }
                    items.push(self.value(depth + 1)?);
                    if self.skip(',').is_none() && self.peek()? != ']' && self.peek()? != '.' {
                        return None;
                    }
                }
                Some(Value::Array(items))
            }
            '\'' | '"' => self.word().map(Value::from),
            _ => {
                let word = self.word()?;
                Some(serde_json::from_str(&word).unwrap_or_else(|_| Value::from(word)))
            }
        }
    }

    /// A quoted text, or a word without quotes.
    fn word(&mut self) -> Option<String> {
        let quote = self.peek().filter(|c| matches!(c, '\'' | '"'));
        let mut word = String::new();
        if let Some(quote) = quote {
            self.at += 1;
            loop {
                let c = *self.text.get(self.at)?;
                self.at += 1;
                match c {
                    c if c == quote => return Some(word),
                    '\\' => {
                        word.extend(self.text.get(self.at));
                        self.at += 1;
                    }
                    c => word.push(c),
                }
            }
        }
        while let Some(c) =
            self.text.get(self.at).filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$'))
        {
            word.push(*c);
            self.at += 1;
        }
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_example_is_read_however_it_is_written() {
        for (description, expected) in [
            (
                "a list of tasks, e.g. [{name: 'a', done: false, tags: ['x', 'y'],}, ...]",
                json!([{"name": "a", "done": false, "tags": ["x", "y"]}]),
            ),
            (r#"As JSON: {"key": "it's", "count": 3}"#, json!({"key": "it's", "count": 3})),
            ("範例：[{name: '任務', lines: {from: 1}}]", json!([{"name": "任務", "lines": {"from": 1}}])),
        ] {
            assert_eq!(example(description), Some(expected), "{description}");
        }
        for none in
            ["", "one of [a, b]", "a template such as {name}", "{", "[{name: 'never closed", "{}", "[1, 2]"]
        {
            assert_eq!(example(none), None, "{none}");
        }
        assert_eq!(example(&"[".repeat(10_000)), None);
    }
}
