//! What a call comes to, as far as that is needed to find tools: an object that was made, a function that was returned, a list that was
//! passed on.

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Value};

use super::{Context, Contexts, Env, env::Assumed};
use crate::{
    Arg, Shape,
    call::COMPUTED_KEY,
    eval::{key::exact_name, value::AbstractValue},
    module::Site,
    tables::{Gives, Makes},
};

/// How many things of a list are looked at.
const THINGS: usize = 1_000;

impl<'f> Contexts<'f> {
    /// The same thing, with a call replaced by what it comes to where that is known.
    pub(crate) fn settle(&self, thing: AbstractValue<'f>) -> AbstractValue<'f> {
        let AbstractValue::Call(number, at) = &thing else { return thing };
        let Some(site) = self.site(*number) else { return thing };
        // What a call comes to may depend on itself: `this.tasks = this.tasks.filter(…)`.
        let (asking, look) = (&self.eval.asking, || self.deeper(|| self.result(site, at)));
        let result = match at.env.is_empty() {
            true => self.results.answer(asking, *number, AbstractValue::Unknown, look),
            false => self.results.answer_again(asking, *number, AbstractValue::Unknown, look),
        };
        match result {
            AbstractValue::Unknown => thing,
            AbstractValue::Call(next, at) if next != *number => {
                self.deeper(|| self.settle(AbstractValue::Call(next, at)))
            }
            result => result,
        }
    }

    /// What a call of a function of the tree, a constructor or a well-known function of the language comes to.
    fn result(&self, site: &'f Site, at: &Context<'f>) -> AbstractValue<'f> {
        let Some(callee) = &site.callee else { return AbstractValue::Unknown };
        let at = at.go(site.within);
        let passed = self.passed(site, callee, &at);
        if !matches!(passed, AbstractValue::Unknown) {
            return passed;
        }
        // What is called may itself be what another call has given back.
        match self.settle(self.path(callee, &at)) {
            AbstractValue::Class(class) => AbstractValue::Instance(class, self.constructed(class, site, &at)),
            AbstractValue::Function(FunctionId(function), env) => {
                let bound = self.handed_over(function, site, &at);
                self.returned(function, &env.with(function, bound))
            }
            unbound @ AbstractValue::Unbound(_) => unbound,
            _ => AbstractValue::Unknown,
        }
    }

