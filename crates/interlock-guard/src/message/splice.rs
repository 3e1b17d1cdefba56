//! One part of a message replaced, the rest as it came.

use bytes::{Bytes, BytesMut};

use super::scan::Span;

/// A replacement; an empty span is an insertion.
#[derive(Debug, Clone)]
pub(crate) struct Edit<'a> {
    /// What is replaced.
    pub(crate) at: Span,
    /// By what.
    pub(crate) with: std::borrow::Cow<'a, [u8]>,
}

impl<'a> Edit<'a> {
    pub(crate) fn new(at: Span, with: impl Into<std::borrow::Cow<'a, [u8]>>) -> Self {
        Self { at, with: with.into() }
    }

    /// Puts something in behind a byte.
    pub(crate) fn after(position: u32, with: impl Into<std::borrow::Cow<'a, [u8]>>) -> Self {
        Self::new(Span { start: position, end: position }, with)
    }
}

/// Carries out replacements that do not overlap.
pub(crate) fn splice(bytes: &[u8], edits: &mut [Edit<'_>]) -> Bytes {
    edits.sort_by_key(|edit| edit.at.start);
    let added: usize = edits.iter().map(|edit| edit.with.len()).sum();
    let mut spliced = BytesMut::with_capacity(bytes.len() + added);
    let mut done = 0;
    for edit in edits.iter() {
        let (start, end) = (wide(edit.at.start), wide(edit.at.end));
        spliced.extend_from_slice(bytes.get(done..start).unwrap_or_default());
        spliced.extend_from_slice(&edit.with);
        done = end;
    }
    spliced.extend_from_slice(bytes.get(done..).unwrap_or_default());
    spliced.freeze()
}

/// The same message without line breaks, for a pipe on which a line is a message. Inside strings there are none: the parser refused them.
pub(crate) fn one_line(bytes: Bytes) -> Bytes {
    if !bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return bytes;
    }
    bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

pub(super) fn wide(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}
