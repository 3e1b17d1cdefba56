//! Arguments that are known only once the set-up has run: `{answer:0/id}` is the `id` that its first call answered with, and `{answer:0/~id}` the
//! word behind `id` where it answered with a sentence.

use serde_json::Value;

use crate::PlannedCall;

/// A call refers to an answer that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{{answer:{call}{path}}}` is nothing: that call of the set-up has no such answer")]
pub struct NoSuchAnswer {
    /// The call of the set-up.
    pub call: usize,
    /// What was looked for in its answer.
    pub path: String,
}

const OPEN: &str = "{answer:";

impl PlannedCall {
    /// The call with everything it refers to in place. `answers` are what the calls of the set-up said, without wrapping. A text that is
    /// nothing but a reference becomes the value itself, a number stays a number.
    ///
    /// # Errors
    ///
    /// When it refers to what is not there.
    pub fn filled(&self, answers: &[Value]) -> Result<Self, NoSuchAnswer> {
        let fill = |reference: Reference<'_>| {
            let found = answers.get(reference.call).and_then(|answer| found_in(answer, reference.path));
            found.ok_or_else(|| NoSuchAnswer { call: reference.call, path: reference.path.to_owned() })
        };
        self.mapped(&fill)
    }

    /// The call for a set-up that has so many other calls in front.
    #[must_use]
    pub fn shifted(&self, by: usize) -> Self {
        let shift = |reference: Reference<'_>| {
            Ok::<_, NoSuchAnswer>(Value::from(text(reference.call.saturating_add(by), reference.path)))
        };
        self.mapped(&shift).unwrap_or_else(|_never| self.clone())
    }

    /// Whether it refers to an answer.
    #[must_use]
    pub fn is_filled_later(&self) -> bool {
        self.mapped(&|Reference { call, path }| Err(NoSuchAnswer { call, path: path.to_owned() })).is_err()
    }

    fn mapped(
        &self,
        each: &impl Fn(Reference<'_>) -> Result<Value, NoSuchAnswer>,
    ) -> Result<Self, NoSuchAnswer> {
        Ok(Self {
            tool: self.tool.clone(),
            arguments: mapped(&self.arguments, each)?,
            meta: mapped(&self.meta, each)?,
        })
    }
}

/// How one refers to a value in the answer of a call of the set-up; the path is a JSON pointer.
#[must_use]
pub fn text(call: usize, path: &str) -> String {
    format!("{OPEN}{call}{path}}}")
}

/// How a place in a sentence begins: no JSON pointer does.
const IN_WORDS: &str = "/~";

/// How one refers to the word behind another in a sentence: `/~id` is `7f3a` in "Created the task, id: 7f3a". Without a word it is the first that
/// looks like a random id.
#[must_use]
pub fn path_in_words(word: &str) -> String {
    format!("{IN_WORDS}{word}")
}

/// The words of a sentence as they are referred to: without what stands around them.
pub fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "=()\"'`*,;[]".contains(c)).take(MOST_WORDS);
    let bare = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"-_{}/".contains(c)));
    bare.filter(|word| !word.is_empty())
}

/// More words of a sentence are not looked at.
const MOST_WORDS: usize = 600;

/// The word that [`path_in_words`] refers to.
#[must_use]
pub fn word_behind<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut words = words_of(text);
    if word.is_empty() {
        return words.find(|word| looks_random(word));
    }
    words.find(|own| own.eq_ignore_ascii_case(word))?;
    words.next()
}

/// Whether a word looks like an id that was drawn: digits and letters, as in a UUID or a hash.
#[must_use]
pub fn looks_random(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let count = |is: fn(&char) -> bool| word.chars().filter(is).count();
    word.len() >= LEAST_RANDOM
        && word.chars().all(is_part)
        && count(|c| c.is_ascii_digit()) >= 2
        && count(|c| c.is_ascii_alphabetic()) >= 2
}

/// Shorter words are rarely drawn.
const LEAST_RANDOM: usize = 8;

fn found_in(answer: &Value, path: &str) -> Option<Value> {
    match (path.strip_prefix(IN_WORDS), answer) {
        (Some(word), Value::String(text)) => word_behind(text, word).map(Value::from),
        (Some(_), _) => None,
        (None, answer) => answer.pointer(path).cloned(),
    }
}

