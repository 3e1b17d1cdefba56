//! Which values of a handler say who calls, and which say in which session.
//!
//! The server has verified `extra.authInfo`, and has made `extra.sessionId` up itself: neither is an argument that a caller can choose.

use interlock_model::ir::{AccessPath, Function, FunctionId, Op, Origin, Resource, Root, Term, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Discovered, exact_name, index::Index};
use crate::{
    link::flat::number,
    tables::{Sdk, Words},
};

/// Marks the values of all functions that are derived from what a request says about its caller or session.
pub(super) fn mark(index: &Index<'_>, discovered: &mut Discovered) {
    let sdk = index.sdk();
    let function = |number: &u32| Some((*number, index.unit(*number)?.function));
    let own = index.personal().iter().filter_map(function);
    let added = (number(index.functions.len())..).zip(discovered.added.iter().map(|added| &added.function));
    let tools = discovered.handlers.iter().filter(|handler| !handler.tools.is_empty());
    let tools: FxHashSet<u32> = tools.map(|handler| handler.function.0).collect();
    let mut origins = vec![];
    for (number, function) in own.chain(added) {
        // What comes from outside: parameters, what is captured, and their parts: `{ authInfo }`. The first parameter of a tool is
        // what the caller chose, whatever its fields are called.
        let alone = function.parameters.len() == 1;
        let is_chosen =
            |first: &&Value| tools.contains(&number) && !(alone && is_request(sdk, function, **first));
        let chosen = function.parameters.first().filter(is_chosen);
        let outside = function.parameters.iter().filter(|parameter| Some(*parameter) != chosen);
        let mut given: FxHashSet<Value> = outside.chain(&function.captures).copied().collect();
        let mut known: FxHashMap<Value, Origin> = FxHashMap::default();
        for effect in function.effects() {
            let (Op::Derive { into, term: Term::Path(path), .. }
            | Op::Read { into, of: Resource::Shared(path), .. }) = &effect.op
            else {
                continue;
            };
            let Root::Value(root) = path.root else { continue };
            if !given.contains(&root) {
                continue;
            }
            given.insert(*into);
            // A part of what says who calls says so too.
            let said = origin_of_path(sdk, path, is_request(sdk, function, root))
                .or_else(|| known.get(&root).copied());
            if let Some(origin) = said {
                known.insert(*into, origin);
                origins.push((FunctionId(number), *into, origin));
            }
        }
    }
    discovered.origins = origins;
}

/// Whether a value is called like a request or what comes with one.
fn is_request(sdk: &Sdk, function: &Function, value: Value) -> bool {
    let name = function.values.get(value.0 as usize).map_or("", |info| &info.name);
    sdk.request.names.contains(name)
}

/// Whether a path may say something about the request. Hardly any does, so this is asked before anything else is.
pub(super) fn may_say(sdk: &Sdk, path: &AccessPath) -> bool {
    let known = &sdk.request;
    let telling =
        |name: &str| known.session.contains(name) || known.caller.contains(name) || known.user.contains(name);
    matches!(path.root, Root::Value(_)) && path.fields.iter().filter_map(exact_name).any(telling)
}

/// What the field names of a path say about the request. `user` says it only of what is known to be one.
pub(super) fn origin_of_path(sdk: &Sdk, path: &AccessPath, of_request: bool) -> Option<Origin> {
    let known = &sdk.request;
    let has = |wanted: &Words| path.fields.iter().filter_map(exact_name).any(|name| wanted.contains(name));
    let of_session = has(&known.session);
    if has(&known.caller) || (of_request || of_session) && has(&known.user) {
        return Some(Origin::Caller);
    }
    let last = path.fields.iter().rev().find_map(exact_name);
    match of_session {
        true if last.is_some_and(|last| known.identity.contains(last)) => Some(Origin::Caller),
        true => Some(Origin::Session),
        false => None,
    }
}
