//! Versioned records.

use std::time::Duration;

use interlock_sync::store::{
    Appended, Applied, Change, Content, Expect, Fingerprint, LeaseAnswer, LeaseRequest, Mutation, OpId,
    Outcome, Record, Refusal, Version,
};

use crate::{Shared, bytes, key, put, send};

fn applied(outcome: Outcome) -> Applied {
    match outcome {
        Outcome::Applied(applied) => applied,
        Outcome::Refused(refusal) => panic!("it was refused: {refusal:?}"),
    }
}

fn refused(outcome: Outcome) -> Refusal {
    match outcome {
        Outcome::Refused(refusal) => refusal,
        Outcome::Applied(applied) => panic!("it was applied: {applied:?}"),
    }
}

async fn number(store: &Shared, name: &str) -> i64 {
    match store.get(&key(name)).await.unwrap().map(|record| record.content) {
        Some(Content::Number(number)) => number,
        other => panic!("`{name}` holds {other:?}"),
    }
}

fn add(name: &str, delta: i64, floor: Option<i64>) -> Change {
    Change::Add { key: key(name), delta, floor }
}

fn transfer(from: &str, to: &str, amount: i64) -> Change {
    Change::Transfer { from: key(from), to: key(to), amount, floor: 0 }
}

pub(crate) async fn what_was_put_is_read_back(store: Shared) {
    assert_eq!(store.get(&key("a")).await.unwrap(), None);
    let first = put(&store, "a", bytes("one")).await;
    assert_eq!(store.get(&key("a")).await.unwrap(), Some(first.clone()));
    let second = put(&store, "a", Content::Number(2)).await;
    assert!(second.version > first.version);
    assert_eq!(store.get(&key("a")).await.unwrap(), Some(second));
}

pub(crate) async fn a_version_is_never_used_twice(store: Shared) {
    let mut last = Version(0);
    for round in 0..3 {
        let record = put(&store, "a", Content::Number(round)).await;
        assert!(record.version > last, "also when the record was deleted in between");
        last = record.version;
        applied(send(&store, Change::Delete { key: key("a"), expect: Expect::Version(last) }).await);
    }
    assert!(put(&store, "another", Content::Number(0)).await.version > last);
}

pub(crate) async fn a_put_meets_its_expectation_or_is_refused_with_what_is_there(store: Shared) {
    let put_if = |expect| Change::Put { key: key("a"), expect, content: bytes("new") };
    for expect in [Expect::Present, Expect::Version(Version(1))] {
        let conflict = Refusal::Conflict { key: key("a"), current: None };
        assert_eq!(refused(send(&store, put_if(expect)).await), conflict, "{expect:?}");
    }
    let made = applied(send(&store, put_if(Expect::Absent)).await);
    let changed = made.changed.first().unwrap();
    assert_eq!((changed.from, changed.number), (None, None));
    let version = changed.to.unwrap();
    let current = Some(Record { version, content: bytes("new") });
    for expect in [Expect::Absent, Expect::Version(Version(version.0 + 1))] {
        let conflict = Refusal::Conflict { key: key("a"), current: current.clone() };
        assert_eq!(refused(send(&store, put_if(expect)).await), conflict, "{expect:?}");
    }
    let again = applied(send(&store, put_if(Expect::Version(version))).await);
    assert_eq!(again.changed.first().unwrap().from, Some(version));
    assert!(again.at >= made.at);
    applied(send(&store, put_if(Expect::Present)).await);
}

pub(crate) async fn a_delete_meets_its_expectation_or_is_refused_with_what_is_there(store: Shared) {
    let delete = |expect| Change::Delete { key: key("a"), expect };
    for expect in [Expect::Any, Expect::Present, Expect::Absent, Expect::Version(Version(1))] {
        let conflict = Refusal::Conflict { key: key("a"), current: None };
        assert_eq!(refused(send(&store, delete(expect)).await), conflict, "{expect:?}");
    }
    let record = put(&store, "a", bytes("x")).await;
    for expect in [Expect::Absent, Expect::Version(Version(record.version.0 + 1))] {
        let conflict = Refusal::Conflict { key: key("a"), current: Some(record.clone()) };
        assert_eq!(refused(send(&store, delete(expect)).await), conflict, "{expect:?}");
    }
    let gone = applied(send(&store, delete(Expect::Version(record.version))).await);
    let changed = gone.changed.first().unwrap();
    assert_eq!((changed.from, changed.to), (Some(record.version), None));
    assert_eq!(store.get(&key("a")).await.unwrap(), None);
}

