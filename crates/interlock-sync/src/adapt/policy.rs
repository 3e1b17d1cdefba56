//! What holds for which tool, as data: written in code, checked once, applied to every call.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use super::{
    pattern::Pattern,
    template::{InvalidTemplate, Path, Template},
};
use crate::store::{Quota, Store};

/// The rules of a server, checked.
///
/// For a tool all rules whose pattern matches its name hold, in their order: a later one overrides what an earlier one said of the
/// same thing and leaves the rest. A tool that no rule matches only passes the gate.
///
/// Limits are counted per caller and per rule: tools that get their rate from the same rule share it.
///
/// ```
/// use std::time::Duration;
/// use interlock_sync::{adapt::{KeySource, Policy, Rule}, store::Quota};
///
/// let policy = Policy::builder()
///     .rule(Rule::of("*").rate(Quota::bucket(60, Duration::from_secs(60))?).in_flight(10).lock("ledger"))
///     .rule(Rule::of("get_*").unlocked().lock_shared("ledger"))
///     .rule(Rule::of("process_order").lock("order:{args.orderId}").idempotency(KeySource::Meta))
///     .build()?;
/// # let _ = policy;
///
/// assert!(Policy::builder().rule(Rule::of("*").lock("order:{orderId}")).build().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    pub(super) rules: Vec<Checked>,
    pub(super) terms: Terms,
}

/// A [`Policy`] in the making.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing unless it is built"]
pub struct PolicyBuilder {
    rules: Vec<Rule>,
    terms: Terms,
}

/// What holds for all rules.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    pub(super) name: String,
    pub(super) store: Option<Arc<dyn Store>>,
    pub(super) wait: Duration,
    pub(super) queue: usize,
    pub(super) keep: Duration,
    pub(super) hold: Duration,
}

/// What holds for the tools of some patterns. What it does not say, it leaves.
#[derive(Debug, Clone, Default)]
#[must_use = "a rule holds only in a policy"]
pub struct Rule {
    patterns: Vec<String>,
    lock: Option<Vec<String>>,
    lock_shared: Option<Vec<String>>,
    rate: Option<Quota>,
    in_flight: Option<u32>,
    idempotency: Option<KeySource>,
    requires_key: bool,
    timeout: Option<Duration>,
}

/// Where the key of a call that must take effect once comes from. Never from the arguments as a whole: two equal calls may both be
/// meant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// The request's `_meta` entry [`dev.interlock/idempotency-key`](super::IDEMPOTENCY_KEY).
    Meta,
    /// One argument, such as `requestId` or `request.id`.
    Argument(String),
}

/// A rule that was checked.
#[derive(Debug, Clone)]
pub(super) struct Checked {
    pub(super) patterns: Vec<Pattern>,
    pub(super) lock: Option<Vec<Template>>,
    pub(super) lock_shared: Option<Vec<Template>>,
    pub(super) rate: Option<Quota>,
    pub(super) in_flight: Option<NonZeroU32>,
    pub(super) idempotency: Option<Source>,
    pub(super) requires_key: bool,
    pub(super) timeout: Option<Duration>,
}

/// A [`KeySource`] that was checked.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Meta,
    Argument(Path),
}

/// Why rules make no policy. `rule` is the rule's pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidPolicy {
    /// It would match no tool.
    #[error("a pattern must not be empty")]
    EmptyPattern,
    /// A key that could never be filled.
    #[error("the lock `{template}` of the rule `{rule}` is no key: {source}")]
    Lock {
        /// Which rule.
        rule: String,
        /// What it says.
        template: String,
        /// What is wrong with it.
        #[source]
        source: InvalidTemplate,
    },
    /// A key is required, and nothing says where it is.
    #[error("the rule `{rule}` requires an idempotency key and does not say where a call has it")]
    NoKeySource {
        /// Which rule.
        rule: String,
    },
    /// No call could ever run.
    #[error("the in-flight limit of the rule `{rule}` must allow at least one call")]
    NoneInFlight {
        /// Which rule.
        rule: String,
    },
    /// The name of an argument that could not be one.
    #[error("the idempotency key of the rule `{rule}` comes from `{argument}`, which names no argument")]
    KeySource {
        /// Which rule.
        rule: String,
        /// What it says.
        argument: String,
    },
}

