//! Many at once.

use std::sync::Arc;

use interlock_sync::store::{Change, Mutation, OpId, Outcome, Refusal, Store};

use super::{apply, key, number, open, put, server};

const ACCOUNTS: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_of_many_tasks_through_two_clients_conserve_the_sum() {
    let redis = server();
    let clients = [open(&redis.url()).await, open(&redis.url()).await];
    for name in ACCOUNTS {
        apply(&*clients[0], &put(name, 100)).await;
    }
    let tasks: Vec<_> = (0..64).map(|task| tokio::spawn(send(task, clients.clone()))).collect();
    let mut applied = 0;
    for task in tasks {
        applied += task.await.unwrap();
    }
    assert!(applied > 0);
    let mut sum = 0;
    for name in ACCOUNTS {
        let balance = number(&*clients[1], name).await.unwrap();
        assert!(balance >= 0, "{name} has {balance}");
        sum += balance;
    }
    assert_eq!(sum, 400);
}

/// Sends each transfer through both clients at once, as a client that lost patience would, and says how many were applied.
async fn send(task: usize, clients: [Arc<dyn Store>; 2]) -> usize {
    let mut applied = 0;
    for round in 0..20 {
        let (from, to) = (ACCOUNTS[(task + round) % 4], ACCOUNTS[(task * 3 + round * 2 + 1) % 4]);
        let amount = i64::try_from((task * 7 + round * 11) % 90 + 1).unwrap();
        let change = Change::Transfer { from: key(from), to: key(to), amount, floor: 0 };
        let mutation = Mutation::new(OpId::fresh(), change);
        let (one, other) = tokio::join!(clients[0].mutate(&mutation), clients[1].mutate(&mutation));
        let mut first_times = 0;
        for outcome in [one.unwrap(), other.unwrap()] {
            match outcome {
                Outcome::Applied(done) => first_times += usize::from(!done.replayed),
                Outcome::Refused(Refusal::Short { .. }) => {}
                Outcome::Refused(refusal) => panic!("{refusal:?}"),
            }
        }
        assert!(first_times <= 1, "{mutation:?} was applied twice");
        applied += first_times;
    }
    applied
}
