//! Where imports lead, and what else the settings of a tree say: the part of linking that each language does for itself.

use std::fmt::Debug;

use interlock_model::ir::{Interleaving, Name};

/// Finds what an import names.
pub trait Resolve: Debug {
    /// Where a specifier leads that is written in the file at `from`. It is asked more than once and should remember.
    fn resolve(&self, from: &Name, specifier: &Name) -> Resolved;

    /// The file that is found by a name in a folder that is no namespace of its own: `from folder import name`.
    fn inside(&self, from: &Name, specifier: &Name, name: &str) -> Option<usize> {
        let _ = (from, specifier, name);
        None
    }

    /// The file that is found by a name inside a namespace that does not export it: a module of a Python package.
    fn submodule(&self, namespace: &Name, name: &str) -> Option<usize> {
        let _ = (namespace, name);
        None
    }
}

/// Where an import leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// To a file of the tree, by its index; of several that share a namespace, to any of them.
    File(usize),
    /// Out of the tree to a library, by the name under which the effects file knows it.
    Library(Name),
    /// To a file that should be in the tree and is not. It goes on as a library of that name, of which nothing is known.
    Unresolved(Name),
}

/// What the settings of a tree say.
#[derive(Debug)]
pub struct Layout {
    /// Where imports lead.
    pub imports: Box<dyn Resolve>,
    /// The folders that are packages of their own, without a slash at the end; empty for the root.
    pub packages: Vec<String>,
    /// The texts of files that declare tables.
    pub schemas: Vec<Schema>,
    /// The settings that could not be read: path and why.
    pub broken: Vec<(String, String)>,
    /// How handlers run that are not asynchronous, where that is not as the [semantics](crate::Semantics) say.
    pub handlers: Vec<Handlers>,
}

/// How the handlers of a folder run that are not asynchronous.
#[derive(Debug)]
pub struct Handlers {
    /// The folder, without a slash at the end; empty for the root. Of several around a file the innermost counts.
    pub folder: String,
    /// Where other calls get between their steps.
    pub interleaving: Interleaving,
    /// What to say about it, if that is not all there is to say.
    pub remark: Option<String>,
}

/// The text of a file that declares tables.
#[derive(Debug)]
pub enum Schema {
    /// Prisma's.
    Prisma(String),
    /// Statements that make the tables.
    Sql(String),
}
