//! Foreign text inside of HTML and SVG.

use crate::clean;

/// Text on one line, for between tags and inside quoted attributes: no markup, and nothing that hides or reorders.
pub(crate) fn text(text: &str) -> String {
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
pub(crate) fn short(words: &str, columns: usize) -> String {
    text(&clean::cut(&clean::line(words), columns))
}

/// A sentence in which names stand in backticks: the names as code, the rest as it is. Where one backtick has no partner, all of it.
pub(crate) fn sentence(words: &str) -> String {
    if words.matches('`').count() % 2 == 1 {
        return text(words);
    }
    let part = |(index, part): (usize, &str)| {
        if index % 2 == 1 { format!("<code>{}</code>", text(part)) } else { text(part) }
    };
    words.split('`').enumerate().map(part).collect()
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
        assert_eq!(sentence("`<a>` is & `b`"), "<code>&lt;a&gt;</code> is &amp; <code>b</code>");
        assert_eq!(sentence("`<a>` is `b"), "`&lt;a&gt;` is `b");
    }
}
