//! What rules say about each other.

use interlock_model::{KeyTemplate, Mode};

use super::{Checker, Rule, Weight, may_meet, mode_of};

impl Checker<'_> {
    pub(super) fn rules(&mut self) {
        let rules = &self.config.rules;
        for (index, rule) in rules.iter().enumerate() {
            let later = rules.get(index + 1..).unwrap_or_default();
            if rule.said().is_empty() {
                let what = if rule.mode.is_some() {
                    "`mode` is about what this rule itself says, and it says nothing else"
                } else {
                    "this rule says nothing"
                };
                self.warn(rule.line, what);
            } else if let Some(by) = overridden(rule, later) {
                let what = format!("everything this rule says is said again{by}; it can go");
                self.warn(rule.line, what);
            }
            self.displaced(rule, rules.get(..index).unwrap_or_default());
        }
    }

    /// A rule that only observes and yet takes the place of one that is carried out.
    fn displaced(&mut self, rule: &Rule, earlier: &[Rule]) {
        if mode_of(rule, self.config) != Mode::Observe {
            return;
        }
        for field in rule.said().into_iter().filter(|field| !matches!(*field, "timeout" | "wait")) {
            let displaced = earlier.iter().rev().find(|other| {
                other.said().contains(&field)
                    && other.patterns.iter().any(|wide| rule.patterns.iter().any(|one| wide.covers(one)))
            });
            if let Some(other) = displaced.filter(|other| mode_of(other, self.config) == Mode::Enforce) {
                let what = format!(
                    "this rule only observes, and its `{field}` replaces the one{}, so that nothing is enforced; leave it out here or set `mode = \"enforce\"`",
                    at(other)
                );
                self.warn(rule.line, what);
            }
        }
    }

    /// What keys say to each other, tool by tool.
    pub(super) fn keys(&mut self) {
        let samples = std::mem::take(&mut self.samples);
        let observed: Vec<&KeyTemplate> = samples
            .iter()
            .filter_map(|sample| sample.rules.observes.as_ref())
            .flat_map(|ruled| &ruled.value)
            .collect();
        for sample in &samples {
            let rules = &sample.rules;
            if rules.deny.is_some() {
                continue;
            }
            let keys = |field: &Option<super::super::Ruled<Vec<KeyTemplate>>>| {
                field.as_ref().map(|ruled| ruled.value.clone()).unwrap_or_default()
            };
            let (locked, changed) = (keys(&rules.lock), keys(&rules.changes));
            let name = &sample.name;
            if let Some(ruled) = &rules.requires_fresh {
                let line = self.line_of(&ruled.rule);
                for key in &ruled.value {
                    if !observed.iter().any(|other| may_meet(other, key)) {
                        let what = format!(
                            "no tool `observes` `{key}`, so nobody is ever fresh and every call of `{name}` is refused: add `observes = \"{key}\"` to the rule for the tools that read it"
                        );
                        self.say(line, Weight::Error, what);
                    }
                    if !changed.contains(key) {
                        let what = format!(
                            "`{name}` must be fresh in `{key}` but does not change it, so the next caller is not told: add `changes = \"{key}\"`, unless it really leaves it as it is"
                        );
                        self.warn(line, what);
                    }
                }
            }
            if let Some(ruled) = &rules.changes {
                let line = self.line_of(&ruled.rule);
                for key in ruled.value.iter().filter(|key| !locked.iter().any(|lock| may_meet(lock, key))) {
                    let what = format!(
                        "`{name}` changes `{key}` and does not lock it: two calls could change it at the same moment; add `lock = \"{key}\"`"
                    );
                    self.warn(line, what);
                }
            }
            if let Some(ruled) = &rules.lock_shared {
                let line = self.line_of(&ruled.rule);
                for key in ruled.value.iter().filter(|key| locked.contains(key)) {
                    let what = format!(
                        "`{name}` holds `{key}` alone and shared; alone counts. Take one of them back with `[]`"
                    );
                    self.warn(line, what);
                }
            }
        }
        self.samples = samples;
    }
}

/// Where a rule is, for people.
fn at(rule: &Rule) -> String {
    rule.line.map_or_else(|| format!(" of `{}`", rule.name), |line| format!(" in line {line}"))
}

/// Where everything that a rule says is said again for all its tools.
fn overridden(rule: &Rule, later: &[Rule]) -> Option<String> {
    let covers = |other: &Rule| {
        let hint = other.read_only.is_none() || other.read_only == rule.read_only;
        hint && rule.patterns.iter().all(|one| other.patterns.iter().any(|wide| wide.covers(one)))
    };
    let covering: Vec<&Rule> = later.iter().filter(|other| covers(other)).collect();
    let said = rule.said();
    let last = said
        .iter()
        .map(|field| covering.iter().find(|other| other.said().contains(field)))
        .max_by_key(|found| found.map_or(usize::MAX, |rule| rule.line.unwrap_or_default()))??;
    Some(at(last))
}
