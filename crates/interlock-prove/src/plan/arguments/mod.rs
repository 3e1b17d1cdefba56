//! Arguments for a tool that nobody gave: from examples, enums and defaults of its schema, from ids that earlier answers had, else made.
//!
//! Everything follows from the schema and from what was seen: the same server gets the same calls every time. The generators that there are for
//! JSON Schema draw at random, which is what a fuzzer needs; here two samples have to speak of the same thing and say different things about it.

mod generate;
mod harvest;
mod leaf;
mod name;
mod pattern;
mod shown;
mod sql;

use std::collections::BTreeMap;

use interlock_model::PlannedCall;
use jsonschema::Validator;
use serde_json::{Map, Value};

pub use harvest::{Found, Pool};
pub(crate) use name::{Named, Role, noun_of_tool};
pub(crate) use sql::making_table;

use super::listing::Listing;

/// A larger schema is not worth the time, or an attack.
const LARGEST_SCHEMA: usize = 256 * 1024;

/// Makes arguments for one tool.
pub struct Sampler {
    tool: Listing,
    noun: Option<String>,
    validator: Validator,
}

/// Which arguments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Want {
    /// Which thing is spoken of: the same number is the same thing.
    pub thing: usize,
    /// What is said about it: other numbers say something else.
    pub variant: usize,
    /// Where ids and names come from.
    pub source: Source,
    /// Whether arguments that may be left out are given too.
    pub optional: bool,
    /// Whether a folder shall be one that is there: the scratch folder itself.
    pub there: bool,
    /// Whether also who or what else is named differs from variant to variant: a receiver, a destination.
    pub vary_others: bool,
    /// Values that are used for arguments of this name before anything else, by their words joined.
    pub given: BTreeMap<String, Value>,
    /// The extension of files that are named.
    pub extension: Option<String>,
    /// Whether paths begin at the server's folder instead of at the root.
    pub relative: bool,
}

/// Where ids and names come from first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// What the schema shows, then what was seen.
    #[default]
    Examples,
    /// What was seen in answers.
    Seen,
    /// New ones.
    Made,
}

impl Sampler {
    /// Looks at a tool's schema.
    ///
    /// # Errors
    ///
    /// In words, when it is no schema, or arguments could not be checked against it.
    pub fn new(tool: Listing) -> Result<Self, String> {
        if tool.input_schema.to_string().len() > LARGEST_SCHEMA {
            return Err("its schema is too large".into());
        }
        let validator = jsonschema::options().should_validate_formats(true).build(&tool.input_schema);
        let validator = validator.map_err(|error| format!("its schema cannot be used: {error}"))?;
        Ok(Self { noun: noun_of_tool(&tool.name), tool, validator })
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &Listing {
        &self.tool
    }

    /// What it is about, by its name.
    #[must_use]
    pub fn noun(&self) -> Option<&str> {
        self.noun.as_deref()
    }

    /// Arguments that the schema allows; `None` if none were found.
    #[must_use]
    pub fn sample(&self, want: &Want, pool: &Pool) -> Option<Value> {
        // Where a schema offers several shapes the first is tried first; more than a few nobody writes by hand.
        (0..4).find_map(|branch| {
            let generator = generate::Generator::new(&self.tool, self.noun.as_deref(), want, pool, branch);
            let arguments = generator.arguments().unwrap_or_else(|| Value::Object(Map::new()));
            (arguments.is_object() && self.validator.is_valid(&arguments)).then_some(arguments)
        })
    }

    /// Whether the schema allows these.
    #[must_use]
    pub fn allows(&self, arguments: &Value) -> bool {
        self.validator.is_valid(arguments)
    }

    /// Whether it can be called with nothing.
    #[must_use]
    pub fn needs_nothing(&self) -> bool {
        self.allows(&Value::Object(Map::new()))
    }

    /// The argument that carries an idempotency key. If the call that is known to work was told a value that the server gave out, it is the id of
    /// something.
    #[must_use]
    pub fn idempotency_argument(&self, works: Option<&PlannedCall>) -> Option<String> {
        let properties = self.tool.input_schema.get("properties")?.as_object()?;
        let is_key = |name: &&String| {
            let told = works.and_then(|call| call.arguments.get(name.as_str()));
            Named::new(name).role == Role::Idempotency && told.is_none_or(leaf::is_made_up_key)
        };
        properties.keys().find(is_key).cloned()
    }

    /// Whether it is said of an argument that is named like an idempotency key that a second call with it does nothing more: by its name, or by a
    /// description. A `requestId` may be no more than a label.
    #[must_use]
    pub fn promises_once(&self, argument: &str) -> bool {
        let property = self.tool.input_schema.pointer(&format!("/properties/{argument}/description"));
        let described = property.and_then(Value::as_str).unwrap_or_default();
        let joined = argument.to_lowercase().replace(['_', '-'], "");
        let said = [joined.as_str(), &described.to_lowercase(), &self.tool.description.to_lowercase()];
        ONCE.iter().any(|word| said.iter().any(|text| text.contains(word)))
    }

    /// The arguments that say how much, as names of the top level.
    pub fn amounts<'v>(&self, arguments: &'v Value) -> Vec<&'v str> {
        let entries = arguments.as_object().into_iter().flatten();
        let amounts =
            entries.filter(|(name, value)| value.is_number() && Named::new(name).role == Role::Amount);
        amounts.map(|(name, _)| name.as_str()).collect()
    }
}

/// Words of what is done once, however often it is asked for.
const ONCE: &[&str] =
    &["idempoten", "dedup", "duplicate", "retry", "retries", "exactly once", "only once", "at most once"];

/// The values of arguments that name what is spoken of, with the names that they stand under.
#[must_use]
pub(crate) fn things(arguments: &Value) -> Vec<(Named, Value)> {
    let mut found = handles(arguments);
    // A key that we made up names nothing; one that the server gave out does, whatever it is called.
    found.retain(|(named, value)| named.role != Role::Idempotency || !leaf::is_made_up_key(value));
    found
}

/// The same with everything that is named like an idempotency key: `requestId` may be the id of a request.
#[must_use]
pub(crate) fn handles(arguments: &Value) -> Vec<(Named, Value)> {
    let mut found = Vec::new();
    collect(arguments, None, 0, &mut found);
    found
}

fn collect(value: &Value, name: Option<&str>, depth: usize, found: &mut Vec<(Named, Value)>) {
    if depth > 4 {
        return;
    }
    match value {
        Value::Object(entries) => {
            entries.iter().for_each(|(name, value)| collect(value, Some(name), depth + 1, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, name, depth + 1, found)),
        Value::String(_) | Value::Number(_) => {
            let Some(named) = name.map(Named::new) else { return };
            if named.role.names_a_thing() || named.role == Role::Idempotency {
                found.push((named, value.clone()));
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests;
