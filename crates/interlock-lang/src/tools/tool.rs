//! What a tool says about itself: its name and its hints.

use interlock_model::ir::{Name, Root, Tool};

use super::{AbstractValue, index::Index, shape::describes, split_method};
use crate::{Shape, module::split_global};

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
        let of_module = || self.description_in(object).and_then(named);
        named(object.clone()).or_else(inside).or_else(of_module).unwrap_or(AbstractValue::Unknown)
    }

    /// What describes the tool that a module is, if one thing in it does: `DEFINITION = Tool(name="add", …)` beside `def run(…)`.
    fn description_in(&self, object: &AbstractValue<'i>) -> Option<AbstractValue<'i>> {
        let AbstractValue::Exports(_) = object else { return None };
        let is_description = |thing: &AbstractValue<'i>| match thing {
            AbstractValue::Object(members, _) => describes(self.sdk(), members),
            AbstractValue::Call(number, _) => self.site(*number).is_some_and(|site| {
                let made = site.arguments.last().filter(|_| site.construct);
                made.is_some_and(
                    |arg| matches!(&arg.shape, Shape::Object(members) if describes(self.sdk(), members)),
                )
            }),
            _ => false,
        };
        let mut found = self.list(object).into_iter().filter(is_description);
        let only = found.next()?;
        found.next().is_none().then_some(only)
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
