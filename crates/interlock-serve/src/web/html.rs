//! Text that cannot become markup, and the frame that every page has.

/// A text from outside, harmless in content and in attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // What turns the reading direction would show a name that it is not.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A page: its title, which may be from outside, and its body, which is markup already.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>{} – Interlock</title>
<link rel="stylesheet" href="/page.css"><script src="/page.js" defer></script></head>
<body><a class="skip" href="#main">Skip to the content</a>
<header><a class="brand" href="/">Interlock</a> <span>audits of MCP servers</span></header>
<main id="main">{body}</main>
<footer><a href="/openapi.json">API</a></footer></body></html>
"##,
        escape(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_is_markup() {
        let evil = "<img src=x onerror=alert(1)>\"'&\u{202e}\n";
        let said = escape(evil);
        assert!(!said.contains(['<', '>', '"', '\'', '\u{202e}', '\n']), "{said}");
        assert!(page(evil, "").contains("<title>&lt;img"));
    }
}
