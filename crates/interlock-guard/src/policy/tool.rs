//! A tool as a server lists it, as far as a policy looks at it.

use serde_json::Value;

/// One entry of a `tools/list` result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedTool {
    /// Its name, as clients know it.
    pub name: String,
    /// What it is said to do.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
}

/// How many tools of one server are looked at.
const MOST: usize = 10_000;

impl ListedTool {
    /// The tools of a `tools/list` result; what has no name is left out.
    #[must_use]
    pub fn all_of(result: &Value) -> Vec<Self> {
        let list = result.get("tools").and_then(Value::as_array);
        list.into_iter().flatten().take(MOST).filter_map(Self::of).collect()
    }

    fn of(entry: &Value) -> Option<Self> {
        let hint = |name: &str| entry.get("annotations")?.get(name)?.as_bool();
        Some(Self {
            name: entry.get("name")?.as_str()?.to_owned(),
            description: entry.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
            input_schema: entry.get("inputSchema").cloned().unwrap_or_default(),
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
        })
    }

    /// The same tool behind an upstream's prefix.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &str) -> Self {
        self.name.insert_str(0, prefix);
        self
    }

    /// Whether its server says that it only reads. A tool that says nothing does not count as one.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only == Some(true)
    }

    /// What its schema says of an argument: `None` if the schema names its arguments and this is not among them, `Some(None)` if it does
    /// not say.
    pub(super) fn argument(&self, path: &[String]) -> Option<Option<&Value>> {
        let mut schema = &self.input_schema;
        for name in path {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return Some(None);
            };
            match properties.get(name) {
                Some(inner) => schema = inner,
                None if schema
                    .get("additionalProperties")
                    .is_some_and(|more| *more != Value::Bool(false)) =>
                {
                    return Some(None);
                }
                None => return None,
            }
        }
        Some(Some(schema))
    }

    /// Whether an argument must be there.
    pub(super) fn requires(&self, name: &str) -> bool {
        let required = self.input_schema.get("required").and_then(Value::as_array);
        required.into_iter().flatten().any(|one| one.as_str() == Some(name))
    }

    /// The names of its arguments.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        let properties = self.input_schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.as_str())
    }
}
