//! What a scan of the sources found, as wishes.

use std::collections::BTreeSet;

use interlock_model::{Finding, KeyPart, KeyTemplate, ToolPolicy};

use super::{
    super::{UpstreamConfig, pattern::Pattern, tool::ListedTool},
    guess::EVERYTHING,
    wish::Wish,
};

/// What of the findings made no rule.
pub(super) struct Rest {
    /// Tools that no server lists.
    pub(super) strangers: BTreeSet<String>,
    /// Places that no tool is known to reach.
    pub(super) elsewhere: BTreeSet<String>,
}

/// Adds what the remedies of findings ask for; gives what no rule was made of.
pub(super) fn add(
    wishes: &mut [Wish],
    tools: &[ListedTool],
    upstreams: &[UpstreamConfig],
    findings: &[Finding],
) -> Rest {
    let (mut strangers, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    let prefixes: BTreeSet<&str> =
        upstreams.iter().map(|upstream| upstream.prefix.as_str()).chain([""]).collect();
    for finding in findings {
        let why = format!("{} at {}:{}", finding.hazard, finding.location.file, finding.location.line);
        for policy in &finding.remedy.policy {
            // A place that no tool is known to reach is no reason to hold all of them up; limits cost nobody anything.
            let limits = ToolPolicy {
                matches: policy.matches.clone(),
                rate: policy.rate,
                in_flight: policy.in_flight,
                timeout: policy.timeout,
                ..ToolPolicy::default()
            };
            let is_for_all = policy.matches == ["*"];
            let policy = if finding.tools.is_empty() && is_for_all {
                if limits != *policy {
                    elsewhere.insert(why.clone());
                }
                &limits
            } else {
                policy
            };
            for name in &policy.matches {
                let mut is_known = false;
                // A scan knows tools by the names that their server gives them.
                let patterns: Vec<Pattern> = prefixes
                    .iter()
                    .filter_map(|prefix| Pattern::new(&format!("{prefix}{name}")).ok())
                    .collect();
                for (tool, wish) in tools.iter().zip(wishes.iter_mut()) {
                    if patterns.iter().any(|pattern| pattern.matches(&tool.name)) {
                        wish.add(&fitting(policy, tool), &why);
                        is_known = true;
                    }
                }
                if !is_known {
                    strangers.insert(name.clone());
                }
            }
        }
    }
    Rest { strangers, elsewhere }
}

/// A policy with only what this tool can keep: a key that needs an argument which the tool does not have, or which a call may leave
/// out, becomes the one for everything.
fn fitting(policy: &ToolPolicy, tool: &ListedTool) -> ToolPolicy {
    let fit = |keys: &Option<Vec<KeyTemplate>>| {
        keys.as_ref().map(|keys| keys.iter().map(|key| wider(key, tool)).collect::<Vec<_>>())
    };
    ToolPolicy {
        lock: fit(&policy.lock),
        lock_shared: fit(&policy.lock_shared),
        observes: fit(&policy.observes),
        changes: fit(&policy.changes),
        requires_fresh: fit(&policy.requires_fresh),
        ..policy.clone()
    }
}

fn wider(key: &KeyTemplate, tool: &ListedTool) -> KeyTemplate {
    let fits = key.parts().iter().all(|part| match part {
        KeyPart::Text(_) => true,
        KeyPart::Argument(path) => {
            tool.argument(path).is_some() && path.first().is_some_and(|name| tool.requires(name))
        }
    });
    if fits {
        return key.clone();
    }
    KeyTemplate::fixed(EVERYTHING)
}
