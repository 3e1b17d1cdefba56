//! One handler for all tools: which names it tells apart, and where it goes for each.
//!
//! The name of the tool is followed from the request through locals, parameters and closures. A comparison with a text is a tool; a call
//! of something that was looked up by the name goes to one function per tool.

use std::collections::BTreeSet;

use interlock_model::{
    Span,
    ir::{
        AccessPath, Callee, Effect, Exit, Field, Function, FunctionId, Name, Op, Resource, Root, Term, Value,
    },
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    AbstractValue, Context, Dispatch,
    call_kind::CallKind,
    discovery::{Discovery, Listed},
    exact_name,
    index::{Definition, Index, compared},
    lookup::{Elements, Tools, called_function, collection, handed, named},
    per_tool,
    shape::{Written, objects},
};
use crate::{Arg, Shape, tables::Gives};

/// How many functions a name is followed through.
const FUNCTIONS: usize = 400;

/// How many ways one call may go. More would be a table that nobody wrote by hand.
const WAYS: usize = 300;

/// How deep in something that is returned the name may be.
const DEEPEST: usize = 4;

/// Where a name is: a value of a function, and the fields that lead to it from there.
type Spot = (u32, Value, Vec<Name>);

/// The handler of all calls of tools: `request.params.name` says which.
pub(super) fn calls(discovery: &mut Discovery<'_, '_>, function: u32) {
    // What a wrapper is handed, it hands on.
    let work = discovery.inside(function);
    let Some(unit) = discovery.index.unit(work) else { return discovery.entry(function) };
    let known = &discovery.index.sdk().dispatch;
    let (params, name): (Name, Name) = (known.parameters.as_str().into(), known.name.as_str().into());
    let head = unit.function;
    let named = |value: &&Value| head.values.get(value.0 as usize).is_some_and(|info| info.name == params);
    let mut spots = vec![];
    if let Some(first) = head.parameters.first() {
        // Where the handler is handed the name and not the request, there is no way to go.
        if known.handed {
            spots.push((work, *first, vec![]));
        }
        spots.push((work, *first, vec![params.clone(), name.clone()]));
    }
    spots.extend(head.parameters.iter().find(named).map(|params| (work, *params, vec![name])));
    follow(discovery, function, Trail::of(spots), true);
}

/// The tools that a server lists.
pub(super) fn lists(discovery: &mut Discovery<'_, '_>, function: u32) {
    let (index, function) = (discovery.index, discovery.inside(function));
    let package = discovery.package_of(function);
    let span = index.unit(function).map(|unit| unit.function.span).unwrap_or_default();
    let answer = index.returned(function, &Context::plain(function).env);
    let listed = &index.sdk().dispatch.listed;
    let tools = if listed.is_empty() { answer } else { index.member(answer, listed) };
    for tool in index.list(&tools) {
        if let AbstractValue::Text(name) = index.name_in(&tool) {
            discovery.listed.push(Listed { package, span, tool: index.tool_in(name, &tool) });
        }
    }
}

/// Functions that answer `tools/call` without a library.
pub(super) fn by_hand(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    for number in index.by_hand().iter().copied() {
        let Some(unit) = index.unit(number).filter(|_| !discovery.is_handler(number)) else { continue };
        let (mut spots, mut methods) = (vec![], vec![]);
        for effect in unit.function.effects() {
            for (on, text) in compared(&effect.op) {
                if **text == *index.sdk().dispatch.method {
                    spots.extend(on.iter().filter_map(|method| beside(index, number, *method)));
                    methods.extend_from_slice(on);
                }
            }
        }
        // A request that was decoded from a message is in the message as well, and may be decoded once more.
        let decoded: Vec<Spot> = unit
            .function
            .effects()
            .filter_map(|effect| match &effect.op {
                Op::Derive { into, from, .. } => Some((*into, from)),
                _ => None,
            })
            .flat_map(|(into, from)| from.iter().map(move |from| (into, *from)))
            .flat_map(|(into, from)| {
                let of_it = spots.iter().filter(move |spot| spot.1 == into && from != into);
                of_it.map(move |(function, _, rest)| (*function, from, rest.clone()))
            })
            .collect();
        spots.extend(decoded);
        if !spots.is_empty() {
            follow(discovery, number, Trail { methods: Some((number, methods)), ..Trail::of(spots) }, false);
        }
    }
    by_method(discovery);
}

