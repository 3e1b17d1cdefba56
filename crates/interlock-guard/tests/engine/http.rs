//! Many clients over HTTP.

use interlock_guard::policy::Sharing;
use serde_json::{Value, json};

use crate::kit::{Stream, call, over_parrot, post, session, text};

#[tokio::test]
async fn clients_with_the_same_ids_and_tokens_get_their_own_answers_and_progress() {
    let address = over_parrot(Sharing::One).await;
    let sessions = [session(address).await, session(address).await];
    let bodies: Vec<String> = ["alpha", "beta"]
        .iter()
        .map(|word| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"progress","arguments":{{"word":"{word}"}},"_meta":{{"progressToken":"t"}}}}}}"#))
        .collect();
    let (one, two) =
        tokio::join!(post(address, &sessions[0], &bodies[0]), post(address, &sessions[1], &bodies[1]));
    for got in [one, two] {
        let events = got.events();
        assert_eq!(events.len(), 2, "{got:?}");
        assert_eq!(events[0]["params"]["progressToken"], "t");
        assert_eq!(events[1]["id"], 1);
    }
    let echoes = sessions.iter().enumerate().map(|(index, session)| {
        let body = call("1", "echo", &format!(r#"{{"n":{index}}}"#));
        async move { post(address, session, &body).await }
    });
    for (index, got) in futures_util::future::join_all(echoes).await.into_iter().enumerate() {
        let arrived: Value = serde_json::from_str(&text(&got.json())).unwrap();
        assert_eq!(arrived["params"]["arguments"]["n"], index);
    }
}

#[tokio::test]
async fn a_server_that_several_share_may_ask_none_of_them() {
    let address = over_parrot(Sharing::One).await;
    let own = session(address).await;
    let got = post(address, &own, &call("1", "ask", "{}")).await;
    let answered: Value = serde_json::from_str(&text(&got.json())).unwrap();
    assert_eq!(answered["error"]["code"], -32601, "{answered}");
}

#[tokio::test]
async fn a_server_of_ones_own_may_ask_its_client_and_only_that() {
    let address = over_parrot(Sharing::PerSession).await;
    let (own, other) = (session(address).await, session(address).await);
    let (mut stream, mut others) =
        (Stream::open(address, &own, "").await, Stream::open(address, &other, "").await);
    let question = call("1", "ask", "{}");
    let asking = post(address, &own, &question);
    let answering = async {
        let (_, question) = stream.next().await;
        assert_eq!(question["method"], "sampling/createMessage");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "model": "m" } });
        assert_eq!(post(address, &own, &answer.to_string()).await.status, 202);
    };
    let (got, ()) = tokio::join!(asking, answering);
    // A long call comes as a stream.
    let answer = got.events().pop().unwrap_or_else(|| got.json());
    let answered: Value = serde_json::from_str(&text(&answer)).unwrap();
    assert_eq!(answered["result"]["model"], "m");
    // What the other hears next is its own, so the question did not come to it.
    post(address, &other, &call("1", "change", "{}")).await;
    assert_eq!(others.next().await.1["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_stream_that_broke_off_is_taken_up_where_it_was_left() {
    let address = over_parrot(Sharing::One).await;
    let own = session(address).await;
    let mut stream = Stream::open(address, &own, "").await;
    post(address, &own, &call("1", "change", "{}")).await;
    let (first, message) = stream.next().await;
    assert_eq!(message["method"], "notifications/tools/list_changed");
    post(address, &own, &call("2", "change", "{}")).await;
    let (second, _) = stream.next().await;
    assert_ne!(first, second);
    drop(stream);
    post(address, &own, &call("3", "change", "{}")).await;
    let mut again = Stream::open(address, &own, &format!("last-event-id: {first}\r\n")).await;
    assert_eq!(again.next().await.0, second);
    let (third, _) = again.next().await;
    assert!(third != first && third != second, "{third}");
}

#[tokio::test]
async fn a_session_belongs_to_nobody_else_and_ends() {
    let address = over_parrot(Sharing::One).await;
    let own = session(address).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(post(address, &own, ping).await.status, 200);
    assert_eq!(post(address, "mcp-session-id: 0123456789abcdef0123456789abcdef\r\n", ping).await.status, 404);
    assert_eq!(post(address, "", ping).await.status, 400);
    let end = format!("DELETE /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{own}\r\n");
    assert_eq!(crate::kit::raw(address, end.as_bytes()).await.status, 200);
    assert_eq!(post(address, &own, ping).await.status, 404);
}
