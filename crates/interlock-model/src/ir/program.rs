//! Everything that was lowered from one tree.

use crate::{FileId, Span};

use super::{Function, FunctionId, Name, Transport};

/// The lowered tree: what rules look at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// Paths relative to the scanned root, with forward slashes.
    pub files: Vec<Name>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The servers that the tree starts.
    pub servers: Vec<Server>,
    /// What was not understood, so that a report can say so.
    pub notes: Vec<Note>,
}

/// A server that the tree starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Where it starts to listen.
    pub span: Span,
    /// How clients reach it.
    pub transport: Transport,
    /// Whether something bounds each caller before a handler runs.
    pub limited: bool,
}

/// Something that lowering met and did not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub span: Span,
    /// What, in a few words.
    pub text: String,
}

impl Program {
    /// Adds a file.
    pub fn add_file(&mut self, path: impl Into<Name>) -> FileId {
        self.files.push(path.into());
        FileId(index(self.files.len()))
    }

    /// Adds a function; calls refer to it by what this returns.
    pub fn add_function(&mut self, function: Function) -> FunctionId {
        self.functions.push(function);
        FunctionId(index(self.functions.len()))
    }

    /// A function by its id; `None` for an id of another program.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.0 as usize)
    }
}

/// The index of the last of `len` things. Source is read in files of bounded size, so there are never more than a `u32` holds.
fn index(len: usize) -> u32 {
    u32::try_from(len - 1).unwrap_or(u32::MAX)
}
