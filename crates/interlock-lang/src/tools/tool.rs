//! What a tool says about itself: its name and its hints.

use interlock_model::ir::{Name, Tool};

use super::{AbstractValue, index::Index};

impl<'i> Index<'i> {
    /// A tool as its configuration describes it.
    pub(super) fn tool(&self, name: Name, config: &AbstractValue<'i>) -> Tool {
        Tool {
            name,
            read_only: self.hint(config, &self.sdk().object.read_only),
            idempotent: self.hint(config, &self.sdk().object.idempotent),
        }
    }

    /// A hint, in the configuration of a tool or in its annotations.
    fn hint(&self, config: &AbstractValue<'i>, hint: &str) -> bool {
        let annotations = self.member(config.clone(), &self.sdk().object.annotations);
        [config.clone(), annotations]
            .into_iter()
            .any(|thing| matches!(self.settle(self.member(thing, hint)), AbstractValue::Bool(true)))
    }

    /// The name in a tool object, or in what describes it inside.
    pub(super) fn name_in(&self, object: &AbstractValue<'i>) -> AbstractValue<'i> {
        let known = &self.sdk().object;
        let named = |thing: AbstractValue<'i>| {
            let mut names = known.name.iter().map(|name| self.text(self.member(thing.clone(), name)));
            names.find(|thing| !matches!(thing, AbstractValue::Unknown))
        };
        let inside = || known.inside.iter().find_map(|field| named(self.member(object.clone(), field)));
        named(object.clone()).or_else(inside).unwrap_or(AbstractValue::Unknown)
    }

    /// A tool as its object describes it, whatever it is called.
    pub(super) fn tool_in(&self, name: Name, object: &AbstractValue<'i>) -> Tool {
        let mut tool = self.tool(name, object);
        for field in &self.sdk().object.inside {
            let described = self.tool(tool.name.clone(), &self.member(object.clone(), field));
            tool.read_only |= described.read_only;
            tool.idempotent |= described.idempotent;
        }
        tool
    }

    /// The function in a tool object that does the work.
    pub(super) fn work_in(&self, object: &AbstractValue<'i>) -> AbstractValue<'i> {
        let work = self.sdk().object.work.iter();
        work.map(|field| self.member(object.clone(), field))
            .find(|thing| !matches!(thing, AbstractValue::Unknown))
            .unwrap_or(AbstractValue::Unknown)
    }
}
