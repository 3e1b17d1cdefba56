//! Texts and numbers.

use serde_json::{Map, Number, Value};

use super::{
    name::{Named, Role},
    pattern, shown,
};

/// What is spoken of and what is said about it.
#[derive(Clone, Copy)]
pub(super) struct Choice<'n> {
    /// What the value stands for.
    pub(super) named: &'n Named,
    /// What it is the id of, if its own name does not say.
    pub(super) noun: Option<&'n str>,
    pub(super) thing: usize,
    pub(super) variant: usize,
    /// Whether a folder shall be there.
    pub(super) there: bool,
    /// The extension of files.
    pub(super) extension: &'n str,
    /// Whether paths begin at the server's folder.
    pub(super) relative: bool,
}

/// How idempotency keys begin that nobody gave.
const KEYS: &str = "interlock-";

/// Whether a value is one of those.
pub(super) fn is_made_up_key(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with(KEYS))
}

const SAID: &[&str] = &["one", "two", "three", "four", "five"];

/// Names of arguments that want a certain word.
const WORDS: &[(&str, &str)] = &[
    ("language", "en"),
    ("lang", "en"),
    ("locale", "en"),
    ("currency", "EUR"),
    ("timezone", "UTC"),
    ("country", "DE"),
    ("color", "red"),
    ("date", "2030-01-01"),
    ("time", "12:00:00"),
    ("phone", "+15550100"),
    // Where something stands in a table.
    ("cell", "A1"),
    ("startcell", "A1"),
    ("endcell", "B2"),
    ("range", "A1:B2"),
    ("cellrange", "A1:B2"),
    ("delimiter", ","),
    ("encoding", "utf-8"),
];

/// How names of arguments end that want a certain word: `dueDate`, `scheduled_time`.
const ENDS: &[(&str, &str)] = &[
    ("date", "2030-01-01"),
    ("datetime", "2030-01-01T12:00:00+00:00"),
    ("timestamp", "2030-01-01T12:00:00+00:00"),
    ("time", "2030-01-01T12:00:00+00:00"),
    ("deadline", "2030-01-01"),
    ("timezone", "UTC"),
    ("cron", "0 12 * * *"),
    ("cronexpression", "0 12 * * *"),
];

/// A text for a schema of texts.
pub(super) fn text(schema: &Map<String, Value>, choice: Choice<'_>) -> String {
    let number = |name: &str| schema.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        let hinted = hinted(choice);
        let fits = regex_fits(pattern, &hinted);
        let at = if choice.named.role.names_a_thing() { choice.thing } else { choice.variant };
        let made = if fits { Some(hinted) } else { pattern::matching(pattern, at) };
        return made.unwrap_or_default();
    }
    let format = schema.get("format").and_then(Value::as_str);
    let made = format.and_then(|format| formatted(format, choice)).or_else(|| json(schema, choice));
    let text = made.unwrap_or_else(|| hinted(choice));
    sized(text, number("minLength").unwrap_or(0), number("maxLength"), choice)
}

/// Whether a hint may be used as it is; a pattern that cannot be read decides nothing.
fn regex_fits(pattern: &str, text: &str) -> bool {
    let schema = serde_json::json!({ "pattern": pattern });
    jsonschema::validator_for(&schema).is_ok_and(|validator| validator.is_valid(&Value::from(text)))
}

/// JSON in a text, where the description says so.
fn json(schema: &Map<String, Value>, choice: Choice<'_>) -> Option<String> {
    let description = schema.get("description").and_then(Value::as_str)?;
    if choice.named.role == Role::Text
        && let Some(example) = shown::example(description)
    {
        return like(&example, choice, true).map(|value| value.to_string());
    }
    let words: Vec<String> =
        description.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let says = |word: &str| words.iter().any(|own| own == word);
    if choice.named.role != Role::Text || !says("json") || says("file") || says("path") {
        return None;
    }
    let said = SAID.get(choice.variant % SAID.len()).copied().unwrap_or("one");
    let is_list = says("array") || says("list");
    Some(if is_list { format!("[\"{said}\"]") } else { format!("{{\"note\":\"{said}\"}}") })
}

/// A value that is shaped like an example: of a list one entry, of an object what is flat, with texts of our own in it. A short word may be one of a
/// few that are allowed, and stays.
fn like(example: &Value, choice: Choice<'_>, is_outer: bool) -> Option<Value> {
    match example {
        Value::Array(items) if is_outer => Some(vec![like(items.first()?, choice, true)?].into()),
        Value::Object(fields) if is_outer => {
            let flat = fields.iter().filter_map(|(name, field)| {
                let named = Named::new(name);
                Some((name.clone(), like(field, Choice { named: &named, ..choice }, false)?))
            });
            Some(Value::Object(flat.collect()))
        }
        Value::Array(_) | Value::Object(_) => None,
        Value::String(text) if !choice.named.role.names_a_thing() && is_one_word(text) => {
            Some(example.clone())
        }
        Value::String(_) => Some(hinted(choice).into()),
        other => Some(other.clone()),
    }
}

fn is_one_word(text: &str) -> bool {
    text.len() <= 16
        && text.chars().all(|c| c.is_ascii_lowercase() || matches!(c, '_' | '-'))
        && !text.is_empty()
}

