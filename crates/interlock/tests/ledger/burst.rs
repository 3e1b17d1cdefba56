//! The headline: a hundred parallel transfers of the whole balance.

use serde_json::{Value, json};

use crate::{
    backends::{BACKENDS, State},
    kit::{Server, successes},
};

/// How many bursts the naive twin may survive by luck.
const BURSTS: usize = 20;

fn transfers() -> impl Iterator<Item = (&'static str, Value)> {
    let transfer = json!({ "fromUserId": "alice", "toUserId": "bob", "amount": 100 });
    std::iter::repeat_n(("transfer_credits", transfer), 100)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_parallel_transfers_of_the_whole_balance_one_succeeds() {
    for backend in BACKENDS {
        let state = State::new(backend);
        let ledger = Server::ledger(&["--state", &state.url]);
        let client = ledger.client().await;
        let said = client.burst(transfers()).await;
        assert_eq!(successes(&said), 1, "{backend}");
        let refusals = said.iter().filter_map(|(_, said)| said.as_ref().err());
        for words in refusals {
            assert!(words.contains("account `alice` has 0 credits"), "{backend}: {words}");
        }
        assert_eq!((client.balance("alice").await, client.balance("bob").await), (0, 100), "{backend}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_protection_more_than_one_succeeds() {
    for backend in BACKENDS {
        let mut succeeded = Vec::new();
        for _ in 0..BURSTS {
            let state = State::new(backend);
            let ledger = Server::ledger(&["--unsafe", "--state", &state.url]);
            let client = ledger.client().await;
            succeeded.push(successes(&client.burst(transfers()).await));
            if succeeded.last() > Some(&1) {
                assert!(client.balance("alice").await < 0, "{backend}: money was made");
                break;
            }
        }
        assert!(succeeded.last() > Some(&1), "{backend}: {succeeded:?}");
    }
}
