//! What somebody has written down about real repositories.

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A line, or a stretch of lines, of a commit, and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    /// `owner/name`.
    pub(super) repository: String,
    pub(super) commit: String,
    pub(super) language: String,
    pub(super) file: String,
    pub(super) lines: Lines,
    pub(super) hazard: String,
    pub(super) expected: Expected,
}

/// Where to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lines {
    /// First and last.
    At(u32, u32),
    /// Where these lines of another commit have gone.
    From { commit: String, first: u32, last: u32 },
}

/// What is to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// A hazard: reported.
    Found,
    /// Looks like one and is none: silent.
    Silent,
    /// Before its fix: reported.
    Before,
    /// After its fix: silent.
    After,
}

impl Expected {
    pub(super) const ALL: [Self; 4] = [Self::Found, Self::Silent, Self::Before, Self::After];

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Found => "tp found",
            Self::Silent => "trap silent",
            Self::Before => "before the fix found",
            Self::After => "after the fix silent",
        }
    }

    pub(super) fn reported(self) -> bool {
        matches!(self, Self::Found | Self::Before)
    }
}

/// Reads labels: `tp` and `trap`.
pub(super) fn labels(text: &str) -> Result<Vec<Fact>> {
    let label = |value: &Value| {
        let (expected, hazard) = match word(value, "verdict")?.as_str() {
            "tp" => (Expected::Found, word(value, "hazard")?),
            "trap" => (Expected::Silent, word(value, "tempts")?),
            other => bail!("`{other}` is neither `tp` nor `trap`"),
        };
        let line = number(value, "line").context("it has no `line`")?;
        let last = number(value, "end_line").unwrap_or(line);
        Ok(vec![Fact {
            repository: word(value, "repo")?,
            commit: word(value, "commit")?,
            language: word(value, "lang")?,
            file: word(value, "file")?,
            // A `tp` is told by its first line alone.
            lines: if expected == Expected::Found { Lines::At(line, line) } else { Lines::At(line, last) },
            hazard,
            expected,
        }])
    };
    each(text, label)
}

/// Reads pairs: what stands before a fix, and is gone after it. What is no fix of a hazard is one fact or none.
pub(super) fn pairs(text: &str) -> Result<Vec<Fact>> {
    let pair = |value: &Value| {
        let (first, last) = stretch(value, "lines_before").context("it has no `lines_before`")?;
        let parent = word(value, "parent")?;
        let fact = |commit: String, lines, expected| -> Result<Fact> {
            Ok(Fact {
                repository: word(value, "repo")?,
                commit,
                language: word(value, "lang")?,
                file: word(value, "file")?,
                lines,
                hazard: word(value, "hazard")?,
                expected,
            })
        };
        let after = match stretch(value, "lines_after") {
            Some((first, last)) => Lines::At(first, last),
            None => Lines::From { commit: parent.clone(), first, last },
        };
        let fix = word(value, "fix_commit")?;
        let before = Lines::At(first, last);
        Ok(match word(value, "pair_kind")?.as_str() {
            "hazard->fixed" | "hazard->partial" => {
                vec![fact(parent, before, Expected::Before)?, fact(fix, after, Expected::After)?]
            }
            "safe->hazard" => {
                vec![fact(parent, before, Expected::Silent)?, fact(fix, after, Expected::Found)?]
            }
            "trap" => vec![fact(parent, before, Expected::Silent)?],
            other => bail!("`{other}` is no kind of pair"),
        })
    };
    each(text, pair)
}

fn each(text: &str, read: impl Fn(&Value) -> Result<Vec<Fact>>) -> Result<Vec<Fact>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let facts = lines.map(|(line, number)| {
        let value = serde_json::from_str(line).with_context(|| format!("line {number} is no JSON"))?;
        read(&value).with_context(|| format!("line {number} is not right"))
    });
    Ok(facts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn word(value: &Value, key: &str) -> Result<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned).with_context(|| format!("it has no `{key}`"))
}

fn number(value: &Value, key: &str) -> Option<u32> {
    value.get(key)?.as_u64()?.try_into().ok()
}

fn stretch(value: &Value, key: &str) -> Option<(u32, u32)> {
    let at = |index: usize| value.get(key)?.get(index)?.as_u64()?.try_into().ok();
    Some((at(0)?, at(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_what_must_be_reported_and_what_must_not() {
        let text = r#"{"repo":"o/n","commit":"c","lang":"typescript","file":"a.ts","line":3,"end_line":9,"hazard":"lost-update","verdict":"tp"}

{"repo":"o/n","commit":"c","lang":"typescript","file":"a.ts","line":3,"end_line":9,"hazard":"none","tempts":"retry-storm","verdict":"trap"}"#;
        let [tp, trap] = &labels(text).unwrap()[..] else { panic!("two") };
        assert_eq!((tp.expected, &*tp.hazard, &tp.lines), (Expected::Found, "lost-update", &Lines::At(3, 3)));
        assert_eq!(
            (trap.expected, &*trap.hazard, &trap.lines),
            (Expected::Silent, "retry-storm", &Lines::At(3, 9))
        );
    }

    #[test]
    fn a_pair_is_looked_at_before_and_after() {
        let text = r#"{"repo":"o/n","parent":"p","fix_commit":"f","lang":"go","file":"a.go","lines_before":[3,9],"hazard":"lost-update","pair_kind":"hazard->fixed"}"#;
        let [before, after] = &pairs(text).unwrap()[..] else { panic!("two") };
        assert_eq!(
            (before.expected, &*before.commit, &before.lines),
            (Expected::Before, "p", &Lines::At(3, 9))
        );
        assert_eq!((after.expected, &*after.commit), (Expected::After, "f"));
        assert_eq!(after.lines, Lines::From { commit: "p".into(), first: 3, last: 9 });
    }

    #[test]
    fn a_line_that_is_not_right_is_named() {
        let error = labels("{\"verdict\":\"tp\"}").unwrap_err();
        assert_eq!(format!("{error:#}"), "line 1 is not right: it has no `hazard`");
        assert_eq!(labels("\n{").unwrap_err().to_string(), "line 2 is no JSON");
    }
}
