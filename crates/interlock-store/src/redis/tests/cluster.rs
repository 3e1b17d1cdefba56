//! A cluster of two nodes, between which the slot of a namespace moves.

use interlock_sync::store::StoreError;
use interlock_testkit::service::{Redis, Setup};
use redis::Connection;

use super::{add, apply, command, number, open, operator, put};

/// Any key of the namespace, for commands about its slot.
const KEY: &str = "interlock:{interlock}:version";

struct Node {
    server: Redis,
    operator: Connection,
    id: String,
}

impl Node {
    fn start() -> Self {
        let server = Redis::start_as(Setup { cluster: true, durable: true, ..Setup::default() }).unwrap();
        let mut operator = operator(&server);
        let id = command("CLUSTER MYID").query(&mut operator).unwrap();
        Self { server, operator, id }
    }

    fn does(&mut self, words: &str) {
        command(words).exec(&mut self.operator).unwrap_or_else(|error| panic!("{words}: {error}"));
    }

    /// Waits until it says this about its cluster.
    fn comes_to(&mut self, question: &str, answer: &str) {
        for _ in 0..3_000 {
            let said: String = command(question).query(&mut self.operator).unwrap();
            if said.contains(answer) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{question} never came to {answer}")
    }
}

/// Two nodes that know each other, of which the first has all slots.
fn cluster() -> (Node, Node) {
    let (mut one, mut other) = (Node::start(), Node::start());
    one.does("CLUSTER ADDSLOTSRANGE 0 16383");
    let (port, bus) = (other.server.address().port(), other.server.bus());
    one.does(&format!("CLUSTER MEET 127.0.0.1 {port} {bus}"));
    for node in [&mut one, &mut other] {
        node.comes_to("CLUSTER INFO", "cluster_state:ok");
    }
    // Until then the other would not take a slot from it.
    let id = other.id.clone();
    one.comes_to("CLUSTER NODES", &id);
    (one, other)
}

#[tokio::test]
async fn a_namespace_is_found_from_any_node_and_followed_when_it_moves() {
    let (mut from, mut to) = cluster();
    let slot: u16 = command(&format!("CLUSTER KEYSLOT {KEY}")).query(&mut from.operator).unwrap();
    let store = open(&to.server.url()).await;
    let first = put("a", 1);
    apply(&*store, &first).await;
    super::epochs::is_granted(&*store, "held").await;

    to.does(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", from.id));
    from.does(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", to.id));
    let keys: Vec<String> =
        command(&format!("CLUSTER GETKEYSINSLOT {slot} 100")).query(&mut from.operator).unwrap();
    let migrate =
        format!("MIGRATE 127.0.0.1 {} '' 0 5000 KEYS {}", to.server.address().port(), keys.join(" "));
    from.does(&migrate);
    let between = store.mutate(&add("a", 1)).await.unwrap_err();
    assert!(matches!(between, StoreError::Unavailable { .. }), "{between:?}");
    let owner = format!("CLUSTER SETSLOT {slot} NODE {}", to.id);
    to.does(&owner);
    from.does(&owner);
    assert!(!apply(&*store, &add("a", 1)).await);
    assert!(apply(&*store, &first).await, "what was applied before the move is known behind it");
    assert_eq!(number(&*store, "a").await, Some(2));
    // Nothing was forgotten, so nobody is turned away, and what was held still is.
    super::epochs::is_waiting(&*store, "held").await;
    super::epochs::is_granted(&*store, "free").await;
    // The scripts are not known there yet, and neither is the way for whoever comes from the first node.
    assert_eq!(number(&*open(&from.server.url()).await, "a").await, Some(2));
}
