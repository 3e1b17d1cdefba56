//! What discovery answers.

use std::collections::HashMap;

use interlock_model::ir::{Function, FunctionId, Name, Note, Origin, OutOfSight, Server, Tool, Value};

use crate::module::Site;

/// What was discovered.
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
    /// Handlers of all tools of which not even the names were found.
    pub(crate) nameless: Vec<FunctionId>,
    /// Handlers that the tree's own server calls: how a library would run them says nothing about them.
    pub(crate) called_by_tree: Vec<FunctionId>,
    /// The routes that functions answer, as a reader names them: `POST /notes`.
    pub(crate) routes: HashMap<FunctionId, Name>,
    /// Tools whose functions were not found, and where a server is handed to something unknown.
    pub(crate) out_of_sight: Vec<OutOfSight>,
    /// Handlers of routes that a framework runs in threads if they are not asynchronous.
    pub(crate) in_threads: Vec<FunctionId>,
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
