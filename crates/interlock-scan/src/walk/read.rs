//! Opening and reading a file that somebody else may change, replace or remove at the same moment.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    path::Path,
};

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::{Found, Limits, names::Left};

/// Why a file was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is of a kind that is left out.
    Left(Left),
    /// It cannot be scanned, and why.
    Trouble(String),
}

/// A line that is longer was not written by a person.
const LONG_LINE: usize = 5_000;
/// So many others for each of them, and somebody has written the file around it.
const SHORT_PER_LONG: usize = 32;

/// How far into a file it may say that a machine has written it.
const OPENING_LINES: usize = 30;

/// Reads a source file.
pub(crate) fn read_source(found: &Found, limits: &Limits) -> Result<String, Unread> {
    let text = read_text(&found.place, limits.file).map_err(Unread::Trouble)?;
    if found.explicit {
        return Ok(text);
    }
    match written_by_machine(&text) {
        Some(left) => Err(Unread::Left(left)),
        None => Ok(text),
    }
}

/// Reads a settings file.
pub(crate) fn read_setting(place: &Path, limits: &Limits) -> Result<String, String> {
    read_text(place, limits.setting)
}

/// Reads a file of at most `limit` bytes that is UTF-8, without its byte order mark. Says why not otherwise.
pub(super) fn read_text(place: &Path, limit: u64) -> Result<String, String> {
    let file = open(place).map_err(|error| cause(&error))?;
    let metadata = file.metadata().map_err(|error| cause(&error))?;
    if !metadata.is_file() {
        return Err("is no regular file".to_owned());
    }
    if metadata.len() > limit {
        return Err(format!("is larger than {}", size(limit)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // What is appended while it is read is no part of it; so nobody has to ask whether there is more.
    file.take(metadata.len()).read_to_end(&mut bytes).map_err(|error| cause(&error))?;
    let mut text = String::from_utf8(bytes).map_err(|_| "is no UTF-8".to_owned())?;
    if text.starts_with('\u{feff}') {
        text.remove(0);
    }
    Ok(text)
}

/// What went wrong, in words that are the same on every machine.
pub(super) fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "vanished during the scan".to_owned(),
        kind => kind.to_string(),
    }
}

/// Opens what was a regular file a moment ago. Should it be a link or a pipe by now, a link is not followed and a pipe not waited for.
fn open(place: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    options.open(place)
}

/// Whether a machine has written a text: it says so, or most of it stands in lines that nobody could read.
fn written_by_machine(text: &str) -> Option<Left> {
    let opening = memchr_iter(b'\n', text.as_bytes()).nth(OPENING_LINES - 1).and_then(|end| text.get(..end));
    let opening = opening.unwrap_or(text);
    // Hardly any opening has the word at all.
    let has = |word: &[u8]| memmem::find(opening.as_bytes(), word).is_some();
    if (has(b"enerated") || has(b"ENERATED")) && says_it_is_generated(opening) {
        return Some(Left::Generated);
    }
    (in_long_lines(text) > text.len() / 2 && !has_data_only(text)).then_some(Left::Minified)
}

/// Whether the comments of an opening say that a machine has written the file, and that it is not to be changed by hand.
fn says_it_is_generated(opening: &str) -> bool {
    const HANDS_OFF: [&str; 4] = ["do not edit", "don't edit", "do not modify", "do not change"];
    let leads = ["//", "/*", "*", "#", "--"];
    let comments =
        opening.lines().filter(|line| leads.iter().any(|lead| line.trim_start().starts_with(lead)));
    let said: Vec<String> = comments.map(str::to_lowercase).collect();
    let keeps_off =
        |lines: &[String]| lines.iter().any(|line| HANDS_OFF.iter().any(|words| line.contains(words)));
    let mut lines = said.iter().enumerate();
    // Both stand close together, or they speak of different things.
    lines.any(|(at, line)| {
        let near = said.get(at.saturating_sub(2)..(at + 3).min(said.len())).unwrap_or_default();
        line.contains("@generated") || line.contains("generated") && keeps_off(near)
    })
}

/// Whether the long lines of a text are pictures and the like in the middle of what somebody has written: few of them, and hardly
/// anything in them that ends a statement or a block.
fn has_data_only(text: &str) -> bool {
    let (long, short): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.len() > LONG_LINE);
    let marks = |line: &&str| line.bytes().filter(|byte| matches!(byte, b';' | b'{' | b'}')).count();
    short.len() >= SHORT_PER_LONG * long.len() && long.iter().all(|line| marks(line) * 500 < line.len())
}

