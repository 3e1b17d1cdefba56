//! What a policy says that its author cannot have meant: printed by `guard --check`, and before a policy comes into force.

mod rules;
mod setting;
mod tools;

#[cfg(test)]
mod tests;

use interlock_model::{KeyPart, KeyTemplate, Mode};

use super::{
    config::{Config, Defaults},
    pattern::Pattern,
    problem::{Problem, Weight},
    rule::Rule,
    rules::{ToolRules, resolve},
    tool::ListedTool,
};

/// How many examples are named before "and N more".
const NAMED: usize = 5;

/// Everything that is wrong or surprising, in the order of the lines. With the list of tools it sees more: what matches nothing, and
/// arguments that no tool has.
#[must_use]
pub fn check(config: &Config, tools: Option<&[ListedTool]>) -> Vec<Problem> {
    let mut checker = Checker { config, samples: Vec::new(), problems: Vec::new() };
    checker.samples = samples(config, tools);
    checker.settings();
    checker.rules();
    checker.keys();
    if let Some(tools) = tools {
        checker.tools(tools);
    }
    let mut problems = checker.problems;
    problems.sort_by_key(|problem| (problem.line, std::cmp::Reverse(problem.weight)));
    problems.dedup();
    problems
}

struct Checker<'c> {
    config: &'c Config,
    samples: Vec<Sample>,
    problems: Vec<Problem>,
}

/// A tool, or what stands for the tools of a pattern, with what holds for it.
struct Sample {
    name: String,
    rules: ToolRules,
}

impl Checker<'_> {
    fn say(&mut self, line: Option<usize>, weight: Weight, what: impl Into<String>) {
        self.problems.push(Problem { file: self.config.file.clone(), line, weight, what: what.into() });
    }

    fn warn(&mut self, line: Option<usize>, what: impl Into<String>) {
        self.say(line, Weight::Warning, what);
    }

    /// Where the rule of that name stands.
    fn line_of(&self, name: &str) -> Option<usize> {
        self.config.rules.iter().find(|rule| &*rule.name == name).and_then(|rule| rule.line)
    }
}

/// The tools, or, where they are not known, each pattern as a tool of its own name: every rule that is for all tools of the pattern is
/// also for that one.
fn samples(config: &Config, tools: Option<&[ListedTool]>) -> Vec<Sample> {
    let of = |name: &str, is_read_only| Sample {
        name: name.to_owned(),
        rules: resolve(&config.rules, config.mode, &config.defaults, name, is_read_only),
    };
    match tools {
        Some(tools) => tools.iter().map(|tool| of(&tool.name, tool.is_read_only())).collect(),
        None => {
            let hints = |rule: &Rule| match rule.read_only {
                Some(hint) => vec![hint],
                None => vec![false, true],
            };
            let pairs = config.rules.iter().flat_map(|rule| {
                let patterns = rule.patterns.iter();
                patterns.flat_map(move |pattern| hints(rule).into_iter().map(move |hint| (pattern, hint)))
            });
            pairs.map(|(pattern, hint)| of(pattern.as_str(), hint)).collect()
        }
    }
}

/// Whether two templates can come to the same key: the holes of each may hold anything.
pub(super) fn may_meet(one: &KeyTemplate, other: &KeyTemplate) -> bool {
    match (shape(one), shape(other)) {
        (Some(one), Some(other)) => one.covers(&other) || other.covers(&one),
        _ => false,
    }
}

/// A template as a pattern, with a star for each hole.
fn shape(key: &KeyTemplate) -> Option<Pattern> {
    let text: String = key
        .parts()
        .iter()
        .map(|part| match part {
            KeyPart::Text(text) => text.as_str(),
            KeyPart::Argument(_) => "*",
        })
        .collect();
    Pattern::new(&text).ok()
}

/// Some names, and how many more there are.
fn named(names: &[&str]) -> String {
    let mut text: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    if names.len() > NAMED {
        text.push(format!("and {} more", names.len() - NAMED));
    }
    text.join(", ")
}

/// The longest that any call may take.
fn longest_timeout(defaults: &Defaults, rules: &[Rule]) -> std::time::Duration {
    rules.iter().filter_map(|rule| rule.timeout).chain([defaults.timeout]).max().unwrap_or_default()
}

/// Whether a rule is carried out.
fn mode_of(rule: &Rule, config: &Config) -> Mode {
    rule.mode.unwrap_or(config.mode)
}
