//! A rule for the guard, with the keys that it has in a `guard.toml`.

use std::{num::NonZeroU32, time::Duration};

use interlock_model::{IdempotencyKey, InvalidKey, KeyTemplate, Mode, ToolPolicy};
use serde::{Deserialize, Serialize};

/// A rule that is checked as it is read.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub(super) struct Policy(ToolPolicy);

/// What is `None` is not written; an empty list is, because it takes back what earlier rules say.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(rename = "match")]
    matches: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_shared: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_fresh: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_flight: Option<NonZeroU32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

impl From<&ToolPolicy> for Policy {
    fn from(policy: &ToolPolicy) -> Self {
        Self(policy.clone())
    }
}

impl From<Policy> for ToolPolicy {
    fn from(policy: Policy) -> Self {
        policy.0
    }
}

impl From<Policy> for Fields {
    fn from(Policy(policy): Policy) -> Self {
        let text = |keys: Option<Vec<KeyTemplate>>| {
            keys.map(|keys| keys.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        Self {
            matches: policy.matches,
            lock: text(policy.lock),
            lock_shared: text(policy.lock_shared),
            observes: text(policy.observes),
            changes: text(policy.changes),
            requires_fresh: text(policy.requires_fresh),
            rate: policy.rate.map(|rate| rate.to_string()),
            in_flight: policy.in_flight,
            idempotency: policy.idempotency.map(|key| key.to_string()),
            timeout: policy.timeout.map(|timeout| format!("{}s", timeout.as_secs())),
            deny: policy.deny,
            mode: policy.mode.map(|mode| mode.to_string()),
        }
    }
}

impl TryFrom<Fields> for Policy {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        Ok(Self(ToolPolicy {
            matches: fields.matches,
            lock: keys(fields.lock)?,
            lock_shared: keys(fields.lock_shared)?,
            observes: keys(fields.observes)?,
            changes: keys(fields.changes)?,
            requires_fresh: keys(fields.requires_fresh)?,
            rate: fields.rate.map(|rate| rate.parse().map_err(said)).transpose()?,
            in_flight: fields.in_flight,
            idempotency: fields.idempotency.as_deref().map(idempotency).transpose()?,
            timeout: fields.timeout.as_deref().map(seconds).transpose()?,
            deny: fields.deny,
            mode: fields.mode.as_deref().map(mode).transpose()?,
        }))
    }
}

fn said(error: impl ToString) -> String {
    error.to_string()
}

fn keys(texts: Option<Vec<String>>) -> Result<Option<Vec<KeyTemplate>>, String> {
    texts.map(|texts| texts.iter().map(|text| key(text)).collect()).transpose()
}

/// A key is printed without marking which of its braces are text, so what is no template was fixed text.
fn key(text: &str) -> Result<KeyTemplate, String> {
    match text.parse() {
        Ok(template) => Ok(template),
        Err(InvalidKey::Empty) => Err(said(InvalidKey::Empty)),
        Err(_) => Ok(KeyTemplate::fixed(text)),
    }
}

fn idempotency(text: &str) -> Result<IdempotencyKey, String> {
    match text.strip_prefix("args.") {
        Some(name) if !name.is_empty() => Ok(IdempotencyKey::Argument(name.to_owned())),
        _ if text == "meta" => Ok(IdempotencyKey::Meta),
        _ => Err(format!("`{text}` names no idempotency key: `meta`, or `args.NAME`")),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').and_then(|number| number.parse().ok());
    seconds.map(Duration::from_secs).ok_or_else(|| format!("`{text}` is no time in seconds, such as `30s`"))
}

fn mode(text: &str) -> Result<Mode, String> {
    [Mode::Enforce, Mode::Observe]
        .into_iter()
        .find(|mode| mode.to_string() == text)
        .ok_or_else(|| format!("`{text}` is none of enforce, observe"))
}
