//! What earlier answers had in them: ids, names, versions.

use interlock_model::reference::{path_in_words, word_behind, words_of};
use serde_json::Value;

use super::name::{Named, Role, noun_of_tool, singular};
use crate::plan::value::parsed;

/// All that was seen, in order.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    found: Vec<Found>,
}

/// One value of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub(super) named: Named,
    /// What contains it: the list it stands in, else what the tool is about.
    pub(super) about: Vec<String>,
    /// The value.
    pub value: Value,
    /// Where it was learnt: whatever number the caller gave.
    pub from: usize,
    /// Where it stands in that answer, as a JSON pointer.
    pub pointer: String,
    /// Values in the arguments of the call that was answered.
    mentioned: Vec<Value>,
}

/// What is kept of all answers, and how deep and long one is looked at.
const MOST: usize = 2_000;
const DEEPEST: usize = 16;
const LONGEST: usize = 200;

impl Pool {
    /// Looks at an answer, taken out of its wrapping.
    pub fn learn(&mut self, tool: &str, arguments: &Value, answer: &Value, from: usize) {
        let about: Vec<String> = noun_of_tool(tool).into_iter().collect();
        let mentioned = super::things(arguments).into_iter().map(|(_, value)| value).collect();
        let mut seen = Seen { from, mentioned, found: &mut self.found };
        match answer {
            Value::String(text) => seen.prose(text, &about),
            value => seen.walk(value, None, &about, &mut String::new(), 0),
        }
    }

    /// Values for an argument, the likeliest first. `tool` is what the tool is about; `spoken_of` what else its arguments name, so that a version
    /// is that of the right thing.
    pub(crate) fn find(&self, wanted: &Named, tool: Option<&str>, spoken_of: &[Value]) -> Vec<&Found> {
        let mut ranked: Vec<(usize, usize, &Found)> = Vec::new();
        for (at, found) in self.found.iter().enumerate() {
            let score = found.fits(wanted, tool, spoken_of);
            let is_new = ranked.iter().all(|(_, _, other)| other.value != found.value);
            match ranked.iter_mut().find(|(_, _, other)| other.value == found.value) {
                Some(other) if score > other.0 => *other = (score, at, found),
                _ if score > 0 && is_new => ranked.push((score, at, found)),
                _ => {}
            }
        }
        ranked.sort_by_key(|(score, at, _)| (std::cmp::Reverse(*score), *at));
        ranked.into_iter().map(|(_, _, found)| found).collect()
    }

    /// The numbers that were seen under names that say how much there is.
    pub(crate) fn amounts(&self) -> impl Iterator<Item = &Value> {
        let much = self.found.iter().filter(|found| {
            found.value.is_number()
                && (found.named.role == Role::Amount
                    || MUCH.iter().any(|word| found.named.joined.contains(word)))
        });
        much.map(|found| &found.value)
    }

    /// Whether an answer has a value under this name.
    pub(crate) fn hands_out(&self, wanted: &Named) -> bool {
        self.found.iter().any(|found| found.named.joined == wanted.joined)
    }

    /// Where a value stands in what was learnt.
    pub(crate) fn place_of(&self, value: &Value) -> Option<(usize, &str)> {
        self.found
            .iter()
            .find(|found| found.value == *value)
            .map(|found| (found.from, found.pointer.as_str()))
    }
}

const MUCH: &[&str] = &["available", "remaining", "left", "capacity", "free", "stock", "balance", "credit"];

impl Found {
    /// How well it fits; 0 is not at all.
    fn fits(&self, wanted: &Named, tool: Option<&str>, spoken_of: &[Value]) -> usize {
        // The `userId` of an order is no order's.
        let names = |noun: &str| match &self.named.noun {
            Some(own) => own == noun,
            None => self.about.iter().any(|about| about == noun),
        };
        let noun = wanted.noun.as_deref().or(tool);
        let same_name = self.named.joined == wanted.joined;
        let score = match wanted.role {
            // `id` alone is the id of anything: it has to come from something of the right kind.
            _ if same_name && (wanted.noun.is_some() || noun.is_some_and(names)) => 4,
            Role::Id | Role::Name if self.named.role.names_a_thing() && noun.is_some_and(names) => {
                if self.named.role == wanted.role { 3 } else { 1 }
            }
            Role::Version if same_name => 2,
            Role::Path | Role::Folder if self.named.role == wanted.role => 1,
            _ => 0,
        };
        if score == 0 {
            return 0;
        }
        // Of two versions the one that was read of the thing spoken of; of two ids the newer one is no better.
        let read_of = spoken_of.iter().any(|value| self.mentioned.contains(value));
        score * 2 + usize::from(wanted.role == Role::Version && read_of)
    }
}

struct Seen<'p> {
    from: usize,
    mentioned: Vec<Value>,
    found: &'p mut Vec<Found>,
}

impl Seen<'_> {
    fn walk(
        &mut self,
        value: &Value,
        name: Option<&str>,
        about: &[String],
        pointer: &mut String,
        depth: usize,
    ) {
        if depth > DEEPEST || self.found.len() >= MOST {
            return;
        }
        let length = pointer.len();
        match value {
            Value::Object(entries) => {
                // What stands in a list of orders is an order.
                let inner: Vec<String> =
                    name.map(|name| vec![singular(&name.to_lowercase())]).unwrap_or_else(|| about.to_vec());
                for (key, value) in entries {
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.walk(value, Some(key), &inner, pointer, depth + 1);
                    pointer.truncate(length);
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter().take(50).enumerate() {
                    pointer.push('/');
                    pointer.push_str(&at.to_string());
                    self.walk(item, name, about, pointer, depth + 1);
                    pointer.truncate(length);
                }
            }
            Value::String(text) if text.len() <= LONGEST && !text.is_empty() => {
                self.keep(name, value, about, pointer)
            }
            Value::Number(_) => self.keep(name, value, about, pointer),
            Value::String(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn keep(&mut self, name: Option<&str>, value: &Value, about: &[String], pointer: &str) {
        let Some(name) = name.or(about.first().map(String::as_str)) else { return };
        self.found.push(Found {
            named: Named::new(name),
            about: about.to_vec(),
            value: value.clone(),
            from: self.from,
            pointer: pointer.to_owned(),
            mentioned: self.mentioned.clone(),
        });
    }

    /// `Created task, id: 7f3a` in a text has an id in it, and perhaps there is JSON between the words.
    fn prose(&mut self, text: &str, about: &[String]) {
        let json =
            text.find(['{', '[']).and_then(|at| text.split_at_checked(at)).and_then(|(_, json)| parsed(json));
        if let Some(json) = json {
            self.walk(&json, None, about, &mut String::new(), 0);
        }
        for name in ["id", "uuid", "key", ""] {
            let Some(value) = word_behind(text, name).filter(|value| value.len() <= LONGEST) else {
                continue;
            };
            let place = path_in_words(name);
            // A schema may ask for a number where the sentence has its digits. What counts up is the same on each instance.
            if let Ok(number) = value.parse::<i64>() {
                self.keep(Some("id"), &Value::from(number), about, "");
            }
            self.keep(Some("id"), &Value::from(value), about, &place);
        }
        // Those behind the first are only good where they are the same every time.
        let words: Vec<&str> = words_of(text).collect();
        for pair in words.windows(2) {
            let [name, value] = pair else { continue };
            if ["id", "uuid", "key"].iter().any(|known| name.eq_ignore_ascii_case(known))
                && value.len() <= LONGEST
            {
                self.keep(Some("id"), &Value::from(*value), about, "");
            }
        }
    }
}
