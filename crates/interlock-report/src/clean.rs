//! Makes text from unknown hands harmless for whoever looks at it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Whether a character acts instead of being seen: controls, which a terminal obeys, and the invisible ones that reorder or hide what
/// stands around them.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e01ef}')
}

/// Text on one line in which everything harmful is spelled out. White space of any kind becomes a space.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if is_harmful(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// A line of source: as [`line`], with tabs as wide as editors show them.
pub(crate) fn source(text: &str) -> String {
    line(&text.trim_end_matches(['\r', '\n']).replace('\t', "    "))
}

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Text of at most so many columns; what was cut off is marked by an ellipsis.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut out = String::new();
    for c in text.chars() {
        let needed = c.width().unwrap_or(0);
        if needed > left {
            break;
        }
        left -= needed;
        out.push(c);
    }
    out.push('…');
    out
}

/// The end of a text of at most so many columns; what was cut off is marked by an ellipsis. Of paths and places the end tells most.
pub(crate) fn tail(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let mut kept: Vec<char> = Vec::new();
    for c in text.chars().rev() {
        let needed = c.width().unwrap_or(0);
        if needed > left {
            break;
        }
        left -= needed;
        kept.push(c);
    }
    kept.push('…');
    kept.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_invisible_characters_are_spelled_out() {
        assert_eq!(line("a\u{1b}[2Jb\r\nc\u{202e}d\u{7f}"), "a\\u{1b}[2Jb  c\\u{202e}d\\u{7f}");
        assert_eq!(line("日本語 é 👩\u{200d}💻"), "日本語 é 👩\u{200d}💻");
    }

    #[test]
    fn a_cut_counts_columns_and_not_characters() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "…");
        assert_eq!(tail("日本語", 5), "…本語");
        assert_eq!(tail("日本語", 4), "…語");
        assert_eq!(tail("abc", 0), "…");
    }
}
