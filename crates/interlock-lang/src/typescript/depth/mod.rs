//! How deep a file nests, found out before the parser sees it: a parser that recurses too deep ends the process.
//!
//! Brackets nest, and so do operators that lean to the right, chains of members, `else if`, and statements without a block. What is too
//! deep is cut out, so that the rest of the file can be read.

mod tokens;

use std::ops::Range;

use self::tokens::{Token, Tokens};

/// So many brackets may be open at once.
const MOST_OPEN: usize = 500;
/// So many operators, members and keywords may follow each other in one statement or one element, brackets around it included.
const LONGEST_RUN: usize = 2_000;

/// What has to be cut out of a text before it is parsed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Depth {
    /// The stretches, in order, with what takes their place.
    pub(crate) cuts: Vec<Cut>,
}

/// A stretch that nests too deep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Its bytes.
    pub(crate) range: Range<usize>,
    /// Whether an expression has to stand there.
    pub(crate) expression: bool,
}

/// An open bracket and what was seen inside it.
struct Level {
    open: u8,
    /// Where its content starts.
    content: usize,
    /// Where the statement or element starts that is being read.
    start: usize,
    /// How many tokens in it can make a parser go deeper.
    run: usize,
}

/// What is being cut.
enum Cutting {
    No,
    /// The content of the bracket at this depth.
    Content(usize),
    /// The statement or element at this depth.
    Element(usize),
}

/// Finds what nests too deep.
pub(crate) fn measure(text: &str) -> Depth {
    if is_shallow(text) {
        return Depth::default();
    }
    let mut depth = Depth::default();
    let mut levels = vec![Level { open: b';', content: 0, start: 0, run: 0 }];
    let mut above = 0;
    let mut cutting = Cutting::No;
    let mut end = text.len();
    for (token, at, next) in Tokens::new(text) {
        end = next;
        match token {
            Token::Open(open) => {
                above += levels.last().map_or(0, |level| level.run) + 1;
                levels.push(Level { open, content: next, start: next, run: 0 });
                if matches!(cutting, Cutting::No) {
                    if levels.len() > MOST_OPEN {
                        // The bracket around it stays, so that what is left is within the limit.
                        cutting = Cutting::Content((levels.len() - 2).max(1));
                    } else if above > LONGEST_RUN {
                        let longest = levels.iter().enumerate().max_by_key(|(_, level)| level.run);
                        cutting = Cutting::Element(longest.map_or(0, |(index, _)| index));
                    }
                }
            }
            Token::Close => {
                if levels.len() == 1 {
                    continue;
                }
                let here = levels.len() - 1;
                let Some(level) = levels.pop() else { continue };
                above = above.saturating_sub(levels.last().map_or(0, |outer| outer.run) + 1);
                // `f()()()` is a chain like any other.
                let run = levels.last_mut().map_or(0, |outer| {
                    outer.run += 1;
                    outer.run
                });
                if run + above > LONGEST_RUN && matches!(cutting, Cutting::No) {
                    cutting = Cutting::Element(here - 1);
                }
                match cutting {
                    Cutting::Content(cut) if cut == here => {
                        let expression = matches!(level.open, b'(' | b'[' | b'$');
                        depth.cut(level.content..at, expression);
                        cutting = Cutting::No;
                    }
                    Cutting::Element(cut) if cut == here => {
                        depth.cut(level.start..at, matches!(level.open, b'(' | b'['));
                        cutting = Cutting::No;
                    }
                    _ => {}
                }
            }
            Token::Boundary => {
                let here = levels.len() - 1;
                let Some(level) = levels.last_mut() else { continue };
                if matches!(cutting, Cutting::Element(cut) if cut == here) {
                    let expression = matches!(level.open, b'(' | b'[');
                    depth.cut(level.start..at, expression);
                    cutting = Cutting::No;
                }
                (level.run, level.start) = (0, next);
            }
            Token::Statement => {
                let here = levels.len() - 1;
                let Some(level) = levels.last_mut() else { continue };
                // Inside parentheses and lists nothing but a comma ends an element.
                if matches!(level.open, b'(' | b'[') {
                    continue;
                }
                if matches!(cutting, Cutting::Element(cut) if cut == here) {
                    depth.cut(level.start..at, false);
                    cutting = Cutting::No;
                }
                (level.run, level.start) = (0, at);
            }
            Token::Deeper => {
                let here = levels.len() - 1;
                let Some(level) = levels.last_mut() else { continue };
                level.run += 1;
                if level.run + above > LONGEST_RUN && matches!(cutting, Cutting::No) {
                    cutting = Cutting::Element(here);
                }
            }
        }
    }
    let unfinished = match cutting {
        Cutting::No => None,
        Cutting::Content(cut) => levels.get(cut).map(|level| level.content),
        Cutting::Element(cut) => levels.get(cut).map(|level| level.start),
    };
    if let Some(start) = unfinished {
        depth.cut(start..end.max(start), false);
    }
    depth
}

