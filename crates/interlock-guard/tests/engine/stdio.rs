//! One client on stdio, in front of a child.

use interlock_guard::policy::Sharing;
use serde_json::{Value, json};

use crate::kit::{Pipe, call, engine, parrot, text, upstream};

fn guard() -> Pipe {
    Pipe::to(engine(vec![upstream("parrot", "", parrot(), Sharing::One)]))
}

#[tokio::test]
async fn bytes_that_mean_nothing_to_the_guard_arrive_as_they_were_sent() {
    let mut pipe = guard();
    pipe.begin("{}").await;
    let odd = r#"{"jsonrpc":"2.0",  "x-new":[1.0,2e3,"é\u00e9"],"id":"a\n","method":"tools/call","params":{"future":{"deep":null},"name":"echo","arguments":{"n":12345678901234567890.5,"z":1,"a":2}}}"#;
    pipe.say(odd).await;
    let (_, answer) = pipe.until(&json!("a\n")).await;
    let arrived = text(&answer);
    let (before, after) = odd.split_once(r#""a\n""#).unwrap();
    assert!(arrived.starts_with(before), "{arrived}");
    assert!(arrived.ends_with(after), "{arrived}");
}

#[tokio::test]
async fn progress_comes_with_the_clients_own_token_before_the_answer() {
    let mut pipe = guard();
    pipe.begin("{}").await;
    pipe.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":"mine"}}}"#)
        .await;
    let (before, answer) = pipe.until(&json!(1)).await;
    assert_eq!(text(&answer), "done");
    assert_eq!(before.len(), 1);
    assert_eq!(before[0]["params"]["progressToken"], "mine");
}

#[tokio::test]
async fn what_the_server_asks_goes_to_the_client_and_its_answer_back() {
    let mut pipe = guard();
    pipe.begin(r#"{"sampling":{}}"#).await;
    pipe.say(&call("1", "ask", "{}")).await;
    let question = loop {
        let message = pipe.hear().await;
        if message["method"] == "sampling/createMessage" {
            break message;
        }
    };
    pipe.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "model": "m" } }).to_string())
        .await;
    let (_, answer) = pipe.until(&json!(1)).await;
    let got: Value = serde_json::from_str(&text(&answer)).unwrap();
    assert_eq!(got, json!({ "jsonrpc": "2.0", "id": "q", "result": { "model": "m" } }));
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_the_server_hears_of_it_under_its_own_number() {
    let mut pipe = guard();
    pipe.begin("{}").await;
    pipe.say(&call("\"slow\"", "wait", r#"{"ms":300}"#)).await;
    // The server has it once it has what came after it.
    pipe.say(&call("1", "heard", "{}")).await;
    let (_, heard) = pipe.until(&json!(1)).await;
    let heard = text(&heard);
    let sent: Value = heard
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|line: &Value| line.pointer("/params/name") == Some(&json!("wait")))
        .unwrap();
    pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow","reason":"enough"}}"#)
        .await;
    pipe.say(&call("2", "wait", r#"{"ms":600}"#)).await;
    let (before, _) = pipe.until(&json!(2)).await;
    assert_eq!(before, Vec::<Value>::new());
    pipe.say(&call("3", "heard", "{}")).await;
    let (_, heard) = pipe.until(&json!(3)).await;
    let cancelled = text(&heard)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|line: &Value| line["method"] == "notifications/cancelled")
        .unwrap();
    assert_eq!(cancelled["params"]["requestId"], sent["id"]);
    assert_eq!(cancelled["params"]["reason"], "enough");
}

#[tokio::test]
async fn a_server_that_dies_fails_its_calls_at_once_and_is_greeted_again_when_it_is_back() {
    let parrot = upstream("parrot", "", parrot(), Sharing::One);
    let mut pipe = Pipe::to(engine(vec![parrot.clone()]));
    pipe.begin("{}").await;
    pipe.say(&call("1", "wait", r#"{"ms":600000}"#)).await;
    pipe.say(&call("2", "die", "{}")).await;
    let mut failed = Vec::new();
    for _ in 0..2 {
        let answer = pipe.hear().await;
        assert!(answer.to_string().contains("ended") || answer.to_string().contains("closed"), "{answer}");
        failed.push(answer["id"].as_i64().unwrap());
    }
    failed.sort_unstable();
    assert_eq!(failed, [1, 2]);
    parrot.start().unwrap();
    pipe.say(&call("3", "heard", "{}")).await;
    let (_, heard) = pipe.until(&json!(3)).await;
    let methods: Vec<String> = text(&heard)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["method"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(&methods[..2], ["initialize", "notifications/initialized"]);
}

#[tokio::test]
async fn ids_of_other_types_duplicates_and_junk_are_answered_with_errors() {
    let mut pipe = guard();
    pipe.begin("{}").await;
    for id in ["null", "1.5", "true", "{}", "[1]"] {
        pipe.say(&call(id, "echo", "{}")).await;
        let answer = pipe.hear().await;
        assert_eq!(answer["error"]["code"], -32600, "{id}");
    }
    for (junk, code) in [
        ("{", -32700),
        ("\u{feff}{}", -32700),
        ("[]", -32600),
        ("7", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
    ] {
        pipe.say(junk).await;
        assert_eq!(pipe.hear().await["error"]["code"], code, "{junk}");
    }
    pipe.say(r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32600);
    pipe.say(&call("7", "wait", r#"{"ms":500}"#)).await;
    pipe.say(&call("7", "echo", "{}")).await;
    let first = pipe.hear().await;
    assert_eq!((first["id"].clone(), first["error"]["code"].clone()), (json!(7), json!(-32600)));
    assert_eq!(text(&pipe.hear().await), "waited");
}

#[tokio::test]
async fn several_servers_look_like_one() {
    let upstreams =
        vec![upstream("a", "a__", parrot(), Sharing::One), upstream("b", "b__", parrot(), Sharing::One)];
    let mut pipe = Pipe::to(engine(upstreams));
    pipe.begin("{}").await;
    pipe.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let (_, list) = pipe.until(&json!(1)).await;
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 16);
    assert!(names.contains(&"a__echo") && names.contains(&"b__echo"), "{names:?}");
    pipe.say(&call("2", "b__echo", r#"{"x":1}"#)).await;
    let (_, answer) = pipe.until(&json!(2)).await;
    let arrived: Value = serde_json::from_str(&text(&answer)).unwrap();
    assert_eq!(arrived["params"], json!({ "name": "echo", "arguments": { "x": 1 } }));
    pipe.say(&call("3", "c__echo", "{}")).await;
    let (_, answer) = pipe.until(&json!(3)).await;
    assert_eq!(answer["error"]["code"], -32602);
}
