//! Names as they are typed: kebab-case words that also have to serve as a Rust module.

use anyhow::{Result, ensure};

/// Words that the language keeps for itself, as far as somebody might want to name a module so.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// A name that is fit for a folder, a page and a module.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// `lost-update`
    pub(super) id: String,
    /// `lost_update`
    pub(super) module: String,
}

impl Name {
    /// Refuses a name that would not serve everywhere.
    pub(super) fn parse(text: &str) -> Result<Self> {
        ensure!(
            text.split('-').all(is_word),
            "`{text}` is no name: use lower-case words joined by single hyphens, such as `lost-update`"
        );
        ensure!(
            !KEYWORDS.contains(&text),
            "`{text}` is a Rust keyword, so no module can have that name; choose another"
        );
        Ok(Self { id: text.to_owned(), module: text.replace('-', "_") })
    }
}

/// A letter, then letters and digits.
fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kebab_case_name_gives_its_module() {
        let name = Name::parse("lost-update2").unwrap();
        assert_eq!((name.id.as_str(), name.module.as_str()), ("lost-update2", "lost_update2"));
    }

    #[test]
    fn a_name_that_would_not_serve_everywhere_is_refused() {
        for bad in [
            "",
            "Lost-Update",
            "lost_update",
            "lost--update",
            "-lost",
            "lost-",
            "2-lost",
            "lost-2",
            "über",
            "../x",
        ] {
            assert!(Name::parse(bad).unwrap_err().to_string().contains("is no name"), "{bad:?}");
        }
        assert!(Name::parse("loop").unwrap_err().to_string().contains("keyword"));
    }
}
