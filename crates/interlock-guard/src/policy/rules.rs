//! The rules of a policy, resolved for one tool.

use std::{collections::HashMap, num::NonZeroU32, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use foldhash::quality::RandomState;
use interlock_model::{IdempotencyKey, KeyTemplate, Mode};
use interlock_sync::store::Quota;

use super::{
    callers::Callers,
    config::{Config, Defaults, StoreAway},
    pattern::Pattern,
    rule::{Cancel, Rule, name_all},
};
use crate::call::Caller;

/// All rules in force. A reload replaces them whole, as one generation: whoever asks gets all of the old or all of the new.
#[derive(Debug)]
pub struct Rules {
    current: ArcSwap<Generation>,
}

/// What holds for one tool: for each field the last rule that spoke of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRules {
    /// It may not be called at all.
    pub deny: Option<Ruled<()>>,
    /// The callers that alone may call it.
    pub allow: Option<Ruled<Vec<Callers>>>,
    /// The callers that may not call it.
    pub deny_callers: Option<Ruled<Vec<Callers>>>,
    /// How often, per caller.
    pub rate: Option<Ruled<Quota>>,
    /// How many at once, per caller.
    pub in_flight: Option<Ruled<NonZeroU32>>,
    /// Held alone.
    pub lock: Option<Ruled<Vec<KeyTemplate>>>,
    /// Held with others.
    pub lock_shared: Option<Ruled<Vec<KeyTemplate>>>,
    /// What a call reads.
    pub observes: Option<Ruled<Vec<KeyTemplate>>>,
    /// What a call may change.
    pub changes: Option<Ruled<Vec<KeyTemplate>>>,
    /// What must not have changed since the reader last saw it.
    pub requires_fresh: Option<Ruled<Vec<KeyTemplate>>>,
    /// Where the key of a call that must take effect once comes from.
    pub idempotency: Option<Ruled<IdempotencyKey>>,
    /// Whether a call that does not say its key is refused.
    pub idempotency_required: bool,
    /// After which a call's outcome is unknown.
    pub timeout: Duration,
    /// How much longer than the timeout what a call holds is held.
    pub grace: Duration,
    /// How long a call waits for its turn.
    pub wait: Duration,
    /// What becomes of a cancel by the caller, where a rule says so.
    pub cancel: Option<Cancel>,
    /// How many calls of one caller may stand in one line.
    pub queue: usize,
    /// How long endings, versions and views are remembered.
    pub keep: Duration,
    /// Whether a call passes when the store is away: reads do, unless told otherwise.
    pub passes_without_store: bool,
    /// Whether a lock is only observed somewhere in the policy: then those that are enforced are noted for it, too.
    pub notes_locks: bool,
}

/// What a rule says, and which rule it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruled<T> {
    /// The rule's name: its patterns. Limits are counted under it, so tools that get theirs from one rule share it.
    pub rule: Arc<str>,
    /// Whether it is carried out or only written down.
    pub mode: Mode,
    /// What it says.
    pub value: T,
}

/// One state of the rules.
#[derive(Debug)]
struct Generation {
    number: u64,
    rules: Vec<Rule>,
    /// The requests besides tool calls that are refused.
    denied_requests: Vec<Pattern>,
    mode: Mode,
    defaults: Defaults,
    /// What was resolved before. A map is only ever replaced, so that looking something up waits for nobody.
    resolved: ArcSwap<HashMap<Arc<str>, Resolved, RandomState>>,
}

/// What holds for a tool that does not, and for one that does say it only reads.
type Resolved = [Option<Arc<ToolRules>>; 2];

/// How many tools are remembered. Names come from callers: what comes after that is resolved anew each time, which costs a few patterns.
const REMEMBERED: usize = 1_024;

/// The longest name that is remembered.
const LONGEST: usize = 256;

impl Rules {
    /// Rules by themselves.
    #[must_use]
    pub fn new(rules: Vec<Rule>, mode: Mode, defaults: Defaults) -> Self {
        Self { current: ArcSwap::from_pointee(Generation::new(1, rules, mode, defaults)) }
    }

    /// The rules of a configuration.
    #[must_use]
    pub fn of_config(config: &Config) -> Self {
        let first = Generation::new(1, config.rules.clone(), config.mode, config.defaults);
        Self { current: ArcSwap::from_pointee(first.denying(config)) }
    }

    /// What is to be done with a request that is no tool call, by its method: `None` if no pattern of those that are refused fits.
    #[must_use]
    pub fn denies_request(&self, method: &str) -> Option<Mode> {
        let now = self.current.load();
        now.denied_requests.iter().any(|pattern| pattern.matches(method)).then_some(now.mode)
    }