/// Functions that are kept under `tools/call`, in a map or an object: they are handed what the request says, or all of it.
fn by_method(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    let known = &index.sdk().dispatch;
    let is_method = |name: &Name| **name == *known.method;
    let mut kept: Vec<AbstractValue<'_>> = vec![];
    for (_, site) in index.calls_that(CallKind::KEEPS) {
        if let [under, work, ..] = &*site.arguments
            && under.literal().is_some_and(is_method)
        {
            kept.push(index.evaluate(work, &Context::plain(site.within)));
        }
    }
    for Written { members, within, .. } in
        objects(index, |members| members.iter().any(|(name, _)| is_method(name)))
    {
        let work = members.iter().filter(|(name, _)| is_method(name));
        kept.extend(work.map(|(_, work)| index.evaluate(work, &Context::plain(within))));
    }
    let (params, name): (Name, Name) = (known.parameters.as_str().into(), known.name.as_str().into());
    for function in kept.iter().flat_map(|work| discovery.functions(work)).collect::<Vec<u32>>() {
        let first = index.unit(function).and_then(|unit| unit.function.parameters.first().copied());
        let Some(first) = first.filter(|_| !discovery.is_handler(function)) else { continue };
        let spots = vec![
            (function, first, vec![name.clone()]),
            (function, first, vec![params.clone(), name.clone()]),
        ];
        follow(discovery, function, Trail::of(spots), false);
    }
}

/// Where the name of the tool is, beside the method of a request.
fn beside(index: &Index<'_>, function: u32, method: Value) -> Option<Spot> {
    let known = &index.sdk().dispatch;
    let (params, name): (Name, Name) = (known.parameters.as_str().into(), known.name.as_str().into());
    match index.definition(function, method)? {
        Definition::Path(AccessPath { root: Root::Value(request), fields }) => {
            let (_, before) = fields.split_last()?;
            let mut rest: Vec<Name> =
                before.iter().map(|field| exact_name(field).map(Name::from)).collect::<Option<_>>()?;
            rest.extend([params, name]);
            Some((function, *request, rest))
        }
        // `request.get("method")`.
        Definition::Call(number) => {
            let (AccessPath { root: Root::Value(request), fields }, _) = entry_of(index, *number)? else {
                return None;
            };
            let mut rest: Vec<Name> = named(&fields)?;
            rest.extend([params, name]);
            Some((function, request, rest))
        }
        Definition::Parameter(_) => {
            let head = index.unit(function)?.function;
            let named = |value: &&Value| {
                head.values.get(value.0 as usize).is_some_and(|info| info.name.eq_ignore_ascii_case(&params))
            };
            Some((function, *head.parameters.iter().find(named)?, vec![name]))
        }
        _ => None,
    }
}

/// What a call looks up under a text, and the text: `request.get("params")`.
fn entry_of(index: &Index<'_>, number: u32) -> Option<(AccessPath, Name)> {
    let site = index.site(number)?;
    let callee = site.callee.as_ref()?;
    let (method, before) = callee.fields.split_last()?;
    let gets = index.builtins().gives(exact_name(method)?) == Some(Gives::Entry);
    let under = site.arguments.first().filter(|_| gets)?.literal()?.clone();
    Some((AccessPath { root: callee.root.clone(), fields: before.into() }, under))
}

/// Follows the name and gives the handler its tools.
fn follow(discovery: &mut Discovery<'_, '_>, handler: u32, mut trail: Trail, registered: bool) {
    discovery.entry(handler);
    let known = discovery.dispatches.len();
    let mut functions = BTreeSet::new();
    while let Some((function, value, rest)) = trail.pending.pop() {
        trail.visited += 1;
        if trail.visited > FUNCTIONS {
            break;
        }
        functions.insert(function);
        trail.through(discovery.index, function, value, &rest);
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
        tools.leave_out(discovery.index, function, &known);
        lookups(discovery, handler, function, &known, &tools);
        let next = tools.hand_on(discovery.index, function);
        pending
            .extend(next.into_iter().filter(|next| functions.len() < FUNCTIONS && functions.insert(*next)));
    }
    trail.names.sort_by_key(|(span, _)| (span.file, span.start));
    for (_, name) in trail.names {
        let tool = Discovery::plain(name);
        discovery.serve(handler, tool);
    }
    let settled = discovery.dispatches.len() > known;
    discovery.dispatcher(handler, registered, settled);
}

