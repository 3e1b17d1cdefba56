//! A store that goes away while the server runs, and comes back.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Ledger, flaky::Flaky};

fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("transfer_credits", json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 1 })),
        ("spend_credits", json!({ "userId": "alice", "amount": 1, "reason": "tea" })),
        ("get_account", json!({ "userId": "alice" })),
        ("process_order", json!({ "orderId": "order-1", "userId": "alice", "paymentMethodId": "card" })),
        ("create_report", json!({ "reportId": "r", "content": "x" })),
        ("process_user_file", json!({ "userId": "u", "entry": "x" })),
        ("create_document", json!({ "id": "d", "body": "x" })),
        ("delete_file", json!({ "fileId": "file-1" })),
        ("list_files", json!({})),
        ("increment_usage", json!({ "amount": 1 })),
    ]
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_away_every_tool_says_so_and_nothing_changes_and_then_it_works_again() {
    for is_naive in [false, true] {
        let store = Arc::new(Flaky::default());
        let ledger = Ledger::serve(store.clone(), is_naive).await;
        store.goes_away(true);
        for (tool, arguments) in calls() {
            let words = ledger.call(tool, arguments).await.expect_err(tool);
            let nothing_happened = words.contains("was not run") || words.contains("nothing was changed");
            assert!(words.contains("not reachable") && nothing_happened, "{tool}: {words}");
        }
        store.goes_away(false);
        let account = ledger.call("get_account", json!({ "userId": "alice" })).await.unwrap();
        assert_eq!(account["balance"], 100);
        assert_eq!(ledger.call("get_usage", json!({})).await.unwrap()["used"], 0);
        assert!(ledger.call("create_report", json!({ "reportId": "r", "content": "x" })).await.is_ok());
        assert!(ledger.call("create_document", json!({ "id": "d", "body": "x" })).await.is_ok());
        let entries = ledger.call("process_user_file", json!({ "userId": "u", "entry": "y" })).await.unwrap();
        assert_eq!(entries["entries"], json!(["y"]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_is_lost_says_that_it_is_in_doubt() {
    let store = Arc::new(Flaky::default());
    let ledger = Ledger::serve(store.clone(), false).await;
    store.loses_answers(true);
    let transfer = json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 1 });
    let words = ledger.call("transfer_credits", transfer).await.unwrap_err();
    assert!(words.contains("may or may not have been made"), "{words}");
    store.loses_answers(false);
    // It was sent several times under one id, and took effect once.
    assert_eq!(ledger.call("get_account", json!({ "userId": "bob" })).await.unwrap()["balance"], 1);
}
