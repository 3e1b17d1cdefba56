//! What is special here, on a real server: the common behaviour is held to by the conformance suite.

mod admitting;
mod decisions;
mod faults;
mod folding;
mod gathering;
mod hints;
mod limits;
mod opening;
mod records;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use interlock_sync::store::{Applied, Change, Content, Expect, Key, Mutation, OpId, Outcome, Store};
use interlock_testkit::service::Postgres;
use tokio_postgres::{Client, NoTls};

use super::{connect, store::PostgresStore};
use crate::Options;

/// One server for all tests of this process; each has its own namespace. It ends with the process.
fn server() -> &'static Postgres {
    static SERVER: OnceLock<Postgres> = OnceLock::new();
    SERVER.get_or_init(|| Postgres::start().unwrap_or_else(|error| panic!("{error}")))
}

fn options(namespace: &str) -> Options {
    Options { namespace: namespace.into(), timeout: Duration::from_secs(30), ..Options::default() }
}

/// A store whose connections the server shows under the namespace's name.
async fn open(namespace: &str) -> Arc<PostgresStore> {
    open_with(&options(namespace)).await
}

async fn open_with(options: &Options) -> Arc<PostgresStore> {
    let url = format!("{}?application_name={}", server().url(), options.namespace);
    Arc::new(connect(&url, options).await.unwrap_or_else(|error| panic!("{error:?}")))
}

/// A connection of the test's own, to be in the way with.
async fn bystander() -> Client {
    let (client, connection) = tokio_postgres::connect(&server().url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Asks until the answer is yes. The server's own bookkeeping can be behind what it has answered.
async fn becomes_true(what: &str, ask: impl Fn() -> bool) {
    let patience = tokio::time::timeout(Duration::from_secs(60), async {
        while !ask() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    patience.await.unwrap_or_else(|_| panic!("it does not become true that {what}"));
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn fresh(change: Change) -> Mutation {
    Mutation::new(OpId::fresh(), change)
}

fn put(name: &str, number: i64) -> Change {
    Change::Put { key: key(name), expect: Expect::Any, content: Content::Number(number) }
}

fn add(name: &str, delta: i64, floor: Option<i64>) -> Change {
    Change::Add { key: key(name), delta, floor }
}

fn transfer(from: &str, to: &str, amount: i64) -> Change {
    Change::Transfer { from: key(from), to: key(to), amount, floor: 0 }
}

async fn apply(store: &PostgresStore, change: Change) -> Applied {
    applied(store.mutate(&fresh(change)).await.unwrap())
}

fn applied(outcome: Outcome) -> Applied {
    match outcome {
        Outcome::Applied(applied) => applied,
        refused @ Outcome::Refused(_) => panic!("{refused:?}"),
    }
}

async fn number(store: &PostgresStore, name: &str) -> i64 {
    match store.get(&key(name)).await.unwrap().map(|record| record.content) {
        Some(Content::Number(number)) => number,
        other => panic!("{name} holds {other:?}"),
    }
}

/// A number out of the schema of a namespace.
fn ask(namespace: &str, statement: &str) -> i64 {
    let statement = statement.replace("interlock.", &format!("\"interlock_{namespace}\"."));
    server().query(&statement).unwrap().parse().unwrap()
}

/// How many connections of a namespace wait for a lock.
fn waiting(namespace: &str) -> u32 {
    let shown = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name =";
    server().query(&format!("{shown} '{namespace}'")).unwrap().parse().unwrap()
}
