//! The rate limit of one process.

use std::{borrow::Borrow, collections::VecDeque, fmt, hash::Hash, time::Duration};

use crate::{
    clock::{Clock, MonotonicClock, Timestamp},
    decide::{BucketRule, LogRule, Rule},
    prim::default_shards,
    shards::Shards,
    store::{Quota, Taken},
    table::Table,
};

/// A rate limit per key, for one process.
///
/// A key's bucket is one moment in a sharded map; a key that is known is looked up in its borrowed form, without an allocation.
/// See the [module](crate::rate) for what a quota promises.
///
/// A key is idle when its quota is whole again: it says no more than a key that was never seen. Keys that were idle for a second are
/// forgotten a few at a time, by the calls themselves: while new ones come, at most twice as many are remembered as are in use, plus eight
/// for each of at most 256 shards; and a map that was larger shrinks as calls go on. [`reclaim`](Self::reclaim) does it at once, for a
/// limit that no calls reach any more.
///
/// ```
/// use std::time::Duration;
/// use interlock_sync::{rate::RateLimit, store::{Quota, Taken}};
///
/// let limit = RateLimit::<String>::new(Quota::bucket(2, Duration::from_secs(60))?);
/// limit.set_quota("admin".to_owned(), Quota::log(100, Duration::from_secs(60))?);
///
/// assert_eq!(limit.take("alice", 1), Taken::Granted { remaining: 1 });
/// assert_eq!(limit.take("alice", 1), Taken::Granted { remaining: 0 });
/// let Taken::Refused { retry_after: Some(wait) } = limit.take("alice", 1) else { unreachable!() };
/// assert!(wait <= Duration::from_secs(30));
/// assert_eq!(limit.take("admin", 1), Taken::Granted { remaining: 99 });
/// # Ok::<(), interlock_sync::store::InvalidQuota>(())
/// ```
pub struct RateLimit<K, C = MonotonicClock> {
    usual: Rule,
    clock: C,
    shards: Shards<Shard<K>>,
}

/// For how long an idle key is remembered, because a caller that comes often may be idle between any two of its calls.
const GRACE: Duration = Duration::from_secs(1);

/// The keys of one shard.
struct Shard<K> {
    /// The moment at which the bucket is full again.
    buckets: Table<K, Timestamp>,
    logs: Table<K, Log>,
    /// Keys with a quota of their own, if there are any. They are never idle.
    special: Option<Box<Table<K, Rule>>>,
}

struct Log {
    grants: VecDeque<Timestamp>,
    idle_from: Timestamp,
}

impl<K: Hash + Eq> RateLimit<K> {
    /// A limit with the same quota for all keys, by a clock that never goes back.
    #[must_use]
    pub fn new(quota: Quota) -> Self {
        Self::with_clock(quota, MonotonicClock::default())
    }
}

impl<K: Hash + Eq, C: Clock> RateLimit<K, C> {
    /// A limit by another clock.
    #[must_use]
    pub fn with_clock(quota: Quota, clock: C) -> Self {
        Self { usual: Rule::of(&quota), clock, shards: Shards::new(default_shards()) }
    }

    /// Gives a key its own quota, from now on. What was taken from a quota of the same kind still counts.
    pub fn set_quota(&self, key: K, quota: Quota) {
        let hash = self.shards.hash(&key);
        let mut shard = self.shards.enter(hash);
        let special = shard.special.get_or_insert_default();
        match special.get_mut(hash, &key) {
            Some(rule) => *rule = Rule::of(&quota),
            None => {
                special.insert(hash, key, Rule::of(&quota), self.shards.hasher());
            }
        }
    }

    /// Gives a key the usual quota again; `false` if it had it.
    pub fn unset_quota<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let hash = self.shards.hash(key);
        self.shards.enter(hash).special.as_mut().is_some_and(|special| special.remove(hash, key).is_some())
    }

    /// Tests a key's quota and counts in one step: `cost` units are taken, or none. A cost of nothing counts nothing, and says whether the
    /// quota has room.
    pub fn take<Q>(&self, key: &Q, cost: u32) -> Taken
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = self.shards.hash(key);
        // Read before the mutex is taken, to hold it shortly. A bucket takes moments in any order: one that is a little older only
        // makes it a little stricter.
        let now = self.clock.now();
        let mut shard = self.shards.enter(hash);
        let own = shard.special.as_mut().and_then(|special| special.get_mut(hash, key)).copied();
        let rule = own.unwrap_or(self.usual);
        match rule {
            Rule::Bucket(rule) => self.take_from_bucket(&mut shard.buckets, hash, key, rule, cost, now),
            // A log needs moments in order, so they are read in the order of the grants.
            Rule::Log(rule) => self.take_from_log(&mut shard.logs, hash, key, rule, cost, self.clock.now()),
        }
    }

    #[inline]
    fn take_from_bucket<Q>(
        &self,
        buckets: &mut Table<K, Timestamp>,
        hash: u64,
        key: &Q,
        rule: BucketRule,
        cost: u32,
        now: Timestamp,
    ) -> Taken
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hasher = self.shards.hasher();
        let is_idle = |full: &Timestamp| full.after(GRACE) <= now;
        if let Some(full) = buckets.get_mut(hash, key) {
            // Others may have taken since this call read the clock. Only if it is beyond that by the present time was the clock set back.
            let now = if rule.is_beyond(*full, now) { self.clock.now() } else { now };
            let (taken, next) = rule.take(*full, cost, now);
            *full = next.unwrap_or(*full);
            buckets.found(hasher, is_idle);
            return taken;
        }
        let (taken, next) = rule.take(now, cost, now);
        if let Some(next) = next.filter(|next| *next > now) {
            buckets.adding(hasher, is_idle);
            buckets.insert(hash, key.to_owned(), next, hasher);
        }
        taken
    }

    fn take_from_log<Q>(
        &self,
        logs: &mut Table<K, Log>,
        hash: u64,
        key: &Q,
        rule: LogRule,
        cost: u32,
        now: Timestamp,
    ) -> Taken
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hasher = self.shards.hasher();
        let is_idle = |log: &Log| log.idle_from.after(GRACE) <= now;
        if let Some(log) = logs.get_mut(hash, key) {
            let taken = rule.take(&mut log.grants, cost, now);
            log.idle_from = log.grants.back().map_or(now, |last| rule.idle_from(*last));
            logs.found(hasher, is_idle);
            return taken;
        }
        let mut grants = VecDeque::new();
        let taken = rule.take(&mut grants, cost, now);
        if let Some(last) = grants.back() {
            let idle_from = rule.idle_from(*last);
            logs.adding(hasher, is_idle);
            logs.insert(hash, key.to_owned(), Log { grants, idle_from }, hasher);
        }
        taken
    }

    /// How many keys are remembered, idle ones included; those with a quota of their own count only if something was taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.each().map(|shard| shard.buckets.len() + shard.logs.len()).sum()
    }

    /// Whether no key is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all idle keys now, and gives their memory back. Nobody needs to call this while calls go on.
    pub fn reclaim(&self) {
        let (now, hasher) = (self.clock.now(), self.shards.hasher());
        for mut shard in self.shards.each() {
            shard.buckets.reclaim_all(hasher, |full| *full <= now);
            shard.logs.reclaim_all(hasher, |log| log.idle_from <= now);
        }
    }
}

impl<K> Default for Shard<K> {
    fn default() -> Self {
        Self { buckets: Table::default(), logs: Table::default(), special: None }
    }
}

impl<K, C: fmt::Debug> fmt::Debug for RateLimit<K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("usual", &self.usual)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
