//! What a tool says about itself: its name and its hints.

use interlock_model::ir::{Name, Tool};

use super::{env::Thing, index::Index, look::FUEL};

impl<'i> Index<'i> {
    /// A tool as its configuration describes it.
    pub(super) fn tool(&self, name: Name, config: &Thing<'i>) -> Tool {
        Tool {
            name,
            read_only: self.hint(config, &self.sdk().object.read_only),
            idempotent: self.hint(config, &self.sdk().object.idempotent),
        }
    }

    /// A hint, in the configuration of a tool or in its annotations.
    fn hint(&self, config: &Thing<'i>, hint: &str) -> bool {
        let annotations = self.member(config.clone(), &self.sdk().object.annotations, FUEL);
        [config.clone(), annotations]
            .into_iter()
            .any(|thing| matches!(self.settle(self.member(thing, hint, FUEL), FUEL), Thing::Bool(true)))
    }

    /// The name in a tool object, or in what describes it inside.
    pub(super) fn name_in(&self, object: &Thing<'i>) -> Thing<'i> {
        let known = &self.sdk().object;
        let named = |thing: Thing<'i>| {
            let mut names =
                known.name.iter().map(|name| self.text(self.member(thing.clone(), name, FUEL), FUEL));
            names.find(|thing| !matches!(thing, Thing::Unknown))
        };
        let inside = || known.inside.iter().find_map(|field| named(self.member(object.clone(), field, FUEL)));
        named(object.clone()).or_else(inside).unwrap_or(Thing::Unknown)
    }

    /// A tool as its object describes it, whatever it is called.
    pub(super) fn tool_in(&self, name: Name, object: &Thing<'i>) -> Tool {
        let mut tool = self.tool(name, object);
        for field in &self.sdk().object.inside {
            let described = self.tool(tool.name.clone(), &self.member(object.clone(), field, FUEL));
            tool.read_only |= described.read_only;
            tool.idempotent |= described.idempotent;
        }
        tool
    }

    /// The function in a tool object that does the work.
    pub(super) fn work_in(&self, object: &Thing<'i>) -> Thing<'i> {
        let work = self.sdk().object.work.iter();
        work.map(|field| self.member(object.clone(), field, FUEL))
            .find(|thing| !matches!(thing, Thing::Unknown))
            .unwrap_or(Thing::Unknown)
    }
}
