//! Records under concurrency, and at the edges of what numbers can hold.

use interlock_sync::store::{Fence, LeaseAnswer, LeaseRequest, Refusal, Version};
use tokio::task::JoinSet;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn opposite_transfers_neither_deadlock_nor_lose_anything() {
    let stores = [open("opposite").await, open("opposite").await];
    apply(&stores[0], put("a", 1000)).await;
    apply(&stores[0], put("b", 1000)).await;
    let mut tasks = JoinSet::new();
    for task in 0..12 {
        let store = stores[task % 2].clone();
        tasks.spawn(async move {
            let (from, to) = if task % 3 == 0 { ("a", "b") } else { ("b", "a") };
            let mut refused = 0;
            for _ in 0..25 {
                match store.mutate(&fresh(transfer(from, to, 30))).await.unwrap() {
                    Outcome::Applied(applied) => assert_eq!(applied.changed.len(), 2),
                    Outcome::Refused(Refusal::Short { .. }) => refused += 1,
                    other => panic!("{other:?}"),
                }
            }
            refused
        });
    }
    tasks.join_all().await;
    let (a, b) = (number(&stores[0], "a").await, number(&stores[0], "b").await);
    assert_eq!(a + b, 2000);
    assert!(a >= 0 && b >= 0, "{a} and {b}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_is_applied_once_however_many_send_it_at_once() {
    let stores = [open("once").await, open("once").await, open("once").await];
    for name in ["a", "b", "gone"] {
        apply(&stores[0], put(name, 100)).await;
    }
    let changes = [
        add("a", -60, Some(0)),
        transfer("a", "b", 30),
        Change::Delete { key: key("gone"), expect: Expect::Present },
        Change::Put { key: key("new"), expect: Expect::Absent, content: Content::Bytes(b"x".into()) },
    ];
    for change in changes {
        let mutation = fresh(change);
        let mut tasks = JoinSet::new();
        for sender in 0..12 {
            let (store, mutation) = (stores[sender % 3].clone(), mutation.clone());
            tasks.spawn(async move { applied(store.mutate(&mutation).await.unwrap()) });
        }
        let answers = tasks.join_all().await;
        assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1, "{mutation:?}");
        for answer in &answers {
            assert_eq!((answer.at, &answer.changed), (answers[0].at, &answers[0].changed), "{mutation:?}");
        }
        let remembered = stores[1].applied(&mutation.op).await.unwrap().unwrap();
        assert_eq!(remembered.changed, answers[0].changed);
    }
    assert_eq!((number(&stores[0], "a").await, number(&stores[0], "b").await), (10, 130));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_on_different_records_at_once_is_applied_to_one_of_them() {
    let store = open("misused").await;
    for round in 0..5 {
        let op = OpId::fresh();
        let mut tasks = JoinSet::new();
        for other in 0..8 {
            let store = store.clone();
            let mutation = Mutation::new(op, put(&format!("{round}-{other}"), 1));
            tasks.spawn(async move { store.mutate(&mutation).await.unwrap() });
        }
        let answers = tasks.join_all().await;
        let (done, others): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|answer| matches!(answer, Outcome::Applied(_)));
        assert_eq!(done.len(), 1, "{done:?}");
        let mismatch = Outcome::Refused(Refusal::Mismatch { op });
        assert!(others.iter().all(|answer| *answer == mismatch), "{others:?}");
        assert_eq!(store.list(&format!("{round}-"), None, 100).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_those_who_put_if_absent_one_wins_and_the_others_see_what_it_put() {
    let stores = [open("absent").await, open("absent").await];
    for round in 0..10 {
        let mut tasks = JoinSet::new();
        for writer in 0..10 {
            let store = stores[writer % 2].clone();
            let content = Content::Number(writer as i64);
            let change = Change::Put { key: key(&format!("{round}")), expect: Expect::Absent, content };
            tasks.spawn(async move { (writer as i64, store.mutate(&fresh(change)).await.unwrap()) });
        }
        let answers = tasks.join_all().await;
        let stored = stores[0].get(&key(&format!("{round}"))).await.unwrap();
        let mut winners = 0;
        for (writer, answer) in answers {
            match answer {
                Outcome::Applied(_) => {
                    winners += 1;
                    assert_eq!(stored.as_ref().unwrap().content, Content::Number(writer));
                }
                Outcome::Refused(Refusal::Conflict { current, .. }) => assert_eq!(current, stored),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(winners, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_only_rise_while_a_record_comes_and_goes() {
    let stores = [open("comes").await, open("comes").await];
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let store = stores[task % 2].clone();
        tasks.spawn(async move {
            for round in 0..30 {
                let change = match (task + round) % 3 {
                    0 => Change::Delete { key: key("a"), expect: Expect::Any },
                    1 => put("a", round as i64),
                    _ => add("a", 1, None),
                };
                match store.mutate(&fresh(change)).await.unwrap() {
                    Outcome::Applied(_)
                    | Outcome::Refused(Refusal::Missing { .. } | Refusal::Conflict { current: None, .. }) => {
                    }
                    other => panic!("{other:?}"),
                }
            }
        });
    }
    tasks.join_all().await;
    // In the order of their versions, each change must start from where the one before it has ended.
    let broken = "SELECT count(*) FROM (SELECT from_a, lag(to_a) OVER (ORDER BY to_a) AS before FROM interlock.ops \
        WHERE to_a IS NOT NULL) AS changes WHERE from_a IS NOT NULL AND from_a IS DISTINCT FROM before";
    assert_eq!(ask("comes", broken), 0);
    assert_eq!(ask("comes", "SELECT count(*) FROM interlock.ops WHERE to_a <= from_a"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_was_replaced_while_it_was_waited_for_is_not_missing() {
    let store = open("replaced").await;
    apply(&store, put("a", 1)).await;
    let mut client = bystander().await;
    let replacing = client.transaction().await.unwrap();
    replacing.batch_execute("DELETE FROM \"interlock_replaced\".records").await.unwrap();
    let adding = tokio::spawn({
        let store = store.clone();
        async move { store.mutate(&fresh(add("a", 1, None))).await.unwrap() }
    });
    becomes_true("the record is waited for", || waiting("replaced") == 1).await;
    replacing
        .batch_execute("INSERT INTO \"interlock_replaced\".records VALUES ('a', 1000, 41)")
        .await
        .unwrap();
    replacing.commit().await.unwrap();
    assert_eq!(applied(adding.await.unwrap()).changed[0].number, Some(42));
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_are_exact_to_the_last_of_64_bits() {
    let store = open("exact").await;
    let refused = |outcome| match outcome {
        Outcome::Refused(refusal) => refusal,
        Outcome::Applied(applied) => panic!("{applied:?}"),
    };
    for (name, edge, step) in [("top", i64::MAX, 1), ("bottom", i64::MIN, -1)] {
        apply(&store, put(name, edge)).await;
        let beyond = store.mutate(&fresh(add(name, step, None))).await.unwrap();
        assert_eq!(refused(beyond), Refusal::Overflow { key: key(name) });
        assert_eq!(apply(&store, add(name, -step, None)).await.changed[0].number, Some(edge - step));
        assert_eq!(apply(&store, add(name, step, None)).await.changed[0].number, Some(edge));
        assert_eq!(number(&store, name).await, edge);
    }
    apply(&store, put("zero", 0)).await;
    assert_eq!(apply(&store, add("zero", i64::MIN, None)).await.changed[0].number, Some(i64::MIN));
    assert_eq!(apply(&store, add("zero", i64::MAX, None)).await.changed[0].number, Some(-1));
    let whole = store.mutate(&fresh(transfer("top", "bottom", i64::MAX))).await.unwrap();
    assert_eq!(applied(whole).changed[1].number, Some(-1));
    for amount in [0, -1, i64::MIN] {
        let outcome = store.mutate(&fresh(transfer("top", "zero", amount))).await.unwrap();
        assert_eq!(refused(outcome), Refusal::NotANumber { key: key("top") });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fence_or_version_that_was_never_given_out_is_refused_and_not_misread() {
    let store = open("never").await;
    apply(&store, put("a", 1)).await;
    let request = LeaseRequest { key: key("lease"), owner: OpId::fresh(), ttl: Duration::MAX };
    let LeaseAnswer::Granted { fence } = store.acquire_lease(&request).await.unwrap() else {
        panic!("it is free")
    };
    for wrong in [Fence(0), Fence(fence.0 - 1), Fence(i64::MAX as u64), Fence(u64::MAX)] {
        let under = fresh(add("a", 1, None)).under(key("lease"), wrong);
        let fenced = Outcome::Refused(Refusal::Fenced { current: Some(fence) });
        assert_eq!(store.mutate(&under).await.unwrap(), fenced);
        assert!(!store.renew_lease(&key("lease"), wrong, Duration::MAX).await.unwrap());
        assert!(!store.dispatch(&key("lease"), wrong, Duration::MAX).await.unwrap());
    }
    let expect = Expect::Version(Version(u64::MAX));
    let outcome = store.mutate(&fresh(Change::Delete { key: key("a"), expect })).await.unwrap();
    assert!(matches!(outcome, Outcome::Refused(Refusal::Conflict { current: Some(_), .. })), "{outcome:?}");
    assert!(store.read_log(&key("log"), u64::MAX, usize::MAX).await.unwrap().is_empty());
    applied(store.mutate(&fresh(add("a", 1, None)).under(key("lease"), fence)).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_cannot_change_hands_between_the_check_and_the_write() {
    let store = open("hands").await;
    apply(&store, put("a", 1)).await;
    let lease = |ttl| LeaseRequest { key: key("lease"), owner: OpId::fresh(), ttl };
    let first = store.acquire_lease(&lease(Duration::from_secs(3600))).await.unwrap();
    let LeaseAnswer::Granted { fence } = first else { panic!("{first:?}") };

    // A transaction that has written under the fence, but not come to its end.
    let mut client = bystander().await;
    let slow = client.transaction().await.unwrap();
    let write = format!(
        "SELECT * FROM \"interlock_hands\".add_many('a', ARRAY['\\x01'::bytea], ARRAY[1], ARRAY[NULL]::bigint[], 1000000, 'lease', {})",
        fence.0
    );
    slow.batch_execute(&write).await.unwrap();
    let expire = "UPDATE interlock.leases SET until = 0 RETURNING 1";
    let taking = tokio::spawn({
        let store = store.clone();
        async move {
            let statement = expire.replace("interlock.", "\"interlock_hands\".");
            bystander().await.batch_execute(&statement).await.unwrap();
            let taken = store.acquire_lease(&lease(Duration::from_secs(3600))).await.unwrap();
            (taken, number(&store, "a").await)
        }
    });
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%_hands%.leases%'";
    becomes_true("the lease is waited for", || server().query(blocked).unwrap() != "0").await;
    slow.commit().await.unwrap();
    let (taken, seen) = taking.await.unwrap();
    assert!(matches!(taken, LeaseAnswer::Granted { fence: later } if later > fence), "{taken:?}");
    assert_eq!(seen, 2, "whoever takes over sees what the one before has written");
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_listed_in_the_order_of_their_bytes_and_hold_any_bytes() {
    let store = open("listed").await;
    let names = ["a", "B", "a:", "a:ä", "a:z", "a:\u{10ffff}", "a;", "á", "\u{10ffff}\u{10ffff}"];
    for name in names {
        apply(&store, put(name, 1)).await;
    }
    let list = async |prefix: &str, after: Option<&str>, limit| {
        let after = after.map(key);
        let listed = store.list(prefix, after.as_ref(), limit).await.unwrap();
        listed.into_iter().map(|(key, _)| key.to_string()).collect::<Vec<_>>()
    };
    let mut sorted = names.map(str::to_owned);
    sorted.sort();
    assert_eq!(list("", None, usize::MAX).await, sorted);
    assert_eq!(list("a:", None, 10).await, ["a:", "a:z", "a:ä", "a:\u{10ffff}"]);
    assert_eq!(list("a:", Some("a:z"), 1).await, ["a:ä"]);
    assert_eq!(list("a:", Some("A"), 1).await, ["a:"]);
    assert_eq!(list("a:", Some("b"), 9).await, [""; 0]);
    assert_eq!(list("\u{10ffff}", None, 9).await, ["\u{10ffff}\u{10ffff}"]);
    assert_eq!(list("a\0", None, 9).await, [""; 0]);
    assert_eq!(list("", None, 0).await, [""; 0]);

    let all: Vec<u8> = (0..=255).cycle().take(3 << 20).collect();
    let content = Content::Bytes(all);
    let change = Change::Put { key: key("bytes"), expect: Expect::Absent, content: content.clone() };
    assert_eq!(apply(&store, change.clone()).await.changed[0].number, None);
    let conflict = store.mutate(&fresh(change)).await.unwrap();
    let Outcome::Refused(Refusal::Conflict { current, .. }) = conflict else { panic!("{conflict:?}") };
    assert!(current.unwrap().content == content);
    let empty = Change::Put { key: key("bytes"), expect: Expect::Present, content: Content::Bytes(vec![]) };
    apply(&store, empty).await;
    assert_eq!(store.get(&key("bytes")).await.unwrap().unwrap().content, Content::Bytes(vec![]));
}