impl Depth {
    fn cut(&mut self, range: Range<usize>, expression: bool) {
        self.cuts.push(Cut { range, expression });
    }

    /// The text without what nests too deep: as long as before, every line where it was.
    pub(crate) fn apply(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for Cut { range, expression } in &self.cuts {
            blank(&mut bytes, range.clone());
            if let (true, Some(first)) =
                (*expression, bytes.get_mut(range.clone()).and_then(<[u8]>::first_mut))
                && *first == b' '
            {
                *first = b'0';
            }
        }
        // Blanks take the place of whole characters, so this is text again.
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Overwrites a stretch with blanks, line breaks kept.
pub(crate) fn blank(bytes: &mut [u8], range: Range<usize>) {
    for byte in bytes.get_mut(range).into_iter().flatten() {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

/// Whether a text is too short for anything in it to be deep: every bracket and every token that counts is at least a byte.
fn is_shallow(text: &str) -> bool {
    text.len() < MOST_OPEN || text.len() < LONGEST_RUN && opened(text) < MOST_OPEN
}

/// How many brackets open in a text, those in strings and comments included. They are summed up in bytes, of which a processor adds
/// many at once.
fn opened(text: &str) -> usize {
    let opens = |byte: &u8| u8::from(matches!(byte, b'(' | b'[' | b'{'));
    let chunks = text.as_bytes().chunks(usize::from(u8::MAX));
    chunks.map(|chunk| usize::from(chunk.iter().map(opens).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        measure(text).apply(text)
    }

    #[test]
    fn ordinary_code_is_left_alone() {
        let line =
            "export const f = (a, b) => ({ a: [a, b], b: `x ${a + `y ${b}`} z`, c: /[({]/.test(a) })\n";
        let text = line.repeat(2_000);
        assert_eq!(measure(&text), Depth::default());
        let text = "if (a) { b() } else { c() }\nfunction f() { return 1 }\n".repeat(3_000);
        assert_eq!(measure(&text), Depth::default(), "statements without a semicolon end all the same");
        let text = format!("const s = [{}]", "'(((' + a.b, /\\/(((/, ".repeat(5_000));
        assert_eq!(measure(&text), Depth::default(), "brackets in strings and expressions do not count");
    }

    #[test]
    fn what_nests_too_deep_is_cut_and_the_rest_is_kept() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("`${", "}`"), ("f(", ")")] {
            let deep = format!("const a = {}1{}", open.repeat(100_000), close.repeat(100_000));
            let text = format!("before();\n{deep};\nafter();\n");
            let kept = kept(&text);
            assert_eq!(kept.len(), text.len());
            assert!(kept.starts_with("before();") && kept.ends_with("after();\n"), "{open}");
            assert_eq!(measure(&kept), Depth::default(), "{open}: the rest is shallow");
        }
    }

    #[test]
    fn brackets_that_are_never_closed_are_cut_to_the_end() {
        let text = format!("before();\n{}", "[".repeat(100_000));
        let kept = kept(&text);
        assert!(kept.starts_with("before();\n[[["));
        assert_eq!(measure(&kept), Depth::default());
    }

    #[test]
    fn operators_that_lean_to_the_right_count() {
        for part in
            ["!", "- ", "typeof ", "await ", "a => ", "a ? b : ", "a = ", "a ** ", "if (a) ", "a: ", "new "]
        {
            let text = format!("before();\nx = {}1;\nafter();\n", part.repeat(100_000));
            let kept = kept(&text);
            assert!(kept.starts_with("before();") && kept.ends_with("after();\n"), "{part}");
            assert!(!kept.contains(part), "{part} is cut");
        }
        let chain = "if (a) { b() } else ".repeat(100_000);
        let text = format!("before();\n{chain} {{}}\nafter();\n");
        assert!(kept(&text).starts_with("before();"));
        assert!(!kept(&text).contains("else"));
        let chain = format!("x{};", ".then(f)".repeat(100_000));
        assert!(!kept(&chain).contains("then"));
    }
}
