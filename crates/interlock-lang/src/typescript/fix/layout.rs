//! How a file is set: its line ends and its indentation, which a change keeps.

use oxc_span::Span;

use super::file::File;

/// The habits of a file.
pub(super) struct Layout {
    /// What ends a line.
    pub(super) newline: &'static str,
    /// One level of indentation.
    unit: String,
}

impl Layout {
    /// The habits of a text, apart from its templates.
    pub(super) fn of(text: &str, templates: &[Span]) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let mut at = 0;
        let indents = text.split_inclusive('\n').filter_map(|line| {
            let start = at;
            at += line.len();
            if templates.iter().any(|span| (span.start as usize) < start && start < span.end as usize) {
                return None;
            }
            let line = line.trim_end();
            let bare = line.trim_start();
            // The lines of a long comment are set one column to the right.
            let counts = !bare.is_empty() && !bare.starts_with('*');
            let indent = line.strip_suffix(bare).unwrap_or_default();
            (counts && !indent.is_empty()).then_some(indent)
        });
        let smallest = indents.min_by_key(|indent| indent.len()).unwrap_or("  ");
        let unit =
            if smallest.starts_with('\t') { "\t".to_owned() } else { " ".repeat(smallest.len().clamp(2, 8)) };
        Self { newline, unit }
    }
}

impl File<'_, '_> {
    /// What stands between the beginning of a line and the code on it.
    pub(super) fn indent(&self, at: u32) -> &str {
        let before = self.between(0, at);
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.strip_suffix(line.trim_start()).unwrap_or_default()
    }

    /// One level of indentation.
    pub(super) fn unit(&self) -> &str {
        &self.layout.unit
    }

    /// Where the lines of a stretch begin, the first one not counted, without those in which an indentation would change a value
    /// and those that are empty.
    pub(super) fn line_starts(&self, start: u32, end: u32) -> Vec<u32> {
        let breaks = self.between(start, end).match_indices('\n').map(|(index, _)| index + 1);
        let starts = breaks.filter_map(|index| u32::try_from(index).ok()?.checked_add(start));
        starts
            .filter(|at| !self.in_template(*at))
            .filter(|at| !matches!(self.between(*at, end).chars().next(), Some('\r' | '\n') | None))
            .collect()
    }

    /// The text of a stretch, one level further in.
    pub(super) fn deeper(&self, span: Span) -> String {
        let mut out = String::new();
        let mut at = span.start;
        for start in self.line_starts(span.start, span.end) {
            out.push_str(self.between(at, start));
            out.push_str(self.unit());
            at = start;
        }
        out + self.between(at, span.end)
    }
}
