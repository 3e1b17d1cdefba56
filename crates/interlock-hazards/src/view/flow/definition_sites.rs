//! Definition sites: the step at which each value comes about.

use std::collections::HashMap;

use interlock_model::ir::{FunctionId, Op, Value};

use crate::view::{At, Flow};

/// Where values come about.
#[derive(Debug)]
pub(in crate::view) struct DefinitionSites {
    /// The step that made each value.
    steps: Vec<Option<At>>,
    /// The helper that was followed right before a step: what it answers is made there.
    answers: HashMap<At, FunctionId>,
}

impl<'v, 'e> Flow<'v, 'e> {
    /// The step that made a value.
    pub(crate) fn definition_site(self, value: Value) -> Option<At> {
        self.definition_sites().steps.get(value.0 as usize).copied().flatten()
    }

    /// The helper whose answer is made at a step.
    pub(in crate::view) fn answer_at(self, definition_site: At) -> Option<FunctionId> {
        self.definition_sites().answers.get(&definition_site).copied()
    }

    /// Which step made each value, and which of them stand for the answer of a helper.
    fn definition_sites(self) -> &'v DefinitionSites {
        self.0.definition_sites.get_or_init(|| self.find_definition_sites())
    }

    fn find_definition_sites(self) -> DefinitionSites {
        let mut definition_sites: Vec<Option<At>> = vec![None; self.0.values.len()];
        for (at, step) in self.0.steps.iter().enumerate() {
            let into = match &step.effect.op {
                Op::Derive { into, .. }
                | Op::Read { into, .. }
                | Op::Call { into: Some(into), .. }
                | Op::External { into: Some(into), .. }
                | Op::Loop { item: Some(into), .. } => *into,
                _ => continue,
            };
            if let Some(definition_site @ None) = definition_sites.get_mut(into.0 as usize) {
                *definition_site = Some(at);
            }
        }
        let mut answers = HashMap::new();
        for step in &self.0.steps {
            if let Op::Inlined { function, .. } = &step.effect.op {
                answers.entry(step.until as usize).or_insert(*function);
            }
        }
        DefinitionSites { steps: definition_sites, answers }
    }
}