    /// What holds for a tool.
    #[must_use]
    pub fn of(&self, tool: &str, is_read_only: bool) -> Arc<ToolRules> {
        self.current.load().of(tool, is_read_only)
    }

    /// The number of the generation in force, counted from 1.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.current.load().number
    }

    /// Puts another generation in force, and says its number.
    pub fn replace(&self, config: &Config) -> u64 {
        let before = self.current.rcu(|now| {
            let number = now.number.saturating_add(1);
            Generation::new(number, config.rules.clone(), config.mode, config.defaults).denying(config)
        });
        before.number.saturating_add(1)
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.current.load().resolved.load().len()
    }
}

/// No rules: everything passes, with the default times.
impl Default for Rules {
    fn default() -> Self {
        Self::new(Vec::new(), Mode::Enforce, Defaults::default())
    }
}

impl Generation {
    fn new(number: u64, mut rules: Vec<Rule>, mode: Mode, defaults: Defaults) -> Self {
        name_all(&mut rules);
        Self { number, rules, denied_requests: Vec::new(), mode, defaults, resolved: ArcSwap::default() }
    }

    fn denying(self, config: &Config) -> Self {
        Self { denied_requests: config.denied_requests.clone(), ..self }
    }

    fn of(&self, tool: &str, is_read_only: bool) -> Arc<ToolRules> {
        let which = usize::from(is_read_only);
        let known = self.resolved.load();
        if let Some(rules) = known.get(tool).and_then(|both| both.get(which)?.as_ref()) {
            return Arc::clone(rules);
        }
        let rules = Arc::new(resolve(&self.rules, self.mode, &self.defaults, tool, is_read_only));
        if tool.len() <= LONGEST && (known.len() < REMEMBERED || known.contains_key(tool)) {
            let name: Arc<str> = tool.into();
            self.resolved.rcu(|known| {
                let mut more = HashMap::clone(known);
                let both = more.entry(Arc::clone(&name)).or_default();
                if let Some(place) = both.get_mut(which) {
                    *place = Some(Arc::clone(&rules));
                }
                more
            });
        }
        rules
    }
}

/// What holds for a tool, rule after rule.
pub(super) fn resolve(
    rules: &[Rule],
    mode: Mode,
    defaults: &Defaults,
    tool: &str,
    is_read_only: bool,
) -> ToolRules {
    let mut out = ToolRules {
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
        idempotency_required: false,
        timeout: defaults.timeout,
        grace: defaults.grace,
        wait: defaults.wait,
        cancel: None,
        queue: defaults.queue,
        keep: defaults.keep,
        passes_without_store: false,
        notes_locks: rules.iter().any(|rule| {
            let locks = [&rule.lock, &rule.lock_shared].into_iter().flatten();
            rule.mode.unwrap_or(mode) == Mode::Observe && locks.flatten().next().is_some()
        }),
    };
    for rule in rules.iter().filter(|rule| rule.matches(tool, is_read_only)) {
        let by = By { rule, mode: rule.mode.unwrap_or(mode) };
        by.set(&mut out.deny, rule.deny.map(|is_denied| is_denied.then_some(())));
        by.set(&mut out.allow, callers(&rule.allow));
        by.set(&mut out.deny_callers, callers(&rule.deny_callers));
        by.set(&mut out.rate, rule.rate);
        by.set(&mut out.in_flight, rule.in_flight);
        by.set(&mut out.lock, keys(&rule.lock));
        by.set(&mut out.lock_shared, keys(&rule.lock_shared));
        by.set(&mut out.observes, keys(&rule.observes));
        by.set(&mut out.changes, keys(&rule.changes));
        by.set(&mut out.requires_fresh, keys(&rule.requires_fresh));
        by.set(&mut out.idempotency, rule.idempotency.clone());
        out.idempotency_required = rule.idempotency_required.unwrap_or(out.idempotency_required);
        out.timeout = rule.timeout.unwrap_or(out.timeout);
        out.wait = rule.wait.unwrap_or(out.wait);
        out.cancel = rule.cancel.or(out.cancel);
    }
    out.passes_without_store = defaults.store_away == StoreAway::Pass || only_reads(&out, is_read_only);
    out
}

impl ToolRules {
    /// The rule of this mode by which a caller may not call the tool.
    #[must_use]
    pub fn denial(&self, caller: &Caller, mode: Mode) -> Option<&Arc<str>> {
        let is_among = |callers: &[Callers]| callers.iter().any(|some| some.has(caller));
        let all = self.deny.as_ref().filter(|deny| deny.mode == mode).map(|deny| &deny.rule);
        let allow = self.allow.as_ref().filter(|allow| allow.mode == mode && !is_among(&allow.value));
        let deny = self.deny_callers.as_ref().filter(|deny| deny.mode == mode && is_among(&deny.value));
        all.or_else(|| allow.map(|allow| &allow.rule)).or_else(|| deny.map(|deny| &deny.rule))
    }

