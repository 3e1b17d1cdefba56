//! What a language has to be able to do.

use std::any::Any;

use interlock_model::ir::{Name, Program};

use crate::{Repaired, Request, knowledge::Knowledge};

/// A language: from text to IR.
pub trait Frontend: Sync {
    /// Its name in reports: `TypeScript`.
    fn name(&self) -> &'static str;

    /// The endings of its files, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The names of files that are no source but say how sources belong together: `package.json`.
    fn settings(&self) -> &'static [&'static str];

    /// What it knows of libraries, as the text of a TOML file.
    fn effects(&self) -> &'static str;

    /// Lowers one file, apart from all others. It is called on a thread with a large stack, many at a time.
    fn module(&self, source: &Source<'_>) -> Module;

    /// Puts the modules of a tree together.
    fn link(&self, package: Package<'_>) -> Program;

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

/// A file that was lowered, in the form in which its language keeps it.
#[derive(Debug)]
pub struct Module(Box<dyn Any + Send>);

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

impl Module {
    /// Wraps what a language keeps.
    pub fn new(content: impl Any + Send) -> Self {
        Self(Box::new(content))
    }

    /// What the language kept; `None` if it is another's.
    pub fn take<T: 'static>(self) -> Option<T> {
        self.0.downcast().ok().map(|content| *content)
    }
}
