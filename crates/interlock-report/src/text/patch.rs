//! A unified diff on a terminal.

use super::{Look, ink::Ink};
use crate::clean;

/// A unified diff for people to look at: what acts on a terminal is spelled out, so it may not apply any more. Without colour and
/// without such characters it is the diff itself.
#[must_use]
pub fn patch(diff: &str, look: Look) -> String {
    let ink = Ink::new(look.colour);
    let mut out = String::with_capacity(diff.len());
    for line in diff.lines() {
        let shown: String = line.split('\t').map(clean::line).collect::<Vec<_>>().join("\t");
        let header = ["--- ", "+++ "].iter().any(|start| line.starts_with(start));
        out.push_str(&match line.chars().next() {
            Some('+' | '-') if header => ink.strong(&shown),
            Some('+') => ink.added(&shown),
            Some('-') => ink.removed(&shown),
            Some('@') => ink.faint(&shown),
            _ => shown,
        });
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x.ts\n+++ b/x.ts\n@@ -1,2 +1,2 @@\n \tsame\n-old\n+new\n";

    #[test]
    fn a_harmless_diff_without_colour_is_the_diff_itself() {
        assert_eq!(patch(DIFF, Look { colour: false, width: 80, all: true }), DIFF);
    }

    #[test]
    fn what_comes_and_goes_has_a_colour_and_escapes_have_none() {
        let shown = patch(&DIFF.replace("new", "new\u{1b}[2J"), Look { colour: true, width: 80, all: true });
        assert!(shown.contains("\u{1b}[32m+new\\u{1b}[2J\u{1b}[0m\n"), "{shown:?}");
        assert!(shown.contains("\u{1b}[31m-old\u{1b}[0m\n"), "{shown:?}");
    }
}
