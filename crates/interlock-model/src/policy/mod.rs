//! What the guard does for a tool, as data: the thing a remedy proposes and a `guard.toml` says.

mod key;
mod rate;

use serde::{Deserialize, Serialize};
use std::{fmt, num::NonZeroU32, time::Duration};

pub use self::{
    key::{InvalidKey, KeyPart, KeyTemplate},
    rate::{InvalidRate, Per, Rate},
};

/// One `[[tool]]` rule. A field that is `None` leaves what earlier rules said; an empty list takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolPolicy {
    /// The tools it speaks of, as patterns: `delete_*`.
    pub matches: Vec<String>,
    /// Held alone for the length of the call.
    pub lock: Option<Vec<KeyTemplate>>,
    /// Held together with other shared holders.
    pub lock_shared: Option<Vec<KeyTemplate>>,
    /// What a successful call has read.
    pub observes: Option<Vec<KeyTemplate>>,
    /// What a call may have changed.
    pub changes: Option<Vec<KeyTemplate>>,
    /// Refused if this changed since the reader last observed it.
    pub requires_fresh: Option<Vec<KeyTemplate>>,
    /// How often, per caller.
    pub rate: Option<Rate>,
    /// How many at once, per caller.
    pub in_flight: Option<NonZeroU32>,
    /// Where the key of a call that must take effect once comes from.
    pub idempotency: Option<IdempotencyKey>,
    /// After which a call's outcome is unknown; a whole number of seconds.
    pub timeout: Option<Duration>,
    /// Whether the tool may not be called at all.
    pub deny: Option<bool>,
    /// Whether decisions are carried out or only written down.
    pub mode: Option<Mode>,
}

/// Where an idempotency key comes from. Never from the arguments as a whole: two equal calls may both be meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum IdempotencyKey {
    /// The `_meta` entry `dev.interlock/idempotency-key`.
    Meta,
    /// One named argument.
    Argument(String),
}

/// Whether the guard acts on its decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// It refuses and delays.
    Enforce,
    /// It decides and logs, and lets everything pass.
    Observe,
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Meta => f.write_str("meta"),
            Self::Argument(name) => write!(f, "args.{name}"),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enforce => "enforce",
            Self::Observe => "observe",
        })
    }
}

/// The rule as it stands in a `guard.toml`.
impl fmt::Display for ToolPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[[tool]]")?;
        writeln!(f, "match = {}", one_or_list(&self.matches))?;
        let keys = [
            ("lock", &self.lock),
            ("lock_shared", &self.lock_shared),
            ("observes", &self.observes),
            ("changes", &self.changes),
            ("requires_fresh", &self.requires_fresh),
        ];
        for (name, templates) in keys {
            if let Some(templates) = templates {
                writeln!(f, "{name} = {}", one_or_list(templates))?;
            }
        }
        if let Some(rate) = self.rate {
            writeln!(f, "rate = {}", quoted(rate))?;
        }
        if let Some(limit) = self.in_flight {
            writeln!(f, "in_flight = {limit}")?;
        }
        if let Some(key) = &self.idempotency {
            writeln!(f, "idempotency = {}", quoted(key))?;
        }
        if let Some(timeout) = self.timeout {
            writeln!(f, "timeout = \"{}s\"", timeout.as_secs())?;
        }
        if let Some(deny) = self.deny {
            writeln!(f, "deny = {deny}")?;
        }
        if let Some(mode) = self.mode {
            writeln!(f, "mode = {}", quoted(mode))?;
        }
        Ok(())
    }
}

fn one_or_list<T: fmt::Display>(items: &[T]) -> String {
    match items {
        [only] => quoted(only),
        many => format!("[{}]", many.iter().map(quoted).collect::<Vec<_>>().join(", ")),
    }
}

/// A TOML basic string. Tool names come from servers we do not know, so everything that could end the string is escaped.
fn quoted(text: impl fmt::Display) -> String {
    let mut out = String::from('"');
    for c in text.to_string().chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\U{:08X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_rule_prints_only_what_it_says() {
        let rule = ToolPolicy {
            matches: vec!["read_graph".into(), "open_nodes".into()],
            lock: Some(vec![]),
            lock_shared: Some(vec!["graph".parse().unwrap()]),
            rate: Some("60/min".parse().unwrap()),
            in_flight: NonZeroU32::new(10),
            idempotency: Some(IdempotencyKey::Argument("requestId".into())),
            timeout: Some(Duration::from_secs(30)),
            ..ToolPolicy::default()
        };
        expect![[r#"
            [[tool]]
            match = ["read_graph", "open_nodes"]
            lock = []
            lock_shared = "graph"
            rate = "60/min"
            in_flight = 10
            idempotency = "args.requestId"
            timeout = "30s"
        "#]]
        .assert_eq(&rule.to_string());
    }

    #[test]
    fn a_hostile_tool_name_cannot_leave_its_string() {
        let rule = ToolPolicy { matches: vec!["a\"\\\ndeny = true".into()], ..ToolPolicy::default() };
        expect![[r#"
            [[tool]]
            match = "a\"\\\U0000000Adeny = true"
        "#]]
        .assert_eq(&rule.to_string());
    }
}
