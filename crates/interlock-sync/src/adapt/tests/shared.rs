//! Processes that share a store: each warden here stands for one of them.

use super::*;
use crate::store::Store;

/// Two processes with the same policy on the same store.
fn two(policy: impl Fn() -> PolicyBuilder) -> [Warden; 2] {
    let store: Arc<dyn Store> =
        Arc::new(MemoryStore::new(Arc::new(TokioClock::new()), Duration::from_secs(3600)));
    [(), ()].map(|()| Warden::new(policy().on(Arc::clone(&store)).build().unwrap()))
}

#[tokio::test(start_paused = true)]
async fn a_lock_on_a_store_keeps_the_calls_of_other_processes_out() {
    let [one, other] = two(|| Policy::builder().rule(Rule::of("*").lock("purse:{args.of}")));
    let work = Work::new();
    let call = |warden: &Warden, of: &str| {
        tokio::spawn(run(arrive(warden, "a", "pay", json!({ "of": of }), None), &work))
    };
    let first = call(&one, "alice");
    settle().await;
    let second = call(&other, "alice");
    let beside = call(&other, "bob");
    settle().await;
    assert_eq!(work.counts(), (2, 0), "one of alice, one of bob");
    work.let_end(3);
    for call in [first, second, beside] {
        assert!(matches!(call.await.unwrap(), CallOutcome::Answered(_)));
    }
    assert_eq!(work.counts(), (3, 3));
}

#[tokio::test(start_paused = true)]
async fn shared_locks_on_a_store_run_together_and_never_with_the_one_that_holds_it_alone() {
    let [one, other] = two(|| {
        Policy::builder()
            .rule(Rule::of("read").lock_shared("ledger"))
            .rule(Rule::of("write").lock("ledger").lock_shared("ledger"))
    });
    let work = Work::new();
    let call =
        |warden: &Warden, tool: &str| tokio::spawn(run(arrive(warden, "a", tool, json!({}), None), &work));
    let mut calls = vec![call(&one, "read"), call(&other, "read")];
    settle().await;
    assert_eq!(work.counts(), (2, 0));
    calls.push(call(&other, "write"));
    settle().await;
    calls.push(call(&one, "read"));
    settle().await;
    assert_eq!(work.counts(), (2, 0), "who came after the one that waits waits, too");
    work.let_end(4);
    for call in calls {
        assert!(matches!(call.await.unwrap(), CallOutcome::Answered(_)));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_crashed_process_held_is_free_when_the_policy_says_so() {
    for hold in [2 * SECOND, 50 * SECOND] {
        let policy = || Policy::builder().rule(Rule::of("*").lock("x").in_flight(1)).wait(100 * SECOND);
        let [crashes, lives] = two(|| policy().hold(hold));
        let work = Work::new();
        // Its tasks end with its runtime, as those of a process do that is killed.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
                let held = runtime.block_on(arrive(&crashes, "a", "t", json!({}), None).hold()).unwrap();
                runtime.shutdown_background();
                drop(held);
            });
        });
        let begun = tokio::time::Instant::now();
        let next = tokio::spawn(run(arrive(&lives, "a", "t", json!({}), None), &work));
        work.let_end(1);
        assert!(matches!(next.await.unwrap(), CallOutcome::Answered(_)));
        // The clock is that of the test, so this is no measurement.
        let waited = begun.elapsed();
        assert!(waited >= hold - SECOND && waited <= hold + 4 * SECOND, "{waited:?} for {hold:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lock_on_a_store_is_not_waited_for_for_ever_and_is_kept_as_long_as_the_call_runs() {
    let [one, other] = two(|| Policy::builder().rule(Rule::of("*").lock("x")).hold(SECOND).wait(30 * SECOND));
    let work = Work::new();
    let first = tokio::spawn(run(arrive(&one, "a", "t", json!({}), None), &work));
    settle().await;
    let second = run(arrive(&other, "a", "t", json!({}), None), &work).await;
    assert_eq!(reason(second), RefusalReason::Locked { keys: vec!["x".into()] });
    work.let_end(1);
    assert!(matches!(first.await.unwrap(), CallOutcome::Answered(_)));
}
