//! How a server ends: the calls under way are answered, new ones are not begun.

use std::process::Stdio;

use rmcp::ServiceExt;
use serde_json::json;

use crate::{
    kit::{Client, interlock},
    shop::{Provider, Shop, order},
};

/// A provider that takes so long keeps the call under way while the server is told to end.
const SLOW: u32 = 800;
const ENDLESS: u32 = 100_000;

#[tokio::test(flavor = "multi_thread")]
async fn when_told_to_end_it_answers_the_calls_under_way_and_refuses_new_ones() {
    for signal in ["TERM", "INT"] {
        let mut shop = Shop::open("memory", &[]).await;
        shop.provider.misbehave(json!({ "delayMs": SLOW })).await;
        let client = shop.client.clone();
        let under_way = tokio::spawn(async move { client.call("process_order", order()).await });
        shop.provider.has_charged().await;
        shop.ledger.signal(signal);
        let refused = loop {
            match shop.client.try_call("get_usage", json!({})).await {
                Ok(Err(words)) => break words,
                // The signal had not arrived yet.
                Ok(Ok(_)) => {}
                Err(gone) => panic!("{signal}: it ended before the call under way: {gone}"),
            }
        };
        assert!(refused.contains("the server is closing"), "{signal}: {refused}");
        assert_eq!(under_way.await.unwrap().unwrap()["status"], "completed", "{signal}");
        assert_eq!(shop.ledger.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn told_twice_or_out_of_time_it_ends_with_the_call_unanswered_and_says_so() {
    for (grace, is_told_twice) in [("100000", true), ("1", false)] {
        let mut shop = Shop::open("memory", &["--payment-timeout", "100000", "--grace", grace]).await;
        shop.provider.misbehave(json!({ "delayMs": ENDLESS })).await;
        let client = shop.client.clone();
        tokio::spawn(async move { client.try_call("process_order", order()).await });
        shop.provider.has_charged().await;
        shop.ledger.signal("TERM");
        while is_told_twice && shop.ledger.child.try_wait().unwrap().is_none() {
            shop.ledger.signal("TERM");
        }
        assert_eq!(shop.ledger.child.wait().unwrap().code(), Some(2), "{grace}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_stdio_too_the_call_under_way_is_answered() {
    let provider = Provider::start();
    provider.misbehave(json!({ "delayMs": SLOW })).await;
    let mut child =
        tokio::process::Command::from(interlock(&["ledger", "--seed", "--payments", provider.url()]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
    let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    let client = Client::over(().serve(pipes).await.unwrap());
    let under_way = tokio::spawn(async move { client.call("process_order", order()).await });
    provider.has_charged().await;
    let told = std::process::Command::new("kill").arg(child.id().unwrap().to_string()).status();
    assert!(told.unwrap().success());
    assert_eq!(under_way.await.unwrap().unwrap()["status"], "completed");
    assert!(child.wait().await.unwrap().success());
}
