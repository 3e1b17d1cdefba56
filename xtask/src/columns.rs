//! Rows of words in aligned columns, for the tables that end a test run and a benchmark.

/// On which side of its column a word stands.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Left,
    Right,
}

/// The rows as lines, two spaces between columns, nothing after the last word. A row may be shorter than the others.
pub(crate) fn columns(sides: &[Side], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|word| word.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..sides.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let words = row.iter().zip(sides).zip(&widths).map(|((word, side), width)| match side {
            Side::Left => format!("{word:<width$}"),
            Side::Right => format!("{word:>width$}"),
        });
        let line = words.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_and_no_line_ends_in_spaces() {
        let row = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let rows = [row(&["part", "seconds", "note"]), row(&["format", "1.2", ""]), row(&["é", "10.0"])];
        let text = columns(&[Side::Left, Side::Right, Side::Left], &rows);
        assert_eq!(text, "part    seconds  note\nformat      1.2\né          10.0\n");
    }
}
