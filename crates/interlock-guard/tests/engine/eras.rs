//! Clients and servers of both eras of the protocol, in front of each other.

use std::sync::Arc;

use interlock_guard::{
    listen::Options,
    manage::{Greeting, Kept, Start},
    policy::{Config, Environment, Rules, Sharing},
    upstream::Upstream,
};
use serde_json::{Value, json};

use crate::kit::{
    META, Pipe, call, engine, listening, over_parrot, parrot_with, post, ruled, session, stateless, stopped,
    text, upstream,
};

/// The methods that reached the server, oldest first.
fn methods(heard: &Value) -> Vec<String> {
    let lines = text(heard);
    let method =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["method"].as_str().map(str::to_owned);
    lines.lines().filter_map(method).collect()
}

#[tokio::test]
async fn a_client_without_a_handshake_may_use_a_server_with_one() {
    let address = over_parrot(Sharing::One).await;
    let got = stateless(address, "server/discover", None, "", "").await;
    assert_eq!(got.json()["result"]["supportedVersions"], json!(["2026-07-28"]), "{got:?}");
    let got = stateless(address, "tools/call", Some("echo"), r#""name":"echo","arguments":{},"#, "").await;
    assert_eq!(got.json()["result"]["resultType"], "complete", "{got:?}");
    let got = stateless(address, "unknown/method", None, "", "").await;
    assert_eq!((got.status, got.code()), (404, -32601));
}

#[tokio::test]
async fn methods_that_a_revision_has_no_more_are_not_found_and_do_not_reach_the_server() {
    let address = over_parrot(Sharing::One).await;
    let uri = r#""uri":"parrot://parrot/listed","#;
    let version =
        r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"},"#;
    for (method, params) in [
        ("initialize", version),
        ("ping", ""),
        ("logging/setLevel", r#""level":"debug","#),
        ("resources/subscribe", uri),
        ("resources/unsubscribe", uri),
    ] {
        let name = method.starts_with("resources").then_some("parrot://parrot/listed");
        let got = stateless(address, method, name, params, "").await;
        assert_eq!((got.status, got.code(), got.json()["id"].clone()), (404, -32601, json!(1)), "{method}");
    }
    let got = stateless(address, "tools/call", Some("heard"), r#""name":"heard","#, "").await;
    assert_eq!(methods(&got.json()), ["initialize", "notifications/initialized", "tools/list", "tools/call"]);
}

#[tokio::test]
async fn a_revision_that_nobody_knows_is_refused_with_those_that_are_known() {
    for era in ["handshake", "both"] {
        let parrot = upstream("parrot", "", parrot_with(&["--era", era]), Sharing::One);
        let address = listening(engine(vec![parrot]), Options::default()).await;
        unknown_revision(address).await;
    }
}

async fn unknown_revision(address: std::net::SocketAddr) {
    for (method, rest) in [("server/discover", ""), ("tools/list", ""), ("tools/call", r#""name":"echo","#)] {
        let meta = META.replace("2026-07-28", "2031-01-01");
        let headers =
            format!("mcp-protocol-version: 2031-01-01\r\nmcp-method: {method}\r\nmcp-name: echo\r\n");
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{rest}{meta}}}}}"#);
        let got = post(address, &headers, &body).await;
        assert_eq!((got.status, got.code()), (400, -32022), "{got:?}");
        let data = json!({ "supported": ["2026-07-28"], "requested": "2031-01-01" });
        assert_eq!(got.json()["error"]["data"], data);
    }
}

#[tokio::test]
async fn headers_must_repeat_what_the_body_says() {
    let address = over_parrot(Sharing::One).await;
    let body = |name: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{{}},{META}}}}}"#
        )
    };
    let good = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n";
    assert_eq!(post(address, good, &body("echo")).await.status, 200);
    for (headers, name) in [
        (good.to_owned(), "heard"),
        (good.replace("mcp-name: echo\r\n", ""), "echo"),
        (good.replace("mcp-method: tools/call\r\n", ""), "echo"),
        (good.replace("tools/call", "tools/list"), "echo"),
        (good.replace("2026-07-28", "2026-07-29"), "echo"),
        (good.replace("mcp-protocol-version: 2026-07-28\r\n", ""), "echo"),
        (format!("{good}mcp-name: heard\r\n"), "echo"),
    ] {
        let got = post(address, &headers, &body(name)).await;
        assert_eq!((got.status, got.code()), (400, -32020), "{headers}");
    }
    let encoded = good.replace("mcp-name: echo", "mcp-name: =?base64?ZWNobw==?=");
    assert_eq!(post(address, &encoded, &body("echo")).await.status, 200);
}

