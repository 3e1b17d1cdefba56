//! Patterns of tool names.

/// A name, or one with `*` for any run of characters, also none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(String);

impl Pattern {
    /// `None` for a pattern that is empty and could match nothing.
    pub(super) fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name is of this pattern. Each run between two stars is looked for once, from left to right, so a hostile name costs its
    /// length and no more than that for each star.
    pub(super) fn matches(&self, name: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == name };
        let Some(mut name) = name.strip_prefix(first) else { return false };
        let mut runs: Vec<&str> = rest.split('*').collect();
        // What stands behind the last star must end the name; `split` always gives at least one piece.
        let last = runs.pop().unwrap_or_default();
        for run in runs {
            match name.split_once(run) {
                Some((_, behind)) => name = behind,
                None => return false,
            }
        }
        name.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        let matches = |pattern: &str, name: &str| Pattern::new(pattern).unwrap().matches(name);
        for (pattern, name) in [
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
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("get", "get_file"), ("get", ""), ("delete_*", "delete"), ("a*a", "a"), ("a*b*c", "acb")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert_eq!(Pattern::new(""), None);
    }
}
