//! Objects that register the methods of their class which say that they are tools.
//!
//! ```text
//! class Notes(MCPMixin):
//!     @mcp_tool(name="add")
//!     async def add_note(self, text): …
//!
//! Notes().register_all(mcp, prefix="notes")     # notes_add
//! ```
//!
//! That a method is a tool its decorator says, here it is only found out what it is called: an object may be registered under a prefix, and
//! several objects of one class under several. Where nobody registers an object that is known, a method keeps its own name.

use interlock_model::ir::{Name, Root};

use super::{
    AbstractValue, Context, Unbound,
    call_kind::CallKind,
    index::Index,
    mounted::{self, Way},
    split_method,
};
use crate::module::Site;

/// More names than this of one method are left out: nobody calls a tool so many things.
const MOST_WAYS: usize = 32;

/// An object that registers its methods.
#[derive(Debug)]
pub(super) struct Mixed {
    class: usize,
    ways: Vec<Way>,
}

/// The ways to a method that says that it is a tool, of which there is one at least.
pub(super) fn ways_of(index: &Index<'_>, method: u32, name: &str) -> Vec<Way> {
    let own = name.rsplit_once('.').map_or(name, |(_, own)| own);
    let has_it = |mixed: &&Mixed| index.method(mixed.class, own) == Some(method);
    let mut ways: Vec<Way> = vec![];
    for way in index.mixed().iter().filter(has_it).flat_map(|mixed| &mixed.ways) {
        if ways.len() == MOST_WAYS {
            break;
        }
        if !ways.contains(way) {
            ways.push(way.clone());
        }
    }
    if ways.is_empty() {
        ways.push(Way::default());
    }
    ways
}

/// The objects of a tree that register their methods.
pub(super) fn all<'i>(index: &Index<'i>) -> Vec<Mixed> {
    let known = &index.sdk().mixin;
    let mut found = vec![];
    for (_, site) in index.calls_that(CallKind::REGISTERS) {
        let method = site.callee.as_ref().and_then(split_method).map(|(method, _)| method);
        if !method.is_some_and(|method| known.methods.contains(method)) {
            continue;
        }
        // A loop goes over objects, or the callers hand them over.
        let ask = |at: &Context<'i>| -> Vec<Unbound> {
            let object = object_of(index, site, at).err();
            object
                .into_iter()
                .chain(options(index, site, at).into_iter().filter_map(|it| it.unbound()))
                .collect()
        };
        for env in index.caller_contexts(site.within, ask) {
            found.extend(mixed(index, site, &Context { function: site.within, env }));
        }
    }
    found
}

/// What a call comes to that registers the methods of an object, in one context.
fn mixed<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<Mixed> {
    let class = object_of(index, site, at).ok()??;
    let [prefix, separator] = options(index, site, at);
    let separator = separator.text().cloned().unwrap_or_else(|| index.sdk().mixin.joined.as_str().into());
    let before = |prefix: &Name| -> Name { [&**prefix, &*separator].concat().into() };
    let before = prefix.text().filter(|prefix| !prefix.is_empty()).map(before);
    let server = site.arguments.first();
    let ways =
        server.map_or_else(|| vec![Way::default()], |server| mounted::ways_of_handed(index, server, at));
    let ways = ways.into_iter().map(|way| match &before {
        Some(before) => way.with_prefix(before.clone()),
        None => way,
    });
    Some(Mixed { class, ways: ways.collect() })
}

/// The class of the object whose methods are registered; who decides it, where a loop or callers do, or which class `self` is of.
fn object_of<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Result<Option<usize>, Unbound> {
    let callee = site.callee.as_ref().and_then(|callee| Some((callee, split_method(callee)?)));
    let Some((callee, (_, fields))) = callee else { return Ok(None) };
    if matches!((&callee.root, fields), (Root::This, [])) {
        let own = index.owner(at.function).and_then(|owner| index.class(owner));
        return match own.map(|own| (own, at.env.this(own))) {
            Some((own, None)) if !index.descendants(own).is_empty() => Err(Unbound::This(own)),
            own => Ok(own.map(|(own, actual)| actual.unwrap_or(own))),
        };
    }
    match index.receiver(fields, callee, at) {
        AbstractValue::Instance(class, _) => Ok(Some(class)),
        thing => thing.unbound().map_or(Ok(None), Err),
    }
}

/// What stands before the names, and between that and them: handed over behind the server, or by name.
fn options<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> [AbstractValue<'i>; 2] {
    let known = &index.sdk().mixin;
    let by_name = |option: &str| site.arguments.iter().find_map(|arg| arg.member(option));
    let positional = |at: usize| site.arguments.get(at);
    let given = [
        by_name(&known.prefix).or_else(|| positional(1)),
        known.separator.iter().find_map(|option| by_name(option)).or_else(|| positional(2)),
    ];
    given.map(|arg| arg.map_or(AbstractValue::Unknown, |arg| index.settle(index.evaluate(arg, at))))
}
