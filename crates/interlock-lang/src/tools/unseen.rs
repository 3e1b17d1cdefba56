//! Tools that the sources announce without a function that is found, and servers that are handed to something of which nothing is known.
//!
//! ```text
//! server.registerTool("erase", {}, makeHandler("erase"))      // from an import that leads nowhere: `erase` is a tool that is not followed
//! { tools: [{ name: "ask" }, { name: "charge" }] }            // in the answer to `tools/list`, and no handler is called `charge`: the same
//! installAll(server)                                          // of a library: how many tools it announces nobody can see
//! ```
//!
//! What such a place does to the grade is decided where it is given (decision 290).

use std::collections::BTreeSet;

use interlock_model::ir::{AccessPath, Name, OutOfSight, Root, Tool};

use super::{
    AbstractValue, Context,
    discovery::Listed,
    exact_name,
    index::Index,
    register::{library_of, made_by},
    split_method,
};
use crate::{
    knowledge::words,
    module::{Site, split_global},
};

/// How many places are named.
const MOST: usize = 200;

/// Words in the name of a function that announces tools at the server which it is handed.
const ANNOUNCES: &[&str] = &["register", "install", "tool", "tools", "mount", "plugin", "plugins"];

/// Words in the name of a function that does something else with a server: runs it, connects it, watches it.
const RUNS: &[&str] = &[
    "run",
    "start",
    "serve",
    "server",
    "listen",
    "connect",
    "close",
    "stop",
    "shutdown",
    "handle",
    "handler",
    "transport",
    "wrap",
    "with",
    "instrument",
    "trace",
    "log",
    "logging",
    "log",
    "auth",
    "check",
    "test",
    "express",
    "router",
    "app",
    "http",
    "stdio",
    "sse",
    "prompt",
    "prompts",
    "resource",
    "resources",
    "middleware",
    "signal",
    "signals",
    "notify",
];

/// What something is called that comes from a library or from an import which leads nowhere: the import, the name in it, and whether it
/// is lost.
pub(super) fn described<'i>(index: &Index<'i>, thing: &AbstractValue<'i>) -> Option<(Name, bool)> {
    let (library, path) = match thing {
        AbstractValue::Export(library, path) => (library.clone(), path.clone()),
        AbstractValue::Call(number, at) => {
            let site = index.site(*number)?;
            match index.path(site.callee.as_ref()?, &at.go(site.within)) {
                AbstractValue::Export(library, path) => (library, path),
                _ => return None,
            }
        }
        _ => return None,
    };
    let is_lost = index.eval.names.is_lost(&library);
    let callee = if library.is_empty() { path } else { [&*library, ".", &*path].concat().into() };
    Some((callee, is_lost))
}

/// What an imported function is called.
pub(super) fn imported_name(thing: &AbstractValue<'_>) -> Option<Name> {
    let AbstractValue::Export(library, path) = thing else { return None };
    let name = path.rsplit(['.', ':']).next()?;
    (!library.is_empty() && !name.is_empty()).then(|| name.into())
}

/// The tools that were announced and are called like no handler.
pub(super) fn tools<'t>(
    mut announced: Vec<OutOfSight>,
    listed: &[Listed<'_>],
    handlers: impl Iterator<Item = &'t Vec<Tool>>,
) -> Vec<OutOfSight> {
    let known: BTreeSet<&str> = handlers.flatten().map(|tool| &*tool.name).collect();
    announced.extend(listed.iter().map(|Listed { span, tool, .. }| OutOfSight {
        span: *span,
        tool: Some(tool.name.clone()),
        callee: tool.name.clone(),
        is_lost: false,
    }));
    let mut seen = BTreeSet::new();
    announced.retain(|announced| {
        let Some(name) = &announced.tool else { return false };
        !is_known(&known, name) && seen.insert(name.clone())
    });
    announced
}

/// Whether a handler goes by a name, or by one that a prefix was put before.
fn is_known(known: &BTreeSet<&str>, name: &str) -> bool {
    let ends_so = |long: &str, short: &str| {
        let before = long.strip_suffix(short);
        before.is_some_and(|before| before.ends_with(['_', '-', '.', '/', ':']))
    };
    known.contains(name) || known.iter().any(|known| ends_so(known, name) || ends_so(name, known))
}

/// The places at which a server is handed to something unknown that may announce tools there.
pub(super) fn registrars(index: &Index<'_>) -> Vec<OutOfSight> {
    let found = index.calls().filter_map(|(site, _)| registrar(index, site).or_else(|| mounts(index, site)));
    found.take(MOST).collect()
}

/// `installAll(server)`, of a library or of an import that leads nowhere.
fn registrar<'i>(index: &Index<'i>, site: &'i Site) -> Option<OutOfSight> {
    let callee = site.callee.as_ref().filter(|_| !site.arguments.is_empty() && site.function.is_none())?;
    let Root::Global(global) = &callee.root else { return None };
    let (library, own) = index.eval.names.exported(global).filter(|(library, _)| !library.is_empty())?;
    let name = callee.fields.last().map_or(Some(own), exact_name)?;
    let words = words(name);
    let has = |of: &[&str]| words.iter().any(|word| of.contains(&&**word));
    let is_lost = index.eval.names.is_lost(library);
    if index.sdk().is_sdk(library) || !has(ANNOUNCES) && (!is_lost || has(RUNS)) {
        return None;
    }
    let at = Context::plain(site.within);
    site.arguments.iter().find(|arg| {
        let thing = index.settle(index.evaluate(arg, &at));
        let made = made_by(index, &thing).or_else(|| match &arg.term {
            interlock_model::ir::Term::Path(path) => index.declared_library(path, &at),
            _ => None,
        });
        made.is_some_and(|made| is_server(index, &made))
    })?;
    let callee = [library, ".", name].concat();
    Some(OutOfSight { span: site.span, tool: None, callee: callee.into(), is_lost })
}

/// `server.mount(load())`: what is taken over comes from somewhere that nobody sees.
fn mounts<'i>(index: &Index<'i>, site: &'i Site) -> Option<OutOfSight> {
    let callee: &AccessPath = site.callee.as_ref()?;
    let (method, _) =
        split_method(callee).filter(|(method, _)| index.sdk().mount.methods.contains(*method))?;
    let at = Context::plain(site.within);
    library_of(index, callee, &at).filter(|library| is_server(index, library))?;
    let unknown = site.arguments.iter().find_map(|arg| {
        let thing = index.settle(index.evaluate(arg, &at));
        if made_by(index, &thing).is_some_and(|made| index.sdk().may_be_sdk(&made)) {
            return None;
        }
        described(index, &thing).filter(|(callee, _)| !index.sdk().may_be_sdk(callee))
    });
    let (_, is_lost) = unknown?;
    Some(OutOfSight { span: site.span, tool: None, callee: method.into(), is_lost })
}

/// Whether what has made something makes servers of the protocol.
fn is_server(index: &Index<'_>, made_by: &str) -> bool {
    let own = split_global(made_by).map_or(made_by, |(_, own)| own).to_lowercase();
    let is_called_so = own.contains("server") || own.contains("mcp");
    let is_other = ["transport", "client", "tool"].iter().any(|word| own.contains(word));
    index.sdk().may_be_sdk(made_by) && is_called_so && !is_other
}
