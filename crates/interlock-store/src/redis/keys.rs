//! What things are called in the server: the only place that knows.

use std::io::Write;

use interlock_sync::store::{Key, OpId};
use redis::{RedisWrite, ToRedisArgs};

/// The names of one namespace.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

/// One name. It is written where it goes and never put together before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    prefix: &'a str,
    kind: &'static str,
    of: Of<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Of<'a> {
    Text(&'a str),
    Op(OpId),
    /// An id as it is, in 16 bytes.
    Bare(OpId),
    /// A reader, if there is one, and what it saw; between them a sign that no key holds.
    Seen(&'a str, &'a str),
}

impl Keys {
    /// A namespace has no braces, so its hash tag is itself.
    pub(super) fn new(namespace: &str) -> Self {
        Self { prefix: format!("interlock:{{{namespace}}}:") }
    }

    /// The last version that was given out.
    pub(super) fn version(&self) -> Name<'_> {
        self.name("version", Of::Text(""))
    }

    /// The index of all records.
    pub(super) fn records(&self) -> Name<'_> {
        self.name("records", Of::Text(""))
    }

    /// What the key of every record starts with.
    pub(super) fn record_prefix(&self) -> Name<'_> {
        self.name("record:", Of::Text(""))
    }

    /// A record.
    pub(super) fn record<'a>(&'a self, key: &'a Key) -> Name<'a> {
        self.name("record:", Of::Text(key.as_str()))
    }

    /// What a mutation did.
    pub(super) fn op(&self, op: OpId) -> Name<'_> {
        self.name("op:", Of::Op(op))
    }

    /// A lease.
    pub(super) fn lease<'a>(&'a self, key: &'a Key) -> Name<'a> {
        self.name("lease:", Of::Text(key.as_str()))
    }

    /// The permits that are out.
    pub(super) fn permits<'a>(&'a self, key: &'a Key) -> Name<'a> {
        self.name("permits:", Of::Text(key.as_str()))
    }

    /// The hash of all that admissions, rate limits and attempts know. What the fields in it are called is below.
    pub(super) fn calls(&self) -> Name<'_> {
        self.name("calls", Of::Text(""))
    }

    /// A log.
    pub(super) fn log<'a>(&'a self, key: &'a Key) -> Name<'a> {
        self.name("log:", Of::Text(key.as_str()))
    }

    fn name<'a>(&'a self, kind: &'static str, of: Of<'a>) -> Name<'a> {
        Name { prefix: &self.prefix, kind, of }
    }
}

/// A call that waits or holds something, or whoever is at an attempt.
pub(super) fn call<'a>(call: OpId) -> Name<'a> {
    field("@", Of::Bare(call))
}

/// What is left of a quota.
pub(super) fn rate(key: &Key) -> Name<'_> {
    field("r", Of::Text(key.as_str()))
}

/// An idempotency key.
pub(super) fn attempt(key: &Key) -> Name<'_> {
    field("o", Of::Text(key.as_str()))
}

/// Who has a lock.
pub(super) fn lock(key: &Key) -> Name<'_> {
    field("l", Of::Text(key.as_str()))
}

/// Who has a place.
pub(super) fn place(key: &Key) -> Name<'_> {
    field("p", Of::Text(key.as_str()))
}

/// The version of what calls changed.
pub(super) fn version(key: &Key) -> Name<'_> {
    field("v", Of::Text(key.as_str()))
}

/// What a reader saw. Nobody, who has no name, has seen nothing.
pub(super) fn view<'a>(reader: Option<&'a Key>, key: &'a Key) -> Name<'a> {
    field("s", Of::Seen(reader.map_or("", Key::as_str), key.as_str()))
}

/// The key of a lock or a place, from what it is called in the hash.
pub(super) fn freed(name: &[u8]) -> Option<Key> {
    let name = std::str::from_utf8(name).ok()?;
    Key::new(name.strip_prefix('l').or_else(|| name.strip_prefix('p'))?).ok()
}

fn field<'a>(kind: &'static str, of: Of<'a>) -> Name<'a> {
    Name { prefix: "", kind, of }
}

impl Name<'_> {
    /// Writes it behind what is there, which takes everything because it is memory.
    pub(super) fn write_to(&self, mut out: impl Write) {
        let _ = out.write_all(self.prefix.as_bytes());
        let _ = out.write_all(self.kind.as_bytes());
        let _ = match self.of {
            Of::Text(text) => out.write_all(text.as_bytes()),
            Of::Op(op) => write!(out, "{op}"),
            Of::Bare(OpId(id)) => out.write_all(&id.to_be_bytes()),
            Of::Seen(reader, key) => {
                let _ = out.write_all(reader.as_bytes());
                let _ = out.write_all(b"\n");
                out.write_all(key.as_bytes())
            }
        };
    }
}

impl ToRedisArgs for Name<'_> {
    fn write_redis_args<W: ?Sized + RedisWrite>(&self, out: &mut W) {
        self.write_to(out.writer_for_next_arg());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_one_argument_with_the_namespace_as_its_hash_tag() {
        let keys = Keys::new("shop");
        let key = Key::new("alice").unwrap();
        let names = [keys.version(), keys.record(&key), keys.op(OpId(255))];
        let names = names.map(|name| name.to_redis_args().concat());
        let names = names.map(|name| String::from_utf8(name).unwrap());
        assert_eq!(names[0], "interlock:{shop}:version");
        assert_eq!(names[1], "interlock:{shop}:record:alice");
        assert_eq!(names[2], "interlock:{shop}:op:000000000000000000000000000000ff");
        assert_eq!(keys.log(&key).to_redis_args().len(), 1);
    }
}
