//! Just enough of a lexer to count brackets: strings, templates, comments and regular expressions are skipped.

use memchr::{memchr, memchr3, memmem};

/// What matters about a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A bracket opens; `$` stands for the hole of a template.
    Open(u8),
    /// A bracket closes.
    Close,
    /// `,` or `;`: what comes is no part of what was.
    Boundary,
    /// A word with which a new statement starts, where there is no semicolon.
    Statement,
    /// Something that can make a parser go deeper: an operator, a member, a keyword.
    Deeper,
}

/// What the token before was, as far as it decides what a slash or a line break means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operator, an open bracket, a keyword: an expression follows.
    Operator,
    /// The end of an operand.
    Operand,
    /// A `}`.
    Brace,
}

/// The tokens of a text that matter, each with where it starts and where it ends.
pub(super) struct Tokens<'t> {
    bytes: &'t [u8],
    at: usize,
    before: Before,
    /// Whether a line break came since the last token.
    new_line: bool,
    /// The open brackets.
    open: Vec<Bracket>,
    /// How many `<` are open outside of all brackets.
    angles: u32,
    /// Whether the last word was one whose parentheses are followed by a statement: `if`, `for`, `while`.
    heads: bool,
    /// Words that stand for two tokens: a statement starts, and it is one that nests.
    pending: Option<(Token, usize, usize)>,
}

/// Which bytes go on with a word.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(
            clippy::indexing_slicing,
            reason = "the index is below the length, and this runs in the compiler"
        )]
        #[expect(clippy::cast_possible_truncation, reason = "the index is below 256")]
        {
            let this = byte as u8;
            table[byte] = this.is_ascii_alphanumeric() || this == b'_' || this == b'$' || this >= 0x80;
        }
        byte += 1;
    }
    table
};

/// An open bracket.
struct Bracket {
    /// Which; `$` for the hole of a template.
    kind: u8,
    /// Whether a statement follows behind it.
    head: bool,
    /// How many `<` are open in it. A comma between type parameters separates nothing.
    angles: u32,
}

/// Words whose parentheses are followed by a statement.
fn is_head(word: &[u8]) -> bool {
    matches!(word, b"if" | b"for" | b"while" | b"with")
}

/// Words after which an expression follows, or a statement without a block.
fn nests(word: &[u8]) -> bool {
    matches!(
        word,
        b"else"
            | b"if"
            | b"for"
            | b"while"
            | b"do"
            | b"typeof"
            | b"void"
            | b"delete"
            | b"await"
            | b"new"
            | b"yield"
            | b"return"
            | b"throw"
            | b"case"
            | b"in"
            | b"of"
            | b"instanceof"
            | b"as"
            | b"satisfies"
            | b"keyof"
            | b"extends"
            | b"infer"
            | b"with"
            | b"readonly"
            | b"unique"
            | b"is"
            | b"async"
    )
}

