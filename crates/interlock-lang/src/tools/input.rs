//! What discovery is given and what it answers.

use interlock_model::ir::{AccessPath, Function, FunctionId, Name, Note, Origin, Server, Tool, Value};
use rustc_hash::FxHashSet;

use crate::{
    Arg, Lookup, Tables,
    eval::Index,
    link::{flat::About, names::Names},
    module::{Class, Site, Variable},
};

/// A tree whose modules are numbered through and whose names are led to their declarations: a global is `FILE::NAME`, what a library
/// exports is `LIBRARY::NAME`, what the language offers has no `::`. Its calls are still to be looked up.
#[derive(Debug)]
pub(crate) struct Input<'i> {
    /// The files, by number.
    pub(crate) files: &'i [Name],
    /// The functions, by number.
    pub(crate) units: Vec<Unit<'i>>,
    /// The calls, by number.
    pub(crate) sites: &'i [Site],
    /// The classes.
    pub(crate) classes: &'i [Class],
    /// What is assigned to globals, fields and members.
    pub(crate) variables: &'i [Variable],
    /// The calls that are handed functions, by number.
    pub(crate) handing: &'i [u32],
    /// The names of members that may be functions, in all objects that are written out.
    pub(crate) members: &'i FxHashSet<Name>,
    /// The folders that are packages of their own: those with a `package.json`, without a slash at the end.
    pub(crate) packages: Vec<&'i str>,
    /// What is written where.
    pub(crate) index: &'i Index<'i>,
    /// How methods are looked up.
    pub(crate) lookup: Lookup,
    /// What files offer each other.
    pub(crate) names: &'i Names,
    /// What the language says in tables, and the user.
    pub(crate) tables: &'i Tables,
    /// The global by which a method names what is above its class.
    pub(crate) above: Option<&'i str>,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Unit<'i> {
    /// Its steps.
    pub(crate) function: &'i Function,
    /// The function that it is written in.
    pub(crate) parent: Option<u32>,
    /// The declared types of its values.
    pub(crate) types: &'i [(Value, AccessPath)],
    /// By which path it is called.
    pub(crate) bound: Option<&'i AccessPath>,
    /// The structure of its locals.
    pub(crate) locals: &'i [(Value, Arg)],
    /// What its loops go over.
    pub(crate) items: &'i [(Value, Arg)],
    /// What it returns.
    pub(crate) returned: &'i [Arg],
}

impl<'i> Unit<'i> {
    /// A function of a tree.
    pub(crate) fn of(function: &'i Function, about: &'i About) -> Self {
        Self {
            function,
            parent: about.parent,
            types: &about.types,
            bound: about.bound.as_ref(),
            locals: &about.locals,
            items: &about.items,
            returned: &about.returned,
        }
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// The handlers, in the order of their functions; each function once.
    pub(crate) handlers: Vec<Handler>,
    /// Functions to add behind the tree's own: wrappers with the function that they wrap put in.
    pub(crate) added: Vec<Added>,
    /// Calls to add behind the tree's own: those of the added functions.
    pub(crate) sites: Vec<Site>,
    /// Calls that reach one of several functions, depending on a tool's name.
    pub(crate) dispatches: Vec<Dispatch>,
    /// Values that say who calls or in which session.
    pub(crate) origins: Vec<(FunctionId, Value, Origin)>,
    /// The servers.
    pub(crate) servers: Vec<Server>,
    /// What was seen to be a registration and not understood.
    pub(crate) notes: Vec<Note>,
}

/// A function that clients call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handler {
    /// Which. Numbers behind the tree's own are those of [`Discovered::added`].
    pub(crate) function: FunctionId,
    /// As which tools; none for a request, notification or route that is no tool.
    pub(crate) tools: Vec<Tool>,
}

/// A function made from another.
#[derive(Debug)]
pub(crate) struct Added {
    /// Its steps.
    pub(crate) function: Function,
    /// What it was made from; what else is known of it holds for both.
    pub(crate) like: FunctionId,
}

/// A call that reaches one of several functions: `handlers[name](args)`. It stands for a chain of checks on the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dispatch {
    /// The call.
    pub(crate) site: u32,
    /// The value that holds the name.
    pub(crate) on: Option<Value>,
    /// The names, and what runs then.
    pub(crate) ways: Vec<(Name, FunctionId)>,
}
