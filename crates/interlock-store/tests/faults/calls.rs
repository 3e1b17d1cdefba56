//! Holds what clients noted of admitted calls against what is promised of them: whoever has a thing alone has it alone, nobody acts on what
//! changed since it was read, and no effect happens twice, whatever was killed, cut off or lost on the way.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use interlock_sync::store::{Admission, Admitted, Ending, OpId, Store};

use crate::{
    admitted::{done_once, settlement},
    bounds::Hold,
    client::PATIENCE,
    journal::Account,
    limited::TTL,
    tally::Tally,
};

/// What was noted of things that are read and changed.
#[derive(Debug, Default)]
pub(crate) struct Things {
    /// When a reader read a thing, by thing and reader: asked, and answered.
    pub(crate) seen: BTreeMap<(String, String), Vec<(u64, u64)>>,
    /// When changes of a thing were settled: asked, and answered.
    pub(crate) changed: BTreeMap<String, Vec<(u64, u64)>>,
    /// When a reader asked to act on a thing, and could.
    pub(crate) acted: Vec<(String, String, u64)>,
}

/// Checks all of it.
pub(crate) async fn check(store: &Arc<dyn Store>, account: &Account, journals: &Path, held: &mut Tally) {
    check_shares(&account.holds, held);
    check_freshness(&account.things, held);
    check_effects(store, account, journals, held).await;
}

/// Nobody shares a thing at a moment at which another surely has it alone.
fn check_shares(holds: &BTreeMap<String, BTreeMap<String, Hold>>, held: &mut Tally) {
    for (name, shares) in holds {
        let Some(alone) = name.strip_prefix("shared-").and_then(|thing| holds.get(&format!("alone-{thing}")))
        else {
            continue;
        };
        for share in shares.values() {
            let other = alone.values().find(|alone| alone.overlaps(share));
            assert!(other.is_none(), "`{name}` is shared by {share:?} while {other:?} has it alone");
        }
        held.add("locks shared, none held alone beside it", shares.len() as u64);
    }
}

/// Nobody acted on a thing that had surely changed after the last moment at which it could have read it.
fn check_freshness(things: &Things, held: &mut Tally) {
    for (thing, reader, asked) in &things.acted {
        let seen = things.seen.get(&(thing.clone(), reader.clone()));
        let reads = seen.into_iter().flatten().filter(|(sent, _)| sent < asked);
        let last = reads.map(|(_, answered)| *answered).max();
        let last = last.unwrap_or_else(|| panic!("`{reader}` acted on `{thing}`, which it never read"));
        let changes = things.changed.get(thing).into_iter().flatten();
        let missed = changes.clone().find(|(sent, answered)| *sent > last && answered < asked);
        assert!(
            missed.is_none(),
            "`{reader}` saw `{thing}` at {last}, acted at {asked}, and missed {missed:?}"
        );
        held.count("acts on what was fresh");
    }
}

/// No effect happened twice, none that was told of is missing, and none that happened would be run again.
async fn check_effects(store: &Arc<dyn Store>, account: &Account, journals: &Path, held: &mut Tally) {
    let text = std::fs::read_to_string(journals.join("effects")).unwrap_or_default();
    for (effect, was_told) in &account.calls {
        let times = text.lines().filter(|line| line == effect).count();
        assert!(times <= 1, "`{effect}` happened {times} times");
        assert!(times == 1 || !was_told, "`{effect}` was told of and did not happen");
        let start = Instant::now();
        loop {
            assert!(start.elapsed() < PATIENCE, "`{effect}` does not come to an end");
            let wish = asking(effect);
            match store.admit(&wish).await.unwrap() {
                Admitted::Granted { .. } => {
                    assert_eq!(times, 0, "`{effect}` had happened and would be run again");
                    store.settle(&settlement(&wish, None, effect)).await.unwrap();
                    held.count("calls that had not begun");
                }
                Admitted::Ended(stored) => {
                    assert_eq!((stored.ending, times), (Ending::Completed(effect.clone().into_bytes()), 1));
                    held.count("calls told of again");
                }
                Admitted::InDoubt => held.count("calls in doubt"),
                // Its time is not up.
                Admitted::Waits { .. } => {
                    tokio::time::sleep(TTL / 4).await;
                    continue;
                }
                other => panic!("`{effect}`: {other:?}"),
            }
            break;
        }
    }
    held.add("effects of calls, none twice", account.calls.len() as u64);
}

fn asking(effect: &str) -> Admission {
    Admission {
        call: OpId::fresh(),
        charges: Vec::new(),
        places: Vec::new(),
        locks: Vec::new(),
        once: Some(done_once(effect)),
        reader: None,
        observes: Vec::new(),
        requires_fresh: Vec::new(),
        ttl: TTL,
        remember: TTL,
        is_again: false,
        patience: Duration::ZERO,
    }
}

#[test]
fn an_act_on_what_has_changed_is_noticed() {
    let things = |seen: (u64, u64)| Things {
        seen: BTreeMap::from([(("thing".into(), "reader".into()), vec![seen])]),
        changed: BTreeMap::from([("thing".into(), vec![(30, 40)])]),
        acted: vec![("thing".into(), "reader".into(), 50)],
    };
    check_freshness(&things((35, 45)), &mut Tally::default());
    assert!(std::panic::catch_unwind(|| check_freshness(&things((10, 20)), &mut Tally::default())).is_err());
}

#[test]
fn a_share_beside_one_who_has_it_alone_is_noticed() {
    let hold =
        |from| BTreeMap::from([("call".to_owned(), Hold { from, asked: from, back: Some(from + 10) })]);
    let holds = |shared| {
        BTreeMap::from([("alone-thing".to_owned(), hold(100)), ("shared-thing".to_owned(), hold(shared))])
    };
    check_shares(&holds(110), &mut Tally::default());
    assert!(std::panic::catch_unwind(|| check_shares(&holds(105), &mut Tally::default())).is_err());
}
