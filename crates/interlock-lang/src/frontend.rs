//! What a language provides; everything else is written once.
//!
//! A front end lowers one file to a [`Module`], says where an import leads and gives its tables and a short description of its
//! [semantics](Semantics). Linking, the evaluation of names and the discovery of tools take the language as an argument.

use interlock_model::ir::{Name, Program};

use crate::{Layout, Module, Repaired, Request, Semantics, Tables, knowledge::Knowledge};

/// A language: from the text of a file to a module.
pub trait Frontend: Sync {
    /// Its name in reports: `TypeScript`.
    fn name(&self) -> &'static str;

    /// The endings of its files, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The names of files that are no source but say how sources belong together: `package.json`. A `*` in one stands for whatever is in between.
    fn settings(&self) -> &'static [&'static str];

    /// What it knows of libraries, as the text of a TOML file.
    fn effects(&self) -> &'static str;

    /// What it says in tables besides: how tools are registered, what the language offers, which words hint at what.
    fn tables(&self) -> &'static Tables;

    /// How its programs run, as far as linking has to know.
    fn semantics(&self) -> &'static Semantics;

    /// Lowers one file, apart from all others. It is called on a thread with a large stack, many at a time.
    fn module(&self, source: &Source<'_>) -> Module;

    /// What its settings, path and text, say about a tree, and where its imports lead.
    fn layout(&self, modules: &[Module], settings: &[(String, String)]) -> Layout;

    /// What it can change in a file by itself. An earlier request wins over a later one that wants the same text.
    fn repair(&self, source: &Source<'_>, requests: &[Request]) -> Repaired {
        let _ = (source, requests);
        Repaired::default()
    }

    /// Whether a file reads without complaint. What was changed and does not is thrown away.
    fn reads(&self, source: &Source<'_>) -> bool {
        let _ = source;
        false
    }
}

/// A language, as the list of [all](crate::ALL) holds it.
pub type Language = &'static dyn Frontend;

/// A file that is to be lowered.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// Relative to the scanned root, with forward slashes.
    pub path: &'s str,
    /// Its text.
    pub text: &'s str,
}

/// Everything of one language in a tree.
#[derive(Debug)]
pub struct Package<'p> {
    /// The files, sorted by path; the index is the `FileId`.
    pub modules: Vec<(Name, Module)>,
    /// The [settings](Frontend::settings), path and text, sorted by path.
    pub settings: Vec<(String, String)>,
    /// What is known of libraries: the language's own and the user's.
    pub knowledge: &'p Knowledge,
}

/// Puts the modules of a tree together: imports are followed, calls resolved, handlers of tools found.
#[must_use]
pub fn link(language: &dyn Frontend, package: Package<'_>) -> Program {
    let Package { modules, settings, knowledge } = package;
    let with_path = |(path, module)| Module { path, ..module };
    crate::link::link(language, modules.into_iter().map(with_path).collect(), &settings, knowledge)
}
