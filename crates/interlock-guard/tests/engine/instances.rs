//! Several processes of one upstream.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use http::request::Parts;
use interlock_guard::{
    call::Caller,
    identity::{Denied, Identify, PeerCertificate},
    listen::Options,
    manage::{Greeting, Kept, Start as _, Up},
    policy::{Choose, Config, Environment, Processes, Rules, Sharing, UpstreamConfig},
    upstream::Upstream,
};
use serde_json::Value;

use crate::kit::{
    call, engine, listening, parrot, parrot_with, post, ruled, session, stateless, text, upstream,
};

/// Two of them, and what keeps them.
async fn two(choose: Choose, arguments: &[&str]) -> (Arc<Upstream>, Vec<Kept>, Vec<Arc<Up>>) {
    let config = UpstreamConfig {
        name: "parrot".into(),
        reach: parrot_with(arguments),
        is_required: true,
        prefix: String::new(),
        sharing: Sharing::One,
        processes: Processes { instances: 2, choose, ..Processes::default() },
    };
    let parrot = Arc::new(Upstream::new(config, None).unwrap());
    let kept = Kept::all(&parrot, Greeting::Guards);
    let mut up = Vec::new();
    for one in &kept {
        up.push(one.start().await.unwrap());
    }
    (parrot, kept, up)
}

/// Which process answers.
async fn who(address: SocketAddr, session: &str) -> String {
    text(&post(address, session, &call("1", "who", "{}")).await.json())
}

