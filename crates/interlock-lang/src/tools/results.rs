//! What a call comes to, as far as that is needed to find tools: an object that was made, a function that was returned, a list that was
//! passed on.

use std::rc::Rc;

use interlock_model::ir::{AccessPath, Exit, Field, Name, Op, Root, Value};

use super::{
    env::{At, Bound, Env, Thing},
    index::Index,
    look::FUEL,
    place::name_of,
};
use crate::{
    module::Site,
    tables::{Gives, Makes},
};

/// How many things of a list are looked at.
const THINGS: usize = 1_000;

impl<'i> Index<'i> {
    /// The same thing, with a call replaced by what it comes to where that is known.
    pub(super) fn settle(&self, thing: Thing<'i>, fuel: usize) -> Thing<'i> {
        let Thing::Call(number, at) = &thing else { return thing };
        let (Some(site), Some(fuel)) = (self.site(*number), fuel.checked_sub(1)) else { return thing };
        // With little fuel left less may be found than there is, and that is not worth remembering.
        let look = || self.memo().unless_circular(*number, || self.result(site, at, fuel));
        let result =
            if at.env.is_empty() && fuel > FUEL / 2 { self.memo().remembered(*number, look) } else { look() };
        match result {
            Thing::Unknown => thing,
            Thing::Call(next, at) if next != *number => self.settle(Thing::Call(next, at), fuel),
            result => result,
        }
    }

    /// What a call of a function of the tree, a constructor or a well-known function of the language comes to.
    fn result(&self, site: &'i Site, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let at = at.go(site.within);
        // A function that is written in the one that calls it: `const counted = (work) => …; counted(add)`.
        if let (Some(function), None) = (site.function, &site.callee) {
            let bound = self.handed_over(function, site, &at, fuel);
            return self.returned(function, &at.env.with(function, bound), fuel);
        }
        let Some(callee) = &site.callee else { return Thing::Unknown };
        let passed = self.passed(site, callee, &at, fuel);
        if !matches!(passed, Thing::Unknown) {
            return passed;
        }
        // What is called may itself be what another call has given back.
        match self.settle(self.path(callee, &at, fuel), fuel) {
            Thing::Class(class) => {
                let env = self.constructed(class, site, &at, fuel);
                Thing::Instance(class, At { env, ..at })
            }
            Thing::Function(function, env) => {
                let bound = self.handed_over(function, site, &at, fuel);
                self.returned(function, &env.with(function, bound), fuel)
            }
            Thing::Open(open) => Thing::Open(open),
            _ => Thing::Unknown,
        }
    }

    /// What is assumed in the constructors of an object: what the call hands over, and what each of them hands to the one above.
    fn constructed(&self, class: usize, site: &'i Site, at: &At<'i>, fuel: usize) -> Env<'i> {
        let (mut site, mut at) = (site, at.clone());
        for class in self.line(class) {
            let own = class.methods.iter().find(|(name, _)| &**name == "constructor");
            let Some((_, constructor)) = own else { continue };
            let bound = self.handed_over(*constructor, site, &at, fuel);
            at = At { function: *constructor, env: at.env.with(*constructor, bound) };
            let is_above = |site: &&'i Site| {
                let callee = site.callee.as_ref().filter(|callee| callee.fields.is_empty());
                callee.is_some_and(|callee| matches!(&callee.root, Root::Global(name) if &**name == "super"))
            };
            let mut inside = self.inside(*constructor).iter().filter_map(|number| self.site(*number));
            match inside.find(is_above) {
                Some(above) => site = above,
                None => break,
            }
        }
        at.env
    }

    /// What a function returns under assumptions.
    pub(super) fn returned(&self, function: u32, env: &Env<'i>, fuel: usize) -> Thing<'i> {
        let Some(unit) = self.unit(function) else { return Thing::Unknown };
        let at = At { function, env: env.clone() };
        let mut first = Thing::Unknown;
        for arg in unit.returned {
            // Of a function that returns a tool object or something that makes one, the object says more.
            match (self.look(arg, &at, fuel), &first) {
                (
                    thing @ (Thing::Object(..) | Thing::List(..) | Thing::OneOf(_) | Thing::Instance(..)),
                    _,
                ) => {
                    return thing;
                }
                (thing, Thing::Unknown) => first = thing,
                _ => {}
            }
        }
        if !matches!(first, Thing::Unknown | Thing::Function(..)) {
            return first;
        }
        for effect in unit.function.effects() {
            let Op::Exit(Exit::Return(values)) = &effect.op else { continue };
            let [value] = values.as_slice() else { continue };
            let thing = self.value(*value, &at, fuel);
            // The same of what was handed in: `if (typeof tool === "function") return (args) => tool(args); return tool;`.
            match (&first, &thing) {
                (_, Thing::Unknown) => {}
                (Thing::Unknown, _) | (_, Thing::Object(..) | Thing::Instance(..)) => return thing,
                _ => {}
            }
        }
        first
    }

    /// Every function that a call may come to: a wrapper may hand back what it was given, or something in its place.
    pub(super) fn functions_of(&self, call: &Thing<'i>, fuel: usize) -> Vec<(u32, Env<'i>)> {
        let mut found: Vec<(u32, Env<'i>)> = vec![];
        let mut add = |thing: Thing<'i>| match thing {
            Thing::Function(function, env) if found.iter().all(|(known, _)| *known != function) => {
                found.push((function, env));
            }
            _ => {}
        };
        add(self.settle(call.clone(), fuel));
        let Thing::Call(number, at) = call else { return found };
        let Some((site, callee)) = self.site(*number).and_then(|site| Some((site, site.callee.as_ref()?)))
        else {
            return found;
        };
        let at = at.go(site.within);
        if let Thing::Function(function, env) = self.path(callee, &at, fuel)
            && let Some(unit) = self.unit(function)
        {
            let env = env.with(function, self.handed_over(function, site, &at, fuel));
            let at = At { function, env };
            for arg in unit.returned {
                add(self.settle(self.look(arg, &at, fuel), fuel));
            }
            for effect in unit.function.effects() {
                if let Op::Exit(Exit::Return(values)) = &effect.op
                    && let [value] = values.as_slice()
                {
                    add(self.settle(self.value(*value, &at, fuel), fuel));
                }
            }
        }
        found
    }

    /// The arguments of a call as assumptions about the parameters of a function.
    pub(super) fn handed_over(
        &self,
        function: u32,
        site: &'i Site,
        at: &At<'i>,
        fuel: usize,
    ) -> Vec<(Value, Bound<'i>)> {
        let parameters = self.unit(function).map_or(&[][..], |unit| &unit.function.parameters);
        let arguments = site.arguments.iter().map(|arg| Bound::Thing(self.look(arg, at, fuel)));
        parameters.iter().copied().zip(arguments).collect()
    }

    /// What well-known functions of the language pass on.
    fn passed(&self, site: &'i Site, callee: &'i AccessPath, at: &At<'i>, fuel: usize) -> Thing<'i> {
        let Some((method, receiver)) = split(callee) else { return Thing::Unknown };
        let first =
            |index: &Self| site.arguments.first().map_or(Thing::Unknown, |arg| index.look(arg, at, fuel));
        let makes = match (&callee.root, receiver) {
            (Root::Global(name), []) if self.is_foreign(&callee.root) => {
                self.builtins().makes("", &[name, ".", method].concat())
            }
            _ => None,
        };
        match makes {
            Some(Makes::First) => return first(self),
            Some(Makes::Values) => return Thing::Many(Rc::new(self.list(&first(self), fuel))),
            Some(Makes::Pairs) => {
                let named = |(name, thing): (Option<Name>, Thing<'i>)| Some((name?, thing));
                let pairs = self.elements(&first(self), fuel).into_iter().filter_map(named);
                return Thing::Entries(Rc::new(pairs.collect()));
            }
            _ => {}
        }
        let all = || self.list(&self.receiver(receiver, callee, at, fuel), fuel);
        let things: Vec<Thing<'i>> = match self.builtins().gives(method) {
            _ if method == "bind" => {
                return match self.receiver(receiver, callee, at, fuel) {
                    function @ Thing::Function(..) => function,
                    _ => Thing::Unknown,
                };
            }
            Some(Gives::Entries) => all(),
            Some(Gives::Joined) => {
                let more = site.arguments.iter().flat_map(|arg| self.list(&self.look(arg, at, fuel), fuel));
                all().into_iter().chain(more).collect()
            }
            Some(Gives::Mapped) => {
                let Thing::Function(function, _) = first(self) else { return Thing::Unknown };
                let item = self.unit(function).and_then(|unit| unit.function.parameters.first().copied());
                let mapped = |thing| {
                    let bound = item.map(|item| (item, Bound::Thing(thing))).into_iter().collect();
                    self.returned(function, &at.env.with(function, bound), fuel)
                };
                all().into_iter().map(mapped).collect()
            }
            Some(Gives::Entry | Gives::List | Gives::Itself) | None => return Thing::Unknown,
        };
        if things.is_empty() { Thing::Unknown } else { Thing::Many(Rc::new(things)) }
    }

    /// What the object is whose method is called, or the collection at the beginning of a path.
    pub(super) fn receiver(
        &self,
        fields: &'i [Field],
        path: &'i AccessPath,
        at: &At<'i>,
        fuel: usize,
    ) -> Thing<'i> {
        self.settle(self.walk(&path.root, fields, at, fuel), fuel)
    }

    /// The things of a list.
    pub(super) fn list(&self, thing: &Thing<'i>, fuel: usize) -> Vec<Thing<'i>> {
        self.elements(thing, fuel).into_iter().map(|(_, thing)| thing).collect()
    }

    /// The things of a list, object or map, with their names where they have one.
    pub(super) fn elements(&self, thing: &Thing<'i>, fuel: usize) -> Vec<(Option<Name>, Thing<'i>)> {
        let Some(fuel) = fuel.checked_sub(1) else { return vec![] };
        let mut found = vec![];
        match self.settle(thing.clone(), fuel) {
            Thing::List(items, at) => {
                for arg in items.iter().take(THINGS) {
                    let thing = self.settle(self.look(arg, &at, fuel), fuel);
                    // A spread stands in a list as the list that it spreads.
                    match thing {
                        Thing::List(..) | Thing::Many(_) | Thing::OneOf(_) if arg_is_spread(arg) => {
                            found.extend(self.elements(&thing, fuel));
                        }
                        thing => found.push((None, thing)),
                    }
                }
            }
            Thing::Object(members, at) => {
                for (name, arg) in members.iter().take(THINGS) {
                    let thing = self.look(arg, &at, fuel);
                    if &**name == "..." {
                        found.extend(self.elements(&thing, fuel));
                    } else {
                        // A computed name is not known here; what it leads to may say its own.
                        let name = (!name.is_empty()).then(|| name.clone());
                        found.push((name, thing));
                    }
                }
            }
            Thing::Many(things) => {
                found.extend(things.iter().take(THINGS).map(|thing| (None, thing.clone())))
            }
            Thing::Entries(entries) => {
                found.extend(
                    entries.iter().take(THINGS).map(|(name, thing)| (Some(name.clone()), thing.clone())),
                );
            }
            Thing::Filled(function, value, initial) => {
                found.extend(self.elements(&initial, fuel));
                found.extend(self.put_in(self.filled(function, value)));
            }
            Thing::Exports(file) => found.extend(self.exports(&file, fuel)),
            Thing::OneOf(things) => found.extend(things.iter().flat_map(|thing| self.elements(thing, fuel))),
            Thing::Call(number, at) => {
                if let Some(site) = self.site(number).filter(|site| site.construct) {
                    let given =
                        site.arguments.first().map_or(Thing::Unknown, |arg| self.look(arg, &at, fuel));
                    let items = self.list(&given, fuel);
                    // `new Map(another)`.
                    if items.is_empty() && !matches!(given, Thing::Unknown) {
                        found.extend(self.elements(&given, fuel));
                    }
                    // `new Map([[name, tool], …])` and `new Set([…])`.
                    for thing in items {
                        match self.member(thing.clone(), "0", fuel) {
                            Thing::Text(name) => found.push((Some(name), self.member(thing, "1", fuel))),
                            _ => found.push((None, thing)),
                        }
                    }
                }
            }
            _ => {}
        }
        found
    }

    /// Everything that a file offers, wherever it is written.
    fn exports(&self, file: &str, fuel: usize) -> Vec<(Option<Name>, Thing<'i>)> {
        let offered = self.input.names.offered(file).into_iter().take(THINGS);
        offered.map(|(name, global)| (Some(name), self.at_place(&global, &At::plain(0), fuel))).collect()
    }
}

/// The method that a path ends in, and the fields of the object before it.
pub(super) fn split(callee: &AccessPath) -> Option<(&str, &[Field])> {
    let (last, rest) = callee.fields.split_last()?;
    Some((name_of(last)?, rest))
}

fn arg_is_spread(arg: &crate::Arg) -> bool {
    matches!(arg.shape, crate::Shape::Opaque | crate::Shape::Choice(_))
}
