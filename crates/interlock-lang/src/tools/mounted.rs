//! Servers that take over the tools of others, and what clients call those from then on.
//!
//! ```text
//! main.mount(weather, prefix="weather")                                        # `forecast` is `weather_forecast`
//! main.mount(weather, prefix="weather", tool_names={"forecast": "outlook"})    # `forecast` is `outlook`
//! main.mount(weather)                                                          # `forecast` stays what it is
//! ```

use interlock_model::ir::{AccessPath, Field, FunctionId, Name, Root, Term};

use super::{AbstractValue, Context, Unbound, call_kind::CallKind, exact_place, index::Index, split_method};
use crate::{Arg, module::Site};

/// How many servers may be inside each other, and how many functions may lead to where one is made.
const DEPTH: usize = 4;

/// Under how many names a tool is known whose server is taken over more than once.
const NAMES: usize = 16;

/// How many tools of one server may be called something else.
const RENAMED: usize = 1_000;

/// How long a name may grow.
const LONG: usize = 256;

/// A server that another one has taken over: where it was made, where the other was, and what its tools are called by.
#[derive(Debug)]
pub(super) struct Mounted {
    server: Which,
    within: Option<Which>,
    naming: Naming,
}

/// What one server makes of the names of another's tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Naming {
    /// What stands before them. Nothing, where they keep their names.
    before: Name,
    /// Those that are called something else instead, by what they were called.
    instead: Vec<(Name, Name)>,
}

/// A way from tools to clients: through the servers that take them over, the innermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Way(Vec<Naming>);

impl Way {
    /// One through something that puts a text before the names.
    pub(super) fn with_prefix(mut self, before: Name) -> Self {
        self.0.insert(0, Naming { before, instead: vec![] });
        self
    }

    /// What a tool is called at the end of it.
    pub(super) fn name(&self, own: Name) -> Name {
        self.0.iter().fold(own, |name, naming| {
            match naming.instead.iter().find(|(known, _)| *known == name) {
                Some((_, instead)) => instead.clone(),
                None if naming.before.is_empty() => name,
                None => [&*naming.before, &*name].concat().into(),
            }
        })
    }

    /// How long what stands before a name may become.
    fn len(&self) -> usize {
        self.0.iter().map(|naming| naming.before.len()).sum()
    }
}

/// Which server it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    /// The one that a call has made.
    Made(u32),
    /// An object of a class of the tree, which extends one of a library, by where it is kept.
    Kept(String),
}

/// The ways to the tools that a call registers, of which there is one at least.
pub(super) fn ways_of<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Vec<Way> {
    let server = || {
        let callee = site.callee.as_ref()?;
        let (_, fields) = split_method(callee)?;
        which(index, &index.walk(&callee.root, fields, at), &callee.root, fields)
    };
    ways_from(index, server)
}

/// The ways to the tools of a server that a call is handed.
pub(super) fn ways_of_handed<'i>(index: &Index<'i>, arg: &'i Arg, at: &Context<'i>) -> Vec<Way> {
    ways_from(index, || which_arg(index, &index.evaluate(arg, at), arg))
}

fn ways_from(index: &Index<'_>, server: impl FnOnce() -> Option<Which>) -> Vec<Way> {
    let mut found = match index.mounted() {
        [] => vec![],
        mounted => server().map_or_else(Vec::new, |server| ways(mounted, &server, DEPTH)),
    };
    found.dedup();
    if found.is_empty() {
        found.push(Way::default());
    }
    found
}

/// The ways to a server's tools through those that have taken it over.
fn ways(mounted: &[Mounted], server: &Which, depth: usize) -> Vec<Way> {
    let Some(depth) = depth.checked_sub(1) else { return vec![] };
    let mut found = vec![];
    for mount in mounted.iter().filter(|mount| mount.server == *server) {
        let around = mount.within.as_ref().map(|within| ways(mounted, within, depth));
        let around = around.filter(|around| !around.is_empty()).unwrap_or_else(|| vec![Way::default()]);
        let through = around.into_iter().map(|Way(mut around)| {
            around.insert(0, mount.naming.clone());
            Way(around)
        });
        found.extend(through.filter(|way| way.len() <= LONG));
        found.truncate(NAMES);
    }
    found
}

/// Which server something is that is found at a path.
fn which<'i>(index: &Index<'i>, thing: &AbstractValue<'i>, root: &Root, fields: &[Field]) -> Option<Which> {
    match thing {
        AbstractValue::Call(..) => made(index, thing, DEPTH).map(Which::Made),
        AbstractValue::Instance(..) => exact_place(root, fields, None).map(|place| Which::Kept(place.into())),
        _ => None,
    }
}

