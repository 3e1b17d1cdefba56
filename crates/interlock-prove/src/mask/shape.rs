//! The words of a text, and what they look like.

/// A text as words and what stands between them, in order; put together again it is the text.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let inside = is_word(first);
        let end = rest.find(|c| is_word(c) != inside).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// Ids are written with hyphens and underscores, so those belong to the word.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_' || c == '‹' || c == '›'
}

/// What a word looks like: `9` for numbers, `x` where letters and digits are mixed, `a` for letters, and its length where that
/// is what makes an id an id.
pub(super) fn shape(word: &str) -> String {
    let digits = word.chars().any(|c| c.is_ascii_digit());
    let letters = word.chars().any(char::is_alphabetic);
    match (letters, digits) {
        (true, true) => format!("x{}", word.chars().count()),
        (true, false) => format!("a{}", word.chars().count()),
        (false, true) => "9".to_owned(),
        (false, false) => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_put_together_are_the_text() {
        for text in ["", "a", "Note 5f3a-11 saved: \"x\" (ünï)", "  two  "] {
            assert_eq!(words(text).concat(), text);
        }
        assert_eq!(words("id 5f-3a, ok"), ["id", " ", "5f-3a", ", ", "ok"]);
    }
}