pub(crate) async fn a_debit_stops_at_its_floor(store: Shared) {
    assert_eq!(refused(send(&store, add("a", 1, None)).await), Refusal::Missing { key: key("a") });
    put(&store, "a", Content::Number(10)).await;
    assert_eq!(applied(send(&store, add("a", -4, Some(0))).await).changed.first().unwrap().number, Some(6));
    assert_eq!(
        refused(send(&store, add("a", -7, Some(0))).await),
        Refusal::Short { key: key("a"), available: 6 }
    );
    assert_eq!(number(&store, "a").await, 6);
    applied(send(&store, add("a", 1, Some(100))).await);
    applied(send(&store, add("a", -8, None)).await);
    assert_eq!(number(&store, "a").await, -1);
    assert_eq!(
        refused(send(&store, add("a", -1, Some(-1))).await),
        Refusal::Short { key: key("a"), available: -1 }
    );
    put(&store, "text", bytes("10")).await;
    assert_eq!(refused(send(&store, add("text", 1, None)).await), Refusal::NotANumber { key: key("text") });
}

pub(crate) async fn numbers_are_exact_at_both_ends(store: Shared) {
    // Neighbours that a floating-point number cannot tell apart.
    let large = (1_i64 << 53) + 1;
    put(&store, "a", Content::Number(large)).await;
    applied(send(&store, add("a", 2, None)).await);
    assert_eq!(number(&store, "a").await, large + 2);
    assert_eq!(
        refused(send(&store, add("a", -1, Some(large + 2))).await),
        Refusal::Short { key: key("a"), available: large + 2 }
    );
    applied(send(&store, add("a", -1, Some(large + 1))).await);

    put(&store, "top", Content::Number(i64::MAX - 1)).await;
    applied(send(&store, add("top", 1, None)).await);
    assert_eq!(number(&store, "top").await, i64::MAX);
    assert_eq!(refused(send(&store, add("top", 1, None)).await), Refusal::Overflow { key: key("top") });
    put(&store, "bottom", Content::Number(i64::MIN + 1)).await;
    applied(send(&store, add("bottom", -1, Some(i64::MIN))).await);
    assert_eq!(
        refused(send(&store, add("bottom", -1, Some(i64::MIN))).await),
        Refusal::Overflow { key: key("bottom") }
    );
    assert_eq!(refused(send(&store, transfer("a", "top", 1)).await), Refusal::Overflow { key: key("top") });
    assert_eq!((number(&store, "top").await, number(&store, "a").await), (i64::MAX, large + 1));
}

pub(crate) async fn a_transfer_changes_both_or_neither(store: Shared) {
    put(&store, "a", Content::Number(10)).await;
    assert_eq!(refused(send(&store, transfer("a", "b", 5)).await), Refusal::Missing { key: key("b") });
    assert_eq!(refused(send(&store, transfer("b", "a", 5)).await), Refusal::Missing { key: key("b") });
    put(&store, "b", Content::Number(0)).await;
    let done = applied(send(&store, transfer("a", "b", 7)).await);
    let seen: Vec<_> = done.changed.iter().map(|changed| (changed.key.as_str(), changed.number)).collect();
    assert_eq!(seen, [("a", Some(3)), ("b", Some(7))]);
    assert_eq!(
        refused(send(&store, transfer("a", "b", 4)).await),
        Refusal::Short { key: key("a"), available: 3 }
    );
    for amount in [0, -1, i64::MIN] {
        assert_eq!(
            refused(send(&store, transfer("a", "b", amount)).await),
            Refusal::NotANumber { key: key("a") }
        );
    }
    put(&store, "text", bytes("x")).await;
    assert_eq!(
        refused(send(&store, transfer("a", "text", 1)).await),
        Refusal::NotANumber { key: key("text") }
    );
    assert_eq!((number(&store, "a").await, number(&store, "b").await), (3, 7));
    let own = applied(send(&store, transfer("a", "a", 3)).await);
    assert_eq!((own.changed.len(), number(&store, "a").await), (1, 3));
    assert_eq!(
        refused(send(&store, transfer("a", "a", 4)).await),
        Refusal::Short { key: key("a"), available: 3 }
    );
}

