//! SQLite that waits for the disk with every answer: 64 callers of our store beside commits one at a time.

use std::{path::Path, sync::Arc, time::Instant};

use anyhow::{Context, Result, ensure};
use interlock_store::{Options, open};
use interlock_sync::store::{Change, Content, Expect, Key, Mutation, OpId, Outcome, Store};
use rusqlite::Connection;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    row::{Both, Row},
    sample::in_turn,
};

const ROUNDS: usize = 9;
const CALLERS: usize = 64;
const EACH: usize = 20;
const ONE_BY_ONE: usize = 60;

/// The rows.
pub(crate) fn run() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let plain = plain(&folder.path().join("plain.db"))?;
    Runtime::new()?.block_on(async {
        let url = format!("sqlite:{}", folder.path().join("ours.db").display());
        let store = open(&url, &Options::default()).await?;
        let keys = (0..CALLERS)
            .map(|caller| Key::new(format!("account:{caller}")))
            .collect::<Result<Vec<_>, _>>()?;
        for key in &keys {
            make(&*store, key).await?;
        }
        let together = async || together(&store, &keys, EACH).await;
        let beside_plain = in_turn(ROUNDS, together, async || one_by_one(&plain)).await?;
        let first = keys.first().context("there are no keys")?;
        let alone = async || crate::sqlite::together(&store, std::slice::from_ref(first), ONE_BY_ONE).await;
        let beside_itself = in_turn(ROUNDS, together, alone).await?;
        let row = |what: &str, both: Both, peer: &str| Row {
            what: what.to_owned(),
            both,
            peer: format!("{peer}, SQLite {}", rusqlite::version()),
            unit: "/s",
        };
        Ok(vec![
            row("SQLite FULL, additions of 64 callers", beside_plain, "one UPDATE per commit"),
            row("the same, beside one caller of ours", beside_itself, "interlock-store"),
        ])
    })
}

/// Makes a number that can be added to.
pub(crate) async fn make(store: &dyn Store, key: &Key) -> Result<()> {
    let change = Change::Put { key: key.clone(), expect: Expect::Any, content: Content::Number(0) };
    let outcome = store.mutate(&Mutation::new(OpId::fresh(), change)).await?;
    ensure!(matches!(outcome, Outcome::Applied(_)), "a record could not be made");
    Ok(())
}

/// Adds one, durably.
pub(crate) async fn add(store: &dyn Store, key: &Key) -> Result<()> {
    let change = Change::Add { key: key.clone(), delta: 1, floor: None };
    let outcome = store.mutate(&Mutation::new(OpId::fresh(), change)).await?;
    ensure!(matches!(outcome, Outcome::Applied(_)), "an addition was refused");
    Ok(())
}

/// Additions per second with one caller per key, each of which waits for its answer before it goes on.
pub(crate) async fn together(store: &Arc<dyn Store>, keys: &[Key], each: usize) -> Result<f64> {
    let start = Instant::now();
    let mut callers = JoinSet::new();
    for key in keys {
        let (store, key) = (Arc::clone(store), key.clone());
        callers.spawn(async move {
            for _ in 0..each {
                add(&*store, &key).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended??;
    }
    Ok((keys.len() * each) as f64 / start.elapsed().as_secs_f64())
}

/// A file with the same promise and without any of our bookkeeping.
fn plain(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch(
        "CREATE TABLE account (id INTEGER PRIMARY KEY, n INTEGER); INSERT INTO account VALUES (1, 0);",
    )?;
    Ok(connection)
}

fn one_by_one(connection: &Connection) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..ONE_BY_ONE {
        let changed = connection.prepare_cached("UPDATE account SET n = n + 1 WHERE id = 1")?.execute([])?;
        ensure!(changed == 1, "the row is gone");
    }
    Ok(ONE_BY_ONE as f64 / start.elapsed().as_secs_f64())
}
