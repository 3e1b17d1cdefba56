//! The scripts decide as the memory store does, whatever is asked and whatever the clock does: thousands of random operations on both,
//! with the same clock, also set back.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use interlock_sync::{
    clock::{Clock, ManualClock, Timestamp},
    memory::MemoryStore,
    store::{
        Admission, Admitted, Attempt, Change, Content, Ending, Expect, Fence, Fingerprint, Key, LeaseRequest,
        Mutation, OpId, Outcome, PermitRequest, Places, Quota, Record, Refusal, Settlement, Store, Version,
        Wish,
    },
};
use interlock_testkit::service::Redis;

use super::{key, operator, server};
use crate::{
    Options,
    redis::{open::open_with, scripts::Scripts, store::RedisStore},
    twins,
};

/// The test's clock instead of the server's.
const TIME: &str = "local now = tonumber(redis.call('GET', 'clock'))\n";

/// Late enough that the server itself, which has its own time, expires nothing meanwhile.
const YEAR_2100: Timestamp = Timestamp(4_102_444_800_000_000);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A store and its twin.
struct Pair {
    store: RedisStore,
    twin: MemoryStore,
    clock: Arc<ManualClock>,
    operator: redis::Connection,
    chance: u64,
    /// Kept for its server, which ends with it.
    _redis: Redis,
}

impl Pair {
    async fn new(seed: u64) -> Self {
        let redis = server();
        let scripts = Scripts::with_time(DAY, TIME);
        let store = open_with(&redis.url(), &Options::default(), scripts).await.unwrap();
        let clock = Arc::new(ManualClock::at(YEAR_2100));
        let twin = MemoryStore::new(Arc::clone(&clock) as _, DAY);
        let mut pair = Self { store, twin, clock, operator: operator(&redis), chance: seed, _redis: redis };
        pair.pass_time();
        pair
    }