/// Words that go on with what a `}` or a line ended.
fn goes_on(word: &[u8]) -> bool {
    matches!(
        word,
        b"else"
            | b"catch"
            | b"finally"
            | b"instanceof"
            | b"in"
            | b"of"
            | b"as"
            | b"satisfies"
            | b"from"
            | b"is"
            | b"extends"
            | b"implements"
    )
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            before: Before::Operator,
            new_line: true,
            open: vec![],
            angles: 0,
            heads: false,
            pending: None,
        }
    }

    fn angles_here(&mut self) -> &mut u32 {
        self.open.last_mut().map_or(&mut self.angles, |bracket| &mut bracket.angles)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_while(&mut self, accept: impl Fn(u8) -> bool) {
        let rest = self.rest();
        self.at += rest.iter().position(|byte| !accept(*byte)).unwrap_or(rest.len());
    }

    fn line_comment(&mut self) {
        let rest = self.rest();
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    fn block_comment(&mut self) {
        self.at += 2;
        let rest = self.rest();
        let (inside, end) = match memmem::find(rest, b"*/") {
            Some(end) => (rest.get(..end).unwrap_or_default(), end + 2),
            None => (rest, rest.len()),
        };
        self.new_line |= memchr(b'\n', inside).is_some();
        self.at += end;
    }

    /// Goes on to the next of three bytes, or to the end, and says which it is.
    fn find(&mut self, one: u8, two: u8, three: u8) -> Option<u8> {
        let rest = self.rest();
        let found = memchr3(one, two, three, rest);
        self.at += found.unwrap_or(rest.len());
        found.and_then(|at| rest.get(at)).copied()
    }

    /// Past a backslash and what it stands before.
    fn skip_escape(&mut self) {
        self.at = (self.at + 2).min(self.bytes.len());
    }

    /// A string ends at its quote or, if it was none, with the line.
    fn string(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.find(quote, b'\\', b'\n') {
            match byte {
                b'\\' => self.skip_escape(),
                b'\n' => break,
                _ => {
                    self.at += 1;
                    break;
                }
            }
        }
        self.before = Before::Operand;
    }

    /// The text of a template, up to its end or to a hole. Says whether a hole opened.
    fn template(&mut self) -> bool {
        while let Some(byte) = self.find(b'`', b'\\', b'$') {
            match byte {
                b'\\' => self.skip_escape(),
                b'`' => {
                    self.at += 1;
                    self.before = Before::Operand;
                    return false;
                }
                _ if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.before = Before::Operator;
                    self.open.push(Bracket { kind: b'$', head: false, angles: 0 });
                    return true;
                }
                _ => self.at += 1,
            }
        }
        false
    }

    fn regular_expression(&mut self) {
        self.at += 1;
        let mut class = false;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'\n' => break,
                b'/' if !class => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = self.at.min(self.bytes.len());
        self.before = Before::Operand;
    }

    /// A word: what it means for the depth, if anything.
    fn word(&mut self, start: usize) -> Option<Token> {
        self.skip_while(|byte| IN_WORD.get(byte as usize) == Some(&true));
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let nests = word.len() > 1 && word.first().is_some_and(u8::is_ascii_lowercase) && nests(word);
        self.heads = is_head(word) || (self.heads && word == b"await");
        let after =
            std::mem::replace(&mut self.before, if nests { Before::Operator } else { Before::Operand });
        let ended = after == Before::Brace || (after == Before::Operand && self.new_line);
        let starts = ended && !goes_on(word);
        if starts {
            *self.angles_here() = 0;
        }
        match (starts, nests) {
            (true, true) => {
                self.pending = Some((Token::Deeper, start, self.at));
                Some(Token::Statement)
            }
            (true, false) => Some(Token::Statement),
            (false, true) => Some(Token::Deeper),
            (false, false) => None,
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = (Token, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(pending) = self.pending.take() {
            return Some(pending);
        }
        while let Some(byte) = self.bytes.get(self.at).copied() {
            let start = self.at;
            let token = match byte {
                b'\n' => {
                    self.new_line = true;
                    self.at += 1;
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
                    continue;
                }
                b'/' if self.peek(1) == b'/' => {
                    self.line_comment();
                    continue;
                }
                b'/' if self.peek(1) == b'*' => {
                    self.block_comment();
                    continue;
                }
                b'"' | b'\'' => {
                    self.string(byte);
                    self.new_line = false;
                    continue;
                }
                b'/' if self.before != Before::Operand => {
                    self.regular_expression();
                    self.new_line = false;
                    continue;
                }
                b'`' => {
                    self.at += 1;
                    if self.template() { Some(Token::Open(b'$')) } else { Some(Token::Deeper) }
                }
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    let head = byte == b'(' && std::mem::replace(&mut self.heads, false);
                    self.open.push(Bracket { kind: byte, head, angles: 0 });
                    self.before = Before::Operator;
                    Some(Token::Open(byte))
                }
                b'}' if self.open.last().is_some_and(|bracket| bracket.kind == b'$') => {
                    self.at += 1;
                    self.open.pop();
                    // The template goes on, and another hole may open at once.
                    if self.template() {
                        self.pending = Some((Token::Open(b'$'), self.at, self.at));
                    }
                    return Some((Token::Close, start, start + 1));
                }
                b')' | b']' | b'}' => {
                    self.at += 1;
                    let head = self.open.pop().is_some_and(|bracket| bracket.head);
                    self.before = match byte {
                        b'}' => Before::Brace,
                        _ if head => Before::Operator,
                        _ => Before::Operand,
                    };
                    Some(Token::Close)
                }
                b',' if *self.angles_here() > 0 => {
                    self.at += 1;
                    self.before = Before::Operator;
                    Some(Token::Deeper)
                }
                b',' | b';' => {
                    self.at += 1;
                    self.before = Before::Operator;
                    *self.angles_here() = 0;
                    Some(Token::Boundary)
                }
                byte if byte.is_ascii_digit() => {
                    self.skip_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
                    self.before = Before::Operand;
                    None
                }
                byte if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'#') || byte >= 0x80 => {
                    self.at += 1;
                    self.word(start)
                }
                _ => {
                    self.at += 1;
                    match byte {
                        b'<' => *self.angles_here() += 1,
                        b'>' if self.bytes.get(start.wrapping_sub(1)) != Some(&b'=') => {
                            let angles = self.angles_here();
                            *angles = angles.saturating_sub(1);
                        }
                        _ => {}
                    }
                    let postfix = matches!(byte, b'+' | b'-') && self.peek(0) == byte;
                    if postfix {
                        self.at += 1;
                    } else {
                        self.before = Before::Operator;
                    }
                    Some(Token::Deeper)
                }
            };
            self.new_line = false;
            if let Some(token) = token {
                return Some((token, start, self.at));
            }
        }
        None
    }
}
