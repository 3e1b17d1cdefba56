//! Holds the journals against the store: nothing lost, nothing twice, sums conserved, every doubt resolved by asking.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
    sync::Arc,
    time::Instant,
};

use interlock_sync::{
    idempotency::Ran,
    record::{Records, Settled},
    store::{Applied, Content, Ending, OpId, Store},
};

use crate::{
    bounds, calls,
    client::{ACCOUNTS, COUNTER, EACH, LOGS, PATIENCE, happen, once, request_of, resend},
    journal::{Account, Acknowledged, Deed},
    key,
    tally::Tally,
};

/// Judges what happened in a folder of journals. All clients must have ended.
pub(crate) async fn judge(store: &Arc<dyn Store>, journals: &Path) -> Tally {
    let mut account = Account::default();
    for file in fs::read_dir(journals).unwrap().map(|file| file.unwrap().path()) {
        if file.file_name().unwrap().to_string_lossy().starts_with("journal-") {
            account.read(&file);
        }
    }
    let mut held = Tally::default();
    resolve(store, &account, &mut held).await;
    let applied = ask_after_all(store, &account).await;
    check_acknowledgements(&account, &applied);
    check_state(store, &account, &applied).await;
    check_effects(store, &account, journals, &mut held).await;
    bounds::check(&account, &applied, &mut held);
    calls::check(store, &account, journals, &mut held).await;
    held.add("operations judged", account.deeds.len() as u64);
    held.add("operations applied once", applied.values().flatten().count() as u64);
    held
}

/// What a client would do that comes back: ask, and send again under the same id what it does not know the end of.
async fn resolve(store: &Arc<dyn Store>, account: &Account, held: &mut Tally) {
    let records = Records::new(store.clone()).resending(resend());
    for (op, deed) in account.deeds.iter().filter(|(op, _)| !account.acknowledged.contains_key(op)) {
        let before = store.applied(op).await.unwrap().is_some();
        match deed.settle(*op, &**store, &records).await.unwrap() {
            Settled::Applied(applied) => {
                assert!(applied.replayed || !before, "{op} was applied twice: {deed:?}")
            }
            Settled::Refused(refusal) => assert!(!before, "{op} was applied and is now {refusal:?}"),
            Settled::InDoubt { op } => panic!("{op} stays in doubt"),
        }
        held.count(if before { "doubts resolved as applied" } else { "doubts resolved as not applied" });
    }
}

async fn ask_after_all(store: &Arc<dyn Store>, account: &Account) -> HashMap<OpId, Option<Applied>> {
    let mut answers = HashMap::new();
    for some in account.deeds.chunks(64) {
        let asked = some.iter().map(|(op, _)| {
            let (store, op) = (store.clone(), *op);
            tokio::spawn(async move { (op, store.applied(&op).await.unwrap()) })
        });
        for answer in asked.collect::<Vec<_>>() {
            answers.extend([answer.await.unwrap()]);
        }
    }
    answers
}

fn check_acknowledgements(account: &Account, applied: &HashMap<OpId, Option<Applied>>) {
    for (op, deed) in &account.deeds {
        match account.acknowledged.get(op) {
            Some(Acknowledged::Applied) => {
                assert!(applied[op].is_some(), "{op} was acknowledged and is lost: {deed:?}")
            }
            Some(Acknowledged::Refused) => {
                assert!(applied[op].is_none(), "{op} was refused and applied: {deed:?}")
            }
            None => {}
        }
    }
}

