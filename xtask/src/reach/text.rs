//! Lines and columns of a text, as lists write them down: both from 1, columns in characters.

use super::lists::{Edit, Position};

/// The byte at a position; `None` if the text has no such line, or the line no such column. The one behind the last character counts.
pub(super) fn offset(text: &str, (line, column): Position) -> Option<usize> {
    let (line, column) =
        (usize::try_from(line).ok()?.checked_sub(1)?, usize::try_from(column).ok()?.checked_sub(1)?);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let content = text.split('\n').nth(line)?;
    let ends = std::iter::once(content.len());
    let within = content.char_indices().map(|(at, _)| at).chain(ends).nth(column)?;
    Some(start + within)
}

/// A position in words.
pub(super) fn shown((line, column): Position) -> String {
    format!("line {line}, column {column}")
}

/// The line, from 1, on which some text first stands.
pub(super) fn line_of(text: &str, wanted: &str) -> Option<u32> {
    let at = text.lines().position(|line| line.contains(wanted))?;
    u32::try_from(at + 1).ok()
}

/// The text after one edit; `None` if it has no such stretch.
pub(super) fn edit(text: &str, edit: &Edit) -> Option<String> {
    let start = offset(text, (edit.line, edit.columns.map_or(1, |(first, _)| first)))?;
    let end = match edit.columns {
        Some((_, last)) => offset(text, (edit.line, last.checked_add(1)?))?,
        None => start + text.get(start..)?.split('\n').next()?.len(),
    };
    (start <= end && !edit.with.contains('\n'))
        .then(|| Some(format!("{}{}{}", text.get(..start)?, edit.with, text.get(end..)?)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_characters_and_lines_from_one() {
        let text = "ab\néx{\n";
        assert_eq!(offset(text, (1, 1)), Some(0));
        assert_eq!(offset(text, (2, 3)), text.find('{'));
        assert_eq!(offset(text, (2, 4)), Some(text.len() - 1));
        for none in [(0, 1), (1, 0), (1, 4), (9, 1)] {
            assert_eq!(offset(text, none), None, "{none:?}");
        }
        assert_eq!(line_of(text, "x"), Some(2));
    }

    #[test]
    fn an_edit_replaces_a_stretch_or_a_line_and_moves_no_other() {
        let of = |line, columns, with: &str| {
            edit("one two\nthree\n", &Edit { line, columns, with: with.to_owned() })
        };
        assert_eq!(of(1, Some((5, 7)), "2").as_deref(), Some("one 2\nthree\n"));
        assert_eq!(of(2, None, "").as_deref(), Some("one two\n\n"));
        assert_eq!(of(1, Some((5, 8)), ""), None, "it would take the line break");
        assert_eq!(of(1, None, "a\nb"), None, "it would move the lines below");
        assert_eq!(of(7, None, ""), None);
    }
}
