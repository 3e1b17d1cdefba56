//! `redis://`, a store for many machines: Redis or Valkey from 6.2 on, one Lua script per operation, one round trip each.
//!
//! # What it keeps, and where
//!
//! Every key of a namespace starts with `interlock:{NAMESPACE}:`. The braces are a hash tag: in a cluster a namespace lies on one
//! node, and several namespaces spread. The URL names any node: one that does not have the namespace says which has (`MOVED`), also when it
//! has moved later, and is believed. While it is on the move, operations are refused for the time being.
//!
//! | key | type | holds | expires |
//! |---|---|---|---|
//! | `record:KEY` | string | version, kind, content | never |
//! | `records` | sorted set | the keys of all records, in order | never |
//! | `version` | string | the last version of a record | never |
//! | `op:ID` | string | what a mutation or an append did | after `remember_ops` |
//! | `lease:KEY` | string | fence, end, owner | 24 hours after the lease's end and the fence's own time, because of the fence |
//! | `permits:KEY` | sorted set | holders by the end of their time | with the last holder's time, or later if one renewed for less |
//! | `calls` | hash | all that admissions know, rate limits, and how far idempotent attempts got | a day after the last of it |
//! | `calls`, line break, a letter, a lock or place | sorted sets | many who share it, and those who wait | with the last of them |
//! | `calls`, line break, a field of a rate limit | list | the grants of a log that has more than 64 | at most a window after it says nothing any more |
//! | `calls`, line break, a field of an attempt | string | an answer of more than 256 bytes | when it is to be forgotten |
//! | `calls`, line break, `e` | string | the same as the field `ne` of the hash | never |
//! | `calls`, line break, `n` | string | a number as great as all that were given out when the hash goes | never |
//! | `log:KEY` | stream | the entries | never |
//!
//! What an operation on a record or a lease needs is in strings, because a script reads all of them with one `MGET` and writes them with one
//! `MSET`: most of the time of a script goes into its calls. Versions, fences and moments in them have 16 digits, so that a script can
//! cut a row at fixed places; to match a pattern takes it three times as long.
//!
//! An admission changes half a dozen rows that each go at another time, and there is no command that sets several keys with an expiry. So its
//! rows are the fields of one hash, read with one `HMGET` and written with one `HSET`. Rate limits and attempts are rows of the same hash,
//! because admissions and the operations for them alone share them:
//!
//! | field | holds, behind the moment at which it is over (8 bytes, like all numbers) |
//! |---|---|
//! | `@ID` | the fence of a call and `h`, or its ticket and `w` |
//! | `lKEY`, `pKEY` | of a lock or a place: until when the last has it, until when somebody waits, how many have it (0 nobody, 1 one alone, 2 some who share it, 3 as many as are in a set), and who |
//! | `vKEY` | version, and the call that raised it |
//! | `sREADER`, line break, `KEY` | the version that was seen |
//! | `rKEY` | of a bucket nothing more: this is the moment at which it is full; `B` and its exact digits if it is a very large one; of a log `l`, its units, and each grant with its moment and units, or `L` if they are a list |
//! | `oKEY` | of an attempt its fence, when its time ends, how far it got, its owner, its fingerprint and its answer |
//! | `n` | about the hash itself: the last ticket, fence or version of an admission, and until when the hash stays; it has no such moment |
//! | `ne` | the epoch that grants belong to, the run of the server that it was last seen on, and until when nothing is granted because others were forgotten |
//! | `nc`, and a long one | where the next sweep goes on; and what makes the server keep a hash, not a list, from the beginning |
//!
//! A field that is over counts as gone. Now and then an operation that adds one removes some of them, more the more there are, and `sweep`
//! removes all; the hash as a whole has an expiry. What is large is beside the hash, so that sweeping never reads it.
//!
//! Each expiry is set in the script that writes the key, so a client that dies leaves nothing behind for ever. Time is the server's
//! (`TIME` inside the script). Versions and places are `max(last + 1, the server's time in µs)` like fences, and not a bare count,
//! so that none is given out twice even by a server that has lost its last writes.
//!
//! # What it promises, and what Redis can take back
//!
//! As long as the server keeps its data, every operation takes effect at one moment and whole, for all clients. A command is never
//! sent twice by itself: if its answer is lost, that is [`StoreError::InDoubt`], and asking again with the same op-id, owner or fence
//! says what happened.
//!
//! But **an acknowledged write is only as safe as the server's own settings make it**:
//!
//! - `appendonly no`: a crash loses what was written since the last snapshot. `appendfsync everysec`, the usual setting: about the last
//!   second. Only `appendfsync always` keeps what it has acknowledged through a power cut.
//! - Replication is asynchronous. On a failover the new primary may lack the last acknowledged writes: **a lease can then be granted to a
//!   second owner while the first one still believes in it, a debit can be undone, an op-id forgotten and its mutation applied again.** The
//!   fence still rises, if the clocks of both servers agree, so a guarded write elsewhere that compares fences stays safe; the writes of
//!   this store are fenced by the lease in the same server and share its fate.
//! - A replica answers reads with old data. So a replica is refused when connecting; one that is demoted later refuses writes, but may
//!   answer reads until the connection ends (Sentinel ends them).
//!
//! What of this holds for a server is found out by `INFO persistence`, and said by [`caveats`](crate::caveats): whether there is an append-only file,
//! or that the account may not ask.
//!
//! A server that has forgotten what it granted to calls ([`Store::admit`]) is noticed: by its epoch, or by the run that answers (`run_id`, with
//! `INFO`). What it had granted goes on, so for as long as any of that was granted for, no call is admitted that would hold something, whoever
//! asks: [`StoreError::Unavailable`]. That covers a server that is emptied (`FLUSHALL`), one that starts again without an append-only file, and a
//! replica that took over, except that a client must have asked before, or the epoch have survived. Leases, permits and reservations of the
//! primitives are not kept from being granted again; compare their fences.
//!
//! Money belongs in PostgreSQL, or behind `appendfsync always` without automatic failover.
//!
//! A server that evicts keys when its memory is full would forget leases, op-ids and records silently. So a server with `maxmemory` and
//! another policy than `noeviction` is refused when opening. Where the account may not ask (`INFO`), this is left to its owner.
//!
//! [`Store::admit`]: interlock_sync::store::Store::admit
//! [`StoreError::InDoubt`]: interlock_sync::store::StoreError::InDoubt
//! [`StoreError::Unavailable`]: interlock_sync::store::StoreError::Unavailable

mod durability;
mod open;

mod admissions;
mod attempts;
mod leases;
mod limits;
mod logs;
mod records;
mod store;

mod answer;
mod call;
mod client;
mod epochs;
mod fold;
mod keys;
mod link;
mod nodes;
mod scripts;
mod span;

#[cfg(test)]
mod tests;

pub use self::open::BACKEND;
