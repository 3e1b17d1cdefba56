//! What a client does within limits: it holds leases and permits for a moment, writes under the leases, and takes from quotas. It notes
//! when it sent each wish and when it had the answer, so that the judge knows moments at which a thing was surely held or granted.

use std::time::{Duration, Instant};

use interlock_sync::{
    clock::{Clock, SystemClock},
    store::{LeaseAnswer, LeaseRequest, OpId, PermitAnswer, PermitRequest, Quota, Reply, Taken},
};

use crate::{
    client::{Client, PATIENCE},
    dice::Dice,
    journal::Deed,
    key,
};

/// For how long a lease or a permit is held unless it is renewed.
pub(crate) const TTL: Duration = Duration::from_millis(400);

/// How many permits may be out at once.
pub(crate) const PERMITS: u32 = 2;

/// Of each thing so many, for which all clients compete.
const EACH: u64 = 2;

/// How many units a quota grants, and in which time.
pub(crate) const UNITS: u32 = 8;
pub(crate) const WINDOW: Duration = Duration::from_millis(600);

/// The quota of a name: every other one is a bucket.
pub(crate) fn quota(name: &str) -> Quota {
    let quota = if name.starts_with("bucket") { Quota::bucket } else { Quota::log };
    quota(UNITS, WINDOW).unwrap()
}

/// An answer, and between which moments the store gave it: µs since 1970 by the machine's clock, which is also the store's.
pub(crate) struct Timed<T> {
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    pub(crate) answer: T,
}

impl Client {
    /// Holds a lease for a moment, and writes under it.
    pub(crate) async fn hold_lease(&self, dice: &mut Dice) {
        let name = format!("lease-{}", dice.below(EACH));
        let (lease, owner) = (key(&name), OpId::fresh());
        let request = LeaseRequest { key: lease.clone(), owner, ttl: TTL };
        let taken = self.ask(|| self.store.acquire_lease(&request)).await;
        let Some(Timed { sent, answered, answer: LeaseAnswer::Granted { fence } }) = taken else { return };
        self.journal.note(&format!("held {name} {} {sent} {answered}", fence.0));
        for _ in 0..dice.below(3) {
            self.settle(&Deed::Guarded { lease: name.clone(), fence: fence.0 }).await;
        }
        if dice.below(2) == 0 {
            tokio::time::sleep(Duration::from_millis(dice.below(200))).await;
            let renewed = self.ask(|| self.store.renew_lease(&lease, fence, TTL)).await;
            if let Some(Timed { sent, answer: true, .. }) = renewed {
                self.journal.note(&format!("kept {name} {} {sent}", fence.0));
                self.settle(&Deed::Guarded { lease: name.clone(), fence: fence.0 }).await;
            }
        }
        self.journal.note(&format!("back {name} {} {}", fence.0, SystemClock.now().0));
        self.ask(|| self.store.release_lease(&lease, fence)).await;
    }

    /// Holds a permit for a moment.
    pub(crate) async fn hold_permit(&self, dice: &mut Dice) {
        let name = format!("permits-{}", dice.below(EACH));
        let (caller, holder) = (key(&name), OpId::fresh());
        let request = PermitRequest { key: caller.clone(), holder, limit: PERMITS, ttl: TTL };
        let taken = self.ask(|| self.store.acquire_permit(&request)).await;
        let Some(Timed { sent, answered, answer: PermitAnswer::Granted { in_use } }) = taken else { return };
        assert!(in_use <= PERMITS, "{in_use} permits are out");
        self.journal.note(&format!("held {name} {holder} {sent} {answered}"));
        tokio::time::sleep(Duration::from_millis(dice.below(100))).await;
        if dice.below(2) == 0 {
            let renewed = self.ask(|| self.store.renew_permit(&caller, &holder, TTL)).await;
            if let Some(Timed { sent, answer: true, .. }) = renewed {
                self.journal.note(&format!("kept {name} {holder} {sent}"));
            }
        }
        self.journal.note(&format!("back {name} {holder} {}", SystemClock.now().0));
        self.ask(|| self.store.release_permit(&caller, &holder)).await;
    }

    /// Takes from a quota as long as it grants.
    pub(crate) async fn take(&self, dice: &mut Dice) {
        let name = format!("{}-{}", if dice.below(2) == 0 { "bucket" } else { "log" }, dice.below(EACH));
        let (caller, quota) = (key(&name), quota(&name));
        for _ in 0..UNITS {
            let taken = self.ask(|| self.store.take(&caller, &quota, 1)).await;
            let Some(Timed { sent, answered, answer: Taken::Granted { .. } }) = taken else { return };
            self.journal.note(&format!("took {name} {sent} {answered}"));
        }
    }

    /// Asks until there is an answer, and says when that was sent; `None` if none comes for long.
    pub(crate) async fn ask<'a, T>(&self, wish: impl Fn() -> Reply<'a, T>) -> Option<Timed<T>> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE / 20 {
            let sent = SystemClock.now().0;
            match wish().await {
                Ok(answer) => return Some(Timed { sent, answered: SystemClock.now().0, answer }),
                Err(error) => assert!(error.is_retryable(), "{error:?}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        None
    }
}