/// The same for a client without a session.
async fn who_stateless(address: SocketAddr, caller: &str) -> String {
    let headers = format!("x-caller: {caller}\r\n");
    let got = stateless(address, "tools/call", Some("who"), r#""name":"who","#, &headers).await;
    text(&got.json())
}

/// A call that is under way until its process ends.
fn endless(address: SocketAddr, session: &str) -> tokio::task::JoinHandle<Value> {
    let session = session.to_owned();
    tokio::spawn(async move {
        let got = post(address, &session, &call("9", "wait", r#"{"ms":1000000000}"#)).await;
        got.events().pop().unwrap_or_else(|| got.json())
    })
}

/// What a call is told that got no answer.
fn told(message: &Value) -> &Value {
    &message["result"]["_meta"]["dev.interlock/refusal"]
}

async fn kill(pid: &str, parrot: &Upstream) {
    let running = || parrot.instances().filter(|one| one.is_running()).count();
    let before = running();
    assert!(std::process::Command::new("kill").args(["-9", pid]).status().unwrap().success());
    while running() == before {
        tokio::task::yield_now().await;
    }
}

/// Believes what a client says of itself.
struct Believes;

impl Identify for Believes {
    fn identify(&self, parts: &Parts, _: Option<&PeerCertificate>) -> Result<Caller, Denied> {
        let said = parts.headers.get("x-caller").and_then(|name| name.to_str().ok());
        Ok(said.map_or_else(Caller::anonymous, Caller::new))
    }
}

#[tokio::test]
async fn a_session_keeps_to_its_process_and_the_next_gets_another() {
    let (parrot, _kept, _up) = two(Choose::Sticky, &[]).await;
    let address = listening(engine(vec![parrot]), Options::default()).await;
    let (first, second) = (session(address).await, session(address).await);
    let (one, other) = (who(address, &first).await, who(address, &second).await);
    assert_ne!(one, other);
    for _ in 0..5 {
        assert_eq!((who(address, &first).await, who(address, &second).await), (one.clone(), other.clone()));
    }
}

#[tokio::test]
async fn a_caller_without_a_session_keeps_to_a_process_and_strangers_are_spread() {
    for era in ["stateless", "both", "handshake"] {
        let (parrot, _kept, _up) = two(Choose::Sticky, &["--era", era]).await;
        let options = Options { identify: Arc::new(Believes), ..Options::default() };
        let address = listening(engine(vec![parrot]), options).await;
        let mut seen = BTreeSet::new();
        for caller in 0..32 {
            let name = format!("key:{caller}");
            let first = who_stateless(address, &name).await;
            assert_eq!(who_stateless(address, &name).await, first, "{era}, {name}");
            seen.insert(first);
        }
        assert_eq!(seen.len(), 2, "{era}");
        let strangers =
            [who_stateless(address, "anonymous").await, who_stateless(address, "anonymous").await];
        assert_ne!(strangers[0], strangers[1], "{era}");
    }
}

#[tokio::test]
async fn the_least_loaded_gets_the_call_also_of_a_session_that_began_with_the_other() {
    let (parrot, _kept, _up) = two(Choose::LeastLoaded, &[]).await;
    let address = listening(engine(vec![parrot]), Options::default()).await;
    let own = session(address).await;
    let both = BTreeSet::from([who(address, &own).await, who(address, &own).await]);
    assert_eq!(both.len(), 2, "those that are alike have their turns");
    let busy = endless(address, &own);
    // Before it is under way they still have their turns.
    let (mut last, mut in_a_row) = (String::new(), 0);
    while in_a_row < 10 {
        let now = who(address, &own).await;
        in_a_row = if now == last { in_a_row + 1 } else { 0 };
        last = now;
    }
    let heard = text(&post(address, &own, &call("1", "heard", "{}")).await.json());
    assert!(heard.contains(r#""who""#) && !heard.contains(r#""wait""#), "the idle one has it: {heard}");
    busy.abort();
}

#[tokio::test]
async fn a_task_is_asked_about_where_it_was_begun() {
    let (parrot, _kept, _up) = two(Choose::LeastLoaded, &[]).await;
    let address = listening(engine(vec![parrot]), Options::default()).await;
    let own = session(address).await;
    let ask =
        r#"{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t","asked":"by the client"}}"#;
    // Those that are alike have their turns, so each process begins one, and then says what it has heard.
    for _ in 0..2 {
        let begun = post(address, &own, &call("1", "task", "{}")).await.json();
        assert_eq!(begun["result"]["taskId"], "t", "{begun}");
        assert_eq!(post(address, &own, ask).await.status, 200);
    }
    for _ in 0..2 {
        let heard = text(&post(address, &own, &call("1", "heard", "{}")).await.json());
        assert_eq!(heard.matches("by the client").count(), 1, "{heard}");
    }
}

#[tokio::test]
async fn one_that_is_killed_is_left_out_its_calls_are_told_and_the_other_goes_on() {
    let (parrot, kept, _up) = two(Choose::Sticky, &[]).await;
    let address = listening(engine(vec![Arc::clone(&parrot)]), Options::default()).await;
    let (first, second) = (session(address).await, session(address).await);
    let (one, other) = (who(address, &first).await, who(address, &second).await);
    assert_ne!(one, other);
    let lost = [endless(address, &first), endless(address, &second)];
    for own in [&first, &second] {
        while !text(&post(address, own, &call("1", "heard", "{}")).await.json()).contains(r#""wait""#) {}
    }
    assert!(!kept.iter().any(Kept::is_missed));
    kill(&one, &parrot).await;
    for own in [&first, &second, &first] {
        assert_eq!(who(address, own).await, other);
    }
    assert!(!lost[1].is_finished(), "it goes on in the other process");
    assert_eq!(kept.iter().filter(|one| one.is_missed()).count(), 1, "the guard needs the one that is left");
    kill(&other, &parrot).await;
    for call in lost {
        let answer = call.await.unwrap();
        assert!(told(&answer)["reason"] == "lost" && told(&answer)["mayHaveRun"] == true, "{answer}");
    }
    let refused = post(address, &first, &call("1", "who", "{}")).await.json();
    assert!(told(&refused)["reason"] == "lost" && told(&refused)["mayHaveRun"] == false, "{refused}");
    let _again = [kept[0].start().await.unwrap(), kept[1].start().await.unwrap()];
    let (third, fourth) = (session(address).await, session(address).await);
    assert_ne!(who(address, &third).await, who(address, &fourth).await);
}

#[tokio::test]
async fn no_call_goes_to_one_that_was_killed_until_it_runs_again() {
    let (parrot, kept, _up) = two(Choose::LeastLoaded, &[]).await;
    let address = listening(engine(vec![Arc::clone(&parrot)]), Options::default()).await;
    let own = session(address).await;
    let (one, other) = (who(address, &own).await, who(address, &own).await);
    kill(&one, &parrot).await;
    for _ in 0..4 {
        assert_eq!(who(address, &own).await, other);
    }
    let gone = kept.iter().find(|kept| !kept.is_missed()).unwrap();
    let _again = gone.start().await.unwrap();
    let both = BTreeSet::from([who(address, &own).await, who(address, &own).await]);
    assert!(both.len() == 2 && !both.contains(&one), "{both:?}");
}

#[tokio::test]
async fn a_lock_is_one_for_all_processes() {
    for choose in [Choose::Sticky, Choose::LeastLoaded] {
        let (parrot, _kept, _up) = two(choose, &[]).await;
        let rules = "[[tool]]\nmatch = [\"wait\", \"echo\"]\nlock = \"it\"\n[[tool]]\nmatch = \"echo\"\nwait = \"1ms\"\n";
        let config = Config::parse("guard.toml", rules, None, &Environment::default()).unwrap();
        let engine = ruled(vec![Arc::clone(&parrot)], Rules::of_config(&config));
        let address = listening(engine, Options::default()).await;
        let (first, second) = (session(address).await, session(address).await);
        assert_ne!(who(address, &first).await, who(address, &second).await);
        let held = endless(address, &first);
        // From when it is held, the other process is idle and the call is refused all the same.
        loop {
            let got = post(address, &second, &call("1", "echo", "{}")).await.json();
            if got["result"]["isError"] == true {
                break;
            }
        }
        assert_eq!(parrot.instances().filter(|one| one.is_running()).count(), 2);
        held.abort();
    }
}

#[tokio::test]
async fn one_client_on_stdio_and_one_process_are_as_before() {
    let (several, _, _up) = two(Choose::Sticky, &[]).await;
    assert_eq!(Kept::all(&several, Greeting::Client).len(), 1);
    let single = upstream("parrot", "", parrot(), Sharing::One);
    assert_eq!((single.label(), single.twins().len()), ("parrot", 0));
    assert!(Kept::new(single, Greeting::Guards).is_missed(), "without it there is nothing to guard");
}
