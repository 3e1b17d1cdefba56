//! What a handler looks up by the name of a tool, and where that is called: in the handler, in a closure that has captured it, or in a
//! helper that is handed it.

use interlock_model::ir::{
    AccessPath, Argument, Callee, Exit, Field, FunctionId, Name, Op, Resource, Root, Term, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    AbstractValue, Choice, Context, Env, exact_name, exact_place,
    index::{Definition, Index},
    sent,
};
use crate::{Arg, Shape, tables::Gives};

/// How many steps lead from a value to the collection that it was looked up in: members, and functions that look up for others.
const HELPERS: usize = 6;

/// How many collections one call looks into, one after another.
const MOST_TABLES: usize = 4;

/// How many lists one loop goes over, inside of another.
const MOST_LISTS: usize = 32;

/// The things of a collection, each by its name if it goes by one.
pub(super) type Elements<'i> = Vec<(Option<Name>, AbstractValue<'i>)>;

/// What was looked up by the name in one function and is called in another: a closure that has captured it, or a helper that is handed
/// it. By function and value; what it is one of, and the members that lead to it from there.
#[derive(Default)]
pub(super) struct Tools<'i> {
    handed: FxHashMap<(u32, Value), (Elements<'i>, Vec<Name>)>,
    /// What was looked up by something that a caller has sent besides the name: `actions[args.action]` is no tool.
    others: FxHashSet<(u32, Value)>,
}

impl<'i> Tools<'i> {
    /// What a value is one of, and the members that lead to it from there.
    pub(super) fn resolve_lookup(
        &self,
        index: &Index<'i>,
        value: Value,
        function: u32,
    ) -> Option<(Elements<'i>, Vec<Name>)> {
        self.follow(index, value, function, HELPERS)
    }

    /// Remembers what a function looks up by something else than the name, as far as it is known where the name is.
    pub(super) fn leave_out(&mut self, index: &Index<'i>, function: u32, names: &[(Value, &[Name])]) {
        let sent = sent::besides(index, function, names);
        let Some(unit) = index.unit(function).filter(|_| !sent.is_empty()) else { return };
        let is_key = |term: &Term| matches!(term, Term::Path(path) if sent.has(path));
        for effect in unit.function.effects() {
            let (into, by_other) = match &effect.op {
                Op::Derive { into, term: Term::Path(path), .. }
                | Op::Read { into, of: Resource::Shared(path), .. } => {
                    let other = |field: &Field| matches!(field, Field::At(term) if is_key(term));
                    (*into, path.fields.iter().any(other))
                }
                Op::Call { into: Some(into), callee: Callee::Pending(number), .. } => {
                    let key = || index.site(*number)?.arguments.first();
                    let among = matches!(index.choice(function, *into), Some(Choice::Among(..)));
                    (*into, among && key().is_some_and(|key| is_key(&key.term)))
                }
                _ => continue,
            };
            if by_other {
                self.others.insert((function, into));
            }
        }
    }

    /// What a value is one of, and the members that lead to it from there: of what a call gives that looks up by itself, too.
    fn follow(
        &self,
        index: &Index<'i>,
        value: Value,
        function: u32,
        helpers: usize,
    ) -> Option<(Elements<'i>, Vec<Name>)> {
        if let Some(known) = self.handed.get(&(function, value)) {
            return Some(known.clone());
        }
        if self.others.contains(&(function, value)) {
            return None;
        }
        let at = Context::plain(function);
        let among = match index.choice(function, value) {
            // What a loop is at was looked up by whoever compares it.
            Some(Choice::Item(list)) => {
                let elements = one_after_another(index, list, &at);
                return (!elements.is_empty() && is_compared(index, function, value))
                    .then_some((elements, vec![]));
            }
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
            Definition::Path(path) if path.fields.iter().any(|field| exact_name(field).is_none()) => {
                let (before, after) =
                    path.fields.split_at(path.fields.iter().position(|field| exact_name(field).is_none())?);
                Some((collection(index, path, before, &at), named(after.get(1..)?)?))
            }
            Definition::Path(AccessPath { root: Root::Value(whole), fields }) => {
                if let Some(elements) = self.in_answer(index, *whole, fields, function, helpers) {
                    return Some(elements);
                }
                let (elements, mut rest) = self.follow(index, *whole, function, helpers)?;
                let mut fields = named(fields)?;
                // Of the pairs that an object is gone over by, the second is the thing.
                if is_pair(index, *whole, function) && fields.first().is_some_and(|first| &**first == "1") {
                    fields.remove(0);
                }
                rest.extend(fields);
                Some((elements, rest))
            }
            Definition::Either(values) => {
                values.iter().take(2).find_map(|value| self.follow(index, *value, function, helpers))
            }
            Definition::Call(number) => {
                let helper = index.target(index.site(*number)?)?;
                let returned = index.unit(helper)?.function.effects().filter_map(|effect| match &effect.op {
                    Op::Exit(Exit::Return(values)) => match values.as_slice() {
                        [value] => Some(*value),
                        _ => None,
                    },
                    _ => None,
                });
                all(returned.filter_map(|value| self.follow(index, value, helper, helpers)))
            }
            _ => None,
        }
    }

