//! One handler for all tools: which names it tells apart, and where it goes for each.
//!
//! The name of the tool is followed from the request through locals, parameters and closures. A comparison with a text is a tool; a call
//! of something that was looked up by the name goes to one function per tool.

use std::collections::BTreeSet;

use interlock_model::{
    Span,
    ir::{AccessPath, Argument, Callee, Exit, Field, FunctionId, Name, Op, Resource, Root, Term, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Dispatch,
    env::{At, Thing},
    found::Found,
    index::{Definition, Index},
    look::FUEL,
    place::{name_of, place_at},
    vary,
    ways::Choice,
};
use crate::{Arg, Shape};

/// How many functions a name is followed through.
const FUNCTIONS: usize = 200;

/// How many ways one call may go. More would be a table that nobody wrote by hand.
const WAYS: usize = 300;

/// How many steps lead from a value to the collection that it was looked up in: members, and functions that look up for others.
const HELPERS: usize = 6;

/// How many collections one call looks into, one after another.
const MOST_TABLES: usize = 4;

/// Where a name is: a value of a function, and the fields that lead to it from there.
type Spot = (u32, Value, Vec<Name>);

/// The handler of all calls of tools: `request.params.name` says which.
pub(super) fn calls(found: &mut Found<'_, '_>, function: u32) {
    let Some(unit) = found.index.unit(function) else { return found.entry(function) };
    let spot = unit
        .function
        .parameters
        .first()
        .map(|request| (function, *request, vec!["params".into(), "name".into()]));
    follow(found, function, spot.into_iter().collect());
}

/// The tools that a server lists.
pub(super) fn lists(found: &mut Found<'_, '_>, function: u32) {
    let index = found.index;
    let answer = index.returned(function, &At::plain(function).env, FUEL);
    let tools = index.member(answer, "tools", FUEL);
    for tool in index.list(&tools, FUEL) {
        if let Thing::Text(name) = index.name_in(&tool) {
            found.listed.push(index.tool_in(name, &tool));
        }
    }
}

/// Functions that answer `tools/call` without a library.
pub(super) fn by_hand(found: &mut Found<'_, '_>) {
    let index = found.index;
    for number in index.by_hand().iter().copied() {
        let Some(unit) = index.unit(number).filter(|_| !found.is_handler(number)) else { continue };
        let mut spots = vec![];
        for effect in unit.function.effects() {
            let Op::Check { on, equal: Some(equal), .. } = &effect.op else { continue };
            if &**equal == "tools/call" {
                spots.extend(on.iter().filter_map(|method| beside(index, number, *method)));
            }
        }
        if !spots.is_empty() {
            follow(found, number, spots);
        }
    }
}

/// Where the name of the tool is, beside the method of a request.
fn beside(index: &Index<'_>, function: u32, method: Value) -> Option<Spot> {
    let (params, name): (Name, Name) = ("params".into(), "name".into());
    match index.definition(function, method)? {
        Definition::Path(AccessPath { root: Root::Value(request), fields }) => {
            let (_, before) = fields.split_last()?;
            let mut rest: Vec<Name> =
                before.iter().map(|field| name_of(field).map(Name::from)).collect::<Option<_>>()?;
            rest.extend([params, name]);
            Some((function, *request, rest))
        }
        Definition::Parameter(_) => {
            let head = index.unit(function)?.function;
            let named =
                |value: &&Value| head.values.get(value.0 as usize).is_some_and(|info| *info.name == *params);
            Some((function, *head.parameters.iter().find(named)?, vec![name]))
        }
        _ => None,
    }
}

/// Follows the name and gives the handler its tools.
fn follow(found: &mut Found<'_, '_>, handler: u32, spots: Vec<Spot>) {
    let mut trail =
        Trail { seen: spots.iter().cloned().collect(), pending: spots, names: vec![], visited: 0 };
    found.entry(handler);
    let mut functions = BTreeSet::new();
    while let Some((function, value, rest)) = trail.pending.pop() {
        trail.visited += 1;
        if trail.visited > FUNCTIONS {
            break;
        }
        functions.insert(function);
        trail.through(found.index, function, value, &rest);
    }
    let mut tools = Tools::default();
    let mut pending: Vec<u32> = functions.iter().rev().copied().collect();
    while let Some(function) = pending.pop() {
        let mut known: Vec<(Value, &[Name])> = vec![];
        known.extend(
            trail
                .seen
                .iter()
                .filter(|spot| spot.0 == function)
                .map(|(_, value, rest)| (*value, rest.as_slice())),
        );
        known.sort_unstable();
        lookups(found, handler, function, &known, &tools);
        let next = tools.hand_on(found.index, function);
        pending
            .extend(next.into_iter().filter(|next| functions.len() < FUNCTIONS && functions.insert(*next)));
    }
    trail.names.sort_by_key(|(span, _)| (span.file, span.start));
    for (_, name) in trail.names {
        let tool = Found::plain(name);
        found.serve(handler, tool);
    }
    found.dispatcher(handler);
}

struct Trail {
    seen: FxHashSet<Spot>,
    pending: Vec<Spot>,
    names: Vec<(Span, Name)>,
    visited: usize,
}

impl Trail {
    fn add(&mut self, spot: Spot) {
        if self.seen.insert(spot.clone()) {
            self.pending.push(spot);
        }
    }

    /// What a path leaves of the way to the name, if it starts on it.
    fn rest(path: &AccessPath, value: Value, rest: &[Name]) -> Option<Vec<Name>> {
        if path.root != Root::Value(value) || path.fields.len() > rest.len() {
            return None;
        }
        let on_it = path.fields.iter().zip(rest).all(|(field, name)| name_of(field) == Some(&**name));
        on_it.then(|| rest.iter().skip(path.fields.len()).cloned().collect())
    }

    fn through(&mut self, index: &Index<'_>, function: u32, value: Value, rest: &[Name]) {
        let Some(unit) = index.unit(function) else { return };
        let of = |path: &AccessPath| Self::rest(path, value, rest);
        let of_term = |term: &Term| match term {
            Term::Path(path) => of(path),
            _ => None,
        };
        for effect in unit.function.effects() {
            match &effect.op {
                Op::Derive { into, term: Term::Path(path), .. }
                | Op::Read { into, of: Resource::Shared(path), .. } => {
                    if let Some(rest) = of(path) {
                        self.add((function, *into, rest));
                    }
                }
                // A name that went through `String(…)`, a default or a trim still is one.
                Op::Derive { into, from, .. }
                    if rest.is_empty() && from.contains(&value) && from.len() <= 2 =>
                {
                    self.add((function, *into, vec![]));
                }
                Op::Check { on, equal: Some(name), .. } if rest.is_empty() && on.contains(&value) => {
                    self.names.push((effect.span, name.clone()));
                }
                op => {
                    for (to, own, term) in handed(index, op) {
                        if let Some(rest) = of_term(term) {
                            self.add((to, own, rest));
                        }
                    }
                    let Op::Call { callee: Callee::Pending(site), .. } = op else { continue };
                    let Some(site) = index.site(*site) else { continue };
                    let Some((to, unit)) = index.target(site).and_then(|to| Some((to, index.unit(to)?)))
                    else {
                        continue;
                    };
                    for (parameter, argument) in unit.function.parameters.iter().zip(&site.arguments) {
                        for (name, member) in members(argument) {
                            if let Some(rest) = of_term(&member.term) {
                                self.add((to, *parameter, [vec![name.clone()], rest].concat()));
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What a step hands to other functions: to which, as which of their values, and what.
fn handed<'o>(index: &Index<'_>, op: &'o Op) -> Vec<(u32, Value, &'o Term)> {
    let mut handed = vec![];
    let mut taken = |closure: FunctionId, captures: &'o [Term]| {
        let own = index.unit(closure.0).map_or(&[][..], |unit| &unit.function.captures);
        handed.extend(own.iter().zip(captures).map(|(own, term)| (closure.0, *own, term)));
    };
    match op {
        Op::Closure { function, captures, .. } => taken(*function, captures),
        Op::Call { callee, arguments, .. } => {
            for argument in arguments {
                if let Argument::Closure { function, captures } = argument {
                    taken(*function, captures);
                }
            }
            let target = match callee {
                Callee::Closure { function, captures } => {
                    taken(*function, captures);
                    Some(function.0)
                }
                Callee::Function(function) => Some(function.0),
                Callee::Pending(site) => index.site(*site).and_then(|site| index.target(site)),
                _ => None,
            };
            if let Some((to, unit)) = target.and_then(|to| Some((to, index.unit(to)?))) {
                for (parameter, argument) in unit.function.parameters.iter().zip(arguments) {
                    if let Argument::Term(term) = argument {
                        handed.push((to, *parameter, term));
                    }
                }
            }
        }
        _ => {}
    }
    handed
}

fn members(arg: &Arg) -> impl Iterator<Item = (&Name, &Arg)> {
    let members = match &arg.shape {
        Shape::Object(members) => members.as_slice(),
        _ => &[],
    };
    members.iter().map(|(name, arg)| (name, arg))
}

/// The calls of a function that go where a name leads: `handlers[name](args)`, `tools.find(…).execute(args)`.
fn lookups<'i>(
    found: &mut Found<'_, 'i>,
    handler: u32,
    function: u32,
    names: &[(Value, &[Name])],
    tools: &Tools<'i>,
) {
    let index = found.index;
    let Some(unit) = index.unit(function) else { return };
    for effect in unit.function.effects() {
        let Op::Call { callee: Callee::Pending(number), .. } = &effect.op else { continue };
        let Some(callee) = index.site(*number).and_then(|site| site.callee.as_ref()) else { continue };
        let is_name = |field: &Field| match field {
            Field::At(Term::Path(path)) => names
                .iter()
                .any(|(value, rest)| Trail::rest(path, *value, rest).is_some_and(|rest| rest.is_empty())),
            _ => false,
        };
        let at = At::plain(function);
        let on = names.iter().find(|(_, rest)| rest.is_empty()).map(|(value, _)| *value);
        if let Some(position) = callee.fields.iter().position(is_name) {
            let (before, after) = callee.fields.split_at(position);
            let elements = collection(index, callee, before, &at);
            let Some(rest) = named(after.get(1..).unwrap_or_default()) else { continue };
            way(found, handler, (*number, on), &elements, &rest);
        } else if let Root::Value(value) = callee.root {
            let (Some((elements, mut rest)), Some(fields)) =
                (tools.looked_up(index, value, function, HELPERS), named(&callee.fields))
            else {
                continue;
            };
            rest.extend(fields);
            way(found, handler, (*number, on.or(Some(value))), &elements, &rest);
        }
    }
}

type Elements<'i> = Vec<(Option<Name>, Thing<'i>)>;

/// What was looked up by the name in one function and is called in another: a closure that has captured it, or a helper that is handed
/// it. By function and value; what it is one of, and the members that lead to it from there.
#[derive(Default)]
struct Tools<'i>(FxHashMap<(u32, Value), (Elements<'i>, Vec<Name>)>);

impl<'i> Tools<'i> {
    /// What a value is one of, and the members that lead to it from there: of what a call gives that looks up by itself, too.
    fn looked_up(
        &self,
        index: &Index<'i>,
        value: Value,
        function: u32,
        helpers: usize,
    ) -> Option<(Elements<'i>, Vec<Name>)> {
        if let Some(known) = self.0.get(&(function, value)) {
            return Some(known.clone());
        }
        let at = At::plain(function);
        let among = match index.choice(function, value) {
            Some(Choice::Item(_)) => return None,
            Some(Choice::Among(path, fields)) => collection(index, path, fields, &at),
            None => vec![],
        };
        let helpers = helpers.checked_sub(1);
        if !among.is_empty() {
            let others = helpers.map_or(vec![], |helpers| self.or_else(index, value, function, helpers));
            return Some((join(among, others), vec![]));
        }
        let helpers = helpers?;
        match index.definition(function, value)? {
            Definition::Path(path) if path.fields.iter().any(|field| name_of(field).is_none()) => {
                let (before, after) =
                    path.fields.split_at(path.fields.iter().position(|field| name_of(field).is_none())?);
                Some((collection(index, path, before, &at), named(after.get(1..)?)?))
            }
            Definition::Path(AccessPath { root: Root::Value(whole), fields }) => {
                let (elements, mut rest) = self.looked_up(index, *whole, function, helpers)?;
                rest.extend(named(fields)?);
                Some((elements, rest))
            }
            Definition::From(values) => {
                values.iter().take(2).find_map(|value| self.looked_up(index, *value, function, helpers))
            }
            Definition::Call(number) => {
                let helper = index.target(index.site(number)?)?;
                let mut returned =
                    index.unit(helper)?.function.effects().filter_map(|effect| match &effect.op {
                        Op::Exit(Exit::Return(values)) => match values.as_slice() {
                            [value] => Some(*value),
                            _ => None,
                        },
                        _ => None,
                    });
                returned.find_map(|value| self.looked_up(index, value, helper, helpers))
            }
            _ => None,
        }
    }

    /// What a value is one of where it is not found in the first collection: `own[name] ?? more.get(name)`.
    fn or_else(&self, index: &Index<'i>, value: Value, function: u32, helpers: usize) -> Elements<'i> {
        let effects = index.unit(function).map(|unit| unit.function.effects());
        let from = effects.into_iter().flatten().find_map(|effect| match &effect.op {
            Op::Derive { into, from, .. } if *into == value => Some(from.as_slice()),
            _ => None,
        });
        // The first is the way to the collection that is known already.
        let others = from.unwrap_or_default().iter().skip(1).take(MOST_TABLES);
        let found = others.filter_map(|other| self.looked_up(index, *other, function, helpers));
        found.filter(|(_, rest)| rest.is_empty()).flat_map(|(elements, _)| elements).collect()
    }

    /// Follows them one function further; says which functions have got some.
    fn hand_on(&mut self, index: &Index<'i>, function: u32) -> Vec<u32> {
        let effects = index.unit(function).into_iter().flat_map(|unit| unit.function.effects());
        let mut next = vec![];
        for (to, own, term) in effects.flat_map(|effect| handed(index, &effect.op)) {
            let Term::Path(AccessPath { root: Root::Value(value), fields }) = term else { continue };
            if self.0.contains_key(&(to, own)) {
                continue;
            }
            let (Some((elements, mut rest)), Some(fields)) =
                (self.looked_up(index, *value, function, HELPERS), named(fields))
            else {
                continue;
            };
            if elements.is_empty() {
                continue;
            }
            rest.extend(fields);
            self.0.insert((to, own), (elements, rest));
            next.push(to);
        }
        next
    }
}

/// The things of one collection, and those of another that go by names of their own.
fn join<'i>(mut one: Elements<'i>, other: Elements<'i>) -> Elements<'i> {
    for (name, thing) in other {
        if name.is_none() || one.iter().all(|(known, _)| *known != name) {
            one.push((name, thing));
        }
    }
    one
}

/// Some fields as names, if all of them are.
fn named(fields: &[Field]) -> Option<Vec<Name>> {
    fields.iter().map(|field| name_of(field).map(Name::from)).collect()
}

/// What is in the collection at the beginning of a path.
fn collection<'i>(index: &Index<'i>, path: &'i AccessPath, fields: &'i [Field], at: &At<'i>) -> Elements<'i> {
    let thing = index.receiver(fields, path, at, FUEL);
    let mut elements = index.elements(&thing, FUEL);
    if let Some(place) = place_at(&path.root, fields, index.owner(at.function)) {
        elements.extend(index.collected(&place));
    }
    elements
}

/// Writes down where a call goes for each thing that it may have been looked up as.
fn way<'i>(
    found: &mut Found<'_, 'i>,
    handler: u32,
    (site, on): (u32, Option<Value>),
    elements: &Elements<'i>,
    members: &[Name],
) {
    let index = found.index;
    let mut ways = vec![];
    let name_of =
        |key: &Option<Name>, thing: &Thing<'i>| key.clone().or_else(|| index.name_in(thing).text().cloned());
    let nameless = elements.iter().filter(|(key, thing)| name_of(key, thing).is_none()).count();
    for (key, thing) in elements.iter().take(WAYS) {
        let mut work = thing.clone();
        for member in members {
            work = index.member(work, member, FUEL);
        }
        let name = name_of(key, thing);
        for function in found.functions(&work) {
            // What is done with the one thing that stands for all tools is no tool of its own.
            let last = if nameless == 1 && !members.is_empty() { handler } else { function };
            let name = name.clone().unwrap_or_else(|| found.name_of(last));
            let tool = index.tool_in(name.clone(), thing);
            found.serve(handler, tool);
            if let Thing::Instance(class, _) | Thing::This(class) = thing {
                vary::inherited(found, function, *class, &name);
            }
            ways.push((name, FunctionId(function)));
        }
    }
    if !ways.is_empty() {
        found.dispatches.insert(site, Dispatch { site, on, ways });
    }
}