impl Policy {
    /// A policy with no rules yet. Calls wait for at most 30 seconds, at most 64 for each caller and limit, and endings are kept for 24
    /// hours.
    pub fn builder() -> PolicyBuilder {
        let terms = Terms {
            name: "mcp".to_owned(),
            store: None,
            wait: Duration::from_secs(30),
            queue: 64,
            keep: Duration::from_secs(24 * 60 * 60),
            hold: Duration::from_secs(30),
        };
        PolicyBuilder { rules: Vec::new(), terms }
    }
}

impl PolicyBuilder {
    /// Adds a rule behind the others.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Counts rates and calls in flight, locks, and remembers idempotency keys in a store instead of this process, for all processes whose
    /// policies have the same name. A server on standard streams has one process per client, where a lock of the process keeps nobody out.
    ///
    /// A lock in a store is lost by a process that is stopped, or cut off from the store, for as long as [`hold`](Self::hold) says, and then
    /// two calls can overlap: what must not even then is a conditional write, or a write under a [lease](crate::lease)'s fence.
    pub fn on(mut self, store: Arc<dyn Store>) -> Self {
        self.terms.store = Some(store);
        self
    }

    /// The name under which the store counts; `mcp` unless told otherwise. Servers that share a store and nothing else need two.
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.terms.name);
        self
    }

    /// How long a call waits for its turn: for an earlier call with the same idempotency key, for a place in flight and for its locks,
    /// all in all.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.terms.wait = wait;
        self
    }

    /// How many calls of one caller may wait for a place in flight. One more is refused at once.
    pub fn queue(mut self, queue: usize) -> Self {
        self.terms.queue = queue;
        self
    }

    /// How long the answer of a call with an idempotency key is told again. Longer than any client sends its request again.
    pub fn keep(mut self, keep: Duration) -> Self {
        self.terms.keep = keep;
        self
    }

    /// For how long a process that crashed keeps what its calls held in a store from the others: locks, places in flight and idempotency
    /// keys, which are in doubt afterwards. While a process lives it says so at every third of this. 30 seconds unless told otherwise,
    /// between 30 ms and a day.
    pub fn hold(mut self, hold: Duration) -> Self {
        self.terms.hold = hold.clamp(Duration::from_millis(30), Duration::from_secs(24 * 60 * 60));
        self
    }

    /// Checks all rules.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn build(self) -> Result<Policy, InvalidPolicy> {
        let rules = self.rules.into_iter().map(Rule::check).collect::<Result<_, _>>()?;
        Ok(Policy { rules, terms: self.terms })
    }
}

impl Rule {
    /// A rule for the tools of this pattern: a name, or one with `*` for any run of characters.
    pub fn of(pattern: &str) -> Self {
        Self { patterns: vec![pattern.to_owned()], ..Self::default() }
    }

    /// The same rule for another pattern too.
    pub fn and(mut self, pattern: &str) -> Self {
        self.patterns.push(pattern.to_owned());
        self
    }

    /// One more key that a call holds alone, such as `order:{args.orderId}`. A call that has no such argument is refused.
    ///
    /// A hole is filled with a text, a number or a truth value; equal numbers fill it equally, however they are written. What a handler
    /// treats as equal beyond that, such as `a` and `./a` as names of a file, is for whoever writes the rule to know.
    pub fn lock(mut self, template: &str) -> Self {
        self.lock.get_or_insert_default().push(template.to_owned());
        self
    }

    /// One more key that a call holds together with others who share it.
    pub fn lock_shared(mut self, template: &str) -> Self {
        self.lock_shared.get_or_insert_default().push(template.to_owned());
        self
    }

    /// Takes back all locks that earlier rules, or this one so far, asked for.
    pub fn unlocked(mut self) -> Self {
        (self.lock, self.lock_shared) = (Some(Vec::new()), Some(Vec::new()));
        self
    }

