//! Changes that a front end can make to a source by itself.
//!
//! A finding knows no syntax, so it is repaired by what shall be different and where. Only the front end knows how that is
//! written, and whether the source is plain enough to change it without a person.

use interlock_model::Span;

/// What shall be different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Repair {
    /// A file that is written only where none was shall be created or refused in one step.
    CreateExclusively,
    /// A file that is emptied and written shall be written beside and renamed.
    ReplaceAtomically,
    /// A lock shall be given back on every way out.
    ReleaseAlways,
}

/// A repair that is wanted in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Which.
    pub repair: Repair,
    /// The steps that it is about; all of them in this file.
    pub spans: Vec<Span>,
}

/// A stretch of text that another takes the place of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// What stands there instead.
    pub text: String,
}

/// What can be done in one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Repaired {
    /// The changes, in the order of the text; no two overlap.
    pub edits: Vec<Edit>,
    /// Which of the requests they fulfil, by index.
    pub done: Vec<usize>,
}

impl Edit {
    /// Text that comes in at a place.
    #[must_use]
    pub fn insert(at: u32, text: impl Into<String>) -> Self {
        Self { start: at, end: at, text: text.into() }
    }

    /// Text instead of other text.
    #[must_use]
    pub fn replace(start: u32, end: u32, text: impl Into<String>) -> Self {
        Self { start, end, text: text.into() }
    }
}

impl Repaired {
    /// The text with the changes made. `None` if they do not fit it.
    #[must_use]
    pub fn apply(&self, text: &str) -> Option<String> {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for edit in &self.edits {
            let (start, end) = (usize::try_from(edit.start).ok()?, usize::try_from(edit.end).ok()?);
            out.push_str(text.get(at..start)?);
            text.get(start..end)?;
            out.push_str(&edit.text);
            at = end;
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }
}
