//! What a namespace leaves behind expires when it should, and what shall stay does not.

use std::{collections::BTreeMap, time::Duration};

use interlock_sync::store::{
    Admission, Admitted, Attempt, Begun, Ending, Fingerprint, LeaseAnswer, LeaseRequest, OnceKey, OpId,
    PermitRequest, Places, Quota, Settlement, Wish,
};
use interlock_testkit::service::Redis;

use super::{MINUTE, apply, command, key, open, operator, put, server};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Every key of the server, without its prefix, with the time it has left; `None` if it stays for ever.
fn left(redis: &Redis) -> BTreeMap<String, Option<Duration>> {
    let mut operator = operator(redis);
    let keys: Vec<String> = command("KEYS *").query(&mut operator).unwrap();
    let time_left = |key: String| {
        let millis: i64 = redis::cmd("PTTL").arg(&key).query(&mut operator).unwrap();
        let name =
            key.strip_prefix("interlock:{interlock}:").expect("all keys share the hash tag").to_owned();
        (name, u64::try_from(millis).ok().map(Duration::from_millis))
    };
    keys.into_iter().map(time_left).collect()
}

/// A long log of a quota, which may stay one window longer than it counts.
const LOGS: [&str; 2] = ["calls\nrlong", "rlong"];

/// The times that are left, checked against what they were set to: never more (but for rounding), and not much less.
fn check(redis: &Redis, expected: &[(&str, Option<Duration>)]) {
    compare(&left(redis), expected);
}

fn compare(left: &BTreeMap<String, Option<Duration>>, expected: &[(&str, Option<Duration>)]) {
    let names: Vec<&str> = left.keys().map(String::as_str).collect();
    let mut wanted: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    for (name, expected) in expected {
        let is_right = match (left[*name], *expected) {
            (None, None) => true,
            (Some(left), Some(set)) => {
                let longest = if LOGS.contains(name) { set * 2 } else { set };
                left <= longest + Duration::from_millis(2) && left > set.saturating_sub(MINUTE)
            }
            _ => false,
        };
        assert!(is_right, "{name} has {:?} left of {expected:?}", left[*name]);
    }
}

#[tokio::test]
async fn records_logs_and_counters_stay_and_op_ids_are_remembered_for_a_day() {
    let redis = server();
    let store = open(&redis.url()).await;
    let make = put("alice", 1);
    apply(&*store, &make).await;
    let note = OpId::fresh();
    store.append(&note, &key("audit"), b"made").await.unwrap().place().unwrap();
    let ops = [make.op, note].map(|op| format!("op:{op}"));
    let forever = ["record:alice", "records", "version", "log:audit"].map(|name| (name, None));
    check(&redis, &[&forever[..], &ops.each_ref().map(|op| (&**op, Some(DAY)))].concat());
}

#[tokio::test]
async fn leases_stay_a_day_longer_than_they_are_held() {
    let redis = server();
    let store = open(&redis.url()).await;
    let request = |name: &str| LeaseRequest { key: key(name), owner: OpId::fresh(), ttl: MINUTE * 60 };
    for name in ["held", "renewed", "released"] {
        let LeaseAnswer::Granted { fence } = store.acquire_lease(&request(name)).await.unwrap() else {
            panic!()
        };
        match name {
            "renewed" => assert!(store.renew_lease(&key(name), fence, MINUTE * 120).await.unwrap()),
            "released" => assert!(store.release_lease(&key(name), fence).await.unwrap()),
            _ => {}
        }
    }
    let hours = |hours| Some(DAY + MINUTE * 60 * hours);
    check(&redis, &[("lease:held", hours(1)), ("lease:renewed", hours(2)), ("lease:released", hours(0))]);
}

