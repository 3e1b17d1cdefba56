//! Who calls the functions from outside: handlers of tools, other entries that clients reach, the servers that offer them.
//!
//! Registrations are looked for in the calls of the whole tree, whatever library they belong to: `registerTool`, `tool`, `addTool`,
//! `setRequestHandler`, a decorator, a class or a file per tool, a `tools/call` dispatch by hand. The name of a tool and its handler are
//! often somewhere else: in a constant, an element of a list that a loop registers, a parameter of a function that registers for
//! others. The [evaluation in contexts](crate::eval::context) follows them there; what is here
//! are recognisers over the values that it finds, and what it means to be a tool.

mod index;
mod says;

mod answer;
mod found;
mod tool;

mod given;
mod shape;

mod register;

mod mounted;
mod offered;

mod dispatch;
mod looked_up;
mod sent;
mod vary;

mod classes;
mod files;

mod routes;

mod wrap;

mod serve;

mod limits;

mod origin;

mod apply;

#[cfg(test)]
mod tests;

use answer::{Discovered, Dispatch, Handler};
pub(crate) use apply::{Applied, apply};

use crate::eval::{
    AbstractValue,
    context::{Assumed, Choice, Context, Contexts, Env, Unbound, split_method},
    exact_name, exact_place,
};

/// Finds the handlers and servers of a tree.
fn discover<'f>(contexts: Contexts<'f>, packages: Vec<&'f str>) -> Discovered {
    let index = index::Index::of(contexts, packages);
    let mut found = found::Found::new(&index);
    register::registrations(&mut found);
    classes::tools(&mut found);
    files::tools(&mut found);
    dispatch::by_hand(&mut found);
    if found.any() {
        routes::entries(&mut found);
    }
    let mut discovered = found.finish();
    origin::mark(&index, &mut discovered);
    discovered.servers = serve::servers(&index, &discovered);
    discovered
}
