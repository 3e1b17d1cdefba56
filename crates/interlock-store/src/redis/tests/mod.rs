//! What is special about Redis: exact numbers in a language of doubles, expiry, lost answers, servers that go away.
//!
//! What every store must do is in the common suite.

mod cluster;
mod epochs;
mod expiry;
mod faults;
mod hints;
mod numbers;
mod opening;
mod proxy;
mod server;
mod transfers;
mod trips;
mod twin;

use std::{sync::Arc, time::Duration};

use interlock_sync::store::{Change, Content, Expect, Key, Mutation, OpId, Outcome, Store};
use interlock_testkit::service::Redis;

use crate::Options;

/// A store on a server, opened the way everybody opens one.
async fn open(url: &str) -> Arc<dyn Store> {
    crate::open(url, &Options::default()).await.unwrap()
}

fn server() -> Redis {
    Redis::start().unwrap()
}

/// A connection past the store, to do to the server what an operator would.
fn operator(redis: &Redis) -> redis::Connection {
    redis::Client::open(redis.url()).unwrap().get_connection().unwrap()
}

fn command(words: &str) -> redis::Cmd {
    let mut command = redis::Cmd::new();
    words.split(' ').for_each(|word| {
        command.arg(if word == "''" { "" } else { word });
    });
    command
}

fn key(name: &str) -> Key {
    Key::new(name).unwrap()
}

fn put(name: &str, number: i64) -> Mutation {
    let (expect, content) = (Expect::Any, Content::Number(number));
    Mutation::new(OpId::fresh(), Change::Put { key: key(name), expect, content })
}

fn add(name: &str, delta: i64) -> Mutation {
    Mutation::new(OpId::fresh(), Change::Add { key: key(name), delta, floor: None })
}

/// Applies a mutation and says whether it had been applied before.
async fn apply(store: &dyn Store, mutation: &Mutation) -> bool {
    match store.mutate(mutation).await.unwrap() {
        Outcome::Applied(applied) => applied.replayed,
        refused @ Outcome::Refused(_) => panic!("{refused:?}"),
    }
}

async fn number(store: &dyn Store, name: &str) -> Option<i64> {
    match store.get(&key(name)).await.unwrap()?.content {
        Content::Number(number) => Some(number),
        Content::Bytes(_) => None,
    }
}

const MINUTE: Duration = Duration::from_secs(60);
