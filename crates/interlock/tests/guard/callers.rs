//! Which tools a caller may call and sees listed.

use serde_json::{Value, json};

use crate::{
    effects::{Effects, configured},
    kit::Serving,
    raw::Raw,
};

const A: &str = "the-secret-of-caller-a";
const B: &str = "the-secret-of-caller-b";
const KEYS: &str = "[[identity.api_key]]\nname = \"a\"\nenv = \"KEY_A\"\n\n[[identity.api_key]]\nname = \"b\"\nenv = \"KEY_B\"\n\n";

fn guard(effects: &Effects, rules: &str, upstreams: &[&str]) -> Serving {
    let command = serde_json::to_string(&effects.command()).expect("it is JSON, and TOML");
    let upstreams: String = upstreams
        .iter()
        .map(|name| format!("[[upstream]]\nname = \"{name}\"\ncommand = {command}\n\n"))
        .collect();
    let line = configured(&effects.file(""), &format!("{KEYS}{rules}\n{upstreams}"));
    line.env("KEY_A", A).env("KEY_B", B).serve()
}

async fn session(guard: &Serving, key: &'static str) -> Raw {
    let mut raw = Raw::known(&guard.url, key);
    let info = json!({ "name": "raw", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let answer = raw.request(hello.to_string()).send().await.expect("it answers");
    raw.session = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    raw
}

async fn listed(raw: &Raw) -> Vec<String> {
    let came = raw.post(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#).await.expect("it answers");
    let message = came.message().expect("a message");
    assert_eq!(message["id"], 7, "the answer is whole: {message}");
    let tools = message["result"]["tools"].as_array().expect("a list").clone();
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

async fn called(raw: &Raw, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": { "name": "it" } });
    let came = raw.call(json!(8), &params).await.expect("it answers").message().expect("a message");
    came["result"]["_meta"]["dev.interlock/refusal"]["reason"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_sees_and_calls_what_it_may_and_nothing_else() {
    let rules = "[[tool]]\nmatch = \"do\"\nallow = \"key:a\"\n\n[[tool]]\nmatch = \"ask\"\ndeny_callers = [\"key:b*\"]\n\n\
                 [[tool]]\nmatch = \"crash\"\ndeny = true\n";
    let effects = Effects::new();
    let guard = guard(&effects, rules, &["effects"]);
    let (a, b) = (session(&guard, A).await, session(&guard, B).await);
    assert_eq!(listed(&a).await, ["do", "ask", "look"]);
    assert_eq!(listed(&b).await, ["look"]);
    assert_eq!(called(&a, "do").await, Value::Null);
    // Whoever knows its name gets no further.
    assert_eq!((called(&b, "do").await, called(&b, "ask").await), (json!("denied"), json!("denied")));
    assert_eq!((called(&a, "crash").await, called(&b, "look").await), (json!("denied"), Value::Null));
    assert_eq!(effects.began(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn and_also_where_several_servers_are_one_list() {
    let rules =
        "[[tool]]\nmatch = \"one_*\"\nallow = [\"key:a\"]\n\n[[tool]]\nmatch = \"*_crash\"\ndeny = true\n";
    let effects = Effects::new();
    let guard = guard(&effects, rules, &["one", "two"]);
    let (a, b) = (session(&guard, A).await, session(&guard, B).await);
    assert_eq!(listed(&a).await, ["one_do", "one_ask", "one_look", "two_do", "two_ask", "two_look"]);
    assert_eq!(listed(&b).await, ["two_do", "two_ask", "two_look"]);
    assert_eq!((called(&b, "one_look").await, called(&b, "two_look").await), (json!("denied"), Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_only_observed_hides_and_refuses_nothing() {
    let rules = "[[tool]]\nmatch = \"do\"\nallow = \"key:a\"\nmode = \"observe\"\n";
    let effects = Effects::new();
    let guard = guard(&effects, rules, &["effects"]);
    let b = session(&guard, B).await;
    assert_eq!(listed(&b).await, ["do", "crash", "ask", "look"]);
    assert_eq!(called(&b, "do").await, Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_no_token_is_led_to_who_gives_them_out() {
    let effects = Effects::new();
    let secret = effects.file("secret");
    std::fs::write(&secret, "0123456789abcdef0123456789abcdef").expect("it is written");
    let guard = effects
        .configured(&format!(
            "[identity.jwt]\nkey = {}\nissuer = \"https://issuer.example\"\naudience = \"it\"\nalgorithms = [\"HS256\"]\nresource = \"https://guard.example/mcp\"\n",
            json!(secret)
        ))
        .serve();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let refused = http.post(&guard.url).body("{}").send().await.expect("it answers");
    assert_eq!(refused.status(), 401);
    let challenge = refused.headers()["www-authenticate"].to_str().expect("it is text").to_owned();
    let url = "https://guard.example/.well-known/oauth-protected-resource/mcp";
    assert!(challenge.contains(&format!("resource_metadata=\"{url}\"")), "{challenge}");
    let here = url.replace("https://guard.example", guard.url.trim_end_matches("/mcp"));
    for at in [here.as_str(), here.trim_end_matches("/mcp")] {
        let answer = http.get(at).header("origin", "https://any.example").send().await.expect("it answers");
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["access-control-allow-origin"] == "*"),
            (200, true)
        );
        let document: Value = answer.json().await.expect("it is JSON");
        assert_eq!(document["resource"], "https://guard.example/mcp");
        assert_eq!(document["authorization_servers"], json!(["https://issuer.example"]));
    }
    let other = http.get(format!("{here}/more")).send().await.expect("it answers");
    assert_eq!(other.status(), 404);
}
