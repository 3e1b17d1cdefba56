//! Which of the classes that look like tools are tools: `class Add { name = "add"; description = "…"; async execute() { … } }`.
//!
//! ```ts
//! registry.register(new Add());                       // a tool
//! registry.register(container.get(Drop));             // a tool
//! container.bind(Old).to(Old);                        // bound to itself, and nobody asks for it: no tool
//! export class Draft { name = "draft"; … }            // nobody names it: no tool
//! ```
//!
//! Where a package names most of these classes, what it does not name was left out. Where it names hardly any, it loads files from
//! a folder, and all count.

use interlock_model::ir::{AccessPath, Name, Root};
use rustc_hash::FxHashSet;

use super::{
    AbstractValue,
    discovery::Discovery,
    exact_name,
    index::{Definition, Index},
};
use crate::{Arg, module::Site};

/// A class that describes itself as tools do.
pub(super) struct Described {
    pub(super) class: usize,
    pub(super) name: Name,
    /// The method that does the work.
    pub(super) work: u32,
}

/// The classes that describe themselves as tools do.
pub(super) fn described<'i>(index: &Index<'i>) -> impl Iterator<Item = Described> {
    let known = &index.sdk().object;
    (0..index.eval.flat.classes.len()).filter_map(move |class| {
        let has = |names: &[String]| names.iter().any(|name| index.defines(class, name));
        // A schema that is written out in a field leaves no trace, but the class says what it is.
        let is_tool = || index.class_at(class).is_some_and(|class| class.name.ends_with(&*known.suffix));
        if !has(&known.purpose) || !(has(&known.takes) || is_tool()) || !index.descendants(class).is_empty() {
            return None;
        }
        let work = known.work.iter().find_map(|work| index.method(class, work))?;
        let AbstractValue::Text(name) = index.name_in(&AbstractValue::of_class(class)) else { return None };
        Some(Described { class, name, work })
    })
}

/// The classes that somebody names, where that says something.
pub(super) struct Given<'i> {
    named: FxHashSet<&'i str>,
    /// The packages that name most of their tools.
    packages: FxHashSet<&'i str>,
}

impl<'i> Given<'i> {
    /// What is named of some classes.
    pub(super) fn among(discovery: &Discovery<'_, 'i>, described: &[Described]) -> Self {
        let index = discovery.index;
        let mut named: FxHashSet<&'i str> = FxHashSet::default();
        for site in &index.eval.flat.sites {
            if site.construct
                && let Some(AccessPath { root: Root::Global(name), .. }) = &site.callee
            {
                named.insert(name);
            }
            if !binds(index, site) {
                named.extend(site.arguments.iter().flat_map(Arg::globals).map(|name| &**name));
            }
        }
        let variables = index.eval.flat.variables.iter().filter_map(|variable| variable.initial.as_ref());
        let inside =
            index.units().flat_map(|unit| unit.locals.iter().map(|(_, arg)| arg).chain(unit.returned));
        named.extend(variables.chain(inside).flat_map(Arg::globals).map(|name| &**name));
        let is_named = |class: usize| index.class_at(class).is_some_and(|class| named.contains(&*class.name));
        let mut packages: FxHashSet<&'i str> = FxHashSet::default();
        for package in described.iter().map(|tool| discovery.package_of(tool.work)).collect::<FxHashSet<_>>()
        {
            let own = described.iter().filter(|tool| discovery.package_of(tool.work) == package);
            let (all, given) =
                own.fold((0, 0), |(all, given), tool| (all + 1, given + usize::from(is_named(tool.class))));
            if given * 2 > all {
                packages.insert(package);
            }
        }
        Self { named, packages }
    }

    /// Whether a class counts.
    pub(super) fn has(&self, discovery: &Discovery<'_, 'i>, tool: &Described) -> bool {
        let is_named = || {
            let class = discovery.index.class_at(tool.class);
            class.is_some_and(|class| self.named.contains(&*class.name))
        };
        !self.packages.contains(discovery.package_of(tool.work)) || is_named()
    }
}

/// Whether a call only says of a class what it is bound to, and that is the class itself: `bind(Old).to(Old)`, `bind(Old).toSelf()`.
fn binds(index: &Index<'_>, site: &Site) -> bool {
    let known = &index.sdk().object.binds;
    let is_binding = |site: &Site| {
        let method = site.callee.as_ref().and_then(|callee| callee.fields.last()).and_then(exact_name);
        method.is_some_and(|method| known.contains(method))
    };
    // What is bound is handed to the next call of the chain.
    let before = || {
        let AccessPath { root: Root::Value(value), .. } = site.callee.as_ref()? else { return None };
        match index.definition(site.within, *value)? {
            Definition::Call(number) => index.site(*number),
            _ => None,
        }
    };
    let same = |one: &Site| {
        one.arguments.first().map(|arg| &arg.term) == site.arguments.first().map(|arg| &arg.term)
    };
    is_binding(site) || before().is_some_and(|before| is_binding(before) && same(before))
}
