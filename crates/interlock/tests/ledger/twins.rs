//! Each tool under parallel calls: the naive twin breaks, the safe one holds.
//!
//! A scenario plays on a fresh server and says whether something happened that no order of the same calls could bring about. Each is
//! played on both twins, so that what shows the one to hold is also shown to be able to fail.

use std::{pin::Pin, time::Instant};

use serde_json::{Value, json};

use crate::{
    backends::{BACKENDS, State},
    kit::{Client, Server, successes},
};

/// How often a scenario is played: until the naive twin breaks, or this often; on the safe twin a few times.
const TRIALS: usize = 30;
const TRIALS_ON_SAFE: usize = 2;

/// How many calls are made at once.
const AT_ONCE: usize = 24;

type Playing = Pin<Box<dyn Future<Output = bool>>>;

async fn breaks(scenario: fn(Client) -> Playing, backend: &str, options: &[&str]) -> bool {
    let state = State::new(backend);
    let ledger = Server::ledger(&[&["--state", state.url.as_str()], options].concat());
    scenario(ledger.client().await).await
}

/// Plays a scenario on both twins, on each backend.
async fn check(scenario: fn(Client) -> Playing, options: &[&str]) {
    for backend in BACKENDS {
        for _ in 0..TRIALS_ON_SAFE {
            assert!(!breaks(scenario, backend, options).await, "the safe twin broke on {backend}");
        }
        let naive = [&["--unsafe"], options].concat();
        let mut broke = false;
        for _ in 0..TRIALS {
            broke = breaks(scenario, backend, &naive).await;
            if broke {
                break;
            }
        }
        assert!(broke, "the naive twin held on {backend}");
    }
}

/// The same call many times.
fn same(tool: &'static str, arguments: Value) -> impl Iterator<Item = (&'static str, Value)> {
    std::iter::repeat_n((tool, arguments), AT_ONCE)
}

/// Whether more than one of calls succeeds that exclude each other.
async fn more_than_one(client: &Client, tool: &'static str, arguments: Value) -> bool {
    successes(&client.burst(same(tool, arguments)).await) != 1
}

#[tokio::test(flavor = "multi_thread")]
async fn credits_are_not_spent_twice() {
    let spend = |client: Client| -> Playing {
        Box::pin(async move {
            more_than_one(
                &client,
                "spend_credits",
                json!({ "userId": "alice", "amount": 100, "reason": "tea" }),
            )
            .await
        })
    };
    check(spend, &[]).await;
    let debit = |client: Client| -> Playing {
        Box::pin(async move {
            more_than_one(&client, "debit_balance", json!({ "userId": "alice", "amount": 60 })).await
        })
    };
    check(debit, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_credit_is_lost() {
    let credit = |client: Client| -> Playing {
        Box::pin(async move {
            let said = client.burst(same("credit_balance", json!({ "userId": "bob", "amount": 1 }))).await;
            client.balance("bob").await != i64::try_from(successes(&said)).unwrap()
        })
    };
    check(credit, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_created_once_and_updated_over_what_was_read() {
    let create = |client: Client| -> Playing {
        Box::pin(async move {
            more_than_one(&client, "create_report", json!({ "reportId": "r", "content": "x" })).await
        })
    };
    check(create, &[]).await;
    let update = |client: Client| -> Playing {
        Box::pin(async move {
            let made =
                client.call("create_report", json!({ "reportId": "r", "content": "x" })).await.unwrap();
            more_than_one(
                &client,
                "update_report",
                json!({ "reportId": "r", "content": "y", "hash": made["hash"] }),
            )
            .await
        })
    };
    check(update, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_entry_of_a_users_file_is_lost() {
    let add = |client: Client| -> Playing {
        Box::pin(async move {
            let entry =
                |n: usize| ("process_user_file", json!({ "userId": "alice", "entry": n.to_string() }));
            let said = client.burst((0..AT_ONCE).map(entry)).await;
            let last = client.call("process_user_file", json!({ "userId": "alice", "entry": "last" })).await;
            let kept = last.map(|file| file["entries"].as_array().map_or(0, Vec::len));
            // A file that was torn apart cannot be read any more.
            kept != Ok(successes(&said) + 1)
        })
    };
    check(add, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_created_once_and_updated_over_the_version_that_was_read() {
    let create = |client: Client| -> Playing {
        Box::pin(
            async move { more_than_one(&client, "create_document", json!({ "id": "d", "body": "x" })).await },
        )
    };
    check(create, &[]).await;
    let update = |client: Client| -> Playing {
        Box::pin(async move {
            let read = client.call("get_document", json!({ "id": "doc-1" })).await.unwrap();
            more_than_one(
                &client,
                "update_document",
                json!({ "id": "doc-1", "body": "y", "version": read["version"] }),
            )
            .await
        })
    };
    check(update, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_given_away_is_not_deleted_by_its_former_owner() {
    let race = |client: Client| -> Playing {
        Box::pin(async move {
            let delete = ("delete_file", json!({ "fileId": "file-1" }));
            let give = ("transfer_file", json!({ "fileId": "file-1", "toUserId": "bob" }));
            let calls = std::iter::repeat_n([give, delete], AT_ONCE / 2).flatten();
            let said = client.burst(calls).await;
            let done = |wanted: &str| said.iter().any(|(tool, said)| *tool == wanted && said.is_ok());
            done("delete_file") && done("transfer_file")
        })
    };
    check(race, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_usage_is_lost() {
    let count = |client: Client| -> Playing {
        Box::pin(async move {
            let said = client.burst(same("increment_usage", json!({ "amount": 1 }))).await;
            let usage = client.call("get_usage", json!({})).await.unwrap();
            usage["used"] != successes(&said)
        })
    };
    check(count, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rate_is_not_overrun() {
    let hurry = |client: Client| -> Playing {
        Box::pin(async move {
            let start = Instant::now();
            let said = client.burst(same("get_account", json!({ "userId": "alice" }))).await;
            // Ten at once, and one more for every six seconds that this machine took.
            let bound = 10 + usize::try_from(start.elapsed().as_secs() / 6).unwrap() + 1;
            successes(&said) > bound
        })
    };
    check(hurry, &["--rate", "10/min"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn excess_calls_wait_for_a_permit() {
    for backend in BACKENDS {
        let state = State::new(backend);
        let ledger = Server::ledger(&["--state", &state.url, "--in-flight", "2"]);
        let client = ledger.client().await;
        let said = client.burst(same("increment_usage", json!({ "amount": 1 }))).await;
        assert_eq!(successes(&said), AT_ONCE, "{backend}");
    }
}
