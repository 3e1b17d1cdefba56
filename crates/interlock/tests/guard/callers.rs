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

/// What tokens are signed with here (HS256). They are those of `ann`, and end in the year 2100.
const SECRET: &str = "0123456789abcdef0123456789abcdef";
/// `"scope": "read"`
const READ: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaXQiLCJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDAsInNjb3BlIjoicmVhZCJ9.05n3iVZW65xoB1H8Dg43T9OVvz03FDGzDAF86sJnJXk";
/// `"scope": "read write", "groups": ["dev", "ops"]`
const WRITE: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci5leGFtcGxlIiwiYXVkIjoiaXQiLCJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDAsInNjb3BlIjoicmVhZCB3cml0ZSIsImdyb3VwcyI6WyJkZXYiLCJvcHMiXX0.L4VKiNs0mS8qyC7vSZwlPxqav4zQyZONw2biOjYMWNI";

fn guard(effects: &Effects, rules: &str, upstreams: &[&str]) -> Serving {
    let command = serde_json::to_string(&effects.command()).expect("it is JSON, and TOML");
    let upstreams: String = upstreams
        .iter()
        .map(|name| format!("[[upstream]]\nname = \"{name}\"\ncommand = {command}\n\n"))
        .collect();
    let line = configured(&effects.file(""), &format!("{KEYS}{rules}\n{upstreams}"));
    line.env("KEY_A", A).env("KEY_B", B).serve()
}

/// A session of whoever has this key.
pub(crate) async fn session(guard: &Serving, key: &'static str) -> Raw {
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

/// A guard that takes tokens, with these rules and more about tokens.
fn by_token(effects: &Effects, rules: &str, more: &str) -> Serving {
    let secret = effects.file("secret");
    std::fs::write(&secret, SECRET).expect("it is written");
    let identity = format!(
        "[identity.jwt]\nkey = {}\nissuer = \"https://issuer.example\"\naudience = \"it\"\nalgorithms = [\"HS256\"]\n{more}\n",
        json!(secret)
    );
    effects.configured(&format!("{rules}\n{identity}")).serve()
}

/// What somebody with a token gets for a request, in a session if there is one: the status, the challenge and the answer.
async fn asked(raw: &Raw, token: &str, request: Value) -> (u16, Option<String>, Value) {
    let request = raw.request(request.to_string()).header("authorization", format!("Bearer {token}"));
    let answer = request.send().await.expect("it answers");
    let text = |name: &str| answer.headers().get(name).map(|text| text.to_str().expect("text").to_owned());
    let (status, challenge) = (answer.status().as_u16(), text("www-authenticate"));
    let body = answer.text().await.expect("it is text");
    (status, challenge, serde_json::from_str(&body).unwrap_or(Value::Null))
}

async fn token_session(guard: &Serving, token: &str) -> Raw {
    let mut raw = Raw::new(&guard.url);
    let info = json!({ "name": "raw", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let request = raw.request(hello.to_string()).header("authorization", format!("Bearer {token}"));
    let answer = request.send().await.expect("it answers");
    raw.session = answer.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    assert!(raw.session.is_some(), "{answer:?}");
    raw
}

fn calling(tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": { "name": tool, "arguments": { "name": "it" } } })
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

const SCOPED: &str = "[[tool]]\nmatch = \"do\"\nallow = [\"scope:write\"]\n\n[[tool]]\nmatch = \"ask\"\nallow = \"claim:groups=ops\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_token_says_decides_what_is_seen_and_called() {
    let effects = Effects::new();
    let guard = by_token(&effects, SCOPED, "");
    let session = token_session(&guard, READ).await;
    let list = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" });
    assert_eq!(names(&asked(&session, READ, list.clone()).await.2), ["crash", "look"]);
    let (status, challenge, refused) = asked(&session, READ, calling("do")).await;
    // Nobody told clients where to get another token, so the model is told.
    assert_eq!((status, challenge), (200, None));
    assert_eq!(refused["result"]["_meta"]["dev.interlock/refusal"]["reason"], "denied");
    // In the same session another token of the same caller counts, with what it says.
    assert_eq!(names(&asked(&session, WRITE, list.clone()).await.2), ["do", "crash", "ask", "look"]);
    let (status, _, done) = asked(&session, WRITE, calling("do")).await;
    assert_eq!((status, done["result"]["isError"] == json!(true)), (200, false), "{done}");
    assert_eq!(
        names(&asked(&session, READ, list).await.2),
        ["crash", "look"],
        "and not longer than it is shown"
    );
    assert_eq!(effects.began(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_lacks_a_scope_is_told_which_where_tokens_can_be_had() {
    let effects = Effects::new();
    let guard = by_token(&effects, SCOPED, "resource = \"https://guard.example/mcp\"");
    let session = token_session(&guard, READ).await;
    let (status, challenge, refused) = asked(&session, READ, calling("do")).await;
    let challenge = challenge.expect("a challenge");
    assert_eq!(status, 403);
    for words in [
        "error=\"insufficient_scope\"",
        "scope=\"write\"",
        "resource_metadata=\"https://guard.example/.well-known/oauth-protected-resource/mcp\"",
    ] {
        assert!(challenge.contains(words), "{challenge}");
    }
    assert_eq!(refused["result"]["isError"], true, "and the words for the model are there, too");
    // No scope would help with a claim, and none is missing here.
    for (token, tool) in [(READ, "ask"), (READ, "look"), (WRITE, "do")] {
        let (status, challenge, _) = asked(&session, token, calling(tool)).await;
        assert_eq!((status, challenge), (200, None), "{tool}");
    }
    let http = reqwest::Client::builder().no_proxy().build().expect("a client can be made");
    let at = guard.url.replace("/mcp", "/.well-known/oauth-protected-resource");
    let document: Value = http.get(at).send().await.expect("it answers").json().await.expect("it is JSON");
    assert_eq!(document["scopes_supported"], json!(["write"]));
}
