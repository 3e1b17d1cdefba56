//! Gate, rate, places in flight and locks.

use super::*;

tokio::task_local! {
    static REQUEST: u32;
}

#[tokio::test(start_paused = true)]
async fn calls_with_one_key_run_one_after_the_other_and_others_beside_them() {
    let (warden, work) = (warden([Rule::of("pay").lock("purse:{args.of}")]), Work::new());
    let calls = ["alice", "alice", "bob"]
        .map(|of| tokio::spawn(run(arrive(&warden, "agent", "pay", json!({ "of": of }), None), &work)));
    settle().await;
    assert_eq!(work.counts(), (2, 0), "one for each purse");
    work.let_end(2);
    settle().await;
    assert_eq!(work.counts(), (3, 2));
    work.let_end(1);
    for call in calls {
        assert!(matches!(call.await.unwrap(), CallOutcome::Answered(_)));
    }
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn shared_locks_run_together_and_never_with_the_one_that_holds_it_alone() {
    let rules = [Rule::of("*").lock("graph"), Rule::of("read_*").unlocked().lock_shared("graph")];
    let (warden, reads, write) = (warden(rules), Work::new(), Work::new());
    let first = tokio::spawn(run(arrive(&warden, "a", "read_graph", json!({}), None), &reads));
    let second = tokio::spawn(run(arrive(&warden, "b", "read_graph", json!({}), None), &reads));
    settle().await;
    let third = tokio::spawn(run(arrive(&warden, "c", "delete", json!({}), None), &write));
    settle().await;
    assert_eq!((reads.counts(), write.counts()), ((2, 0), (0, 0)));
    reads.let_end(2);
    settle().await;
    assert_eq!(write.counts(), (1, 0));
    write.let_end(1);
    for call in [first, second, third] {
        assert!(matches!(call.await.unwrap(), CallOutcome::Answered(_)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_runs_keeps_its_lock_until_it_has_ended() {
    let (warden, work) = (warden([Rule::of("*").lock("x").in_flight(1)]), Work::new());
    let first = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), None), &work));
    settle().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let second = tokio::spawn(run(arrive(&warden, "b", "t", json!({}), None), &work));
    settle().await;
    assert_eq!((work.counts(), warden.gate().inside()), ((1, 0), 2), "the dropped one is still at it");
    work.let_end(1);
    settle().await;
    assert_eq!(work.counts(), (2, 1), "it ended by itself, and the other began");
    work.let_end(1);
    assert!(matches!(second.await.unwrap(), CallOutcome::Answered(_)));
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_or_cancelled_while_it_waits_never_starts() {
    for is_dropped in [true, false] {
        let (warden, work) = (warden([Rule::of("*").lock("x").in_flight(1)]), Work::new());
        let first = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), None), &work));
        settle().await;
        let (cancel, cancelled) = tokio::sync::oneshot::channel::<()>();
        let waits = arrive(&warden, "a", "t", json!({}), None)
            .run(async { drop(cancelled.await) }, |_| async { panic!("nobody wants it any more") });
        let waits = tokio::spawn(async { reason::<Said>(waits.await) });
        settle().await;
        if is_dropped {
            waits.abort();
            assert!(waits.await.unwrap_err().is_cancelled());
        } else {
            drop(cancel);
            assert_eq!(waits.await.unwrap(), RefusalReason::GivenUp);
        }
        settle().await;
        assert_eq!(warden.gate().inside(), 1, "only the first is left, and nobody waits behind it");
        work.let_end(1);
        assert!(matches!(first.await.unwrap(), CallOutcome::Answered(_)));
        assert!(warden.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_gives_everything_back() {
    let warden = warden([Rule::of("*").lock("x").in_flight(1)]);
    let arrived = arrive(&warden, "a", "t", json!({}), None);
    let call = arrived.run::<Said, _, _>(std::future::pending(), |_| async {
        tokio::task::yield_now().await;
        panic!("on purpose")
    });
    assert!(tokio::spawn(call).await.unwrap_err().is_panic());
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn what_belongs_to_the_task_of_the_request_is_there_for_the_call() {
    let warden = warden([Rule::of("*").lock("x").timeout(SECOND)]);
    let arrived = arrive(&warden, "a", "t", json!({}), None);
    let call = arrived.run(std::future::pending(), |_| async {
        tokio::task::yield_now().await;
        Said(REQUEST.get().to_string())
    });
    let CallOutcome::Answered(said) = REQUEST.scope(7, call).await else { panic!("nothing is in the way") };
    assert_eq!(said, Said("7".into()));
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_up_goes_on_and_keeps_its_lock() {
    let (warden, work) = (warden([Rule::of("*").lock("x").timeout(SECOND)]), Work::new());
    let first = run(arrive(&warden, "a", "t", json!({}), None), &work).await;
    assert_eq!(reason(first), RefusalReason::Timeout { after: SECOND, has_key: false });
    assert_eq!((work.counts(), warden.is_idle()), ((1, 0), false));
    work.let_end(1);
    settle().await;
    assert_eq!((work.counts(), warden.is_idle()), ((1, 1), true));
}

#[tokio::test(start_paused = true)]
async fn excess_calls_wait_in_order_until_the_queue_is_full_or_the_time_is_up() {
    let policy = Policy::builder().rule(Rule::of("*").in_flight(1)).queue(1).wait(SECOND).build().unwrap();
    let (warden, work) = (Warden::new(policy), Work::new());
    let call = |caller: &str| tokio::spawn(run(arrive(&warden, caller, "t", json!({}), None), &work));
    let first = call("a");
    settle().await;
    let (second, other) = (call("a"), call("b"));
    settle().await;
    assert_eq!(work.counts(), (2, 0), "another caller has places of its own");
    let refused = |is_queue_full| RefusalReason::InFlight { limit: 1, is_queue_full, retry_after: None };
    assert_eq!(reason(call("a").await.unwrap()), refused(true));
    assert_eq!(reason(second.await.unwrap()), refused(false));
    work.let_end(2);
    for call in [first, other] {
        assert!(matches!(call.await.unwrap(), CallOutcome::Answered(_)));
    }
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_not_waited_for_for_ever() {
    let policy = Policy::builder().rule(Rule::of("*").lock("x:{args.id}").lock("y")).wait(SECOND);
    let (warden, work) = (Warden::new(policy.build().unwrap()), Work::new());
    let first = tokio::spawn(run(arrive(&warden, "a", "t", json!({"id": 1}), None), &work));
    settle().await;
    let second = run(arrive(&warden, "a", "t", json!({"id": 2}), None), &work).await;
    assert_eq!(reason(second), RefusalReason::Locked { keys: vec!["x:2".into(), "y".into()] });
    work.let_end(1);
    assert!(matches!(first.await.unwrap(), CallOutcome::Answered(_)));
    assert!(warden.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_charged_per_caller_and_rule_and_also_for_a_call_that_is_wrong() {
    let rules = [
        Rule::of("*").rate(Quota::log(2, SECOND).unwrap()).lock("{args.id}"),
        Rule::of("free").rate(Quota::log(100, SECOND).unwrap()),
    ];
    for warden in both(&rules) {
        let work = Work::new();
        work.let_end(10);
        let call = |caller: &str, tool: &str, arguments: Value| {
            run(arrive(&warden, caller, tool, arguments, None), &work)
        };
        let id = || json!({"id": 1});
        assert!(matches!(call("a", "t", id()).await, CallOutcome::Answered(_)));
        let flaw = RefusalReason::Argument { name: "id".into(), is_present: false };
        assert_eq!(reason(call("a", "u", json!({})).await), flaw);
        let RefusalReason::Rate { retry_after: Some(wait) } = reason(call("a", "t", id()).await) else {
            panic!("two were charged")
        };
        assert!(wait <= SECOND);
        assert!(matches!(call("b", "t", id()).await, CallOutcome::Answered(_)));
        assert!(matches!(call("a", "free", id()).await, CallOutcome::Answered(_)));
        assert_eq!(work.counts(), (3, 3));
        assert!(warden.is_idle());
    }
}

#[tokio::test(start_paused = true)]
async fn closing_answers_what_runs_and_refuses_what_waits_and_what_comes() {
    let (warden, work) = (warden([Rule::of("*").lock("x")]), Work::new());
    let runs = tokio::spawn(run(arrive(&warden, "a", "t", json!({}), None), &work));
    settle().await;
    let waits = tokio::spawn(run(arrive(&warden, "b", "t", json!({}), None), &work));
    settle().await;
    let closing = warden.gate().close(SECOND);
    let caller = CallerName::new("c");
    let call = Call { tool: "t", caller: &caller, arguments: None, idempotency_key: None };
    assert_eq!(warden.arrive(&call).unwrap_err().reason, RefusalReason::Closed);
    work.let_end(1);
    assert_eq!(closing.await, 0);
    assert!(matches!(runs.await.unwrap(), CallOutcome::Answered(_)));
    assert_eq!(reason(waits.await.unwrap()), RefusalReason::Closed);
    assert_eq!(work.counts(), (1, 1));
}
