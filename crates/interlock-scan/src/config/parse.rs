//! From text to [`Config`], with the line and the nearest right word for everything that is wrong.

use std::{collections::BTreeMap, ops::Range, str::FromStr};

use ignore::gitignore::GitignoreBuilder;
use interlock_hazards::{Lexicon, find, nearest};
use interlock_model::HazardId;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Config;

/// What is wrong: the line, counted from 1, and the words.
type Wrong = (usize, String);

/// The keys that are ours.
const KEYS: &[&str] = &["ignore", "min_severity", "min_confidence", "severity", "deductions", "words"];
/// The tables that are models of libraries, or add to what a language knows, in the form that the front ends' own have.
const MODELS: &[&str] = &["library", "kind", "unknown", "tools", "builtin", "lexicon"];

/// Reads a configuration.
pub(super) fn parse(text: &str) -> Result<Config, Wrong> {
    let (ours, models) = split(text);
    let reader = Reader { text: &ours };
    let document = DeTable::parse(&ours)
        .map_err(|error| (reader.line(error.span().unwrap_or_default()), error.message().to_owned()))?;
    let mut config = Config { models, ..Config::default() };
    for (key, value) in document.get_ref() {
        match &**key.get_ref() {
            "ignore" => config.ignore = reader.patterns(value)?,
            "min_severity" => config.min_severity = Some(reader.name(value)?),
            "min_confidence" => config.min_confidence = Some(reader.name(value)?),
            "severity" => config.severity = reader.per_hazard(value, Reader::severity)?,
            "deductions" => config.deductions = reader.per_hazard(value, Reader::deduction)?,
            "words" => config.words = reader.words(value)?,
            unknown => return Err((reader.line(key.span()), unknown_key(unknown))),
        }
    }
    Ok(config)
}

/// Parts the sections that are models from the rest. Each part keeps the lines of the other as empty ones, so that both tell the lines
/// of the file.
fn split(text: &str) -> (String, Option<String>) {
    let (mut ours, mut models) = (String::new(), String::new());
    let mut in_models = false;
    let mut any = false;
    for line in text.lines() {
        if let Some(root) = header(line) {
            in_models = MODELS.contains(&root);
            any |= in_models;
        }
        let (one, other) = if in_models { (&mut models, &mut ours) } else { (&mut ours, &mut models) };
        one.push_str(line);
        one.push('\n');
        other.push('\n');
    }
    (ours, any.then_some(models))
}

/// The first name of a section's header: `library` of `[[library.export]]`.
fn header(line: &str) -> Option<&str> {
    let inner = line.trim_start().strip_prefix('[')?;
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    let (name, rest) = inner.split_at_checked(inner.find(['.', ']'])?)?;
    (rest.contains(']') && !rest.contains(',')).then(|| name.trim().trim_matches('"'))
}

fn unknown_key(unknown: &str) -> String {
    let known = KEYS.iter().chain(MODELS);
    let nearest = known.max_by(|one, other| {
        strsim::jaro_winkler(one, unknown).total_cmp(&strsim::jaro_winkler(other, unknown))
    });
    format!("there is no key `{unknown}`; the nearest is `{}`", nearest.unwrap_or(&"ignore"))
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        before.filter(|byte| **byte == b'\n').count() + 1
    }

    fn wrong<T>(&self, value: &Spanned<DeValue<'_>>, wanted: &str) -> Result<T, Wrong> {
        Err((self.line(value.span()), format!("{wanted} is wanted here, not {}", kind(value.get_ref()))))
    }

    fn patterns(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, Wrong> {
        let Some(list) = value.get_ref().as_array() else {
            return self.wrong(value, "a list of patterns, as in a .gitignore,");
        };
        let pattern = |item: &Spanned<DeValue<'_>>| {
            let Some(pattern) = item.get_ref().as_str() else { return self.wrong(item, "a pattern") };
            match GitignoreBuilder::new("/").add_line(None, pattern) {
                Ok(_) => Ok(pattern.to_owned()),
                Err(error) => Err((self.line(item.span()), format!("`{pattern}` is no pattern: {error}"))),
            }
        };
        list.iter().map(pattern).collect()
    }

    fn name<T: FromStr<Err = interlock_model::UnknownName>>(
        &self,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<T, Wrong> {
        match value.get_ref().as_str() {
            Some(text) => text.parse().map_err(|error: T::Err| (self.line(value.span()), error.to_string())),
            None => self.wrong(value, "a name in quotes"),
        }
    }

    fn severity(&self, value: &Spanned<DeValue<'_>>) -> Result<Option<interlock_model::Severity>, Wrong> {
        if value.get_ref().as_str() == Some("off") {
            return Ok(None);
        }
        let named: Result<_, Wrong> = self.name(value).map(Some);
        named.map_err(|(line, what)| (line, what + ", off"))
    }

    fn deduction(&self, value: &Spanned<DeValue<'_>>) -> Result<u8, Wrong> {
        let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse::<u8>().ok());
        number.filter(|number| *number <= 100).map_or_else(|| self.wrong(value, "a number from 0 to 100"), Ok)
    }

    fn per_hazard<T>(
        &self,
        value: &Spanned<DeValue<'_>>,
        read: impl Fn(&Self, &Spanned<DeValue<'_>>) -> Result<T, Wrong>,
    ) -> Result<BTreeMap<HazardId, T>, Wrong> {
        let Some(table) = value.get_ref().as_table() else { return self.wrong(value, "a table of hazards") };
        let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let name: &str = key.get_ref();
            match find(name) {
                Some(hazard) => Ok((hazard.id.clone(), read(self, value)?)),
                None => Err((self.line(key.span()), unknown_hazard(name))),
            }
        };
        table.iter().map(entry).collect()
    }

    /// The words that a project adds, list by list.
    fn words(&self, value: &Spanned<DeValue<'_>>) -> Result<BTreeMap<String, Vec<String>>, Wrong> {
        let Some(table) = value.get_ref().as_table() else {
            return self.wrong(value, "a table of lists of words");
        };
        let mut found = BTreeMap::new();
        for (key, value) in table {
            let name: &str = key.get_ref();
            if let Err(unknown) = Lexicon::built_in().clone().extend(name, []) {
                return Err((self.line(key.span()), unknown_list(name, &unknown.known)));
            }
            let Some(list) = value.get_ref().as_array() else { return self.wrong(value, "a list of words") };
            let word = |item: &Spanned<DeValue<'_>>| match item.get_ref().as_str() {
                Some(word) => Ok(word.to_owned()),
                None => self.wrong(item, "a word in quotes"),
            };
            found.insert(name.to_owned(), list.iter().map(word).collect::<Result<_, _>>()?);
        }
        Ok(found)
    }
}

/// Says that there is no such list of words, and which one was perhaps meant.
fn unknown_list(name: &str, known: &[String]) -> String {
    let near = known
        .iter()
        .max_by(|one, other| strsim::jaro_winkler(one, name).total_cmp(&strsim::jaro_winkler(other, name)));
    let near = near.map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
    format!("there is no list of words `{name}`{near}")
}

/// Says that there is no such hazard, and which one was perhaps meant.
#[must_use]
pub fn unknown_hazard(name: &str) -> String {
    let near = nearest(|known| -strsim::jaro_winkler(known, name));
    let near = near.map(|hazard| format!("; the nearest is `{}`", hazard.id)).unwrap_or_default();
    format!("there is no hazard `{name}`{near}")
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "this number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "a yes or no",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