#[derive(Clone, Copy)]
struct Reference<'t> {
    call: usize,
    path: &'t str,
}

fn mapped<E>(value: &Value, each: &impl Fn(Reference<'_>) -> Result<Value, E>) -> Result<Value, E> {
    Ok(match value {
        Value::String(text) => in_text(text, each)?,
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| mapped(item, each)).collect::<Result<_, _>>()?)
        }
        Value::Object(entries) => {
            let entry = |(name, value): (&String, &Value)| Ok((name.clone(), mapped(value, each)?));
            Value::Object(entries.iter().map(entry).collect::<Result<_, E>>()?)
        }
        other => other.clone(),
    })
}

fn in_text<E>(text: &str, each: &impl Fn(Reference<'_>) -> Result<Value, E>) -> Result<Value, E> {
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        done.push_str(before);
        let Some((reference, behind)) =
            after.split_once('}').and_then(|(inside, behind)| Some((read(inside)?, behind)))
        else {
            // Not one of ours: it stays as it stands.
            done.push_str(OPEN);
            rest = after;
            continue;
        };
        let value = each(reference)?;
        if done.is_empty() && behind.is_empty() {
            return Ok(value);
        }
        match value {
            Value::String(text) => done.push_str(&text),
            other => done.push_str(&other.to_string()),
        }
        rest = behind;
    }
    done.push_str(rest);
    Ok(Value::String(done))
}

/// `0/id`, or `0` for the whole answer.
fn read(inside: &str) -> Option<Reference<'_>> {
    let at = inside.find('/').unwrap_or(inside.len());
    let (call, path) = inside.split_at_checked(at)?;
    let closed = !inside.contains('{');
    closed.then_some(Reference { call: call.parse().ok()?, path })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(arguments: Value) -> Result<Value, NoSuchAnswer> {
        let answers = [json!({"id": 7, "tags": ["x"]}), json!("whole")];
        PlannedCall::new("t", arguments).filled(&answers).map(|call| call.arguments)
    }

    #[test]
    fn a_reference_becomes_what_was_answered() {
        assert_eq!(filled(json!({"id": "{answer:0/id}"})), Ok(json!({"id": 7})));
        assert_eq!(filled(json!(["a/{answer:0/id}/{answer:0/tags/0}.txt"])), Ok(json!(["a/7/x.txt"])));
        assert_eq!(filled(json!("{answer:1}")), Ok(json!("whole")));
        assert_eq!(
            filled(json!("{answer:x} {answer:0/id {scratch}")),
            Ok(json!("{answer:x} {answer:0/id {scratch}"))
        );
    }

    #[test]
    fn a_sentence_is_referred_to_by_its_words() {
        let filled = |said: &str, text: &str| {
            let call = PlannedCall::new("t", json!({"id": text}));
            call.filled(&[json!(said)]).map(|call| call.arguments["id"].clone()).ok()
        };
        let id = Some(json!("7f3a-11bc"));
        assert_eq!(filled("Created the task (ID: 7f3a-11bc).", "{answer:0/~id}"), id);
        assert_eq!(filled("✅ Created `7f3a-11bc` for you", "{answer:0/~}"), id);
        assert_eq!(filled("Created \"7f3a-11bc\"", "{answer:0/~}"), id);
        assert_eq!(filled("Created 12 of 2026-11-18", "{answer:0/~}"), None, "a date was not drawn");
        assert_eq!(filled("Created it", "{answer:0/~id}"), None);
        assert_eq!(filled("an id", "{answer:0/~id}"), None);
    }

    #[test]
    fn a_reference_to_nothing_is_an_error() {
        for text in ["{answer:0/name}", "{answer:2/id}", "a{answer:1/id}"] {
            assert!(filled(json!(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn a_call_can_be_moved_behind_others() {
        let call = PlannedCall::new("t", json!({"id": "{answer:0/id}", "path": "{scratch}/{answer:1}"}));
        assert!(call.is_filled_later());
        assert_eq!(call.shifted(2).arguments, json!({"id": "{answer:2/id}", "path": "{scratch}/{answer:3}"}));
        assert!(!PlannedCall::new("t", json!({"id": "{answer:"})).is_filled_later());
    }
}
