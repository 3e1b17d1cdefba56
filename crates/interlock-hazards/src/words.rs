//! Names taken apart.

/// The words of a name, in lower case: `fromUserID`, `from_user-id` and `from.user id` are the same three.
#[must_use]
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut before = ' ';
    // A name that is longer is none.
    let mut rest = name.chars().take(200).peekable();
    while let Some(c) = rest.next() {
        let after_small = before.is_lowercase() || before.is_numeric();
        let starts = c.is_uppercase() && (after_small || rest.peek().is_some_and(|next| next.is_lowercase()));
        if (starts || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_however_they_are_written() {
        for name in ["fromUserID", "from_user_id", "from-user.id", "FromUserId"] {
            assert_eq!(words(name), ["from", "user", "id"], "{name}");
        }
        assert_eq!(words("HTTPUrl2x"), ["http", "url2x"]);
        assert_eq!(words("__"), [""; 0]);
    }
}
