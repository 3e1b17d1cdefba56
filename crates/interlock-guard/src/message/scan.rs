//! JSON text walked over without building anything: no recursion, no allocation, every byte looked at once.

use std::borrow::Cow;

use super::fault::Fault;

/// From where to where, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A place in JSON text.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The key of a member, as it is written between its quotes.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    raw: &'a [u8],
    is_escaped: bool,
}

/// How deep values may nest below the members that are looked at; one bit each.
const DEEPEST: u32 = 128;

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The first byte of the next value.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.blank();
        self.bytes.get(self.at).copied()
    }

    /// Walks over an object. `visit` is called after each key and must go over the value.
    pub(crate) fn object<F>(&mut self, mut visit: F) -> Result<Span, Fault>
    where
        F: FnMut(&mut Self, Key<'a>) -> Result<(), Fault>,
    {
        self.blank();
        let start = self.at;
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(self.since(start));
        }
        loop {
            self.blank();
            let key = self.key()?;
            visit(self, key)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(self.since(start));
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
        }
    }

    /// Walks over an array. `visit` must go over one element.
    pub(crate) fn array<F>(&mut self, mut visit: F) -> Result<Span, Fault>
    where
        F: FnMut(&mut Self) -> Result<(), Fault>,
    {
        self.blank();
        let start = self.at;
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(self.since(start));
        }
        loop {
            visit(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(self.since(start));
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
        }
    }

    /// Goes over a value of any kind.
    pub(crate) fn value(&mut self) -> Result<Span, Fault> {
        self.blank();
        let start = self.at;
        // The lowest bit says whether the innermost open bracket is an object's.
        let mut objects: u128 = 0;
        let mut depth: u32 = 0;
        loop {
            self.blank();
            match self.bytes.get(self.at) {
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        (objects, depth) = push(objects, depth, true)?;
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        (objects, depth) = push(objects, depth, false)?;
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                _ => return Err(Fault::Syntax(self.at)),
            }
            loop {
                if depth == 0 {
                    return Ok(self.since(start));
                }
                let is_object = objects & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if is_object {
                            self.blank();
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if is_object => self.at += 1,
                    Some(b']') if !is_object => self.at += 1,
                    _ => return Err(Fault::Syntax(self.at)),
                }
                objects >>= 1;
                depth -= 1;
            }
        }
    }

    /// Makes sure that nothing comes after the value.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Fault::Syntax(self.at)),
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Key<'a>, Fault> {
        let start = self.at + 1;
        let is_escaped = self.string()?;
        let raw = self.bytes.get(start..self.at - 1).unwrap_or_default();
        self.blank();
        self.expect(b':')?;
        Ok(Key { raw, is_escaped })
    }

    /// Goes over a string and says whether it has an escape.
    fn string(&mut self) -> Result<bool, Fault> {
        self.expect(b'"')?;
        let mut is_escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            // A line feed inside a string would end the message on a pipe.
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            self.at += plain.unwrap_or(rest.len());
            match plain.and_then(|plain| rest.get(plain..)).unwrap_or_default() {
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(is_escaped);
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                [b'\\', b'u', one, two, three, four, ..]
                    if [one, two, three, four].into_iter().all(u8::is_ascii_hexdigit) =>
                {
                    self.at += 6;
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
            is_escaped = true;
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        if self.at == start { Err(Fault::Syntax(start)) } else { Ok(()) }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word) {
            return Err(Fault::Syntax(self.at));
        }
        self.at = end;
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.bytes.get(self.at) != Some(&byte) {
            return Err(Fault::Syntax(self.at));
        }
        self.at += 1;
        Ok(())
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn since(&self, start: usize) -> Span {
        Span { start: narrow(start), end: narrow(self.at) }
    }
}

impl<'a> Key<'a> {
    /// What it says.
    pub(crate) fn text(&self) -> Cow<'a, [u8]> {
        if !self.is_escaped {
            return Cow::Borrowed(self.raw);
        }
        // Half of a surrogate pair has no text. It is not equal to anything that the guard looks for.
        Cow::Owned(unescaped(self.raw).unwrap_or_else(|| "\u{fffd}".to_owned()).into_bytes())
    }
}

/// What a string says, from what is between its quotes; `None` if it says nothing, as half of a surrogate pair does.
pub(super) fn unescaped(raw: &[u8]) -> Option<String> {
    let mut quoted = Vec::with_capacity(raw.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(raw);
    quoted.push(b'"');
    serde_json::from_slice(&quoted).ok()
}

fn push(objects: u128, depth: u32, is_object: bool) -> Result<(u128, u32), Fault> {
    if depth == DEEPEST {
        return Err(Fault::Depth(DEEPEST));
    }
    Ok(((objects << 1) | u128::from(is_object), depth + 1))
}

/// Messages are far shorter than 4 GiB: their length is bounded before they come here.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_takes_for_json_is_taken_and_what_it_refuses_is_refused() {
        let texts = [
            "1",
            "-0",
            "0.5e-3",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "true",
            "tru",
            "null",
            "\"a\\u00e9\\n\"",
            "\"\\u00g0\"",
            "\"\\x\"",
            "\"\\u00e\"",
            "\"\\",
            "\"a\\\"b\\u00E9c\"",
            "\"a\\u\"",
            "\"\t\"",
            "\"",
            "[]",
            "[1,]",
            "[1 2]",
            "{}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "{\"a\":{\"b\":[{},[],\"}\"]}}",
            "[}",
            "{]",
            "",
            " ",
            "[1]]",
            "{\"a\":[1,{\"b\":null}],\"c\":\"\\\\\"}",
        ];
        for text in texts {
            let mut scanner = Scanner::new(text.as_bytes());
            let ours = scanner.value().and_then(|_| scanner.end());
            let theirs = serde_json::from_str::<serde_json::Value>(text);
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?} {theirs:?}");
        }
    }

    #[test]
    fn a_deep_value_is_refused_without_using_the_stack() {
        let text = "[".repeat(1_000_000);
        assert_eq!(Scanner::new(text.as_bytes()).value(), Err(Fault::Depth(DEEPEST)));
        let text = "{\"a\":".repeat(1_000_000);
        assert_eq!(Scanner::new(text.as_bytes()).value(), Err(Fault::Depth(DEEPEST)));
        let fits = format!("{}1{}", "[".repeat(128), "]".repeat(128));
        assert!(Scanner::new(fits.as_bytes()).value().is_ok());
    }
}
