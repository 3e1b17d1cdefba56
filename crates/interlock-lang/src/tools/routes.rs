//! Routes of web frameworks: clients reach them beside the tools, and they race like them.

use interlock_model::ir::{FunctionId, Root};

use super::{
    AbstractValue, Context, exact_name, found::Found, index::Index, register::made_by, says::Says,
    split_method,
};
use crate::module::{Site, split_global};

/// Makes the handlers of routes entries.
pub(super) fn entries(found: &mut Found<'_, '_>) {
    let index = found.index;
    for (_, site) in index.calls_that(Says::ROUTES) {
        if !is_route(index, site) {
            continue;
        }
        let at = Context::plain(site.within);
        for argument in &site.arguments {
            if let AbstractValue::Function(FunctionId(function), _) = index.settle(index.look(argument, &at))
            {
                found.entry(function);
            }
        }
    }
}

fn is_route<'i>(index: &Index<'i>, site: &'i Site) -> bool {
    let Some(callee) = &site.callee else { return false };
    let (at, known) = (Context::plain(site.within), &index.sdk().route);
    if let Root::Global(name) = &callee.root {
        // `http.createServer((req, res) => …)`, with the module or the function imported.
        let made = split_global(name).is_some_and(|(library, _)| known.libraries.contains(library));
        let last = callee.fields.last().and_then(exact_name);
        let own = split_global(name).map(|(_, own)| own);
        if made && [own, last].contains(&Some(&*known.server)) {
            return true;
        }
    }
    let Some((method, fields)) = split_method(callee) else { return false };
    if !known.methods.contains(method) {
        return false;
    }
    let library =
        made_by(index, &index.receiver(fields, callee, &at)).or_else(|| index.declared_library(callee, &at));
    library.is_some_and(|name| {
        let library = split_global(&name).map_or(&*name, |(library, _)| library);
        known.libraries.contains(library)
    })
}