#[tokio::test]
async fn an_argument_that_a_tool_wants_in_a_header_too_must_be_there_and_the_same() {
    let address = over_parrot(Sharing::One).await;
    let params = r#""name":"echo","arguments":{"region":"north"},"#;
    for (header, status) in [
        ("mcp-param-region: north\r\n", 200),
        ("Mcp-Param-Region: =?base64?bm9ydGg=?=\r\n", 200),
        ("", 400),
        ("mcp-param-region: south\r\n", 400),
        ("mcp-param-region: north\r\nmcp-param-region: north\r\n", 400),
        ("mcp-param-region: =?base64?bm9ydGg?=\r\n", 400),
    ] {
        let got = stateless(address, "tools/call", Some("echo"), params, header).await;
        assert_eq!(got.status, status, "{header} {got:?}");
        if status == 400 {
            assert_eq!(got.code(), -32020);
        }
    }
    let without = r#""name":"echo","arguments":{"region":null},"#;
    assert_eq!(stateless(address, "tools/call", Some("echo"), without, "").await.status, 200);
    let own = session(address).await;
    let with_handshake = call("1", "echo", r#"{"region":"north"}"#);
    assert!(text(&post(address, &own, &with_handshake).await.json()).contains("north"));
}

#[tokio::test]
async fn a_program_of_both_eras_is_spoken_to_in_the_era_of_each_client() {
    let both = upstream("parrot", "", parrot_with(&["--era", "both"]), Sharing::One);
    let address = listening(engine(vec![Arc::clone(&both)]), Options::default()).await;
    let (first, second) = (session(address).await, session(address).await);
    post(address, &first, &call("1", "echo", "{}")).await;
    let got = stateless(address, "server/discover", None, "", "").await;
    let server = got.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"].clone();
    assert_eq!(server, json!({ "name": "parrot", "version": "2" }), "it speaks for itself: {got:?}");
    let heard = r#""name":"heard","arguments":{},"#;
    for _ in 0..2 {
        let got = stateless(address, "tools/call", Some("heard"), heard, "").await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    assert_eq!(both.own_processes().len(), 1, "all clients without a handshake share one");
    let got = stateless(address, "tools/call", Some("heard"), heard, "").await;
    let seen = methods(&got.json());
    assert_eq!(seen.first().map(String::as_str), Some("server/discover"), "{seen:?}");
    assert!(!seen.iter().any(|method| method == "initialize"), "{seen:?}");
    let got = post(address, &second, &call("1", "heard", "{}")).await;
    let seen = methods(&got.json());
    assert_eq!(seen.iter().filter(|method| *method == "initialize").count(), 1, "{seen:?}");
    assert!(!seen.iter().any(|method| method == "server/discover"), "{seen:?}");
}

#[tokio::test]
async fn a_program_with_a_handshake_only_keeps_one_process() {
    let parrot = upstream("parrot", "", parrot_with(&[]), Sharing::One);
    let address = listening(engine(vec![Arc::clone(&parrot)]), Options::default()).await;
    for _ in 0..3 {
        assert_eq!(stateless(address, "tools/list", None, "", "").await.status, 200);
    }
    stopped(&parrot).await;
}

#[tokio::test]
async fn a_client_with_a_handshake_may_use_a_program_without_one_that_ends_when_it_gets_one() {
    let parrot = upstream("parrot", "", parrot_with(&["--era", "stateless"]), Sharing::One);
    let kept = Kept::new(Arc::<Upstream>::clone(&parrot), Greeting::Guards);
    let _up = kept.start().await.unwrap();
    let address = listening(engine(vec![parrot]), Options::default()).await;
    let own = session(address).await;
    let got = post(address, &own, &call("1", "echo", "{}")).await;
    let arrived: Value = serde_json::from_str(&text(&got.json())).unwrap();
    assert_eq!(arrived["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let ping = post(address, &own, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(ping.json()["result"], json!({}));
    let got = stateless(address, "tools/call", Some("heard"), r#""name":"heard","#, "").await;
    assert!(!methods(&got.json()).contains(&"initialize".to_owned()), "{got:?}");
}

#[tokio::test]
async fn the_one_client_on_stdio_may_begin_with_a_call_and_no_handshake() {
    let both = upstream("parrot", "", parrot_with(&["--era", "both"]), Sharing::One);
    let mut pipe = Pipe::to(engine(vec![both]));
    let params = format!(r#""name":"heard","arguments":{{}},{META}"#);
    pipe.say(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{{params}}}}}"#)).await;
    let (_, answer) = pipe.until(&json!(7)).await;
    for line in text(&answer).lines() {
        let stated = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
        let message: Value = serde_json::from_str(line).unwrap();
        assert_eq!(message.pointer(stated), Some(&json!("2026-07-28")), "{line}");
    }
}

#[tokio::test]
async fn a_process_of_ones_own_that_ended_is_started_and_greeted_again() {
    let parrot = upstream("parrot", "", parrot_with(&[]), Sharing::PerSession);
    let address = listening(engine(vec![parrot]), Options::default()).await;
    let own = session(address).await;
    let got = post(address, &own, &call("1", "die", "{}")).await;
    assert!(got.body.contains("ended") || got.body.contains("closed"), "{got:?}");
    let got = post(address, &own, &call("2", "heard", "{}")).await;
    let seen = methods(&got.json());
    assert_eq!(seen, ["initialize", "notifications/initialized", "tools/call"]);
}

#[tokio::test]
async fn a_task_without_a_handshake_holds_its_lock_until_the_guard_has_heard_that_it_is_over() {
    let rules = "[[tool]]\nmatch = \"*\"\nlock = \"all\"\n";
    let config = Config::parse("guard.toml", rules, None, &Environment::default()).unwrap();
    let both = upstream("parrot", "", parrot_with(&["--era", "both"]), Sharing::One);
    let engine = ruled(vec![both], Rules::of_config(&config));
    let address = listening(engine, Options::default()).await;
    let got = stateless(address, "tools/call", Some("task"), r#""name":"task","#, "").await;
    assert_eq!(got.json()["result"]["taskId"], "t", "{got:?}");
    let got = stateless(address, "tools/call", Some("heard"), r#""name":"heard","#, "").await;
    let seen = methods(&got.json());
    let asked = ["tasks/get", "tasks/get", "tasks/get", "tools/call"];
    assert!(seen.ends_with(&asked.map(str::to_owned)), "{seen:?}");
}
