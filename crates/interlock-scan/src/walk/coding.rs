//! Files of Python that are not in UTF-8 and say so: the coding line of PEP 263.
//!
//! ```text
//! #!/usr/bin/env python
//! # -*- coding: latin-1 -*-          Emacs; Vim writes `# vim: set fileencoding=cp1252 :`
//! ```
//!
//! Only single-byte supersets of ASCII are decoded: they need no more than a row of characters. In GBK or Shift JIS the second byte of a
//! character may be a quote or a backslash, so half a table would read another program than Python does; those are noted by their name.
//!
//! What is UTF-8 is read as that, whatever its coding line says: where they differ, only the text of strings and comments does, and an edit
//! that is written back fits the bytes.

/// How much of a name is repeated in a note: it comes from a file that nobody vouched for.
const NAME: usize = 40;

/// The characters of cp1252 from 0x80 to 0x9f; the rest is Latin-1. Python refuses a file with one of the five that are not assigned.
#[rustfmt::skip]
const CP1252: [Option<char>; 32] = [
    Some('€'), None, Some('‚'), Some('ƒ'), Some('„'), Some('…'), Some('†'), Some('‡'),
    Some('ˆ'), Some('‰'), Some('Š'), Some('‹'), Some('Œ'), None, Some('Ž'), None,
    None, Some('‘'), Some('’'), Some('“'), Some('”'), Some('•'), Some('–'), Some('—'),
    Some('˜'), Some('™'), Some('š'), Some('›'), Some('œ'), None, Some('ž'), Some('Ÿ'),
];

/// Decodes a file of Python that is no UTF-8 by what it says of itself; the reason why not otherwise.
pub(super) fn decode(bytes: &[u8]) -> Result<String, String> {
    let no_utf8 = || "is no UTF-8".to_owned();
    let name = declared(bytes).ok_or_else(no_utf8)?;
    let decode: fn(u8) -> Option<char> = match &*normal(name) {
        "latin-1" | "latin1" | "latin" | "l1" | "iso-8859-1" | "iso8859-1" | "iso8859" | "iso-latin-1"
        | "iso-ir-100" | "8859" | "cp819" => |byte| Some(char::from(byte)),
        "latin-9" | "latin9" | "l9" | "iso-8859-15" | "iso8859-15" => |byte| Some(latin_9(byte)),
        "cp1252" | "windows-1252" | "1252" => cp1252,
        "utf-8" | "utf8" | "u8" | "utf" | "utf-8-sig" => return Err(no_utf8()),
        _ => return Err(format!("is no UTF-8, and its coding `{}` is not known", cut(name))),
    };
    let text: Option<String> = bytes.iter().map(|byte| decode(*byte)).collect();
    text.ok_or_else(|| format!("is no `{}`, though it says so", cut(name)))
}

fn latin_9(byte: u8) -> char {
    match byte {
        0xa4 => '€',
        0xa6 => 'Š',
        0xa8 => 'š',
        0xb4 => 'Ž',
        0xb8 => 'ž',
        0xbc => 'Œ',
        0xbd => 'œ',
        0xbe => 'Ÿ',
        _ => char::from(byte),
    }
}

fn cp1252(byte: u8) -> Option<char> {
    match byte.checked_sub(0x80).and_then(|above| CP1252.get(usize::from(above))) {
        Some(assigned) => *assigned,
        None => Some(char::from(byte)),
    }
}

/// The coding that a file says it is in: by its first line, or by its second if the first says nothing to Python.
fn declared(bytes: &[u8]) -> Option<&str> {
    let mut lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r'));
    let first = lines.next()?;
    if let Some(name) = declared_in(first) {
        return Some(name);
    }
    let code = first.trim_ascii_start();
    if !(code.is_empty() || code.starts_with(b"#")) {
        return None;
    }
    // The end of a line may be two bytes, between which there is an empty one.
    let is_pair = bytes.get(first.len()..first.len() + 2) == Some(b"\r\n");
    declared_in(if is_pair { lines.nth(1)? } else { lines.next()? })
}

/// `coding` and a colon or an equals sign right behind it, in a comment that has its line to itself.
fn declared_in(line: &[u8]) -> Option<&str> {
    const WORD: &[u8] = b"coding";
    let comment = line.trim_ascii_start().strip_prefix(b"#")?;
    let name = comment.windows(WORD.len() + 1).enumerate().find_map(|(at, word)| {
        let says = word.starts_with(WORD) && matches!(word.last(), Some(b':' | b'='));
        let rest = says.then(|| comment.get(at + word.len()..)).flatten()?.trim_ascii_start();
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let length = rest.iter().take_while(is_name).count();
        rest.get(..length).filter(|name| !name.is_empty())
    })?;
    std::str::from_utf8(name).ok()
}

/// A name as Python compares it, without what Emacs writes behind it about the ends of lines.
fn normal(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let ends = ["-unix", "-dos", "-mac"];
    let plain = ends.iter().find_map(|end| name.strip_suffix(end)).map(str::to_owned);
    plain.unwrap_or(name)
}

fn cut(name: &str) -> &str {
    name.get(..NAME).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_decoded_by_its_coding_line() {
        for (bytes, expected) in [
            (&b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"[..], "# -*- coding: latin-1 -*-\nx = '\u{e9}'\n"),
            (b"#!/usr/bin/python\r\n# vim: set fileencoding=cp1252 :\r\nx = '\x80'", "'\u{20ac}'"),
            (b"#!/usr/bin/python\r# coding=ISO_8859-15\rx = '\xa4'", "'\u{20ac}'"),
            (b"\x0c # coding: Latin_1-unix\nx = '\xff'", "'\u{ff}'"),
            (b"\n# coding:windows-1252\nx = '\x93\xe9\x94'", "'\u{201c}\u{e9}\u{201d}'"),
        ] {
            let decoded = decode(bytes).unwrap();
            assert!(decoded.ends_with(expected), "{decoded}");
        }
    }

    #[test]
    fn what_says_nothing_or_something_else_is_refused_with_the_reason() {
        for (bytes, expected) in [
            (&b"x = '\xe9'\n"[..], "is no UTF-8"),
            (b"", "is no UTF-8"),
            (b"# -*- coding: utf-8 -*-\nx = '\xe9'\n", "is no UTF-8"),
            // Behind a statement, on the third line, or in a text it says nothing.
            (b"import os\n# coding: latin-1\nx = '\xe9'\n", "is no UTF-8"),
            (b"#\n#\n# coding: latin-1\nx = '\xe9'\n", "is no UTF-8"),
            (b"x = '# coding: latin-1 \xe9'\n", "is no UTF-8"),
            (b"# coding : latin-1\nx = '\xe9'\n", "is no UTF-8"),
            (b"# encoding:\nx = '\xe9'\n", "is no UTF-8"),
            (b"# coding: koi8-r\nx = '\xc1'\n", "is no UTF-8, and its coding `koi8-r` is not known"),
            (b"# coding: gbk\nx = '\xc4\xe3'\n", "is no UTF-8, and its coding `gbk` is not known"),
            (b"# coding: cp1252\nx = '\x81'\n", "is no `cp1252`, though it says so"),
        ] {
            assert_eq!(decode(bytes).unwrap_err(), expected);
        }
        let long = decode(format!("# coding: {}\n", "x".repeat(1 << 20)).as_bytes()).unwrap_err();
        assert!(long.len() < 100, "{long}");
    }
}