/// How much of a text stands in long lines. Where a stretch as long as such a line has a break, no line in it is long up to its last
/// break, so that most of a text need not be looked at.
fn in_long_lines(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut found = 0;
    while let Some((stretch, _)) = rest.split_at_checked(LONG_LINE + 1) {
        let end = match memrchr(b'\n', stretch) {
            Some(end) => end,
            None => {
                let end = memchr(b'\n', rest).unwrap_or(rest.len());
                let line = rest.get(..end).unwrap_or_default();
                let length = line.strip_suffix(b"\r").unwrap_or(line).len();
                found += if length > LONG_LINE { length } else { 0 };
                end
            }
        };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    found
}

fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(content: &[u8], expected: Result<&str, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.ts");
        fs::write(&place, content).unwrap();
        let read = read_text(&place, 20);
        assert_eq!(read.as_deref().map_err(|why| &**why), expected);
    }

    #[test]
    fn a_text_is_read_without_its_byte_order_mark() {
        check(b"let a;", Ok("let a;"));
        check(b"\xef\xbb\xbflet a;", Ok("let a;"));
        check(b"", Ok(""));
    }

    #[test]
    fn what_is_too_large_or_no_text_is_refused_with_the_reason() {
        check(&[b'x'; 20], Ok("xxxxxxxxxxxxxxxxxxxx"));
        check(&[b'x'; 21], Err("is larger than 20 bytes"));
        check(b"\xff\xfe\x00", Err("is no UTF-8"));
        assert_eq!(read_text(Path::new("/no/such"), 1), Err("vanished during the scan".to_owned()));
    }

    #[cfg(unix)]
    #[test]
    fn neither_a_pipe_nor_a_link_nor_a_folder_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::RWXU).unwrap();
        fs::write(at("target"), "x").unwrap();
        std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
        assert_eq!(read_text(&at("pipe"), 10), Err("is no regular file".to_owned()));
        assert!(read_text(&at("link"), 10).is_err());
        assert_eq!(read_text(folder.path(), 10), Err("is no regular file".to_owned()));
    }

    #[test]
    fn what_stands_in_long_lines_is_the_same_as_when_every_line_is_counted() {
        for lengths in [
            &[][..],
            &[0, 0, 7],
            &[LONG_LINE],
            &[LONG_LINE + 1],
            &[1, LONG_LINE + 1, 2, 3 * LONG_LINE, LONG_LINE],
            &[LONG_LINE, LONG_LINE + 2, LONG_LINE - 1, 30_000, 1],
        ] {
            for ending in ["\n", "\r\n", ""] {
                let text: String =
                    lengths.iter().map(|length| "x".repeat(*length) + ending).collect::<String>() + "end";
                let expected: usize = text.lines().map(str::len).filter(|length| *length > LONG_LINE).sum();
                assert_eq!(in_long_lines(&text), expected, "{lengths:?} {ending:?}");
            }
        }
    }

    #[test]
    fn generated_and_minified_texts_are_told_from_written_ones() {
        let long = "x".repeat(LONG_LINE + 1);
        for (text, expected) in [
            ("let a = 1;\n".to_owned(), None),
            ("// @generated by a tool\nlet a;\n".to_owned(), Some(Left::Generated)),
            ("const tag = \"@generated\";\n".to_owned(), None),
            ("// Code generated by x. DO NOT EDIT.\n".to_owned(), Some(Left::Generated)),
            ("// GENERATED FILE -- do not edit.\nlet a;\n".to_owned(), Some(Left::Generated)),
            (
                "/* This file is auto-generated.\n * Do not modify it by hand. */\n".to_owned(),
                Some(Left::Generated),
            ),
            ("// Ids are generated here.\nlet a;\n".to_owned(), None),
            ("// Do not edit the order of these.\nconst generated = 1;\n".to_owned(), None),
            (long.clone(), Some(Left::Minified)),
            (format!("const data = \"{long}\";\n{}", "let a = 1;\n".repeat(600)), None),
            (format!("const data = \"{long}\";\n{}", "let a = 1;\n".repeat(40)), None),
            (format!("const data = \"{long}\";\n{}", "let a = 1;\n".repeat(10)), Some(Left::Minified)),
            (format!("{}\n{}", "a=1;".repeat(LONG_LINE), "let a = 1;\n".repeat(40)), Some(Left::Minified)),
        ] {
            assert_eq!(written_by_machine(&text), expected);
        }
    }
}
