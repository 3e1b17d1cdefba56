//! Who calls the functions from outside: handlers of tools, other entries that clients reach, the servers that offer them.
//!
//! Registrations are looked for in the calls of the whole tree, whatever library they belong to: `registerTool`, `tool`, `addTool`,
//! `setRequestHandler`, a decorator, a class or a file per tool, a `tools/call` dispatch by hand. The name of a tool and its handler are
//! often somewhere else: in a constant, an element of a list that a loop registers, a parameter of a function that registers for
//! others. [`look`] follows them there.

mod input;

mod declared;
mod decorated;
mod env;
mod index;
mod look;
mod memo;
mod mounted;
mod place;
mod results;
mod says;
mod ways;

mod found;
mod tool;

mod shape;

mod register;

mod offered;

mod dispatch;
mod looked_up;
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

pub(crate) use apply::{Applied, apply};
use input::{Discovered, Dispatch, Handler, Input, Unit};

/// Finds the handlers and servers of a tree.
fn discover(input: &Input<'_>) -> Discovered {
    let index = index::Index::of(input);
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
