//! The scripts, and the pieces they share.
//!
//! They are sent by their hash; a server that does not know one (it was restarted, or somebody flushed) says so before running anything,
//! gets the text, and is asked again.
//!
//! A line `--> NAME` stands for the text of `lib/NAME.lua`, or for a number that is the same in every call.
//!
//! # Why they are written as they are
//!
//! An operation shall take at most twice as long as a `PING`, which is some 20 µs. In a script a call of the server takes about 1 µs whatever it
//! does, and each field of a hash another third. So what can be read or written together is: an admission with every control is one `HMGET`,
//! one `TIME` and one `HSET`.
//!
//! Each argument takes client and server together almost half a µs. So numbers and names are one argument, which `struct.unpack` takes apart at
//! once, and what does not change is part of the text.
//!
//! Lua reckons a hash over every byte of each text that it makes: 100 bytes take as long as half a dozen statements. So moments, numbers
//! and ids are bytes and not digits, a row is read into numbers with one `struct.unpack` and made with one `struct.pack`, and numbers are
//! compared as numbers (which texts of bytes could not be: the server compares them by its locale).
//!
//! The answer is a number or one text, because the driver takes a sixth of a `PING` for each part of a list. What is needed seldom is a piece
//! of its own inside the branch that needs it, because a script makes its functions anew every time it runs. Where digits are needed, a
//! number is handed to the server as a text of `'%d'`, which cuts off what is behind the point and takes about half the time of the
//! server's own conversion; and a key goes with the first whole millisecond at which its moment has certainly passed, `moment / 1000 + 1`.

use std::time::Duration;

use interlock_sync::decide::REMEMBER_FENCE;
use redis::Script;

use super::span::{micros, millis};

/// All scripts.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) put: Script,
    pub(super) delete: Script,
    pub(super) add: Script,
    pub(super) transfer: Script,
    pub(super) list: Script,
    pub(super) acquire_lease: Script,
    pub(super) renew_lease: Script,
    pub(super) release_lease: Script,
    pub(super) take_bucket: Script,
    pub(super) take_large_bucket: Script,
    pub(super) take_log: Script,
    pub(super) acquire_permit: Script,
    pub(super) renew_permit: Script,
    pub(super) release_permit: Script,
    pub(super) begin: Script,
    pub(super) dispatch: Script,
    pub(super) finish: Script,
    pub(super) append: Script,
    pub(super) admit: Script,
    pub(super) prolong: Script,
    pub(super) settle: Script,
    pub(super) sweep: Script,
}

const NOW: &str = include_str!("scripts/lib/now.lua");

/// The pieces by name that are the same in every store.
const PIECES: [(&str, &str); 26] = [
    ("once", include_str!("scripts/lib/once.lua")),
    ("expected", include_str!("scripts/lib/expected.lua")),
    ("added", include_str!("scripts/lib/added.lua")),
    ("whole", include_str!("scripts/lib/whole.lua")),
    ("lease", include_str!("scripts/lib/lease.lua")),
    ("store_lease", include_str!("scripts/lib/store_lease.lua")),
    ("stored_answer", include_str!("scripts/lib/stored_answer.lua")),
    ("end_attempt", include_str!("scripts/lib/end_attempt.lua")),
    ("log_room", include_str!("scripts/lib/log_room.lua")),
    ("log_add", include_str!("scripts/lib/log_add.lua")),
    ("list_room", include_str!("scripts/lib/list_room.lua")),
    ("list_add", include_str!("scripts/lib/list_add.lua")),
    ("large_bucket", include_str!("scripts/lib/large_bucket.lua")),
    ("charges", include_str!("scripts/lib/charges.lua")),
    ("names", include_str!("scripts/lib/names.lua")),
    ("rows", include_str!("scripts/lib/rows.lua")),
    ("sweep", include_str!("scripts/lib/sweep.lua")),
    ("over", include_str!("scripts/lib/over.lua")),
    ("write", include_str!("scripts/lib/write.lua")),
    ("lanes", include_str!("scripts/lib/lanes.lua")),
    ("crowd", include_str!("scripts/lib/crowd.lua")),
    ("put", include_str!("scripts/lib/put.lua")),
    ("leave_line", include_str!("scripts/lib/leave_line.lua")),
    ("line", include_str!("scripts/lib/line.lua")),
    ("hold_on", include_str!("scripts/lib/hold_on.lua")),
    ("epoch", include_str!("scripts/lib/epoch.lua")),
];

