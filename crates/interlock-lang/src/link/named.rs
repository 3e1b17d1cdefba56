//! Arguments that are handed over by name, put where the function that is called expects them: `save(path, data=x)`. A library is left
//! the object of names, and its table speaks of that.
//!
//! This comes before anything is asked of calls, so it goes by names alone: a function of a file, the constructor of a class, a method of
//! the class around, or a method that all classes which have one of that name agree about.

use interlock_model::ir::{AccessPath, Field, Function, Name, Root, Term, Value};
use rustc_hash::FxHashMap;

use super::flat::{Flat, number};
use crate::{
    Arg, Shape,
    module::{Site, Variable, split_global},
    val::merge,
};

/// How many classes above one are asked for a method.
const HIGHEST: usize = 16;

/// Puts the arguments of all calls where they belong, as far as that is known.
pub(super) fn settle(flat: &mut Flat, functions: &[Function]) {
    if !flat.sites.iter().any(|site| site.named) {
        return;
    }
    let places = FunctionsByName::of(flat, functions);
    let settled: Vec<(usize, Box<[Arg]>)> = flat
        .sites
        .iter()
        .enumerate()
        .filter(|(_, site)| site.named && !site.decorates)
        .filter_map(|(at, site)| {
            Some((at, in_order(site, &places.reached(flat, functions, site), functions)?))
        })
        .collect();
    for (at, arguments) in settled {
        if let Some(site) = flat.sites.get_mut(at) {
            (site.arguments, site.named) = (arguments, false);
        }
    }
}

/// Where functions are found by name.
struct FunctionsByName {
    functions: FxHashMap<String, u32>,
    classes: FxHashMap<Name, usize>,
    methods: FxHashMap<Name, Vec<u32>>,
}

impl FunctionsByName {
    fn of(flat: &Flat, written: &[Function]) -> Self {
        let mut functions = FxHashMap::default();
        for (id, about) in flat.about.iter().enumerate() {
            if let Some(place) = about.bound.as_ref().and_then(place) {
                functions.insert(place, number(id));
            }
        }
        for variable in &flat.variables {
            if let (Some(place), Some(function)) = (place(&variable.path), decorated(flat, written, variable))
            {
                functions.entry(place).or_insert(function);
            }
        }
        let classes = flat.classes.iter().enumerate().map(|(at, class)| (class.name.clone(), at)).collect();
        let mut methods: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
        for (name, function) in flat.classes.iter().flat_map(|class| &class.methods) {
            methods.entry(name.clone()).or_default().push(*function);
        }
        Self { functions, classes, methods }
    }

    /// The functions that a call may mean.
    fn reached(&self, flat: &Flat, functions: &[Function], site: &Site) -> Vec<u32> {
        if let Some(function) = site.function {
            return vec![function];
        }
        let Some(callee) = &site.callee else { return vec![] };
        if let Some(place) = place(callee) {
            if let Some(function) = self.functions.get(&place) {
                return vec![*function];
            }
            if let Some(class) = self.classes.get(&*place) {
                return self.method(flat, *class, "constructor").into_iter().collect();
            }
        }
        let own = functions.get(site.within as usize).and_then(|function| function.owner.as_ref());
        let class = own.and_then(|own| self.classes.get(own)).copied();
        match (&callee.root, callee.fields.as_slice()) {
            (Root::Global(name), []) if &**name == "super" => {
                let above = class
                    .and_then(|class| flat.classes.get(class))
                    .into_iter()
                    .flat_map(|class| &class.bases);
                let above = above.filter_map(|base| self.classes.get(&*place(base)?)).copied();
                above.filter_map(|class| self.method(flat, class, "constructor")).collect()
            }
            (Root::This, [Field::Name(method)]) => {
                let found = class.and_then(|class| self.method(flat, class, method));
                found.map_or_else(
                    || self.methods.get(method).cloned().unwrap_or_default(),
                    |found| vec![found],
                )
            }
            (_, [.., Field::Name(method)]) => self.methods.get(method).cloned().unwrap_or_default(),
            _ => vec![],
        }
    }

    /// A method of a class or of one above it.
    fn method(&self, flat: &Flat, class: usize, method: &str) -> Option<u32> {
        let mut pending = vec![class];
        for _ in 0..HIGHEST {
            let class = flat.classes.get(pending.pop()?)?;
            if let Some((_, function)) = class.methods.iter().find(|(name, _)| &**name == method) {
                return Some(*function);
            }
            let above = class.bases.iter().rev().filter_map(|base| self.classes.get(&*place(base)?));
            pending.extend(above.copied());
        }
        None
    }
}

