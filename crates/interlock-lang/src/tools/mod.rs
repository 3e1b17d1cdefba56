//! Who calls the functions from outside: handlers of tools, other entries that clients reach, the servers that offer them.
//!
//! Registrations are looked for in the calls of the whole tree, whatever library they belong to: `registerTool`, `tool`, `addTool`,
//! `setRequestHandler`, a decorator, a class or a file per tool, a `tools/call` dispatch by hand. The name of a tool and its handler are
//! often somewhere else: in a constant, an element of a list that a loop registers, a parameter of a function that registers for
//! others. The [evaluation in contexts](crate::eval::context) follows them there; what is here
//! are recognisers over the values that it finds, and what it means to be a tool.

mod call_kind;
mod index;

mod answer;
mod discovery;
mod tool;

mod given;
mod shape;

mod register;

mod constructed;
mod mixin;
mod mounted;
mod overridden;
mod remade;

mod dispatch;
mod lookup;
mod own_server;
mod per_tool;
mod sent;

mod classes;
mod files;

mod routes;

mod wrap;

mod serve;

mod unseen;

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
    let mut discovery = discovery::Discovery::new(&index);
    register::registrations(&mut discovery);
    classes::tools(&mut discovery);
    files::tools(&mut discovery);
    dispatch::by_hand(&mut discovery);
    own_server::tools(&mut discovery);
    if discovery.any() {
        routes::entries(&mut discovery);
        files::answering(&mut discovery);
    }
    let mut discovered = discovery.finish();
    origin::mark(&index, &mut discovered);
    discovered.servers = serve::servers(&index, &discovered);
    discovered.out_of_sight.extend(unseen::registrars(&index));
    discovered
}
