//! JSON as people write it in `tsconfig.json`: with comments and trailing commas.

use serde_json::Value;

/// Reads it. The text is not trusted: nesting is bounded by the reader of plain JSON.
pub(super) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(&plain(text.trim_start_matches('\u{feff}')))
}

/// The same text as plain JSON.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // The place of a comma after which only blanks and comments have come: it goes if a bracket closes next.
    let mut comma: Option<usize> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                comma = None;
                out.push(char);
                while let Some(inside) = chars.next() {
                    out.push(inside);
                    match inside {
                        '\\' => out.extend(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            '/' if chars.peek() == Some(&'*') => {
                chars.next();
                let mut before = ' ';
                for inside in chars.by_ref() {
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
            }
            ',' => {
                comma = Some(out.len());
                out.push(char);
            }
            ']' | '}' => {
                if let Some(at) = comma.take() {
                    out.replace_range(at..=at, " ");
                }
                out.push(char);
            }
            _ => {
                if !char.is_whitespace() {
                    comma = None;
                }
                out.push(char);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_left_out_but_not_inside_text() {
        let text = "\u{feff}{ // a\n \"a\": [1, 2, /* b */ ], \"b\": \"// ,] \\\" /*\", /* c **/ }";
        assert_eq!(parse(text).unwrap().to_string(), r#"{"a":[1,2],"b":"// ,] \" /*"}"#);
    }

    #[test]
    fn what_is_broken_stays_broken() {
        for text in ["", "{", "{,}x", "/*", "\"", "{\"a\" 1}"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
