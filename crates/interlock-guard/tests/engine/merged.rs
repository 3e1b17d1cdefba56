//! Several servers behind one address: what is listed, and who gets what.

use interlock_guard::{listen::Options, policy::Sharing};
use serde_json::{Value, json};

use crate::kit::{Got, engine, listening, parrot_with, post, session, stateless, upstream};

async fn two() -> std::net::SocketAddr {
    let parrot = |name| upstream(name, &format!("{name}_"), parrot_with(&["--name", name]), Sharing::One);
    listening(engine(vec![parrot("red"), parrot("blue")]), Options::default()).await
}

async fn ask(address: std::net::SocketAddr, session: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let got: Got = post(address, session, &body.to_string()).await;
    got.events().pop().unwrap_or_else(|| got.json())
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let items = list["result"][key].as_array().unwrap();
    let name = if key == "resources" { "uri" } else { "name" };
    let mut names: Vec<_> = items.iter().map(|item| item[name].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn prompts_have_their_servers_prefix_and_are_got_by_it() {
    let address = two().await;
    let own = session(address).await;
    let list = ask(address, &own, "prompts/list", json!({})).await;
    assert_eq!(names(&list, "prompts"), ["blue_greet", "red_greet"]);
    let got = ask(address, &own, "prompts/get", json!({ "name": "blue_greet" })).await;
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "blue got greet");
    let none = ask(address, &own, "prompts/get", json!({ "name": "green_greet" })).await;
    assert_eq!(none["error"]["code"], -32601, "{none}");
}

#[tokio::test]
async fn resources_keep_their_addresses_and_are_read_where_they_are() {
    let address = two().await;
    let own = session(address).await;
    // One that was never listed is looked for.
    let unlisted = json!({ "uri": "parrot://blue/hidden" });
    let got = ask(address, &own, "resources/read", unlisted).await;
    assert_eq!(got["result"]["contents"][0]["text"], "blue has it");
    let list = ask(address, &own, "resources/list", json!({})).await;
    assert_eq!(names(&list, "resources"), ["parrot://blue/listed", "parrot://red/listed"]);
    for name in ["red", "blue"] {
        let uri = json!({ "uri": format!("parrot://{name}/listed") });
        let got = ask(address, &own, "resources/read", uri).await;
        assert_eq!(got["result"]["contents"][0]["text"], format!("{name} has it"));
    }
    let none = ask(address, &own, "resources/read", json!({ "uri": "parrot://green/x" })).await;
    assert_eq!(none["error"]["code"], -32602, "{none}");
}

#[tokio::test]
async fn clients_without_a_handshake_see_several_servers_as_one_too() {
    let address = two().await;
    let discovered = stateless(address, "server/discover", None, "", "").await.json();
    assert_eq!(discovered["result"]["capabilities"]["prompts"], json!({}));
    let list = stateless(address, "prompts/list", None, "", "").await.json();
    assert_eq!(names(&list, "prompts"), ["blue_greet", "red_greet"]);
    assert_eq!(list["result"]["resultType"], "complete");
    let got = stateless(address, "prompts/get", Some("red_greet"), r#""name":"red_greet","#, "").await.json();
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "red got greet");
    assert_eq!(got["result"]["resultType"], "complete");
    let uri = "parrot://blue/listed";
    let got = stateless(address, "resources/read", Some(uri), &format!(r#""uri":"{uri}","#), "").await.json();
    assert_eq!(got["result"]["contents"][0]["text"], "blue has it");
    let gone = stateless(address, "ping", None, "", "").await;
    assert_eq!((gone.status, gone.code()), (404, -32601));
}