    /// How often one caller may call. More is refused.
    pub fn rate(mut self, quota: Quota) -> Self {
        self.rate = Some(quota);
        self
    }

    /// How many calls of one caller may run at once. More wait.
    pub fn in_flight(mut self, limit: u32) -> Self {
        self.in_flight = Some(limit);
        self
    }

    /// Where a call says which call it is, so that it takes effect once however often it comes. A call that does not say runs each time,
    /// unless the key is [required](Self::key_required).
    pub fn idempotency(mut self, source: KeySource) -> Self {
        self.idempotency = Some(source);
        self
    }

    /// Refuses a call that does not say which call it is.
    pub fn key_required(mut self) -> Self {
        self.requires_key = true;
        self
    }

    /// How long a caller waits for a call that has started. The call itself goes on, and keeps what it holds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    fn check(self) -> Result<Checked, InvalidPolicy> {
        let rule = self.patterns.join("|");
        let patterns = self.patterns.iter().map(|text| Pattern::new(text).ok_or(InvalidPolicy::EmptyPattern));
        let templates = |texts: Option<Vec<String>>| texts.map(|texts| check_all(&rule, texts)).transpose();
        let in_flight = match self.in_flight.map(NonZeroU32::new) {
            Some(None) => return Err(InvalidPolicy::NoneInFlight { rule }),
            limit => limit.flatten(),
        };
        if self.requires_key && self.idempotency.is_none() {
            return Err(InvalidPolicy::NoKeySource { rule });
        }
        let idempotency = match self.idempotency {
            None => None,
            Some(KeySource::Meta) => Some(Source::Meta),
            Some(KeySource::Argument(argument)) => match argument.parse() {
                Ok(path) => Some(Source::Argument(path)),
                Err(_) => return Err(InvalidPolicy::KeySource { rule, argument }),
            },
        };
        Ok(Checked {
            patterns: patterns.collect::<Result<_, _>>()?,
            lock: templates(self.lock)?,
            lock_shared: templates(self.lock_shared)?,
            rate: self.rate,
            in_flight,
            idempotency,
            requires_key: self.requires_key,
            timeout: self.timeout,
        })
    }
}

fn check_all(rule: &str, texts: Vec<String>) -> Result<Vec<Template>, InvalidPolicy> {
    let check = |template: String| match template.parse() {
        Ok(checked) => Ok(checked),
        Err(source) => Err(InvalidPolicy::Lock { rule: rule.to_owned(), template, source }),
    };
    texts.into_iter().map(check).collect()
}

impl Checked {
    pub(super) fn matches(&self, tool: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(tool))
    }

    /// The rule as the store knows it.
    pub(super) fn name(&self) -> String {
        self.patterns.iter().map(Pattern::as_str).collect::<Vec<_>>().join("|")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(rule: Rule) -> InvalidPolicy {
        Policy::builder().rule(rule).build().unwrap_err()
    }

    #[test]
    fn what_could_never_hold_is_refused_when_the_policy_is_built() {
        assert_eq!(refused(Rule::of("")), InvalidPolicy::EmptyPattern);
        assert_eq!(refused(Rule::of("a").and("")), InvalidPolicy::EmptyPattern);
        assert_eq!(refused(Rule::of("a").in_flight(0)), InvalidPolicy::NoneInFlight { rule: "a".into() });
        assert_eq!(refused(Rule::of("a").key_required()), InvalidPolicy::NoKeySource { rule: "a".into() });
        let source = KeySource::Argument("a..b".into());
        assert_eq!(
            refused(Rule::of("a").idempotency(source)),
            InvalidPolicy::KeySource { rule: "a".into(), argument: "a..b".into() }
        );
        for rule in [Rule::of("a").and("b").lock("x{"), Rule::of("a").and("b").lock_shared("x{")] {
            assert_eq!(
                refused(rule).to_string(),
                "the lock `x{` of the rule `a|b` is no key: `x{` has a brace without its partner"
            );
        }
    }
}
