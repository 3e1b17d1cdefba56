//! Orders, with a provider that loses answers, fails and dawdles.

use serde_json::json;

use crate::{
    backends::BACKENDS,
    kit::{Server, successes},
    shop::{Shop, order},
};

/// An answer that takes longer is taken for lost.
const IMPATIENT: &[&str] = &["--payment-timeout", "400"];

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_charged_once_however_many_ask_at_the_same_time() {
    for backend in BACKENDS {
        let shop = Shop::open(backend, IMPATIENT).await;
        let said = shop.client.burst(std::iter::repeat_n(("process_order", order()), 12)).await;
        assert_eq!((successes(&said), shop.provider.charges().await), (12, 1), "{backend}");
        assert!(said.iter().all(|(_, said)| said.as_ref().unwrap()["chargeId"] == "charge-1"), "{backend}");
        assert_eq!(shop.status().await, "completed", "{backend}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_is_lost_once_is_asked_for_again_under_the_same_key() {
    for faults in [json!({ "dropReplies": 1 }), json!({ "failNext": 1 })] {
        let shop = Shop::open("memory", IMPATIENT).await;
        shop.provider.misbehave(faults.clone()).await;
        assert_eq!(shop.process().await.unwrap()["status"], "completed", "{faults}");
        assert_eq!(shop.provider.charges().await, 1, "{faults}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_charge_is_in_doubt_says_so_and_is_settled_without_a_second_charge() {
    for backend in BACKENDS {
        for faults in [json!({ "dropReplies": 100 }), json!({ "delayMs": 1500 }), json!({ "failNext": 100 })]
        {
            let shop = Shop::open(backend, IMPATIENT).await;
            shop.provider.misbehave(faults.clone()).await;
            for _ in 0..2 {
                let words = shop.process().await.unwrap_err();
                assert!(words.contains("in doubt"), "{backend}, {faults}: {words}");
                assert_eq!(shop.status().await, "inDoubt", "{backend}, {faults}");
            }
            shop.provider.misbehave(json!({})).await;
            assert_eq!(shop.process().await.unwrap()["status"], "completed", "{backend}, {faults}");
            assert_eq!(shop.provider.charges().await, 1, "{backend}, {faults}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_naive_twin_charges_twice_when_an_answer_is_lost_or_late() {
    for faults in [json!({ "dropReplies": 1 }), json!({ "delayMs": 1000 })] {
        let shop = Shop::open("memory", &[IMPATIENT, &["--unsafe"]].concat()).await;
        shop.provider.misbehave(faults.clone()).await;
        assert!(shop.process().await.unwrap_err().contains("pending again"), "{faults}");
        shop.provider.misbehave(json!({})).await;
        assert_eq!(shop.process().await.unwrap()["status"], "completed", "{faults}");
        assert_eq!(shop.provider.charges().await, 2, "{faults}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_provider_nothing_is_charged_and_the_order_can_be_tried_again() {
    let mut shop = Shop::open("memory", IMPATIENT).await;
    shop.provider.0.kill();
    let words = shop.process().await.unwrap_err();
    assert!(words.contains("not reachable") && words.contains("not charged"), "{words}");
    assert_eq!(shop.status().await, "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_somebody_elses_and_one_that_is_not_there_are_refused() {
    let shop = Shop::open("memory", IMPATIENT).await;
    let process = |order: &str, user: &str| {
        shop.client
            .call("process_order", json!({ "orderId": order, "userId": user, "paymentMethodId": "card" }))
    };
    assert!(process("order-1", "bob").await.unwrap_err().contains("is not bob's"));
    assert!(process("order-9", "alice").await.unwrap_err().contains("there is no order `order-9`"));
    assert_eq!(shop.provider.charges().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ledgers_own_provider_ends_with_it_even_when_it_is_killed() {
    let mut ledger = Server::start(&["ledger", "--seed", "--listen", "127.0.0.1:0"]);
    let client = ledger.client().await;
    assert_eq!(client.call("process_order", order()).await.unwrap()["status"], "completed");
    let children = format!("/proc/{0}/task/{0}/children", ledger.child.id());
    let provider = std::fs::read_to_string(children).unwrap().trim().to_owned();
    assert!(!provider.is_empty() && is_running(&provider));
    ledger.kill();
    while is_running(&provider) {
        tokio::task::yield_now().await;
    }
}

fn is_running(process: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with('Z'))
}
