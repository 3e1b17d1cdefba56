//! The file through which we and the shim speak. The shim maps it; we read and write it, which on Linux is the same memory.
//!
//! `shim.c` knows the same layout: numbers of eight bytes, then places for ticks. The server can write here as well, so nothing that is
//! read is trusted: every length has a limit, every text may be anything.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt,
    path::Path,
    time::Duration,
};

use interlock_model::TickKind;

use super::super::Tick;
use crate::clock::Instant;

/// Places for ticks; the first ones of a run are kept.
const TICKS: u64 = 4096;

/// A tick: run, time, kind, length, text.
const TICK: u64 = 512;
const TICK_HEAD: usize = 24;

/// The numbers at the beginning, by place.
const RUN: u64 = 0;
const SEED: u64 = 1;
const LOADED: u64 = 8;
const NUMBERS: u64 = 9;

/// What begins anew with each run, from [`SEED`] on: seed, longest, left, threads, looks, changes, ticks.
const PER_RUN: usize = 7;
const NOTED: u64 = 7;

/// Our side of the file.
#[derive(Debug)]
pub(super) struct Control {
    file: File,
    run: u64,
}

/// What the shim has noted.
#[derive(Debug)]
pub(super) struct Noted {
    /// In the order that their places were taken.
    pub(super) ticks: Vec<Tick>,
    /// How many processes have the shim in them, or had.
    pub(super) loaded: u64,
}

impl Control {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        file.set_len(NUMBERS * 8 + TICKS * TICK)?;
        Ok(Self { file, run: 0 })
    }

    /// Begins a run.
    pub(super) fn arm(&mut self, seed: u64, longest: Duration, budget: Duration) -> io::Result<()> {
        self.set(RUN, 0)?;
        let numbers: [u64; PER_RUN] = [seed, nanoseconds(longest), nanoseconds(budget), 0, 0, 0, 0];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        self.file.write_all_at(&bytes, SEED * 8)?;
        // Last, because the shim looks at the rest as soon as it sees a run.
        self.run += 1;
        self.set(RUN, self.run)
    }

    /// Ends the run, and reads what was noted in it.
    pub(super) fn disarm(&mut self) -> io::Result<Noted> {
        self.set(RUN, 0)?;
        let noted = self.get(NOTED)?.min(TICKS);
        let mut ticks = Vec::new();
        let mut bytes = [0; TICK as usize];
        for place in 0..noted {
            self.file.read_exact_at(&mut bytes, NUMBERS * 8 + place * TICK)?;
            ticks.extend(tick(&bytes, self.run));
        }
        self.set(NOTED, 0)?;
        Ok(Noted { ticks, loaded: self.get(LOADED)? })
    }

    fn set(&self, place: u64, number: u64) -> io::Result<()> {
        self.file.write_all_at(&number.to_ne_bytes(), place * 8)
    }

    fn get(&self, place: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, place * 8)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

fn nanoseconds(time: Duration) -> u64 {
    // The shim counts down with a sign.
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX).unsigned_abs()
}

/// A tick of that run; `None` if it was not written to its end, or belongs to another.
fn tick(bytes: &[u8], run: u64) -> Option<Tick> {
    let (head, text) = bytes.split_at_checked(TICK_HEAD)?;
    let (of, rest) = head.split_first_chunk()?;
    let (at, rest) = rest.split_first_chunk()?;
    let (kind, length) = rest.split_first_chunk()?;
    let length = u32::from_ne_bytes(length.try_into().ok()?);
    let text = text.get(..usize::try_from(length).ok()?)?;
    let kind = match u32::from_ne_bytes(*kind) {
        0 => TickKind::Read,
        1 => TickKind::Write,
        2 => TickKind::Wait,
        _ => return None,
    };
    (u64::from_ne_bytes(*of) == run).then(|| Tick {
        request: None,
        at: Instant(u64::from_ne_bytes(*at)),
        kind,
        on: String::from_utf8_lossy(text).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(run: u64, kind: u32, length: u32, text: &[u8]) -> Vec<u8> {
        let mut bytes = [run.to_ne_bytes(), 77_u64.to_ne_bytes()].concat();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(length.to_ne_bytes());
        bytes.extend(text);
        bytes.resize(TICK as usize, 0);
        bytes
    }

    #[test]
    fn a_tick_is_read_if_it_is_whole_and_of_this_run() {
        let read = tick(&bytes(3, 1, 7, b"write x"), 3).unwrap();
        assert_eq!((read.at, read.kind, read.on.as_str()), (Instant(77), TickKind::Write, "write x"));
        assert_eq!(tick(&bytes(2, 1, 7, b"write x"), 3), None);
        assert_eq!(tick(&bytes(0, 0, 0, b""), 3), None);
    }

    #[test]
    fn nothing_that_a_server_writes_there_is_trusted() {
        assert_eq!(tick(&bytes(3, 9, 7, b"write x"), 3), None, "no such kind");
        assert_eq!(tick(&bytes(3, 1, 489, b"write x"), 3), None, "longer than its place");
        assert_eq!(tick(&bytes(3, 1, u32::MAX, b"write x"), 3), None);
        assert_eq!(tick(&bytes(3, 1, 2, b"\xff\xfe"), 3).unwrap().on, "\u{fffd}\u{fffd}");
        let folder = tempfile::tempdir().unwrap();
        let mut control = Control::create(&folder.path().join("c")).unwrap();
        control.arm(0, Duration::ZERO, Duration::MAX).unwrap();
        control.set(NOTED, u64::MAX).unwrap();
        assert!(control.disarm().unwrap().ticks.is_empty());
    }
}
