//! Tools that are told by what they look like: `server.registerTool(tool.name, { description: tool.description }, tool.handler)`, where
//! nothing says which things `tool` is one of. They came through a cache, a filter of a library, a folder that was read. What is
//! registered so has the members that the registration takes from it, and somewhere in the tree it is written out. Where not even that is
//! said, what describes itself as tools do is one.

use interlock_model::ir::{AccessPath, Name, Root, Term, Value};

use super::{
    AbstractValue, Context,
    discovery::Discovery,
    exact_name,
    given::{Described, Given, described},
    index::Index,
    per_tool,
};
use crate::{Arg, Shape, tables::Sdk};

/// How many tools are found so.
const MOST: usize = 2_000;

/// How deep an object stands in others.
const DEEPEST: usize = 4;

pub(super) type Members<'i> = &'i [(Name, Arg)];

/// What a tool looks like.
pub(super) struct ToolShape<'a> {
    name: &'a str,
    work: &'a str,
    /// What else is taken from it. Some of that may be missing in one, but not all.
    more: Vec<&'a str>,
}

impl<'a> ToolShape<'a> {
    /// What is taken from the thing that has both the name and the work, if one has.
    pub(super) fn of((name, work): (&'a Arg, &'a Arg), configs: &'a [Arg]) -> Option<Self> {
        let ((root, name), (thing, work)) = (member(name)?, member(work)?);
        let of_it = |arg: &'a Arg| member(arg).filter(|(root, _)| *root == thing).map(|(_, member)| member);
        let more: Vec<&str> = configs.iter().flat_map(members).filter_map(|(_, arg)| of_it(arg)).collect();
        (root == thing && !more.is_empty()).then_some(Self { name, work, more })
    }

    /// Registers every object of the tree that looks so; whether there was any.
    pub(super) fn tools(&self, discovery: &mut Discovery<'_, '_>, number: u32) -> bool {
        let index = discovery.index;
        let looks_so = |members: Members<'_>| {
            let has = |name: &str| members.iter().any(|(member, _)| &**member == name);
            has(self.name) && has(self.work) && self.more.iter().any(|name| has(name))
        };
        let mut any = false;
        for Written { members, within, .. } in objects(index, looks_so) {
            let object = AbstractValue::Object(members, Context::plain(within));
            let name = index.text(index.member(object.clone(), self.name)).text().cloned();
            let work = index.member(object.clone(), self.work);
            let Some(name) = name.filter(|_| !discovery.functions(&work).is_empty()) else { continue };
            discovery.handler(number, &work, Some(name), |name| index.tool_in(name, &object));
            any = true;
        }
        any
    }
}

/// Registers whatever the tree describes as a tool, and somebody has not registered yet.
pub(super) fn all_tools(discovery: &mut Discovery<'_, '_>, number: u32) {
    let index = discovery.index;
    let sdk = index.sdk();
    let known = &sdk.object;
    let work = |members: Members<'_>| members.iter().any(|(name, _)| has_name(&known.work, name));
    let told = |members: Members<'_>| {
        let inner = members.iter().filter(|(name, _)| has_name(&known.inside, name));
        describes(sdk, members)
            || inner
                .into_iter()
                .any(|(_, arg)| matches!(arg.shape, Shape::Opaque | Shape::Choice(_) | Shape::Object(_)))
    };
    for Written { members, within, under } in objects(index, |members| work(members) && told(members)) {
        let object = AbstractValue::Object(members, Context::plain(within));
        let inner = || known.inside.iter().map(|field| index.settle(index.member(object.clone(), field)));
        if !describes(sdk, members)
            && !inner()
                .any(|thing| matches!(thing, AbstractValue::Object(members, _) if describes(sdk, members)))
        {
            continue;
        }
        let work = index.work_in(&object);
        // `const tools = { add: { description, inputSchema, handler } }`: it goes by what it is kept under.
        let says = |(name, _): &(Name, Arg)| has_name(&known.name, name) || has_name(&known.inside, name);
        let kept = || under.filter(|_| !members.iter().any(says)).cloned();
        let name = index.name_in(&object).text().cloned().or_else(kept);
        let Some(name) = name.filter(|_| !discovery.functions(&work).is_empty()) else { continue };
        discovery.handler(number, &work, Some(name), |name| index.tool_in(name, &object));
    }
    let described: Vec<Described> = described(index).collect();
    let given = Given::among(discovery, &described);
    for tool in described {
        if given.has(discovery, &tool) {
            let Described { class, name, work } = tool;
            let object = AbstractValue::of_class(class);
            discovery.serve(work, index.tool_in(name.clone(), &object));
            per_tool::inherited(discovery, work, class, &name);
        }
    }
}

/// Whether something says what it is for and what it is given.
pub(super) fn describes(sdk: &Sdk, members: Members<'_>) -> bool {
    let has = |names: &[String]| members.iter().any(|(name, _)| has_name(names, name));
    has(&sdk.object.purpose) && has(&sdk.object.takes)
}

fn has_name(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known == name)
}

/// An object that is written out.
pub(super) struct Written<'i> {
    pub(super) members: Members<'i>,
    /// The function that it is written in.
    pub(super) within: u32,
    /// The member of another object that it is.
    under: Option<&'i Name>,
}

/// The objects of the tree that look in some way, and where they are written.
pub(super) fn objects<'i>(index: &Index<'i>, looks_so: impl Fn(Members<'i>) -> bool) -> Vec<Written<'i>> {
    let mut objects = vec![];
    for variable in &index.eval.flat.variables {
        let initial = variable.initial.iter();
        initial.for_each(|arg| inside((arg, None), variable.within, &looks_so, DEEPEST, &mut objects));
    }
    for (function, unit) in (0_u32..).zip(index.units()) {
        let written = unit.locals.iter().map(|(_, arg)| arg).chain(unit.returned);
        written.for_each(|arg| inside((arg, None), function, &looks_so, DEEPEST, &mut objects));
    }
    for site in &index.eval.flat.sites {
        let arguments = site.arguments.iter();
        arguments.for_each(|arg| inside((arg, None), site.within, &looks_so, DEEPEST, &mut objects));
    }
    objects
}

/// The objects that look so, in something that is written out.
fn inside<'i>(
    (arg, under): (&'i Arg, Option<&'i Name>),
    within: u32,
    looks_so: &impl Fn(Members<'i>) -> bool,
    depth: usize,
    discovery: &mut Vec<Written<'i>>,
) {
    let Some(depth) = depth.checked_sub(1).filter(|_| discovery.len() < MOST) else { return };
    match &arg.shape {
        Shape::List(items) | Shape::Choice(items) => {
            items.iter().for_each(|item| inside((item, None), within, looks_so, depth, discovery));
        }
        Shape::Object(members) => {
            if looks_so(members) {
                discovery.push(Written { members, within, under });
            } else {
                for (name, member) in members {
                    let under = (!name.is_empty() && &**name != "...").then_some(name);
                    inside((member, under), within, looks_so, depth, discovery);
                }
            }
        }
        _ => {}
    }
}

/// A member of a local thing: which, of what.
fn member(arg: &Arg) -> Option<(Value, &str)> {
    match &arg.term {
        Term::Path(AccessPath { root: Root::Value(thing), fields }) => match fields.as_slice() {
            [field] => Some((*thing, exact_name(field)?)),
            _ => None,
        },
        _ => None,
    }
}

fn members(arg: &Arg) -> &[(Name, Arg)] {
    match &arg.shape {
        Shape::Object(members) => members,
        _ => &[],
    }
}
