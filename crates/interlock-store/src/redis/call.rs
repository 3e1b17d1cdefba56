//! A script with what it is given, ready to be sent.

use std::{
    fmt::{self, Display},
    io::Write,
};

use redis::{Cmd, RedisWrite, Script, ToRedisArgs};

use super::keys::Name;

/// So many arguments, and so many bytes in them, are there without asking for more memory.
const USUAL: (usize, usize) = (24, 1024);

/// A version, a fence or a moment as the rows hold it: always as long, so that a script can cut rows at fixed places and compare texts instead
/// of numbers. It suffices for moments until the year 2286.
pub(super) fn digits(number: u64) -> impl Display {
    fmt::from_fn(move |f| write!(f, "{number:016}"))
}

/// Numbers one behind the other, in one argument that a script takes apart at once.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<u8>);

impl Numbers {
    /// A duration in µs.
    pub(super) fn long(mut self, number: u64) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    /// A limit.
    pub(super) fn short(mut self, number: u32) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    /// How many of something there are in memory.
    pub(super) fn count(self, number: usize) -> Self {
        self.short(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// Yes or no, or a letter.
    pub(super) fn byte(mut self, byte: impl Into<u8>) -> Self {
        self.0.push(byte.into());
        self
    }
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

    /// One more argument, of numbers.
    pub(super) fn numbers(self, numbers: &Numbers) -> Self {
        self.arg(numbers.0.as_slice())
    }

    /// One more argument for each name.
    pub(super) fn names<'k>(mut self, names: impl IntoIterator<Item = Name<'k>>) -> Self {
        names.into_iter().for_each(|name| name.write_redis_args(&mut self.command));
        self
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
}