/// The records are what the applied operations make of them, each counted once.
async fn check_state(store: &Arc<dyn Store>, account: &Account, applied: &HashMap<OpId, Option<Applied>>) {
    let mut balances: BTreeMap<String, i64> = (0..ACCOUNTS).map(|n| (format!("account-{n}"), EACH)).collect();
    let mut notes: BTreeMap<&str, String> = BTreeMap::new();
    let (mut swaps, mut entries) = (0_u64, BTreeMap::from(LOGS.map(|log| (log, vec![]))));
    for (op, deed) in account.deeds.iter().filter(|(op, _)| applied[op].is_some()) {
        match deed {
            Deed::Transfer { from, to, amount } => {
                *balances.get_mut(from).unwrap() -= amount;
                *balances.get_mut(to).unwrap() += amount;
            }
            Deed::Add { account, delta } => *balances.get_mut(account).unwrap() += delta,
            // A note has one writer, which goes on only when the last write is settled.
            Deed::Put { note } => drop(notes.insert(note, op.to_string())),
            Deed::Swap { .. } => swaps += 1,
            Deed::Append { log } => entries.get_mut(&**log).unwrap().push(op.to_string()),
            // Many write it, and their order is looked at elsewhere.
            Deed::Guarded { .. } => {}
        }
    }
    let mut found = BTreeMap::new();
    for name in balances.keys() {
        match content(store, name).await {
            Content::Number(number) => found.insert(name.clone(), number),
            other => panic!("`{name}` holds {other:?}"),
        };
    }
    assert_eq!(found, balances, "an operation was lost, or applied twice");
    assert!(found.values().all(|balance| *balance >= 0), "overdrawn: {found:?}");
    for (note, last) in notes {
        assert_eq!(content(store, note).await, Content::Bytes(last.into_bytes()), "`{note}`");
    }
    for (log, mut expected) in entries {
        let mut found = entries_of(store, log).await;
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "an entry of `{log}` is lost, or stands twice");
    }
    let counter = content(store, COUNTER).await;
    assert_eq!(counter, Content::Bytes(swaps.to_string().into_bytes()), "a swap was lost or made twice");
}

/// What was appended to a log, in its order.
async fn entries_of(store: &Arc<dyn Store>, log: &str) -> Vec<String> {
    let (mut found, mut after) = (vec![], 0);
    loop {
        let some = store.read_log(&key(log), after, 500).await.unwrap();
        let Some(last) = some.last() else { return found };
        after = last.sequence;
        found.extend(some.into_iter().map(|entry| String::from_utf8(entry.entry).unwrap()));
    }
}

async fn content(store: &Arc<dyn Store>, name: &str) -> Content {
    store.get(&key(name)).await.unwrap().unwrap_or_else(|| panic!("`{name}` is gone")).content
}

/// No effect happened twice, none that was acknowledged is missing, and what is in doubt can be settled by looking.
async fn check_effects(store: &Arc<dyn Store>, account: &Account, journals: &Path, held: &mut Tally) {
    let path = journals.join("effects");
    let times = |effect: &str| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        text.lines().filter(|line| *line == effect).count()
    };
    let once = once(store.clone());
    for (effect, acknowledged) in &account.effects {
        let before = times(effect);
        assert!(before <= 1, "`{effect}` happened {before} times");
        assert!(before == 1 || !acknowledged, "`{effect}` was acknowledged and did not happen");
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "`{effect}` does not come to an end");
            let happens = async |_| {
                happen(&path, effect);
                Ok(vec![])
            };
            match once.run(&key(effect), request_of(effect), happens).await.unwrap() {
                Ran::Done { .. } => {
                    assert_eq!(before, 0, "`{effect}` had happened and was run again");
                    held.count("effects taken over that had not begun");
                    break;
                }
                Ran::Replayed(Ending::Completed(_)) => break assert_eq!(times(effect), 1),
                Ran::Replayed(Ending::Failed(_)) => break assert_eq!(times(effect), 0),
                Ran::InDoubt { fence } => {
                    let ending = if before == 1 { Ending::Completed(vec![]) } else { Ending::Failed(vec![]) };
                    assert!(once.settle(&key(effect), fence, &ending).await.unwrap());
                    held.count("effects in doubt, settled by looking");
                }
                Ran::Running { .. } => {}
                Ran::Mismatch => panic!("`{effect}` is another's"),
            }
        }
        assert!(times(effect) <= 1, "`{effect}` happened twice");
    }
    held.add("effects, none twice", account.effects.len() as u64);
}
