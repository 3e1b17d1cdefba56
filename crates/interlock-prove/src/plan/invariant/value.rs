//! An outcome as the variables of an expression.

use std::{collections::HashMap, sync::Arc};

use cel::{Context, Value};
use interlock_model::{Outcome, Seen};
use serde_json::Value as Json;

use crate::plan::plain;

/// Adds the variables.
pub(super) fn add(context: &mut Context<'_, '_>, outcome: &Outcome, before: &[Json]) {
    let answers: Vec<Value> = outcome.answers.iter().map(answer).collect();
    let succeeded = outcome.answers.iter().filter(|seen| matches!(seen, Seen::Result(_))).count();
    let reads: Vec<Value> = outcome.reads.iter().map(|seen| cel(&said(seen))).collect();
    let before: Vec<Value> = before.iter().map(|value| cel(&plain(value))).collect();
    context.add_variable_from_value("answers", Value::List(Arc::new(answers)));
    context.add_variable_from_value("succeeded", Value::Int(i64::try_from(succeeded).unwrap_or(i64::MAX)));
    context.add_variable_from_value("reads", Value::List(Arc::new(reads)));
    context.add_variable_from_value("before", Value::List(Arc::new(before)));
}

fn answer(seen: &Seen) -> Value {
    let ok = Value::Bool(matches!(seen, Seen::Result(_)));
    HashMap::from([("ok".to_owned(), ok), ("value".to_owned(), cel(&said(seen)))]).into()
}

fn said(seen: &Seen) -> Json {
    match seen {
        Seen::Result(value) | Seen::Error(value) => plain(value),
        Seen::Nothing => Json::Null,
    }
}

/// Every whole number is an `int`: the language does not add those with a sign to those without.
fn cel(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(yes) => Value::Bool(*yes),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Int(whole),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(cel).collect())),
        Json::Object(entries) => {
            entries.iter().map(|(name, value)| (name.clone(), cel(value))).collect::<HashMap<_, _>>().into()
        }
    }
}
