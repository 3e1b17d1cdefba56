//! Names that are shared instead of copied, and the lines of a file.

use interlock_model::{Span, ir::Name};
use rustc_hash::{FxHashMap, FxHashSet};

/// The names of a file.
#[derive(Debug)]
pub(super) struct Names<'a> {
    path: String,
    known: FxHashMap<&'a str, Name>,
    globals: FxHashMap<&'a str, Name>,
    /// The globals whose members are no state: imported libraries, enums.
    fixed: FxHashSet<Name>,
    /// Where each line starts.
    lines: Vec<u32>,
    /// The line that was asked for last; the next question is mostly about one near it.
    last: usize,
}

impl<'a> Names<'a> {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let mut lines = Vec::with_capacity(text.len() / 32 + 1);
        lines.push(0);
        lines.extend(text.match_indices('\n').map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)));
        Self {
            path: path.to_owned(),
            known: FxHashMap::default(),
            globals: FxHashMap::default(),
            fixed: FxHashSet::default(),
            lines,
            last: 0,
        }
    }

    pub(super) fn get(&mut self, name: &'a str) -> Name {
        self.known.entry(name).or_insert_with(|| name.into()).clone()
    }

    /// The name of a global of this file.
    pub(super) fn global(&mut self, name: &'a str) -> Name {
        let path = &self.path;
        self.globals.entry(name).or_insert_with(|| format!("{path}::{name}").into()).clone()
    }

    /// The same for a name that does not stand in the source.
    pub(super) fn made_global(&self, name: &str) -> Name {
        format!("{}::{name}", self.path).into()
    }

    pub(super) fn fix(&mut self, name: Name) {
        self.fixed.insert(name);
    }

    pub(super) fn is_fixed(&self, name: &str) -> bool {
        self.fixed.contains(name)
    }

    /// A stretch of bytes with its lines.
    pub(super) fn span(&mut self, start: usize, end: usize) -> Span {
        let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
        let (line, end_line) = (self.line(start), self.line(end.saturating_sub(1).max(start)));
        Span { start, end, line, end_line, ..Span::default() }
    }

    /// The line of a byte, counted from 1.
    pub(super) fn line(&mut self, byte: u32) -> u32 {
        let starts = |line: usize| self.lines.get(line).copied().unwrap_or(u32::MAX);
        let mut line = self.last;
        if starts(line) > byte || starts(line + 8) <= byte {
            line = self.lines.partition_point(|start| *start <= byte).saturating_sub(1);
        } else {
            while starts(line + 1) <= byte {
                line += 1;
            }
        }
        self.last = line;
        u32::try_from(line + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_forwards_and_backwards() {
        let text = "a\nbb\n\nccc\n".repeat(20);
        let mut names = Names::new("a.ts", &text);
        let expected: Vec<u32> = text
            .bytes()
            .scan(1, |line, byte| {
                let this = *line;
                *line += u32::from(byte == b'\n');
                Some(this)
            })
            .collect();
        for byte in (0..text.len()).chain((0..text.len()).rev()).chain((0..text.len()).step_by(37)) {
            assert_eq!(names.line(u32::try_from(byte).unwrap()), expected[byte], "byte {byte}");
        }
    }
}
