//! Servers that want to be read before they are written to: the survey has asked their readers when a call works in it, a set has not.

use interlock_model::{Oracle, PlannedCall};

use super::{Case, Setting};
use crate::plan::survey::names_tool;

impl Case {
    /// Puts the readers into the set-up without which the calls are refused, if there are such: the survey had asked them when a call of it worked.
    /// The one that the refusal names comes first, then all that have to be told nothing.
    pub(super) async fn ask_readers_first(&mut self, setting: &Setting<'_>, refusal: &str) -> bool {
        let is_new = |call: &&PlannedCall| !self.set.setup.contains(call);
        let is_free = |call: &&PlannedCall| call.arguments.as_object().is_none_or(serde_json::Map::is_empty);
        let questions: Vec<&PlannedCall> = self.questions.iter().filter(is_new).collect();
        let named = questions.iter().filter(|call| names_tool(refusal, &call.tool));
        let mut ways: Vec<Vec<PlannedCall>> = named.map(|call| vec![(*call).clone()]).collect();
        ways.push(questions.into_iter().filter(is_free).cloned().collect());
        let everything = self.set.oracle == Oracle::Once;
        for readers in ways.into_iter().filter(|way| !way.is_empty()) {
            let mut behind = self.of_calls(self.set.clone());
            behind.set.setup.extend(readers);
            let orders = behind.serial.run(setting.lab, &behind.set, everything, setting.side_by_side);
            let done = tokio::time::timeout(setting.left(), orders).await;
            if matches!(done, Ok(Ok(()))) && behind.hopeless().is_none() {
                (self.set, self.serial) = (behind.set, behind.serial);
                return true;
            }
        }
        false
    }
}
