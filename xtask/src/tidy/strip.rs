//! Rust source with its comments and literals blanked, so that a check of the code does not trip over what is only said.
//! A scanner of a page instead of a parser: it has to be right about where a literal ends, and about nothing else.

/// The same text with every character of a comment, string or character literal replaced by a space. Lines stay lines.
pub(super) fn code_only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    let mut after_word = false;
    while let Some(first) = rest.chars().next() {
        let literal = literal_length(rest, after_word);
        let (taken, left) = rest.split_at(literal.unwrap_or(first.len_utf8()));
        if literal.is_some() {
            code.extend(taken.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        } else {
            code.push_str(taken);
        }
        after_word = literal.is_none() && is_word(first);
        rest = left;
    }
    code
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// How many bytes the comment or literal takes that begins here, if one does. `after_word` says that the text goes on with a
/// word that began earlier, so that the `r` of `for"` opens no raw string.
fn literal_length(text: &str, after_word: bool) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(block_comment(text));
    }
    let prefix = if after_word {
        ""
    } else {
        ["br", "cr", "b", "c", "r"].into_iter().find(|prefix| text.starts_with(prefix)).unwrap_or("")
    };
    let body = text.get(prefix.len()..)?;
    let length = if prefix.ends_with('r') {
        raw_string(body)
    } else if body.starts_with('"') {
        Some(quoted(body, '"'))
    } else if body.starts_with('\'') {
        character(body)
    } else {
        None
    };
    length.map(|length| prefix.len() + length)
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            match rest.chars().next() {
                Some(c) => at += c.len_utf8(),
                None => break,
            }
        }
    }
    text.len()
}

fn raw_string(body: &str) -> Option<usize> {
    let hashes = body.len() - body.trim_start_matches('#').len();
    // `r#type` is a raw identifier.
    let inside = body.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(inside.find(&end).map_or(body.len(), |at| hashes + 1 + at + end.len()))
}

fn quoted(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    body.len()
}

/// A lifetime opens like a character but has no closing quote after its first letter.
fn character(body: &str) -> Option<usize> {
    let mut chars = body.char_indices().skip(1);
    let (_, first) = chars.next()?;
    let (at, second) = chars.next()?;
    if first == '\\' { Some(quoted(body, '\'')) } else { (second == '\'').then_some(at + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blanks are shown as dots, so that a reader can count them.
    fn check(source: &str, expected: &str) {
        assert_eq!(code_only(source).replace(' ', "."), expected);
    }

    #[test]
    fn comments_are_blanked_and_lines_stay_lines() {
        check("a//!x\nb", "a....\nb");
        check("a/*x/*y\n*/z*/b", "a......\n.....b");
        check("a/*open", "a......");
    }

    #[test]
    fn strings_of_every_kind_are_blanked() {
        check(r#"f("x\"y",z)"#, "f(......,z)");
        check(r###"f(r#"x"y"#,b"z")"###, "f(........,....)");
        check("f(br\"x\",c\"y\")", "f(.....,....)");
        check("f(\"a//b\")g", "f(......)g");
        check("\"open", ".....");
    }

    #[test]
    fn characters_are_blanked_and_lifetimes_are_code() {
        check(r"f('\'','é',b'\\')", "f(....,...,.....)");
        check("fn<'a>(x:&'a\u{20}str)", "fn<'a>(x:&'a.str)");
        check("'\"'+std::fs", "...+std::fs");
    }

    #[test]
    fn a_raw_identifier_and_a_word_that_ends_in_r_open_no_string() {
        check("r#type+bar", "r#type+bar");
        check("var\"x\"", "var...");
    }
}
