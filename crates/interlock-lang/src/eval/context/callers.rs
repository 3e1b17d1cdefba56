//! The ways to reach a place: who calls the function that registers, with what, and which things a loop goes over.
//!
//! They are opened on demand. What is asked says on whom it depends; that one's callers or things become assumptions, and it is asked
//! again under each of them.

use interlock_model::ir::{AccessPath, Argument, Field, Name, Root, Term, Value};

use super::{Context, Contexts, Env, Unbound, env::Assumed, facts::Caller, results::split_method};
use crate::{
    Arg, Shape,
    eval::{
        index::Definition,
        key::{exact_name, exact_place},
        value::AbstractValue,
    },
    module::{Site, Variable},
    tables::{Collection, Does, Gives},
};

/// A value that is one of several things.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Choice<'f> {
    /// One after the other.
    Item(&'f Arg),
    /// One of the things at the first fields of a path.
    Among(&'f AccessPath, &'f [Field]),
}

/// How many ways to reach one place are looked at.
const WAYS: usize = 2_000;

/// How many functions that a closure may be handed to are looked at.
const RECEIVERS: usize = 100;

/// How many members of an object are asked for who decides what they are.
const MEMBERS: usize = 32;

/// How many decisions one way may take: functions that register for others, loops.
const DECISIONS: usize = 8;

