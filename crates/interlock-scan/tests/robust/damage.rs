//! What happens to a source that is being edited, merged badly or cut off.

/// Chance that is the same on every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One of some things.
    pub(crate) fn one_of<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        things.get(self.below(things.len())).expect("there is at least one")
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Knuth's multiplier; the high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// What is put where nothing of the kind belongs.
const STRAY: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "`",
    "\"",
    "'",
    "/*",
    "//",
    "${",
    "=>",
    "await ",
    "async ",
    "...",
    ";",
    ",",
    "?.",
    "!",
    "\u{0}",
    "é",
    "\u{2028}",
    "class ",
    "function ",
    "yield ",
    "return ",
    "import ",
    "export default ",
    "<T>",
    "/",
    "@",
    "#x",
    "\\",
    "0x",
    "1n",
    "?",
    // What Go and Python have besides.
    "<-",
    ":=",
    "*",
    "chan ",
    "defer ",
    "go ",
    "func ",
    "select {",
    "case ",
    "default:",
    "def ",
    "lambda ",
    ":",
    "    ",
    "with ",
    "\"\"\"",
];

/// A text with one to three damages.
pub(crate) fn damaged(text: &str, chance: &mut Chance) -> String {
    (0..=chance.below(3)).fold(text.to_owned(), |text, _| once(&text, chance))
}

#[expect(clippy::indexing_slicing, reason = "every index is below the length of what it indexes")]
fn once(text: &str, chance: &mut Chance) -> String {
    let tokens = tokens(text);
    if tokens.is_empty() {
        return (*chance.one_of(STRAY)).to_owned();
    }
    let at = chance.below(tokens.len());
    let other = chance.below(tokens.len());
    let (first, last) = (at.min(other), at.max(other));
    let join = |parts: &[&[&str]]| parts.concat().concat();
    match chance.below(7) {
        0 => join(&[&tokens[..at], &tokens[at + 1..]]),
        1 => join(&[&tokens[..at]]),
        2 => join(&[&tokens[..last], &tokens[first..]]),
        3 => join(&[&tokens[..first], &tokens[last..]]),
        4 => join(&[&tokens[..first], &[tokens[last]], &tokens[first + 1..]]),
        5 => join(&[&tokens[..at], &[*chance.one_of(STRAY)], &tokens[at..]]),
        _ => {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let (one, two) = (chance.below(lines.len()), chance.below(lines.len()));
            lines.swap(one, two);
            lines.concat()
        }
    }
}

/// Words, and every other character by itself.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}