#[derive(Default)]
struct Trail {
    seen: FxHashSet<Spot>,
    pending: Vec<Spot>,
    names: Vec<(Span, Name)>,
    visited: usize,
    /// Where a function is told by the method of a request, the values that are compared with it: what stands behind another method
    /// is about other names.
    methods: Option<(u32, Vec<Value>)>,
    /// The calls that a function was handed the name by: who calls, and what comes of it.
    calls: FxHashMap<u32, Vec<(u32, Value)>>,
    /// Where the name is in what a function returns.
    returns: FxHashMap<u32, Vec<Vec<Name>>>,
}

impl Trail {
    fn of(spots: Vec<Spot>) -> Self {
        Self { seen: spots.iter().cloned().collect(), pending: spots, ..Self::default() }
    }

    /// A function was handed the name in a call, and gives something back.
    fn called(&mut self, to: u32, caller: u32, into: Value) {
        let calls = self.calls.entry(to).or_default();
        if calls.contains(&(caller, into)) {
            return;
        }
        calls.push((caller, into));
        for rest in self.returns.get(&to).cloned().unwrap_or_default() {
            self.add((caller, into, rest));
        }
    }

    /// A function gives the name back, as itself or inside of something.
    fn returned(&mut self, function: u32, rest: Vec<Name>) {
        let returns = self.returns.entry(function).or_default();
        if rest.len() > DEEPEST || returns.contains(&rest) {
            return;
        }
        returns.push(rest.clone());
        for (caller, into) in self.calls.get(&function).cloned().unwrap_or_default() {
            self.add((caller, into, rest.clone()));
        }
    }

