//! `kill -9` in the middle of transfers: after a restart on the same state the sum is what it was.

use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    backends::{State, lasting},
    kit::{Client, Server},
};

/// How often it is killed, and after how many answers.
const KILLS: usize = 4;
const ANSWERS: usize = 30;

/// How many clients transfer at once.
const CLIENTS: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn credits_are_conserved_when_the_server_is_killed_in_the_middle_of_transfers() {
    for backend in lasting() {
        let state = State::new(backend);
        for round in 0..KILLS {
            let mut ledger = Server::ledger(&["--state", &state.url]);
            let client = ledger.client().await;
            assert_eq!(sum(&client).await, 100, "{backend}, before kill {round}");
            let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
            let mut streams = JoinSet::new();
            for stream in 0..CLIENTS {
                let (client, answered) = (client.clone(), answered.clone());
                streams.spawn(async move {
                    for turn in stream.. {
                        let (from, to) = if turn % 2 == 0 { ("alice", "bob") } else { ("bob", "alice") };
                        let transfer = json!({ "fromUserId": from, "toUserId": to, "amount": 1 + turn % 7 });
                        if client.try_call("transfer_credits", transfer).await.is_err()
                            || answered.send(()).is_err()
                        {
                            return;
                        }
                    }
                });
            }
            for _ in 0..ANSWERS {
                answers.recv().await.expect("somebody is still answered");
            }
            ledger.kill();
            streams.shutdown().await;
        }
        let ledger = Server::ledger(&["--state", &state.url]);
        assert_eq!(sum(&ledger.client().await).await, 100, "{backend}, at the end");
    }
}

async fn sum(client: &Client) -> i64 {
    client.balance("alice").await + client.balance("bob").await
}
