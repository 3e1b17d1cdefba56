//! The JSON Schema of `guard.toml`, made from its types: what an editor shows, and what errors say of a key.

use std::sync::LazyLock;

use schemars::{
    Schema,
    generate::SchemaSettings,
    transform::{Transform, transform_subschemas},
};
use serde_json::Value;

use super::file::File;

/// The JSON Schema of `guard.toml`, as text.
#[must_use]
pub fn schema() -> String {
    format!("{:#}\n", *SCHEMA)
}

/// The schema as data.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with_transform(WithoutNull);
    sorted(settings.into_generator().into_root_schema_for::<File>().to_value())
});

/// The same with its keys in order, whatever map another crate makes serde_json use.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// TOML has no null: a key that is not set is not there.
#[derive(Debug, Clone)]
struct WithoutNull;

impl Transform for WithoutNull {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if object.get("default").is_some_and(|default| default.is_null() || is_empty(default)) {
            object.remove("default");
        }
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|one| one != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(ways)) = object.get_mut("enum") {
            ways.retain(|one| !one.is_null());
        }
        if let Some(Value::Array(ways)) = object.get_mut("anyOf") {
            ways.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
            if let [Value::Object(only)] = ways.as_slice() {
                let only = only.clone();
                object.remove("anyOf");
                for (key, value) in only {
                    object.entry(key).or_insert(value);
                }
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.is_empty(),
        Value::Object(object) => object.values().all(|value| value.is_null() || is_empty(value)),
        _ => false,
    }
}

/// What a schema says in the end: behind its reference, and of several ways the one with keys.
pub(super) fn resolved(schema: &'static Value) -> &'static Value {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = name.trim_start_matches('#');
        return SCHEMA.pointer(pointer).unwrap_or(schema);
    }
    let ways = schema.get("anyOf").and_then(Value::as_array);
    ways.into_iter().flatten().find(|way| way.get("properties").is_some()).unwrap_or(schema)
}
