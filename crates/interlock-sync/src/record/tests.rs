//! Updates among rivals, and answers that are lost on the way.

use std::{convert::Infallible, time::Duration};

use super::*;
use crate::{
    memory::MemoryStore,
    store::{Applied, Refusal},
    testing::{Fault, FaultyStore, Op, poll_once},
};

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn append(byte: u8) -> impl FnMut(Option<&Record>) -> Result<Edit, Infallible> {
    move |now| {
        let mut bytes = match now.map(|record| &record.content) {
            Some(Content::Bytes(bytes)) => bytes.clone(),
            _ => vec![],
        };
        bytes.push(byte);
        Ok(Edit::Put(Content::Bytes(bytes)))
    }
}

async fn holds(records: &Records, name: &str) -> Option<Content> {
    records.get(&key(name)).await.unwrap().map(|record| record.content)
}

#[tokio::test(start_paused = true)]
async fn no_update_of_many_is_lost() {
    let records = Records::new(Arc::new(MemoryStore::default()));
    let patient = Retry::for_as_long_as(Duration::from_secs(3600));
    let writers: Vec<_> = (0..50_u8)
        .map(|writer| {
            let (records, patient) = (records.clone(), patient.clone());
            tokio::spawn(async move { records.update(&key("list"), &patient, append(writer)).await.unwrap() })
        })
        .collect();
    for writer in writers {
        assert!(matches!(writer.await.unwrap(), Updated::Applied(_)));
    }
    let Some(Content::Bytes(mut list)) = holds(&records, "list").await else { panic!("it is a list") };
    list.sort_unstable();
    assert_eq!(list, (0..50).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_update_that_always_loses_gives_up_and_says_what_is_there() {
    let store = Arc::new(MemoryStore::default());
    let records = Records::new(store.clone());
    let mut rounds = 0;
    let updated = records
        .update(&key("a"), &Retry::times(3), |_| {
            // A rival who is faster each time.
            rounds += 1;
            let put = Change::Put { key: key("a"), expect: Expect::Any, content: Content::Number(rounds) };
            let rival = Mutation::new(OpId::fresh(), put);
            assert!(poll_once(store.mutate(&rival).as_mut()).is_ready());
            Ok::<_, Infallible>(Edit::Put(Content::Number(0)))
        })
        .await
        .unwrap();
    assert!(matches!(
        updated,
        Updated::Conflict { current: Some(Record { content: Content::Number(3), .. }) }
    ));
    assert_eq!(rounds, 3);
}

#[tokio::test]
async fn the_function_decides_what_becomes_of_the_record() {
    let records = Records::new(Arc::new(MemoryStore::default()));
    let once = Retry::never();
    let kept = records.update(&key("a"), &once, |_| Ok::<_, ()>(Edit::Keep)).await.unwrap();
    assert_eq!(kept, Updated::Kept);
    let nothing = records.update(&key("a"), &once, |_| Ok::<_, ()>(Edit::Delete)).await.unwrap();
    assert_eq!(nothing, Updated::Kept, "there was nothing to delete");
    records.update(&key("a"), &once, append(1)).await.unwrap();
    let declined = records.update(&key("a"), &once, |_| Err("no")).await.unwrap();
    assert_eq!(declined, Updated::Declined("no"));
    assert_eq!(holds(&records, "a").await, Some(Content::Bytes(vec![1])));
    records.update(&key("a"), &once, |_| Ok::<_, ()>(Edit::Delete)).await.unwrap();
    assert_eq!(holds(&records, "a").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_applied_once_whatever_happens_to_its_answers() {
    let store = FaultyStore::new();
    let records = Records::new(store.clone());
    records.put_if_absent(&key("a"), Content::Number(100)).await.unwrap();
    for fault in [Fault::LostAnswer, Fault::Unavailable, Fault::LostAnswer] {
        store.plan(Op::Mutate, fault);
    }
    match records.add(&key("a"), -30, Some(0)).await.unwrap() {
        Settled::Applied(Applied { replayed, changed, .. }) => {
            assert!(replayed);
            assert_eq!(changed[0].number, Some(70));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(holds(&records, "a").await, Some(Content::Number(70)));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stays_away_is_an_error_and_one_whose_answers_stay_lost_leaves_doubt() {
    let fails_with = |fault| {
        let store = FaultyStore::new();
        (0..9).for_each(|_| store.plan(Op::Mutate, fault));
        store
    };
    assert!(Records::new(fails_with(Fault::Unavailable)).add(&key("a"), 1, None).await.is_err());
    let store = FaultyStore::new();
    let lost = Records::new(store.clone());
    lost.put_if_absent(&key("a"), Content::Number(0)).await.unwrap();
    (0..9).for_each(|_| store.plan(Op::Mutate, Fault::LostAnswer));
    let Settled::InDoubt { op } = lost.add(&key("a"), 1, None).await.unwrap() else {
        panic!("it is in doubt")
    };
    assert!(store.applied(&op).await.unwrap().is_some(), "and asking later tells");
    assert_eq!(holds(&lost, "a").await, Some(Content::Number(1)), "it was applied once");
}

/// The first copy is still on its way when the second is refused.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_taken_for_the_last_word_while_an_earlier_copy_may_come() {
    let store = FaultyStore::new();
    let records = Records::new(store.clone());
    records.put_if_absent(&key("a"), Content::Number(5)).await.unwrap();
    store.plan(Op::Mutate, Fault::Overtaken);
    let settled = records.add(&key("a"), -10, Some(0)).await.unwrap();
    assert!(matches!(settled, Settled::InDoubt { .. }), "{settled:?}");
    let stale = Version(99);
    store.plan(Op::Mutate, Fault::Overtaken);
    let settled = records.put_if_version(&key("a"), stale, Content::Number(0)).await.unwrap();
    assert!(matches!(settled, Settled::Refused(Refusal::Conflict { .. })), "a version never comes back");
}
