//! A text that a pattern allows.

use regex_syntax::hir::{Class, Hir, HirKind};

/// No argument needs more.
const LONGEST: usize = 4096;

/// The shortest text that comes to mind; other variants take other characters where the pattern leaves a choice.
pub(super) fn matching(pattern: &str, variant: usize) -> Option<String> {
    let pattern = regex_syntax::parse(pattern).ok()?;
    let mut text = String::new();
    write(&pattern, variant, &mut text)?;
    Some(text)
}

fn write(part: &Hir, variant: usize, text: &mut String) -> Option<()> {
    if text.len() > LONGEST {
        return None;
    }
    match part.kind() {
        // A look-around of width none asks for nothing; what does not fit is found out when the arguments are checked.
        HirKind::Empty | HirKind::Look(_) => Some(()),
        HirKind::Literal(literal) => {
            text.push_str(std::str::from_utf8(&literal.0).ok()?);
            Some(())
        }
        HirKind::Class(class) => {
            text.push(pick(class, variant)?);
            Some(())
        }
        HirKind::Repetition(repeated) => {
            let most = repeated.max.unwrap_or(u32::MAX);
            let times = repeated.min.max(1).min(most);
            (0..times).try_for_each(|_| write(&repeated.sub, variant, text))
        }
        HirKind::Capture(capture) => write(&capture.sub, variant, text),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, variant, text)),
        HirKind::Alternation(parts) => write(parts.get(variant % parts.len().max(1))?, variant, text),
    }
}

/// A letter or a digit if there is one: the first of a class is often a control character.
fn pick(class: &Class, variant: usize) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let inside = |c: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(c));
    let plain = ('a'..='z').chain('0'..='9').chain('A'..='Z').chain("-_./ ".chars());
    let plain: Vec<char> = plain.filter(inside).collect();
    match plain.len() {
        0 => class.ranges().first().map(|range| range.start()),
        all => plain.get(variant % all).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_for_a_pattern() {
        for (pattern, first, second) in [
            ("^[a-z]{3}-\\d{2}$", "aaa-00", "bbb-11"),
            ("^(cat|dog)s?$", "cats", "dogs"),
            ("^[^./\\\\][^/\\\\]*$", "aa", "bb"),
            ("^#[0-9A-F]{6}$", "#000000", "#111111"),
        ] {
            assert_eq!(matching(pattern, 0).as_deref(), Some(first), "{pattern}");
            assert_eq!(matching(pattern, 1).as_deref(), Some(second), "{pattern}");
        }
    }

    #[test]
    fn hostile_patterns_end() {
        assert_eq!(matching("(", 0), None);
        assert_eq!(matching("((a{500}){500}){2}", 0), None);
        let _ = matching(&"(".repeat(10_000), 0);
        let _ = matching("[^\\x00-\\x{10FFFF}]", 0);
    }
}