impl Scripts {
    /// The scripts of a store that remembers op-ids for so long.
    pub(super) fn new(remember_ops: Duration) -> Self {
        Self::with_time(remember_ops, NOW)
    }

    /// The scripts with another source of time, which a test can move.
    pub(super) fn with_time(remember_ops: Duration, now: &str) -> Self {
        let remember_op = format!("local remember = '{}'\n", millis(remember_ops));
        let remember_fence = format!("local remember = {}\n", micros(REMEMBER_FENCE));
        let own = [("now", now), ("remember_op", &*remember_op), ("remember_fence", &*remember_fence)];
        let pieces: Vec<(&str, &str)> = PIECES.into_iter().chain(own).collect();
        let script = |text| Script::new(&whole_text(text, &pieces));
        Self {
            put: script(include_str!("scripts/put.lua")),
            delete: script(include_str!("scripts/delete.lua")),
            add: script(include_str!("scripts/add.lua")),
            transfer: script(include_str!("scripts/transfer.lua")),
            list: script(include_str!("scripts/list.lua")),
            acquire_lease: script(include_str!("scripts/acquire_lease.lua")),
            renew_lease: script(include_str!("scripts/renew_lease.lua")),
            release_lease: script(include_str!("scripts/release_lease.lua")),
            take_bucket: script(include_str!("scripts/take_bucket.lua")),
            take_large_bucket: script(include_str!("scripts/take_large_bucket.lua")),
            take_log: script(include_str!("scripts/take_log.lua")),
            acquire_permit: script(include_str!("scripts/acquire_permit.lua")),
            renew_permit: script(include_str!("scripts/renew_permit.lua")),
            release_permit: script(include_str!("scripts/release_permit.lua")),
            begin: script(include_str!("scripts/begin.lua")),
            dispatch: script(include_str!("scripts/dispatch.lua")),
            finish: script(include_str!("scripts/finish.lua")),
            append: script(include_str!("scripts/append.lua")),
            admit: script(include_str!("scripts/admit.lua")),
            prolong: script(include_str!("scripts/prolong.lua")),
            settle: script(include_str!("scripts/settle.lua")),
            sweep: script(include_str!("scripts/sweep.lua")),
        }
    }

    /// Each of them, to load them all.
    pub(super) fn all(&self) -> [&Script; 22] {
        [
            &self.put,
            &self.delete,
            &self.add,
            &self.transfer,
            &self.list,
            &self.acquire_lease,
            &self.renew_lease,
            &self.release_lease,
            &self.take_bucket,
            &self.take_large_bucket,
            &self.take_log,
            &self.acquire_permit,
            &self.renew_permit,
            &self.release_permit,
            &self.begin,
            &self.dispatch,
            &self.finish,
            &self.append,
            &self.admit,
            &self.prolong,
            &self.settle,
            &self.sweep,
        ]
    }
}

/// A text with its pieces, and theirs, in it. One that is not known stays a comment, which the script then fails without.
fn whole_text(text: &str, pieces: &[(&str, &str)]) -> String {
    let piece = |line: &str| {
        let name = line.trim_start().strip_prefix("--> ")?;
        let (_, piece) = pieces.iter().find(|(known, _)| *known == name)?;
        Some(whole_text(piece, pieces))
    };
    text.lines().map(|line| piece(line).unwrap_or_else(|| format!("{line}\n"))).collect()
}
