//! Patterns of names: of tools, and of methods.

use std::fmt;

/// A name, or one with `*` for any run of characters, also none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pattern(String);

/// A pattern that is empty could match nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a pattern must not be empty; `*` matches every tool")]
pub struct EmptyPattern;

impl Pattern {
    /// A pattern.
    ///
    /// # Errors
    ///
    /// It is empty.
    pub fn new(text: &str) -> Result<Self, EmptyPattern> {
        if text.is_empty() { Err(EmptyPattern) } else { Ok(Self(text.to_owned())) }
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name is of this pattern. Each run between two stars is looked for once, from left to right, so a hostile name costs its
    /// length and no more than that for each star.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut name) = name.strip_prefix(first) else { return false };
        let (runs, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        for run in runs.split('*') {
            match name.split_once(run) {
                Some((_, behind)) => name = behind,
                None => return false,
            }
        }
        name.ends_with(last)
    }

    /// Whether every name of the other pattern is also of this one. Says no when it cannot tell.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        // A name of the other pattern has all its runs in order. With the stars of the other taken as a character that stands for
        // itself, only a star of ours can swallow them.
        self == other || self.matches(&other.0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        for (text, name) in [
            ("*", ""),
            ("*", "anything"),
            ("delete_*", "delete_"),
            ("delete_*", "delete_file"),
            ("*_file", "delete_file"),
            ("a*b*c", "abc"),
            ("a*b*c", "a-b-b-c-c"),
            ("**", "x"),
            ("a*a", "aa"),
            ("get", "get"),
            ("ä*", "äß"),
        ] {
            assert!(pattern(text).matches(name), "{text} {name}");
        }
        for (text, name) in
            [("get", "get_file"), ("get", ""), ("delete_*", "delete"), ("a*a", "a"), ("a*b*c", "acb")]
        {
            assert!(!pattern(text).matches(name), "{text} {name}");
        }
        assert_eq!(Pattern::new(""), Err(EmptyPattern));
    }

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        for (wide, narrow) in
            [("*", "get"), ("*", "delete_*"), ("a*", "a*b"), ("*_x", "a*_x"), ("get", "get"), ("a*c", "ab*c")]
        {
            assert!(pattern(wide).covers(&pattern(narrow)), "{wide} {narrow}");
        }
        for (wide, narrow) in
            [("get", "*"), ("delete_*", "*"), ("a*b", "a*"), ("get_*", "get"), ("a*c", "a*")]
        {
            assert!(!pattern(wide).covers(&pattern(narrow)), "{wide} {narrow}");
        }
    }
}