#[tokio::test]
async fn limits_stay_until_they_say_nothing_any_more() {
    let redis = server();
    let store = open(&redis.url()).await;
    let (bucket, log) = (Quota::bucket(60, MINUTE * 60).unwrap(), Quota::log(2, MINUTE * 60).unwrap());
    store.take(&key("bucket"), &bucket, 10).await.unwrap();
    for _ in 0..3 {
        store.take(&key("log"), &log, 1).await.unwrap();
    }
    for _ in 0..70 {
        store.take(&key("long"), &Quota::log(100, MINUTE * 60).unwrap(), 1).await.unwrap();
    }
    // A refusal and a look cost nothing, and leave nothing.
    store.take(&key("looked-bucket"), &bucket, 0).await.unwrap();
    store.take(&key("looked-log"), &log, 0).await.unwrap();
    // A changed quota leaves no row of the old kind behind.
    store.take(&key("changed"), &bucket, 5).await.unwrap();
    store.take(&key("changed"), &log, 1).await.unwrap();
    store.take(&key("changed-back"), &log, 1).await.unwrap();
    store.take(&key("changed-back"), &bucket, 5).await.unwrap();

    let permit =
        |name: &str, holder, ttl| PermitRequest { key: key(name), holder: OpId(holder), limit: 9, ttl };
    for (name, holder, hours) in
        [("two", 1, 3), ("two", 2, 1), ("one-left", 1, 3), ("one-left", 2, 1), ("gone", 1, 1)]
    {
        store.acquire_permit(&permit(name, holder, MINUTE * 60 * hours)).await.unwrap();
    }
    assert!(store.release_permit(&key("one-left"), &OpId(1)).await.unwrap());
    assert!(store.release_permit(&key("gone"), &OpId(1)).await.unwrap());
    store.acquire_permit(&permit("renewed", 1, MINUTE)).await.unwrap();
    assert!(store.renew_permit(&key("renewed"), &OpId(1), MINUTE * 120).await.unwrap());

    let minutes = |minutes| Some(MINUTE * minutes);
    check(
        &redis,
        &[
            ("calls", Some(DAY + MINUTE * 10)),
            ("calls\nn", None),
            ("calls\nrlong", minutes(60)),
            ("permits:two", minutes(180)),
            ("permits:one-left", minutes(60)),
            ("permits:renewed", minutes(120)),
        ],
    );
    let limits = [("rbucket", 10), ("rlog", 60), ("rlong", 60), ("rchanged", 60), ("rchanged-back", 5)];
    check_fields(&redis, &limits.map(|(name, left)| (name, minutes(left))));
}

#[tokio::test]
async fn attempts_stay_until_they_are_to_be_forgotten() {
    let redis = server();
    let store = open(&redis.url()).await;
    for (name, steps) in [("reserved", 1), ("dispatched", 2), ("ended", 3), ("long", 3)] {
        let (fingerprint, owner) = (Fingerprint([7; 32]), OpId::fresh());
        let attempt = Attempt { key: key(name), fingerprint, owner, ttl: MINUTE, keep: MINUTE * 60 };
        let Begun::Reserved { fence } = store.begin(&attempt).await.unwrap() else { panic!() };
        assert!(steps < 2 || store.dispatch(&key(name), fence, MINUTE * 180).await.unwrap());
        let ending = Ending::Completed(if name == "long" { vec![0; 1000] } else { vec![] });
        assert!(steps < 3 || store.finish(&key(name), fence, &ending, MINUTE * 120).await.unwrap());
    }
    let hours = |hours| Some(MINUTE * 60 * hours);
    // What is long is beside the hash.
    check(&redis, &[("calls", Some(DAY + MINUTE * 60)), ("calls\nn", None), ("calls\nolong", hours(2))]);
    let attempts = [("oreserved", 1), ("odispatched", 3), ("oended", 2), ("olong", 2)];
    check_fields(&redis, &attempts.map(|(name, left)| (name, hours(left))));
}

/// Not a promise of ours but of the server's, on which everything here rests: a key whose time is up is gone.
#[tokio::test]
async fn an_op_id_whose_time_is_up_is_forgotten() {
    let redis = server();
    let options = crate::Options { remember_ops: Duration::from_millis(1), ..crate::Options::default() };
    let store = crate::open(&redis.url(), &options).await.unwrap();
    let make = put("alice", 1);
    apply(&*store, &make).await;
    while store.applied(&make.op).await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    check(&redis, &[("record:alice", None), ("records", None), ("version", None)]);
}