    /// The scope with which a token would let this caller call the tool, if there is one: the first that the rule names.
    #[must_use]
    pub fn lacking(&self, caller: &Caller) -> Option<&str> {
        let is_enforced = |mode: &Mode| *mode == Mode::Enforce;
        let is_out = self.deny.as_ref().is_some_and(|deny| is_enforced(&deny.mode))
            || self.deny_callers.as_ref().is_some_and(|deny| {
                is_enforced(&deny.mode) && deny.value.iter().any(|some| some.has(caller))
            });
        let allow = self.allow.as_ref().filter(|allow| is_enforced(&allow.mode) && !is_out)?;
        let is_in = allow.value.iter().any(|some| some.has(caller));
        // Whoever has no token was let in by another way, on which there are no scopes.
        let has_token = caller.claims().is_some();
        allow.value.iter().find_map(Callers::scope).filter(|_| has_token && !is_in)
    }
}

/// The rule that is just being applied.
struct By<'r> {
    rule: &'r Rule,
    mode: Mode,
}

impl By<'_> {
    fn set<T>(&self, field: &mut Option<Ruled<T>>, said: Option<Option<T>>) {
        if let Some(value) = said {
            *field = value.map(|value| Ruled { rule: Arc::clone(&self.rule.name), mode: self.mode, value });
        }
    }
}

/// An empty list takes back what earlier rules said.
fn callers(said: &Option<Vec<Callers>>) -> Option<Option<Vec<Callers>>> {
    said.as_ref().map(|callers| (!callers.is_empty()).then(|| callers.clone()))
}

/// An empty list takes back what earlier rules said.
fn keys(said: &Option<Vec<KeyTemplate>>) -> Option<Option<Vec<KeyTemplate>>> {
    said.as_ref().map(|keys| (!keys.is_empty()).then(|| keys.clone()))
}

/// Whether a tool only reads: its server says so and no rule says otherwise, or the rules speak of it as of a reader.
fn only_reads(rules: &ToolRules, is_read_only: bool) -> bool {
    let changes = rules.changes.is_some() || rules.requires_fresh.is_some() || rules.idempotency.is_some();
    let reads = rules.observes.is_some() || rules.lock_shared.is_some();
    !changes && (is_read_only || (reads && rules.lock.is_none()))
}

#[cfg(test)]
mod tests {
    use super::{super::pattern::Pattern, *};

    fn rules() -> Vec<Rule> {
        let of = |text: &str| Rule::of(vec![Pattern::new(text).unwrap()]);
        let key = |text: &str| Some(vec![text.parse().unwrap()]);
        vec![
            Rule { lock: key("all"), timeout: Some(Duration::from_secs(1)), ..of("*") },
            Rule { read_only: Some(true), lock: Some(vec![]), observes: key("all"), ..of("*") },
            Rule { lock: key("one"), mode: Some(Mode::Observe), ..of("one") },
        ]
    }

    #[test]
    fn later_rules_override_field_by_field() {
        let rules = Rules::new(rules(), Mode::Enforce, Defaults::default());
        let one = rules.of("one", false);
        let lock = one.lock.as_ref().unwrap();
        assert_eq!(
            (lock.value[0].to_string().as_str(), &*lock.rule, lock.mode),
            ("one", "one", Mode::Observe)
        );
        assert_eq!((one.timeout, one.wait), (Duration::from_secs(1), Defaults::default().wait));
        let reader = rules.of("other", true);
        assert_eq!(reader.lock, None);
        assert_eq!(&*reader.observes.as_ref().unwrap().rule, "* (read-only)");
        assert_eq!(rules.of("other", false).observes, None);
    }

    #[test]
    fn a_caller_is_denied_by_the_list_it_is_in_or_by_the_one_it_is_not_in() {
        let of = |text: &str| Rule::of(vec![Pattern::new(text).unwrap()]);
        let callers = |texts: &[&str]| Some(texts.iter().map(|text| Callers::new(text).unwrap()).collect());
        let rules = vec![
            Rule { allow: callers(&["key:ci", "jwt:*@team"]), ..of("*") },
            Rule { deny_callers: callers(&["jwt:bob@team"]), ..of("write") },
            Rule { allow: Some(vec![]), ..of("open") },
            Rule { allow: callers(&["key:ci"]), mode: Some(Mode::Observe), ..of("tried") },
        ];
        let rules = Rules::new(rules, Mode::Enforce, Defaults::default());
        let may = |tool: &str, caller: &str| {
            rules.of(tool, false).denial(&Caller::new(caller), Mode::Enforce).is_none()
        };
        assert!(may("read", "key:ci") && may("read", "jwt:bob@team"));
        assert!(!may("read", "jwt:eve@other") && !may("read", "anonymous"));
        assert!(may("write", "jwt:ann@team") && !may("write", "jwt:bob@team"));
        assert!(may("open", "anonymous") && may("tried", "anonymous"));
        assert!(rules.of("tried", false).denial(&Caller::anonymous(), Mode::Observe).is_some());
    }

