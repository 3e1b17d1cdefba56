//! What a suppression looks like in a line, in the comment styles of every language.

/// What it begins with.
pub(super) const MARK: &str = "interlock-ignore[";

/// What may stand in front of it.
const LEADS: &[&str] = &["//", "/*", "#", "--", "<!--", "*"];

/// A suppression in a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comment<'l> {
    /// Whether there is code in front of it.
    pub(super) trailing: bool,
    /// The hazards, as written.
    pub(super) hazards: Vec<&'l str>,
    /// Whether it says why.
    pub(super) reasoned: bool,
}

/// Reads the suppression of a line, if there is one.
pub(super) fn read(line: &str) -> Option<Comment<'_>> {
    let (before, after) = line.split_once(MARK)?;
    // Between the start of the comment and the mark there is nothing but ornament.
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || c == '!');
    let code = LEADS.iter().find_map(|lead| before.strip_suffix(lead))?;
    let code = code.trim_end_matches(['*', '/', '#']).trim();
    let (hazards, rest) = after.split_once(']')?;
    let hazards: Vec<&str> = hazards.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let reason = rest.trim_start().strip_prefix(':').unwrap_or_default();
    let reason = reason.trim().trim_end_matches("*/").trim_end_matches("-->").trim_end_matches("*/}");
    Some(Comment {
        trailing: !code.is_empty() && code != "{",
        hazards,
        reasoned: reason.contains(char::is_alphanumeric),
    })
}

/// Whether a line is nothing but a comment.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    // In a block the lines between may have no mark of their own; those that have are enough for what people write.
    let attribute = line.starts_with("#[") || line.starts_with("#![");
    !attribute && ["//", "/*", "*/", "* ", "#", "--", "{/*"].iter().any(|lead| line.starts_with(lead))
        || line == "*"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(bool, &[&str], bool)>) {
        let read = read(line);
        let read = read.as_ref().map(|comment| (comment.trailing, &*comment.hazards, comment.reasoned));
        assert_eq!(read, expected, "{line}");
    }

    #[test]
    fn every_comment_style_is_read() {
        for line in [
            "// interlock-ignore[lost-update]: one writer",
            "  # interlock-ignore[lost-update]: one writer",
            "-- interlock-ignore[lost-update]: one writer",
            "/* interlock-ignore[lost-update]: one writer */",
            " * interlock-ignore[lost-update]: one writer",
            "/// interlock-ignore[lost-update]: one writer",
            "{/* interlock-ignore[lost-update]: one writer */}",
        ] {
            check(line, Some((false, &["lost-update"], true)));
        }
        check("save(); // interlock-ignore[a, b]: why", Some((true, &["a", "b"], true)));
        check("save(); /* interlock-ignore[a]: why */", Some((true, &["a"], true)));
    }

    #[test]
    fn a_reason_is_more_than_punctuation() {
        for line in [
            "// interlock-ignore[a]",
            "// interlock-ignore[a]:",
            "// interlock-ignore[a]: -",
            "/* interlock-ignore[a]: */",
            "// interlock-ignore[a] because",
        ] {
            check(line, Some((false, &["a"], false)));
        }
    }

    #[test]
    fn what_is_no_comment_is_no_suppression() {
        check("const text = \"interlock-ignore[a]: why\";", None);
        check("// see interlock-ignore[a]: why", None);
        check("// interlock-ignore[a", None);
        check("// interlock-ignore a: why", None);
    }
}