pub(crate) async fn an_operation_sent_again_is_applied_once_and_answered_the_same(store: Shared) {
    put(&store, "a", Content::Number(0)).await;
    put(&store, "b", Content::Number(100)).await;
    let changes = [
        add("a", 5, None),
        transfer("b", "a", 10),
        Change::Put { key: key("c"), expect: Expect::Absent, content: bytes("c") },
        Change::Delete { key: key("c"), expect: Expect::Present },
    ];
    for change in changes {
        let mutation = Mutation::new(OpId::fresh(), change);
        assert_eq!(store.applied(&mutation.op).await.unwrap(), None);
        let first = applied(store.mutate(&mutation).await.unwrap());
        assert!(!first.replayed);
        let told = Applied { replayed: true, ..first };
        assert_eq!(applied(store.mutate(&mutation).await.unwrap()), told);
        assert_eq!(store.applied(&mutation.op).await.unwrap(), Some(told));
    }
    assert_eq!((number(&store, "a").await, number(&store, "b").await), (15, 90));
}

pub(crate) async fn a_refused_operation_may_be_tried_again(store: Shared) {
    put(&store, "a", Content::Number(1)).await;
    let debit = Mutation::new(OpId::fresh(), add("a", -5, Some(0)));
    refused(store.mutate(&debit).await.unwrap());
    assert_eq!(store.applied(&debit.op).await.unwrap(), None);
    applied(send(&store, add("a", 9, None)).await);
    assert!(!applied(store.mutate(&debit).await.unwrap()).replayed);
    assert_eq!(number(&store, "a").await, 5);
}

pub(crate) async fn an_id_that_was_used_for_something_else_is_a_mismatch(store: Shared) {
    put(&store, "a", Content::Number(50)).await;
    put(&store, "b", Content::Number(50)).await;
    let put_c = |content| Change::Put { key: key("c"), expect: Expect::Any, content };
    let changes = [
        add("a", -5, Some(0)),
        add("a", -6, Some(0)),
        add("a", -5, None),
        add("b", -5, Some(0)),
        transfer("a", "b", 5),
        transfer("b", "a", 5),
        transfer("a", "b", 6),
        put_c(bytes("1")),
        put_c(bytes("2")),
        put_c(Content::Number(1)),
        Change::Put { key: key("d"), expect: Expect::Any, content: bytes("1") },
        Change::Put { key: key("c"), expect: Expect::Present, content: bytes("1") },
        Change::Delete { key: key("c"), expect: Expect::Any },
    ];
    let mut ids = Vec::new();
    for change in &changes {
        let mutation = Mutation::new(OpId::fresh(), change.clone());
        ids.push(mutation.op);
        applied(store.mutate(&mutation).await.unwrap());
    }
    put(&store, "c", bytes("now")).await;
    let before = (number(&store, "a").await, number(&store, "b").await, store.get(&key("c")).await.unwrap());
    for (used, op) in ids.into_iter().enumerate() {
        for (asked, change) in changes.iter().enumerate().filter(|(asked, _)| *asked != used) {
            let answer = refused(store.mutate(&Mutation::new(op, change.clone())).await.unwrap());
            assert_eq!(
                answer,
                Refusal::Mismatch { op },
                "{change:?} under the id of number {used}, not {asked}"
            );
        }
        assert_eq!(store.append(&op, &key("log"), b"x").await.unwrap(), Appended::Mismatch);
    }
    let after = (number(&store, "a").await, number(&store, "b").await, store.get(&key("c")).await.unwrap());
    assert_eq!(before, after);
}

