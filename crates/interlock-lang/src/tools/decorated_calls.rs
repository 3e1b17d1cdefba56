//! Calls of functions that were wrapped where they are declared.
//!
//! ```python
//! @locked
//! def save(note): ...
//!
//! @mcp.tool()
//! def add(note): save(note)
//! ```
//!
//! `save` is the closure that `locked` gives back, one function for all that it wraps. What it wraps here is known from the declaration, so the
//! call reaches a copy of the closure with that put in.

use interlock_model::ir::{FunctionId, Root};
use rustc_hash::FxHashMap;

use super::{AbstractValue, Context, discovery::Discovery};

/// Leads calls by a global name to the copies.
pub(super) fn lead(discovery: &mut Discovery<'_, '_>) {
    let index = discovery.index;
    let mut known: FxHashMap<&str, Option<u32>> = FxHashMap::default();
    let mut led = vec![];
    for (number, site) in (0_u32..).zip(&index.eval.flat.sites) {
        let Some(callee) = site.callee.as_ref().filter(|callee| callee.fields.is_empty()) else { continue };
        let Root::Global(name) = &callee.root else { continue };
        if site.construct || site.decorates || site.function.is_some() {
            continue;
        }
        let copy = *known.entry(&**name).or_insert_with(|| {
            let meant = index.settle(index.path(callee, &Context::plain(site.within)));
            let AbstractValue::Function(FunctionId(function), env) = meant else { return None };
            let copy = discovery.wrapped.specialise(index, function, &env);
            (copy != function).then_some(copy)
        });
        led.extend(copy.map(|copy| (number, FunctionId(copy))));
    }
    discovery.led = led;
}
