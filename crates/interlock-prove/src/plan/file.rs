//! The plan file: call sets named by hand, in TOML.
//!
//! ```toml
//! [[set]]
//! name = "double spend"                       # by default the tools: "spend + spend"
//! hazard = "db-check-then-act"
//! setup = ['deposit {"account": "a", "amount": 10}']
//! calls = ['spend {"account": "a", "amount": 10}', { tool = "spend", arguments = { account = "a", amount = 10 } }]
//! reads = ['balance {"account": "a"}']
//! invariants = ["succeeded <= 1", "at(reads[0], '/balance') >= 0"]
//! fault = { kind = "kill", after = "15ms" }   # or "close"
//! oracle = "serial"                           # or "no-more-than-serial", "once", "some-refused"
//! ```

use std::{borrow::Cow, ops::Range, time::Duration};

use interlock_model::{CallSet, Fault, HazardId, Oracle, PlannedCall};
use serde_json::{Map, Value};
use toml::{
    Spanned,
    de::{DeArray, DeTable, DeValue},
};

use super::{MOST_CALLS, MOST_SERIAL, invariant::Invariant, name_of, spec};

/// What is wrong with a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct FileError {
    /// Where, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

type Read<T> = Result<T, FileError>;
type Key<'t> = Spanned<Cow<'t, str>>;

const SET: &[&str] = &["name", "hazard", "setup", "calls", "reads", "invariants", "fault", "oracle"];
const CALL: &[&str] = &["tool", "arguments", "meta"];
const FAULT: &[&str] = &["kind", "after"];
const ORACLES: &[(&str, Oracle)] = &[
    ("serial", Oracle::Serial),
    ("no-more-than-serial", Oracle::NoMoreThanSerial),
    ("once", Oracle::Once),
    ("some-refused", Oracle::SomeRefused),
];

/// More than this nobody writes by hand, and nobody waits for.
const MOST_SETS: usize = 200;
const MOST_STEPS: usize = 100;
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Reads the sets of a plan file.
///
/// # Errors
///
/// When it is no TOML, has a key that is not known, or a value that cannot be.
pub fn sets(text: &str) -> Result<Vec<CallSet>, FileError> {
    let reader = Reader { text };
    let document = DeTable::parse(text).map_err(|error| FileError {
        line: reader.line(error.span().unwrap_or_default()),
        what: error.message().to_owned(),
    })?;
    let mut sets = Vec::new();
    for (key, value) in document.get_ref() {
        reader.known(key, &["set"])?;
        for item in reader.list(value, "a list of sets, each under `[[set]]`,")? {
            sets.push(reader.set(item)?);
        }
    }
    if sets.is_empty() || sets.len() > MOST_SETS {
        let what = format!("a plan has 1 to {MOST_SETS} sets, each under `[[set]]`; this has {}", sets.len());
        return Err(FileError { line: 1, what });
    }
    Ok(sets)
}

struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn line(&self, span: Range<usize>) -> usize {
        self.text.as_bytes().iter().take(span.start).filter(|byte| **byte == b'\n').count() + 1
    }

    fn fails<T>(&self, span: Range<usize>, what: impl Into<String>) -> Read<T> {
        Err(FileError { line: self.line(span), what: what.into() })
    }

    fn wrong<T>(&self, value: &Spanned<DeValue<'_>>, wanted: &str) -> Read<T> {
        self.fails(value.span(), format!("{wanted} is wanted here, not {}", kind(value.get_ref())))
    }

    fn known(&self, key: &Key<'_>, known: &[&str]) -> Read<()> {
        let name: &str = key.get_ref();
        if known.contains(&name) {
            return Ok(());
        }
        self.fails(key.span(), format!("there is no key `{name}`; {}", nearest(name, known.iter().copied())))
    }

    fn list<'v>(&self, value: &'v Spanned<DeValue<'_>>, wanted: &str) -> Read<&'v DeArray<'v>> {
        match value.get_ref().as_array() {
            Some(list) => Ok(list),
            None => self.wrong(value, wanted),
        }
    }

    fn text<'v>(&self, value: &'v Spanned<DeValue<'_>>, wanted: &str) -> Read<&'v str> {
        match value.get_ref().as_str() {
            Some(text) => Ok(text),
            None => self.wrong(value, wanted),
        }
    }

    fn set(&self, value: &Spanned<DeValue<'_>>) -> Read<CallSet> {
        let Some(table) = value.get_ref().as_table() else { return self.wrong(value, "a set") };
        let mut set = CallSet::default();
        for (key, value) in table {
            self.known(key, SET)?;
            match &**key.get_ref() {
                "name" => set.name = self.text(value, "a name in quotes")?.to_owned(),
                "hazard" => set.hazard = Some(self.hazard(value)?),
                "setup" => set.setup = self.calls(value)?,
                "calls" => set.calls = self.calls(value)?,
                "reads" => set.reads = self.calls(value)?,
                "invariants" => set.invariants = self.invariants(value)?,
                "fault" => set.fault = self.fault(value)?,
                _ => set.oracle = self.oracle(value)?,
            }
        }
        let most = if set.oracle == Oracle::Serial { MOST_SERIAL } else { MOST_CALLS };
        if set.calls.is_empty() || set.calls.len() > most {
            let what = format!("a set of this oracle has 1 to {most} `calls`; this has {}", set.calls.len());
            return self.fails(value.span(), what);
        }
        if let ([only], Oracle::Serial, Fault::None) = (set.calls.as_slice(), set.oracle, set.fault) {
            // One call named: does it meet itself?
            set.calls = vec![only.clone(); 2];
        }
        if set.name.is_empty() {
            set.name = name_of(&set.calls);
        }
        Ok(set)
    }

    fn hazard(&self, value: &Spanned<DeValue<'_>>) -> Read<HazardId> {
        let name = self.text(value, "the name of a hazard in quotes")?;
        match interlock_hazards::find(name) {
            Some(hazard) => Ok(hazard.id.clone()),
            None => {
                let known = interlock_hazards::ALL.iter().map(|hazard| hazard.id.as_str());
                self.fails(value.span(), format!("there is no hazard `{name}`; {}", nearest(name, known)))
            }
        }
    }

    fn calls(&self, value: &Spanned<DeValue<'_>>) -> Read<Vec<PlannedCall>> {
        let list = self.list(value, "a list of calls, such as ['add_note {\"text\": \"a\"}'],")?;
        if list.len() > MOST_STEPS {
            return self.fails(value.span(), format!("at most {MOST_STEPS} calls may stand here"));
        }
        list.iter().map(|item| self.call(item)).collect()
    }

    fn call(&self, value: &Spanned<DeValue<'_>>) -> Read<PlannedCall> {
        if let Some(text) = value.get_ref().as_str() {
            return spec::call(text)
                .map_err(|error| FileError { line: self.line(value.span()), what: error.to_string() });
        }
        let Some(table) = value.get_ref().as_table() else {
            return self.wrong(value, "a call, as 'TOOL {json}' or { tool = …, arguments = … },");
        };
        let mut call = PlannedCall::new("", Value::Object(Map::new()));
        for (key, value) in table {
            self.known(key, CALL)?;
            match &**key.get_ref() {
                "tool" => call.tool = self.text(value, "the name of a tool in quotes")?.to_owned(),
                "arguments" => call.arguments = self.object(value)?,
                _ => call.meta = self.object(value)?,
            }
        }
        if call.tool.is_empty() {
            return self.fails(value.span(), "a call needs a `tool`");
        }
        Ok(call)
    }

    fn object(&self, value: &Spanned<DeValue<'_>>) -> Read<Value> {
        if value.get_ref().is_table() { self.json(value) } else { self.wrong(value, "a table of values") }
    }

    fn json(&self, value: &Spanned<DeValue<'_>>) -> Read<Value> {
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(yes) => Value::from(*yes),
            DeValue::Datetime(date) => Value::from(date.to_string()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::from(number),
                Err(_) => return self.wrong(value, "a number of at most 64 bits"),
            },
            DeValue::Float(number) => {
                let number = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
                match number {
                    Some(number) => Value::Number(number),
                    None => return self.wrong(value, "a number that JSON can write"),
                }
            }
            DeValue::Array(list) => list.iter().map(|item| self.json(item)).collect::<Read<Value>>()?,
            DeValue::Table(table) => {
                let entry =
                    |(key, value): (&Key<'_>, _)| Ok((key.get_ref().clone().into_owned(), self.json(value)?));
                Value::Object(table.iter().map(entry).collect::<Read<_>>()?)
            }
        })
    }

    fn invariants(&self, value: &Spanned<DeValue<'_>>) -> Read<Vec<String>> {
        let list = self.list(value, "a list of expressions in quotes")?;
        if list.len() > MOST_STEPS {
            return self.fails(value.span(), format!("at most {MOST_STEPS} invariants may stand here"));
        }
        let expression = |item: &Spanned<DeValue<'_>>| {
            let text = self.text(item, "an expression in quotes, such as \"succeeded <= 1\",")?;
            match Invariant::compile(text) {
                Ok(_) => Ok(text.to_owned()),
                Err(error) => self.fails(item.span(), error.to_string()),
            }
        };
        list.iter().map(expression).collect()
    }

    fn fault(&self, value: &Spanned<DeValue<'_>>) -> Read<Fault> {
        let wanted = "a fault, such as { kind = \"kill\", after = \"15ms\" },";
        let Some(table) = value.get_ref().as_table() else { return self.wrong(value, wanted) };
        let (mut fault, mut after) = (None, Duration::ZERO);
        for (key, value) in table {
            self.known(key, FAULT)?;
            let text = self.text(value, "a text in quotes")?;
            match (&**key.get_ref(), text) {
                ("after", text) => match duration(text) {
                    Some(wait) => after = wait,
                    None => return self.fails(value.span(), NO_DURATION),
                },
                (_, "kill") => fault = Some(Fault::Kill { after }),
                (_, "close") => fault = Some(Fault::Close { after }),
                (_, other) => {
                    return self.fails(value.span(), format!("a fault is `kill` or `close`, not `{other}`"));
                }
            }
        }
        match fault {
            Some(Fault::Close { .. }) => Ok(Fault::Close { after }),
            Some(_) => Ok(Fault::Kill { after }),
            None => self.fails(value.span(), "a fault needs a `kind`: `kill` or `close`"),
        }
    }

    fn oracle(&self, value: &Spanned<DeValue<'_>>) -> Read<Oracle> {
        let name = self.text(value, "the name of an oracle in quotes")?;
        match ORACLES.iter().find(|(known, _)| *known == name) {
            Some((_, oracle)) => Ok(*oracle),
            None => {
                let known = ORACLES.iter().map(|(known, _)| *known);
                self.fails(value.span(), format!("there is no oracle `{name}`; {}", nearest(name, known)))
            }
        }
    }
}

const NO_DURATION: &str = "a time is a number with us, ms or s, such as \"15ms\", and at most 60s";

/// `15ms`, `2s`, `250us`.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let number: u64 = number.parse().ok()?;
    let wait = match unit.trim() {
        "us" => Duration::from_micros(number),
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        _ => return None,
    };
    (wait <= LONGEST_WAIT).then_some(wait)
}

fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> String {
    let near = known
        .max_by(|one, other| strsim::jaro_winkler(one, name).total_cmp(&strsim::jaro_winkler(other, name)));
    format!("the nearest is `{}`", near.unwrap_or_default())
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

#[cfg(test)]
mod tests;
