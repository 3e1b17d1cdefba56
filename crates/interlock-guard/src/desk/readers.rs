//! Which tools read what, learned from the calls that came by, so that a refusal can say what to call first.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use interlock_sync::store::Key;

use super::{Desk, plan::Plan, refusal::Why};
use crate::{call::ToolCall, policy::ToolRules};

/// How many tools are remembered for one template, and for how many templates. A policy has fewer.
const TOOLS: usize = 3;
const TEMPLATES: usize = 1_000;

/// Tools by the templates that they observe.
#[derive(Debug, Default)]
pub(super) struct Readers(RwLock<HashMap<String, Vec<String>>>);

impl Readers {
    /// Takes note of what a call's tool reads.
    pub(super) fn learn(&self, call: &ToolCall, rules: &ToolRules) {
        let Some(observes) = &rules.observes else { return };
        for template in &observes.value {
            let template = template.to_string();
            let is_known =
                |tools: &Vec<String>| tools.len() >= TOOLS || tools.iter().any(|tool| **tool == *call.tool);
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if known.get(&template).is_some_and(is_known) || known.len() >= TEMPLATES {
                continue;
            }
            drop(known);
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            let tools = known.entry(template).or_default();
            if !is_known(tools) {
                tools.push(call.tool.to_string());
            }
        }
    }

    fn of(&self, templates: &[String]) -> Vec<String> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut tools: Vec<String> =
            templates.iter().filter_map(|template| known.get(template)).flatten().cloned().collect();
        tools.sort_unstable();
        tools.dedup();
        tools
    }
}

impl Desk {
    /// The refusal for a call whose reader must read first.
    pub(super) fn stale(&self, plan: &Plan, keys: &[(Key, bool)]) -> Why {
        let names = |was_seen: bool| {
            let those = keys.iter().filter(|(_, seen)| *seen == was_seen);
            those.map(|(key, _)| plan.name_of(key)).collect::<Vec<_>>()
        };
        Why::Stale { changed: names(true), unseen: names(false), readers: self.readers.of(&plan.fresh) }
    }
}
