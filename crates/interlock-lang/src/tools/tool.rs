//! What a tool says about itself: its name and its hints.

use interlock_model::ir::{Name, Tool};

use super::{env::Thing, index::Index, look::FUEL};
use crate::module::WORK;

/// Where tool objects keep what describes them.
pub(super) const DESCRIPTIONS: [&str; 7] =
    ["schema", "definition", "tool", "config", "metadata", "options", "info"];

impl<'i> Index<'i> {
    /// A tool as its configuration describes it.
    pub(super) fn tool(&self, name: Name, config: &Thing<'i>) -> Tool {
        Tool {
            name,
            read_only: self.hint(config, "readOnlyHint"),
            idempotent: self.hint(config, "idempotentHint"),
        }
    }

    /// A hint, in the configuration of a tool or in its annotations.
    fn hint(&self, config: &Thing<'i>, hint: &str) -> bool {
        let annotations = self.member(config.clone(), "annotations", FUEL);
        [config.clone(), annotations]
            .into_iter()
            .any(|thing| matches!(self.settle(self.member(thing, hint, FUEL), FUEL), Thing::Bool(true)))
    }

    /// The name in a tool object.
    pub(super) fn name_in(&self, object: &Thing<'i>) -> Thing<'i> {
        let direct = self.text(self.member(object.clone(), "name", FUEL), FUEL);
        if !matches!(direct, Thing::Unknown) {
            return direct;
        }
        DESCRIPTIONS
            .iter()
            .map(|field| self.text(self.member(self.member(object.clone(), field, FUEL), "name", FUEL), FUEL))
            .find(|thing| !matches!(thing, Thing::Unknown))
            .unwrap_or(Thing::Unknown)
    }

    /// A tool as its object describes it, whatever it is called.
    pub(super) fn tool_in(&self, name: Name, object: &Thing<'i>) -> Tool {
        let mut tool = self.tool(name, object);
        for field in DESCRIPTIONS {
            let described = self.tool(tool.name.clone(), &self.member(object.clone(), field, FUEL));
            tool.read_only |= described.read_only;
            tool.idempotent |= described.idempotent;
        }
        tool
    }

    /// The function in a tool object that does the work.
    pub(super) fn work_in(&self, object: &Thing<'i>) -> Thing<'i> {
        WORK.iter()
            .map(|field| self.member(object.clone(), field, FUEL))
            .find(|thing| !matches!(thing, Thing::Unknown))
            .unwrap_or(Thing::Unknown)
    }
}
