//! Where something stands in the source.

use serde::{Deserialize, Serialize};

/// A file of the scanned tree, as an index into [`ir::Program::files`](crate::ir::Program::files).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A stretch of one file: bytes for those who cut or mark the text, lines for those who name it.
///
/// Both are kept because a rule has no source text at hand to turn one into the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// First line, counted from 1.
    pub line: u32,
    /// Last line, counted from 1.
    pub end_line: u32,
}

impl Span {
    /// A span that is one line, for IR that is built by hand.
    #[must_use]
    pub const fn on_line(file: FileId, line: u32) -> Self {
        Self { file, start: 0, end: 0, line, end_line: line }
    }
}
