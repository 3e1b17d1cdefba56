//! Idempotency: what was done is told again, and nothing is done twice.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use interlock_sync::retry::{Chance, Dice};
use tokio::task::JoinSet;

use super::*;

fn error(code: i64) -> Answer {
    Answer::Error { error: Bytes::from(json!({ "code": code, "message": "no" }).to_string()) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_retried_mutations_with_replies_dropped_at_random_take_effect_once_each() {
    let world = World::new(|_| ToolRules { lock: keys(&["{args.account}"]), ..by_meta() });
    let effects: Arc<Mutex<HashMap<usize, usize>>> = Arc::default();
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for client in 0..100 {
        let (world, effects, dropped) = (world.clone(), Arc::clone(&effects), Arc::clone(&dropped));
        clients.spawn(async move {
            let mut dice = Dice::seeded(client as u64);
            for mutation in 0..100 {
                let number = client * 100 + mutation;
                let mut tries = 0;
                let answer = loop {
                    tries += 1;
                    let effects = Arc::clone(&effects);
                    let forward = move |_| async move {
                        tokio::task::yield_now().await;
                        *effects.lock().unwrap().entry(number).or_default() += 1;
                        tokio::task::yield_now().await;
                        done("paid")
                    };
                    let call =
                        keyed("pay", json!({ "account": number % 17 }), json!(format!("key-{number}")));
                    let carried = world.desk.carry(call, forward);
                    // The reply is lost, or the whole connection at any moment, until the sixth try.
                    let dies = tries < 6 && !dice.next_u64().is_multiple_of(3);
                    if dies && dice.next_u64().is_multiple_of(2) {
                        poll_at_most(carried, dice.next_u64() as usize % 40).await;
                    } else {
                        let carried = said(&carried.await);
                        if !dies {
                            break carried;
                        }
                    }
                    dropped.fetch_add(1, Ordering::SeqCst);
                };
                assert!(["paid", "again: paid"].contains(&answer.as_str()), "{answer}");
            }
        });
    }
    while let Some(joined) = clients.join_next().await {
        joined.unwrap();
    }
    let effects = std::mem::take(&mut *effects.lock().unwrap());
    assert_eq!(effects.len(), 10_000);
    assert!(effects.values().all(|times| *times == 1), "an effect happened twice");
    assert!(dropped.load(Ordering::SeqCst) > 5_000, "{dropped:?} replies dropped");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_sent_again_waits_for_the_first_and_gets_its_answer() {
    let world = World::new(|_| by_meta());
    let pay = || keyed("pay", json!({ "to": "bob", "amount": 5 }), json!("k-1"));
    let mut first = world.start(pay());
    assert!(first.is_running().await);
    let mut again: Vec<_> = (0..100).map(|_| world.start(pay())).collect();
    assert!(again.last_mut().unwrap().end.is_some() && world.desk.waiting() == 0);
    rest().await;
    assert_eq!(world.desk.waiting(), 100);
    assert_eq!(first.end(done("paid")).await, "paid");
    for again in again {
        assert_eq!(again.carried.await.unwrap(), "again: paid");
    }
    // The order of arguments does not matter, everything else does.
    let text = Bytes::from_static(br#"{"amount":5,"to":"bob"}"#);
    assert_eq!(world.ask(ToolCall { arguments: text, ..pay() }).await, "again: paid");
    let other = world.ask(keyed("pay", json!({ "to": "eve", "amount": 5 }), json!("k-1"))).await;
    assert!(other.contains("key was used for a call with other arguments"), "{other}");
    // Nobody is told the answer of somebody else's call, and without a key nothing is the same.
    assert_eq!(world.ask(by("bob", pay())).await, "ok");
    assert_eq!(world.ask(call("pay", json!({ "to": "bob", "amount": 5 }))).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_must_be_a_text_that_is_not_empty() {
    let world = World::new(|tool| match tool {
        "meta" => by_meta(),
        _ => ToolRules { idempotency: ruled(IdempotencyKey::Argument("request.id".into())), ..rules() },
    });
    for key in [json!(7), json!(""), json!(["k"]), json!({}), json!(true)] {
        let refused = world.ask(keyed("meta", json!({}), key)).await;
        assert!(refused.contains("idempotency key must be a text"), "{refused}");
    }
    assert_eq!(world.ask(keyed("meta", json!({}), json!(null))).await, "ok");
    let by_argument = |id: Value| call("argument", json!({ "request": { "id": id } }));
    assert!(world.ask(by_argument(json!({}))).await.contains("idempotency key must be a text"));
    assert_eq!(world.ask(by_argument(json!("r-1"))).await, "ok");
    assert_eq!(world.ask(by_argument(json!("r-1"))).await, "again: ok");
    assert_eq!(world.ask(plain("argument")).await, "ok");
}

#[tokio::test(start_paused = true)]
async fn a_result_is_told_again_also_if_it_is_an_error_and_what_was_not_understood_is_not() {
    let world = World::new(|_| by_meta());
    let pay = |key: &str| keyed("pay", json!({}), json!(key));
    let failed = Answer::Result {
        result: Bytes::from(
            json!({ "content": [{ "type": "text", "text": "no money" }], "isError": true }).to_string(),
        ),
        is_error: true,
        task: None,
    };
    let mut first = world.start(pay("a"));
    assert!(first.is_running().await);
    assert_eq!(first.end(failed).await, "no money");
    assert_eq!(world.ask(pay("a")).await, "again: no money");

    let mut broke = world.start(pay("b"));
    assert!(broke.is_running().await);
    broke.end(error(-32603)).await;
    assert!(world.ask(pay("b")).await.starts_with("error"), "it may have run");

    let mut wrong = world.start(pay("c"));
    assert!(wrong.is_running().await);
    wrong.end(error(-32602)).await;
    assert_eq!(world.ask(keyed("pay", json!({ "put": "right" }), json!("c"))).await, "ok");
}

#[tokio::test(start_paused = true)]
async fn a_lost_call_is_in_doubt_if_it_may_have_run_and_else_its_key_is_free() {
    let world = World::new(|_| by_meta());
    let pay = |key: &str| keyed("pay", json!({}), json!(key));
    for (key, may_have_run) in [("a", false), ("b", true)] {
        let mut lost = world.start(pay(key));
        assert!(lost.is_running().await);
        lost.end(Answer::Lost { reason: "gone".into(), may_have_run }).await;
    }
    assert_eq!(world.ask(pay("a")).await, "ok");
    // Its lease has run out by then.
    tokio::time::sleep(SECOND * 100).await;
    let doubtful = world.ask(pay("b")).await;
    assert!(doubtful.contains("nobody knows whether it took effect. It is not run again"), "{doubtful}");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_continuation_is_no_duplicate() {
    let world = World::new(|_| ToolRules { lock: keys(&["k"]), ..by_meta() });
    let leg = || keyed("book", json!({ "seat": 1 }), json!("k-1"));
    // The server asks twice before it books; the client sends the same arguments and key each time, with the input beside them.
    for question in ["which row?", "window?"] {
        let mut asks = world.start(leg());
        assert!(asks.is_running().await, "it is neither replayed nor refused");
        let result =
            json!({ "resultType": "input_required", "content": [{ "type": "text", "text": question }] });
        assert_eq!(asks.end(Answer::Asks { result: Bytes::from(result.to_string()) }).await, question);
        world.assert_idle().await;
    }
    assert_eq!(world.ask(leg()).await, "ok");
    assert_eq!(world.ask(leg()).await, "again: ok");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_key_is_refused_where_one_is_required_and_does_not_run() {
    let by_argument = || ToolRules {
        idempotency: ruled(IdempotencyKey::Argument("requestId".into())),
        idempotency_required: true,
        ..rules()
    };
    let world = World::new(move |tool| match tool {
        "by_argument" => by_argument(),
        _ => ToolRules { idempotency_required: true, ..by_meta() },
    });
    for tool in ["pay", "by_argument"] {
        let forward = |_| async { panic!("it ran without a key") };
        let refused = said(&world.desk.carry(plain(tool), forward).await);
        assert!(refused.contains("it needs an idempotency key"), "{refused}");
        assert_eq!(world.notes.take(), [format!("{tool} refused: idempotency-key-missing")]);
    }
    assert_eq!(world.ask(keyed("pay", json!({}), json!("k"))).await, "ok");
    assert_eq!(world.ask(call("by_argument", json!({ "requestId": "k" }))).await, "ok");
    world.assert_idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_says_no_key_where_a_rule_asks_for_one_is_noted() {
    let world = World::new(|tool| if tool == "pay" { by_meta() } else { rules() });
    assert_eq!(world.ask(plain("pay")).await, "ok");
    assert_eq!(world.ask(keyed("pay", json!({}), json!("k"))).await, "ok");
    assert_eq!(world.ask(plain("look")).await, "ok");
    let notes = world.notes.take();
    assert_eq!(notes.iter().filter(|note| note.contains("without a key")).count(), 1, "{notes:?}");
    assert_eq!(notes[0], "pay without a key");
}
