//! A store that fails and a caller that vanishes, at every step: never a second effect, and doubt is said where there is doubt.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{task::yield_now, time::sleep};

use super::{
    tests_shared::{once, order},
    *,
};
use crate::{
    store::{Ending, Fingerprint},
    testing::{Fault, Op, poll_at_most, settle},
};

const TTL: Duration = Duration::from_secs(3);
const REQUEST: Fingerprint = Fingerprint([1; 32]);

/// Counts how often an effect began.
#[derive(Clone, Default)]
struct Effect(Arc<AtomicU32>);

impl Effect {
    async fn run(&self) -> Result<Vec<u8>, Failure> {
        self.0.fetch_add(1, Ordering::SeqCst);
        yield_now().await;
        yield_now().await;
        Ok(b"paid".to_vec())
    }

    fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

fn paid() -> Ending {
    Ending::Completed(b"paid".to_vec())
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_vanishes_at_any_await_never_causes_a_second_effect() {
    let (mut began, mut seen) = (Vec::new(), Vec::new());
    for polls in 0..14 {
        let ((once, _), effect) = (once(), Effect::default());
        drop(poll_at_most(once.run(&order(), REQUEST, async |_| effect.run().await), polls).await);
        settle().await;
        began.push(effect.count());
        let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
        seen.push(match &ran {
            Ran::Done { .. } => "ran",
            Ran::InDoubt { .. } => "in doubt",
            Ran::Replayed(ending) if *ending == paid() => "replayed",
            other => panic!("{other:?} after {polls} polls"),
        });
        assert!(effect.count() <= 1, "after {polls} polls");
    }
    seen.dedup();
    assert_eq!(seen, ["ran", "in doubt", "replayed"], "the effect began in {began:?}");
}

#[tokio::test(start_paused = true)]
async fn a_panic_leaves_doubt() {
    let (once, _) = once();
    let panicked = tokio::spawn({
        let once = once.clone();
        async move { once.run(&order(), REQUEST, async |_| panic!("half way")).await.map(drop) }
    });
    assert!(panicked.await.unwrap_err().is_panic());
    let effect = Effect::default();
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    assert!(matches!(ran, Ran::InDoubt { .. }) && effect.count() == 0);
}

#[tokio::test(start_paused = true)]
async fn a_step_whose_answer_is_lost_or_that_is_not_sent_is_sent_again() {
    for op in [Op::Begin, Op::Dispatch, Op::Finish] {
        for fault in [Fault::LostAnswer, Fault::Unavailable] {
            let ((once, store), effect) = (once(), Effect::default());
            store.plan(op, fault);
            let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
            assert!(matches!(ran, Ran::Done { kept: Kept::Yes, .. }), "{op:?} {fault:?}");
            let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
            assert!(matches!(ran, Ran::Replayed(ending) if ending == paid()), "{op:?} {fault:?}");
            assert_eq!(effect.count(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_store_the_effect_does_not_begin() {
    for op in [Op::Begin, Op::Dispatch] {
        for fault in [Fault::LostAnswer, Fault::Unavailable] {
            let ((once, store), effect) = (once(), Effect::default());
            (0..3).for_each(|_| store.plan(op, fault));
            assert!(once.run(&order(), REQUEST, async |_| effect.run().await).await.is_err());
            assert_eq!(effect.count(), 0);
            let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
            let is_in_doubt = matches!(ran, Ran::InDoubt { .. });
            assert_eq!(is_in_doubt, (op, fault) == (Op::Dispatch, Fault::LostAnswer), "{op:?} {fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_ending_that_cannot_be_stored_is_told_and_said_to_be_unstored() {
    let ((once, store), effect) = (once(), Effect::default());
    (0..3).for_each(|_| store.plan(Op::Finish, Fault::Unavailable));
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    assert!(matches!(ran, Ran::Done { ending, kept: Kept::No { error: Some(_) } } if ending == paid()));
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    let Ran::InDoubt { fence } = ran else { panic!("nobody knows") };
    assert!(once.settle(&order(), fence, &paid()).await.unwrap());
    assert_eq!(effect.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_ending_that_somebody_settled_otherwise_is_told_and_said_to_be_unstored() {
    let ((once, _), order) = (once(), order());
    let refused = Ending::Failed(b"refused".to_vec());
    let ran = once.run(&order, REQUEST, async |effect| {
        assert!(once.settle(&order, effect.fence(), &refused).await.unwrap());
        Ok(b"paid".to_vec())
    });
    assert!(matches!(ran.await.unwrap(), Ran::Done { kept: Kept::No { error: None }, .. }));
}

#[tokio::test(start_paused = true)]
async fn a_permission_to_start_that_came_too_late_is_none() {
    let ((once, store), effect) = (once(), Effect::default());
    store.plan(Op::Dispatch, Fault::LateAnswer(TTL * 2));
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    assert!(matches!(ran, Ran::InDoubt { .. }) && effect.count() == 0);
}

#[tokio::test(start_paused = true)]
async fn an_effect_that_was_given_up_can_still_store_its_ending() {
    let (once, store) = once();
    let first = tokio::spawn({
        let once = once.clone();
        async move {
            let effect = async |_| {
                sleep(TTL * 3).await;
                Ok(b"paid".to_vec())
            };
            once.run(&order(), REQUEST, effect).await.unwrap()
        }
    });
    settle().await;
    (0..9).for_each(|_| store.plan(Op::Dispatch, Fault::Hang));
    sleep(TTL * 2).await;
    let effect = Effect::default();
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    assert!(matches!(ran, Ran::InDoubt { .. }), "{ran:?}");
    assert!(matches!(first.await.unwrap(), Ran::Done { kept: Kept::Yes, .. }));
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    assert!(matches!(ran, Ran::Replayed(ending) if ending == paid()) && effect.count() == 0);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_for_less_than_the_time_causes_no_doubt() {
    let (once, store) = once();
    let first = tokio::spawn({
        let once = once.clone();
        async move {
            let effect = async |_| {
                sleep(TTL * 5).await;
                Ok(b"paid".to_vec())
            };
            once.run(&order(), REQUEST, effect).await.unwrap().ending()
        }
    });
    settle().await;
    for fault in [Fault::Unavailable, Fault::LostAnswer, Fault::Hang, Fault::Unavailable] {
        store.plan(Op::Dispatch, fault);
    }
    let effect = Effect::default();
    let ran = once.run(&order(), REQUEST, async |_| effect.run().await).await.unwrap();
    assert!(matches!(ran, Ran::Replayed(ending) if ending == paid()) && effect.count() == 0);
    assert_eq!(first.await.unwrap(), Some(paid()));
}
