//! A call as the warden sees it: who, what, on what.

use std::{fmt, sync::Arc};

use serde_json::{Map, Value};

use crate::{spell::canonical, store::Fingerprint};

/// The `_meta` entry by which a client says that two requests are the same call.
pub const IDEMPOTENCY_KEY: &str = "dev.interlock/idempotency-key";

/// Who calls: whatever limits are counted by. It must come from something that the caller cannot choose, such as a verified token, or
/// every name is a new quota.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerName(Arc<str>);

/// One call.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Which tool.
    pub tool: &'a str,
    /// Who calls it.
    pub caller: &'a CallerName,
    /// With which arguments.
    pub arguments: Option<&'a Map<String, Value>>,
    /// What the request's `_meta` says under [`IDEMPOTENCY_KEY`].
    pub idempotency_key: Option<&'a Value>,
}

impl CallerName {
    /// A caller by this name.
    #[must_use]
    pub fn new(name: impl AsRef<str>) -> Self {
        Self(name.as_ref().into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: AsRef<str>> From<T> for CallerName {
    fn from(name: T) -> Self {
        Self::new(name)
    }
}

impl fmt::Display for CallerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Call<'_> {
    /// What the call says: the tool and its arguments, in whatever order they came.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let text = self.arguments.map_or_else(|| "{}".to_owned(), canonical);
        Fingerprint::of_parts([self.tool, text.as_str()])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fingerprint(tool: &str, arguments: Value) -> Fingerprint {
        let caller = CallerName::new("alice");
        Call { tool, caller: &caller, arguments: arguments.as_object(), idempotency_key: None }.fingerprint()
    }

    #[test]
    fn the_order_of_arguments_does_not_matter_and_everything_else_does() {
        let one: Value = serde_json::from_str(r#"{"a": {"x": 1, "y": [1, 2]}, "b": 2}"#).unwrap();
        let same: Value = serde_json::from_str(r#"{"b": 2, "a": {"y": [1, 2], "x": 1}}"#).unwrap();
        assert_eq!(fingerprint("t", one.clone()), fingerprint("t", same));
        assert_eq!(fingerprint("t", json!({})), fingerprint("t", Value::Null));
        for (tool, arguments) in [
            ("u", one.clone()),
            ("t", json!({"a": {"x": 1, "y": [2, 1]}, "b": 2})),
            ("t", json!({"a": {"x": 1, "y": [1, 2]}, "b": "2"})),
            ("t", json!({"a": {"x": 1, "y": [1, 2], "b": 2}})),
        ] {
            assert_ne!(fingerprint("t", one.clone()), fingerprint(tool, arguments));
        }
    }
}
