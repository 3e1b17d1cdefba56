//! Holds what clients noted of leases, permits and quotas against what is promised of them: a lease has one holder and writes under it
//! come in the order of the fences, no more permits are out than the limit, a quota grants no more than its bound.

use std::collections::{BTreeMap, HashMap};

use interlock_sync::store::{Applied, OpId, Quota};

use crate::{
    journal::{Account, Deed},
    limited::{PERMITS, TTL, UNITS, WINDOW, quota},
    tally::Tally,
};

/// Something that was held: a lease or a permit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hold {
    /// From when on it was surely held: the answer was there.
    pub(crate) from: u64,
    /// When the last wish for it was sent: the store counted its time from a later moment.
    pub(crate) asked: u64,
    /// When it was about to be given back, if that came about.
    pub(crate) back: Option<u64>,
}

impl Hold {
    /// Until when it was surely held. Also if its holder was killed: then nobody gave it back.
    fn until(&self) -> u64 {
        let end = self.asked + u64::try_from(TTL.as_micros()).unwrap();
        self.back.map_or(end, |back| end.min(back))
    }

    /// Whether there is a moment at which both were surely held.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.from.max(other.from) < self.until().min(other.until())
    }
}

/// Checks all of it.
pub(crate) fn check(account: &Account, applied: &HashMap<OpId, Option<Applied>>, held: &mut Tally) {
    for (name, holds) in &account.holds {
        let (limit, what) = match name.split('-').next() {
            Some("lease") => (1, "leases held, one holder each"),
            Some("permits") => (PERMITS, "permits held within the limit"),
            Some("alone") => (1, "locks held alone"),
            Some("place") => (PERMITS, "places held within the limit"),
            // Any number may.
            _ => continue,
        };
        let most = most_at_once(holds.values());
        assert!(most <= limit, "{most} held `{name}` at once: {holds:?}");
        held.add(what, holds.len() as u64);
    }
    check_fences(account, applied, held);
    for (name, grants) in &account.grants {
        check_quota(name, grants, &account.crashes);
        held.add("units granted within their quota", grants.len() as u64);
    }
}

/// How many were held at some moment.
fn most_at_once<'a>(holds: impl Iterator<Item = &'a Hold>) -> u32 {
    let mut changes = vec![];
    for hold in holds.filter(|hold| hold.from < hold.until()) {
        changes.extend([(hold.until(), false), (hold.from, true)]);
    }
    // At the same moment an end comes before a beginning.
    changes.sort_unstable();
    let (mut out, mut most) = (0, 0);
    for (_, begins) in changes {
        out = if begins { out + 1 } else { out - 1 };
        most = most.max(out);
    }
    most
}

/// In the order in which the store applied them, writes under a lease never come from an earlier holder.
fn check_fences(account: &Account, applied: &HashMap<OpId, Option<Applied>>, held: &mut Tally) {
    let mut writes: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (op, deed) in &account.deeds {
        if let (Deed::Guarded { lease, fence }, Some(applied)) = (deed, &applied[op]) {
            writes.entry(lease).or_default().push((applied.changed[0].to, *fence));
        }
    }
    for (lease, mut writes) in writes {
        writes.sort_unstable();
        let in_order = writes.is_sorted_by_key(|(_, fence)| *fence);
        assert!(in_order, "a late holder wrote under `{lease}`: {writes:?}");
        held.add("writes under a lease, none late", writes.len() as u64);
    }
}

/// No more is granted in any time than the bound says. What was sent after a moment and answered before another was granted between them.
///
/// A server that does not wait for the disk with its quotas may forget them when it crashes, and then grants its burst once more.
fn check_quota(name: &str, grants: &[(u64, u64)], crashes: &[u64]) {
    let window = u64::try_from(WINDOW.as_micros()).unwrap();
    let mut grants = grants.to_vec();
    grants.sort_unstable();
    for (place, (start, _)) in grants.iter().enumerate() {
        let mut ends: Vec<u64> = grants[place..].iter().map(|(_, answered)| *answered).collect();
        ends.sort_unstable();
        for (before, end) in ends.iter().enumerate() {
            let (granted, time) = (before as u64 + 1, end - start);
            let forgotten = crashes.iter().filter(|crash| (start..=end).contains(crash)).count() as u64;
            let burst = u64::from(UNITS) * (1 + forgotten);
            let bound = match quota(name) {
                Quota::Bucket { .. } => burst + u64::from(UNITS) * time / window,
                // So many in each window that the time touches.
                Quota::Log { .. } => burst * (1 + time / window),
            };
            assert!(granted <= bound, "`{name}` granted {granted} in {time} µs, and {bound} is the most");
        }
    }
}

#[test]
fn the_bounds_can_be_broken() {
    let hold = |from, asked, back| Hold { from, asked, back };
    let (first, next) = (hold(10, 5, Some(20)), hold(20, 15, None));
    assert_eq!(most_at_once([first, next].iter()), 1, "one after the other");
    assert_eq!(most_at_once([first, next, hold(30, 25, None)].iter()), 2, "nobody gave the second one back");
    let too_many: Vec<(u64, u64)> = (0..=u64::from(UNITS)).map(|n| (n, n + 1)).collect();
    for name in ["bucket-0", "log-0"] {
        check_quota(name, &too_many[1..], &[]);
        check_quota(name, &too_many, &[3]);
        let broken = std::panic::catch_unwind(|| check_quota(name, &too_many, &[]));
        assert!(broken.is_err(), "{name}");
    }
}
