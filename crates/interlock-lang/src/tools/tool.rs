//! What a tool says about itself: its name and its hints.

use interlock_model::ir::{Name, Root, Tool};

use super::{AbstractValue, index::Index, split_method};
use crate::module::split_global;

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
            let named = names.find(|thing| !matches!(thing, AbstractValue::Unknown));
            named.or_else(|| self.name_given(thing.clone()))
        };
        let inside = || known.inside.iter().find_map(|field| named(self.member(object.clone(), field)));
        named(object.clone()).or_else(inside).unwrap_or(AbstractValue::Unknown)
    }

    /// The name in a call that makes what describes a tool: `NewTool("add", …)`.
    fn name_given(&self, thing: AbstractValue<'i>) -> Option<AbstractValue<'i>> {
        let AbstractValue::Call(number, at) = self.settle(thing) else { return None };
        let site = self.site(number)?;
        let callee = site.callee.as_ref()?;
        let made_by = match (split_method(callee), &callee.root) {
            (Some((method, _)), _) => method,
            (None, Root::Global(name)) => split_global(name)?.1,
            _ => return None,
        };
        if !self.sdk().object.makers.iter().any(|maker| maker == made_by) {
            return None;
        }
        let named = self.text(self.evaluate(site.arguments.first()?, &at.go(site.within)));
        (!matches!(named, AbstractValue::Unknown)).then_some(named)
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
