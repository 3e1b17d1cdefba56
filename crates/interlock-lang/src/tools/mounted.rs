//! Servers that take over the tools of others: `main.mount(weather, prefix="weather")` calls its `forecast` `weather_forecast`.

use interlock_model::ir::{Field, Name, Root, Term};

use super::{AbstractValue, Context, call_kind::CallKind, exact_place, index::Index, split_method};
use crate::{Arg, module::Site};

/// How many servers may be inside each other.
const DEPTH: usize = 4;

/// How long a name may grow.
const LONG: usize = 256;

/// A server that another one has taken over: where it was made, where the other was, and what its tools are called by.
#[derive(Debug)]
pub(super) struct Mounted {
    server: Which,
    within: Option<Which>,
    prefix: Name,
}

/// Which server it is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    /// The one that a call has made.
    Made(u32),
    /// An object of a class of the tree, which extends one of a library, by where it is kept.
    Kept(String),
}

/// What stands before the names of the tools that a call registers.
pub(super) fn prefix<'i>(index: &Index<'i>, site: &'i Site, at: &Context<'i>) -> Option<String> {
    let mounted = index.mounted();
    if mounted.is_empty() {
        return None;
    }
    let callee = site.callee.as_ref()?;
    let (_, fields) = split_method(callee)?;
    let mut server = which(&index.walk(&callee.root, fields, at), &callee.root, fields);
    let mut whole = String::new();
    for _ in 0..DEPTH {
        let Some(mount) = mounted.iter().find(|mounted| Some(&mounted.server) == server.as_ref()) else {
            break;
        };
        if whole.len() + mount.prefix.len() > LONG {
            break;
        }
        whole = [&*mount.prefix, &*index.sdk().mount.joined, &*whole].concat();
        server.clone_from(&mount.within);
    }
    (!whole.is_empty()).then_some(whole)
}

/// Which server something is that is found at a path.
fn which(thing: &AbstractValue<'_>, root: &Root, fields: &[Field]) -> Option<Which> {
    match thing {
        AbstractValue::Call(number, _) => Some(Which::Made(*number)),
        AbstractValue::Instance(..) => exact_place(root, fields, None).map(|place| Which::Kept(place.into())),
        _ => None,
    }
}

/// The servers of a tree that others take over.
pub(super) fn all(index: &Index<'_>) -> Vec<Mounted> {
    let known = &index.sdk().mount;
    let mut mounted = vec![];
    for (_, site) in index.calls_that(CallKind::REGISTERS) {
        let Some((method, fields)) = site.callee.as_ref().and_then(split_method) else { continue };
        let (true, Some(callee)) = (known.methods.contains(method), &site.callee) else { continue };
        let at = Context::plain(site.within);
        let things: Vec<AbstractValue<'_>> =
            site.arguments.iter().map(|arg| index.evaluate(arg, &at)).collect();
        let option =
            |arg: &Arg| known.prefix.iter().find_map(|option| arg.member(option)?.literal().cloned());
        let named = things.iter().find_map(|thing| thing.text().cloned());
        let named = named.or_else(|| site.arguments.iter().find_map(option));
        let server = things.iter().zip(&site.arguments).find_map(|(thing, arg)| match &arg.term {
            Term::Path(path) => which(thing, &path.root, &path.fields),
            _ => which(thing, &Root::This, &[]),
        });
        if let (Some(prefix), Some(server)) = (named, server) {
            let within = which(&index.walk(&callee.root, fields, &at), &callee.root, fields);
            mounted.push(Mounted { server, within, prefix });
        }
    }
    mounted
}
