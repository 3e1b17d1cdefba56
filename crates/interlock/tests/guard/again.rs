//! Calls that are sent again because their answer got lost: each effect once.

use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;

use crate::{effects::Effects, kit::times, raw::Raw};

const POLICY: &str = "[defaults]\nkeep = \"1h\"\n\n[[tool]]\nmatch = \"do\"\nidempotency = \"meta\"\n";
const CALLERS: usize = 8;

/// A small generator, so that a run can be told again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Sends a call under one key, with a new id each time, until an answer is read. Says how often.
async fn until_answered(client: &Raw, name: &str, chance: &mut Chance) -> usize {
    let meta = json!({ "dev.interlock/idempotency-key": name });
    let params = json!({ "name": "do", "arguments": { "name": name }, "_meta": meta });
    for attempt in 1.. {
        let call = client.call(json!(format!("{name}/{attempt}")), &params);
        // The first tries are given up at some moment on the way there or back; their connection goes with them.
        let patience = Duration::from_micros(chance.below(4_000));
        let answer = match attempt {
            1 | 2 if chance.below(4) > 0 => tokio::time::timeout(patience, call).await.ok(),
            _ => Some(call.await),
        };
        let Some(Ok(came)) = answer else { continue };
        let message = came.message().unwrap_or_else(|| panic!("no answer: {came:?}"));
        match &message["result"] {
            result if result["isError"] == json!(true) || result.is_null() => {
                // It is under way; an earlier try is ahead of this one.
                assert!(attempt < 1_000, "{message}");
            }
            _ => return attempt,
        }
    }
    0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_sent_again_with_its_key_takes_effect_once() {
    let (effects, calls) = (Effects::new(), times("INTERLOCK_GUARD_RETRIES", 400));
    let guard = effects.configured(POLICY).serve();
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let client = Raw::connected(&guard.url).await;
        callers.spawn(async move {
            let (mut chance, mut sent) = (Chance(caller as u64), 0);
            for number in (caller..calls).step_by(CALLERS) {
                sent += until_answered(&client, &number.to_string(), &mut chance).await;
            }
            sent
        });
    }
    let sent: usize = callers.join_all().await.into_iter().sum();
    let happened = effects.happened();
    let twice: Vec<_> = happened.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(happened.len(), calls);
    assert!(sent > calls, "nothing was sent again");
    println!("{calls} mutations, sent {sent} times, each took effect once");
}
