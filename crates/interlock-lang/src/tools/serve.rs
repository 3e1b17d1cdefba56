//! The servers of a tree: where they start to listen, and how clients reach them.

use std::{collections::BTreeMap, sync::Arc};

use interlock_model::{
    FileId, Span,
    ir::{FunctionId, Name, Server, Transport},
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    AbstractValue, Context, Discovered, call_kind::CallKind, exact_name, index::Index, limits,
    register::library_of, split_method,
};
use crate::{
    module::{Site, split_global},
    tables::{Begins, Sdk},
};

/// Finds the servers: one for each file that offers MCP over standard streams, and one for each that does so over HTTP.
pub(super) fn servers(index: &Index<'_>, discovered: &Discovered) -> Vec<Server> {
    let mut starts: BTreeMap<(FileId, Transport), Span> = BTreeMap::new();
    let mut listeners: Vec<Span> = vec![];
    for (_, site) in index.calls_that(CallKind::STARTS) {
        let Some((transport, what)) = start(index, site) else { continue };
        if what != What::Listens {
            starts.entry((site.span.file, transport)).or_insert(site.span);
        }
        if what != What::Serves && transport == Transport::Http {
            listeners.push(site.span);
        }
    }
    let packages = Packages::of(index);
    let mut listening: FxHashMap<&str, Vec<Span>> = FxHashMap::default();
    for listener in listeners {
        listening.entry(packages.at(listener)).or_default().push(listener);
    }
    let mut spans: Vec<(Span, Transport)> = starts
        .into_iter()
        .map(|((file, transport), span)| {
            // HTTP is served where something listens: in the same file, else in the same package, else where the transport is made.
            let near = match transport {
                Transport::Stdio => None,
                Transport::Http => listening.get(packages.at(span)),
            };
            let same = near.and_then(|near| near.iter().find(|listener| listener.file == file));
            let listens = same.or_else(|| near.and_then(|near| near.first()));
            (listens.copied().unwrap_or(span), transport)
        })
        .collect();
    if spans.is_empty() && !index.by_hand().is_empty() {
        // Tools that nothing of an SDK serves, beside something that listens: a server written by hand.
        let offers = |function| {
            discovered
                .handlers
                .iter()
                .any(|handler| handler.function == function && !handler.tools.is_empty())
        };
        let homes =
            handlers(index, &packages, discovered).into_iter().filter(|(_, function)| offers(*function));
        let homes: FxHashSet<&str> = homes.map(|(home, _)| home).collect();
        let by_hand = homes.into_iter().filter_map(|home| listening.get(home)?.first());
        // What listens may be something else beside it, and the tools be answered over standard streams: it may be either.
        spans.extend(
            by_hand.flat_map(|listener| [(*listener, Transport::Http), (*listener, Transport::Stdio)]),
        );
    }
    spans.sort_by_key(|(span, transport)| (span.file, span.start, *transport));
    spans.dedup();
    let served: FxHashSet<&str> = spans.iter().map(|(span, _)| packages.at(*span)).collect();
    // Handlers of a package that starts no server are a library's: any server may offer them. The same goes for its limits.
    let is_library = |home: &str| !served.contains(home);
    let homes: Vec<(&str, bool, FunctionId)> = handlers(index, &packages, discovered)
        .into_iter()
        .map(|(home, function)| (home, is_library(home), function))
        .collect();
    let limited = match spans.iter().any(|(_, transport)| *transport == Transport::Http) {
        true => limits::packages(index, discovered, &packages),
        false => FxHashSet::default(),
    };
    let limited_by_library = limited.iter().any(|home| is_library(home));
    let mut offered: FxHashMap<&str, Arc<[FunctionId]>> = FxHashMap::default();
    let server = |(span, transport): (Span, Transport)| {
        let own = packages.at(span);
        let handlers = offered.entry(own).or_insert_with(|| {
            let of_it = homes.iter().filter(|(home, is_library, _)| *is_library || *home == own);
            of_it.map(|(_, _, function)| *function).collect()
        });
        let limited = transport == Transport::Http && (limited_by_library || limited.contains(own));
        Server { span, transport, handlers: handlers.clone(), limited }
    };
    spans.into_iter().map(server).collect()
}

/// What frameworks call the ways over HTTP.
const HTTP: &[&str] = &["http", "httpStream", "streamable-http", "sse"];

/// What a call is the beginning of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Something of MCP.
    Serves,
    /// A listener, of whatever.
    Listens,
    /// Both at once: the server's own `run`.
    ServesAndListens,
}

fn handlers<'i>(
    index: &Index<'i>,
    packages: &Packages<'i>,
    discovered: &Discovered,
) -> Vec<(&'i str, FunctionId)> {
    let home = |function: FunctionId| {
        let span = match index.unit(function.0) {
            Some(unit) => unit.function.span,
            None => {
                let copy = (function.0 as usize).checked_sub(index.functions.len());
                copy.and_then(|copy| discovered.added.get(copy))
                    .map_or_else(Span::default, |added| added.function.span)
            }
        };
        (packages.at(span), function)
    };
    discovered.handlers.iter().map(|handler| home(handler.function)).collect()
}