    /// The steps of a function, without those that stand behind another method of a request.
    fn steps<'i>(&self, index: &Index<'i>, function: u32) -> Vec<&'i Effect> {
        let methods = match &self.methods {
            Some((of, methods)) if *of == function => methods.as_slice(),
            _ => &[],
        };
        let path = |value: &Value| match index.definition(function, *value) {
            Some(Definition::Path(path)) => Some(path),
            _ => None,
        };
        let is_method = |value: &Value| {
            methods.contains(value)
                || path(value).is_some_and(|own| methods.iter().any(|method| path(method) == Some(own)))
        };
        let is_other = |op: &Op| match op {
            Op::Check { on, equal: Some(text), .. } => {
                **text != *index.sdk().dispatch.method && on.iter().any(is_method)
            }
            _ => false,
        };
        let (mut steps, mut pending) = (vec![], vec![]);
        if let Some(unit) = index.unit(function) {
            pending.push(unit.function.body.iter());
        }
        while let Some(block) = pending.last_mut() {
            let Some(effect) = block.next() else {
                pending.pop();
                continue;
            };
            steps.push(effect);
            let behind_another = usize::from(is_other(&effect.op));
            let mut blocks: Vec<_> =
                effect.op.blocks().skip(behind_another).map(|block| block.iter()).collect();
            blocks.reverse();
            pending.append(&mut blocks);
        }
        steps
    }

    fn add(&mut self, spot: Spot) {
        if self.seen.insert(spot.clone()) {
            self.pending.push(spot);
        }
    }

    /// Something was made of a message, or of a part of it.
    fn decoded(&mut self, function: u32, into: Value, rest: &[Name]) {
        self.add((function, into, rest.to_vec()));
        if let Some((_, inner)) = rest.split_first().filter(|(_, inner)| !inner.is_empty()) {
            self.add((function, into, inner.to_vec()));
        }
    }

    /// What a path leaves of the way to the name, if it starts on it.
    fn rest(path: &AccessPath, value: Value, rest: &[Name]) -> Option<Vec<Name>> {
        if path.root != Root::Value(value) || path.fields.len() > rest.len() {
            return None;
        }
        // `params["name"]` of a message that was decoded to a map is what `params.Name` is of one that became a struct.
        let is = |field: &Field, name: &Name| {
            exact_name(field).is_some_and(|field| field.eq_ignore_ascii_case(name))
        };
        let on_it = path.fields.iter().zip(rest).all(|(field, name)| is(field, name));
        on_it.then(|| rest.iter().skip(path.fields.len()).cloned().collect())
    }

    fn through(&mut self, index: &Index<'_>, function: u32, value: Value, rest: &[Name]) {
        let Some(unit) = index.unit(function) else { return };
        let of = |path: &AccessPath| Self::rest(path, value, rest);
        let of_term = |term: &Term| match term {
            Term::Path(path) => of(path),
            _ => None,
        };
        // What a closure takes along it has, however it comes to be called.
        for closure in index.closures(function).iter().copied() {
            let Some((_, terms)) = index.captured(closure).filter(|(within, _)| *within == function) else {
                continue;
            };
            let own = index.unit(closure).map_or(&[][..], |unit| &unit.function.captures);
            for (own, term) in own.iter().zip(terms) {
                if let Some(rest) = of_term(term) {
                    self.add((closure, *own, rest));
                }
            }
        }
        for rest in unit.returned.iter().flat_map(|arg| ways_in(arg, &of_term, DEEPEST)) {
            self.returned(function, rest);
        }
        for effect in self.steps(index, function) {
            match &effect.op {
                Op::Exit(Exit::Return(values)) if values.as_slice() == [value] => {
                    self.returned(function, rest.to_vec());
                }
                Op::Derive { into, term: Term::Path(path), .. }
                | Op::Read { into, of: Resource::Shared(path), .. } => {
                    if let Some(rest) = of(path) {
                        self.add((function, *into, rest));
                    } else if let Op::Derive { from, .. } = &effect.op
                        && from.contains(&value)
                        && !matches!(path.root, Root::Value(whole) if from.contains(&whole))
                        && may_hold(unit.function, *into, rest)
                    {
                        // `json.Unmarshal(raw, &params)`: what is decoded has the name where the message has it.
                        self.decoded(function, *into, rest);
                    }
                }
                Op::Derive { into, from, .. }
                    if from.contains(&value) && may_hold(unit.function, *into, rest) =>
                {
                    self.decoded(function, *into, rest);
                }
                // A name that went through `String(…)`, a default or a trim still is one.
                Op::Derive { into, from, .. }
                    if rest.is_empty() && from.contains(&value) && from.len() <= 2 =>
                {
                    self.add((function, *into, vec![]));
                }
                op @ Op::Check { .. } if rest.is_empty() => {
                    // Whoever asks whether a name was given at all has none in mind.
                    let names = compared(op).filter(|(on, name)| {
                        on.contains(&value) && !name.is_empty() && !name.contains(char::is_whitespace)
                    });
                    self.names.extend(names.map(|(_, name)| (effect.span, name.clone())));
                }
                op => {
                    let into = match op {
                        Op::Call { into, .. } => *into,
                        _ => None,
                    };
                    let target = called_function(index, function, op);
                    for (to, own, term) in handed(index, function, op) {
                        if let Some(rest) = of_term(term) {
                            self.add((to, own, rest));
                            if let Some(into) = into.filter(|_| target == Some(to)) {
                                self.called(to, function, into);
                            }
                        }
                    }
                    let Op::Call { callee: Callee::Pending(number), .. } = op else { continue };
                    if let (Some(into), Some((from, under))) = (into, entry_of(index, *number))
                        && let Some((first, rest)) = of(&from).as_deref().and_then(<[Name]>::split_first)
                        && *first == under
                    {
                        self.add((function, into, rest.to_vec()));
                        continue;
                    }
                    let Some(site) = index.site(*number) else { continue };
                    let Some((to, unit)) = target.and_then(|to| Some((to, index.unit(to)?))) else {
                        // `name.trim()` is the name.
                        let method = site.callee.as_ref().and_then(|callee| callee.fields.split_last());
                        if let (Some(into), Some((method, before)), Some(callee)) =
                            (into, method, &site.callee)
                            && exact_name(method)
                                .is_some_and(|method| index.builtins().computes(method).is_some())
                            && of(&AccessPath { root: callee.root.clone(), fields: before.into() })
                                .is_some_and(|rest| rest.is_empty())
                        {
                            self.add((function, into, vec![]));
                        }
                        continue;
                    };
                    for (parameter, argument) in unit.function.parameters.iter().zip(&site.arguments) {
                        for (name, member) in members(argument) {
                            if let Some(rest) = of_term(&member.term) {
                                self.add((to, *parameter, [vec![name.clone()], rest].concat()));
                                if let Some(into) = into {
                                    self.called(to, function, into);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether something that was made of a message may have the name in it as the message has: what is decoded has, an error has not.
fn may_hold(function: &Function, into: Value, rest: &[Name]) -> bool {
    let name = function.values.get(into.0 as usize).map_or("", |info| &*info.name);
    !rest.is_empty() && !name.ends_with("err") && !name.ends_with("Err") && name != "ok"
}

/// Where the name is in something that is written out.
fn ways_in(arg: &Arg, of_term: &impl Fn(&Term) -> Option<Vec<Name>>, depth: usize) -> Vec<Vec<Name>> {
    let Some(depth) = depth.checked_sub(1) else { return vec![] };
    let mut ways: Vec<Vec<Name>> = of_term(&arg.term).into_iter().collect();
    match &arg.shape {
        Shape::Choice(parts) => ways.extend(parts.iter().flat_map(|part| ways_in(part, of_term, depth))),
        Shape::Object(members) => {
            for (name, member) in members {
                let inside = ways_in(member, of_term, depth).into_iter();
                if &**name == "..." {
                    ways.extend(inside);
                } else {
                    ways.extend(inside.map(|rest| [vec![name.clone()], rest].concat()));
                }
            }
        }
        _ => {}
    }
    ways
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
    discovery: &mut Discovery<'_, 'i>,
    handler: u32,
    function: u32,
    names: &[(Value, &[Name])],
    tools: &Tools<'i>,
) {
    let index = discovery.index;
    let Some(unit) = index.unit(function) else { return };
    for effect in unit.function.effects() {
        let Op::Call { callee: Callee::Pending(number), .. } = &effect.op else { continue };
        let Some(callee) = index.site(*number).and_then(|site| site.callee.as_ref()) else { continue };
        let is_name = |field: &Field| match field {
            Field::At(Term::Path(path)) => names
                .iter()
                .any(|(value, rest)| Trail::rest(path, *value, rest).is_some_and(|rest| rest.is_empty())),
            // `getattr(self, f"tool_{name}")(…)`.
            Field::At(Term::Join(parts)) => parts.iter().any(|part| {
                let Term::Path(path) = part else { return false };
                let mut names = names.iter();
                names.any(|(value, rest)| Trail::rest(path, *value, rest).is_some_and(|rest| rest.is_empty()))
            }),
            _ => false,
        };
        let at = Context::plain(function);
        let on = names.iter().find(|(_, rest)| rest.is_empty()).map(|(value, _)| *value);
        if let Some(position) = callee.fields.iter().position(is_name) {
            let (before, after) = callee.fields.split_at(position);
            let elements = collection(index, callee, before, &at);
            let Some(rest) = named(after.get(1..).unwrap_or_default()) else { continue };
            write_dispatch(discovery, handler, (*number, on), &elements, &rest);
        } else if let Root::Value(value) = callee.root {
            let (Some((elements, mut rest)), Some(fields)) =
                (tools.resolve_lookup(index, value, function), named(&callee.fields))
            else {
                continue;
            };
            rest.extend(fields);
            write_dispatch(discovery, handler, (*number, on.or(Some(value))), &elements, &rest);
        }
    }
}

/// Writes down where a call goes for each thing that it may have been looked up as.
fn write_dispatch<'i>(
    discovery: &mut Discovery<'_, 'i>,
    handler: u32,
    (site, on): (u32, Option<Value>),
    elements: &Elements<'i>,
    members: &[Name],
) {
    let index = discovery.index;
    let mut ways = vec![];
    let name_of = |key: &Option<Name>, thing: &AbstractValue<'i>| {
        key.clone().or_else(|| index.name_in(thing).text().cloned())
    };
    let nameless = elements.iter().filter(|(key, thing)| name_of(key, thing).is_none()).count();
    for (key, thing) in elements.iter().take(WAYS) {
        let mut work = thing.clone();
        for member in members {
            work = index.member(work, member);
        }
        let name = name_of(key, thing);
        for function in discovery.functions(&work) {
            // What is done with the one thing that stands for all tools is no tool of its own.
            let last = if nameless == 1 && !members.is_empty() { handler } else { function };
            let name = name.clone().unwrap_or_else(|| discovery.name_of(last));
            let tool = index.tool_in(name.clone(), thing);
            discovery.serve(handler, tool);
            if let AbstractValue::Instance(class, _) = thing {
                per_tool::inherited(discovery, function, *class, &name);
            }
            ways.push((name, FunctionId(function)));
        }
    }
    if !ways.is_empty() {
        discovery.dispatches.insert(site, Dispatch { site, on, ways });
    }
}
