//! Routes of web frameworks: clients reach them beside the tools, and they race like them.

use interlock_model::ir::Root;

use super::{
    env::{At, Thing},
    found::Found,
    index::Index,
    look::FUEL,
    register::made_by,
    results::split,
    says::Says,
};
use crate::module::{Site, split_global};

/// The frameworks.
const FRAMEWORKS: [&str; 14] = [
    "express",
    "fastify",
    "hono",
    "koa",
    "@koa/router",
    "polka",
    "restify",
    "h3",
    "elysia",
    "http",
    "https",
    "http2",
    "@hapi/hapi",
    "find-my-way",
];

/// Makes the handlers of routes entries.
pub(super) fn entries(found: &mut Found<'_, '_>) {
    let index = found.index;
    for (_, site) in index.calls_that(Says::ROUTES) {
        if !is_route(index, site) {
            continue;
        }
        let at = At::plain(site.within);
        for argument in &site.arguments {
            if let Thing::Function(function, _) = index.settle(index.look(argument, &at, FUEL), FUEL) {
                found.entry(function);
            }
        }
    }
}

fn is_route<'i>(index: &Index<'i>, site: &'i Site) -> bool {
    let Some(callee) = &site.callee else { return false };
    let at = At::plain(site.within);
    if let Root::Global(name) = &callee.root {
        // `http.createServer((req, res) => …)`, with the module or the function imported.
        let made = split_global(name).is_some_and(|(library, _)| is_framework(library));
        let last = callee.fields.last().and_then(super::place::name_of);
        if made && (name.ends_with("::createServer") || last == Some("createServer")) {
            return true;
        }
    }
    let Some((method, fields)) = split(callee) else { return false };
    if !is_verb(method) {
        return false;
    }
    let library = made_by(index, &index.receiver(fields, callee, &at, FUEL))
        .or_else(|| index.declared_library(callee, &at));
    library.is_some_and(|name| {
        let library = split_global(&name).map_or(&*name, |(library, _)| library);
        is_framework(library)
    })
}

/// Whether a method is called like one that adds a route or makes a server.
pub(super) fn is_method(method: &str) -> bool {
    is_verb(method) || method == "createServer"
}

fn is_verb(method: &str) -> bool {
    matches!(method, "get" | "post" | "put" | "patch" | "delete" | "all" | "use" | "route")
}

fn is_framework(library: &str) -> bool {
    FRAMEWORKS.contains(&library)
}
