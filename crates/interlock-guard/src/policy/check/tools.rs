//! What rules say about tools that are known.

use interlock_model::{IdempotencyKey, KeyPart};

use super::{super::problem::nearest, Checker, ListedTool, Rule, named};

impl Checker<'_> {
    pub(super) fn tools(&mut self, tools: &[ListedTool]) {
        for rule in &self.config.rules {
            let matched: Vec<&ListedTool> =
                tools.iter().filter(|tool| rule.matches(&tool.name, tool.is_read_only())).collect();
            // A rule for everything is also for what servers list some day.
            if matched.is_empty() && rule.patterns.iter().all(|pattern| pattern.as_str() == "*") {
                continue;
            }
            if matched.is_empty() {
                self.matches_nothing(rule, tools);
                continue;
            }
            for pattern in &rule.patterns {
                if !tools.iter().any(|tool| pattern.matches(&tool.name)) && rule.patterns.len() > 1 {
                    let near = near(pattern.as_str(), tools);
                    self.warn(rule.line, format!("`{pattern}` matches no tool{near}"));
                }
            }
            self.arguments(rule, &matched);
        }
    }

    fn matches_nothing(&mut self, rule: &Rule, tools: &[ListedTool]) {
        let by_name =
            tools.iter().any(|tool| rule.patterns.iter().any(|pattern| pattern.matches(&tool.name)));
        let what = match (by_name, rule.read_only) {
            (true, Some(true)) => {
                format!(
                    "no tool of `{}` says `readOnlyHint: true`, so this rule is for none",
                    rule.patterns_text()
                )
            }
            (true, _) => {
                format!(
                    "every tool of `{}` says `readOnlyHint: true`, so this rule is for none",
                    rule.patterns_text()
                )
            }
            (false, _) => {
                let near = rule.patterns.first().map(|one| near(one.as_str(), tools)).unwrap_or_default();
                format!("`{}` matches no tool{near}", rule.patterns_text())
            }
        };
        self.warn(rule.line, what);
    }

    /// Arguments that a template names and a tool does not have.
    fn arguments(&mut self, rule: &Rule, matched: &[&ListedTool]) {
        let mut wanted: Vec<(&'static str, Vec<String>)> = Vec::new();
        for (field, key) in rule.templates() {
            for part in key.parts() {
                if let KeyPart::Argument(path) = part {
                    wanted.push((field, path.clone()));
                }
            }
        }
        if let Some(Some(IdempotencyKey::Argument(path))) = &rule.idempotency {
            wanted.push(("idempotency", path.split('.').map(str::to_owned).collect()));
        }
        for (field, path) in wanted {
            let without: Vec<&str> = matched
                .iter()
                .filter(|tool| tool.argument(&path).is_none())
                .map(|tool| tool.name.as_str())
                .collect();
            if without.is_empty() {
                continue;
            }
            let last = path.last().map(String::as_str).unwrap_or_default();
            let known = matched
                .iter()
                .filter(|tool| tool.argument(&path).is_none())
                .flat_map(|tool| tool.arguments());
            let near =
                nearest(last, known).map(|near| format!("; the nearest is `{near}`")).unwrap_or_default();
            let what = format!(
                "`{field}` needs the argument `{}`, which {} {} not have{near}",
                path.join("."),
                named(&without),
                if without.len() == 1 { "does" } else { "do" }
            );
            self.warn(rule.line, what);
        }
    }
}

fn near(name: &str, tools: &[ListedTool]) -> String {
    let near = nearest(name, tools.iter().map(|tool| tool.name.as_str()));
    near.map(|near| format!("; the nearest is `{near}`")).unwrap_or_default()
}
