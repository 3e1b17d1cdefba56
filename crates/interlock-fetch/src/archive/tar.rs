//! The tape archive, as POSIX and GNU write it: <https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html>.

use std::io::{self, Read};

use super::{Sink, damaged, read_up_to};
use crate::run::FetchError;

const BLOCK: usize = 512;

/// A name that stands in an entry of its own is at most so long.
const LONGEST_NAME: u64 = 64 << 10;

pub(super) fn unpack(mut from: impl Read, sink: &mut Sink<'_>) -> Result<(), FetchError> {
    let mut long_name: Option<Vec<u8>> = None;
    let mut is_first = true;
    loop {
        let mut header = [0; BLOCK];
        match read_up_to(&mut from, &mut header).map_err(damaged)? {
            0 if !is_first => return Ok(()),
            BLOCK => {}
            _ => return Err(no_archive()),
        }
        if header.iter().all(|byte| *byte == 0) {
            return if is_first { Err(no_archive()) } else { Ok(()) };
        }
        let entry = Header(&header);
        if !entry.is_whole() {
            return Err(no_archive());
        }
        is_first = false;
        let size = entry.size().ok_or_else(no_archive)?;
        let padding = size.next_multiple_of(BLOCK as u64) - size;
        let mut content = (&mut from).take(size);
        match entry.kind() {
            b'L' => long_name = Some(text(&mut content, size)?),
            b'x' => {
                if let Some(path) = extended_path(&text(&mut content, size)?) {
                    long_name = Some(path);
                }
            }
            b'0' | 0 | b'7' => {
                let name = long_name.take().unwrap_or_else(|| entry.name());
                // Before POSIX a folder was a file whose name ends like one.
                if name.ends_with(b"/") { sink.folder(&name)? } else { sink.file(&name, &mut content)? }
            }
            b'5' => sink.folder(&long_name.take().unwrap_or_else(|| entry.name()))?,
            // Links, devices, pipes, settings for all entries: nothing that sources are.
            _ => {
                sink.count()?;
                long_name = None;
            }
        }
        skip(&mut content, sink)?;
        skip(&mut (&mut from).take(padding), sink)?;
    }
}

/// Reads to the end; that a bomb is in an entry that is left out makes it no smaller.
fn skip(content: &mut io::Take<impl Read>, sink: &mut Sink<'_>) -> Result<(), FetchError> {
    let mut piece = [0; 16 << 10];
    loop {
        let read = content.read(&mut piece).map_err(damaged)?;
        if read == 0 {
            return if content.limit() == 0 { Ok(()) } else { Err(no_archive()) };
        }
        sink.size = sink.size.saturating_add(read as u64);
        if sink.size > sink.run.limits.size {
            return Err(FetchError::Large(sink.run.limits.size));
        }
        sink.patience()?;
    }
}

fn text(content: &mut impl Read, size: u64) -> Result<Vec<u8>, FetchError> {
    if size > LONGEST_NAME {
        return Err(FetchError::Odd("the archive has a name that is too long".to_owned()));
    }
    let mut text = Vec::new();
    content.read_to_end(&mut text).map_err(damaged)?;
    while text.last() == Some(&0) {
        text.pop();
    }
    Ok(text)
}

/// The path among lines of `LENGTH NAME=VALUE`.
fn extended_path(text: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text;
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ')?;
        let length: usize = std::str::from_utf8(rest.get(..space)?).ok()?.parse().ok()?;
        let line = rest.get(space + 1..length)?;
        if let Some(path) = line.strip_prefix(b"path=") {
            return Some(path.strip_suffix(b"\n").unwrap_or(path).to_vec());
        }
        rest = rest.get(length..)?;
    }
    None
}

fn no_archive() -> FetchError {
    FetchError::Odd("it is no tar, tar.gz or zip archive, or it is cut off".to_owned())
}

struct Header<'h>(&'h [u8; BLOCK]);

impl Header<'_> {
    fn field(&self, from: usize, length: usize) -> &[u8] {
        self.0.get(from..from + length).unwrap_or_default()
    }

    fn text(&self, from: usize, length: usize) -> &[u8] {
        self.field(from, length).split(|byte| *byte == 0).next().unwrap_or_default()
    }

    fn kind(&self) -> u8 {
        self.field(156, 1).first().copied().unwrap_or_default()
    }

    /// Whether its sum is the one that it says.
    fn is_whole(&self) -> bool {
        let sum = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) };
        octal(self.field(148, 8)) == Some(self.0.iter().enumerate().map(sum).sum())
    }

    fn size(&self) -> Option<u64> {
        match self.field(124, 12) {
            // GNU writes what does not fit as a binary number, which the first bit says.
            [first, rest @ ..] if first & 0x80 != 0 => {
                let high = rest.get(..3)?.iter().any(|byte| *byte != 0) || *first != 0x80;
                let low = rest.get(3..)?.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
                (!high && low < 1 << 62).then_some(low)
            }
            digits => octal(digits),
        }
    }

    fn name(&self) -> Vec<u8> {
        let (name, prefix) = (self.text(0, 100), self.text(345, 155));
        let is_posix = self.field(257, 6) == b"ustar\0";
        if is_posix && !prefix.is_empty() { [prefix, b"/", name].concat() } else { name.to_vec() }
    }
}

fn octal(digits: &[u8]) -> Option<u64> {
    let digits = digits.iter().copied().skip_while(|byte| *byte == b' ');
    let mut number = 0_u64;
    for digit in digits.take_while(|byte| !matches!(byte, 0 | b' ')) {
        if !(b'0'..=b'7').contains(&digit) {
            return None;
        }
        number = number << 3 | u64::from(digit - b'0');
    }
    Some(number)
}