    #[test]
    fn a_scope_is_told_to_whoever_would_be_let_in_with_it() {
        let of = |text: &str| Rule::of(vec![Pattern::new(text).unwrap()]);
        let callers = |texts: &[&str]| Some(texts.iter().map(|text| Callers::new(text).unwrap()).collect());
        let rules = vec![
            Rule { allow: callers(&["key:ci", "scope:w", "scope:admin"]), ..of("*") },
            Rule { allow: callers(&["claim:group=ops", "scope:any*"]), ..of("unnamed") },
            Rule { deny_callers: callers(&["jwt:eve"]), ..of("hers") },
            Rule { deny: Some(true), ..of("closed") },
            Rule { allow: callers(&["scope:w"]), mode: Some(Mode::Observe), ..of("tried") },
        ];
        let rules = Rules::new(rules, Mode::Enforce, Defaults::default());
        let eve = |scope: &str| {
            let claims = serde_json::json!({ "scope": scope }).as_object().unwrap().clone();
            Caller::new("jwt:eve").with_claims(claims)
        };
        let lacking = |tool: &str, caller: &Caller| rules.of(tool, false).lacking(caller).map(str::to_owned);
        assert_eq!(lacking("read", &eve("r")), Some("w".to_owned()));
        for (tool, caller) in [
            ("read", eve("r w")),
            ("read", eve("admin")),
            ("read", Caller::new("key:other")),
            ("read", Caller::anonymous()),
            ("unnamed", eve("r")),
            ("hers", eve("r")),
            ("closed", eve("r")),
            ("tried", eve("r")),
        ] {
            assert_eq!(lacking(tool, &caller), None, "{tool} {caller}");
        }
    }

    #[test]
    fn a_tool_is_resolved_once_for_each_hint() {
        let rules = Rules::new(rules(), Mode::Enforce, Defaults::default());
        assert!(Arc::ptr_eq(&rules.of("a", true), &rules.of("a", true)));
        assert!(!Arc::ptr_eq(&rules.of("a", true), &rules.of("a", false)));
        assert_eq!(rules.remembered(), 1);
    }

    #[test]
    fn names_that_callers_make_up_do_not_grow_it() {
        let rules = Rules::new(rules(), Mode::Enforce, Defaults::default());
        for number in 0..3 * REMEMBERED {
            assert!(rules.of(&format!("made_up_{number}"), false).lock.is_some());
        }
        assert!(rules.of(&"x".repeat(LONGEST + 1), false).lock.is_some());
        assert_eq!(rules.remembered(), REMEMBERED);
        // One that is remembered stays so, and gets its other half.
        assert!(Arc::ptr_eq(&rules.of("made_up_0", true), &rules.of("made_up_0", true)));
    }

    #[test]
    fn a_call_that_asked_keeps_what_it_got_when_the_rules_are_replaced() {
        let rules = Rules::new(rules(), Mode::Enforce, Defaults::default());
        let before = rules.of("a", false);
        assert_eq!(rules.replace(&Config::default()), 2);
        assert!(before.lock.is_some());
        assert_eq!((rules.of("a", false).lock.clone(), rules.generation()), (None, 2));
    }

    #[test]
    fn without_a_store_only_what_reads_passes_unless_told_otherwise() {
        let passes = |rules: &[Rule], defaults: &Defaults, hint| {
            resolve(rules, Mode::Enforce, defaults, "x", hint).passes_without_store
        };
        let key = Some(vec!["k".parse().unwrap()]);
        let of = || Rule::of(vec![Pattern::new("*").unwrap()]);
        let usual = Defaults::default();
        assert!(passes(&[], &usual, true) && !passes(&[], &usual, false));
        assert!(passes(&[Rule { observes: key.clone(), ..of() }], &usual, false));
        assert!(!passes(&[Rule { observes: key.clone(), lock: key.clone(), ..of() }], &usual, false));
        assert!(!passes(&[Rule { changes: key.clone(), ..of() }], &usual, true));
        let pass = Defaults { store_away: StoreAway::Pass, ..usual };
        assert!(passes(&[Rule { changes: key, ..of() }], &pass, false));
    }
}
