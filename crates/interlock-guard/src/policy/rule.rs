//! One rule: for which tools it is, and what it says of them.

use std::{collections::BTreeMap, num::NonZeroU32, sync::Arc, time::Duration};

use interlock_model::{IdempotencyKey, KeyTemplate, Mode, Rate, ToolPolicy};
use interlock_sync::store::{InvalidQuota, Quota};

use super::{
    callers::Callers,
    pattern::{EmptyPattern, Pattern},
};

/// What holds for the tools of some patterns. A field that is `None` leaves what earlier rules said; an empty list and `Some(None)` take
/// it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Its patterns, with a number behind them if several rules have the same. Limits are counted under it.
    pub name: Arc<str>,
    /// Where it stands in its file; `None` for one that was not read from a file.
    pub line: Option<usize>,
    /// The tools it is for.
    pub patterns: Vec<Pattern>,
    /// Whether it is only for tools that say they only read, or only for the others.
    pub read_only: Option<bool>,
    /// Whether what it says is carried out; `None` leaves that to the whole policy.
    pub mode: Option<Mode>,
    /// Whether they may not be called at all.
    pub deny: Option<bool>,
    /// The callers that alone may call them.
    pub allow: Option<Vec<Callers>>,
    /// The callers that may not call them.
    pub deny_callers: Option<Vec<Callers>>,
    /// How often, per caller.
    pub rate: Option<Option<Quota>>,
    /// How many at once, per caller.
    pub in_flight: Option<Option<NonZeroU32>>,
    /// Held alone.
    pub lock: Option<Vec<KeyTemplate>>,
    /// Held with others.
    pub lock_shared: Option<Vec<KeyTemplate>>,
    /// What a call reads.
    pub observes: Option<Vec<KeyTemplate>>,
    /// What a call may change.
    pub changes: Option<Vec<KeyTemplate>>,
    /// What must not have changed since the reader last saw it.
    pub requires_fresh: Option<Vec<KeyTemplate>>,
    /// Where the key of a call that must take effect once comes from.
    pub idempotency: Option<Option<IdempotencyKey>>,
    /// Whether a call that does not say its key is refused.
    pub idempotency_required: Option<bool>,
    /// After which a call's outcome is unknown.
    pub timeout: Option<Duration>,
    /// How long a call waits for its turn.
    pub wait: Option<Duration>,
    /// What becomes of a cancel by the caller.
    pub cancel: Option<Cancel>,
}

/// What becomes of a cancel by the caller while the call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancel {
    /// The server does not hear of it, and what the call holds is held until the server answers.
    Hold,
    /// The server is told, and what the call holds is held until a result comes, or for a grace.
    Pass,
}