impl<'f> Contexts<'f> {
    /// The assumptions under which `ask` finds nothing left open in a function; one set per way there. A way whose end stays open is
    /// among them. Of several things that are open the first is decided that somebody decides.
    pub(crate) fn caller_contexts<O>(&self, function: u32, ask: impl Fn(&Context<'f>) -> O) -> Vec<Env<'f>>
    where
        O: IntoIterator<Item = Unbound>,
    {
        let (mut done, mut pending) = (vec![], vec![(Env::default(), DECISIONS)]);
        while let Some((env, left)) = pending.pop() {
            let at = Context { function, env };
            let more = left > 0 && done.len() + pending.len() < WAYS;
            let open = ask(&at).into_iter().filter(|_| more);
            let mut decided = open.map(|open| self.decide(open, &at.env, DECISIONS));
            let ways = decided.find(|ways| !ways.is_empty()).unwrap_or_default();
            if ways.is_empty() {
                done.push(at.env);
            } else {
                // The last one in is the first one out, and the order of the source is kept.
                pending.extend(ways.into_iter().rev().map(|env| (env, left - 1)));
            }
        }
        done
    }

    /// The same assumptions with one more decision, in all ways that it can go; none if nobody decides.
    fn decide(&self, unbound: Unbound, env: &Env<'f>, depth: usize) -> Vec<Env<'f>> {
        let Some(depth) = depth.checked_sub(1) else { return vec![] };
        let (function, item, list) = match unbound {
            Unbound::Parameters(function) => {
                let called = self.called(function, env);
                if !called.is_empty() {
                    return called;
                }
                let Some(list) = self.gone_over(function, env) else {
                    let handed = self.handed_on(function, env);
                    return if handed.is_empty() { self.called_alike(function, env) } else { handed };
                };
                let parameters = self.unit(function).map_or(&[][..], |unit| &unit.function.parameters);
                let Some(item) = parameters.first() else { return vec![] };
                (function, *item, list)
            }
            Unbound::Item(function, item) => {
                let Some(choice) = self.choice(function, item) else { return vec![] };
                let at = Context { function, env: env.clone() };
                let list = self.chosen_from(choice, &at);
                let list = match choice {
                    Choice::Item(Arg { term: Term::Path(path), .. })
                        if !matches!(path.root, Root::Value(_)) =>
                    {
                        self.with_collected(list, path, &path.fields, &at, true)
                    }
                    Choice::Item(given) => self.gotten(list, given, &at),
                    Choice::Among(path, fields) => self.with_collected(list, path, fields, &at, false),
                };
                (function, item, list)
            }
            Unbound::This(class) => {
                let leaf = |class: &usize| self.descendants(*class).is_empty();
                let actual = self.descendants(class).into_iter().filter(leaf);
                return actual.map(|actual| env.with_this(class, actual)).collect();
            }
        };
        match self.settle(list) {
            AbstractValue::Unbound(outer) if outer != unbound => self.decide(outer, env, depth),
            list => {
                let bind = |thing| env.with(function, vec![(item, Assumed::Value(thing))]);
                self.turns(&list).into_iter().map(bind).collect()
            }
        }
    }

    /// What a value of a function is one of, if it is: a loop's item, `tools.find(…)`, `tools[name]`.
    pub(crate) fn choice(&self, function: u32, value: Value) -> Option<Choice<'f>> {
        let unit = self.unit(function)?;
        if let Some((_, list)) = unit.items.iter().find(|(item, _)| *item == value) {
            return Some(Choice::Item(list));
        }
        match self.definition(function, value)? {
            Definition::Call(number) => {
                let site = self.site(*number)?;
                let callee = site.callee.as_ref()?;
                let (method, receiver) = split_method(callee)?;
                let is_entry = matches!(self.eval.builtins.does(method), Some(Does::Get | Does::Each))
                    && self.eval.builtins.gives(method) == Some(Gives::Entry);
                // A method of the tree that is called like that says itself what it gives.
                let is_own = || !matches!(callee.root, Root::Value(_)) && self.target(site).is_some();
                (is_entry && !is_own()).then_some(Choice::Among(callee, receiver))
            }
            Definition::Path(path) => {
                let (last, before) = path.fields.split_last()?;
                exact_name(last).is_none().then_some(Choice::Among(path, before))
            }
            _ => None,
        }
    }

    /// The collection behind a choice.
    pub(crate) fn chosen_from(&self, choice: Choice<'f>, at: &Context<'f>) -> AbstractValue<'f> {
        match choice {
            Choice::Item(list) => self.evaluate(list, at),
            Choice::Among(path, fields) => self.receiver(fields, path, at),
        }
    }

    /// The assumptions that the callers of a function bring.
    fn called(&self, function: u32, env: &Env<'f>) -> Vec<Env<'f>> {
        let parameters =
            self.unit(function).map_or(&[][..], |unit| &unit.function.parameters).iter().copied();
        let bind = |caller: &Caller<'f>| {
            let bound: Vec<_> = match caller {
                Caller::Site(number) => {
                    let site = self.site(*number)?;
                    let arguments = site.arguments.iter().map(|arg| Assumed::Arg(arg, site.within));
                    let bound = parameters.clone().zip(arguments).collect();
                    // What made the closure was told things as well, and they belong together.
                    let at = Context { function: site.within, env: env.clone() };
                    return match self.closure_called(site, &at) {
                        Some((closure, made)) if closure == function => Some(made.with(function, bound)),
                        _ => Some(env.with(function, bound)),
                    };
                }
                Caller::Decorator(number) => return self.decorating(*number, function, env),
                Caller::Registration(number) => return self.registering(*number, function, env),
                Caller::Step(within, arguments) => {
                    let arguments = arguments.iter().map(|argument| match argument {
                        Argument::Term(term) => Assumed::Term(term, *within),
                        Argument::Closure { function, .. } => {
                            Assumed::Value(AbstractValue::Function(*function, env.clone()))
                        }
                    });
                    parameters.clone().zip(arguments).collect()
                }
            };
            Some(env.with(function, bound))
        };
        self.callers(function).iter().filter_map(bind).collect()
    }

    /// The assumptions that those bring whom a closure is handed to, where they call it: `client.offer((about, work) => …)`, and each
    /// client of the tree offers its tools with that.
    fn handed_on(&self, function: u32, env: &Env<'f>) -> Vec<Env<'f>> {
        let Some((number, position)) = self.handed(function) else { return vec![] };
        let Some(site) = self.site(number) else { return vec![] };
        let named = |method: &str| -> Vec<u32> {
            let methods = self.eval.flat.classes.iter().flat_map(|class| &class.methods);
            methods.filter(|(name, _)| &**name == method).map(|(_, function)| *function).collect()
        };
        let receivers = match (self.target(site), site.callee.as_ref().and_then(split_method)) {
            (Some(target), _) => vec![target],
            (None, Some((method, _))) => named(method),
            (None, None) => vec![],
        };
        let parameters = self.unit(function).map_or(&[][..], |unit| &unit.function.parameters);
        let mut found = vec![];
        for receiver in receivers.into_iter().take(RECEIVERS) {
            let unit = self.unit(receiver);
            let Some(given) = unit.and_then(|unit| unit.function.parameters.get(position)) else { continue };
            let given = AccessPath::from(*given);
            let calls = self.inside(receiver).iter().filter_map(|number| self.site(*number));
            for call in calls.filter(|call| call.callee.as_ref() == Some(&given)) {
                let arguments = call.arguments.iter().map(|arg| Assumed::Arg(arg, call.within));
                found.push(env.with(function, parameters.iter().copied().zip(arguments).collect()));
            }
        }
        found
    }

    /// The assumptions that calls bring which name the member of an object that a function is, where nothing is known of the object:
    /// `context.offer("add", …)`, and the only `offer` of the tree is in what somebody has made to be handed about.
    fn called_alike(&self, function: u32, env: &Env<'f>) -> Vec<Env<'f>> {
        let Some(unit) = self.unit(function) else { return vec![] };
        let (name, parameters) = (last_part(&unit.function.name), &unit.function.parameters);
        let is_common = self.eval.knowledge.tables().lexicon().common_methods.contains(name);
        if is_common || name == "closure" || parameters.len() < 2 {
            return vec![];
        }
        if self.functions.iter().filter(|function| last_part(&function.name) == name).count() > 1 {
            return vec![];
        }
        let bind = |site: &'f Site| {
            let arguments = site.arguments.iter().map(|arg| Assumed::Arg(arg, site.within));
            env.with(function, parameters.iter().copied().zip(arguments).collect())
        };
        let fits = |site: &&'f Site| (2..=parameters.len()).contains(&site.arguments.len());
        self.calls_of_method(name).filter(fits).map(bind).collect()
    }

    /// The list that a closure is called for each thing of: `tools.forEach((tool) => …)`.
    fn gone_over(&self, function: u32, env: &Env<'f>) -> Option<AbstractValue<'f>> {
        let (number, argument) = self.handed(function)?;
        let site = self.site(number)?;
        let callee = site.callee.as_ref()?;
        let (method, receiver) = split_method(callee)?;
        if argument != 0 || !self.eval.builtins.hands_entry(method) {
            return None;
        }
        let at = Context { function: site.within, env: env.clone() };
        Some(self.with_collected(self.receiver(receiver, callee, &at), callee, receiver, &at, false))
    }

    /// The collection at the first fields of a path with what is put into it, wherever that is written: a registry. Who goes over a map
    /// itself gets `pairs` of name and value.
    fn with_collected(
        &self,
        list: AbstractValue<'f>,
        path: &'f AccessPath,
        fields: &'f [Field],
        at: &Context<'f>,
        pairs: bool,
    ) -> AbstractValue<'f> {
        let place = exact_place(&path.root, fields, self.owner(at.function));
        let more = place.map(|place| self.collected(&place)).unwrap_or_default();
        if more.is_empty() {
            return list;
        }
        let pairs = pairs && self.is_map(&self.settle(list.clone()));
        let turn = |(name, thing): (Option<Name>, AbstractValue<'f>)| match name {
            Some(name) if pairs => AbstractValue::Items([AbstractValue::Text(name), thing].into()),
            _ => thing,
        };
        let own = self.elements(&list).into_iter();
        AbstractValue::Items(own.chain(more).map(turn).collect())
    }

    /// A collection that a method gives which has nothing else to do, with what is put into it: `for _, tool := range registry.Tools()`.
    fn gotten(&self, list: AbstractValue<'f>, given: &'f Arg, at: &Context<'f>) -> AbstractValue<'f> {
        let call = match (&given.shape, &given.term) {
            (Shape::Call(number), _) => Some(*number),
            (_, Term::Path(AccessPath { root: Root::Value(value), fields })) if fields.is_empty() => {
                match self.definition(at.function, *value) {
                    Some(Definition::Call(number)) => Some(*number),
                    _ => None,
                }
            }
            _ => None,
        };
        let getter = call.and_then(|number| self.target(self.site(number)?));
        let Some((getter, unit)) = getter.and_then(|getter| Some((getter, self.unit(getter)?))) else {
            return list;
        };
        let place = unit.returned_values().find_map(|value| match self.definition(getter, value)? {
            Definition::Path(path) if matches!(path.root, Root::This | Root::Global(_)) => Some(path),
            _ => None,
        });
        match place {
            Some(path) => self.with_collected(list, path, &path.fields, &at.go(getter), true),
            None => list,
        }
    }

    /// Whether something is a map of the language that is made there.
    fn is_map(&self, thing: &AbstractValue<'f>) -> bool {
        let AbstractValue::Call(number, _) = thing else { return false };
        let callee = self.site(*number).filter(|site| site.construct).and_then(|site| site.callee.as_ref());
        match callee {
            Some(AccessPath { root: Root::Global(name), fields }) if fields.is_empty() => {
                self.eval.builtins.collection("", name) == Some(Collection::Map)
            }
            _ => false,
        }
    }

    /// What is put into the collection at a place, wherever that is written.
    pub(crate) fn collected(&self, place: &str) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        let mut found = self.put_in(self.kept(place));
        found.extend(self.filling(|| self.set_in(&self.entered(place))));
        found
    }

    /// What is set in an object: `tools[tool.name] = tool`.
    fn set_in(&self, entered: &[&'f Variable]) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        let mut found = vec![];
        for variable in entered.iter().take(WAYS) {
            let (Some(initial), Some(key)) = (&variable.initial, variable.path.fields.last()) else {
                continue;
            };
            let under = |at: &Context<'f>| match key {
                Field::At(Term::Path(path)) => self.settle(self.path(path, at)),
                Field::Name(name) | Field::At(Term::Literal(name)) => AbstractValue::Text(name.clone()),
                Field::At(_) => AbstractValue::Unknown,
            };
            let value = |at: &Context<'f>| self.evaluate(initial, at);
            let made = match initial.shape {
                Shape::Call(number) => self.site(number),
                _ => None,
            };
            let ask = |at: &Context<'f>| {
                let own = under(at).unbound().into_iter().chain(self.settle(value(at)).unbound());
                let mut parts = made.map(|site| self.unbound_in(site, at)).unwrap_or_default();
                if let Shape::Object(members) = &initial.shape {
                    let members = members.iter().take(MEMBERS);
                    parts
                        .extend(members.filter_map(|(_, arg)| self.settle(self.evaluate(arg, at)).unbound()));
                }
                let mut open: Vec<Unbound> = own.chain(parts).collect();
                // Who calls the function that keeps it says what belongs together.
                open.sort_by_key(|open| *open != Unbound::Parameters(variable.within));
                open
            };
            for env in self.caller_contexts(variable.within, ask) {
                let at = Context { function: variable.within, env };
                found.push((under(&at).text().cloned(), value(&at)));
            }
        }
        found
    }

    /// What calls put into a collection: `tools.push(tool)`, `handlers.set(name, handler)`.
    pub(crate) fn put_in(&self, calls: &[u32]) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        self.filling(|| self.put_by(calls))
    }

