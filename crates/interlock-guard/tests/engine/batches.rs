//! Batches, which the revision of 2025-03-26 alone has.

use interlock_guard::policy::Sharing;
use serde_json::{Value, json};

use crate::kit::{Pipe, call, engine, hello, over_parrot, parrot, post, text, upstream};

/// Two calls and a notification between them.
fn batch() -> String {
    let told = r#"{"jsonrpc":"2.0","method":"notifications/told"}"#;
    format!("[{},{told},{}]", call("1", "wait", r#"{"ms":50}"#), call("\"two\"", "heard", "{}"))
}

fn check(answers: &Value) {
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 2, "{answers:?}");
    let by_id = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(text(by_id(json!(1))), "waited");
    assert!(text(by_id(json!("two"))).contains("tools/call"));
}

#[tokio::test]
async fn the_requests_of_a_batch_are_answered_together_in_the_revision_that_has_batches() {
    let address = over_parrot(Sharing::One).await;
    let got = post(address, "", &hello("2025-03-26", "{}")).await;
    let own = format!("mcp-session-id: {}\r\n", got.header("mcp-session-id").unwrap());
    let got = post(address, &own, &batch()).await;
    assert_eq!(got.status, 200);
    check(&got.json());
    let told = r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    assert_eq!(post(address, &own, told).await.status, 202, "nothing in it wants an answer");
    let twice = format!("[{0},{0}]", call("1", "wait", "{}"));
    let got = post(address, &own, &twice).await;
    let codes: Vec<Value> =
        got.json().as_array().unwrap().iter().map(|one| one["error"]["code"].clone()).collect();
    assert!(codes.contains(&json!(-32600)), "an id stands for one request: {codes:?}");
    assert_eq!(post(address, "", &batch()).await.status, 400, "a batch belongs to a session");
}

#[tokio::test]
async fn a_batch_on_stdio_is_answered_in_one_line_and_in_other_revisions_with_an_error() {
    for (version, has_batches) in [("2025-03-26", true), ("2025-11-25", false)] {
        let mut pipe = Pipe::to(engine(vec![upstream("parrot", "", parrot(), Sharing::One)]));
        pipe.say(&hello(version, "{}")).await;
        pipe.until(&0.into()).await;
        pipe.say(&batch()).await;
        let answer = pipe.hear().await;
        if has_batches {
            check(&answer);
        } else {
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
        }
    }
}