/// Why a policy, as data, makes no rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// It is for no tool.
    #[error("a rule must match something")]
    NoPattern,
    /// One of its patterns is empty.
    #[error(transparent)]
    Pattern(#[from] EmptyPattern),
    /// Its rate cannot be kept.
    #[error(transparent)]
    Rate(#[from] InvalidQuota),
}

impl Rule {
    /// A rule for the tools of some patterns, which says nothing yet.
    #[must_use]
    pub fn of(patterns: Vec<Pattern>) -> Self {
        Self {
            name: "".into(),
            line: None,
            patterns,
            read_only: None,
            mode: None,
            deny: None,
            allow: None,
            deny_callers: None,
            rate: None,
            in_flight: None,
            lock: None,
            lock_shared: None,
            observes: None,
            changes: None,
            requires_fresh: None,
            idempotency: None,
            idempotency_required: None,
            timeout: None,
            wait: None,
            cancel: None,
        }
    }

    /// Whether it is for this tool.
    #[must_use]
    pub fn matches(&self, tool: &str, is_read_only: bool) -> bool {
        self.read_only.is_none_or(|wanted| wanted == is_read_only)
            && self.patterns.iter().any(|pattern| pattern.matches(tool))
    }

    /// The patterns as people write them in a row.
    #[must_use]
    pub fn patterns_text(&self) -> String {
        self.patterns.iter().map(Pattern::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The keys that this rule says anything of, by the names they have in a file.
    pub(super) fn said(&self) -> Vec<&'static str> {
        let said = [
            ("lock", self.lock.is_some()),
            ("lock_shared", self.lock_shared.is_some()),
            ("observes", self.observes.is_some()),
            ("changes", self.changes.is_some()),
            ("requires_fresh", self.requires_fresh.is_some()),
            ("rate", self.rate.is_some()),
            ("in_flight", self.in_flight.is_some()),
            ("idempotency", self.idempotency.is_some()),
            ("idempotency_required", self.idempotency_required.is_some()),
            ("timeout", self.timeout.is_some()),
            ("wait", self.wait.is_some()),
            ("cancel", self.cancel.is_some()),
            ("deny", self.deny.is_some()),
            ("allow", self.allow.is_some()),
            ("deny_callers", self.deny_callers.is_some()),
        ];
        said.into_iter().filter(|(_, is_said)| *is_said).map(|(name, _)| name).collect()
    }

    /// All its templates, with the key they stand under.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&'static str, &KeyTemplate)> {
        [
            ("lock", &self.lock),
            ("lock_shared", &self.lock_shared),
            ("observes", &self.observes),
            ("changes", &self.changes),
            ("requires_fresh", &self.requires_fresh),
        ]
        .into_iter()
        .flat_map(|(name, keys)| keys.iter().flatten().map(move |key| (name, key)))
    }
}

impl TryFrom<&ToolPolicy> for Rule {
    type Error = InvalidRule;

    fn try_from(policy: &ToolPolicy) -> Result<Self, InvalidRule> {
        if policy.matches.is_empty() {
            return Err(InvalidRule::NoPattern);
        }
        let patterns = policy.matches.iter().map(|text| Pattern::new(text)).collect::<Result<_, _>>()?;
        Ok(Self {
            mode: policy.mode,
            deny: policy.deny,
            rate: policy.rate.map(quota).transpose()?.map(Some),
            in_flight: policy.in_flight.map(Some),
            lock: policy.lock.clone(),
            lock_shared: policy.lock_shared.clone(),
            observes: policy.observes.clone(),
            changes: policy.changes.clone(),
            requires_fresh: policy.requires_fresh.clone(),
            idempotency: policy.idempotency.clone().map(Some),
            timeout: policy.timeout,
            ..Self::of(patterns)
        })
    }
}

/// A rate as the store counts it: a bucket that holds as many as the unit allows.
pub(super) fn quota(rate: Rate) -> Result<Quota, InvalidQuota> {
    Quota::bucket(rate.count.get(), rate.per.duration())
}

/// Gives every rule a name of its own. Limits are counted under it, so a name must not change when rules that have nothing to do with it
/// come or go.
pub(super) fn name_all(rules: &mut [Rule]) {
    let mut seen = BTreeMap::new();
    for rule in rules {
        let hint = match rule.read_only {
            None => "",
            Some(true) => " (read-only)",
            Some(false) => " (not read-only)",
        };
        let name = format!("{}{hint}", rule.patterns_text());
        let count = seen.entry(name.clone()).or_insert(0_usize);
        *count += 1;
        rule.name = if *count == 1 { name.into() } else { format!("{name} #{count}").into() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_with_the_same_patterns_have_names_of_their_own() {
        let rule = |text: &str, read_only| Rule { read_only, ..Rule::of(vec![Pattern::new(text).unwrap()]) };
        let mut rules = vec![
            rule("*", None),
            rule("*", Some(true)),
            rule("get", None),
            rule("*", None),
            rule("*", Some(false)),
        ];
        name_all(&mut rules);
        let names: Vec<_> = rules.iter().map(|rule| &*rule.name).collect();
        assert_eq!(names, ["*", "* (read-only)", "get", "* #2", "* (not read-only)"]);
    }

    #[test]
    fn a_policy_as_data_becomes_a_rule() {
        let policy = ToolPolicy {
            matches: vec!["delete_*".into()],
            lock: Some(vec![]),
            rate: Some("60/min".parse().unwrap()),
            timeout: Some(Duration::from_secs(3)),
            ..ToolPolicy::default()
        };
        let rule = Rule::try_from(&policy).unwrap();
        assert!(rule.matches("delete_x", true) && rule.matches("delete_x", false));
        assert!(!rule.matches("create", false));
        assert_eq!(rule.said(), ["lock", "rate", "timeout"]);
        assert_eq!(rule.rate, Some(Some(Quota::bucket(60, Duration::from_secs(60)).unwrap())));
    }

    #[test]
    fn a_policy_that_is_for_nothing_or_cannot_be_kept_is_no_rule() {
        let refused = |policy: ToolPolicy| Rule::try_from(&policy).unwrap_err().to_string();
        assert_eq!(refused(ToolPolicy::default()), "a rule must match something");
        let empty = ToolPolicy { matches: vec!["".into()], ..ToolPolicy::default() };
        assert_eq!(refused(empty), "a pattern must not be empty; `*` matches every tool");
        let fast = ToolPolicy {
            matches: vec!["*".into()],
            rate: Some("4000000000/s".parse().unwrap()),
            ..ToolPolicy::default()
        };
        assert_eq!(refused(fast), "a quota's period must lie between a microsecond per grant and a year");
    }
}
