//! Text that stays text in Markdown.

use crate::clean;

/// Text on one line that shows as it is: no markup, no HTML, no link, no mention, no end of a table cell.
pub(crate) fn plain(text: &str) -> String {
    let text = clean::line(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut first = true;
    while let Some(c) = rest.next() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            // GitHub looks for mentions behind the markup, where only something in between stops it.
            '@' => out.push_str("@<!-- -->"),
            // What looks like an address becomes a link without any markup.
            ':' if rest.peek() == Some(&'/') => out.push_str("\\:"),
            '.' if out.ends_with("www") || out.ends_with("WWW") => out.push_str("\\."),
            // A list or a rule, at the beginning only.
            '-' | '+' | '=' if first => out.extend(['\\', c]),
            c => out.push(c),
        }
        first = false;
    }
    out
}

/// A sentence in which names stand in backticks: the names as code, the rest as it is. Where one backtick has no partner, all of it.
pub(crate) fn sentence(text: &str, code: impl Fn(&str) -> String) -> String {
    if text.matches('`').count() % 2 == 1 {
        return plain(text);
    }
    let part = |(index, part): (usize, &str)| if index % 2 == 1 { code(part) } else { plain(part) };
    text.split('`').enumerate().map(part).collect()
}

/// Code in a cell of a table, which takes back the escape of a bar before it looks at the code.
pub(crate) fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Text as code, with more backticks around it than in it.
pub(crate) fn code(text: &str) -> String {
    let text = clean::line(text);
    let text = text.trim();
    if text.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// Lines as a block of code.
pub(crate) fn fence(language: &str, text: &str) -> String {
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    let lines: String = text.lines().map(|line| clean::line(line) + "\n").collect();
    format!("{ticks}{language}\n{lines}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_shows_as_it_is() {
        assert_eq!(plain("a|b `c` *d* <img src=x>\n# e"), "a\\|b \\`c\\` \\*d\\* &lt;img src=x&gt; \\# e");
        assert_eq!(plain("@all see https://x.y or www.x.y"), "@<!-- -->all see https\\://x.y or www\\.x.y");
        assert_eq!(plain("- [x](y)\u{1b}"), "\\- \\[x\\](y)\\\\u{1b}");
    }

    #[test]
    fn names_in_a_sentence_are_code() {
        assert_eq!(
            sentence("`a[*]|b` is <read>, and `c` too", code),
            "`a[*]|b` is &lt;read&gt;, and `c` too"
        );
        assert_eq!(sentence("`a|b` is read", cell), "`a\\|b` is read");
        assert_eq!(sentence("`a`b` is *read*", code), "\\`a\\`b\\` is \\*read\\*");
        assert_eq!(sentence("a\n`b\n<c>` @all", code), "a `b <c>` @<!-- -->all");
    }

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("a`b``c|d"), "```a`b``c|d```");
        assert_eq!(cell("a|b"), "`a\\|b`");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(code("a\nb"), "`a b`");
        assert_eq!(fence("toml", "x = \"```\"\n"), "````toml\nx = \"```\"\n````");
    }
}