/// Which server something is that a call is handed.
fn which_arg<'i>(index: &Index<'i>, thing: &AbstractValue<'i>, arg: &'i Arg) -> Option<Which> {
    match &arg.term {
        Term::Path(path) => which(index, thing, &path.root, &path.fields),
        _ => which(index, thing, &Root::This, &[]),
    }
}

/// The call that makes a server: it may stand in a function that gives the server back.
fn made<'i>(index: &Index<'i>, thing: &AbstractValue<'i>, depth: usize) -> Option<u32> {
    let (AbstractValue::Call(number, at), Some(depth)) = (thing, depth.checked_sub(1)) else { return None };
    let made = || {
        let site = index.site(*number)?;
        let at = at.go(site.within);
        let AbstractValue::Function(FunctionId(function), env) = index.path(site.callee.as_ref()?, &at)
        else {
            return None;
        };
        let env = env.with(function, index.handed_over(function, site, &at));
        made(index, &index.returned(function, &env), depth)
    };
    Some(made().unwrap_or(*number))
}

/// The servers of a tree that others take over.
pub(super) fn all<'i>(index: &Index<'i>) -> Vec<Mounted> {
    let known = &index.sdk().mount;
    let mut mounted = vec![];
    for (_, site) in index.calls_that(CallKind::REGISTERS) {
        let Some((method, fields)) = site.callee.as_ref().and_then(split_method) else { continue };
        let (true, Some(callee)) = (known.methods.contains(method), &site.callee) else { continue };
        // A list or the callers may say which server it is, and what its tools are called by.
        let ask = |at: &Context<'i>| -> Vec<Unbound> {
            let things = site.arguments.iter().map(|arg| index.settle(index.evaluate(arg, at)).unbound());
            let options = site.arguments.iter().filter_map(|arg| prefix_in(index, arg, at)?.unbound());
            things.flatten().chain(options).collect()
        };
        for env in index.caller_contexts(site.within, ask) {
            mounted.extend(mount(index, site, (callee, fields), &Context { function: site.within, env }));
        }
    }
    mounted
}

/// What a call comes to that takes a server over, in one context.
fn mount<'i>(
    index: &Index<'i>,
    site: &'i Site,
    (callee, fields): (&'i AccessPath, &'i [Field]),
    at: &Context<'i>,
) -> Option<Mounted> {
    let things: Vec<AbstractValue<'i>> = site.arguments.iter().map(|arg| index.evaluate(arg, at)).collect();
    let text = |thing: &AbstractValue<'i>| index.settle(thing.clone()).text().cloned();
    let option = |arg: &'i Arg| prefix_in(index, arg, at)?.text().cloned();
    let named = things.iter().find_map(text).or_else(|| site.arguments.iter().find_map(option));
    // A web application is put under an address.
    if named.as_ref().is_some_and(|name| name.contains('/')) {
        return None;
    }
    let server = things.iter().zip(&site.arguments).find_map(|(thing, arg)| which_arg(index, thing, arg))?;
    let within = which(index, &index.walk(&callee.root, fields, at), &callee.root, fields);
    let joined = &*index.sdk().mount.joined;
    let before = named.filter(|named| !named.is_empty()).map(|named| [&*named, joined].concat().into());
    let instead = site.arguments.iter().find_map(|arg| renamed_in(index, arg, at)).unwrap_or_default();
    let naming = Naming { before: before.unwrap_or_else(|| "".into()), instead };
    Some(Mounted { server, within, naming })
}

/// What the option among arguments that are handed over by name calls single tools: `tool_names={"forecast": "outlook"}`.
fn renamed_in<'i>(index: &Index<'i>, arg: &'i Arg, at: &Context<'i>) -> Option<Vec<(Name, Name)>> {
    let given = arg.member(index.sdk().mount.renamed.as_ref()?)?;
    let names = index.elements(&index.evaluate(given, at)).into_iter().filter_map(|(own, thing)| {
        let instead = index.settle(thing).text().cloned()?;
        Some((own?, instead))
    });
    Some(names.take(RENAMED).collect())
}

/// The option among arguments that are handed over by name which says what the tools are called by.
fn prefix_in<'i>(index: &Index<'i>, arg: &'i Arg, at: &Context<'i>) -> Option<AbstractValue<'i>> {
    let mut options = index.sdk().mount.prefix.iter();
    options.find_map(|option| Some(index.settle(index.evaluate(arg.member(option)?, at))))
}
