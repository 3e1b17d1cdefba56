//! The keyed lock beside one plain mutex and beside other crates' keyed locks, when nobody is in the way.

use std::hint::black_box;

use anyhow::Result;
use interlock_sync::lock::KeyedLock;
use keyed_lock::r#async::KeyedLock as OtherKeyedLock;
use lockable::LockPool;
use tokio::sync::Mutex;

use crate::{row::Row, sample::quick, versions::of_crate};

const TEXT: &str = "account:alice@example.org";

/// The rows.
pub(crate) fn run() -> Result<Vec<Row>> {
    let (numbers, texts) = (KeyedLock::<u64>::new(), KeyedLock::<&'static str>::new());
    let mutex = Mutex::new(());
    let lockable = LockPool::<u64>::new();
    let keyed_lock = OtherKeyedLock::<u64>::new();
    let number = async || drop(numbers.lock(black_box(7)).await);
    let text = async || drop(texts.lock(black_box(TEXT)).await);
    let plain = async || drop(black_box(&mutex).lock().await);
    let row = |what: &str, both, peer| Row { what: what.to_owned(), both, peer, unit: "ns" };
    Ok(vec![
        row("keyed lock, a number", quick(number, plain)?, of_crate("tokio::sync::Mutex", "tokio")),
        row("keyed lock, a text", quick(text, plain)?, of_crate("tokio::sync::Mutex", "tokio")),
        row(
            "keyed lock beside lockable's",
            quick(number, async || drop(lockable.async_lock(black_box(7)).await))?,
            of_crate("lockable::LockPool", "lockable"),
        ),
        row(
            "keyed lock beside keyed-lock's",
            quick(number, async || drop(keyed_lock.lock(black_box(7)).await))?,
            of_crate("keyed_lock::KeyedLock", "keyed-lock"),
        ),
    ])
}
