//! Numbers of 64 bits stay exact, and what does not fit is refused: the same as the memory store says, at every edge.

use interlock_sync::{
    memory::MemoryStore,
    store::{Applied, Change, Changed, Content, Mutation, OpId, Outcome, Refusal, Store},
};

use super::{apply, key, number, open, put, server};

/// The ends of the range, the edges of a double's exactness and of the two parts that the script computes with, and their neighbours.
fn edges() -> Vec<i64> {
    let around = [i64::MIN, -(1 << 53), -1_000_000_000, 0, 1_000_000_000, 1 << 53, i64::MAX];
    let mut edges: Vec<i64> =
        around.iter().flat_map(|edge| [edge.saturating_sub(1), *edge, edge.saturating_add(1)]).collect();
    edges.extend([-999_999_999, 123_456_789_012_345_678, -123_456_789_000_000_000, 5]);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// An outcome without what may differ between stores: when, and which versions.
fn bare(outcome: Outcome) -> Result<Vec<Option<i64>>, Refusal> {
    match outcome {
        Outcome::Applied(Applied { changed, .. }) => {
            Ok(changed.into_iter().map(|Changed { number, .. }| number).collect())
        }
        Outcome::Refused(refusal) => Err(refusal),
    }
}

#[tokio::test]
async fn adding_is_exact_and_checked_at_every_edge() {
    let redis = server();
    let (store, twin) = (open(&redis.url()).await, MemoryStore::default());
    for start in edges() {
        for delta in edges() {
            for floor in [None, Some(i64::MIN), Some(start.saturating_add(delta)), Some(0), Some(i64::MAX)] {
                for store in [&*store, &twin] {
                    apply(store, &put("a", start)).await;
                }
                let change = Change::Add { key: key("a"), delta, floor };
                let mutation = Mutation::new(OpId::fresh(), change);
                let (said, expected) = (store.mutate(&mutation).await.unwrap(), twin.mutate(&mutation).await);
                assert_eq!(bare(said), bare(expected.unwrap()), "{start} + {delta}, floor {floor:?}");
                assert_eq!(number(&*store, "a").await, number(&twin, "a").await, "{start} + {delta}");
            }
        }
    }
}

#[tokio::test]
async fn a_transfer_is_exact_and_changes_both_or_neither_at_every_edge() {
    let redis = server();
    let (store, twin) = (open(&redis.url()).await, MemoryStore::default());
    for start in edges() {
        for amount in edges() {
            for (to, floor) in [("b", 0), ("b", i64::MIN), ("a", start.saturating_sub(amount)), ("b", -5)] {
                let receiver = start.wrapping_mul(3).wrapping_add(amount);
                for store in [&*store, &twin] {
                    apply(store, &put("a", start)).await;
                    apply(store, &put("b", receiver)).await;
                }
                let change = Change::Transfer { from: key("a"), to: key(to), amount, floor };
                let mutation = Mutation::new(OpId::fresh(), change);
                let (said, expected) = (store.mutate(&mutation).await.unwrap(), twin.mutate(&mutation).await);
                assert_eq!(bare(said), bare(expected.unwrap()), "{amount} of {start} to {to} at {receiver}");
                for name in ["a", "b"] {
                    assert_eq!(number(&*store, name).await, number(&twin, name).await);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_number_is_read_back_as_it_was_written() {
    let redis = server();
    let store = open(&redis.url()).await;
    for wanted in edges() {
        apply(&*store, &put("a", wanted)).await;
        assert_eq!(number(&*store, "a").await, Some(wanted));
        let listed = store.list("a", None, 1).await.unwrap();
        assert_eq!(listed[0].1.content, Content::Number(wanted));
    }
}
