//! What the guard cannot promise is said when it starts: a store that forgets, an address that others reach.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
};

use interlock_testkit::service::{Redis, Setup};

use crate::{
    effects::Effects,
    kit::{INTERLOCK, until},
};

/// What a guard with these options says at its start, once it has said it.
async fn said_at_start(options: &[&str], words: &str) -> String {
    let effects = Effects::new();
    let log = effects.file("log");
    let all = [&["--listen", "127.0.0.1:0"], options].concat();
    let guard = effects.line().guarded(&all).logging_to(&log).serve();
    let read = || std::fs::read_to_string(&log).unwrap_or_default();
    // It logs that the server is up after all that it has to say before.
    until("it has said it", || read().contains("state=up") || read().contains(words)).await;
    drop(guard);
    read()
}

/// A command to Redis that answers with a word.
fn tell(redis: &Redis, command: &str) {
    let mut stream = TcpStream::connect(redis.address()).expect("it listens");
    write!(stream, "{command}\r\n").expect("it reads");
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"+OK\r\n", "{command}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_forgets_is_told_and_one_that_does_not_is_not() {
    let forgets = "writes no append-only file";
    let redis = Redis::start().expect("Redis starts");
    let told = said_at_start(&["--state", &redis.url(), "--durability", "none"], forgets).await;
    assert!(told.contains(forgets) && told.contains("may run twice"), "{told}");
    // Unless that is wanted, it does not start.
    let effects = Effects::new();
    let line = effects.line().guarded(&["--state", &redis.url()]);
    let refused = Command::new(INTERLOCK).args(&line.arguments()[1..]).stdin(Stdio::null()).output();
    let refused = refused.expect("the program starts");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains(forgets), "{said}");
    assert!(said.contains("durability = \"none\""), "it says what to do: {said}");
    let durable = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    let said = said_at_start(&["--state", &durable.url()], forgets).await;
    assert!(!said.contains("append-only"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn that_it_could_not_be_found_out_is_told_too() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    tell(&redis, "ACL SETUSER guard on >secret ~* &* +@all -info -config");
    let url = redis.url().replace("redis://", "redis://guard:secret@");
    let unknown = "could not be found out";
    let said = said_at_start(&["--state", &url], unknown).await;
    assert!(said.contains(unknown) && !said.contains("secret"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_admin_listener_that_others_reach_is_told() {
    let open = "the admin listener has no login";
    let said = said_at_start(&["--admin", "0.0.0.0:0"], open).await;
    assert!(said.contains(open), "{said}");
    let said = said_at_start(&["--admin", "127.0.0.1:0"], open).await;
    assert!(!said.contains(open), "{said}");
}

#[test]
fn checking_says_it_of_the_file_and_of_the_command_line() {
    let effects = Effects::new();
    let path = effects.file("guard.toml").display().to_string();
    let check = |policy: &str, options: &[&str]| {
        effects.write_policy(policy);
        let output =
            Command::new(INTERLOCK).args(["guard", "--check", "--config", &path]).args(options).output();
        let output = output.expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert_eq!(check("[admin]\nlisten = \"127.0.0.1:9090\"\n", &[]).0, Some(0));
    for (policy, options) in
        [("[admin]\nlisten = \"0.0.0.0:9090\"\n", &[][..]), ("", &["--admin", "0.0.0.0:9090"][..])]
    {
        let (code, said) = check(policy, options);
        assert!(code == Some(1) && said.contains("`[admin] listen`"), "{options:?}: {said}");
    }
    let (code, said) = check("", &["--listen", "0.0.0.0:8080"]);
    assert!(code == Some(1) && said.contains("`[listen] at`"), "{said}");
}

#[test]
fn checking_compares_rules_with_the_tools_that_there_are() {
    let effects = Effects::new();
    let path = effects.file("guard.toml").display().to_string();
    let check = |policy: &str, options: &[&str]| {
        effects.write_policy(policy);
        let output =
            Command::new(INTERLOCK).args(["guard", "--check", "--config", &path]).args(options).output();
        let output = output.expect("the program starts");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), said)
    };
    let lock = |tool: &str| format!("[[tool]]\nmatch = \"{tool}\"\nlock = \"it\"\n");
    assert_eq!(check(&lock("do"), &["--live"]).0, Some(0), "the server has it");
    assert_eq!(check(&lock("doo"), &[]).0, Some(0), "nobody was asked");
    let (code, said) = check(&lock("doo"), &["--live"]);
    assert!(code == Some(1) && said.contains("matches no tool; the nearest is `do`"), "{said}");
    // As it was saved: the whole answer, its result, or the list.
    let file = effects.file("tools.json");
    let tools =
        r#"[{"name":"pay","inputSchema":{"type":"object","properties":{"requestId":{"type":"string"}}}}]"#;
    let key = |argument: &str| format!("[[tool]]\nmatch = \"pay\"\nidempotency = \"args.{argument}\"\n");
    let saved = ["--tools", &file.display().to_string()].map(str::to_owned);
    let saved = saved.each_ref().map(String::as_str);
    for text in [
        tools.to_owned(),
        format!("{{\"tools\":{tools}}}"),
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":{tools}}}}}"),
    ] {
        std::fs::write(&file, &text).expect("it is written");
        assert_eq!(check(&key("requestId"), &saved).0, Some(0), "{text}");
        let (code, said) = check(&key("request"), &saved);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("needs the argument `request`, which `pay` does not have"), "{said}");
    }
    for nonsense in ["", "{}", "[]", "nothing"] {
        std::fs::write(&file, nonsense).expect("it is written");
        let (code, said) = check(&key("requestId"), &saved);
        assert!(code == Some(2) && said.contains("tools.json"), "{nonsense:?}: {said}");
    }
}

#[test]
fn the_example_behind_a_proxy_has_nothing_against_it() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/guard-behind-a-proxy/guard.toml");
    let check = |key: &str| {
        let mut check = Command::new(INTERLOCK);
        check.args(["guard", "--check", "--config", file]).env("GUARD_SESSION_KEY", key);
        let output = check.output().expect("the program starts");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = check(&"0123456789abcdef".repeat(4));
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = check("short");
    assert!(code != Some(0) && said.contains("can be guessed") && !said.contains("`short`"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_call_that_a_restarted_redis_has_forgotten_nobody_is_let_in() {
    let effects = Effects::new();
    let mut redis = Redis::start().expect("Redis starts");
    let policy = format!(
        "[state]\nurl = \"{}\"\ndurability = \"none\"\n\n[defaults]\nwait = \"100ms\"\n\n[[tool]]\nmatch = \"do\"\nlock = \"it\"\nidempotency = \"meta\"\n",
        redis.url()
    );
    let log = effects.file("log");
    let guard = effects.configured(&policy).logging_to(&log).serve();
    let client = guard.client().await;
    let endless = client.clone();
    let wish = serde_json::json!({ "name": "endless", "ms": 1_000_000_000 });
    tokio::spawn(async move { endless.try_call("do", wish).await });
    until("it has begun", || effects.began() == 1).await;
    redis.kill().and_then(|()| redis.restart().map_err(std::io::Error::other)).expect("Redis comes back");
    let has_noticed = || std::fs::read_to_string(&log).unwrap_or_default().contains("has forgotten");
    while !has_noticed() {
        let said = client.call("do", serde_json::json!({ "name": "second" })).await;
        assert!(said.is_error, "a second writer was let in: {said:?}");
    }
    let said = client.call("do", serde_json::json!({ "name": "second" })).await;
    let reason = &said.result["_meta"]["dev.interlock/refusal"]["reason"];
    assert!(said.is_error && reason == "store", "{said:?}");
    assert_eq!(effects.began(), 1);
    assert!(!client.call("look", serde_json::json!({})).await.is_error, "what only reads is not refused");
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_a_call_of_which_an_emptied_redis_knows_nothing_nobody_is_let_in() {
    let redis = Redis::start_as(Setup { durable: true, ..Setup::default() }).expect("Redis starts");
    let effects = Effects::new();
    let policy = format!(
        "[state]\nurl = \"{}\"\n\n[defaults]\nwait = \"100ms\"\n\n[[tool]]\nmatch = \"do\"\nlock = \"it\"\n",
        redis.url()
    );
    let guard = effects.configured(&policy).serve();
    let client = guard.client().await;
    let endless = client.clone();
    let wish = serde_json::json!({ "name": "endless", "ms": 1_000_000_000 });
    tokio::spawn(async move { endless.try_call("do", wish).await });
    until("it has begun", || effects.began() == 1).await;
    tell(&redis, "FLUSHALL");
    // A guard that is started only now knows of no call, and one that was there tells the server.
    for late in [false, true] {
        let other = effects.configured(&policy).serve();
        let client = if late { other.client().await } else { client.clone() };
        let said = client.call("do", serde_json::json!({ "name": "second" })).await;
        let reason = &said.result["_meta"]["dev.interlock/refusal"]["reason"];
        assert!(said.is_error && reason == "store", "{said:?}");
        assert!(!client.call("look", serde_json::json!({})).await.is_error, "what only reads is not refused");
    }
    assert_eq!(effects.began(), 1);
}
