//! Foreign text inside of HTML and SVG.

use crate::clean;

/// Text on one line, for between tags and inside quoted attributes: no markup, and nothing that hides or reorders.
pub(super) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean::line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Characters that XML knows no way to write.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// As [`text`], of at most so many columns.
pub(super) fn short(words: &str, columns: usize) -> String {
    text(&clean::cut(&clean::line(words), columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(
            text("<b a='1' c=\"2\">&amp;\u{0}\u{202e}\u{ffff}\n"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;\\u{0}\\u{202e}\u{fffd} "
        );
        assert_eq!(short("<<<<", 3), "&lt;&lt;…");
    }
}