    /// The same for a member of what a helper answers with: `return { tool, kind }`.
    fn in_answer(
        &self,
        index: &Index<'i>,
        answer: Value,
        fields: &[Field],
        function: u32,
        helpers: usize,
    ) -> Option<(Elements<'i>, Vec<Name>)> {
        let Definition::Call(number) = index.definition(function, answer)? else { return None };
        let (first, behind) = fields.split_first()?;
        let (first, behind) = (exact_name(first)?, named(behind)?);
        let helper = index.target(index.site(*number)?)?;
        let members =
            index.unit(helper)?.returned.iter().flat_map(objects_of).filter_map(|arg| arg.member(first));
        all(members.filter_map(|member| {
            let Term::Path(AccessPath { root: Root::Value(value), fields }) = &member.term else {
                return None;
            };
            let (elements, mut rest) = self.follow(index, *value, helper, helpers)?;
            rest.extend(named(fields)?);
            rest.extend(behind.iter().cloned());
            Some((elements, rest))
        }))
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
        let tables = others.filter_map(|other| self.follow(index, *other, function, helpers));
        tables.filter(|(_, rest)| rest.is_empty()).flat_map(|(elements, _)| elements).collect()
    }

    /// Follows them one function further; says which functions have got some.
    pub(super) fn hand_on(&mut self, index: &Index<'i>, function: u32) -> Vec<u32> {
        let effects = index.unit(function).into_iter().flat_map(|unit| unit.function.effects());
        let mut next = vec![];
        for (to, own, term) in effects.flat_map(|effect| handed(index, function, &effect.op)) {
            let Term::Path(AccessPath { root: Root::Value(value), fields }) = term else { continue };
            if self.handed.contains_key(&(to, own)) {
                continue;
            }
            let (Some((elements, mut rest)), Some(fields)) =
                (self.resolve_lookup(index, *value, function), named(fields))
            else {
                continue;
            };
            if elements.is_empty() {
                continue;
            }
            rest.extend(fields);
            self.handed.insert((to, own), (elements, rest));
            next.push(to);
        }
        next
    }
}

/// What is found in several places, by the same way from there: all of it.
fn all<'i>(mut tables: impl Iterator<Item = (Elements<'i>, Vec<Name>)>) -> Option<(Elements<'i>, Vec<Name>)> {
    let (mut elements, rest) = tables.next()?;
    for (more, _) in tables.take(MOST_TABLES).filter(|(_, other)| *other == rest) {
        elements = join(elements, more);
    }
    Some((elements, rest))
}

/// The objects that something is which is written out.
fn objects_of(arg: &Arg) -> Vec<&Arg> {
    match &arg.shape {
        Shape::Object(_) => vec![arg],
        Shape::Choice(ways) => ways.iter().filter(|way| matches!(way.shape, Shape::Object(_))).collect(),
        _ => vec![],
    }
}

/// The things that a loop goes over, with those of each list where it goes over several.
fn one_after_another<'i>(index: &Index<'i>, list: &'i Arg, at: &Context<'i>) -> Elements<'i> {
    let look = |at: &Context<'i>| index.settle(index.evaluate(list, at));
    let mut elements: Elements<'i> = vec![];
    for env in index.caller_contexts(at.function, |at| look(at).unbound()).into_iter().take(MOST_LISTS) {
        // A thing that says what it is called is asked for that, whatever it is kept under.
        let things = index.elements(&look(&Context { function: at.function, env })).into_iter();
        let named = things.map(|(key, thing)| match index.name_in(&thing) {
            AbstractValue::Text(name) => (Some(name), thing),
            _ => (key, thing),
        });
        elements = join(elements, named.collect());
    }
    elements
}

