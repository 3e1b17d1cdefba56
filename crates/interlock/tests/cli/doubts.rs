//! `interlock doubts`, on a file in which somebody vanished.
#![expect(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

use std::{sync::Arc, time::Duration};

use interlock_store::{Options, open};
use interlock_sync::store::{Attempt, Begun, Fingerprint, Key, OpId, Store};
use serde_json::Value;

use crate::run;

const DAY: Duration = Duration::from_secs(86_400);

fn attempt(key: &str) -> Attempt {
    let (key, fingerprint) = (Key::new(key).unwrap(), Fingerprint([1; 32]));
    Attempt { key, fingerprint, owner: OpId::fresh(), ttl: DAY, keep: DAY }
}

/// Leaves these keys in doubt in a file.
async fn vanish(url: &str, keys: &[&str]) {
    let store: Arc<dyn Store> = open(url, &Options::default()).await.unwrap();
    for key in keys {
        let attempt = attempt(key);
        let Begun::Reserved { fence } = store.begin(&attempt).await.unwrap() else { panic!("{key} is new") };
        assert!(store.dispatch(&attempt.key, fence, Duration::ZERO).await.unwrap());
    }
    store.close().await.unwrap();
}

async fn begun(url: &str, key: &str) -> Begun {
    let store = open(url, &Options::default()).await.unwrap();
    let begun = store.begin(&attempt(key)).await.unwrap();
    store.close().await.unwrap();
    begun
}

#[test]
fn what_is_in_doubt_is_listed_and_settled_by_name_and_fence() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("state.db").display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(vanish(&url, &["once:bank:pay:alice:1", "once:bank:pay:alice:2"]));

    let listed = run(&["doubts", "--state", &url]);
    assert_eq!(listed.code, 1, "{}", listed.stderr);
    assert!(
        listed.stdout.starts_with("key ") && listed.stdout.contains("once:bank:pay:alice:2"),
        "{}",
        listed.stdout
    );
    let json = run(&["doubts", "--state", &url, "--format", "json", "--under", "once:bank:"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    let doubts = json["doubts"].as_array().unwrap();
    assert_eq!((json["version"].as_u64(), doubts.len()), (Some(1), 2));
    let fence = |nth: usize| doubts[nth]["fence"].as_str().unwrap().to_owned();

    let settle = |key: &str, fence: &str, how: &str| {
        run(&["doubts", "--state", &url, "--settle", key, "--fence", fence, "--as", how])
    };
    let wrong = settle("once:bank:pay:alice:1", "17", "happened");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("is not in doubt with the fence 17"), "{}", wrong.stderr);
    let settled = settle("once:bank:pay:alice:1", &fence(0), "happened");
    assert_eq!(
        (settled.code, settled.stdout.as_str()),
        (0, "settled: once:bank:pay:alice:1 is not run again\n")
    );
    assert_eq!(settle("once:bank:pay:alice:2", &fence(1), "never-happened").code, 0);
    let empty = run(&["doubts", "--state", &url]);
    assert_eq!((empty.code, empty.stdout.as_str()), (0, "Nothing is in doubt.\n"));
    assert!(matches!(runtime.block_on(begun(&url, "once:bank:pay:alice:1")), Begun::Ended(_)));
    assert!(matches!(runtime.block_on(begun(&url, "once:bank:pay:alice:2")), Begun::Reserved { .. }));
}

#[test]
fn state_in_memory_and_half_a_settlement_are_misuse() {
    let memory = run(&["doubts", "--state", "memory:"]);
    assert_eq!(memory.code, 2);
    assert!(memory.stderr.contains("admin page"), "{}", memory.stderr);
    assert_eq!(run(&["doubts", "--state", "sqlite:x.db", "--settle", "k"]).code, 2);
}
