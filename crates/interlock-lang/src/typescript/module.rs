//! One file after lowering: functions whose calls are not looked up yet, and what is needed to do so.
//!
//! Inside a module a global is called `PATH::NAME`, imported names included; linking leads an imported one to where it is declared.
//! Functions and sites are numbered within the module.

use interlock_model::{
    Span,
    ir::{AccessPath, Function, HandMade, Name, Note, Value},
};

use crate::Arg;

/// A file after lowering.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Its path relative to the scanned root.
    pub(crate) path: Name,
    /// What it takes from elsewhere.
    pub(crate) imports: Vec<Import>,
    /// What it offers.
    pub(crate) exports: Vec<Export>,
    /// Its classes; object literals with methods are variables.
    pub(crate) classes: Vec<Class>,
    /// What is assigned to globals, fields and members, wherever that is written.
    pub(crate) variables: Vec<Variable>,
    /// Its functions, an outer one before those inside it. The first is the module's own code, at start-up.
    pub(crate) functions: Vec<Lowered>,
    /// The calls to look up: `Callee::Pending` is the index.
    pub(crate) sites: Vec<Site>,
    /// The locks that it builds itself. Function ids and paths are the module's.
    pub(crate) hand_made: Vec<HandMade>,
    /// What was not understood. The file of their spans is not set.
    pub(crate) notes: Vec<Note>,
}

/// `import { exported as local } from "from"`, or the same by `require`.
#[derive(Debug)]
pub(crate) struct Import {
    /// The name in this file.
    pub(crate) local: Name,
    /// As written, without `node:`.
    pub(crate) from: Name,
    /// Which export.
    pub(crate) what: Imported,
}

/// Which export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Imported {
    /// One by name; `default` is a name.
    Name(Name),
    /// All of them: `import * as fs`, `const fs = require("fs")`.
    All,
}

/// `export`, `module.exports`, `export … from`.
#[derive(Debug)]
pub(crate) enum Export {
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

/// A class.
#[derive(Debug)]
pub(crate) struct Class {
    /// As a global: `PATH::NAME`.
    pub(crate) name: Name,
    /// The class that it extends, as a path that is looked up like a value: `PATH::Base`.
    pub(crate) extends: Option<AccessPath>,
    /// The interfaces that it says it implements, as paths.
    pub(crate) implements: Vec<AccessPath>,
    /// Its methods, getters and function-valued fields; index into [`Module::functions`]. The constructor is `constructor`.
    pub(crate) methods: Vec<(Name, u32)>,
    /// The declared types of its fields and constructor properties, as paths.
    pub(crate) fields: Vec<(Name, AccessPath)>,
}

/// Whether a decorator is called like one that announces a method to clients.
pub(crate) fn is_announcement(name: &str) -> bool {
    announces_tool(name)
        || matches!(
            name,
            "Resource"
                | "ResourceTemplate"
                | "ResourceDecorator"
                | "McpResource"
                | "MCPResource"
                | "Prompt"
                | "PromptDecorator"
                | "McpPrompt"
                | "MCPPrompt"
        )
}

/// Whether that is a tool.
pub(crate) fn announces_tool(name: &str) -> bool {
    matches!(name, "Tool" | "McpTool" | "MCPTool" | "MCPToolWithParams" | "ToolDecorator")
}

/// What tools call the function that does the work.
pub(crate) const WORK: [&str; 12] = [
    "execute",
    "handler",
    "handle",
    "run",
    "call",
    "callback",
    "cb",
    "invoke",
    "fn",
    "func",
    "action",
    "toolCallback",
];

/// Something that was assigned: `const pool = new Pool()`, `this.pool = pool`, `tools.create = { … }`.
#[derive(Debug)]
pub(crate) struct Variable {
    /// Where: a global of this file, or `this.field` of a class.
    pub(crate) path: AccessPath,
    /// The class that `this` is, in a path from it.
    pub(crate) owner: Option<Name>,
    /// Its declared type.
    pub(crate) declared: Option<AccessPath>,
    /// What is assigned. Values in it are those of the function `within`.
    pub(crate) initial: Option<Arg>,
    /// The function in which that is written; index into [`Module::functions`].
    pub(crate) within: u32,
}

/// A function with what linking needs to know besides.
#[derive(Debug)]
pub(crate) struct Lowered {
    /// Its IR. Ids of functions are the module's; the file of spans is not set.
    pub(crate) function: Function,
    /// The function it is written in.
    pub(crate) parent: Option<u32>,
    /// The declared types of its values, as paths.
    pub(crate) types: Vec<(Value, AccessPath)>,
    /// The declared type of what it returns, unwrapped of `Promise`.
    pub(crate) returns: Option<AccessPath>,
    /// For a function that is a named global, member or nested declaration: the path by which it is called.
    pub(crate) bound: Option<AccessPath>,
    /// The locals that are given an object, a list, a function or the result of a call where they are made: `const tools = [ … ]`.
    pub(crate) locals: Vec<(Value, Arg)>,
    /// What its loops over things go over: the value that is one of them, and the whole.
    pub(crate) items: Vec<(Value, Arg)>,
    /// What it returns, where that has a structure: `return async (args) => …`.
    pub(crate) returned: Vec<Arg>,
}

/// A call: one to look up, or one that is known already and that others may want to see.
#[derive(Debug)]
pub(crate) struct Site {
    /// The function that it stands in.
    pub(crate) within: u32,
    /// Where.
    pub(crate) span: Span,
    /// What is called: the last field is the method. `None` where that has no name. `super(…)` is a call of the global `super`, and
    /// `super.method()` one of a member of it.
    pub(crate) callee: Option<AccessPath>,
    /// The function of this module that is called, or that listens to an event, where that is known already. No
    /// `Callee::Pending` has the number of such a site.
    pub(crate) function: Option<u32>,
    /// `new`.
    pub(crate) construct: bool,
    /// With what, structure included.
    pub(crate) arguments: Box<[Arg]>,
    /// Whether it stands at the top of its function's statements, waited for or not, behind no condition: what start-up always does.
    pub(crate) unconditional: bool,
}
