//! What is said outside of the rules.

use super::{Checker, Weight, longest_timeout};

impl Checker<'_> {
    pub(super) fn settings(&mut self) {
        let config = self.config;
        let listen = &config.listen;
        let is_open = listen.address.is_some_and(|address| !address.ip().is_loopback());
        if config.upstreams.is_empty() {
            self.warn(None, "there is no server behind the guard: add an `[[upstream]]`");
        }
        let alone = config.upstreams.iter().filter(|_| listen.address.is_none());
        for upstream in alone.filter(|upstream| upstream.instances().len() > 1) {
            let what = "the one client on standard input has one of its `instances`, and the others are not started: they are for `[listen] at`";
            self.warn(None, format!("`{}`: {what}", upstream.name));
        }
        if is_open && !config.identity.verifies() {
            self.warn(
                None,
                "whoever reaches `[listen] at` can call: add `[identity]`, or listen on 127.0.0.1",
            );
        }
        if is_open && config.identity.verifies() && listen.tls.is_none() {
            self.warn(None, "tokens and keys travel in the clear: add `[listen.tls]`, unless something in front of the guard does TLS");
        }
        if config.admin.is_some_and(|address| !address.ip().is_loopback()) {
            self.warn(
                None,
                "whoever reaches `[admin] listen` sees callers, tools and keys, because it has no login: listen on 127.0.0.1, unless only your own people and collectors reach it",
            );
        }
        let counts = config
            .rules
            .iter()
            .any(|rule| rule.rate.is_some() || rule.in_flight.is_some() || rule.lock.is_some());
        if is_open && counts && config.state.starts_with("memory:") {
            self.warn(
                None,
                "locks and limits are kept in this process: a second replica would not see them. With several, set `[state] url` to redis:// or postgres://",
            );
        }
        self.times();
        self.readers();
        self.callers();
    }

    fn times(&mut self) {
        let defaults = &self.config.defaults;
        if defaults.grace.is_zero() {
            self.warn(None, "`grace` is zero: what a call holds goes to the next at the moment it times out, while its server may still be at work");
        }
        let longest = longest_timeout(defaults, &self.config.rules);
        if defaults.longest < longest {
            self.warn(
                None,
                format!(
                    "`longest` ({}s) is shorter than the longest timeout ({}s): a call is given up before it times out",
                    defaults.longest.as_secs(),
                    longest.as_secs()
                ),
            );
        }
        let held = longest_timeout(defaults, &self.config.rules).saturating_add(defaults.grace);
        if defaults.keep < held {
            self.say(
                None,
                Weight::Error,
                format!(
                    "`keep` ({}s) is shorter than the longest timeout and its grace ({}s): a call's idempotency key would be forgotten while it runs",
                    defaults.keep.as_secs(),
                    held.as_secs()
                ),
            );
        }
    }

    /// Lists of callers are about names that somebody verifies.
    fn callers(&mut self) {
        let config = self.config;
        let verifies = config.listen.address.is_none() || config.identity.verifies();
        for rule in &config.rules {
            let lists = [("allow", &rule.allow), ("deny_callers", &rule.deny_callers)];
            for (field, callers) in
                lists.into_iter().filter_map(|(field, list)| Some((field, list.as_ref()?)))
            {
                if !verifies && !callers.is_empty() {
                    self.warn(
                        rule.line,
                        format!("`{field}` is about who calls, and nobody is told from another, because there is no `[identity]`"),
                    );
                }
                if config.identity.jwt.is_none()
                    && let Some(odd) = callers.iter().find(|callers| callers.is_by_token())
                {
                    let what =
                        format!("`{odd}` is about tokens, and there is no `[identity.jwt]`: nobody has one");
                    self.warn(rule.line, what);
                }
                let is_caller =
                    |text: &str| text.contains([':', '*']) || matches!(text, "anonymous" | "stdio");
                for odd in callers.iter().filter(|callers| !is_caller(callers.as_str())) {
                    let what = format!(
                        "no caller is called `{odd}`: they are `key:NAME`, `jwt:SUBJECT`, `mtls:NAME`, `scope:NAME`, `claim:NAME=VALUE`, `anonymous` or `stdio`"
                    );
                    self.warn(rule.line, what);
                }
            }
        }
    }

    /// Freshness is about a reader, so there must be one.
    fn readers(&mut self) {
        let identity = &self.config.identity;
        if self.config.listen.address.is_none() || (identity.verifies() && identity.is_required) {
            return;
        }
        let rules = &self.config.rules;
        let Some(rule) =
            rules.iter().find(|rule| rule.requires_fresh.as_ref().is_some_and(|keys| !keys.is_empty()))
        else {
            return;
        };
        let why =
            if identity.verifies() { "`[identity] required` is false" } else { "there is no `[identity]`" };
        self.say(
            rule.line,
            Weight::Error,
            format!(
                "`requires_fresh` is about what a caller has read, and clients without a session are nobody here, because {why}"
            ),
        );
    }
}