/// Whether a value is what a loop over the entries of an object is at: a name and a thing.
fn is_pair(index: &Index<'_>, value: Value, function: u32) -> bool {
    match index.choice(function, value) {
        Some(Choice::Item(list)) => match list.shape {
            Shape::Call(number) => {
                let callee = index.site(number).and_then(|site| site.callee.as_ref());
                let method = callee.and_then(|callee| callee.fields.last()).and_then(exact_name);
                method.is_some_and(|method| {
                    method == "entries" || index.builtins().gives(method) == Some(Gives::Pairs)
                })
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a function compares something of a value with something else.
fn is_compared(index: &Index<'_>, function: u32, value: Value) -> bool {
    let of_it = |asked: &Value| {
        let mut asked = *asked;
        for _ in 0..HELPERS {
            match index.definition(function, asked) {
                _ if asked == value => return true,
                Some(Definition::Path(AccessPath { root: Root::Value(whole), .. })) => asked = *whole,
                _ => return false,
            }
        }
        false
    };
    let mut effects = index.unit(function).into_iter().flat_map(|unit| unit.function.effects());
    effects.any(|effect| match &effect.op {
        Op::Check { on, .. } => on.len() > 1 && on.iter().any(of_it) && !on.iter().all(of_it),
        _ => false,
    })
}

/// The function that a step calls.
pub(super) fn called_function(index: &Index<'_>, within: u32, op: &Op) -> Option<u32> {
    match op {
        Op::Call { callee: Callee::Function(function) | Callee::Closure { function, .. }, .. } => {
            Some(function.0)
        }
        Op::Call { callee: Callee::Value(value), .. } => called_by_value(index, within, *value),
        Op::Call { callee: Callee::Pending(site), .. } => {
            let site = index.site(*site)?;
            let by_value = || match site.callee.as_ref()? {
                AccessPath { root: Root::Value(value), fields } if fields.is_empty() => {
                    called_by_value(index, within, *value)
                }
                _ => None,
            };
            index.target(site).or_else(by_value)
        }
        _ => None,
    }
}

/// The function that a local is which is called: a wrapper made it of another, or who calls has handed it over, and there is only one way
/// for that.
fn called_by_value(index: &Index<'_>, within: u32, value: Value) -> Option<u32> {
    let ways = index.caller_contexts(within, |at| index.settle(index.value(value, at)).unbound());
    let [env] = ways.as_slice() else { return None };
    let at = Context { function: within, env: env.clone() };
    match index.settle(index.value(value, &at)) {
        AbstractValue::Function(FunctionId(function), _) => Some(function),
        _ => None,
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

/// What a key leads to that is a name with something fixed before or behind it, each by that name. What begins with an underscore is
/// nobody's to ask for, unless the key says so.
fn under<'i>(elements: Elements<'i>, key: &Term) -> Elements<'i> {
    let text = |part: Option<&Term>| match part {
        Some(Term::Literal(text)) => text.clone(),
        _ => Name::from(""),
    };
    let (before, behind) = match key {
        Term::Join(parts) => (text(parts.first()), text(parts.last())),
        _ => (Name::from(""), Name::from("")),
    };
    let named = |(name, thing): (Option<Name>, AbstractValue<'i>)| {
        let Some(name) = name else { return Some((None, thing)) };
        let own = name.strip_prefix(&*before)?.strip_suffix(&*behind)?;
        let is_method = matches!(thing, AbstractValue::Function(..));
        let is_private = is_method && before.is_empty() && own.starts_with('_');
        (!own.is_empty() && !is_private).then(|| (Some(own.into()), thing))
    };
    elements.into_iter().filter_map(named).collect()
}

impl<'i> Index<'i> {
    /// The methods of a class and of those that it extends, as a collection.
    fn methods_of(&self, class: usize, env: &Env<'i>) -> Elements<'i> {
        let constructor = self.eval.semantics.constructor;
        let methods = self.ancestry(class).flat_map(|class| &class.methods);
        let methods = methods.filter(|(name, _)| Some(&**name) != constructor);
        let thing = |function: u32| AbstractValue::Function(FunctionId(function), env.clone());
        methods.map(|(name, function)| (Some(name.clone()), thing(*function))).collect()
    }
}

/// Some fields as names, if all of them are.
pub(super) fn named(fields: &[Field]) -> Option<Vec<Name>> {
    fields.iter().map(|field| exact_name(field).map(Name::from)).collect()
}

/// What is in the collection at the beginning of a path.
pub(super) fn collection<'i>(
    index: &Index<'i>,
    path: &'i AccessPath,
    fields: &'i [Field],
    at: &Context<'i>,
) -> Elements<'i> {
    let open = |at: &Context<'i>| index.receiver(fields, path, at).unbound();
    let mut elements: Elements<'i> = vec![];
    // What a function is handed is what all who call it hand to it.
    for env in index.caller_contexts(at.function, open).into_iter().take(MOST_TABLES) {
        let at = Context { function: at.function, env };
        let whole = index.receiver(fields, path, &at);
        elements = join(elements, index.elements(&whole));
        // `getattr(self, f"tool_{name}")`, `this[name]`: the methods of an object are what it has under names.
        let by_key = matches!(path.fields.get(fields.len()), Some(Field::At(_)));
        if let (AbstractValue::Instance(class, env), true) = (whole, by_key) {
            elements = join(elements, index.methods_of(class, &env));
        }
    }
    if let Some(Field::At(key)) = path.fields.get(fields.len()) {
        elements = under(elements, key);
    }
    if let Some(place) = exact_place(&path.root, fields, index.owner(at.function)) {
        elements = join(elements, index.collected(&place));
    }
    elements
}

/// What a step hands to other functions: to which, as which of their values, and what.
pub(super) fn handed<'o>(index: &Index<'_>, within: u32, op: &'o Op) -> Vec<(u32, Value, &'o Term)> {
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
            if let Callee::Closure { function, captures } = callee {
                taken(*function, captures);
            }
            if let Some((to, unit)) =
                called_function(index, within, op).and_then(|to| Some((to, index.unit(to)?)))
            {
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
