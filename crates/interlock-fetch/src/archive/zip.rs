//! The zip archive, by its central directory: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>. Stored and deflated entries are
//! read; encrypted ones and archives beyond 4 GiB are not.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use flate2::{Crc, read::DeflateDecoder};

use super::{Sink, damaged};
use crate::run::FetchError;

/// The end record is this long, with a comment of up to 64 KiB behind it.
const END: usize = 22;
/// A central directory beyond this has more names than anybody unpacks.
const LONGEST_DIRECTORY: u64 = 64 << 20;

pub(super) fn unpack(file: &mut File, sink: &mut Sink<'_>) -> Result<(), FetchError> {
    let directory = directory(file)?;
    let mut rest = directory.as_slice();
    while let Some(entry) = Entry::read(&mut rest) {
        let name = entry.name;
        if name.ends_with(b"/") {
            sink.folder(name)?;
        } else if entry.is_special() {
            sink.count()?;
        } else {
            file.seek(SeekFrom::Start(entry.offset)).map_err(damaged)?;
            let mut local = [0; 30];
            file.read_exact(&mut local).map_err(damaged)?;
            let local = Fields(&local);
            if local.long(0) != 0x0403_4b50 || entry.flags & 1 != 0 {
                return Err(odd("an entry is encrypted or not where it should be"));
            }
            file.seek_relative(i64::from(local.short(26)) + i64::from(local.short(28))).map_err(damaged)?;
            let stored = io::BufReader::new(&mut *file).take(entry.compressed);
            match entry.method {
                0 => write(sink, &entry, stored)?,
                8 => write(sink, &entry, DeflateDecoder::new(stored))?,
                other => {
                    return Err(odd(&format!(
                        "an entry is compressed in a way (number {other}) that is not read"
                    )));
                }
            }
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(odd("its directory is damaged")) }
}

fn write(sink: &mut Sink<'_>, entry: &Entry<'_>, content: impl Read) -> Result<(), FetchError> {
    let mut checked = Checked { content, crc: Crc::new() };
    sink.file(entry.name, &mut checked)?;
    if checked.crc.sum() == entry.crc { Ok(()) } else { Err(odd("an entry is not what its directory says")) }
}

/// Reads, and sums up what was read.
struct Checked<R> {
    content: R,
    crc: Crc,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.crc.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// The bytes of the central directory.
fn directory(file: &mut File) -> Result<Vec<u8>, FetchError> {
    let size = file.seek(SeekFrom::End(0))?;
    let from = size.saturating_sub((END + (64 << 10)) as u64);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let found = tail.windows(END).rposition(|end| end.starts_with(b"PK\x05\x06"));
    let end = found.and_then(|at| tail.get(at..)).ok_or_else(|| odd("it is cut off"))?;
    let end = Fields(end);
    let (length, offset) = (u64::from(end.long(12)), u64::from(end.long(16)));
    if length > LONGEST_DIRECTORY || offset.saturating_add(length) > size {
        return Err(odd("its directory is too long, or it is larger than 4 GiB"));
    }
    file.seek(SeekFrom::Start(offset))?;
    let mut directory = Vec::new();
    file.take(length).read_to_end(&mut directory)?;
    Ok(directory)
}

struct Entry<'d> {
    name: &'d [u8],
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u64,
    offset: u64,
    made_on: u8,
    attributes: u32,
}

impl<'d> Entry<'d> {
    fn read(rest: &mut &'d [u8]) -> Option<Self> {
        let fields = Fields(rest.get(..46)?);
        if fields.long(0) != 0x0201_4b50 {
            return None;
        }
        let long = usize::from(fields.short(28));
        let name = rest.get(46..46 + long)?;
        let all = 46 + long + usize::from(fields.short(30)) + usize::from(fields.short(32));
        let entry = Self {
            name,
            flags: fields.short(8),
            method: fields.short(10),
            crc: fields.long(16),
            compressed: u64::from(fields.long(20)),
            offset: u64::from(fields.long(42)),
            made_on: fields.byte(5),
            attributes: fields.long(38),
        };
        *rest = rest.get(all..)?;
        Some(entry)
    }

    /// A link, a device, a pipe: whatever Unix calls neither a file nor a folder.
    fn is_special(&self) -> bool {
        let kind = self.attributes >> 28;
        self.made_on == 3 && !matches!(kind, 0 | 0o10)
    }
}

/// Numbers with the lowest byte first; what is not there is 0.
struct Fields<'f>(&'f [u8]);

impl Fields<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or_default()
    }

    fn short(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.byte(at), self.byte(at + 1)])
    }

    fn long(&self, at: usize) -> u32 {
        u32::from(self.short(at)) | u32::from(self.short(at + 2)) << 16
    }
}

fn odd(why: &str) -> FetchError {
    FetchError::Odd(format!("the zip archive cannot be read: {why}"))
}