/// The function that goes by the name of a variable behind its decorators: what they hand on is for it.
fn decorated(flat: &Flat, functions: &[Function], variable: &Variable) -> Option<u32> {
    let (Root::Global(name), []) = (&variable.path.root, variable.path.fields.as_slice()) else {
        return None;
    };
    let mut arg = variable.initial.as_ref()?;
    for _ in 0..HIGHEST {
        match &arg.shape {
            Shape::Call(number) => arg = flat.sites.get(*number as usize)?.arguments.first()?,
            Shape::Function { function, .. } => {
                let own = &functions.get(function.0 as usize)?.name;
                return (split_global(name)?.1 == &**own).then_some(function.0);
            }
            _ => return None,
        }
    }
    None
}

/// A path from a global by names only, as one name.
fn place(path: &AccessPath) -> Option<String> {
    let Root::Global(root) = &path.root else { return None };
    let mut place = root.to_string();
    for field in &path.fields {
        let Field::Name(name) = field else { return None };
        place.push('.');
        place.push_str(name);
    }
    Some(place)
}

/// The arguments in the order of the parameters, where all functions that may be meant have the same.
fn in_order(site: &Site, reached: &[u32], functions: &[Function]) -> Option<Box<[Arg]>> {
    let (Arg { shape: Shape::Object(named), .. }, positional) = site.arguments.split_last()? else {
        return None;
    };
    let is_spread = |name: &Name| &**name == "...";
    let order = |function: &u32| -> Option<(Vec<Option<usize>>, bool)> {
        let names = parameters(functions.get(*function as usize)?).skip(positional.len());
        let order: Vec<Option<usize>> =
            names.map(|name| named.iter().position(|(given, _)| given == name)).collect();
        let placed = order.iter().flatten().count();
        let fits = placed == named.iter().filter(|(name, _)| !is_spread(name)).count();
        // What has no parameter of its name is in the last one, or the call would be refused: `def save(path, **fields)`.
        let has_rest = !fits
            && order.last().is_some_and(Option::is_none)
            && !named.iter().any(|(name, _)| is_spread(name));
        (fits || has_rest).then_some((order, has_rest))
    };
    let mut orders = reached.iter().filter_map(order);
    let (first, has_rest) = orders.next()?;
    if orders.any(|(other, _)| other != first) {
        return None;
    }
    let last = first.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    // What is handed over all together is found there by name: `Task(**row)`.
    let spread = named.iter().find(|(name, _)| is_spread(name)).map(|(_, arg)| arg);
    let names = parameters(functions.get(*reached.first()? as usize)?);
    let names: Vec<&Name> = names.skip(positional.len()).collect();
    let in_spread = |at: usize| match (spread, names.get(at)) {
        (Some(Arg { term: Term::Path(path), values, .. }), Some(name)) if !takes_the_rest(name) => {
            Arg::opaque(Term::Path(path.clone().field((*name).clone())), values.clone())
        }
        (Some(spread), _) => Arg::opaque(spread.term.clone(), spread.values.clone()),
        (None, _) => Arg::opaque(Term::Unknown, vec![]),
    };
    let last = if spread.is_some() { first.len() } else { last };
    let last = if has_rest { first.len().saturating_sub(1) } else { last };
    let by_name = first.iter().take(last).enumerate().map(|(at, known)| {
        let known = known.and_then(|known| named.get(known));
        known.map_or_else(|| in_spread(at), |(_, arg)| arg.clone())
    });
    let has_place = |at: &usize| first.contains(&Some(*at));
    let left = (0..named.len()).filter(|at| has_rest && !has_place(at)).filter_map(|at| named.get(at));
    let rest = has_rest.then(|| together(left.cloned().collect()));
    Some(positional.iter().cloned().chain(by_name).chain(rest).collect())
}

/// What is handed over under names that are nobody's, as one object.
fn together(members: Vec<(Name, Arg)>) -> Arg {
    let mut values = vec![];
    members.iter().for_each(|(_, arg)| merge(&mut values, &arg.values));
    Arg { term: Term::Unknown, values, shape: Shape::Object(members) }
}

/// What the parameters of a function are called.
fn parameters(function: &Function) -> impl Iterator<Item = &Name> {
    let info = |value: &Value| function.values.get(value.0 as usize);
    function.parameters.iter().filter_map(info).map(|info| &info.name)
}

/// Whether a parameter is called like one that takes whatever has no other.
fn takes_the_rest(name: &str) -> bool {
    matches!(name, "args" | "kwargs" | "kw" | "kwds")
}
