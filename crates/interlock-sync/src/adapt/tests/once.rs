//! Calls that say which call they are.

use super::*;
use crate::{
    idempotency::Resolution,
    testing::{Fault, FaultyStore, Op},
};

fn rule() -> Rule {
    Rule::of("*").idempotency(KeySource::Meta).in_flight(1).lock("x")
}

#[tokio::test(start_paused = true)]
async fn of_fifty_duplicates_one_runs_and_all_have_its_answer() {
    for warden in both(&[rule()]) {
        let work = Work::new();
        let call = || tokio::spawn(run(arrive(&warden, "a", "t", json!({"n": 1}), Some("k")), &work));
        let calls: Vec<_> = (0..50).map(|_| call()).collect();
        settle().await;
        assert_eq!(work.counts(), (1, 0), "those who wait for the answer take no place");
        work.let_end(1);
        let mut replayed = 0;
        for call in calls {
            match call.await.unwrap() {
                CallOutcome::Answered(said) => assert_eq!(said, Said("answer 0".into())),
                CallOutcome::Replayed(said) => {
                    assert_eq!(said, Said("answer 0".into()));
                    replayed += 1;
                }
                CallOutcome::Refused(refusal) => panic!("{refusal}"),
            }
        }
        assert_eq!((replayed, work.counts()), (49, (1, 1)));
        settle().await;
        assert!(warden.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_belongs_to_its_caller_its_tool_and_its_arguments() {
    for warden in both(&[rule()]) {
        let work = Work::new();
        work.let_end(10);
        let call = |caller: &str, tool: &str, arguments: Value, key: Option<&str>| {
            run(arrive(&warden, caller, tool, arguments, key), &work)
        };
        assert!(matches!(call("a", "t", json!({"n": 1}), Some("k")).await, CallOutcome::Answered(_)));
        assert!(matches!(call("b", "t", json!({"n": 1}), Some("k")).await, CallOutcome::Answered(_)));
        assert!(matches!(call("a", "u", json!({"n": 1}), Some("k")).await, CallOutcome::Answered(_)));
        assert!(matches!(call("a", "t", json!({"n": 1}), None).await, CallOutcome::Answered(_)));
        assert_eq!(reason(call("a", "t", json!({"n": 2}), Some("k")).await), RefusalReason::Mismatch);
        assert_eq!(reason(call("a", "t", json!({"n": 2}), Some("")).await), RefusalReason::Key);
        assert!(matches!(call("a", "t", json!({"n": 1}), Some("k")).await, CallOutcome::Replayed(_)));
        assert_eq!(work.counts(), (4, 4));
    }
}

#[tokio::test(start_paused = true)]
async fn an_argument_can_be_the_key() {
    let source = KeySource::Argument("order.id".into());
    let (warden, work) = (warden([Rule::of("*").idempotency(source)]), Work::new());
    work.let_end(10);
    let call = |arguments: Value| run(arrive(&warden, "a", "t", arguments, None), &work);
    assert!(matches!(call(json!({"order": {"id": 7}})).await, CallOutcome::Answered(_)));
    assert!(matches!(call(json!({"order": {"id": 7}})).await, CallOutcome::Replayed(_)));
    assert!(matches!(call(json!({"order": {"id": 8}})).await, CallOutcome::Answered(_)));
    assert!(matches!(call(json!({})).await, CallOutcome::Answered(_)));
    assert_eq!(reason(call(json!({"order": {"id": []}})).await), RefusalReason::Key);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_key_that_is_required_is_refused() {
    let rules = [rule().key_required(), Rule::of("by_*").idempotency(KeySource::Argument("id".into()))];
    for warden in both(&rules) {
        let work = Work::new();
        work.let_end(10);
        let call = |tool: &str, arguments: Value, key: Option<&str>| {
            run(arrive(&warden, "a", tool, arguments, key), &work)
        };
        assert_eq!(reason(call("t", json!({}), None).await), RefusalReason::KeyMissing);
        assert_eq!(reason(call("by_id", json!({}), Some("k")).await), RefusalReason::KeyMissing);
        assert_eq!(work.counts(), (0, 0));
        assert!(matches!(call("t", json!({}), Some("k")).await, CallOutcome::Answered(_)));
        assert!(matches!(call("by_id", json!({"id": 7}), None).await, CallOutcome::Answered(_)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_before_its_turn_leaves_its_key_to_the_next() {
    for warden in both(&[rule()]) {
        let (before, work) = (Work::new(), Work::new());
        let in_the_way = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), None), &before));
        settle().await;
        let dropped = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), Some("k")), &work));
        settle().await;
        let duplicate = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), Some("k")), &work));
        settle().await;
        dropped.abort();
        settle().await;
        before.let_end(1);
        work.let_end(1);
        assert!(matches!(in_the_way.await.unwrap(), CallOutcome::Answered(_)));
        assert!(matches!(duplicate.await.unwrap(), CallOutcome::Answered(_)), "nothing was in doubt");
        assert_eq!(work.counts(), (1, 1));
        settle().await;
        assert!(warden.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_leaves_its_key_free() {
    let policy = || Policy::builder().rule(rule()).wait(SECOND);
    let store = MemoryStore::new(Arc::new(TokioClock::new()), Duration::from_secs(3600));
    for policy in [policy(), policy().on(Arc::new(store))] {
        let (warden, work) = (Warden::new(policy.build().unwrap()), Work::new());
        let first = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), None), &work));
        settle().await;
        let refused = run(arrive(&warden, "a", "t", json!({}), Some("k")), &work).await;
        assert!(matches!(reason(refused), RefusalReason::InFlight { .. }));
        work.let_end(2);
        assert!(matches!(first.await.unwrap(), CallOutcome::Answered(_)));
        let again = run(arrive(&warden, "a", "t", json!({}), Some("k")), &work).await;
        assert!(matches!(again, CallOutcome::Answered(_)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_call_that_was_dropped_while_it_ran_is_told_to_the_next() {
    for warden in both(&[rule()]) {
        let work = Work::new();
        let first = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), Some("k")), &work));
        settle().await;
        first.abort();
        let second = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), Some("k")), &work));
        settle().await;
        work.let_end(1);
        assert!(matches!(second.await.unwrap(), CallOutcome::Replayed(_)));
        assert_eq!(work.counts(), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_call_whose_time_was_up_can_be_had_by_its_key() {
    for warden in both(&[rule().timeout(SECOND)]) {
        let work = Work::new();
        let call = || run(arrive(&warden, "a", "t", json!({}), Some("k")), &work);
        assert_eq!(reason(call().await), RefusalReason::Timeout { after: SECOND, has_key: true });
        work.let_end(1);
        assert!(matches!(call().await, CallOutcome::Replayed(_)));
        assert_eq!(work.counts(), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_leaves_its_key_in_doubt() {
    for warden in both(&[rule()]) {
        let arrived = arrive(&warden, "a", "t", json!({}), Some("k"));
        let call = arrived.run::<Said, _, _>(std::future::pending(), |_| async { panic!("on purpose") });
        assert!(tokio::spawn(call).await.unwrap_err().is_panic());
        let work = Work::new();
        // A store knows that the attempt vanished only when its time is up.
        let mut next = reason(run(arrive(&warden, "a", "t", json!({}), Some("k")), &work).await);
        if matches!(next, RefusalReason::Running { .. }) {
            next = reason(run(arrive(&warden, "a", "t", json!({}), Some("k")), &work).await);
        }
        assert_eq!((next, work.counts()), (RefusalReason::InDoubt, (0, 0)));
        assert!(warden.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_asks_for_more_is_not_over() {
    for warden in both(&[rule()]) {
        for said in ["more", "more", "done"] {
            let arrived = arrive(&warden, "a", "t", json!({}), Some("k"));
            let said = Said(said.into());
            let answer = said.clone();
            let outcome = arrived.run(std::future::pending(), |_| async { answer }).await;
            assert!(matches!(outcome, CallOutcome::Answered(told) if told == said));
        }
        let arrived = arrive(&warden, "a", "t", json!({}), Some("k"));
        let outcome = arrived.run(std::future::pending(), |_| async { Said("again".into()) }).await;
        assert!(matches!(outcome, CallOutcome::Replayed(told) if told == Said("done".into())));
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_refuses_and_nothing_runs() {
    for (op, fault) in [
        (Op::Take, Fault::Unavailable),
        (Op::Take, Fault::LostAnswer),
        (Op::Take, Fault::Hang),
        (Op::Begin, Fault::Unavailable),
        (Op::AcquirePermit, Fault::Unavailable),
    ] {
        let store = FaultyStore::new();
        let rule = rule().rate(Quota::log(9, SECOND).unwrap());
        let on: Arc<dyn crate::store::Store> = Arc::clone(&store) as _;
        let warden = Warden::new(Policy::builder().rule(rule).on(on).build().unwrap());
        // More often than anything is tried again.
        (0..50).for_each(|_| store.plan(op, fault));
        let (work, call) = (Work::new(), arrive(&warden, "a", "t", json!({}), Some("k")));
        let refused = reason(run(call, &work).await);
        assert!(
            matches!(refused, RefusalReason::Store { is_retryable: true, .. }),
            "{op:?} {fault:?} {refused:?}"
        );
        assert_eq!(work.counts(), (0, 0));
        settle().await;
        assert!(warden.is_idle());
    }
}

/// In this process and on a store alike.
#[tokio::test(start_paused = true)]
async fn what_is_in_doubt_is_listed_and_stays_so_until_somebody_settles_it() {
    for warden in both(&[Rule::of("*").idempotency(KeySource::Meta)]) {
        assert_eq!(warden.in_doubt(10).await.unwrap(), []);
        let long = "k".repeat(600);
        let keys = ["a", "b", "c", long.as_str()];
        for key in keys {
            let call = arrive(&warden, "alice", "pay", json!({}), Some(key));
            let panicked =
                tokio::spawn(call.run(std::future::pending(), async |_| -> Said { panic!("half way") }));
            assert!(panicked.await.unwrap_err().is_panic());
        }
        settle().await;
        let doubts = warden.in_doubt(10).await.unwrap();
        let names: Vec<&str> = doubts.iter().map(|doubt| doubt.key.as_str()).collect();
        let mut expected = ["once:mcp:pay:alice:a", "once:mcp:pay:alice:b", "once:mcp:pay:alice:c"].to_vec();
        assert_eq!(names.iter().filter(|name| name.starts_with("once:#")).count(), 1, "{names:?}");
        expected.retain(|name| !names.contains(name));
        assert!(expected.is_empty() && names.len() == 4, "{names:?}");
        assert_eq!(warden.in_doubt(2).await.unwrap().len(), 2);

        let of = |key: &str| {
            let name = format!("once:mcp:pay:alice:{key}");
            doubts.iter().find(|doubt| doubt.key.as_str() == name).unwrap()
        };
        assert!(warden.settle(of("a"), &Resolution::Happened(b"paid".to_vec())).await.unwrap());
        assert!(warden.settle(of("b"), &Resolution::NeverHappened).await.unwrap());
        assert!(
            !warden.settle(of("a"), &Resolution::NeverHappened).await.unwrap(),
            "it was settled otherwise"
        );
        let work = Work::new();
        work.let_end(9);
        let again = |key: &str| run(arrive(&warden, "alice", "pay", json!({}), Some(key)), &work);
        assert!(matches!(again("a").await, CallOutcome::Replayed(Said(said)) if said == "paid"));
        assert!(matches!(again("b").await, CallOutcome::Answered(_)), "it never happened, and happens now");
        assert_eq!(reason(again("c").await), RefusalReason::InDoubt);
        assert_eq!(work.counts(), (1, 1));
        assert_eq!(warden.in_doubt(10).await.unwrap().len(), 2);
    }
}
