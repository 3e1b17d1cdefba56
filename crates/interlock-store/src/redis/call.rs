//! A script with what it is given, ready to be sent.

use std::{
    fmt::{self, Display},
    io::Write,
};

use interlock_sync::store::OpId;
use redis::{Cmd, RedisWrite, Script, ToRedisArgs};

use super::keys::Name;

/// So many arguments, and so many bytes in them, are there without asking for more memory.
const USUAL: (usize, usize) = (24, 1024);

/// A version, a fence or a moment as the rows hold it: always as long, so that a script can cut rows at fixed places and compare texts instead
/// of numbers. It suffices for moments until the year 2286.
pub(super) fn digits(number: u64) -> impl Display {
    Digits(number)
}

/// A fingerprint as a line that every report begins with: longer than a moment, so that a report from before there were any is told by that.
pub(super) fn print(fingerprint: [u8; 16]) -> impl Display {
    // An id is shown as the same 32 digits.
    OpId(u128::from_be_bytes(fingerprint))
}

struct Digits(u64);

impl Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016}", self.0)
    }
}

/// Numbers one behind the other and then names, in one argument that a script takes apart at once: each argument takes client and server
/// longer than that.
#[derive(Debug)]
pub(super) struct Packed {
    bytes: Vec<u8>,
    /// How to cut the names, in the words of the scripts' `struct.unpack`.
    form: String,
}

impl Packed {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::with_capacity(512), form: String::with_capacity(64) }
    }

    /// A duration in µs, or a fence.
    pub(super) fn long(mut self, number: u64) -> Self {
        self.bytes.extend(number.to_be_bytes());
        self
    }

    /// A limit.
    pub(super) fn short(mut self, number: u32) -> Self {
        self.bytes.extend(number.to_be_bytes());
        self
    }

    /// How many of something there are in memory.
    pub(super) fn count(self, number: usize) -> Self {
        self.short(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Yes or no, or a letter.
    pub(super) fn byte(mut self, byte: impl Into<u8>) -> Self {
        self.bytes.push(byte.into());
        self
    }

    /// Bytes whose number the script knows.
    pub(super) fn plain(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    /// A name whose length the script knows.
    pub(super) fn plain_name(mut self, name: Name<'_>) -> Self {
        name.write_to(&mut self.bytes);
        self
    }

    /// A text that is cut out by its length, and is not empty.
    pub(super) fn cut(self, text: &[u8]) -> Self {
        let before = self.bytes.len();
        self.plain(text).cut_from(before)
    }

    /// One name after the other, cut out by their lengths.
    pub(super) fn names<'k>(self, names: impl IntoIterator<Item = Name<'k>>) -> Self {
        names.into_iter().fold(self, |packed, name| {
            let before = packed.bytes.len();
            packed.plain_name(name).cut_from(before)
        })
    }

    fn cut_from(mut self, before: usize) -> Self {
        self.form.push('c');
        write_number(&mut self.form, self.bytes.len() - before);
        self
    }
}

/// In half the time that formatting it takes.
fn write_number(out: &mut String, number: usize) {
    if number >= 10 {
        write_number(out, number / 10);
    }
    out.extend(u32::try_from(number % 10).ok().and_then(|digit| char::from_digit(digit, 10)));
}

/// A call of a script.
pub(super) struct Call<'a> {
    script: &'a Script,
    command: Cmd,
}

impl<'a> Call<'a> {
    /// A script with its keys.
    pub(super) fn new<'k>(
        script: &'a Script,
        keys: impl IntoIterator<Item = Name<'k>, IntoIter: Clone>,
    ) -> Self {
        let keys = keys.into_iter();
        let mut command = Cmd::with_capacity(USUAL.0, USUAL.1);
        command.arg("EVALSHA").arg(script.get_hash()).arg(keys.clone().count());
        keys.for_each(|key| key.write_redis_args(&mut command));
        Self { script, command }
    }

    /// One more argument.
    pub(super) fn arg(mut self, arg: impl ToRedisArgs) -> Self {
        self.command.arg(arg);
        self
    }

    /// One more argument, as it is shown.
    pub(super) fn shown(mut self, arg: impl Display) -> Self {
        self.command.write_arg_fmt(arg);
        self
    }

    /// One more argument, of numbers and what else the script knows the length of.
    pub(super) fn numbers(self, packed: &Packed) -> Self {
        self.arg(packed.bytes.as_slice())
    }

    /// Two more arguments: how to cut the names, and numbers and names.
    pub(super) fn packed(self, packed: &Packed) -> Self {
        self.arg(packed.form.as_str()).numbers(packed)
    }

    /// One more argument, of two parts.
    pub(super) fn joined(mut self, first: &[u8], second: &[u8]) -> Self {
        let mut next = self.command.writer_for_next_arg();
        // It is written into memory, which takes everything.
        let _ = next.write_all(first).and_then(|()| next.write_all(second));
        drop(next);
        self
    }

    pub(super) fn script(&self) -> &Script {
        self.script
    }

    pub(super) fn command(&self) -> &Cmd {
        &self.command
    }

    /// The command with one more argument.
    pub(super) fn with(&self, numbers: &Packed) -> Cmd {
        let mut command = self.command.clone();
        command.arg(numbers.bytes.as_slice());
        command
    }
}
