//! Tools that are told by what they look like: `server.registerTool(tool.name, { description: tool.description }, tool.handler)`, where
//! nothing says which things `tool` is one of. They came through a cache, a filter of a library, a folder that was read. What is
//! registered so has the members that the registration takes from it, and somewhere in the tree it is written out.

use interlock_model::ir::{AccessPath, Name, Root, Term, Value};

use super::{
    env::{At, Thing},
    found::Found,
    look::FUEL,
    place::name_of,
};
use crate::{Arg, Shape};

/// How many tools are found so.
const MOST: usize = 2_000;

/// How deep an object stands in others.
const DEEPEST: usize = 4;

type Members<'i> = &'i [(Name, Arg)];

/// What a tool looks like.
pub(super) struct Look<'a> {
    name: &'a str,
    work: &'a str,
    /// What else is taken from it. Some of that may be missing in one, but not all.
    more: Vec<&'a str>,
}

impl<'a> Look<'a> {
    /// What is taken from the thing that has both the name and the work, if one has.
    pub(super) fn of((name, work): (&'a Arg, &'a Arg), configs: &'a [Arg]) -> Option<Self> {
        let ((root, name), (thing, work)) = (member(name)?, member(work)?);
        let of_it = |arg: &'a Arg| member(arg).filter(|(root, _)| *root == thing).map(|(_, member)| member);
        let more: Vec<&str> = configs.iter().flat_map(members).filter_map(|(_, arg)| of_it(arg)).collect();
        (root == thing && !more.is_empty()).then_some(Self { name, work, more })
    }

    /// Registers every object of the tree that looks so; whether there was any.
    pub(super) fn tools(&self, found: &mut Found<'_, '_>, number: u32) -> bool {
        let index = found.index;
        let mut objects: Vec<(Members<'_>, u32)> = vec![];
        for variable in index.input.variables {
            let initial = variable.initial.iter();
            initial.for_each(|arg| self.inside(arg, variable.within, DEEPEST, &mut objects));
        }
        for (function, unit) in (0_u32..).zip(&index.input.units) {
            let written = unit.locals.iter().map(|(_, arg)| arg).chain(unit.returned);
            written.for_each(|arg| self.inside(arg, function, DEEPEST, &mut objects));
        }
        for site in index.input.sites {
            site.arguments.iter().for_each(|arg| self.inside(arg, site.within, DEEPEST, &mut objects));
        }
        let mut any = false;
        for (members, within) in objects {
            let object = Thing::Object(members, At::plain(within));
            let name = index.text(index.member(object.clone(), self.name, FUEL), FUEL).text().cloned();
            let work = index.member(object.clone(), self.work, FUEL);
            let Some(name) = name.filter(|_| !found.functions(&work).is_empty()) else { continue };
            found.handler(number, &work, Some(name), |name| index.tool_in(name, &object));
            any = true;
        }
        any
    }

    /// The objects that look so, in something that is written out.
    fn inside<'i>(&self, arg: &'i Arg, within: u32, depth: usize, found: &mut Vec<(Members<'i>, u32)>) {
        let Some(depth) = depth.checked_sub(1).filter(|_| found.len() < MOST) else { return };
        match &arg.shape {
            Shape::List(items) => items.iter().for_each(|item| self.inside(item, within, depth, found)),
            Shape::Object(members) => {
                let has = |name: &str| members.iter().any(|(member, _)| &**member == name);
                if has(self.name) && has(self.work) && self.more.iter().any(|name| has(name)) {
                    found.push((members, within));
                } else {
                    members.iter().for_each(|(_, member)| self.inside(member, within, depth, found));
                }
            }
            _ => {}
        }
    }
}

/// A member of a local thing: which, of what.
fn member(arg: &Arg) -> Option<(Value, &str)> {
    match &arg.term {
        Term::Path(AccessPath { root: Root::Value(thing), fields }) => match fields.as_slice() {
            [field] => Some((*thing, name_of(field)?)),
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
