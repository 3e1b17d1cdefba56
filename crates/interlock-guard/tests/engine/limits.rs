//! What is too much, and what was left behind.

use std::{sync::Arc, time::Duration};

use interlock_guard::{
    listen::Options,
    policy::{ListenLimits, Sharing},
};

use tokio::time::timeout;

use crate::kit::{
    PATIENCE, Stream, call, engine, listening, parrot, post, session, stateless, stopped, text, upstream,
};

fn with(limits: ListenLimits) -> Options {
    Options { limits, ..Options::default() }
}

#[tokio::test]
async fn a_request_beyond_the_limit_is_told_when_to_come_back_and_is_not_taken_in() {
    let options = with(ListenLimits { requests: 1, ..ListenLimits::default() });
    let address = listening(engine(vec![upstream("parrot", "", parrot(), Sharing::One)]), options).await;
    let own = session(address).await;
    let body = call("1", "wait", r#"{"ms":3000}"#);
    let slow = tokio::spawn({
        let own = own.clone();
        async move {
            loop {
                let got = post(address, &own, &body).await;
                if got.status != 429 {
                    return got;
                }
            }
        }
    });
    // One of them has the only place, sooner or later the slow one.
    let refused = loop {
        let got = stateless(address, "tools/call", Some("echo"), r#""name":"echo","#, "").await;
        if got.status != 200 {
            break got;
        }
    };
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    assert!(!refused.body.contains("jsonrpc"), "nothing was taken in that could be answered: {refused:?}");
    let slow = slow.await.unwrap();
    let answer = slow.events().pop().unwrap_or_else(|| slow.json());
    assert_eq!(text(&answer), "waited", "who was there first is not troubled");
    assert_eq!(post(address, &own, &call("2", "echo", "{}")).await.status, 200, "and then there is room");
}

#[tokio::test]
async fn a_session_that_its_client_left_without_a_word_ends_and_one_that_listens_does_not() {
    let options = with(ListenLimits { idle: Duration::from_secs(1), ..ListenLimits::default() });
    let parrot = upstream("parrot", "", parrot(), Sharing::PerSession);
    let address = listening(engine(vec![Arc::clone(&parrot)]), options).await;
    let left = session(address).await;
    stopped(&parrot).await;
    assert_eq!(post(address, &left, &call("1", "echo", "{}")).await.status, 404);

    // On a slow machine a session may be over before its stream is opened.
    let listening = async {
        loop {
            let listens = session(address).await;
            match Stream::try_open(address, &listens, "").await {
                Ok(stream) => break (listens, stream),
                Err(status) => assert!(status.contains("404"), "{status}"),
            }
        }
    };
    let (listens, mut stream) = timeout(PATIENCE, listening).await.expect("one is in time");
    let other = session(address).await;
    // The sweep that ends the other one passes over the first, which has been silent for longer.
    while parrot.own_processes().len() > 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(post(address, &other, &call("1", "echo", "{}")).await.status, 404);
    assert_eq!(post(address, &listens, &call("1", "change", "{}")).await.status, 200);
    assert_eq!(stream.next().await.1["method"], "notifications/tools/list_changed");
}
