//! What was left out or could not be read, as a few lines for the coverage, however much it was.

use std::collections::BTreeMap;

use super::names::Left;

/// How many files of one trouble are named.
const NAMED: usize = 10;

/// What a coverage has to say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes {
    /// Left out because of what they are: folders and files.
    left: BTreeMap<Left, (usize, usize)>,
    /// Trouble, by what it is: the first few places by name, and how many there are.
    trouble: BTreeMap<String, (Vec<String>, usize)>,
    /// Whole sentences.
    sentences: Vec<String>,
}

impl Notes {
    /// A folder that was left out.
    pub(crate) fn left_folder(&mut self, left: Left) {
        self.left.entry(left).or_default().0 += 1;
    }

    /// A file that was left out.
    pub(crate) fn left_file(&mut self, left: Left) {
        self.left.entry(left).or_default().1 += 1;
    }

    /// A place that could not be scanned, and why. Names are kept in the order in which they come.
    pub(crate) fn trouble(&mut self, why: impl Into<String>, place: &str) {
        let (named, count) = self.trouble.entry(why.into()).or_default();
        *count += 1;
        if named.len() < NAMED {
            named.push(place.to_owned());
        }
    }

    /// Anything else.
    pub(crate) fn say(&mut self, sentence: String) {
        self.sentences.push(sentence);
    }

    /// The lines, sorted.
    pub(crate) fn lines(self) -> Vec<String> {
        let left = Left::ALL.into_iter().filter_map(|kind| {
            let (folders, files) = *self.left.get(&kind)?;
            let counts = [(folders, "folder"), (files, "file")];
            let counts: Vec<String> =
                counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| count(n, what)).collect();
            Some(format!("left out: {} ({})", kind.words(), counts.join(", ")))
        });
        let trouble = self.trouble.iter().flat_map(|(why, (places, count))| {
            let more = count.saturating_sub(places.len());
            let more = (more > 0).then(|| format!("not scanned: {more} more: {why}"));
            places.iter().map(move |place| format!("not scanned: {place}: {why}")).chain(more)
        });
        let mut lines: Vec<String> = left.chain(trouble).chain(self.sentences.iter().cloned()).collect();
        lines.sort();
        lines.dedup();
        lines
    }
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_was_left_out_is_counted_and_trouble_is_named_up_to_a_bound() {
        let mut notes = Notes::default();
        notes.left_folder(Left::Test);
        notes.left_file(Left::Test);
        notes.left_file(Left::Test);
        notes.left_folder(Left::Installed);
        for number in 0..12 {
            notes.trouble("permission denied", &format!("src/{number:02}.ts"));
        }
        notes.trouble("no UTF-8", "a.ts");
        let lines = notes.lines();
        assert_eq!(lines.len(), 2 + 11 + 1);
        expect![[r#"
            left out: installed packages (1 folder)
            left out: tests and fixtures (1 folder, 2 files)
            not scanned: 2 more: permission denied
            not scanned: a.ts: no UTF-8
            not scanned: src/00.ts: permission denied"#]]
        .assert_eq(&lines[..5].join("\n"));
    }
}
