//! A store and its twin in memory decide alike on calls: thousands of random ones, with few keys and the same clock.

use std::time::Duration;

use interlock_sync::store::{
    Admission, Admitted, Charge, Ending, Fence, Fingerprint, Key, OnceKey, OpId, Places, Quota, Settlement,
    Store, Wish,
};

const SECOND: Duration = Duration::from_secs(1);

/// Numbers that look like chance, and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn ttl(&mut self) -> Duration {
        Duration::from_micros(self.one_of(&[0, 1, 500_000, 1_000_000, 1_000_001, 10_000_000]))
    }

    fn some(&mut self, of: &[&str], chance: usize) -> Vec<Key> {
        of.iter().filter(|_| self.below(chance) == 0).map(|name| key(name)).collect()
    }

    fn admission(&mut self, call: OpId) -> Admission {
        let quotas = [
            Quota::bucket(3, SECOND).unwrap(),
            Quota::log(4, SECOND * 2).unwrap(),
            Quota::bucket(1, SECOND * 86_400).unwrap().with_burst(200_000.try_into().unwrap()),
        ];
        let charges = self.some(&["r0", "r1", "r2"], 4).into_iter().map(|key| {
            let quota = quotas[usize::from(key.as_str().as_bytes()[1] - b'0')];
            Charge { key, quota }
        });
        let charges = charges.collect();
        let places = self.some(&["p", "q"], 5).into_iter();
        let places =
            places.map(|key| Places { limit: if key.as_str() == "p" { 1 } else { 2 }, key }).collect();
        let locks = self.some(&["a", "b", "c", "d"], 4);
        let locks = locks.into_iter().map(|key| Wish { key, is_shared: self.below(2) == 0 }).collect();
        let once = (self.below(3) == 0).then(|| OnceKey {
            key: key(self.one_of(&["o", "u", "w", "z"])),
            fingerprint: Fingerprint([self.one_of(&[1, 1, 1, 1, 2]); 32]),
            keep: self.one_of(&[SECOND, SECOND * 4]),
        });
        Admission {
            call,
            charges,
            places,
            locks,
            once,
            reader: Some(key(self.one_of(&["ann", "bob"]))).filter(|_| self.below(6) > 0),
            observes: self.some(&["x", "y"], 2),
            requires_fresh: self.some(&["x", "y"], 6),
            ttl: self.ttl(),
            remember: SECOND * 3,
            is_again: self.below(3) == 0,
            patience: self.one_of(&[Duration::ZERO, SECOND / 2, SECOND * 2]),
        }
    }

    fn settlement(&mut self, admission: &Admission, fence: Option<Fence>) -> Settlement {
        let answer = self.one_of(&[&b""[..], b"paid", b"\xff\0\n"]).to_vec();
        let ending = match self.below(4) {
            0 => None,
            1 => Some(Ending::Failed(answer)),
            _ => Some(Ending::Completed(answer)),
        };
        let keep = self.one_of(&[SECOND, SECOND * 4]);
        Settlement {
            call: admission.call,
            fence,
            places: admission.places.iter().map(|places| places.key.clone()).collect(),
            locks: admission.locks.iter().map(|wish| wish.key.clone()).collect(),
            once: admission.once.as_ref().map(|once| (once.key.clone(), ending, keep)),
            reader: admission.reader.clone(),
            changes: self.some(&["x", "y"], 3),
            is_success: self.below(3) > 0,
            remember: SECOND * 3,
        }
    }
}

/// Asks both and compares.
macro_rules! both {
    ($store:ident, $twin:ident, $method:ident($($argument:expr),*)) => {{
        let (said, expected) = ($store.$method($($argument),*).await, $twin.$method($($argument),*).await);
        let (said, expected) = (said.unwrap(), expected.unwrap());
        let asked = stringify!($method);
        assert_eq!(said, expected, "{asked} {:?} at {:?}", ($(&$argument,)*), $twin.now().await.unwrap());
        said
    }};
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

/// Asks both, with time passing for both in between. It only goes forwards: what has run out and was not looked at comes back to life when
/// time goes back, and who looks at what differs.
pub(crate) async fn calls_are_admitted_alike(
    store: &dyn Store,
    twin: &dyn Store,
    rounds: u128,
    mut pass_time: impl FnMut(Duration),
) {
    let mut chance = Chance(0x4321);
    let mut calls: Vec<(Admission, Option<Fence>)> = vec![];
    let mut seen = [0_u32; 9];
    for nth in 0..rounds {
        pass_time(Duration::from_micros(chance.one_of(&[0, 0, 0, 1, 700, 20_000, 100_000, 400_000])));
        let at = (!calls.is_empty()).then(|| chance.below(calls.len()));
        match (chance.below(10), at) {
            (0..=3, _) | (_, None) => {
                let admission = chance.admission(OpId(nth));
                let answer = both!(store, twin, admit(&admission));
                seen[which(&answer)] += 1;
                let fence = fence(&answer);
                calls.push((admission, fence));
            }
            (4..=6, Some(at)) => {
                let admission = calls[at].0.clone();
                let answer = both!(store, twin, admit(&admission));
                seen[which(&answer)] += 1;
                calls[at].1 = fence(&answer).or(calls[at].1);
            }
            (7, Some(at)) => {
                let (admission, fence) = calls[at].clone();
                let (settlement, ttl) = (chance.settlement(&admission, fence), chance.ttl());
                seen[7] += u32::from(both!(store, twin, prolong(&settlement, ttl)));
            }
            (_, Some(at)) => {
                let (admission, fence) = calls.swap_remove(at);
                let fence = fence.filter(|_| chance.below(6) > 0);
                let settlement = chance.settlement(&admission, fence);
                seen[8] += u32::from(both!(store, twin, settle(&settlement)));
                if chance.below(4) == 0 {
                    calls.push((admission, fence));
                }
            }
        }
        if calls.len() > 12 {
            calls.remove(0);
        }
    }
    assert!(seen.iter().all(|times| *times > 20), "every kind of answer was given: {seen:?}");
}

fn fence(answer: &Admitted) -> Option<Fence> {
    match answer {
        Admitted::Granted { fence } => Some(*fence),
        _ => None,
    }
}

fn which(answer: &Admitted) -> usize {
    match answer {
        Admitted::Granted { .. } => 0,
        Admitted::TooOften { .. } => 1,
        Admitted::Waits { .. } => 2,
        Admitted::Ended(_) => 3,
        Admitted::Mismatch => 4,
        Admitted::InDoubt => 5,
        Admitted::Stale { .. } => 6,
    }
}
