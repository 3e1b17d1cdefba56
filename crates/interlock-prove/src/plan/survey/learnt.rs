//! What is told of the arguments that were found out: where each value comes from, and what was refused on the way. Whoever knows the server
//! better corrects one line of it.

use interlock_model::{Learnt, PlannedCall};
use serde_json::Value;

use super::{Seen, change::shortened, write::Known};
use crate::{
    files::is_files,
    plan::arguments::{Pool, Sampler, things},
};

/// So many refusals of one tool are told.
const MOST_TOLD: usize = 4;
/// So many of all tools are kept.
const MOST_KEPT: usize = 400;
/// Shorter values stand in every sentence.
const SHORTEST: usize = 3;

/// The calls that were refused, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals {
    kept: Vec<(PlannedCall, String)>,
}

impl Refusals {
    /// Takes in a call that was refused, once.
    pub(super) fn learn(&mut self, call: &PlannedCall, words: String) {
        let is_known = || self.kept.iter().any(|(known, _)| known == call);
        if self.kept.len() < MOST_KEPT && !is_files(call) && !is_known() {
            self.kept.push((call.clone(), shortened(&words)));
        }
    }

    /// How a tool was refused first, if it was.
    pub(super) fn first_of(&self, tool: &str) -> Option<String> {
        self.kept.iter().find(|(call, _)| call.tool == tool).map(|(_, words)| words.clone())
    }

    /// What was learnt of one tool; nothing where there is nothing that could be corrected.
    pub(super) fn of(&self, sampler: &Sampler, seen: &Seen) -> Option<Learnt> {
        let tool = sampler.tool().name.clone();
        let known = seen.known.get(&tool)?.as_ref().ok();
        let works = known.and_then(|known| known.samples.first());
        // The call that worked may be refused when it comes once more.
        let of_tool = self.kept.iter().filter(|(call, _)| call.tool == tool && Some(call) != works);
        let refused: Vec<(PlannedCall, String)> = of_tool.take(MOST_TOLD).cloned().collect();
        if works.is_none() && refused.is_empty() {
            return None;
        }
        let setup = known.map(|known| known.setup.clone()).unwrap_or_default();
        let sources = match (known, works) {
            (Some(known), Some(works)) => sources(sampler, known, works, &refused, &seen.pool),
            _ => Vec::new(),
        };
        Some(Learnt { tool, setup, works: works.cloned(), sources, refused })
    }
}

/// Where the values of a call come from, argument for argument.
fn sources(
    sampler: &Sampler,
    known: &Known,
    works: &PlannedCall,
    refused: &[(PlannedCall, String)],
    pool: &Pool,
) -> Vec<(String, String)> {
    let arguments = works.arguments.as_object().into_iter().flatten();
    let source = |(name, value): (&String, &Value)| {
        let schema = sampler.tool().input_schema.pointer(&format!("/properties/{}", escaped(name)));
        (name.clone(), source(value, schema, known, refused, pool))
    };
    arguments.map(source).collect()
}

fn source(
    value: &Value,
    schema: Option<&Value>,
    known: &Known,
    refused: &[(PlannedCall, String)],
    pool: &Pool,
) -> String {
    let text = value.as_str().unwrap_or_default();
    if text.contains("{answer:") {
        let made = known.setup.iter().rev().find(|call| !is_files(call));
        return made.map_or_else(|| "an answer".to_owned(), |call| format!("the answer of {}", call.tool));
    }
    if schema.is_some_and(|schema| shows(schema, value)) {
        return "the schema".to_owned();
    }
    let listed = |(call, words): &(PlannedCall, String)| {
        text.len() >= SHORTEST && words.contains(text) && !call.arguments.to_string().contains(text)
    };
    if refused.iter().any(listed) {
        return "a refusal that lists it".to_owned();
    }
    let told = known
        .setup
        .iter()
        .find(|call| !is_files(call) && things(&call.arguments).iter().any(|(_, told)| told == value));
    if let Some(call) = told {
        return format!("what {} was told", call.tool);
    }
    if (value.is_string() || value.is_number()) && pool.place_of(value).is_some() {
        return "an answer of a reader".to_owned();
    }
    if text.contains("{scratch}") { "made up, in the server's folder" } else { "made up" }.to_owned()
}

/// Whether a schema has a value written in it.
fn shows(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| schema.get(name) == Some(value);
    let lists =
        |name: &str| schema.get(name).and_then(Value::as_array).is_some_and(|values| values.contains(value));
    let says = || {
        let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        value.as_str().is_some_and(|text| text.len() >= SHORTEST && description.contains(text))
    };
    is("const") || is("default") || is("example") || lists("enum") || lists("examples") || says()
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
