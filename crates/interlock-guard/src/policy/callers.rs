//! The callers that a rule is about: by their names, or by the scopes and claims of their tokens.

use std::fmt;

use serde_json::Value;

use super::pattern::{EmptyPattern, Pattern};
use crate::call::Caller;

/// Some callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callers {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// By their names: `key:ci`, `jwt:*@example.org`.
    Named(Pattern),
    /// Whose token has a scope: `scope:tools.write`.
    Scoped(Pattern),
    /// Whose token has a claim, at the end of this path, that is such a text, or a list that has one: `claim:groups=ops`.
    Claiming(Vec<String>, Pattern),
}

/// Why a text says nobody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCallers {
    /// There is no pattern in it.
    #[error(transparent)]
    Empty(#[from] EmptyPattern),
    /// A claim has a name and a value.
    #[error("`{0}` names no claim and its value: write `claim:NAME=VALUE`, where only VALUE may have a `*`")]
    Claim(String),
}

impl Callers {
    /// The callers that a text in a rule is about.
    ///
    /// # Errors
    ///
    /// It is empty, or no claim with a value.
    pub fn new(text: &str) -> Result<Self, InvalidCallers> {
        let kind = if let Some(scope) = text.strip_prefix("scope:") {
            Kind::Scoped(Pattern::new(scope)?)
        } else if let Some(claim) = text.strip_prefix("claim:") {
            let odd = || InvalidCallers::Claim(text.to_owned());
            let (name, value) = claim.split_once('=').ok_or_else(odd)?;
            // Whose claim it is must not be open: people choose their own display names.
            let path: Vec<String> = name.split('.').map(str::to_owned).collect();
            if name.contains('*') || path.iter().any(String::is_empty) {
                return Err(odd());
            }
            Kind::Claiming(path, Pattern::new(value).map_err(|_| odd())?)
        } else {
            Kind::Named(Pattern::new(text)?)
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scope that a token needs to be one of them; `None` if it is not by one, or by any of several.
    #[must_use]
    pub fn scope(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scoped(scope) if !scope.as_str().contains('*') => Some(scope.as_str()),
            _ => None,
        }
    }

    /// Whether they are told by their tokens.
    #[must_use]
    pub fn is_by_token(&self) -> bool {
        !matches!(self.kind, Kind::Named(_))
    }

    /// Whether somebody is one of them.
    #[must_use]
    pub fn has(&self, caller: &Caller) -> bool {
        match &self.kind {
            Kind::Named(name) => name.matches(caller.as_str()),
            Kind::Scoped(scope) => caller.claims().is_some_and(|claims| {
                // RFC 9068 has one text with spaces; others have a list, or call it `scp`.
                ["scope", "scp"].iter().filter_map(|name| claims.get(*name)).any(|given| match given {
                    Value::String(text) => text.split(' ').any(|one| !one.is_empty() && scope.matches(one)),
                    Value::Array(list) => list.iter().filter_map(Value::as_str).any(|one| scope.matches(one)),
                    _ => false,
                })
            }),
            Kind::Claiming(path, value) => caller.claims().is_some_and(|claims| {
                // A name with dots in it, such as a URL, comes first: that is how issuers keep their own claims apart.
                let whole = claims.get(&path.join("."));
                let nested = || {
                    let (first, rest) = path.split_first()?;
                    rest.iter().try_fold(claims.get(first)?, |inside, name| inside.get(name))
                };
                whole.or_else(nested).is_some_and(|given| match given {
                    Value::Array(list) => list.iter().any(|one| is_such(one, value)),
                    one => is_such(one, value),
                })
            }),
        }
    }
}

fn is_such(given: &Value, wanted: &Pattern) -> bool {
    match given {
        Value::String(text) => wanted.matches(text),
        Value::Bool(_) | Value::Number(_) => wanted.matches(&given.to_string()),
        _ => false,
    }
}

impl fmt::Display for Callers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn caller(claims: Value) -> Caller {
        let Value::Object(claims) = claims else { panic!("claims are an object") };
        Caller::new("jwt:ann").with_claims(claims)
    }

    fn has(text: &str, caller: &Caller) -> bool {
        Callers::new(text).unwrap().has(caller)
    }

    #[test]
    fn a_scope_is_one_word_of_a_token() {
        for claims in [
            json!({ "scope": "read tools.write" }),
            json!({ "scope": ["read", "tools.write"] }),
            json!({ "scp": "tools.write" }),
            json!({ "scp": ["tools.write"] }),
        ] {
            let ann = caller(claims.clone());
            assert!(has("scope:tools.write", &ann) && has("scope:tools.*", &ann), "{claims}");
            assert!(!has("scope:tools", &ann) && !has("scope:write", &ann), "{claims}");
        }
        for claims in [
            json!({}),
            json!({ "scope": "tools.writes" }),
            json!({ "scope": "" }),
            json!({ "scope": "tools.write2 xtools.write" }),
            json!({ "scope": { "tools.write": true } }),
            json!({ "scopes": "tools.write" }),
            json!({ "name": "scope:tools.write" }),
        ] {
            assert!(!has("scope:tools.write", &caller(claims.clone())), "{claims}");
        }
        assert!(!has("scope:*", &caller(json!({ "scope": " " }))), "nothing is no scope");
    }

    #[test]
    fn a_claim_is_by_its_name_and_its_value() {
        let ann = caller(json!({
            "groups": ["dev", "ops"],
            "team": "blue",
            "admin": true,
            "level": 3,
            "realm_access": { "roles": ["auditor"] },
            "https://example.org/tenant": "a=b",
            "name": "ops",
        }));
        for text in [
            "claim:groups=ops",
            "claim:groups=o*",
            "claim:team=blue",
            "claim:admin=true",
            "claim:level=3",
            "claim:realm_access.roles=auditor",
            "claim:https://example.org/tenant=a=b",
        ] {
            assert!(has(text, &ann), "{text}");
        }
        for text in [
            "claim:groups=op",
            "claim:team=ops",
            "claim:admin=false",
            "claim:realm_access=auditor",
            "claim:realm_access.roles.auditor=*",
            "claim:nothing=*",
            "claim:sub=*",
        ] {
            assert!(!has(text, &ann), "{text}");
        }
    }

    #[test]
    fn whoever_has_no_token_has_neither_and_a_name_is_a_name() {
        for name in ["key:ci", "anonymous", "stdio", "jwt:scope:admin", "mtls:claim:groups=ops"] {
            let caller = Caller::new(name);
            assert!(!has("scope:*", &caller) && !has("claim:groups=*", &caller), "{name}");
            assert!(has(name, &caller) && has("*", &caller), "{name}");
        }
        assert!(has("jwt:*", &caller(json!({}))));
    }

    #[test]
    fn what_leaves_open_which_claim_it_is_is_refused() {
        for text in
            ["", "scope:", "claim:", "claim:groups", "claim:*=ops", "claim:=x", "claim:a..b=x", "claim:a="]
        {
            assert!(Callers::new(text).is_err(), "{text}");
        }
        let scope = |text: &str| Callers::new(text).unwrap().scope().map(str::to_owned);
        assert_eq!(scope("scope:tools.write"), Some("tools.write".to_owned()));
        assert_eq!((scope("scope:tools.*"), scope("key:ci"), scope("claim:a=b")), (None, None, None));
    }
}
