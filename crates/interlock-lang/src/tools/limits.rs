//! Whether something bounds each caller before a handler runs.

use interlock_model::ir::{FunctionId, Op, Root, Value};
use rustc_hash::FxHashSet;

use super::{Context, Discovered, call_kind::CallKind, exact_name, index::Index, serve::Packages};
use crate::module::{Site, split_global};

/// The packages in which something limits callers.
pub(super) fn packages<'i>(
    index: &Index<'i>,
    discovered: &Discovered,
    packages: &Packages<'i>,
) -> FxHashSet<&'i str> {
    let callers = discovered.origins.iter().map(|(function, value, _)| (*function, *value)).collect();
    let mut limited = FxHashSet::default();
    let tells = |says: CallKind| {
        !says.any(CallKind::FOREIGN) || says.any(CallKind::LIMITS) || says.any(CallKind::ASKS)
    };
    for (site, says) in index.calls().filter(|(_, says)| tells(*says)) {
        let package = packages.at(site.span);
        if !limited.contains(package)
            && (is_library(index, site, says) || says.any(CallKind::ASKS) && is_gate(index, &callers, site))
        {
            limited.insert(package);
        }
    }
    limited
}

/// The values that say who calls.
type Callers = FxHashSet<(FunctionId, Value)>;

/// A limiter of a library is made or asked.
fn is_library<'i>(index: &Index<'i>, site: &'i Site, says: CallKind) -> bool {
    // Of most calls the name alone says whose they are.
    if says.any(CallKind::FOREIGN) {
        return says.any(CallKind::LIMITS);
    }
    let Some(callee) = &site.callee else { return false };
    let at = Context::plain(site.within);
    let library = index.path(callee, &at).exported().or_else(|| match &callee.root {
        Root::Global(name) => Some(name.clone()),
        _ => None,
    });
    library.is_some_and(|name| {
        let library = split_global(&name).map_or(&*name, |(library, _)| library);
        index.sdk().limit.libraries.contains(library)
    })
}

/// A count, permit or bucket of each caller is looked up by who calls, and something is called a limit there.
fn is_gate<'i>(index: &Index<'i>, callers: &Callers, site: &'i Site) -> bool {
    let by_caller = site
        .arguments
        .iter()
        .any(|arg| arg.values.iter().any(|value| identifies_caller(index, callers, site.within, *value, 8)));
    by_caller && is_called_limit(index, site)
}

/// Whether a value depends on who calls, in this function or in those that call it.
fn identifies_caller(
    index: &Index<'_>,
    callers: &Callers,
    function: u32,
    value: Value,
    depth: usize,
) -> bool {
    use super::index::Definition;
    use crate::eval::context::Caller;
    let Some(depth) = depth.checked_sub(1) else { return false };
    if callers.contains(&(FunctionId(function), value)) {
        return true;
    }
    let is_caller = |name: &str| index.sdk().limit.callers.contains(name);
    let named = index.unit(function).and_then(|unit| unit.function.values.get(value.0 as usize));
    if named.is_some_and(|info| is_caller(&info.name)) {
        return true;
    }
    let via = |value| identifies_caller(index, callers, function, value, depth);
    match index.definition(function, value) {
        Some(Definition::Either(values)) => values.iter().copied().any(via),
        Some(Definition::Path(path)) => match path.root {
            Root::Value(root) => {
                let last = path.fields.last().and_then(exact_name);
                super::origin::origin_of_path(index.sdk(), path, true).is_some()
                    || last.is_some_and(is_caller)
                    || via(root)
            }
            _ => false,
        },
        Some(Definition::Term(interlock_model::ir::Term::Join(parts))) => {
            parts.iter().any(|part| match part {
                interlock_model::ir::Term::Path(path) => matches!(path.root, Root::Value(root) if via(root)),
                _ => false,
            })
        }
        Some(Definition::Call(number)) => index
            .site(*number)
            .is_some_and(|site| site.arguments.iter().any(|arg| arg.values.iter().copied().any(via))),
        Some(Definition::Parameter(position)) => index.callers(function).iter().any(|caller| match caller {
            Caller::Site(number) => index.site(*number).is_some_and(|site| {
                let values = site.arguments.get(*position).map_or(&[][..], |arg| &arg.values);
                values.iter().any(|value| identifies_caller(index, callers, site.within, *value, depth))
            }),
            Caller::Step(..) | Caller::Decorator(_) | Caller::Registration(_) => false,
        }),
        _ => false,
    }
}

/// Whether the collection, the function or a text in it is named like a limit.
fn is_called_limit(index: &Index<'_>, site: &Site) -> bool {
    let like = |name: &str| {
        let name = name.to_ascii_lowercase();
        index.sdk().limit.words.iter().any(|word| name.contains(&**word))
    };
    let path = site.callee.as_ref();
    let named = path.is_some_and(|path| {
        let root = matches!(&path.root, Root::Global(name) if like(name.rsplit_once("::").map_or(name, |(_, name)| name)));
        root || path.fields.iter().filter_map(exact_name).any(like)
    });
    let unit = index.unit(site.within);
    named
        || unit.is_some_and(|unit| {
            like(&unit.function.name)
                || unit.function.effects().any(|effect| match &effect.op {
                    Op::Derive { into, .. } => {
                        unit.function.values.get(into.0 as usize).is_some_and(|info| like(&info.name))
                    }
                    _ => false,
                })
        })
}