    /// What is assumed in the constructors of an object: what the call hands over, and what each of them hands to the one above.
    fn constructed(&self, class: usize, site: &'f Site, at: &Context<'f>) -> Env<'f> {
        let (mut site, mut at) = (site, at.clone());
        for class in self.ancestry(class) {
            let own = class.methods.iter().find(|(name, _)| Some(&**name) == self.eval.semantics.constructor);
            let Some((_, constructor)) = own else { continue };
            let bound = self.handed_over(*constructor, site, &at);
            at = Context { function: *constructor, env: at.env.with(*constructor, bound) };
            let is_above = |site: &&'f Site| {
                let callee = site.callee.as_ref().filter(|callee| callee.fields.is_empty());
                callee.is_some_and(
                    |callee| matches!(&callee.root, Root::Global(name) if Some(&**name) == self.eval.semantics.above),
                )
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
    pub(crate) fn returned(&self, function: u32, env: &Env<'f>) -> AbstractValue<'f> {
        let Some(unit) = self.unit(function) else { return AbstractValue::Unknown };
        let at = Context { function, env: env.clone() };
        let mut first = AbstractValue::Unknown;
        for arg in unit.returned {
            // Of a function that returns a tool object or something that makes one, the object says more.
            match (self.evaluate(arg, &at), &first) {
                (
                    thing @ (AbstractValue::Object(..)
                    | AbstractValue::List(..)
                    | AbstractValue::Alternatives(_)
                    | AbstractValue::Instance(..)),
                    _,
                ) => {
                    return thing;
                }
                (thing, AbstractValue::Unknown) => first = thing,
                _ => {}
            }
        }
        if !matches!(first, AbstractValue::Unknown | AbstractValue::Function(..)) {
            return first;
        }
        for value in unit.returned_values() {
            let found = self.value(value, &at);
            // The same of what was handed in: `if (typeof tool === "function") return (args) => tool(args); return tool;`.
            match (&first, &found) {
                (_, AbstractValue::Unknown) => {}
                (AbstractValue::Unknown, _)
                | (_, AbstractValue::Object(..) | AbstractValue::Instance(..)) => {
                    return found;
                }
                _ => {}
            }
        }
        first
    }

    /// Every function that a call may come to: a wrapper may hand back what it was given, or something in its place.
    pub(crate) fn functions_of(&self, call: &AbstractValue<'f>) -> Vec<(u32, Env<'f>)> {
        let mut found: Vec<(u32, Env<'f>)> = vec![];
        let mut add = |thing: AbstractValue<'f>| match thing {
            AbstractValue::Function(FunctionId(function), env)
                if found.iter().all(|(known, _)| *known != function) =>
            {
                found.push((function, env));
            }
            _ => {}
        };
        add(self.settle(call.clone()));
        let AbstractValue::Call(number, at) = call else { return found };
        let Some((site, callee)) = self.site(*number).and_then(|site| Some((site, site.callee.as_ref()?)))
        else {
            return found;
        };
        let at = at.go(site.within);
        if let AbstractValue::Function(FunctionId(function), env) = self.settle(self.path(callee, &at))
            && let Some(unit) = self.unit(function)
        {
            let env = env.with(function, self.handed_over(function, site, &at));
            let at = Context { function, env };
            for arg in unit.returned {
                add(self.settle(self.evaluate(arg, &at)));
            }
            unit.returned_values().for_each(|value| add(self.settle(self.value(value, &at))));
        }
        found
    }

    /// The arguments of a call as assumptions about the parameters of a function.
    pub(crate) fn handed_over(
        &self,
        function: u32,
        site: &'f Site,
        at: &Context<'f>,
    ) -> Vec<(Value, Assumed<'f>)> {
        let parameters = self.unit(function).map_or(&[][..], |unit| &unit.function.parameters);
        if let ([only], true) = (&*site.arguments, self.eval.semantics.tuples && parameters.len() > 1) {
            let whole = self.settle(self.evaluate(only, at));
            if matches!(whole, AbstractValue::List(..)) {
                let part = |(number, value): (usize, &Value)| {
                    (*value, Assumed::Value(self.member(whole.clone(), &number.to_string())))
                };
                return parameters.iter().enumerate().map(part).collect();
            }
        }
        let arguments = site.arguments.iter().map(|arg| Assumed::Value(self.evaluate(arg, at)));
        parameters.iter().copied().zip(arguments).collect()
    }

    /// What well-known functions of the language pass on.
    fn passed(&self, site: &'f Site, callee: &'f AccessPath, at: &Context<'f>) -> AbstractValue<'f> {
        let first = |index: &Self| {
            site.arguments.first().map_or(AbstractValue::Unknown, |arg| index.evaluate(arg, at))
        };
        let Some((method, receiver)) = split_method(callee) else {
            // `new Proxy(server, { … })` is that server with something around it; `new Promise(work)` is no function.
            let passes = |name: &str| self.eval.builtins.makes("", name) == Some(Makes::First);
            return match &callee.root {
                Root::Global(name) if site.construct && self.is_foreign(&callee.root) && passes(name) => {
                    match first(self) {
                        object @ (AbstractValue::Call(..) | AbstractValue::Instance(..)) => object,
                        _ => AbstractValue::Unknown,
                    }
                }
                _ => AbstractValue::Unknown,
            };
        };
        let makes = match (&callee.root, receiver) {
            (Root::Global(name), []) if self.is_foreign(&callee.root) => {
                self.eval.builtins.makes("", &[name, ".", method].concat())
            }
            _ => None,
        };
        match makes {
            Some(Makes::First) => return first(self),
            Some(Makes::Values) => return AbstractValue::Items(self.list(&first(self)).into()),
            Some(Makes::Pairs) => {
                let named = |(name, thing): (Option<Name>, AbstractValue<'f>)| Some((name?, thing));
                let pairs = self.elements(&first(self)).into_iter().filter_map(named);
                return AbstractValue::Entries(pairs.collect());
            }
            _ => {}
        }
        let all = || self.list(&self.receiver(receiver, callee, at));
        let things: Vec<AbstractValue<'f>> = match self.eval.builtins.gives(method) {
            _ if method == "bind" => {
                return match self.receiver(receiver, callee, at) {
                    function @ AbstractValue::Function(..) => function,
                    _ => AbstractValue::Unknown,
                };
            }
            Some(Gives::Entries) => all(),
            Some(Gives::Joined) => {
                let more = site.arguments.iter().flat_map(|arg| self.list(&self.evaluate(arg, at)));
                all().into_iter().chain(more).collect()
            }
            Some(Gives::Mapped) => {
                let AbstractValue::Function(FunctionId(function), _) = first(self) else {
                    return AbstractValue::Unknown;
                };
                let item = self.unit(function).and_then(|unit| unit.function.parameters.first().copied());
                let mapped = |thing| {
                    let bound = item.map(|item| (item, Assumed::Value(thing))).into_iter().collect();
                    self.returned(function, &at.env.with(function, bound))
                };
                all().into_iter().map(mapped).collect()
            }
            Some(Gives::Pairs) => {
                let named = |(name, thing): (Option<Name>, AbstractValue<'f>)| Some((name?, thing));
                let pairs = self.elements(&self.receiver(receiver, callee, at)).into_iter();
                return AbstractValue::Entries(pairs.filter_map(named).collect());
            }
            Some(Gives::Entry | Gives::List | Gives::Itself) | None => return AbstractValue::Unknown,
        };
        if things.is_empty() { AbstractValue::Unknown } else { AbstractValue::Items(things.into()) }
    }

    /// What the object is whose method is called, or the collection at the beginning of a path.
    pub(crate) fn receiver(
        &self,
        fields: &'f [Field],
        path: &'f AccessPath,
        at: &Context<'f>,
    ) -> AbstractValue<'f> {
        self.settle(self.walk(&path.root, fields, at))
    }

    /// The things of a list.
    pub(crate) fn list(&self, thing: &AbstractValue<'f>) -> Vec<AbstractValue<'f>> {
        self.elements(thing).into_iter().map(|(_, thing)| thing).collect()
    }

    /// The things of a list, object or map, with their names where they have one.
    pub(crate) fn elements(&self, thing: &AbstractValue<'f>) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        self.eval.deeper(|| self.elements_of(self.settle(thing.clone()))).unwrap_or_default()
    }

    fn elements_of(&self, thing: AbstractValue<'f>) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        let mut found = vec![];
        match thing {
            AbstractValue::List(items, at) => {
                for arg in items.iter().take(THINGS) {
                    let thing = self.settle(self.evaluate(arg, &at));
                    // A spread stands in a list as the list that it spreads.
                    match thing {
                        AbstractValue::List(..)
                        | AbstractValue::Items(_)
                        | AbstractValue::Alternatives(_)
                            if arg_is_spread(arg) =>
                        {
                            found.extend(self.elements(&thing));
                        }
                        thing => found.push((None, thing)),
                    }
                }
            }
            AbstractValue::Object(members, at) => {
                let mut computed = None;
                for (name, arg) in members.iter().take(THINGS) {
                    let thing = self.evaluate(arg, &at);
                    match &**name {
                        "..." => found.extend(self.elements(&thing)),
                        COMPUTED_KEY => computed = self.settle(thing).text().cloned(),
                        // Where a computed name is not known, what it leads to may say its own.
                        "" => found.push((computed.take(), thing)),
                        _ => found.push((Some(name.clone()), thing)),
                    }
                }
            }
            AbstractValue::Items(things) => {
                found.extend(things.iter().take(THINGS).map(|thing| (None, thing.clone())))
            }
            AbstractValue::Entries(entries) => {
                found.extend(
                    entries.iter().take(THINGS).map(|(name, thing)| (Some(name.clone()), thing.clone())),
                );
            }
            AbstractValue::Filled(function, value, initial) => {
                found.extend(self.elements(&initial));
                found.extend(self.put_in(self.filled(function, value)));
            }
            AbstractValue::Exports(file) => found.extend(self.exports(&file)),
            AbstractValue::Alternatives(things) => {
                found.extend(things.iter().flat_map(|thing| self.elements(thing)))
            }
            AbstractValue::Call(number, at) => {
                if let Some(site) = self.site(number).filter(|site| site.construct) {
                    let given =
                        site.arguments.first().map_or(AbstractValue::Unknown, |arg| self.evaluate(arg, &at));
                    let items = self.list(&given);
                    // `new Map(another)`.
                    if items.is_empty() && !matches!(given, AbstractValue::Unknown) {
                        found.extend(self.elements(&given));
                    }
                    // `new Map([[name, tool], …])` and `new Set([…])`.
                    for thing in items {
                        match self.member(thing.clone(), "0") {
                            AbstractValue::Text(name) => found.push((Some(name), self.member(thing, "1"))),
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
    fn exports(&self, file: &str) -> Vec<(Option<Name>, AbstractValue<'f>)> {
        let offered = self.names.offered(file).into_iter().take(THINGS);
        offered.map(|(name, global)| (Some(name), self.at_place(&global, &Context::plain(0)))).collect()
    }
}

/// The method that a path ends in, and the fields of the object before it.
pub(crate) fn split_method(callee: &AccessPath) -> Option<(&str, &[Field])> {
    let (last, rest) = callee.fields.split_last()?;
    Some((exact_name(last)?, rest))
}

fn arg_is_spread(arg: &Arg) -> bool {
    matches!(arg.shape, Shape::Opaque | Shape::Choice(_))
}
