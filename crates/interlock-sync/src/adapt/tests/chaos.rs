//! Everything at once: whatever becomes of calls, nothing stays held and no key runs twice.

use std::{collections::HashMap, sync::Mutex};

use super::*;
use crate::retry::{Chance, Dice};

const CALLS: usize = 3_000;

fn below(dice: &mut Dice, limit: u64) -> u64 {
    dice.next_u64() % limit
}

#[tokio::test(start_paused = true)]
async fn whatever_becomes_of_calls_nothing_stays_held_and_no_key_is_completed_twice() {
    let rule = Rule::of("*").in_flight(3).lock("{args.a}").lock("{args.b}").idempotency(KeySource::Meta);
    for warden in both(&[rule.timeout(Duration::from_millis(20))]) {
        let mut dice = Dice::seeded(3);
        let done: Arc<Mutex<HashMap<u64, usize>>> = Arc::default();
        let (holders, overlaps): (Arc<[AtomicUsize; 4]>, Arc<AtomicUsize>) = Default::default();
        let mut calls = Vec::new();
        for _ in 0..CALLS {
            let (a, b, key) = (below(&mut dice, 4), below(&mut dice, 4), below(&mut dice, 500));
            let (fate, pause) = (below(&mut dice, 10), Duration::from_millis(below(&mut dice, 30)));
            let caller = format!("caller {}", below(&mut dice, 5));
            let key_text = format!("{key}");
            let has_key = below(&mut dice, 2) == 0;
            // The arguments follow from the key, or it would be refused.
            let (a, b) = if has_key { (key % 4, key / 4 % 4) } else { (a, b) };
            let caller = if has_key { "one" } else { &caller };
            let arrived =
                arrive(&warden, caller, "t", json!({"a": a, "b": b}), has_key.then_some(&*key_text));
            let (done, holders, overlaps) = (Arc::clone(&done), Arc::clone(&holders), Arc::clone(&overlaps));
            let call = arrived.run(std::future::pending(), move |_| async move {
                let mine: Vec<usize> = if a == b { vec![a as usize] } else { vec![a as usize, b as usize] };
                for at in &mine {
                    overlaps.fetch_add(holders[*at].fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                }
                tokio::time::sleep(pause).await;
                for at in &mine {
                    holders[*at].fetch_sub(1, Ordering::SeqCst);
                }
                assert_ne!(fate, 0, "on purpose");
                if has_key {
                    *done.lock().unwrap().entry(key).or_default() += 1;
                }
                Said("done".into())
            });
            calls.push(tokio::spawn(call));
            if fate < 4 {
                let victim = below(&mut dice, calls.len() as u64) as usize;
                calls[victim].abort();
            }
            if fate == 9 {
                tokio::time::advance(Duration::from_millis(5)).await;
            }
        }
        for call in calls {
            drop(call.await);
        }
        // Those that were dropped while they ran end by themselves.
        tokio::time::sleep(Duration::from_secs(120)).await;
        assert!(warden.is_idle());
        assert_eq!(overlaps.load(Ordering::SeqCst), 0);
        assert!(done.lock().unwrap().values().all(|times| *times == 1));
        assert!(done.lock().unwrap().len() > 50, "the test does something");
    }
}
