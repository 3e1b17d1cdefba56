//! The log of every mutation.

use std::sync::Arc;

use interlock_ledger::audit::{Line, Phase, lines, mutations};
use interlock_sync::{memory::MemoryStore, store::Store};
use serde_json::json;

use crate::{Ledger, flaky::Flaky};

#[tokio::test]
async fn each_mutation_is_logged_with_who_what_and_from_which_version_to_which() {
    for is_naive in [false, true] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let ledger = Ledger::serve(store.clone(), is_naive).await;
        let seeded = mutations(&*store).await.unwrap().len();
        assert_eq!(seeded, 5);
        let calls = [
            ("transfer_credits", json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 1 })),
            ("update_document", json!({ "id": "doc-1", "body": "x", "version": version(&ledger).await })),
            ("create_report", json!({ "reportId": "r", "content": "x" })),
            ("delete_file", json!({ "fileId": "file-1" })),
            ("increment_usage", json!({ "amount": 1 })),
        ];
        for (tool, arguments) in calls {
            ledger.call(tool, arguments).await.expect(tool);
        }
        // What is refused or only looks is not a mutation.
        ledger.call("debit_balance", json!({ "userId": "alice", "amount": 1000 })).await.unwrap_err();
        ledger.call("get_usage", json!({})).await.unwrap();

        let log = mutations(&*store).await.unwrap();
        let described: Vec<String> = log.iter().skip(seeded).map(described).collect();
        let transfer: &[&str] = if is_naive {
            &["caller transfer_credits account:alice v>v", "caller transfer_credits account:bob v>v"]
        } else {
            &["caller transfer_credits account:alice v>v account:bob v>v"]
        };
        let rest = [
            "caller update_document document:doc-1 v>v",
            "caller create_report report:r ->v",
            "caller delete_file file:file-1 v>-",
            "caller increment_usage usage:caller ->v",
        ];
        assert_eq!(described, [transfer, &rest].concat());
    }
}

#[tokio::test(start_paused = true)]
async fn a_mutation_that_was_announced_and_never_concluded_is_asked_of_the_store() {
    let store = Arc::new(Flaky::default());
    let ledger = Ledger::serve(store.clone(), false).await;
    store.loses_answers(true);
    let transfer = json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 1 });
    ledger.call("transfer_credits", transfer).await.unwrap_err();
    store.loses_answers(false);

    let last = lines(&*store, 0, 1000).await.unwrap().pop().unwrap();
    assert_eq!((last.line.phase, last.line.tool.as_str()), (Phase::Intended, "transfer_credits"));
    let log = mutations(&*store).await.unwrap();
    assert_eq!(described(log.last().unwrap()), "caller transfer_credits account:alice v>v account:bob v>v");
}

#[tokio::test(start_paused = true)]
async fn a_line_whose_answer_is_lost_stands_in_the_log_once() {
    let store = Arc::new(Flaky::default());
    let ledger = Ledger::serve(store.clone(), false).await;
    let before = lines(&*store, 0, 1000).await.unwrap().len();
    store.loses_entries(1);
    ledger.call("increment_usage", json!({ "amount": 1 })).await.unwrap();
    let phases: Vec<Phase> =
        lines(&*store, 0, 1000).await.unwrap().iter().skip(before).map(|noted| noted.line.phase).collect();
    assert_eq!(phases, [Phase::Intended, Phase::Applied]);
}

async fn version(ledger: &Ledger) -> serde_json::Value {
    ledger.call("get_document", json!({ "id": "doc-1" })).await.unwrap()["version"].clone()
}

/// A line in short: `v` is a version and `-` is none.
fn described(line: &Line) -> String {
    let version = |version: &Option<String>| if version.is_some() { "v" } else { "-" };
    let changes = line
        .changes
        .iter()
        .map(|change| format!(" {} {}>{}", change.key, version(&change.from), version(&change.to)));
    format!("{} {}{}", line.caller, line.tool, changes.collect::<String>())
}
