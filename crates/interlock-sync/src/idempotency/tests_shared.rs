//! Once per key: duplicates, other requests, failures, and the provider that is asked twice.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;

use super::*;
use crate::{
    retry::Retry,
    store::{Ending, Fingerprint, Key},
    testing::{Fault, FaultyStore, Op, settle},
};

const TTL: Duration = Duration::from_secs(3);
const REQUEST: Fingerprint = Fingerprint([1; 32]);

pub(super) fn once() -> (Idempotency, Arc<FaultyStore>) {
    let store = FaultyStore::new();
    let once = Idempotency::new(Arc::clone(&store) as _).ttl(TTL).wait(TTL * 10);
    (once.retry(Retry::times(3).first(Duration::from_millis(10))), store)
}

pub(super) fn order() -> Key {
    Key::new("order-1").unwrap()
}

fn paid() -> Ending {
    Ending::Completed(b"paid".to_vec())
}

/// An effect that must not run.
async fn must_not_run(_: EffectContext) -> Result<Vec<u8>, Failure> {
    panic!("it ran again")
}

#[tokio::test(start_paused = true)]
async fn of_a_hundred_duplicates_one_runs_and_all_are_told_its_answer() {
    let (once, _) = once();
    let effects = Arc::new(AtomicU32::new(0));
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let (once, effects) = (once.clone(), Arc::clone(&effects));
            tokio::spawn(async move {
                let effect = async |_| {
                    sleep(TTL * 2).await;
                    Ok(effects.fetch_add(1, Ordering::SeqCst).to_string().into_bytes())
                };
                let ran = once.run(&order(), REQUEST, effect).await.unwrap();
                (matches!(ran, Ran::Done { kept: Kept::Yes, .. }), ran.ending())
            })
        })
        .collect();
    let mut done = 0;
    for call in calls {
        let (is_done, ending) = call.await.unwrap();
        done += u32::from(is_done);
        assert_eq!(ending, Some(Ending::Completed(b"0".to_vec())));
    }
    assert_eq!((done, effects.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn another_request_under_the_same_key_is_refused_while_it_runs_and_afterwards() {
    let (once, _) = once();
    let other = Fingerprint([2; 32]);
    let running = tokio::spawn({
        let once = once.clone();
        async move {
            let effect = async |_| {
                sleep(TTL).await;
                Ok(b"paid".to_vec())
            };
            once.run(&order(), REQUEST, effect).await.unwrap().ending()
        }
    });
    settle().await;
    assert!(matches!(once.run(&order(), other, must_not_run).await.unwrap(), Ran::Mismatch));
    assert_eq!(running.await.unwrap(), Some(paid()));
    assert!(matches!(once.run(&order(), other, must_not_run).await.unwrap(), Ran::Mismatch));
}

#[tokio::test(start_paused = true)]
async fn a_long_effect_is_kept_alive_and_a_duplicate_waits_only_so_long() {
    let (once, store) = once();
    let impatient = once.clone().wait(TTL);
    let effect = async |_| {
        sleep(TTL * 20).await;
        Ok(b"paid".to_vec())
    };
    let first = tokio::spawn(async move { once.run(&order(), REQUEST, effect).await.unwrap().ending() });
    settle().await;
    let began = tokio::time::Instant::now();
    let ran = impatient.run(&order(), REQUEST, must_not_run).await.unwrap();
    assert!(matches!(ran, Ran::Running { retry_after: Some(_) }) && began.elapsed() >= TTL, "{ran:?}");
    assert_eq!(first.await.unwrap(), Some(paid()));
    assert!(
        (58..=60).contains(&(store.count(Op::Dispatch) - 1)),
        "{} signs of life",
        store.count(Op::Dispatch) - 1
    );
    let ran = impatient.run(&order(), REQUEST, must_not_run).await.unwrap();
    assert!(matches!(ran, Ran::Replayed(ending) if ending == paid()));
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_lost_its_reservation_does_not_start_and_is_told_what_the_other_did() {
    let (once, store) = once();
    store.plan(Op::Begin, Fault::LateAnswer(TTL * 2));
    let slow = tokio::spawn({
        let once = once.clone();
        async move { once.run(&order(), REQUEST, must_not_run).await.unwrap() }
    });
    settle().await;
    let effect = async |_| Ok(b"paid".to_vec());
    assert!(matches!(once.run(&order(), REQUEST, effect).await.unwrap(), Ran::Done { .. }));
    assert!(matches!(slow.await.unwrap(), Ran::Replayed(ending) if ending == paid()));
}

#[tokio::test(start_paused = true)]
async fn each_kind_of_failure_does_what_it_says() {
    let (once, _) = once();
    let key = |name: &str| Key::new(name).unwrap();
    let fail = |name: &'static str, failure: Failure| {
        let once = once.clone();
        async move { once.run(&key(name), REQUEST, async |_| Err(failure)).await.unwrap() }
    };
    let failed = Ending::Failed(b"no".to_vec());

    let ran = fail("final", Failure::Final(b"no".to_vec())).await;
    assert!(matches!(ran, Ran::Done { ending, kept: Kept::Yes } if ending == failed));
    let ran = once.run(&key("final"), REQUEST, must_not_run).await.unwrap();
    assert!(matches!(ran, Ran::Replayed(ending) if ending == failed));

    let ran = fail("again", Failure::Retryable(b"no".to_vec())).await;
    assert!(matches!(ran, Ran::Done { ending, kept: Kept::Yes } if ending == failed));
    sleep(Duration::from_millis(2)).await;
    let ran = once.run(&key("again"), REQUEST, async |_| Ok(b"paid".to_vec())).await.unwrap();
    assert!(matches!(ran, Ran::Done { ending, .. } if ending == paid()));

    let Ran::InDoubt { fence } = fail("unknown", Failure::Unknown).await else { panic!("nobody knows") };
    let ran = once.run(&key("unknown"), REQUEST, must_not_run).await.unwrap();
    assert!(
        matches!(ran, Ran::InDoubt { fence: same } if same == fence),
        "a duplicate waits, and then is told"
    );
    assert!(once.settle(&key("unknown"), fence, &paid()).await.unwrap());
    assert!(once.settle(&key("unknown"), fence, &paid()).await.unwrap(), "once more the same way");
    assert!(!once.settle(&key("unknown"), fence, &failed).await.unwrap(), "but not otherwise");
    let ran = once.run(&key("unknown"), REQUEST, must_not_run).await.unwrap();
    assert!(matches!(ran, Ran::Replayed(ending) if ending == paid()));
}

/// A provider that charges once per key it is shown.
#[derive(Default)]
struct Provider(Mutex<HashSet<String>>);

impl Provider {
    fn charge(&self, key: &str) {
        self.0.lock().unwrap().insert(key.to_owned());
    }

    fn charges(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// An order that is rolled back to pending after the charge went through, and paid again under a new key, is charged twice.
#[tokio::test(start_paused = true)]
async fn a_charge_that_is_sent_again_is_the_same_to_the_provider() {
    let naive = Provider::default();
    (0..2).for_each(|attempt| naive.charge(&format!("attempt-{attempt}")));
    assert_eq!(naive.charges(), 2, "the mistake");

    let (once, provider) = (once().0.purpose("charge"), Provider::default());
    let charge_and_lose_the_answer = async |effect: EffectContext| {
        provider.charge(effect.provider_key());
        Err(Failure::Unknown)
    };
    let ran = once.run(&order(), REQUEST, charge_and_lose_the_answer).await.unwrap();
    let Ran::InDoubt { fence } = ran else { panic!("nobody knows") };
    provider.charge(&once.provider_key(&order()));
    assert!(once.settle(&order(), fence, &paid()).await.unwrap());
    assert_eq!(provider.charges(), 1);
    let other = Idempotency::new(FaultyStore::new()).purpose("refund");
    assert_ne!(once.provider_key(&order()), other.provider_key(&order()));
}

#[tokio::test(start_paused = true)]
async fn a_key_is_free_again_when_its_ending_was_kept_long_enough() {
    let once = once().0.keep(TTL * 2);
    for _ in 0..2 {
        let ran = once.run(&order(), REQUEST, async |_| Ok(vec![])).await.unwrap();
        assert!(matches!(ran, Ran::Done { .. }));
        sleep(TTL).await;
        assert!(matches!(once.run(&order(), REQUEST, must_not_run).await.unwrap(), Ran::Replayed(_)));
        sleep(TTL).await;
    }
}
