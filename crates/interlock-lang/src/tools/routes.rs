//! Routes of web frameworks: clients reach them beside the tools, and they race like them.

use interlock_model::ir::{FunctionId, Name, Root};

use super::{
    AbstractValue, Context, call_kind::CallKind, discovery::Discovery, exact_name, index::Index,
    register::made_by, split_method,
};
use crate::{
    Arg, Shape,
    module::{Site, split_global},
};

/// How many wrappers around a handler are looked into.
const WRAPPERS: usize = 4;

/// The methods of routers that are called like those of HTTP.
const VERBS: &[&str] = &["get", "post", "put", "patch", "delete"];

/// Makes the handlers of routes entries: a function, or what a wrapper makes of one (`app.post("/x", handled(async (req) => …))`).
pub(super) fn entries(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    for (_, site) in index.calls_that(CallKind::ROUTES) {
        // `settings.get("port", 80)`: whose method that is does not matter.
        let by_name = named_handlers(index, site);
        if by_name.is_empty() && !site.arguments.iter().any(may_be_handler) {
            continue;
        }
        let plain = Context::plain(site.within);
        // Whether `function setup(app) { app.post(…) }` is about a router, its callers say.
        let ways = match (is_route(index, site, &plain), receiver(index, site, &plain)) {
            (true, _) => vec![plain.env],
            (false, Some(AbstractValue::Unbound(_))) if looks_like_route(site) => {
                index.caller_contexts(site.within, |at| receiver(index, site, at).and_then(|it| it.unbound()))
            }
            _ => continue,
        };
        for env in ways {
            let at = Context { function: site.within, env };
            let Some(library) = route_library(index, site, &at) else { continue };
            let in_threads = index.sdk().route.has_threads(library_of(&library));
            for argument in site.arguments.iter().chain(by_name.iter().copied()) {
                wrapped(discovery, argument, site.within, WRAPPERS);
                let thing = index.evaluate(argument, &at);
                if let AbstractValue::Instance(..) = thing {
                    let work = index.member(thing.clone(), &index.sdk().route.serves);
                    discovery.functions(&work).into_iter().for_each(|function| discovery.entry(function));
                }
                // Objects are options: what they have in them is called by the library, if at all.
                if matches!(
                    index.settle(thing.clone()),
                    AbstractValue::Function(..) | AbstractValue::Call(..)
                ) {
                    for function in discovery.functions(&thing) {
                        discovery.entry(function);
                        if let Some(named) = named(index, site, &at) {
                            discovery.routes.entry(FunctionId(function)).or_insert(named);
                        }
                        if in_threads {
                            discovery.in_threads.push(FunctionId(function));
                        }
                    }
                }
            }
        }
    }
}

/// What a reader calls the requests that a route is for: `POST /notes`. Where something stands before all routes there is no such name.
fn named<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<Name> {
    let (method, _) = site.callee.as_ref().and_then(split_method)?;
    let mut texts = site.arguments.iter().map(|arg| index.settle(index.evaluate(arg, at)));
    let path = texts.find_map(|thing| thing.text().cloned().filter(|text| text.contains('/')))?;
    Some(match VERBS.contains(&method) && path.starts_with('/') {
        true => [&*method.to_uppercase(), " ", &*path].concat().into(),
        false => path,
    })
}

/// The handlers that a call is given by name: `Route("/x", endpoint=show)`.
fn named_handlers<'i>(index: &Index<'i>, site: &'i Site) -> Vec<&'i Arg> {
    let named = &index.sdk().route.named;
    match site.arguments.last() {
        Some(Arg { shape: Shape::Object(members), .. }) if site.named => {
            members.iter().filter(|(name, _)| named.contains(&**name)).map(|(_, member)| member).collect()
        }
        _ => vec![],
    }
}

/// Makes the handlers inside of wrappers entries: `limited(http.HandlerFunc(work))`.
fn wrapped<'i>(discovery: &mut Discovery<'_, 'i>, argument: &'i Arg, within: u32, depth: usize) {
    let index = discovery.index;
    let parameters = index.sdk().route.parameters;
    let (Some(depth), Shape::Call(number)) = (depth.checked_sub(1), &argument.shape) else { return };
    let Some(site) = index.site(*number).filter(|_| parameters > 0) else { return };
    for inner in &site.arguments {
        wrapped(discovery, inner, within, depth);
        if let AbstractValue::Function(FunctionId(function), _) =
            index.settle(index.evaluate(inner, &Context::plain(within)))
            && index.unit(function).is_some_and(|unit| unit.function.parameters.len() == parameters)
        {
            discovery.entry(function);
        }
    }
}

/// Whether an argument may be a function, as far as it is written out.
const fn may_be_handler(arg: &Arg) -> bool {
    !matches!(arg.shape, Shape::Text(_) | Shape::Null | Shape::Number(_) | Shape::Bool(_) | Shape::Object(_))
}

/// Whether a call has a path as its first argument and something behind it, so that it is worth asking whose method it is.
fn looks_like_route(site: &Site) -> bool {
    matches!(site.arguments.first(), Some(Arg { shape: Shape::Text(_), .. })) && site.arguments.len() > 1
}

/// Whose method is called.
fn receiver<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<AbstractValue<'i>> {
    let callee = site.callee.as_ref()?;
    let (method, fields) = split_method(callee)?;
    index.sdk().route.methods.contains(method).then(|| index.receiver(fields, callee, at))
}

fn is_route<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> bool {
    route_library(index, site, at).is_some()
}

/// The library of a name that is qualified by it.
fn library_of(name: &str) -> &str {
    split_global(name).map_or(name, |(library, _)| library)
}

/// The framework that a call tells of a route.
fn route_library<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<Name> {
    let callee = site.callee.as_ref()?;
    let known = &index.sdk().route;
    if let Root::Global(name) = &callee.root {
        // `http.createServer((req, res) => …)`, with the module or the function imported.
        let made = split_global(name).is_some_and(|(library, _)| known.is_framework(library));
        let last = callee.fields.last().and_then(exact_name);
        let own = split_global(name).map(|(_, own)| own);
        if made && [own, last].contains(&Some(&*known.server)) {
            return Some(name.clone());
        }
        if made && callee.fields.is_empty() && own.is_some_and(|own| known.functions.contains(own)) {
            return Some(name.clone());
        }
    }
    let receiver = receiver(index, site, at)?;
    let library = made_by(index, &receiver).or_else(|| index.declared_library(callee, at));
    library.filter(|name| known.is_framework(library_of(name)))
}
