//! How deep a file nests, counted before anything recurses over it. What nests too deep is cut out: its text is replaced by spaces, line
//! breaks and all that was written around it stay where they were.
//!
//! The count knows strings and comments, so that brackets in them are text; it need not be a parser, only never too low.

use std::borrow::Cow;

/// So deep nobody writes. Brackets, and how far a line is indented in steps, count together.
const DEEPEST: usize = 100;

/// A line with more operators than this is generated; each may become a level of the tree.
const MOST_OPERATORS: usize = 2000;

const PASS: &[u8] = b"pass";

/// The text with what nests too deep left out, and where that was.
pub(super) fn bounded(text: &str) -> (Cow<'_, str>, Vec<usize>) {
    let cuts = cuts(text);
    if cuts.is_empty() {
        return (Cow::Borrowed(text), vec![]);
    }
    let mut bytes = text.as_bytes().to_vec();
    for (start, end) in &cuts {
        let line = text.as_bytes().get(*start..*end).unwrap_or_default();
        let indent = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        for byte in bytes.get_mut(*start..*end).into_iter().flatten() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        // A block that is left without a statement would not be one.
        let place = (start + indent)..(start + indent + PASS.len()).min(*end);
        if let Some(place) = bytes.get_mut(place)
            && place.len() == PASS.len()
            && !place.contains(&b'\n')
        {
            place.copy_from_slice(PASS);
        }
    }
    let cut = String::from_utf8(bytes).unwrap_or_default();
    (Cow::Owned(cut), cuts.into_iter().map(|(start, _)| start).collect())
}

/// The lines that hold what nests too deep, from a first to behind a last byte.
fn cuts(text: &str) -> Vec<(usize, usize)> {
    let mut cuts: Vec<(usize, usize)> = vec![];
    let mut scan = Scan { bytes: text.as_bytes(), at: 0 };
    let mut indents: Vec<usize> = vec![];
    // The operators of each bracket that is open, those outside of all first; a comma begins anew.
    let mut operators = vec![0_usize];
    let mut start = 0;
    while scan.at < scan.bytes.len() {
        if operators.len() == 1 && (scan.at == 0 || scan.before() == Some(b'\n')) {
            start = scan.at;
            operators = vec![0];
            let width = scan.indent();
            if !scan.blank() {
                while indents.last().is_some_and(|outer| *outer >= width) {
                    indents.pop();
                }
                indents.push(width);
            }
        }
        let mut inside = 0;
        match scan.next() {
            Token::Open => operators.push(0),
            Token::Close if operators.len() > 1 => {
                operators.pop();
            }
            Token::Comma => operators.iter_mut().last().into_iter().for_each(|count| *count = 0),
            Token::Operator => operators.iter_mut().last().into_iter().for_each(|count| *count += 1),
            Token::Formatted(deep) => inside = deep,
            Token::Close | Token::Other => {}
        }
        if scan.before() == Some(b'\n') {
            // A line is judged by what is on it, an empty one by nothing.
            continue;
        }
        let chained = operators.last().is_some_and(|count| *count > MOST_OPERATORS);
        if operators.len() + inside + indents.len() > DEEPEST || chained {
            // The rest of the line, or of the brackets, goes with it.
            let end = scan.end_of_statement(operators.len() - 1);
            match cuts.last_mut() {
                Some(last) if last.1 + 1 >= start => last.1 = end,
                _ => cuts.push((start, end)),
            }
            operators = vec![0];
            // The next line says for itself how far it is indented.
            scan.at = end.saturating_add(1).min(scan.bytes.len());
            start = scan.at;
        }
    }
    cuts
}

enum Token {
    Open,
    Close,
    Comma,
    Operator,
    /// A formatted string, with how deep the brackets in it nest.
    Formatted(usize),
    Other,
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn before(&self) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(1)?).copied()
    }

    /// How far the line that begins here is indented.
    fn indent(&self) -> usize {
        self.bytes.iter().skip(self.at).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
    }

    /// Whether nothing but a comment is on the line that begins here.
    fn blank(&self) -> bool {
        let mut rest =
            self.bytes.iter().skip(self.at).skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        matches!(rest.next(), None | Some(b'\n' | b'#'))
    }

    fn next(&mut self) -> Token {
        let Some(byte) = self.peek(0) else { return Token::Other };
        self.at += 1;
        match byte {
            b'(' | b'[' | b'{' => Token::Open,
            b')' | b']' | b'}' => Token::Close,
            b'#' => {
                while self.peek(0).is_some_and(|byte| byte != b'\n') {
                    self.at += 1;
                }
                Token::Other
            }
            b',' | b';' => Token::Comma,
            b'"' | b'\'' => {
                let formatted = self.is_formatted();
                let deep = self.string(byte);
                if formatted { Token::Formatted(deep) } else { Token::Other }
            }
            b'+' | b'-' | b'*' | b'/' | b'.' | b'~' | b'%' | b'@' | b'&' | b'|' | b'^' | b'<' | b'>'
            | b':' => Token::Operator,
            // `not not x`, `await await x`, `a if b else c`, `lambda: …`
            b' ' if self.peek(0).is_some_and(|byte| byte.is_ascii_lowercase()) => Token::Operator,
            _ => Token::Other,
        }
    }

    /// Whether the quote that was read begins a string with holes in it.
    fn is_formatted(&self) -> bool {
        let letters = self.bytes.get(..self.at.saturating_sub(1)).unwrap_or_default().iter().rev().take(2);
        letters
            .take_while(|byte| byte.is_ascii_alphabetic())
            .any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T'))
    }

    /// Goes behind a string whose first quote was read, and says how deep brackets nest in it.
    fn string(&mut self, quote: u8) -> usize {
        let triple = self.peek(0) == Some(quote) && self.peek(1) == Some(quote);
        if triple {
            self.at += 2;
        }
        let (mut depth, mut deepest) = (0_usize, 0);
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'\\' => self.at += 1,
                b'\n' if !triple => break,
                byte if byte == quote => {
                    if !triple {
                        break;
                    }
                    if self.peek(0) == Some(quote) && self.peek(1) == Some(quote) {
                        self.at += 2;
                        break;
                    }
                }
                _ => {}
            }
        }
        deepest
    }

    /// The end of what is open here: the line on which the last bracket closes.
    fn end_of_statement(&mut self, mut brackets: usize) -> usize {
        while self.at < self.bytes.len() {
            if brackets == 0 && self.peek(0) == Some(b'\n') {
                break;
            }
            match self.next() {
                Token::Open => brackets += 1,
                Token::Close => brackets = brackets.saturating_sub(1),
                _ => {}
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.at
    }
}