fn hinted(choice: Choice<'_>) -> String {
    let letter = letter(choice);
    let root = if choice.relative { "" } else { "{scratch}/" };
    let said = SAID.get(choice.variant % SAID.len()).copied().unwrap_or("one");
    match choice.named.role {
        Role::Id | Role::Name => format!("{}-{letter}", choice.noun.unwrap_or("item")),
        Role::Path => format!("{root}{letter}.{}", choice.extension),
        Role::Root => "{scratch}".into(),
        Role::Folder if choice.there && letter == 'a' => {
            if choice.relative { "." } else { "{scratch}" }.into()
        }
        Role::Folder => format!("{root}{letter}"),
        Role::Url => format!("http://127.0.0.1:9/{letter}"),
        Role::Email => format!("{letter}@example.invalid"),
        Role::Version => "1".into(),
        Role::Idempotency => format!("{KEYS}{letter}-{said}"),
        // The texts that we write begin with these two words, so that each of two edits finds its own.
        Role::OldText => if choice.variant.is_multiple_of(2) { "alpha" } else { "beta" }.into(),
        Role::Query => "a".into(),
        Role::Amount | Role::Extent | Role::Text => {
            let known = WORDS.iter().find(|(name, _)| choice.named.joined == *name);
            let known = known.or_else(|| ENDS.iter().find(|(end, _)| choice.named.joined.ends_with(end)));
            // Another day for each variant.
            let day = format!("2030-01-0{}", choice.variant % 9 + 1);
            known.map_or_else(|| format!("alpha beta {said}"), |(_, word)| word.replace("2030-01-01", &day))
        }
    }
}

/// What is said about a thing: another word for each variant.
pub(super) fn said(choice: Choice<'_>) -> String {
    format!("alpha beta {}", SAID.get(choice.variant % SAID.len()).copied().unwrap_or("one"))
}

pub(super) fn letter(choice: Choice<'_>) -> char {
    let at = choice.thing + usize::from(choice.named.is_other);
    ('a'..='z').nth(at % 26).unwrap_or('a')
}

fn formatted(format: &str, choice: Choice<'_>) -> Option<String> {
    let of_thing = choice.named.role.names_a_thing();
    let at =
        (if of_thing { choice.thing + usize::from(choice.named.is_other) } else { choice.variant }) % 9 + 1;
    Some(match format {
        "date-time" => format!("2030-01-0{at}T12:00:00Z"),
        "date" => format!("2030-01-0{at}"),
        "time" => format!("12:00:0{at}Z"),
        "duration" => format!("PT{at}S"),
        "email" | "idn-email" => format!("{}@example.invalid", letter(choice)),
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => format!("http://127.0.0.1:9/{at}"),
        "uuid" => format!("00000000-0000-4000-8000-00000000000{at}"),
        "ipv4" => format!("127.0.0.{at}"),
        "ipv6" => "::1".into(),
        "hostname" | "idn-hostname" => "localhost".into(),
        "json-pointer" => format!("/{at}"),
        "regex" => "a".into(),
        _ => return None,
    })
}

/// Longer or shorter, but two texts that say different things still do.
fn sized(text: String, least: usize, most: Option<usize>, choice: Choice<'_>) -> String {
    let length = text.chars().count();
    if most.is_some_and(|most| length > most) {
        let most = most.unwrap_or_default();
        let at = if choice.named.role.names_a_thing() {
            letter(choice)
        } else {
            ('a'..='z').nth(choice.variant % 26).unwrap_or('a')
        };
        return std::iter::once(at).chain(text.chars()).take(most).collect();
    }
    // A text that must be enormous is not made; the check refuses what is too short.
    let missing = least.saturating_sub(length).min(10_000);
    text + &"x".repeat(missing)
}

/// A number for a schema of numbers.
pub(super) fn number(schema: &Map<String, Value>, choice: Choice<'_>, whole: bool) -> Value {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let unit = step.unwrap_or(1.0);
    let least = bound("minimum")
        .into_iter()
        .chain(bound("exclusiveMinimum").map(|least| least + unit))
        .reduce(f64::max);
    let most = bound("maximum")
        .into_iter()
        .chain(bound("exclusiveMaximum").map(|most| most - unit))
        .reduce(f64::min);
    let wanted = match choice.named.role {
        Role::Extent => 10.0,
        Role::Id | Role::Name => small(choice.thing + usize::from(choice.named.is_other)) + 1.0,
        _ => small(choice.variant) + 1.0,
    };
    let mut value = wanted * unit;
    if let Some(least) = least.filter(|least| value < *least) {
        // The same distance from the bound as from zero, so that variants still differ.
        value = least + (wanted - 1.0) * unit;
    }
    if let Some(most) = most.filter(|most| value > *most) {
        value = least.map_or(most, |least| most.min((most - (wanted - 1.0) * unit).max(least)));
    }
    if let Some(step) = step {
        value = (value / step).round() * step;
    }
    if whole {
        #[expect(clippy::cast_possible_truncation, reason = "a cast from a float saturates")]
        return Value::from(value.ceil() as i64);
    }
    Number::from_f64(value).map_or(Value::from(1), Value::Number)
}

fn small(number: usize) -> f64 {
    f64::from(u16::try_from(number).unwrap_or(u16::MAX))
}