/// What is sent again under a new lease, because the old one was lost, is the same operation.
pub(crate) async fn a_change_sent_again_under_another_lease_is_the_same(store: Shared) {
    put(&store, "a", Content::Number(1)).await;
    let ttl = Duration::from_secs(60);
    let request = LeaseRequest { key: key("a"), owner: OpId::fresh(), ttl };
    let LeaseAnswer::Granted { fence } = store.acquire_lease(&request).await.unwrap() else {
        panic!("nobody holds it")
    };
    let debit = Mutation::new(OpId::fresh(), add("a", 1, None));
    applied(store.mutate(&debit.clone().under(key("a"), fence)).await.unwrap());
    assert!(applied(store.mutate(&debit).await.unwrap()).replayed);
}

/// What a counter needs that is made by its first addition: whichever of the two is applied, the id is used up.
pub(crate) async fn ways_to_do_one_thing_share_its_id(store: Shared) {
    let (op, meaning) = (OpId::fresh(), Fingerprint::of("count 5 in a"));
    let add = Mutation::new(op, add("a", 5, None)).meaning(meaning);
    let make = Change::Put { key: key("a"), expect: Expect::Absent, content: Content::Number(5) };
    let make = Mutation::new(op, make).meaning(meaning);
    refused(store.mutate(&add).await.unwrap());
    let made = applied(store.mutate(&make).await.unwrap());
    assert_eq!(
        made.changed.first().unwrap().number,
        Some(5),
        "a number that was put is told like one that was added to"
    );
    assert_eq!(applied(store.mutate(&add).await.unwrap()), Applied { replayed: true, ..made });
    assert_eq!(number(&store, "a").await, 5);
}

pub(crate) async fn a_list_is_in_order_and_goes_on_where_it_stopped(store: Shared) {
    for name in
        ["file:b", "file:a", "file:ä", "file", "file:", "file:c", "fild:z", "filf", "file%x", "file:a:1"]
    {
        put(&store, name, bytes(name)).await;
    }
    let names = |page: Vec<(interlock_sync::store::Key, Record)>| -> Vec<String> {
        page.into_iter().map(|(key, _)| key.to_string()).collect()
    };
    let all = names(store.list("file:", None, 100).await.unwrap());
    assert_eq!(
        all,
        ["file:", "file:a", "file:a:1", "file:b", "file:c", "file:ä"],
        "in the order of their bytes"
    );
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let page = names(store.list("file:", after.as_ref(), 2).await.unwrap());
        let Some(last) = page.last() else { break };
        after = Some(key(last));
        paged.extend(page);
    }
    assert_eq!(paged, all);
    assert_eq!(names(store.list("file%", None, 100).await.unwrap()), ["file%x"], "a prefix is no pattern");
    assert_eq!(names(store.list("nothing", None, 100).await.unwrap()), Vec::<String>::new());
    assert_eq!(store.list("", None, 100).await.unwrap().len(), 10);
    send(&store, Change::Delete { key: key("file:b"), expect: Expect::Present }).await;
    assert!(!names(store.list("file:", None, 100).await.unwrap()).contains(&"file:b".to_owned()));
}

pub(crate) async fn any_content_comes_back_as_it_was(store: Shared) {
    let every_byte: Vec<u8> = (0..=255).collect();
    let contents = [
        Content::Bytes(vec![]),
        Content::Bytes(every_byte.repeat(4096)),
        bytes("12"),
        bytes("-0"),
        bytes("\0\r\n'\"\\;--"),
        Content::Number(0),
        Content::Number(i64::MIN),
        Content::Number(i64::MAX),
    ];
    for (index, content) in contents.into_iter().enumerate() {
        let name = format!("strange ' \" \\ ; % _ * [{index}] ☃");
        let record = put(&store, &name, content).await;
        assert_eq!(store.get(&key(&name)).await.unwrap(), Some(record));
    }
    let longest = "k".repeat(512);
    let record = put(&store, &longest, bytes("x")).await;
    assert_eq!(store.get(&key(&longest)).await.unwrap(), Some(record));
}