    fn below(&mut self, end: usize) -> usize {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        usize::try_from(self.chance % end as u64).unwrap()
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Moves both clocks, now and then backwards.
    fn pass_time(&mut self) {
        let step = self.one_of(&[0, 0, 1, 700, 400_000, 1_000_000, 3_000_000, -1, -2_500_000]);
        self.clock.set(Timestamp(self.clock.now().0.checked_add_signed(step).unwrap()));
        redis::cmd("SET").arg("clock").arg(self.clock.now().0).exec(&mut self.operator).unwrap();
    }

    /// Moves both clocks forwards.
    fn advance(&mut self, step: Duration) {
        self.clock.advance(step);
        redis::cmd("SET").arg("clock").arg(self.clock.now().0).exec(&mut self.operator).unwrap();
    }

    fn ttl(&mut self) -> Duration {
        Duration::from_micros(self.one_of(&[0, 1, 500_000, 1_000_000, 1_000_001, 10_000_000]))
    }

    fn id(&mut self) -> OpId {
        OpId(self.below(3) as u128)
    }

    fn name(&mut self) -> Key {
        key(self.one_of(&["k", "other"]))
    }
}

/// Asks both and compares.
macro_rules! both {
    ($pair:ident, $method:ident($($argument:expr),*)) => {{
        let (said, expected) = ($pair.store.$method($($argument),*).await, $pair.twin.$method($($argument),*).await);
        let (said, expected) = (said.unwrap(), expected.unwrap());
        let asked = stringify!($method);
        assert_eq!(said, expected, "{asked} {:?} at {:?}", ($(&$argument,)*), $pair.clock.now());
        said
    }};
}

#[tokio::test]
async fn leases_are_granted_alike() {
    let mut pair = Pair::new(0x1357).await;
    let mut fences = vec![Fence(0)];
    for _ in 0..1500 {
        pair.pass_time();
        let (name, owner, ttl) = (pair.name(), pair.id(), pair.ttl());
        let back = pair.below(fences.len().min(4));
        let fence = fences[fences.len() - 1 - back];
        match pair.below(5) {
            0 | 1 => {
                let request = LeaseRequest { key: name, owner, ttl };
                let answer = both!(pair, acquire_lease(&request));
                if let interlock_sync::store::LeaseAnswer::Granted { fence } = answer {
                    fences.push(fence);
                }
            }
            2 => drop(both!(pair, renew_lease(&name, fence, ttl))),
            3 => drop(both!(pair, release_lease(&name, fence))),
            _ => {
                let change = Change::Add { key: key("nobody"), delta: 1, floor: None };
                let mutation = Mutation::new(OpId::fresh(), change).under(name, fence);
                both!(pair, mutate(&mutation));
            }
        }
    }
    assert!(fences.len() > 100);
}

#[tokio::test]
async fn quotas_are_granted_alike() {
    let mut pair = Pair::new(0x2468).await;
    let second = Duration::from_secs(1);
    let quotas = [
        Quota::bucket(3, second).unwrap(),
        Quota::bucket(7, Duration::from_micros(1_000_003)).unwrap(),
        Quota::bucket(1, second).unwrap().with_burst(NonZeroU32::new(5).unwrap()),
        // Passes 2^53, and then comes near 2^64.
        Quota::bucket(1, DAY).unwrap().with_burst(NonZeroU32::new(200_000).unwrap()),
        Quota::bucket(1, DAY * 300).unwrap().with_burst(NonZeroU32::new(500_000).unwrap()),
        Quota::log(3, second).unwrap(),
        Quota::log(1000, second * 5).unwrap(),
    ];
    for round in 0..2000_usize {
        pair.pass_time();
        // Mostly one quota per key, and now and then another, as when somebody changes the configuration.
        let which = if pair.below(50) == 0 { pair.below(quotas.len()) } else { round % quotas.len() };
        let name = key(&format!("quota {}", round % quotas.len()));
        let cost = pair.one_of(&[0, 1, 1, 1, 2, 3, 4, 77, 900, 100_000]);
        // A look at a bucket leaves no row here and a full one there, which differ once the clock goes back.
        let cost = if matches!(quotas[which], Quota::Bucket { .. }) { cost.max(1) } else { cost };
        both!(pair, take(&name, &quotas[which], cost));
    }
}

#[tokio::test]
async fn permits_are_granted_alike() {
    let mut pair = Pair::new(0x9876).await;
    for _ in 0..1500 {
        pair.pass_time();
        let (name, holder, ttl) = (pair.name(), pair.id(), pair.ttl());
        match pair.below(4) {
            0 | 1 => {
                let limit = pair.one_of(&[0, 1, 2, 2, 2]);
                let request = PermitRequest { key: name, holder, limit, ttl };
                both!(pair, acquire_permit(&request));
            }
            2 => drop(both!(pair, renew_permit(&name, &holder, ttl))),
            _ => drop(both!(pair, release_permit(&name, &holder))),
        }
    }
}

#[tokio::test]
async fn attempts_are_judged_alike() {
    let mut pair = Pair::new(0xabcd).await;
    let mut fences = vec![Fence(0)];
    for _ in 0..1500 {
        pair.pass_time();
        let (name, owner, ttl, keep) = (pair.name(), pair.id(), pair.ttl(), pair.ttl());
        let back = pair.below(fences.len().min(3));
        let fence = fences[fences.len() - 1 - back];
        match pair.below(5) {
            0 | 1 => {
                let fingerprint = Fingerprint([pair.one_of(&[1, 1, 1, 1, 0xff]); 32]);
                let attempt = Attempt { key: name, fingerprint, owner, ttl, keep };
                let begun = both!(pair, begin(&attempt));
                if let interlock_sync::store::Begun::Reserved { fence } = begun {
                    fences.push(fence);
                }
            }
            2 => drop(both!(pair, dispatch(&name, fence, ttl))),
            _ => {
                let answer = pair.one_of(&[&b""[..], b"paid", b"\xff\0\n"]).to_vec();
                let ending =
                    if pair.below(3) == 0 { Ending::Failed(answer) } else { Ending::Completed(answer) };
                both!(pair, finish(&name, fence, &ending, keep));
            }
        }
    }
    assert!(fences.len() > 100);
}

#[tokio::test]
async fn calls_are_admitted_alike() {
    let pair = Pair::new(0x4321).await;
    let Pair { store, twin, clock, mut operator, .. } = pair;
    let pass_time = |step| {
        clock.advance(step);
        redis::cmd("SET").arg("clock").arg(clock.now().0).exec(&mut operator).unwrap();
    };
    twins::calls_are_admitted_alike(&store, &twin, 6000, pass_time).await;
}

/// So many that they are not in one row any more, and few again.
#[tokio::test]
async fn crowds_share_alike() {
    const LIMIT: u32 = 150;
    let mut pair = Pair::new(0x7777).await;
    let mut holders: Vec<Settlement> = vec![];
    let (mut most, mut refused) = (0, 0);
    for nth in 0..3_000_u32 {
        // First they come, then they go.
        let comes = pair.below(10) < if nth % 1_500 < 800 { 7 } else { 3 };
        let step = pair.one_of(&[0, 0, 1, 5]);
        pair.advance(Duration::from_millis(step));
        let ttl = Duration::from_secs(pair.one_of(&[1, 5, 60]));
        let at = (!holders.is_empty()).then(|| pair.below(holders.len()));
        match at {
            Some(at) if !comes => {
                let held = holders.swap_remove(at);
                if pair.below(3) == 0 {
                    both!(pair, prolong(&held, ttl));
                    holders.push(held);
                } else {
                    both!(pair, settle(&held));
                }
            }
            _ => {
                let is_shared = pair.below(50) > 0;
                let admission = Admission {
                    call: OpId(nth.into()),
                    charges: vec![],
                    places: vec![Places { key: key("p"), limit: LIMIT }],
                    locks: vec![Wish { key: key("l"), is_shared }],
                    once: None,
                    reader: None,
                    observes: vec![],
                    requires_fresh: vec![],
                    ttl,
                    remember: DAY,
                    is_again: false,
                    patience: Duration::ZERO,
                };
                match both!(pair, admit(&admission)) {
                    Admitted::Granted { fence } => holders.push(Settlement {
                        call: admission.call,
                        fence: Some(fence),
                        places: vec![key("p")],
                        locks: vec![key("l")],
                        once: None,
                        reader: None,
                        changes: vec![],
                        is_success: true,
                        remember: DAY,
                    }),
                    _ => refused += 1,
                }
                most = most.max(holders.len());
            }
        }
    }
    assert!(most > 100 && refused > 20, "{most} at once, {refused} refused");
}

#[tokio::test]
async fn records_change_alike() {
    const NAMES: [&str; 7] = ["a", "a b", "a{b}", "*", "ä", "a\u{10ffff}", "b"];
    let mut pair = Pair::new(0x5555).await;
    let mut last = Version(0);
    for _ in 0..1500 {
        pair.pass_time();
        let name = key(pair.one_of(&NAMES));
        let versions = [pair.store.get(&name).await.unwrap(), pair.twin.get(&name).await.unwrap()];
        let [said, expected] = versions.clone().map(|record| record.map(bare));
        assert_eq!(said, expected, "get {name}");
        let op = if pair.below(10) == 0 { pair.id() } else { OpId::fresh() };
        let (kind, expect) = (pair.below(6), pair.below(6));
        let (number, to) = (pair.one_of(&[-3, 0, 1, 5, 1_000_000_007]), key(pair.one_of(&NAMES)));
        let floor = pair.one_of(&[None, Some(0), Some(-10)]);
        let content =
            if pair.below(3) == 0 { Content::Bytes(b"\0\n\xff".to_vec()) } else { Content::Number(number) };
        // Each store has versions of its own, so each is asked for its own.
        let mutation = |current: &Option<Record>| {
            let expect = match (expect, current) {
                (0, _) => Expect::Absent,
                (1, _) => Expect::Present,
                (2, _) => Expect::Version(Version(u64::MAX)),
                (3, Some(record)) => Expect::Version(record.version),
                _ => Expect::Any,
            };
            let (key, content, to) = (name.clone(), content.clone(), to.clone());
            Mutation::new(
                op,
                match kind {
                    0 | 1 => Change::Put { key, expect, content },
                    2 => Change::Delete { key, expect },
                    3 => Change::Add { key, delta: number, floor },
                    _ => Change::Transfer { from: key, to, amount: number, floor: floor.unwrap_or(0) },
                },
            )
        };
        let said = pair.store.mutate(&mutation(&versions[0])).await.unwrap();
        let expected = pair.twin.mutate(&mutation(&versions[1])).await.unwrap();
        if let Outcome::Applied(applied) = &said
            && !applied.replayed
        {
            for to in applied.changed.iter().filter_map(|changed| changed.to) {
                assert!(to > last, "versions only rise");
                last = to;
            }
        }
        assert_eq!(without_versions(said), without_versions(expected), "{:?}", mutation(&versions[0]));
        let (prefix, after) =
            (pair.one_of(&["", "a", "a{", "ä", "zz"]), pair.one_of(&["a", "a{b}", "ä", "b"]));
        let (after, limit) = (Some(key(after)).filter(|_| pair.below(2) == 0), pair.below(5));
        let said = pair.store.list(prefix, after.as_ref(), limit).await.unwrap();
        let expected = pair.twin.list(prefix, after.as_ref(), limit).await.unwrap();
        let bare = |list: Vec<(Key, Record)>| {
            list.into_iter().map(|(key, record)| (key, bare(record))).collect::<Vec<_>>()
        };
        assert_eq!(bare(said), bare(expected), "list {prefix:?} after {after:?}");
    }
}

fn bare(record: Record) -> Content {
    record.content
}

/// An outcome in which every version is the same, because each store counts for itself.
fn without_versions(outcome: Outcome) -> Outcome {
    let same = |version: Option<Version>| version.map(|_| Version(0));
    match outcome {
        Outcome::Applied(mut applied) => {
            for changed in &mut applied.changed {
                (changed.from, changed.to) = (same(changed.from), same(changed.to));
            }
            Outcome::Applied(applied)
        }
        Outcome::Refused(Refusal::Conflict { key, current }) => {
            let current = current.map(|record| Record { version: Version(0), ..record });
            Outcome::Refused(Refusal::Conflict { key, current })
        }
        refused => refused,
    }
}
