//! The scripts, each with the helpers it needs in front.
//!
//! They are sent by their hash; a server that does not know one (it was restarted, or somebody flushed) says so before running anything,
//! gets the text, and is asked again.

use redis::Script;

/// All scripts.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) mutate: Script,
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
}

const TIME: &str = include_str!("scripts/lib/time.lua");
const BASE: &str = include_str!("scripts/lib/base.lua");
const LEASE: &str = include_str!("scripts/lib/lease.lua");
const WHOLE: &str = include_str!("scripts/lib/whole.lua");

impl Scripts {
    /// The scripts as they are.
    pub(super) fn new() -> Self {
        Self::with_time(TIME)
    }

    /// The scripts with another source of time, which a test can move.
    pub(super) fn with_time(time: &str) -> Self {
        let plain = |body| Script::new(&[time, BASE, body].concat());
        let lease = |body| Script::new(&[time, BASE, LEASE, body].concat());
        let exact = |body| Script::new(&[time, BASE, WHOLE, body].concat());
        Self {
            mutate: Script::new(&[time, BASE, LEASE, WHOLE, include_str!("scripts/mutate.lua")].concat()),
            list: plain(include_str!("scripts/list.lua")),
            acquire_lease: lease(include_str!("scripts/acquire_lease.lua")),
            renew_lease: lease(include_str!("scripts/renew_lease.lua")),
            release_lease: lease(include_str!("scripts/release_lease.lua")),
            take_bucket: plain(include_str!("scripts/take_bucket.lua")),
            take_large_bucket: exact(include_str!("scripts/take_large_bucket.lua")),
            take_log: plain(include_str!("scripts/take_log.lua")),
            acquire_permit: plain(include_str!("scripts/acquire_permit.lua")),
            renew_permit: plain(include_str!("scripts/renew_permit.lua")),
            release_permit: plain(include_str!("scripts/release_permit.lua")),
            begin: plain(include_str!("scripts/begin.lua")),
            dispatch: plain(include_str!("scripts/dispatch.lua")),
            finish: plain(include_str!("scripts/finish.lua")),
            append: plain(include_str!("scripts/append.lua")),
        }
    }

    /// Each of them, to load them all.
    pub(super) fn all(&self) -> [&Script; 15] {
        [
            &self.mutate,
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
        ]
    }
}