/// The package that each file belongs to: the innermost folder that is one.
pub(super) struct Packages<'i>(Vec<&'i str>);

impl<'i> Packages<'i> {
    pub(super) fn of(index: &Index<'i>) -> Self {
        let folders: FxHashSet<&'i str> = index.packages.iter().copied().collect();
        let of_file = |file: &Name| {
            let mut above =
                std::iter::successors(file.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'));
            above.find_map(|(folder, _)| folders.get(folder).copied()).unwrap_or("")
        };
        Self(index.eval.flat.files.iter().map(of_file).collect())
    }

    /// The package that a place belongs to.
    pub(super) fn at(&self, span: Span) -> &'i str {
        self.0.get(span.file.0 as usize).copied().unwrap_or("")
    }
}

/// Whether a call starts a server or a listener.
fn start<'i>(index: &Index<'i>, site: &'i Site) -> Option<(Transport, What)> {
    let callee = site.callee.as_ref()?;
    let at = Context::plain(site.within);
    let last = match callee.fields.last().and_then(exact_name) {
        Some(name) => name,
        None => match &callee.root {
            interlock_model::ir::Root::Global(name) => split_global(name).map_or(&**name, |(_, name)| name),
            _ => return None,
        },
    };
    let begins = begins(index.sdk(), last).filter(|begins| begins.is_class() == site.construct)?;
    if matches!(begins, Begins::Start | Begins::Listener) && is_listener(index, site, &at) {
        return Some((Transport::Http, What::Listens));
    }
    match begins {
        Begins::Framework if !framework(index, site, &at) => None,
        Begins::Framework => Some((framework_transport(index, site, &at), What::Serves)),
        Begins::Start => fast(index, site, &at).map(|transport| (transport, What::ServesAndListens)),
        Begins::Listener => None,
        Begins::Listen => listens(index, site, &at).then_some((Transport::Http, What::Listens)),
        other => other.transport().map(|transport| (transport, What::Serves)),
    }
}

/// What something of a name begins, if it begins a server.
pub(super) fn begins(sdk: &Sdk, name: &str) -> Option<Begins> {
    let ends_so = |(known, begins): (&String, &Begins)| {
        known.strip_prefix('*').filter(|end| name.ends_with(end)).map(|_| *begins)
    };
    sdk.server.get(name).copied().or_else(|| sdk.server.iter().find_map(ends_so))
}

/// Whether a call makes the server of mcp-framework.
fn framework<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> bool {
    let made = site.callee.as_ref().and_then(|callee| index.path(callee, at).exported());
    made.is_some_and(|name| index.sdk().is_sdk(&name))
}

/// `new MCPServer({ transport: { type: "http-stream" } })`; standard streams unless said otherwise.
fn framework_transport<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Transport {
    let config = site.arguments.first().map_or(AbstractValue::Unknown, |arg| index.evaluate(arg, at));
    let kind = index.member(index.member(config, "transport"), "type");
    match index.settle(kind) {
        AbstractValue::Text(kind) if &*kind != "stdio" => Transport::Http,
        _ => Transport::Stdio,
    }
}

/// `server.start({ transportType: "httpStream" })`, `mcp.run(transport="sse")`, `mcp.run("sse")`; standard streams unless said otherwise.
fn fast<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<Transport> {
    let config = site.arguments.first().map_or(AbstractValue::Unknown, |arg| index.evaluate(arg, at));
    let library = || library_of(index, site.callee.as_ref()?, at);
    let is_started =
        || library().is_some_and(|library| index.sdk().started.iter().any(|own| library.starts_with(&**own)));
    let told = index.sdk().transport.iter().map(|option| index.member(config.clone(), option));
    let mut told = told.map(|told| index.settle(told));
    match told
        .find(|told| matches!(told, AbstractValue::Text(_)))
        .unwrap_or_else(|| index.settle(config.clone()))
    {
        AbstractValue::Text(kind) if &*kind == "stdio" => Some(Transport::Stdio),
        AbstractValue::Text(kind) if HTTP.contains(&&*kind) => Some(Transport::Http),
        _ => is_started().then_some(Transport::Stdio),
    }
}

/// Whether `listen` is that of a server, and no function of the tree's own.
fn listens<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> bool {
    let Some(callee) = &site.callee else { return false };
    let called = index.path(callee, at);
    match called {
        AbstractValue::Function(..) => false,
        _ if called.exported().is_some() => is_listener(index, site, at),
        _ => split_method(callee).is_some(),
    }
}

/// Whether what is called belongs to a library that listens: `uvicorn.run(app)`, `serve(app)`, `server.NewSSEServer(s).Start(address)`.
fn is_listener<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> bool {
    let Some(callee) = &site.callee else { return false };
    let listens = |name: &str| index.sdk().route.listeners.iter().any(|known| name.starts_with(&**known));
    let exported = index.path(callee, at).exported();
    exported.map_or_else(
        || library_of(index, callee, at).is_some_and(|name| listens(&name)),
        |name| listens(&name),
    )
}
