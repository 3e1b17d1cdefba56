//! What runs in a thread although a coroutine started it: `asyncio.to_thread(store.add, n)`.
//!
//! Which function that is may be known only when all files are: a method, or a function of another file. What a pool of a single thread
//! runs is left out: one of its calls ends before the next begins.

use interlock_model::ir::{AccessPath, Field, Function, FunctionId, Interleaving, Root};

use crate::{
    Arg, Shape,
    eval::{Evaluator, Reached},
    module::{Site, Threaded},
};

/// The library function or class that makes a pool, and how its size is called.
const POOL: &str = "ThreadPoolExecutor";
const SIZE: &str = "max_workers";

/// Other calls get between any two steps of these, unless they are asynchronous and only made in a thread.
pub(super) fn mark(functions: &mut [Function], threaded: &[FunctionId]) {
    for id in threaded {
        if let Some(function) = functions.get_mut(id.0 as usize)
            && !function.asynchronous
        {
            function.interleaving = Interleaving::Anywhere;
        }
    }
}

/// The functions that calls run in threads.
pub(super) fn started(eval: &Evaluator<'_, '_>) -> Vec<FunctionId> {
    let mut found = vec![];
    for Threaded { site, pool } in &eval.flat.threads {
        let Some(site) = eval.flat.sites.get(*site as usize) else { continue };
        let within = FunctionId(site.within);
        if pool.as_ref().is_some_and(|pool| has_one_thread(eval, within, pool)) {
            continue;
        }
        let known = site.function.map(|function| Reached::Function(FunctionId(function), None));
        if let Reached::Function(function, _) = known.unwrap_or_else(|| eval.reached(site)) {
            found.push(function);
        }
    }
    found
}

/// Whether a pool was made with a single thread: `ThreadPoolExecutor(max_workers=1)`.
fn has_one_thread(eval: &Evaluator<'_, '_>, within: FunctionId, pool: &AccessPath) -> bool {
    let made = |arg: &Arg| match arg.shape {
        Shape::Call(site) => eval.flat.sites.get(site as usize).is_some_and(makes_one_thread),
        _ => false,
    };
    // One that a function has made for itself is another one in every call.
    if let (Root::Value(_), []) = (&pool.root, pool.fields.as_slice()) {
        return false;
    }
    let Some(place) = eval.place_of(within, pool) else { return false };
    let variables = eval.index.variables(&place).filter_map(|number| eval.flat.variables.get(number));
    let pools = variables.filter_map(|variable| variable.initial.as_ref());
    let pools: Vec<&Arg> = pools.filter(|arg| !matches!(arg.shape, Shape::Null)).collect();
    !pools.is_empty() && pools.into_iter().all(made)
}

fn makes_one_thread(site: &Site) -> bool {
    let makes_pool = site.callee.as_ref().is_some_and(|callee| match (&callee.root, callee.fields.last()) {
        (_, Some(Field::Name(name))) => &**name == POOL,
        (Root::Global(name), None) => name.ends_with(POOL),
        _ => false,
    });
    makes_pool
        && site.arguments.iter().enumerate().any(|(place, arg)| match &arg.shape {
            Shape::Number(size) => place == 0 && *size == 1,
            Shape::Object(members) => members
                .iter()
                .any(|(name, member)| &**name == SIZE && matches!(member.shape, Shape::Number(1))),
            _ => false,
        })
}
