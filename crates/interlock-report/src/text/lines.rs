//! Source lines by number.

use std::collections::{BTreeMap, btree_map::Entry};

use super::Sources;

/// Asks for each file once and remembers where its lines are.
pub(super) struct Lines<'s> {
    sources: &'s Sources<'s>,
    files: BTreeMap<String, Option<File>>,
}

struct File {
    text: String,
    /// The byte at which each line begins, and the end of the text.
    starts: Vec<usize>,
}

impl<'s> Lines<'s> {
    pub(super) fn new(sources: &'s Sources<'s>) -> Self {
        Self { sources, files: BTreeMap::new() }
    }

    /// The lines from one number to another, counted from 1, both included; `None` if the file or the first line is not there.
    pub(super) fn between(&mut self, file: &str, first: u32, last: u32) -> Option<Vec<&str>> {
        let File { text, starts } = self.file(file)?;
        let first = usize::try_from(first).ok()?.checked_sub(1)?;
        let last = usize::try_from(last).ok()?.min(starts.len().checked_sub(1)?);
        let bounds = starts.get(first..last)?.iter().zip(starts.get(first + 1..)?);
        let lines: Option<Vec<&str>> = bounds.map(|(start, end)| text.get(*start..*end)).collect();
        lines.filter(|lines| !lines.is_empty())
    }

    fn file(&mut self, file: &str) -> Option<&File> {
        let slot = match self.files.entry(file.to_owned()) {
            Entry::Occupied(slot) => slot.into_mut(),
            Entry::Vacant(slot) => slot.insert((self.sources)(file).map(File::new)),
        };
        slot.as_ref()
    }
}

impl File {
    fn new(text: String) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(index, _)| index + 1));
        starts.push(text.len());
        Self { text, starts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_number_and_missing_ones_are_missing() {
        let sources = |file: &str| (file == "a").then(|| "one\r\ntwo\nthree".to_owned());
        let mut lines = Lines::new(&sources);
        assert_eq!(lines.between("a", 1, 2), Some(vec!["one\r\n", "two\n"]));
        assert_eq!(lines.between("a", 3, 9), Some(vec!["three"]));
        for (file, first, last) in [("a", 0, 1), ("a", 4, 4), ("a", 9, u32::MAX), ("a", 2, 1), ("b", 1, 1)] {
            assert_eq!(lines.between(file, first, last), None, "{file} {first} {last}");
        }
    }
}