#[tokio::test]
async fn of_calls_stays_what_is_still_asked_for() {
    let redis = server();
    let store = open(&redis.url()).await;
    let hours = |hours| MINUTE * 60 * hours;
    let wish = |name: &str, is_shared| Wish { key: key(name), is_shared };
    let first = Admission {
        call: OpId(1),
        charges: vec![],
        places: vec![Places { key: key("p"), limit: 1 }],
        locks: vec![wish("a", false), wish("b", true)],
        once: Some(OnceKey { key: key("o"), fingerprint: Fingerprint([1; 32]), keep: hours(6) }),
        reader: Some(key("ann")),
        observes: vec![key("x")],
        requires_fresh: vec![],
        ttl: hours(4),
        remember: hours(8),
        is_again: false,
        patience: hours(2),
    };
    let second = Admission { call: OpId(2), once: None, ..first.clone() };
    let Admitted::Granted { fence } = store.admit(&first).await.unwrap() else { panic!() };
    assert!(matches!(store.admit(&second).await.unwrap(), Admitted::Waits { .. }));
    let end = |call: &Admission, fence| Settlement {
        call: call.call,
        fence,
        places: vec![key("p")],
        locks: vec![key("a"), key("b")],
        once: None,
        reader: None,
        changes: vec![key("y")],
        is_success: true,
        remember: hours(8),
    };
    let (held, waited) = (Some(hours(4)), Some(hours(2)));
    // The hash goes a day after the last that was put into it.
    let known = [("calls", Some(hours(8) + DAY)), ("calls\ne", None), ("calls\nn", None)];
    let lines = ["calls\nxla", "calls\nlla", "calls\nylb", "calls\nllb", "calls\nxpp", "calls\nlpp"];
    check(&redis, &[&known[..], &lines.map(|name| (name, waited))].concat());
    let [one, two] = [1_u8, 2].map(|id| format!("@{}{}", "\0".repeat(15), char::from(id)));
    let seen = [("sann\nx", Some(hours(8))), ("oo", Some(hours(6)))];
    let of_one = [(&*one, held), ("la", held), ("lb", held), ("pp", held)];
    check_fields(&redis, &[&seen[..], &[(&*two, waited)], &of_one].concat());
    assert!(store.settle(&end(&second, None)).await.unwrap());
    check(&redis, &known);
    check_fields(&redis, &[&seen[..], &of_one].concat());
    assert!(store.settle(&end(&first, Some(fence))).await.unwrap());
    check(&redis, &known);
    check_fields(&redis, &[&seen[..], &[("vy", Some(hours(8)))]].concat());
}

#[tokio::test]
async fn of_calls_that_are_over_nothing_is_left_after_a_while() {
    let redis = server();
    let store = open(&redis.url()).await;
    let brief = Duration::from_micros(1);
    let mut left = 0;
    for nth in 0..2_000 {
        let call = Admission {
            call: OpId(nth),
            charges: vec![],
            places: vec![],
            locks: vec![Wish { key: key(&format!("lock-{nth}")), is_shared: nth % 2 == 0 }],
            once: None,
            reader: Some(key(&format!("reader-{nth}"))),
            observes: vec![key("x")],
            requires_fresh: vec![],
            ttl: brief,
            remember: brief,
            is_again: false,
            patience: Duration::ZERO,
        };
        assert!(matches!(store.admit(&call).await.unwrap(), Admitted::Granted { .. }));
        left = left.max(command("HLEN interlock:{interlock}:calls").query(&mut operator(&redis)).unwrap());
    }
    // Each call leaves three rows, which nobody ever asks for again.
    assert!(left < 4_500, "{left} of 6000 rows were there at once");
    assert!(store.sweep().await.unwrap() > 0);
    assert_eq!(store.sweep().await.unwrap(), 0);
    check_fields(&redis, &[]);
}

/// A server that has set its clock far ahead and back has forgotten the calls, but not which numbers they had.
#[tokio::test]
async fn fences_rise_also_after_the_calls_were_forgotten() {
    let redis = server();
    let store = open(&redis.url()).await;
    let call = |id| Admission {
        call: OpId(id),
        charges: vec![],
        places: vec![],
        locks: vec![Wish { key: key("a"), is_shared: true }],
        once: None,
        reader: None,
        observes: vec![],
        requires_fresh: vec![],
        ttl: MINUTE,
        remember: MINUTE,
        is_again: false,
        patience: Duration::ZERO,
    };
    let Admitted::Granted { fence: before } = store.admit(&call(1)).await.unwrap() else { panic!() };
    let gone: u32 = command("DEL interlock:{interlock}:calls").query(&mut operator(&redis)).unwrap();
    assert_eq!(gone, 1);
    let Admitted::Granted { fence: after } = store.admit(&call(2)).await.unwrap() else { panic!() };
    let day = u64::try_from(DAY.as_micros()).unwrap();
    assert!(
        after.0 > before.0 + day,
        "it is above all that could be given out until the hash would have gone"
    );
}

/// Every field of the hash of calls, with the time that it has left, checked like the keys.
fn check_fields(redis: &Redis, expected: &[(&str, Option<Duration>)]) {
    let mut operator = operator(redis);
    let fields: BTreeMap<Vec<u8>, Vec<u8>> =
        command("HGETALL interlock:{interlock}:calls").query(&mut operator).unwrap();
    let (seconds, micros): (u64, u64) = command("TIME").query(&mut operator).unwrap();
    let now = Duration::from_micros(seconds * 1_000_000 + micros);
    let left = fields.into_iter().filter(|(name, _)| !name.starts_with(b"n")).map(|(name, row)| {
        let ends = Duration::from_micros(u64::from_be_bytes(*row.first_chunk().unwrap()));
        (String::from_utf8(name).unwrap(), Some(ends.saturating_sub(now)))
    });
    compare(&left.collect(), expected);
}
