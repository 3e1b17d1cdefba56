//! One file after lowering, whatever language it is in: where a front end ends and everything that languages share begins.
//!
//! A module says what a file imports and exports, its classes and variables, its functions as IR with call sites that are still
//! unresolved, and what was not understood. Inside a module a global is called `NAMESPACE::NAME`, imported names included; linking leads
//! an imported one to where it is declared. Functions and call sites are numbered within the module.
//!
//! Which function a call reaches, what a library does and who registers a handler is found by [`link`](crate::link()) and not here.

mod global;

pub(crate) use global::{is_qualified, split_global};

use interlock_model::{
    Span,
    ir::{AccessPath, Function, HandMade, Name, Note, Value},
};
use serde::{Deserialize, Serialize};

use crate::Arg;

/// The global by which tools name what their server keeps for as long as it runs, whichever file gives it to the server. That file has a
/// variable of the same name of its own.
pub(crate) const KEPT_BY_SERVER: &str = "mcp::kept by the server";

/// A file after lowering.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Its path relative to the scanned root.
    pub path: Name,
    /// What its globals are called after, where that is not its path: the folder of a package whose files share their names, as in Go.
    pub namespace: Option<Name>,
    /// What it takes from elsewhere.
    pub imports: Vec<Import>,
    /// What it offers.
    pub exports: Vec<Export>,
    /// Its classes; object literals with methods are variables.
    pub classes: Vec<Class>,
    /// What it only demands of types, where a type says nothing of what it fulfils: the interfaces of Go.
    pub interfaces: Vec<Interface>,
    /// What is assigned to globals, fields and members, wherever that is written.
    pub variables: Vec<Variable>,
    /// Its functions, an outer one before those inside it. The first is the module's own code, at start-up.
    pub functions: Vec<Lowered>,
    /// The calls to look up: `Callee::Pending` is the index.
    pub sites: Vec<Site>,
    /// The calls that run in a thread of their own, where what they reach is known only when all files are.
    pub threads: Vec<Threaded>,
    /// The locks that it builds itself. Function ids and paths are the module's.
    pub hand_made: Vec<HandMade>,
    /// What was not understood. The file of their spans is not set.
    pub notes: Vec<Note>,
}

/// `import { exported as local } from "from"`, or the same by `require`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// The name in this file.
    pub local: Name,
    /// As written, without `node:`.
    pub from: Name,
    /// Which export.
    pub what: Imported,
}

/// Which export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Imported {
    /// One by name; `default` is a name.
    Name(Name),
    /// All of them: `import * as fs`, `const fs = require("fs")`.
    All,
}

/// `export`, `module.exports`, `export … from`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Export {
    /// A name of this file under the name `exported`.
    Local {
        /// The name outside.
        exported: Name,
        /// The name in this file.
        local: Name,
    },
    /// A name of another file.
    From {
        /// The name outside.
        exported: Name,
        /// As written.
        from: Name,
        /// Which.
        what: Imported,
    },
    /// All names of another file.
    All {
        /// As written.
        from: Name,
    },
}

/// A class. Of several with one name, in the files of a namespace, each says a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// As a global: `PATH::NAME`.
    pub name: Name,
    /// What it inherits from or embeds, in the order in which methods are looked up there, as paths that are looked up like values:
    /// `PATH::Base`.
    pub bases: Vec<AccessPath>,
    /// The interfaces that it says it implements, as paths.
    pub implements: Vec<AccessPath>,
    /// Its methods, getters and function-valued fields; index into [`Module::functions`]. The constructor is `constructor`.
    pub methods: Vec<(Name, u32)>,
    /// Those of its methods that run where they are named as a member, without being called, and whether what they give is kept then.
    pub getters: Vec<(u32, Kept)>,
    /// The declared types of its fields and constructor properties, as paths.
    pub fields: Vec<(Name, AccessPath)>,
}

/// Whether what a getter gives is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// It runs each time.
    No,
    /// It runs the first time only: `@cached_property`.
    Yes,
}

/// What a type must have to be used as this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interface {
    /// As a global.
    pub name: Name,
    /// The methods that it must have.
    pub methods: Vec<Name>,
    /// Further interfaces whose methods it must have, as paths.
    pub embeds: Vec<AccessPath>,
}

/// A call that runs in a thread of its own: `asyncio.to_thread(store.add, n)`, `pool.submit(add, n)`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Threaded {
    /// The call; index into [`Module::sites`].
    pub site: u32,
    /// The pool that has the thread, where one is named.
    pub pool: Option<AccessPath>,
}

/// Something that was assigned: `const pool = new Pool()`, `this.pool = pool`, `tools.create = { … }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Where: a global of this file, or `this.field` of a class.
    pub path: AccessPath,
    /// The class that `this` is, in a path from it.
    pub owner: Option<Name>,
    /// Its declared type.
    pub declared: Option<AccessPath>,
    /// What is assigned. Values in it are those of the function `within`.
    pub initial: Option<Arg>,
    /// The function in which that is written; index into [`Module::functions`].
    pub within: u32,
}

/// A function with what linking needs to know besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lowered {
    /// Its IR. Ids of functions are the module's; the file of spans is not set.
    pub function: Function,
    /// The function it is written in.
    pub parent: Option<u32>,
    /// The declared types of its values, as paths.
    pub types: Vec<(Value, AccessPath)>,
    /// The declared type of what it returns, unwrapped of `Promise`.
    pub returns: Option<AccessPath>,
    /// The declared types of several things that it returns, each with its place among them: `(Reader, Writer, error)`.
    pub side_by_side: Vec<(u32, AccessPath)>,
    /// Which of its parameters takes whatever is handed over behind the ones before it: `*args`.
    pub gathers: Option<u32>,
    /// For a function that is a named global, member or nested declaration: the path by which it is called.
    pub bound: Option<AccessPath>,
    /// The locals that are given an object, a list, a function or the result of a call where they are made: `const tools = [ … ]`.
    pub locals: Vec<(Value, Arg)>,
    /// What its loops over things go over: the value that is one of them, and the whole.
    pub items: Vec<(Value, Arg)>,
    /// What it returns, where that has a structure: `return async (args) => …`.
    pub returned: Vec<Arg>,
}

/// A call: one to look up, or one that is known already and that others may want to see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// The function that it stands in.
    pub within: u32,
    /// Where.
    pub span: Span,
    /// What is called: the last field is the method. `None` where that has no name. `super(…)` is a call of the global `super`, and
    /// `super.method()` one of a member of it.
    pub callee: Option<AccessPath>,
    /// The function of this module that is called, or that listens to an event, where that is known already. No
    /// `Callee::Pending` has the number of such a site.
    pub function: Option<u32>,
    /// `new`.
    pub construct: bool,
    /// With what, structure included.
    pub arguments: Box<[Arg]>,
    /// Whether the last argument is an object of what is handed over by name: `save(path, data=x)`.
    pub named: bool,
    /// Whether it is a decorator: its first argument is the function that it stands at, and what is called is handed only the rest.
    pub decorates: bool,
    /// Whether it stands at the top of its function's statements, waited for or not, behind no condition: what start-up always does.
    pub unconditional: bool,
}

impl From<Function> for Lowered {
    /// A function of which nothing more is known than its steps.
    fn from(function: Function) -> Self {
        Self {
            function,
            parent: None,
            types: vec![],
            returns: None,
            side_by_side: vec![],
            gathers: None,
            bound: None,
            locals: vec![],
            items: vec![],
            returned: vec![],
        }
    }
}
