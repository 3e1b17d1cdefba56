//! `[[tool]]`.

use std::{fmt::Display, num::NonZeroU32};

use interlock_model::{IdempotencyKey, Rate};

use super::{
    super::{
        callers::Callers,
        pattern::Pattern,
        problem::nearest,
        rule::{Cancel, Rule, quota},
    },
    file::{CancelText, ToolTable},
    read::{Reader, mode_of},
    value::{At, Count, Words},
};

impl Reader<'_> {
    /// One rule, or `None` if it is for nothing.
    pub(super) fn rule(&mut self, at: &At<ToolTable>) -> Option<Rule> {
        let table = at.get();
        let patterns = self.patterns(&table.matches);
        if patterns.is_empty() && table.matches.get().0.is_empty() {
            self.wrong(&table.matches, "a rule must match something; `match = \"*\"` is for every tool");
        }
        let rate = table.rate.as_ref().map(|at| match at.get().0.as_str() {
            "off" => None,
            text => match text.parse::<Rate>().map_err(|error| error.to_string()) {
                Ok(rate) => quota(rate).map_err(|error| self.wrong(at, error.to_string())).ok(),
                Err(error) => {
                    self.wrong(at, error);
                    None
                }
            },
        });
        let rule = Rule {
            line: Some(self.source.line(&table.matches.span())),
            read_only: table.read_only,
            mode: table.mode.as_ref().map(|mode| mode_of(*mode.get())),
            deny: table.deny,
            allow: table.allow.as_ref().map(|at| self.callers(at)),
            deny_callers: table.deny_callers.as_ref().map(|at| self.callers(at)),
            rate,
            in_flight: table.in_flight.as_ref().map(|at| match at.get() {
                Count::Of(number) => NonZeroU32::new(*number),
                Count::Off => None,
            }),
            lock: self.keys(table.lock.as_ref()),
            lock_shared: self.keys(table.lock_shared.as_ref()),
            observes: self.keys(table.observes.as_ref()),
            changes: self.keys(table.changes.as_ref()),
            requires_fresh: self.keys(table.requires_fresh.as_ref()),
            idempotency: self.idempotency(table),
            idempotency_required: table.idempotency_required,
            timeout: self.positive(table.timeout.as_ref()),
            wait: self.time(table.wait.as_ref()),
            cancel: table.cancel.map(|cancel| match cancel {
                CancelText::Hold => Cancel::Hold,
                CancelText::Pass => Cancel::Pass,
            }),
            ..Rule::of(patterns)
        };
        Some(rule).filter(|rule| !rule.patterns.is_empty())
    }

    pub(super) fn patterns(&mut self, at: &At<Words>) -> Vec<Pattern> {
        self.each(at, Pattern::new)
    }

    fn callers(&mut self, at: &At<Words>) -> Vec<Callers> {
        self.each(at, Callers::new)
    }

    fn each<T, E: Display>(&mut self, at: &At<Words>, read: fn(&str) -> Result<T, E>) -> Vec<T> {
        let mut all = Vec::new();
        for word in &at.get().0 {
            match read(&word.text) {
                Ok(one) => all.push(one),
                Err(error) => {
                    let span = word.span.clone().unwrap_or_else(|| at.span());
                    self.problems.push(self.source.error(&span, error.to_string()));
                }
            }
        }
        all
    }

    fn idempotency(&mut self, table: &ToolTable) -> Option<Option<IdempotencyKey>> {
        let at = table.idempotency.as_ref()?;
        let text = at.get().0.as_str();
        let argument = text.strip_prefix("args.").filter(|path| path.split('.').all(|name| !name.is_empty()));
        Some(match (text, argument) {
            ("off", _) => None,
            ("meta", _) => Some(IdempotencyKey::Meta),
            (_, Some(path)) => Some(IdempotencyKey::Argument(path.to_owned())),
            _ => {
                let meant = nearest(text, ["meta", "off", "args."]).filter(|near| *near != "args.");
                let meant = meant.map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
                self.wrong(
                    at,
                    format!("`{text}` names no idempotency key: write `meta`, `args.NAME` or `off`{meant}"),
                );
                None
            }
        })
    }
}