    fn put_by(&self, calls: &[u32]) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        let mut found = vec![];
        for number in calls.iter().take(WAYS) {
            let Some(site) = self.site(*number) else { continue };
            let method = site.callee.as_ref().and_then(split_method).map(|(method, _)| method);
            for env in self.caller_contexts(site.within, |at| self.unbound_in(site, at)) {
                let at = Context { function: site.within, env };
                let mut things = site.arguments.iter().map(|arg| self.evaluate(arg, &at));
                if method.and_then(|method| self.eval.builtins.does(method)) == Some(Does::Set) {
                    if let (Some(key), Some(thing)) = (things.next(), things.next()) {
                        found.push((self.settle(key).text().cloned(), thing));
                    }
                } else {
                    things.for_each(|thing| match self.settle(thing) {
                        // `tools.push(...more)`.
                        thing @ (AbstractValue::List(..)
                        | AbstractValue::Items(_)
                        | AbstractValue::Alternatives(_)) => found.extend(self.elements(&thing)),
                        thing => found.push((None, thing)),
                    });
                }
            }
        }
        found
    }

    /// Who decides what the arguments of a call are, and what the members are of objects among them: the callers of its own function first.
    fn unbound_in(&self, site: &'f Site, at: &Context<'f>) -> Vec<Unbound> {
        let mut found = vec![];
        for arg in &site.arguments {
            let thing = self.settle(self.evaluate(arg, at));
            found.extend(thing.unbound());
            if let AbstractValue::Object(members, at) = &thing {
                let members = members.iter().take(MEMBERS);
                found.extend(members.filter_map(|(_, arg)| self.settle(self.evaluate(arg, at)).unbound()));
            }
        }
        found.sort_by_key(|open| *open != Unbound::Parameters(site.within));
        found
    }

    /// What a loop over something is at, turn by turn. Of the entries of an object that is a pair of name and value.
    fn turns(&self, list: &AbstractValue<'f>) -> Vec<AbstractValue<'f>> {
        let pairs = matches!(list, AbstractValue::Entries(_));
        let turn = |(name, thing): (Option<Name>, AbstractValue<'f>)| match name {
            Some(name) if pairs => AbstractValue::Items([AbstractValue::Text(name), thing].into()),
            _ => thing,
        };
        self.elements(list).into_iter().map(turn).collect()
    }
}

/// The last part of what a function is called.
pub(super) fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
